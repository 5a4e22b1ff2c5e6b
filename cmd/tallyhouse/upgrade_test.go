package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	schema "tallyhouse/schemas/clickhouse"
)

// Given a worker and an API of this release and records that come in, when the next release, which has one step of the
// schema more, migrates, and its worker and its API take the places of the old ones, then the old worker refuses instead of
// writing what it doesn't know, the old API goes on answering, the new ones don't begin before the migration is over,
// nothing is lost, and sums are right: docs/operations.md#upgrade.
func TestARollingUpgrade(t *testing.T) {
	t.Parallel()
	next := nextRelease(t)
	d := newDrill(t)
	sample := tallyhouse(t, nil, "", "sample", "--projects", "2", "--records", "600")
	third := strings.SplitAfter(sample.out, "\n")
	first, second, last := split(third)

	// this release works
	old, stopOld := d.startWorker()
	defer func() { stopOld() }()
	d.command(first, "load", "--wait", "-")
	oldAPI := (&process{TB: t, shell: d.shell, servers: d.servers}).api("")

	// and the next one's processes don't begin
	worker := d.commandOf(next, "ingest", "--allow-volatile", "--metrics-addr", "127.0.0.1:0")
	if said, err := worker.CombinedOutput(); err == nil || !strings.Contains(string(said), "tallyhouse migrate") {
		t.Errorf("the next release's worker says %q, %v", said, err)
	}
	newAPI := d.start(next, "api", "--api-addr", free(t))
	d.eventually("its API waits for the migration", newAPI.says("not ready"))
	d.must(ready(oldAPI))

	// when it migrates while records come in
	loaded := make(chan outcome, 1)
	go func() { loaded <- tallyhouse(t, d.env, second, "load", "-") }()
	if said := d.run(next, "", "migrate"); !strings.Contains(said, "next_release") {
		t.Errorf("migrate says %q", said)
	}
	if o := <-loaded; o.code != exitDone {
		t.Fatalf("%+v", o)
	}

	// then the old worker refuses what comes now, and the old API answers
	d.command(last, "load", "-")
	d.eventually("this release's worker refuses", func() error {
		if err := old.Ready(); err == nil || !strings.Contains(err.Error(), "use the newer binary") {
			return fmt.Errorf("it says %w", errors.Join(err, errors.New("not that")))
		}
		return nil
	})
	d.eventually("this release's API is ready", func() error { return ready(oldAPI) })
	d.eventually("the next release's API is ready", newAPI.readyz)

	// and when the old worker ends the new one has all partitions.
	newWorker := d.start(next, "ingest", "--allow-volatile")
	stopOld()
	stopOld = func() {}
	d.eventually("the next release's worker is ready", newWorker.readyz)
	d.eventually("all records are stored", func() error {
		want := recordsIn(t, sample.out)
		if got := d.stored(); !strings.HasPrefix(got, fmt.Sprint(want, " records")) {
			return fmt.Errorf("%s, want %d", got, want)
		}
		return nil
	})
	d.run(next, "", "verify")
	d.must(ready(oldAPI))

	// There is no way back past a step but a restore.
	if o := tallyhouse(t, d.env, "", "migrate"); o.code == exitDone || !strings.Contains(o.err, "newer") {
		t.Errorf("this release's migrate says %+v", o)
	}
}

// nextRelease builds a release that has one step of the schema more than this one.
func nextRelease(t *testing.T) (program string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const of = "schemas/clickhouse/"
	text, err := os.ReadFile(filepath.Join(root, of, "clickhouse.go"))
	if err != nil {
		t.Fatal(err)
	}
	version := func(n int) string { return "const Version = " + strconv.Itoa(n) }
	changed := strings.Replace(string(text), version(schema.Version), version(schema.Version+1), 1)
	if changed == string(text) {
		t.Fatalf("clickhouse.go has no %q", version(schema.Version))
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {
		filepath.Join(root, of, "clickhouse.go"): file(t, "clickhouse.go", changed),
		filepath.Join(root, of, fmt.Sprintf("%04d_next_release.sql", schema.Version+1)): file(t, "step.sql",
			"ALTER TABLE records {{onCluster}} ADD COLUMN IF NOT EXISTS next_release String DEFAULT '';\n"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	program = filepath.Join(t.TempDir(), "tallyhouse")
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", file(t, "overlay.json", string(overlay)), "-o", program, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return program
}

func split(lines []string) (first, second, last string) {
	third := len(lines) / 3
	return strings.Join(lines[:third], ""), strings.Join(lines[third:2*third], ""), strings.Join(lines[2*third:], "")
}

// recordsIn counts the records that lines for `tallyhouse load` have.
func recordsIn(t *testing.T, lines string) int {
	t.Helper()
	ids := map[string]bool{}
	for line := range strings.Lines(lines) {
		var m struct{ Topic, Key string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatal(err)
		}
		if m.Topic == "ledger.records" {
			ids[m.Key] = true
		}
	}
	return len(ids)
}

// program is a process of a built binary.
type program struct{ url string }

// run runs a command of a built binary, which must succeed, and returns what it prints.
func (d *drill) run(binary, stdin string, args ...string) string {
	d.Helper()
	cmd := d.commandOf(binary, args...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// start runs a process of a built binary until the test is over.
func (d *drill) start(binary string, args ...string) program {
	d.Helper()
	metrics := free(d)
	cmd := d.commandOf(binary, append(args, "--metrics-addr", metrics)...)
	log := filepath.Join(d.TempDir(), "log")
	written, err := os.Create(log)
	d.must(err)
	cmd.Stdout, cmd.Stderr = written, written
	d.must(cmd.Start())
	d.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			said, _ := os.ReadFile(log)
			d.Errorf("%s: %v\n%s", strings.Join(args, " "), err, said)
		}
		written.Close()
	})
	url := "http://" + metrics
	for i, a := range args {
		if a == "--api-addr" {
			url = "http://" + args[i+1]
		}
	}
	return program{url}
}

func (d *drill) commandOf(binary string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Env = os.Environ()
	for name, value := range d.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	return cmd
}

func (d *drill) eventually(what string, check func() error) {
	d.Helper()
	if err := until((&process{TB: d.T}).within(startsWithin), check); err != nil {
		d.Fatalf("%s: %v", what, err)
	}
}

func (p program) readyz() error { return ready(p.url) }

// says is nil when the process isn't ready and names the text.
func (p program) says(text string) func() error {
	return func() error {
		err := ready(p.url)
		if err == nil || !strings.Contains(err.Error(), text) {
			return fmt.Errorf("it says %w", errors.Join(err, errors.New("not that")))
		}
		return nil
	}
}

// ready is nil when a process says that it is, and what it says otherwise.
func ready(url string) error {
	answer, err := http.Get(url + "/readyz")
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return nil
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, 1<<16))
	return errors.Join(fmt.Errorf("%s: %s", answer.Status, said), err)
}
