package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// pageCommandsWithin bounds a hung test.
const pageCommandsWithin = 2 * time.Minute

// answersThePages runs the commands of pages as they stand there, each page's in one shell: curl, and exports as processes.
func (s *sampleAPI) answersThePages(t *testing.T) {
	t.Run("for agents", func(t *testing.T) {
		out, _ := s.runPage(t, "mcp.md", "")
		tools, call, _ := strings.Cut(out, "}{")
		var answer struct {
			Result struct {
				IsError           bool
				StructuredContent struct{ Data []map[string]any }
			}
		}
		if err := json.Unmarshal([]byte("{"+call), &answer); err != nil || answer.Result.IsError ||
			len(answer.Result.StructuredContent.Data) != 2 || !strings.Contains(tools, `"name":"listRecords"`) {
			t.Errorf("%v: %s", err, out)
		}
	})
	t.Run("on exports", func(t *testing.T) {
		out, dir := s.runPage(t, "export.md", "")
		if ends := strings.Count(out, `{"end":{"records":`); ends != 2 {
			t.Errorf("%d end marks\n%s", ends, out)
		}
		if head := firstLine(t, filepath.Join(dir, "records.csv")); !strings.HasPrefix(head, "id,projectId,") {
			t.Errorf("the CSV begins with %s", head)
		}
	})
	t.Run("for reporting clients", func(t *testing.T) {
		_, dir := s.runPage(t, "reporting.md", "Whole lists in one answer")
		if first := firstLine(t, filepath.Join(dir, "records.ndjson")); !strings.HasPrefix(first, `{"id":`) {
			t.Errorf("the NDJSON begins with %s", first)
		}
	})
	t.Run("on the command export", func(t *testing.T) {
		out, dir := s.runPage(t, "commands.md", "tallyhouse export")
		if !strings.Contains(out, `{"end":{"records":`) {
			t.Errorf("there is no end mark\n%s", out)
		}
		if head := firstLine(t, filepath.Join(dir, "records.csv")); !strings.HasPrefix(head, "\ufeffid;projectId;") {
			t.Errorf("the CSV begins with %q", head)
		}
		if head := firstLine(t, filepath.Join(dir, "records.parquet")); !strings.HasPrefix(head, "PAR1") {
			t.Errorf("the Parquet begins with %q", head)
		}
	})
}

// runPage runs the blocks of shell of a page in docs, or of one of its sections, against the API. They find the key in KEY and
// TALLYHOUSE_KEY, and this program as tallyhouse. It returns what they print, and the folder that they run in.
func (s *sampleAPI) runPage(t *testing.T, page, section string) (out, dir string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(top, "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	shown := string(text)
	if section != "" {
		_, shown, _ = strings.Cut(shown, "\n## "+section+"\n")
		shown, _, _ = strings.Cut(shown, "\n## ")
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```").FindAllStringSubmatch(shown, -1) {
		script.WriteString(regexp.MustCompile(`(?m)^export \w*KEY=.*\n`).ReplaceAllString(block[1], ""))
	}
	if script.Len() == 0 {
		t.Fatalf("%s %s has no commands", page, section)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o700), os.Symlink(program, filepath.Join(bin, "tallyhouse"))); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(s.within(pageCommandsWithin), "bash", "-eo", "pipefail", "-c",
		strings.ReplaceAll(script.String(), "http://127.0.0.1:8080", s.url))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "KEY="+sampleAdmin, "TALLYHOUSE_KEY="+sampleAdmin, "TALLYHOUSE_API="+s.url, "API="+s.url,
		"PATH="+bin+":"+os.Getenv("PATH"))
	var complaints strings.Builder
	cmd.Stderr = &complaints
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("the commands of %s %s: %v\n%s\n%s", page, section, err, printed, &complaints)
	}
	return string(printed), dir
}

func firstLine(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}
