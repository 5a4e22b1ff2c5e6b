package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// goldenCases are states with the answers that they must give, computed by others. The pure calculations have the same
// ones.
const goldenCases = "../../analytics/testdata"

// goldenPaths are the calls that the cases make.
var goldenPaths = map[string]string{
	"getProjectBudget":      "/v0/projects/{projectId}/budget",
	"getContract":           "/v0/contracts/{contractId}",
	"getRecord":             "/v0/records/{recordId}",
	"listForecastSnapshots": "/v0/projects/{projectId}/forecast/snapshots",
	"getForecastSnapshot":   "/v0/projects/{projectId}/forecast/snapshots/{month}",
	"getCashflow":           "/v0/projects/{projectId}/cashflow",
	"getRentRoll":           "/v0/projects/{projectId}/rent-roll",
	"listFacilities":        "/v0/projects/{projectId}/facilities",
	"getFacilitySchedule":   "/v0/facilities/{facilityId}/schedule",
	"listFacilityDrawdowns": "/v0/facilities/{facilityId}/drawdowns",
}

type goldenCase struct {
	Case   string
	Title  string
	Key    string
	Now    string
	Events []json.RawMessage
	Checks []goldenCheck
}

type goldenCheck struct {
	Call   string
	Path   map[string]string
	Query  map[string]any
	Now    string
	Status int
	Expect any
	Absent []string
}

func (c goldenCheck) String() string { return fmt.Sprintf("%s %v %v", c.Call, c.Path, c.Query) }

func (c goldenCheck) url() string {
	path := goldenPaths[c.Call]
	for name, value := range c.Path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
	}
	query := url.Values{}
	for name, value := range c.Query {
		query.Set(name, fmt.Sprint(value))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

func readGolden(t *testing.T) (cases []goldenCase) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(goldenCases, "[DE]*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases in %s: %v", goldenCases, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c goldenCase
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&c); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		cases = append(cases, c)
	}
	return cases
}

// lines are the events of the case as a file to load, those of topics that are stored.
func (c goldenCase) lines(t *testing.T, stored []events.Topic) string {
	t.Helper()
	var lines strings.Builder
	for _, e := range c.Events {
		var of struct{ Topic events.Topic }
		if err := json.Unmarshal(e, &of); err != nil {
			t.Fatalf("%s: %v", c.Case, err)
		}
		if slices.Contains(stored, of.Topic) {
			lines.Write(bytes.ReplaceAll(e, []byte("\n"), nil))
			lines.WriteByte('\n')
		}
	}
	return lines.String()
}

// TestGoldenCases sends the events of every case through load, worker, views and API, and compares the answers with the
// case's. What verify recomputes is what the views hold.
func TestGoldenCases(t *testing.T) {
	// Given all cases in one database, each a tenant of its own
	cases := readGolden(t)
	s := newProcess(t)
	var lines strings.Builder
	for _, c := range cases {
		lines.WriteString(c.lines(t, store.Topics()))
	}
	s.load(lines.String())
	reports, err := s.verify(t.Context(), s.servers, verify.Options{})
	s.must(errors.Join(err, verdict(reports)))
	apis := make(map[string]string) // by their clock
	for _, c := range cases {
		t.Run(c.Case, func(t *testing.T) {
			for _, check := range c.Checks {
				if goldenPaths[check.Call] == "" {
					t.Fatalf("%s is not known", check.Call)
				}
				now := check.Now
				if now == "" {
					now = c.Now
				}
				if apis[now] == "" {
					apis[now] = s.api(now)
				}
				// When it is asked, then the answer is the expected one.
				status, body := s.get(apis[now]+check.url(), c.Key)
				if status != check.Status {
					t.Errorf("%s: %d %v, want %d", check, status, body, check.Status)
					continue
				}
				if check.Expect == nil {
					continue
				}
				for _, d := range differences(check.Expect, body) {
					t.Errorf("%s: %s", check, d)
				}
				for _, pointer := range check.Absent {
					if present(body, pointer) {
						t.Errorf("%s: %s must be absent", check, pointer)
					}
				}
			}
		})
	}
}
