package load_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// silent is a load that nobody watches.
type silent struct{}

func (silent) Stage(string, int64, load.Unit) {}
func (silent) Done(int64)                     {}
func (silent) End()                           {}

// entities are stored by an installation that stores nothing else.
func entities() []*store.Entity {
	return []*store.Entity{store.Of(events.Contractors), store.Of(events.Records)}
}

func newLoad(t *testing.T, stdin string) *load.Load {
	t.Helper()
	l := &load.Load{Entities: entities(), Stdin: strings.NewReader(stdin), Progress: silent{}}
	t.Cleanup(l.Close)
	return l
}

func file(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func contractor(id string, version int) string {
	return fmt.Sprintf(`{"topic": "ledger.contractors", "key": "demo/%s", "value": {"id": "%[1]s", "tenantId": "demo", `+
		`"version": %d, "op": "upsert", "at": "2026-03-01T10:15:00Z", "data": {"name": "Bau"}}}`, id, version)
}

// record is a line whose data are the given members.
func record(data string) string {
	return `{"topic":"ledger.records","key":"demo/R1","value":` + recordValue(data) + `}`
}

func recordValue(data string) string {
	return `{"id":"R1","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{` + data + `}}`
}

const invoice = `"projectId":"P1","source":"invoice","direction":"in","stepKind":"setup",` +
	`"allocations":[],"documents":[],"intake":{"channel":"api"}`

func TestCheckTakesGoodFiles(t *testing.T) {
	l := newLoad(t, contractor("C3", 1))
	found, err := l.Check(context.Background(), []string{
		file(t, "a.ndjson", contractor("C1", 1), "", "  "+contractor("C2", 1)+"\r", record(invoice)),
		file(t, "empty.ndjson"),
		"-",
	})
	if err != nil {
		t.Fatal(err)
	}
	if found.Messages != 4 || found.ByTopic["ledger.contractors"] != 3 || found.ByTopic["ledger.records"] != 1 {
		t.Errorf("found %+v", found)
	}
}

func TestCheckNamesWhatIsWrongWithALine(t *testing.T) {
	for name, c := range map[string]struct{ line, want string }{
		"misspelt member":   {record(`"nett":100,` + invoice), "data.nett is not a member of ledger.records (did you mean net?)"},
		"without a project": {record(strings.Replace(invoice, `"projectId":"P1",`, "", 1)), "data.projectId is missing"},
		"beyond 2^53": {record(`"net":9007199254740993,"currency":"EUR",` + invoice),
			"data.net must lie in -9007199254740991..9007199254740991, not 9007199254740993"},
		"invalid UTF-8": {record(`"invoiceNumber":"` + "\xff" + `",` + invoice), "is not UTF-8"},
		"null value": {`{"topic":"ledger.contractors","key":"demo/C1","value":null}`,
			"a null value is no change event: it has no version; send a delete instead"},
		"unknown topic": {`{"topic":"ledger.recrods","key":"demo/C1","value":{}}`,
			`topic "ledger.recrods" is not a topic of change events`},
		"topic not stored": {`{"topic":"service.feedback","key":"demo/C1","value":{}}`,
			"topic service.feedback is not stored by this version"},
		"dead letters": {`{"topic":"ledger.dead-letters","key":"demo/C1","value":{}}`,
			`topic "ledger.dead-letters" is not a topic of change events`},
		"wrong key": {strings.Replace(contractor("C1", 1), `"key": "demo/C1"`, `"key": "demo/C2"`, 1),
			`key must be tenantId/id, here "demo/C1", not "demo/C2"`},
		"value in a string": {`{"topic":"ledger.contractors","key":"demo/C1","value":"{}"}`, "must be an object"},
		"no object":         {`[1]`, `must be an object {"topic", "key", "value"}, but begins with "[1]"`},
		"other member of line": {`{"topic":"ledger.contractors","key":"demo/C1","partition":1,"value":{}}`,
			`"partition" is not a member of a line`},
		"member twice":   {`{"topic":"ledger.contractors","topic":"ledger.contractors","key":"demo/C1","value":{}}`, "topic appears twice"},
		"member missing": {`{"topic":"ledger.contractors","value":{}}`, "key is missing"},
		"key no string":  {`{"topic":"ledger.contractors","key":1,"value":{}}`, `key: must be a string, but begins with "1,`},
		"cut off":        {contractor("C1", 1)[:100], "value: holds no JSON: "},
		"two in a line":  {contractor("C1", 1) + contractor("C2", 1), "follows the closing brace"},
		"text for JSON":  {"hello", `but begins with "hello"`},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, "bad.ndjson", contractor("C0", 1), c.line, contractor("C9", 1))
			_, err := newLoad(t, "").Check(context.Background(), []string{path})
			var bad *load.BadLines
			if !errors.As(err, &bad) || bad.Count != 1 || len(bad.First) != 1 {
				t.Fatalf("err = %v", err)
			}
			if l := bad.First[0]; l.Line != 2 || l.File != path || !strings.Contains(l.Reason, c.want) {
				t.Errorf("told %s:%d: %s\nwant %s", l.File, l.Line, l.Reason, c.want)
			}
			if !strings.Contains(err.Error(), path+":2: ") || !strings.HasSuffix(err.Error(), "nothing was sent") {
				t.Errorf("the message is %q", err)
			}
		})
	}
}

// Lines too long for any message are listed and passed over; what follows them keeps its number.
func TestCheckPassesOverLongLines(t *testing.T) {
	long := func(bytes int) string {
		return record(`"invoiceNumber":"` + strings.Repeat("1", bytes) + `",` + invoice)
	}
	path := file(t, "long.ndjson", contractor("C1", 1), long(20<<20), "oops", long(16<<20), contractor("C2", 1), long(17<<20)+"tail")
	_, err := newLoad(t, "").Check(context.Background(), []string{path})
	var bad *load.BadLines
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	var lines []int
	for _, l := range bad.First {
		lines = append(lines, l.Line)
		if l.Line != 3 && !strings.Contains(l.Reason, "bytes") {
			t.Errorf("line %d: %s", l.Line, l.Reason)
		}
	}
	if fmt.Sprint(lines) != "[2 3 4 6]" {
		t.Errorf("bad lines %v", lines)
	}
}

func TestCheckTellsTheFirstBadLinesAndTheNumberOfOthers(t *testing.T) {
	var lines []string
	for i := range 20_000 {
		if lines = append(lines, contractor(fmt.Sprint("C", i), 1)); i%2 == 1 {
			lines[i] = "{}"
		}
	}
	path := file(t, "many.ndjson", lines...)
	_, err := newLoad(t, "").Check(context.Background(), []string{path, path})
	var bad *load.BadLines
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	if bad.Count != 20_000 || len(bad.First) != 100 {
		t.Fatalf("%d bad lines, %d of them listed", bad.Count, len(bad.First))
	}
	for i, l := range bad.First {
		if l.Line != 2*(i+1) {
			t.Fatalf("bad line %d is %d", i, l.Line)
		}
	}
	if !strings.Contains(err.Error(), "and 19900 more bad lines") {
		t.Error("the message names no number")
	}
}

func TestCheckTellsWhatCannotBeOpened(t *testing.T) {
	for name, c := range map[string]struct {
		names []string
		want  string
	}{
		"missing file":      {[]string{"there-is-none.ndjson"}, "no such file"},
		"directory":         {[]string{t.TempDir()}, "is a directory"},
		"standard in twice": {[]string{"-", "-"}, "give - once"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := newLoad(t, "").Check(context.Background(), c.names); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %v, want %s", err, c.want)
			}
		})
	}
}

// The copy of standard input has no name from the start on: nothing is left of it, however the process ends.
func TestStandardInputLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	l := newLoad(t, contractor("C1", 1))
	if _, err := l.Check(context.Background(), []string{"-"}); err != nil {
		t.Fatal(err)
	}
	if named, _ := os.ReadDir(dir); len(named) != 0 {
		t.Fatalf("%v would be left by a process that is killed", named)
	}
	l.Close()
	failing := &load.Load{Entities: entities(), Stdin: io.MultiReader(strings.NewReader("x"), failingReader{}), Progress: silent{}}
	if _, err := failing.Check(context.Background(), []string{"-"}); err == nil {
		t.Error("a failing standard input is taken")
	}
	failing.Close()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("after a failure %v is left", left)
	}
}

// Given standard input, or a named pipe, that doesn't end, when the command is to end, then it does at once.
func TestALoadEndsThoughItsInputDoesNot(t *testing.T) {
	quiet := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(quiet, 0o600); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(open, 0o600); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(open, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	for name, from := range map[string]string{
		"standard input": "-", "a pipe that nobody opens": quiet, "a pipe to which nobody writes": open,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("TMPDIR", dir)
			in, stdin := io.Pipe()
			defer stdin.Close()
			l := &load.Load{Entities: entities(), Stdin: in, Progress: silent{}}
			defer l.Close()
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := l.Check(ctx, []string{from})
				ended <- err
			}()
			if from == "-" {
				if _, err := io.WriteString(stdin, contractor("C1", 1)+"\n"); err != nil {
					t.Fatal(err)
				}
			}
			stop()
			select {
			case err := <-ended:
				if !errors.Is(err, context.Canceled) {
					t.Errorf("it ends with %v", err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it doesn't end")
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, errors.New("the pipe broke") }
