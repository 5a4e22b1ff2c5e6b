package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	guide         = top + "/docs/reporting.md"
	sampleRecords = 4953
	programWithin = 3 * time.Minute
)

// troubled stands between a program and the API: once it lets the program wait, once it breaks an answer off, and once it
// refuses for good.
type troubled struct {
	mu     sync.Mutex
	asked  int
	faults []int // the numbers of the requests that are told to wait, get half an answer, and are refused
	waited time.Time
	early  bool // whether the program came back before it had waited
	to     *httputil.ReverseProxy
}

func (p *troubled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.asked++
	asked, waited := p.asked, p.waited
	if !waited.IsZero() {
		p.early, p.waited = p.early || time.Since(waited) < time.Second, time.Time{}
	}
	if asked == p.faults[0] {
		p.waited = time.Now()
	}
	p.mu.Unlock()
	switch asked {
	case p.faults[0]:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case p.faults[1]:
		w.Header().Set("Content-Length", "1000")
		_, _ = w.Write([]byte(`{"data":[`))
		panic(http.ErrAbortHandler)
	case p.faults[2]:
		w.WriteHeader(http.StatusBadRequest)
	default:
		p.to.ServeHTTP(w, r)
	}
}

// The programs of the guide for reporting clients walk through all records, wait as they are told, end where they are
// refused, and go on from there when they are run again.
func (s *sampleAPI) walksAsTheGuideSays(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```(sh|python|go)\n(.*?)^```").FindAllSubmatch(text, -1)
	walks, others := 0, 0
	for _, block := range blocks {
		language, program := string(block[1]), string(block[2])
		if strings.HasPrefix(program, "export API=") || strings.Contains(program, "/export/v1/") {
			continue // what the tests give, and what others of them run
		}
		run := func(dir, api string) ([]byte, error) { return runProgram(t, dir, language, program, api) }
		if !strings.Contains(program, "cursor") {
			others++
			if out, err := run(t.TempDir(), s.url); err != nil || strings.TrimSpace(string(out)) != "304" {
				t.Errorf("%s\n%v: %s", program, err, out)
			}
			continue
		}
		walks++
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			// Given trouble: the seventh request is refused in the first run, which waits at the second and, if it can ask again by
			// itself, gets half an answer at the fourth
			between := &troubled{faults: []int{2, 4, 7}, to: httputil.NewSingleHostReverseProxy(upstream)}
			if language == "sh" {
				between.faults[1] = 0
			}
			server := httptest.NewServer(between)
			defer server.Close()
			dir := t.TempDir()
			// When it is run, and run again
			if out, err := run(dir, server.URL); err == nil {
				t.Fatalf("it goes on where it is refused: %s", out)
			}
			if out, err := run(dir, server.URL); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			// Then it has every record once, and has not asked for a page again
			ids := make(map[string]bool)
			records := walked(t, dir)
			for _, id := range records {
				ids[id] = true
			}
			if len(records) != sampleRecords || len(ids) != sampleRecords {
				t.Errorf("it has %d records, %d different ones, of %d", len(records), len(ids), sampleRecords)
			}
			faults := 3
			if language == "sh" {
				faults = 2
			}
			if pages := (sampleRecords + 199) / 200; between.asked != pages+faults {
				t.Errorf("%d requests for %d pages and %d faults", between.asked, pages, faults)
			}
			if between.early {
				t.Error("it did not wait as long as it was told")
			}
		})
	}
	if walks != 3 || others != 1 {
		t.Errorf("%s has %d walks and %d other programs", guide, walks, others)
	}
}

// runProgram runs a program of the guide in a folder.
func runProgram(t *testing.T, dir, language, program, api string) ([]byte, error) {
	name, command := "program.sh", []string{"sh", "-e", "program.sh"}
	switch language {
	case "python":
		name, command = "program.py", []string{"python3", "program.py"}
	case "go":
		name, command = "program.go", []string{"go", "run", "program.go"}
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), programWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "API="+api, "KEY="+sampleAdmin, "GOFLAGS=")
	return cmd.CombinedOutput()
}

// walked are the ids of the records that a program has written into its folder.
func walked(t *testing.T, dir string) (ids []string) {
	t.Helper()
	var data [][]byte
	if pages, _ := filepath.Glob(filepath.Join(dir, "pages", "*.json")); len(pages) > 0 {
		for _, name := range pages {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			var page struct{ Data []json.RawMessage }
			if err := json.Unmarshal(text, &page); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, record := range page.Data {
				data = append(data, record)
			}
		}
	} else {
		text, err := os.ReadFile(filepath.Join(dir, "records.ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	}
	for _, line := range data {
		var record struct{ ID string }
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		ids = append(ids, record.ID)
	}
	return ids
}
