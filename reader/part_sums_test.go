package reader

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// summed is a database with the lines and plans of two projects, and what reads their figures.
type summed struct {
	*testing.T
	db   clickhouse.Conn
	conn *counted
	r    *Reader
	do   func(sql string)
}

func newSummed(t *testing.T) *summed {
	t.Helper()
	s := &summed{T: t, db: database(t)}
	s.do = inserting(t, s.db)
	s.conn = &counted{Conn: s.db}
	s.r = New(s.conn, s.db, 10*time.Second)
	s.do(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, level, code, name, active, accounting_codes)
SELECT 'acme', '', 'n' || toString(number), 1, 'S', 'budget', toString(number), 'N', true, '[]' FROM numbers(6)`)
	s.do(`INSERT INTO line_plans (tenant, project, id, row_version, node_id, start_date, end_date, method, recurring_every_months, recurring_from)
SELECT 'acme', project, 'p' || toString(number), 1, 'n' || toString(number), '2026-01-01', '2026-12-31', 'linearMonths', number % 2, if(number % 2 = 1, '2026-04', '')
FROM (SELECT number % 4 AS number, if(number < 4, 'P1', 'P2') AS project FROM numbers(8))`)
	return s
}

// request asks for a project's figures, made anew or from what is kept of the parts of sums.
func (s *summed) request(project string, kept bool) BudgetRequest {
	s.Helper()
	request := BudgetRequest{Tenant: "acme", Project: ProjectRef{ID: project, StructureID: events.Some("S")}, Currency: "EUR", Figures: true}
	if kept {
		at, settled, err := s.r.Standing(s.Context())
		if err != nil || !settled {
			s.Fatalf("settled %t: %v", settled, err)
		}
		request.At = at
	}
	return request
}

// figures are a project's budget and cash flow.
func (s *summed) figures(request BudgetRequest) (Budget, Cashflow) {
	s.Helper()
	budget, err := s.r.Budget(s.Context(), request)
	if err != nil {
		s.Fatal(err)
	}
	flow, err := s.r.Cashflow(s.Context(), CashflowRequest{BudgetRequest: request, Today: calendar.NewDate(2026, 5, 20)})
	if err != nil {
		s.Fatal(err)
	}
	budget.Inputs, flow.Inputs = Inputs{}, Inputs{}
	return budget, flow
}

// rowOfSums is a row that a batch may bring: what it adds, or takes back of what others added.
func rowOfSums(random *rand.Rand, project string) string {
	node, amount := fmt.Sprint("n", random.IntN(7)), random.Int64N(2000)-1000
	month := []string{"2026-04", "2026-04", "2026-04", "2026-06"}[random.IntN(4)]
	contract, line := fmt.Sprint("C", random.IntN(3)), fmt.Sprintf("%05d", random.IntN(3))
	currency, status := []string{"EUR", "USD"}[random.IntN(5)/4], []string{"paid", "setup"}[random.IntN(2)]
	count := random.IntN(3) - 1
	row := func(roll string, keys []string, amounts ...any) string {
		return fmt.Sprintf(`('acme', '%s', '%s\0%s', %d, %d, %d, %d)`, append([]any{project, roll, strings.Join(keys, `\0`)}, amounts...)...)
	}
	return []func() string{
		func() string { return row("budget", []string{"", node, currency, "", ""}, 0, amount, 0, 0) },
		func() string { return row("budget_transfers", []string{"", node, currency, "", ""}, 0, amount, 0, 0) },
		func() string { return row("claims", []string{"", node, currency, "", ""}, 0, 0, 0, amount) },
		func() string {
			return row("contracts", []string{contract, node, "EUR", "signed", line}, count, amount, amount, 0)
		},
		func() string {
			return row("contracts", []string{contract, node, "EUR", "signed", ""}, count, 0, 0, amount)
		},
		func() string {
			return row("lines", []string{contract, node, currency, status, ""}, count, amount, amount, count)
		},
		func() string {
			return row("lines", []string{"", node, currency, status, ""}, count, amount, amount, count)
		},
		func() string { return row("payments", []string{"", node, currency, "", month}, 0, amount, 0, 0) },
		func() string {
			return row("recognized", []string{"", fmt.Sprint("n", 1+2*random.IntN(2)), "", "", month}, count, 0, 0, 0)
		},
	}[min(8, random.IntN(12))]()
}

// Given whatever batches and merges, when figures are put together from the parts of sums, then they are those of all of them.
func TestFiguresByPartAreThoseOfTheWhole(t *testing.T) {
	s := newSummed(t)
	const seed = 4
	random := rand.New(rand.NewPCG(seed, seed))
	made := ""
	if err := s.db.QueryRow(t.Context(), "SHOW CREATE TABLE sums").Scan(&made); err != nil {
		t.Fatal(err)
	}
	for step := range 45 {
		// When a batch comes, whose rows of one key the engine leaves apart, parts are merged, or the table is made anew
		switch n := random.IntN(20); {
		case n == 0 && step > 30:
			s.do("DROP TABLE sums SYNC")
			s.do(made)
			fallthrough
		case n < 17:
			rows := make([]string, 1+random.IntN(8))
			for i := range rows {
				rows[i] = rowOfSums(random, []string{"P1", "P2"}[random.IntN(2)])
			}
			s.do("INSERT INTO sums (tenant, project, keys, amount1, amount2, amount3, amount4) SETTINGS optimize_on_insert = 0 VALUES " + strings.Join(rows, ", "))
			if n > 15 {
				s.do("OPTIMIZE TABLE sums FINAL")
			}
		case n < 18:
			s.do("OPTIMIZE TABLE sums FINAL")
		}
		// Then each project's figures are the same.
		for _, project := range []string{"P1", "P2"} {
			budget, flow := s.figures(s.request(project, true))
			wholeBudget, wholeFlow := s.figures(s.request(project, false))
			if !reflect.DeepEqual(budget, wholeBudget) {
				t.Fatalf("seed %d, step %d: by part\n%+v\nas a whole\n%+v", seed, step, budget, wholeBudget)
			}
			if !reflect.DeepEqual(flow, wholeFlow) {
				t.Fatalf("seed %d, step %d: by part\n%+v\nas a whole\n%+v", seed, step, flow, wholeFlow)
			}
		}
	}
}

// While batches come and parts are merged, every budget has what had come before it was asked for, and nothing that comes later twice.
func TestFiguresByPartAreOfOneMomentOfTheTable(t *testing.T) {
	s := newSummed(t)
	var sent, stored atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var busy sync.WaitGroup
	defer busy.Wait()
	defer stop()
	busy.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			sent.Add(1)
			err := s.db.Exec(t.Context(), `INSERT INTO sums (tenant, project, keys, amount2) VALUES ('acme', 'P1', 'budget\0\0n1\0EUR\0\0', 1)`)
			if err == nil && n%7 == 6 {
				err = s.db.Exec(t.Context(), "OPTIMIZE TABLE sums")
			}
			if err != nil {
				t.Error(err)
				return
			}
			stored.Add(1)
		}
	})
	for stored.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	for range 800 {
		least := stored.Load()
		budget, err := s.r.Budget(t.Context(), s.request("P1", true))
		most := sent.Load()
		if err != nil {
			t.Fatal(err)
		}
		var got int64
		for _, n := range budget.Nodes {
			value, _ := n.Budget.Int64()
			got += value
		}
		if got < least || got > most {
			t.Fatalf("the budget is %d where %d to %d had come", got, least, most)
		}
	}
}

// What has been read of a part isn't read again, and where a project has nothing in what has come, its answer stays as it is.
func TestPartsOfSumsAreReadOnce(t *testing.T) {
	s := newSummed(t)
	keepParts(t, s.db)
	batch := func(project string, lines int) {
		s.do(fmt.Sprintf(`INSERT INTO sums (tenant, project, keys, amount2) SELECT 'acme', '%s', concat('budget\0\0n', toString(number), '\0EUR\0\0'), 1 FROM numbers(%d)`,
			project, lines))
	}
	// Given a budget of 5,000 rows
	batch("P1", 5000)
	s.figures(s.request("P1", true))
	read := func(request BudgetRequest) (Budget, error) {
		s.conn.count(0)
		return s.r.Budget(t.Context(), request)
	}
	// When it is read again, then none of them is
	first, err := read(s.request("P1", true))
	if err != nil || s.conn.rows > 1000 {
		t.Errorf("%d rows of parts that were known: %v", s.conn.rows, err)
	}
	// When a batch for it has come, then that is read
	batch("P1", 1)
	second, err := read(s.request("P1", true))
	if err != nil || s.conn.rows > 1000 || second.Nodes[0].Budget == first.Nodes[0].Budget || second.Inputs == first.Inputs {
		t.Errorf("%d rows of one part; the first line has %v, before %v: %v", s.conn.rows, second.Nodes[0].Budget, first.Nodes[0].Budget, err)
	}
	// When one for another project has come, then who has the budget has it still
	batch("P2", 5000)
	request := s.request("P1", true)
	request.Has = second.Inputs
	if _, err := read(request); !errors.Is(err, ErrUnchanged) {
		t.Errorf("another project's batch changes this one: %v", err)
	}
	// But not when anything has changed that it is made of
	for name, change := range map[string]func(){
		"a batch": func() { batch("P1", 1) },
		"a line": func() {
			s.do(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, level, code, name, active, accounting_codes)
VALUES ('acme', '', 'n1', 2, 'S', 'budget', '1', 'Renamed', true, '[]'), ('', '#0', '', 7, '', '', '', '', true, '')`)
		},
		"an entry": func() {
			s.do(`INSERT INTO uncommitted_entries (tenant, project, id, row_version, node_id, currency, value)
VALUES ('acme', 'P1', 'e1', 1, 'n1', 'EUR', 5), ('', '#0', '', 7, '', '', 0)`)
		},
		"a plan": func() { s.do("INSERT INTO line_plans (tenant, project, row_version) VALUES ('', '#0', 7)") },
	} {
		has, err := read(s.request("P1", true))
		if err != nil {
			t.Fatal(err)
		}
		change()
		request := s.request("P1", true)
		request.Has = has.Inputs
		if now, err := read(request); err != nil || now.Inputs == has.Inputs {
			t.Errorf("after %s the budget is said to be the same: %v", name, err)
		}
	}
}

// What is too large part by part is read as a whole, and then not tried again.
func TestFiguresThatAreTooLargeByPartAreReadAsAWhole(t *testing.T) {
	s := newSummed(t)
	keepParts(t, s.db)
	// Given a line of which many parts say the same, more than may be read by part, and that not all at once
	for range 4 {
		s.do(`INSERT INTO sums (tenant, project, keys, amount2) SELECT 'acme', 'P1', concat('budget\0\0n', toString(number), '\0EUR\0\0'), 1 FROM numbers(60000)`)
	}
	for _, statements := range []int{4, 1} { // the lines take two
		// When its budget is read
		request := s.request("P1", true)
		s.conn.count(0)
		budget, err := s.r.Budget(t.Context(), request)
		if err != nil {
			t.Fatal(err)
		}
		// Then it is right
		if value, _ := budget.Nodes[1].Budget.Int64(); value != 4 || s.conn.statements != statements {
			t.Errorf("%d on the line, by %d statements, want 4 by %d", value, s.conn.statements, statements)
		}
	}
	// And so is one that grows beyond what a small reader may read at once.
	s.do(`INSERT INTO sums (tenant, project, keys, amount2) VALUES ('acme', 'P2', 'budget\0\0n1\0EUR\0\0', 1)`)
	s.r = s.r.Small()
	s.figures(s.request("P2", true))
	s.do(`INSERT INTO sums (tenant, project, keys, amount2) SELECT 'acme', 'P2', concat('budget\0\0n1\0EUR', toString(number), '\0\0'), 1 FROM numbers(50000)`)
	if _, err := s.r.Budget(t.Context(), s.request("P2", true)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a budget of 50,000 sums of a small reader: %v", err)
	}
}

// What comes when the parts have been listed is in the figures, and nothing names them then: the next list is the first that has it.
func TestAPartThatIsNotListedYetNamesNoInputs(t *testing.T) {
	s := newSummed(t)
	keepParts(t, s.db)
	batch := func() {
		s.do(`INSERT INTO sums (tenant, project, keys, amount2) VALUES ('acme', 'P1', 'budget\0\0n1\0EUR\0\0', 1)`)
	}
	batch()
	listing := &afterListing{Conn: s.db}
	s.r = New(listing, s.db, 10*time.Second)
	first, err := s.r.Budget(t.Context(), s.request("P1", true))
	if err != nil || first.Inputs == (Inputs{}) {
		t.Fatalf("inputs %x: %v", first.Inputs, err)
	}
	// Given a batch that comes right behind the list of parts
	listing.do = batch
	request := s.request("P1", true)
	listing.do = nil
	request.Has = first.Inputs
	// When the budget is read, then it has the batch, and no name
	second, err := s.r.Budget(t.Context(), request)
	if value, _ := second.Nodes[1].Budget.Int64(); err != nil || value != 2 || second.Inputs != (Inputs{}) {
		t.Errorf("%d on the line, inputs %x: %v", value, second.Inputs, err)
	}
	// And the next one has a name of its own, and the batch once.
	third, err := s.r.Budget(t.Context(), s.request("P1", true))
	if value, _ := third.Nodes[1].Budget.Int64(); err != nil || value != 2 || third.Inputs == first.Inputs || third.Inputs == (Inputs{}) {
		t.Errorf("then %d on the line, inputs %x: %v", value, third.Inputs, err)
	}
}
