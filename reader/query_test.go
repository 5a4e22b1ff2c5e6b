package reader

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/sethvargo/go-retry"

	"tallyhouse/analytics"
	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

var update = flag.Bool("update", false, "write the statements to testdata anew")

// queries are all statements that the reader sends, by name.
func queries(t *testing.T) map[string]Query {
	t.Helper()
	structure := events.Some("S1")
	nodes := []analytics.Node{
		{ID: "a", BudgetNode: events.BudgetNode{StructureID: structure,
			AccountingCodes: []events.AccountingCode{{System: "datev", Code: "0700"}}}},
		{ID: "b", BudgetNode: events.BudgetNode{StructureID: structure, ParentID: events.Some("a")}},
	}
	one, two := ProjectRef{ID: "P1", StructureID: structure}, ProjectRef{ID: "P2"}
	structures := map[string]*analytics.Structure{"P1": analytics.NewStructure("P1", structure, nodes),
		"P2": analytics.NewStructure("P2", events.Opt[string]{}, nil)}
	everything := RecordFilter{
		Tenant: "acme", Projects: []ProjectRef{one, two}, Statuses: []string{"paid", "setup"},
		InvoiceNumber: events.Some(`it's "1" \`), ContractorID: events.Some("K1"),
		RecognitionFrom: events.Some(calendar.NewDate(2026, 1, 1)),
		RecognitionTo:   events.Some(calendar.NewDate(2026, 12, 31)),
		CashFrom:        events.Some(calendar.MinDate), CashTo: events.Some(calendar.MaxDate), HasCashDate: events.Some(true),
		Channel: events.Some("email"), Source: events.Some("invoice"),
		NodeID: events.Some("a"), Descendants: true, Code: events.Some(Code{"datev", "0700"}),
	}
	unfiltered := RecordFilter{Tenant: "acme", Projects: []ProjectRef{one}}
	node := RecordFilter{Tenant: "acme", Projects: []ProjectRef{one}, NodeID: events.Some("a"),
		HasCashDate: events.Some(false)}
	page := func(f RecordFilter, read Part[Record]) Query {
		where, err := f.conditions(structures)
		if err != nil {
			t.Fatal(err)
		}
		p := RecordPage{Filter: f, After: "R1", Limit: 51, Read: read}
		return p.query(where)
	}
	count := func(f RecordFilter) Query {
		where, err := f.conditions(structures)
		if err != nil {
			t.Fatal(err)
		}
		return f.countQuery(where)
	}
	all := Parts(RecordDirection.Part(), RecordSource.Part(), RecordStatus.Part(), RecordWorkflowStep.Part(),
		RecordCounterparty, RecordInvoiceNumber.Part(),
		RecordRecognitionDate.Part(), RecordDueDate.Part(), RecordPaidOn.Part(), RecordNet, RecordTax, RecordGross,
		RecordAllocations, RecordCodes,
		RecordDocuments.Part(), RecordIntake)
	walked := func(f RecordFilter, read Part[Record], bounded bool) Query {
		where, err := f.conditions(structures)
		if err != nil {
			t.Fatal(err)
		}
		return walkQuery(&f, read, where, "R1", "R9", bounded)
	}
	changes := ChangeWalk{filter: everything, within: []string{"P1"}, since: Offsets{7, 0, 9}, after: "R1",
		affected: Affected{Nodes: []string{"a", "b"}, Contractors: []string{"K1"}}}
	changed, err := changes.idsQuery()
	if err != nil {
		t.Fatal(err)
	}
	where, err := everything.conditions(structures)
	if err != nil {
		t.Fatal(err)
	}
	current, err := currentQuery(&everything, RecordStatus.Part(), where, []string{"R1", "R2"})
	if err != nil {
		t.Fatal(err)
	}
	line := LineRequest{Tenant: "acme", Project: one, Currency: "EUR", Line: "a"}
	nodesOfLine, err := nodesTable([]analytics.NodeID{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	contractorPage := ContractorPage{Tenant: "acme", Projects: []string{"P1", "P2"}, Marked: []string{"P2"}}
	rentRoll := RentRollRequest{Tenant: "acme", Project: "P1", Month: calendar.NewDate(2026, 5, 1).Month()}
	over := RecordPage{Filter: RecordFilter{Tenant: "acme", Projects: []ProjectRef{one, two}}, Read: all}
	financed := []FinancedProject{{ProjectRef: one, Currency: "EUR"}, {ProjectRef: two, Currency: "CHF"}}
	inboxed := InboxFilter{Tenant: "acme", Projects: []string{"P1", "P2"}, State: analytics.InboxDoubtful, Sender: "b.example",
		From: events.Some(time.UnixMicro(2).UTC()), To: events.Some(time.UnixMicro(7).UTC()), Text: "R-1", Gross: map[int]int64{0: 1, 2: 100}}
	return map[string]Query{
		"records_page":         page(unfiltered, all),
		"records_page_ids":     page(unfiltered, Part[Record]{}),
		"records_page_node":    page(node, RecordGross),
		"records_page_filters": page(everything, Parts(RecordStatus.Part(), RecordCodes)),
		"records_count":        count(everything),
		"record":               recordQuery("acme", "R1", []ProjectRef{one, two}, all),
		"records_window":       windowQuery(&everything, "R1", 4096),
		"records_walk":         walked(everything, RecordStatus.Part(), true),
		"records_walk_end":     walked(unfiltered, all, false),
		"lives":                livesQuery(),
		"changed_contractors":  changedIDsQuery("contractors", "acme", Offsets{1, 2}),
		"changed_records":      changed,
		"changed_current":      current,
		"node_parents":         parentsQuery("acme"),
		"record_id":            idQuery(RecordsTable, "acme", "R", make([]byte, DigestSize)),
		"contractor_names":     contractorNamesQuery("acme", []string{"K1"}),
		"nodes":                nodesQuery("acme", []string{"P1"}, []string{"S1"}),
		"parts":                partsQuery([]string{"budget_nodes", "contractors"}),
		"progress":             progressQuery("budget_nodes", tableSums, tableStreams),
		"own_state":            ownStateQuery("contractors", "acme"),
		"inbox_window":         inboxed.inboxWindowQuery("readings", events.Some(InboxPlace{-7, "i1"}), 204, 51),
		"inbox_lines":          inboxed.inboxLinesQuery([]InboxLine{{InboxPlace: InboxPlace{-6, "i3"}, ProjectID: "P1"}}),
		"inbox_counts":         inboxCountsQuery("readings", "acme", []string{"P1", "P2"}),
		"intake_requests":      intakeRequestsQuery("acme", []string{"", "P1"}, []string{"i3", "sender:a@b.example"}),
		"allowed_senders":      allowedSendersQuery("acme", 1000),
		"mailed_versions":      mailedVersionsQuery("acme", "P1", "mail-1", 200),
		"inbox_line":           inboxLineQuery("acme", "i3", []string{"P1", "P2"}),
		"gap":                  gapQuery(events.Keys),
		"budget":               budgetQuery("acme", "P1", budgetKnown{}),
		"budget_at":            budgetQuery("acme", "P1", budgetKnown{nodes: true}),
		"budget_kept":          budgetQuery("acme", "P1", budgetKnown{nodes: true, entries: true}),
		"budget_by_part": budgetQuery("acme", "P1", budgetKnown{nodes: true, entries: true,
			parts: knownParts{byPart: true, names: []string{"all_1_5_1", "all_6_6_0"}}}),
		"estimates":        estimatesQuery("acme", []string{"P1", "P2"}),
		"records_bound":    over.boundQuery(byID("records"), "R1", 64),
		"records_range":    over.rangeQuery("R1", events.Some("R2"), 51),
		"records_rest":     over.rangeQuery("R2", events.Opt[string]{}, 51),
		"contracts":        ContractPage{Tenant: "acme", Projects: []ProjectRef{one, two}, After: "C1", Limit: 51}.query(),
		"contracts_of_one": ContractPage{Tenant: "acme", Projects: []ProjectRef{one}, After: "C1", Limit: 51}.query(),
		"contract":         contractQuery("acme", "C1", []ProjectRef{one, two}),
		"contracts_linked": linkedQuery("acme", []Contract{
			{Contract: analytics.Contract{ID: "C1", Contract: events.Contract{ProjectID: "P1",
				Allocations: []events.ContractAllocation{{NodeID: "a", Value: 1}, {NodeID: "b", Value: 1}}}}},
			{Contract: analytics.Contract{ID: "C2", Contract: events.Contract{ProjectID: "P2"}}},
		}, []string{rollLines, rollLinks}),
		"contract_linked": linkedQuery("acme", []Contract{
			{Contract: analytics.Contract{ID: "C1", Contract: events.Contract{ProjectID: "P1",
				Allocations: []events.ContractAllocation{{NodeID: "a", Value: 1}, {NodeID: "b", Value: 1}}}}},
		}, []string{rollLines, rollLinks}),
		"contract_linked_lines": linkedQuery("acme", []Contract{
			{Contract: analytics.Contract{ID: "C1", Contract: events.Contract{ProjectID: "P1"}}},
		}, []string{rollLines}),
		"contractors":       contractorPage.query("K1", events.Some("K9"), 51),
		"contractors_rest":  contractorPage.query("K1", events.Opt[string]{}, 51),
		"contractors_bound": contractorPage.boundQuery("K1", 204),
		"cashflow":          cashflowQuery("acme", "P1", budgetKnown{}, expectedRecords{since: events.Some(calendar.NewDate(2026, 2, 1).Month()), nodes: []string{"a", "b"}}),
		"cashflow_all":      cashflowQuery("acme", "P1", budgetKnown{}, expectedRecords{since: events.Some(calendar.NewDate(2026, 2, 1).Month())}),
		"cashflow_none":     cashflowQuery("acme", "P1", budgetKnown{nodes: true, entries: true}, expectedRecords{}),
		"cashflow_by_part": cashflowQuery("acme", "P1", budgetKnown{nodes: true, entries: true, parts: knownParts{byPart: true}},
			expectedRecords{since: events.Some(calendar.NewDate(2026, 2, 1).Month()), nodes: []string{"a"}}),
		"plans":             plansQuery(planColumns.rows(), "acme", "P1"),
		"line_bookings":     line.bookingsQuery("IN line_nodes", nodesOfLine),
		"line_claims":       line.claimsQuery(nodesOfLine),
		"line_contracts":    line.contractsQuery(),
		"line_entered":      line.enteredQuery(),
		"line_plan":         line.planQuery(),
		"lease":             leaseQuery("acme", "P1", "L1"),
		"lease_series":      seriesQuery("acme", []string{"VPI"}),
		"unallocated":       line.unallocatedQuery(nodesOfLine),
		"contract_invoices": contractInvoicesQuery("acme", "P1", "C1", "EUR"),
		"units":             UnitPage{Tenant: "acme", Project: "P1", After: "U1"}.query(51),
		"rentroll_leases":   rentRoll.leasesQuery(),
		"rentroll_areas":    rentRoll.areasQuery(),
		"facilities":        FacilityPage{Tenant: "acme", ProjectID: "P1", Projects: financed, After: "F1"}.query(51),
		"facility":          facilityQuery("acme", "F1", financed),
		"facility_sums":     entrySumsQuery("acme", []string{"F1", "F2"}),
		"facility_entries_page": FacilityEntryPage{Tenant: "acme", FacilityID: "F1",
			After: events.Some(FacilityEntryPlace{Date: calendar.NewDate(2026, 3, 31), ID: "E1"})}.query(51),
		"facility_entries_first": FacilityEntryPage{Tenant: "acme", FacilityID: "F1"}.query(51),
		"facility_entries":       facilityPartQuery(facilityEntryColumns, "facility_entries", "acme", "F1"),
		"facility_fixings":       facilityPartQuery(fixingColumns, "fixings", "acme", "F1"),
		"snapshot_heads":         snapshotHeadsQuery("acme", "P1"),
		"snapshot_lines":         snapshotLinesQuery("acme", "P1", []string{"F1", "F2"}, []uint64{1, 2}),
	}
}

// text is a statement with its parameters and tables, as the golden files show it.
func (q Query) text() string {
	var b strings.Builder
	b.WriteString(q.SQL + "\n")
	for _, name := range slices.Sorted(maps.Keys(q.Args)) {
		fmt.Fprintf(&b, "-- %s = %q\n", name, fmt.Sprint(q.Args[name]))
	}
	for _, table := range q.Tables {
		fmt.Fprintf(&b, "-- table %s, %d rows\n", table.Name(), table.Block().Rows())
	}
	return b.String()
}

func TestStatementsAreAsWrittenDown(t *testing.T) {
	for name, q := range queries(t) {
		path := filepath.Join("testdata", name+".sql")
		if *update {
			if err := os.WriteFile(path, []byte(q.text()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := q.text(); got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s\nif that is meant: make generate", path, got, want)
		}
	}
}

// database makes the tables in an empty database.
func database(t *testing.T) clickhouse.Conn {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	db, err := clickhouse.Open(&clickhouse.Options{Addr: []string{addr}, Auth: clickhouse.Auth{Database: name}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	schematest.Make(t, func(statement string) error { return db.Exec(context.Background(), statement) })
	return db
}

func TestTheEngineTakesEveryStatement(t *testing.T) {
	r := newReader(t, 10*time.Second)
	for name, q := range queries(t) {
		err := r.each(context.Background(), q, pageSettings, func(func(...any) error) error { return nil })
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAPageReadsWhatItShows holds the plan of a page: it follows the key and stops, in each project, whatever the
// number of records.
func TestAPageReadsWhatItShows(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	for _, project := range []string{"P1", "P2"} {
		err := db.Exec(ctx, `INSERT INTO records (tenant, project, id, row_version) SELECT 'acme', '`+project+`', leftPad(toString(number), 6, '0'), 1 FROM numbers(60000)`)
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, projects := range map[string][]ProjectRef{"one project": {{ID: "P1"}},
		"two projects": {{ID: "P1"}, {ID: "P2"}}} {
		p := RecordPage{Filter: RecordFilter{Tenant: "acme", Projects: projects}, After: "030000", Limit: 51,
			Read: RecordStatus.Part()}
		where, err := p.Filter.conditions(nil)
		if err != nil {
			t.Fatal(err)
		}
		var read uint64
		counting := clickhouse.Context(ctx, clickhouse.WithProgress(func(p *clickhouse.Progress) { read += p.Rows }))
		rows := 0
		err = New(db, db, 10*time.Second).each(counting, p.query(where), pageSettings,
			func(func(...any) error) error { rows++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		if bound := uint64(len(projects)) * 20_000; rows != 51 || read == 0 || read > bound {
			t.Errorf("%s: %d rows from %d read, want at most %d of 60,000 a project", name, rows, read, bound)
		}
	}
}

// newReader is a reader of an empty database of its own.
func newReader(t *testing.T, timeout time.Duration) *Reader {
	t.Helper()
	db := database(t)
	return New(db, db, timeout)
}

// endless runs for longer than any test waits.
var endless = Query{SQL: "SELECT sleepEachRow(1) FROM numbers(600) SETTINGS max_block_size = 1"}

func TestAStatementEndsWhenItsCallerLeaves(t *testing.T) {
	for name, leaving := range map[string]func() (context.Context, context.CancelFunc, error){
		"gone": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithCancel(context.Background())
			return ctx, cancel, context.Canceled
		},
		"out of time": func() (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			return ctx, cancel, context.DeadlineExceeded
		},
	} {
		t.Run(name, func(t *testing.T) {
			// Given a caller whose statement would run for minutes
			db := database(t)
			r := New(db, db, time.Hour) // so that the engine's own limit never ends it
			ctx, cancel, want := leaving()
			defer cancel()
			began := make(chan struct{}, 1)
			go func() {
				<-began
				if want == context.Canceled {
					cancel()
				}
			}()
			// When they leave, or have no more time
			err := r.each(ctx, endless, nil, func(func(...any) error) error {
				select {
				case began <- struct{}{}:
				default:
				}
				return nil
			})
			// Then it ends, at the server too, a moment later
			if !errors.Is(err, want) {
				t.Errorf("got %v, want %v", err, want)
			}
			awaitNone(t, db, "numbers(600)")
			// And one who has left begins nothing.
			if err := r.each(ctx, Query{SQL: "SELECT 1"}, nil, func(func(...any) error) error { return nil }); !errors.Is(err, want) {
				t.Errorf("afterwards %v", err)
			}
		})
	}
}

// awaitNone waits until the server runs no statement with this text.
func awaitNone(t *testing.T, db clickhouse.Conn, text string) {
	t.Helper()
	const running = "SELECT count() FROM system.processes WHERE position(query, ?) > 0 AND position(query, 'processes') = 0"
	pauses := retry.WithMaxDuration(time.Minute, retry.NewConstant(20*time.Millisecond))
	err := retry.Do(t.Context(), pauses, func(ctx context.Context) error {
		var n uint64
		if err := db.QueryRow(ctx, running, text).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return retry.RetryableError(fmt.Errorf("%d statements still run", n))
		}
		return nil
	})
	if err != nil {
		t.Errorf("statements with %q: %v", text, err)
	}
}

func TestAStatementEndsWithinItsTime(t *testing.T) {
	r := newReader(t, time.Second)
	err := r.each(context.Background(), Query{SQL: "SELECT sleepEachRow(0.2) FROM numbers(100) SETTINGS max_block_size = 1"},
		nil, func(func(...any) error) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "Timeout exceeded") {
		t.Errorf("got %v", err)
	}
}

func TestTheFirstCursorKeyIsMadeOnce(t *testing.T) {
	r := newReader(t, 10*time.Second)
	ctx := context.Background()
	for _, k := range []CursorKey{{1, "bb"}, {1, "aa"}, {2, "zz"}} {
		if err := r.AddCursorKey(ctx, k, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := r.CursorKeys(ctx)
	if want := []CursorKey{{2, "zz"}, {1, "aa"}, {1, "bb"}}; err != nil || !slices.Equal(keys, want) {
		t.Errorf("got %v, %v", keys, err)
	}
}

// Given instants at the ends of what an event may carry, far beyond what nanoseconds reach, then they read as they were
// delivered.
func TestInstantsReadOverTheirWholeRange(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	r := New(db, db, 10*time.Second)
	for i, at := range []time.Time{
		time.Date(1900, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
		time.Date(2263, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2299, 12, 31, 23, 59, 59, 0, time.UTC),
	} {
		id, micros := fmt.Sprint("I", i), at.UnixMicro()
		for _, into := range []struct{ columns, values string }{
			{"records (tenant, project, id, row_version, at, received_at", "at"},
			{"keys (tenant, project, id, row_version, at, expires_at", "at"},
			{"forecast_snapshots (tenant, project, id, row_version, at, submitted_at, month", "at, '2026-04'"},
		} {
			err := db.Exec(ctx, `INSERT INTO `+into.columns+`)
WITH fromUnixTimestamp64Micro(toInt64(?), 'UTC') AS at SELECT 'acme', 'P1', ?, 1, at, `+into.values, micros, id)
			if err != nil {
				t.Fatal(err)
			}
		}
		record, err := r.Record(ctx, "acme", id, []ProjectRef{{ID: "P1"}}, RecordIntake)
		if err != nil || !record.Intake.ReceivedAt.V.Equal(at) {
			t.Errorf("received %v, read %v, %v", at, record.Intake.ReceivedAt.V, err)
		}
		if _, err = r.LoadAccess(ctx, events.Keys, func(e events.Event) {
			if expires := e.Data.(*events.Key).ExpiresAt.V; e.ID == id && !(expires.Equal(at) && e.At.Equal(at)) {
				t.Errorf("a key that expires at %v, delivered then, reads as %v and %v", at, expires, e.At)
			}
		}); err != nil {
			t.Fatal(err)
		}
		heads, err := r.snapshotHeads(ctx, "acme", "P1")
		if err != nil || len(heads.snapshots) != i+1 {
			t.Fatal(len(heads.snapshots), err)
		}
		for _, s := range heads.snapshots {
			if s.ID == id && !s.SubmittedAt.V.Equal(at) {
				t.Errorf("submitted %v, read %v", at, s.SubmittedAt.V)
			}
		}
	}
}
