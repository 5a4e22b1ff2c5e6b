package reader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"tallyhouse/schemas/events"
)

// counted is a connection that counts statements and the rows and bytes that they read. Where together is set, a statement begins
// only when so many others have been sent that there are that many at the same time.
type counted struct {
	Conn
	together int

	mu         sync.Mutex
	statements int
	rows       uint64
	bytes      uint64
	enough     chan struct{}
}

var errAlone = errors.New("the statements that were to run beside each other came one after the other")

func (c *counted) Query(ctx context.Context, query string, args ...any) (driver.Rows, error) {
	ctx = clickhouse.Context(ctx, clickhouse.WithProgress(func(p *clickhouse.Progress) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.rows += p.Rows
		c.bytes += p.Bytes
	}))
	c.mu.Lock()
	c.statements++
	if c.enough != nil && c.statements == c.together {
		close(c.enough)
	}
	enough := c.enough
	c.mu.Unlock()
	if enough != nil {
		select {
		case <-enough:
		case <-time.After(time.Minute):
			return nil, errAlone
		}
	}
	return c.Conn.Query(ctx, query, args...)
}

// count begins to count anew.
func (c *counted) count(together int) {
	c.statements, c.rows, c.bytes, c.together, c.enough = 0, 0, 0, together, nil
	if together > 0 {
		c.enough = make(chan struct{})
	}
}

// ledger is a reader of a database with projects P0 to P9 of 2,000 contracts each, 200,000 linked records, of which every
// contract has one that is coded outside its lines, 20,000 contractors and 20,000 budget lines.
func ledger(t *testing.T) (*Reader, *counted) {
	t.Helper()
	db := database(t)
	for _, statement := range []string{
		`INSERT INTO contracts (tenant, project, id, row_version, contractor_id, status, currency, allocation_node, allocation_value)
SELECT 'acme', 'P' || number % 10, 'C' || leftPad(toString(number), 5, '0'), 1, 'K' || number % 20000, 'signed', 'EUR', ['in'], [100] FROM numbers(20000)`,
		// The first by their ids are of one project.
		`INSERT INTO contracts (tenant, project, id, row_version, contractor_id, status, currency, allocation_node, allocation_value)
SELECT 'acme', 'P3', 'B' || leftPad(toString(number), 5, '0'), 1, 'K1', 'signed', 'EUR', ['in'], [100] FROM numbers(100)`,
		`INSERT INTO sums (tenant, project, keys, amount1, amount4, amount2, amount3)
SELECT 'acme', 'P3', concat('lines\0B', leftPad(toString(number), 5, '0'), '\0out\0EUR\0paid\0'), 1, 1, 5, 6 FROM numbers(100)`,
		`INSERT INTO sums (tenant, project, keys, amount1)
SELECT 'acme', 'P3', concat('links\0B', leftPad(toString(number), 5, '0'), '\0out\0EUR\0\0r', toString(number)), 1 FROM numbers(100)`,
		`INSERT INTO sums (tenant, project, keys, amount1)
SELECT 'acme', 'P' || number % 10,
    concat('links\0C', leftPad(toString(number % 20000), 5, '0'), '\0', if(number < 20000, 'out', 'in'), '\0EUR\0\0', leftPad(toString(number), 8, '0')), 1
FROM numbers(200000)`,
		`INSERT INTO sums (tenant, project, keys, amount1, amount4, amount2, amount3)
SELECT 'acme', 'P' || number % 10,
    concat('lines\0C', leftPad(toString(number % 20000), 5, '0'), '\0', if(number < 20000, 'out', 'in'), '\0EUR\0paid\0'), 1, 1, 5, 6
FROM numbers(40000)`,
		`INSERT INTO sums (tenant, project, keys, amount1)
SELECT 'acme', 'P' || intDiv(number, 20000), concat('references\0K', toString(number % 20000), '\0\0\0\0'), 1 FROM numbers(200000) WHERE number % 3 = 0`,
		`INSERT INTO contractors (tenant, project, id, row_version, src_offset, name)
SELECT 'acme', '', 'K' || toString(number), 1, number, 'Name' FROM numbers(20000) UNION ALL SELECT '', '#0', '', 20000, 0, NULL`,
		`INSERT INTO budget_nodes (tenant, project, id, row_version, src_offset, structure_id, level, code, name, active, accounting_codes)
SELECT 'acme', '', 'n' || toString(number), 1, number, 'S' || number % 100, 'budget', '1', 'Line', true, '[]' FROM numbers(20000)
UNION ALL SELECT '', '#0', '', 20000, 0, NULL, '', '', '', false, '[]'`,
	} {
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	conn := &counted{Conn: db}
	return New(conn, db, 30*time.Second), conn
}

func ledgerProjects() []ProjectRef {
	var projects []ProjectRef
	for i := range 10 {
		projects = append(projects, ProjectRef{ID: fmt.Sprintf("P%d", i), StructureID: events.Some("S1")})
	}
	return projects
}

// A contract costs a granule or two of each table, whatever its project has; so does a page the granules that its
// contracts lie in.
func TestContractsReadFewRowsInFewStatements(t *testing.T) {
	r, conn := ledger(t)
	ctx := context.Background()
	everything := Parts(ContractFigures, ContractReclass, ContractCounterparty)
	one := func() ([]Contract, error) {
		c, err := r.Contract(ctx, "acme", "C10007", ledgerProjects(), func(string) Part[Contract] { return everything })
		return []Contract{c}, err
	}
	page := func() ([]Contract, error) {
		all, _, err := r.Contracts(ctx, ContractPage{Tenant: "acme", Projects: ledgerProjects()[7:8], After: "C10000", Limit: 50, Read: everything})
		return all, err
	}
	firstOfAll := func() ([]Contract, error) {
		all, _, err := r.Contracts(ctx, ContractPage{Tenant: "acme", Projects: ledgerProjects(), Limit: 50, Read: everything})
		return all, err
	}
	for name, read := range map[string]struct {
		contracts  func() ([]Contract, error)
		statements int
		rows       uint64 // at most, of 300,000
		// of the first contract: what it is invoiced, and the record that is coded outside its lines
		first            string
		invoiced, record string
	}{
		"one":                 {one, 3, 6_000, "C10007", "10", "00010007"},
		"a page of a project": {page, 3, 12_000, "C10007", "10", "00010007"},
		"a page of all projects that lies in one": {firstOfAll, 3, 66_500, "B00000", "5", "r0"},
	} {
		t.Run(name, func(t *testing.T) {
			// Given what is kept between requests
			if _, err := read.contracts(); err != nil {
				t.Fatal(err)
			}
			// When contracts are read with all that belongs to them
			conn.count(2)
			contracts, err := read.contracts()
			if err != nil {
				t.Fatal(err)
			}
			// Then it took two statements beside each other, and a third for what is linked to them, which read little.
			if conn.statements != read.statements || conn.rows == 0 || conn.rows > read.rows {
				t.Errorf("%d statements read %d rows, want %d and at most %d", conn.statements, conn.rows, read.statements, read.rows)
			}
			// And all is there.
			first := contracts[0]
			if string(first.ID) != read.first || first.Figures.Invoiced.String() != read.invoiced || first.CounterpartyName.V != "Name" ||
				len(first.ReclassRecordIDs) != 1 || first.ReclassRecordIDs[0] != read.record {
				t.Errorf("got %+v", first)
			}
			conn.count(0)
		})
	}
}

// A page of contractors reads the references to those that it is looked for among; contracts are few.
func TestAPageOfContractorsReadsItsWindow(t *testing.T) {
	r, conn := ledger(t)
	page, more, err := r.Contractors(context.Background(), ContractorPage{Tenant: "acme", Projects: []string{"P3", "P4", "P5"}, After: "K1", Limit: 50})
	if err != nil || len(page) != 50 || !more || page[0].ID != "K10" || page[1].ID != "K100" {
		t.Fatalf("%d contractors, more %v: %v", len(page), more, err)
	}
	// 6,000 contracts, a granule or two of each project's references, and few contractors
	if conn.statements != 2 || conn.rows == 0 || conn.rows > 20_000 {
		t.Errorf("%d statements read %d rows, want 2 and at most 20,000 of 50,000", conn.statements, conn.rows)
	}
}

// Few of a great number of contractors are found, although windows begin small.
func TestContractorsThatAreSeldomReferredToAreFound(t *testing.T) {
	db := database(t)
	for _, statement := range []string{
		`INSERT INTO contractors (tenant, id, row_version, name) SELECT 'acme', leftPad(toString(number), 6, '0'), 1, 'Name' FROM numbers(30000)`,
		`INSERT INTO sums (tenant, project, keys, amount1)
SELECT 'acme', 'P1', concat('references\0', leftPad(toString(number * 9999), 6, '0'), '\0\0\0\0'), 1 FROM numbers(4)`,
	} {
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	r := New(db, db, 30*time.Second)
	for limit, want := range map[int]string{1: "000000 true", 2: "000000 009999 true", 3: "000000 009999 019998 true",
		4: "000000 009999 019998 029997 false", 200: "000000 009999 019998 029997 false"} {
		page, more, err := r.Contractors(context.Background(), ContractorPage{Tenant: "acme", Projects: []string{"P1"}, Limit: limit})
		got := ""
		for _, c := range page {
			got += c.ID + " "
		}
		if got += fmt.Sprint(more); err != nil || got != want {
			t.Errorf("of %d: %s, want %s: %v", limit, got, want, err)
		}
	}
}

// A list of snapshots takes their totals from where they are stored, and they are those of the lines.
func TestAListOfSnapshotsReadsNoLines(t *testing.T) {
	// Given snapshots of 2,000 lines each, of which every hundredth is at the top
	db := database(t)
	err := db.Exec(context.Background(), `INSERT INTO forecast_snapshots (tenant, project, id, row_version, month, version, status,
  line_node, line_parent, line_level, line_code, line_name, line_budget, line_committed, line_pending_changes, line_uncommitted,
  line_uncommitted_defaulted, line_invoiced, line_paid)
WITH range(2000) AS lines
SELECT 'acme', 'P1', 'F' || toString(number), 1, '2026-0' || toString(number + 1), 1, 'approved',
  arrayMap(i -> toString(i), lines), arrayMap(i -> if(i % 100 = 0, '', '0'), lines), arrayMap(i -> 'budget', lines),
  arrayMap(i -> '1', lines), arrayMap(i -> 'Line', lines),
  arrayMap(i -> toInt64(9223372036854775807 - i), lines), arrayMap(i -> toInt64(i + number), lines),
  arrayMap(i -> toInt64(2 * i), lines), arrayMap(i -> toInt64(3 * i), lines), arrayMap(i -> true, lines),
  arrayMap(i -> toInt64(-4 * i), lines), arrayMap(i -> toInt64(5), lines)
FROM numbers(6)`)
	if err != nil {
		t.Fatal(err)
	}
	conn := &counted{Conn: db}
	r := New(conn, db, 30*time.Second)
	// When they are listed
	page, more, err := r.Snapshots(context.Background(),
		SnapshotPage{Tenant: "acme", ProjectID: "P1", Currency: "EUR", Limit: 5})
	if err != nil || len(page) != 5 || !more {
		t.Fatalf("%d snapshots, more %v: %v", len(page), more, err)
	}
	// Then one statement read far less than their lines
	if conn.statements != 1 || conn.bytes == 0 || conn.bytes > 10_000 {
		t.Errorf("%d statements read %d bytes, want 1 and at most 10,000 of 1,000,000", conn.statements, conn.bytes)
	}
	// And each total is that of the snapshot with its lines.
	for _, listed := range page {
		whole, err := r.OfficialSnapshot(context.Background(), "acme", "P1", "EUR", listed.Month)
		if err != nil || len(whole.Lines) != 2000 || listed.Totals != whole.Totals || !listed.Official {
			t.Errorf("%s: %+v listed, %+v of %d lines: %v", listed.Month, listed.Totals, whole.Totals, len(whole.Lines), err)
		}
	}
}

// What is asked with most requests reads a granule of each table, however long they are.
func TestPositionsOfSmallTablesAreFewRows(t *testing.T) {
	r, conn := ledger(t)
	at, err := r.states(context.Background())
	if err != nil || at.nodes != "#0=20000" || at.contractors != "#0=20000" {
		t.Fatalf("got %v, %v", at, err)
	}
	if conn.statements != 2 || conn.rows == 0 || conn.rows > 300 {
		t.Errorf("%d statements read %d rows, want 2 and at most 300 of 40,000", conn.statements, conn.rows)
	}
}

// Estimates at completion are kept for as long as nothing that they are made of has changed: records may.
func TestEstimatesOfFacilitiesAreReadOnce(t *testing.T) {
	// Given a facility of ten projects with 200 budget lines each, of which a page was read
	r, conn := ledger(t)
	page := FacilityPage{Tenant: "acme", ProjectID: "P3", Limit: 50}
	for _, p := range ledgerProjects() {
		page.Projects = append(page.Projects, FinancedProject{p, "EUR"})
	}
	write := func(statement string) {
		if err := r.exec(context.Background(), Query{SQL: statement}); err != nil {
			t.Fatal(err)
		}
	}
	write(`INSERT INTO facilities (tenant, id, row_version, project_ids, lender, type, currency, commitment, margin_bp, commitment_fee_bp)
SELECT 'acme', 'F1', 1, arrayMap(i -> 'P' || i, range(10)), 'Bank', 'senior', 'EUR', 1000000, '1', '1'`)
	estimate := func(name, statement string) (ltc int64) {
		write(statement)
		conn.count(0)
		facilities, _, err := r.Facilities(context.Background(), page)
		if err != nil || len(facilities) != 1 || !facilities[0].Figures.LTCBp.Ok {
			t.Fatalf("%s: got %+v: %v", name, facilities, err)
		}
		return facilities[0].Figures.LTCBp.V
	}
	const budgets = `INSERT INTO sums (tenant, project, keys, amount2)
SELECT 'acme', 'P' || number % 10, concat('budget\0\0n', toString(intDiv(number, 10) * 100 + 1), '\0EUR\0\0'), 1000 FROM numbers(2000)`
	before := estimate("budgets", budgets+"\nUNION ALL SELECT '', '#budget_rows/0', '', 2000")
	first := conn.rows
	// When records come in and it is read again, then no sums of projects are: only facilities, the parts of tables, the positions
	// of sums, and what is drawn
	if again := estimate("records", `INSERT INTO sums (tenant, project, keys, amount1) VALUES ('', '#records/0', '', 7)`); again != before ||
		conn.statements != 4 || conn.rows > 3_000 || first < 5_000 {
		t.Errorf("%d statements read %d rows, before %d; the estimate makes %d, before %d", conn.statements, conn.rows, first, again, before)
	}
	// When a budget changes, then the next page shows it.
	if now := estimate("budgets", budgets+"\nUNION ALL SELECT '', '#budget_rows/0', '', 2000"); now != before/2 {
		t.Errorf("with twice the budgets the loan is %d, before %d", now, before)
	}
}
