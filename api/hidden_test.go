package api_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/api"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// recorded is a connection that writes down the statements and counts the rows that they find.
type recorded struct {
	reader.Conn
	mu         sync.Mutex
	statements []string
	rows       int
}

func (r *recorded) Query(ctx context.Context, q string, args ...any) (driver.Rows, error) {
	rows, err := r.Conn.Query(ctx, q, args...)
	if err != nil || !strings.Contains(q, "FROM") { // a sign of life
		return rows, err
	}
	values := make(map[string]string)
	for _, a := range args {
		named := a.(driver.NamedValue)
		values[named.Name] = fmt.Sprint(named.Value)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		q += fmt.Sprintf("\n%s=%s", name, values[name])
	}
	r.mu.Lock()
	r.statements = append(r.statements, q)
	r.mu.Unlock()
	if strings.Contains(q, "FROM system.parts") { // which tell of tables, not of what is in them
		return rows, nil
	}
	return counted{rows, r}, nil
}

type counted struct {
	driver.Rows
	by *recorded
}

func (c counted) Next() bool {
	more := c.Rows.Next()
	if more {
		c.by.mu.Lock()
		c.by.rows++
		c.by.mu.Unlock()
	}
	return more
}

// during returns the statements, in any order, and the rows that they find while something is done.
func (r *recorded) during(do func()) ([]string, int) {
	r.mu.Lock()
	r.statements, r.rows = nil, 0
	r.mu.Unlock()
	do()
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.Sort(r.statements)
	return r.statements, r.rows
}

// hidden has P1, which the caller of guestKey may see, P2, which they may not, and the same in both. strangerKey sees
// nothing at all.
func hidden(t testing.TB) (*world, *recorded) {
	t.Helper()
	statements := &recorded{}
	w := newWorld(t, func(o *api.Options) { statements.Conn, o.ClickHouse = o.ClickHouse, statements })
	w.send(events.Users, tenant, "U", &events.User{Name: "U", Active: true})
	w.member("U", events.Scope{ProjectID: some("P1")}, "user")
	w.key("U", guestKey, func(*events.Key) {})
	w.user("U-stranger", strangerKey, "")
	for _, id := range []string{"P1", "P2"} {
		w.project(id, events.Project{BudgetStructureID: some("S1")})
		w.booked("R-"+id, invoice(id, "", "C-"+id, "paid", 100))
		w.contractOf("C-"+id, events.Contract{ProjectID: id, Allocations: []events.ContractAllocation{{NodeID: "i", Value: 1}}})
		w.snapshot("F-"+id, events.ForecastSnapshot{ProjectID: id, Month: calendar.NewDate(2026, 3, 1).Month(), Version: 1,
			Status: "approved"})
		w.facility("L-"+id, loan(id))
		w.facilityEntry("E-"+id, events.FacilityEntry{FacilityID: "L-" + id, Kind: "drawdown", Status: "funded", Value: 1})
	}
	w.seen(guestKey, "P1")
	w.known(strangerKey)
	return w, statements
}

// hiddenPaths are all ways to ask for something by its name; % stands for the rest of the name.
var hiddenPaths = []string{"/v0/records/R-%", "/v0/contracts/C-%", "/v0/projects/%", "/v0/projects/%/budget",
	"/v0/projects/%/budget?asOf=2026-03", "/v0/projects/%/forecast/snapshots", "/v0/projects/%/forecast/snapshots/2026-03",
	"/v0/records?projectId=%", "/v0/records?projectId=%&count=true&status=paid", "/v0/contracts?projectId=%",
	"/v0/projects/%/cashflow", "/v0/projects/%/cashflow?from=2026-03&level=budget", "/v0/projects/%/units",
	"/v0/projects/%/rent-roll", "/v0/projects/%/rent-roll?asOf=2026-03",
	"/v0/projects/%/facilities", "/v0/facilities/L-%/schedule", "/v0/facilities/L-%/drawdowns"}

func TestWhatIsHiddenIsAsLittleLookedForAsWhatDoesNotExist(t *testing.T) {
	w, statements := hidden(t)
	for _, path := range hiddenPaths {
		// When something hidden and something that doesn't exist are asked for
		ask := func(id string) (r response, sent []string, rows int) {
			sent, rows = statements.during(func() { r = w.get(guestKey, strings.ReplaceAll(path, "%", id)) })
			for i := range sent {
				sent[i] = strings.ReplaceAll(sent[i], id, "%")
			}
			return r.want(t, 404, "not-found"), sent, rows
		}
		there, sent, rows := ask("P2")
		absent, sentOfAbsent, rowsOfAbsent := ask("PX")
		// Then the same statements find the same: nothing
		if !slices.Equal(sent, sentOfAbsent) || rows != 0 || rowsOfAbsent != 0 {
			t.Errorf("%s: hidden\n%s\nfound %d rows; absent\n%s\nfound %d rows", path, strings.Join(sent, "\n"), rows,
				strings.Join(sentOfAbsent, "\n"), rowsOfAbsent)
		}
		if !sameProblem(there, absent) {
			t.Errorf("%s: hidden %s, absent %s", path, there.body, absent.body)
		}
		// And who sees no project makes no statement at all.
		sent, _ = statements.during(func() { w.get(strangerKey, strings.ReplaceAll(path, "%", "P1")).want(t, 404, "not-found") })
		if len(sent) > 0 {
			t.Errorf("%s: for a caller without projects\n%s", path, strings.Join(sent, "\n"))
		}
	}
	for _, path := range []string{"/v0/projects", "/v0/records?count=true", "/v0/contracts", "/v0/contractors"} {
		sent, _ := statements.during(func() { w.get(strangerKey, path).want(t, 200, "") })
		if len(sent) > 0 {
			t.Errorf("%s: for a caller without projects\n%s", path, strings.Join(sent, "\n"))
		}
	}
}

// TestHiddenAndAbsentAnswersAreAlike compares the bodies, over and over. How long they took is reported, not judged: this
// machine does other things beside.
func TestHiddenAndAbsentAnswersAreAlike(t *testing.T) {
	w, _ := hidden(t)
	const repetitions = 30
	for _, path := range []string{"/v0/records/R-%", "/v0/contracts/C-%"} {
		took := make(map[string][]time.Duration)
		for range repetitions {
			var answers []response
			for _, id := range []string{"P2", "PX"} {
				began := time.Now()
				answers = append(answers, w.get(guestKey, strings.ReplaceAll(path, "%", id)))
				took[id] = append(took[id], time.Since(began))
			}
			if !sameProblem(answers[0], answers[1]) {
				t.Fatalf("%s: hidden %s, absent %s", path, answers[0].body, answers[1].body)
			}
		}
		for _, times := range took {
			slices.Sort(times)
		}
		t.Logf("%s, median of %d: hidden %s, absent %s", path, repetitions, took["P2"][repetitions/2], took["PX"][repetitions/2])
	}
}
