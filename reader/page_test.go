package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// pagedList is a list whose items can be made large: how they are stored, and how a page of them is read.
type pagedList struct {
	fill string // numbers become ids, i00 and so on; % is what makes an item large
	page func(ctx context.Context, r *Reader, after string, limit int) (ids []string, more bool, err error)
}

const (
	paged      = 6
	largeItem  = 100_000
	pageOfFew  = 320 << 10 // some of them
	pageOfNone = 50_000    // not even one of them
)

func pagedLists() map[string]pagedList {
	one, two := ProjectRef{ID: "P1"}, ProjectRef{ID: "P2"}
	records := func(projects ...ProjectRef) func(context.Context, *Reader, string, int) ([]string, bool, error) {
		return func(ctx context.Context, r *Reader, after string, limit int) (ids []string, more bool, err error) {
			page, err := r.Records(ctx, RecordPage{Filter: RecordFilter{Tenant: "acme", Projects: projects}, After: after,
				Limit: limit, Read: Parts(RecordWorkflowStep.Part(), RecordCounterparty)})
			return idsOf(page.Records, func(r Record) string { return r.ID }), page.More, err
		}
	}
	const id = "concat('i', leftPad(toString(number), 2, '0'))"
	const ids = " FROM numbers(6)"
	return map[string]pagedList{
		"records": {
			`INSERT INTO records (tenant, project, id, row_version, workflow_step) SELECT 'acme', 'P1', ` + id + `, 1, %` + ids,
			records(one)},
		"records of several projects": {
			`INSERT INTO records (tenant, project, id, row_version, workflow_step)
SELECT 'acme', if(modulo(number, 2) = 0, 'P1', 'P2'), ` + id + `, 1, %` + ids,
			records(one, two)},
		"records with names of contractors": {
			`INSERT INTO contractors (tenant, id, row_version, name) SELECT 'acme', concat('K', ` + id + `), 1, %` + ids + `;
INSERT INTO records (tenant, project, id, row_version, contractor_id) SELECT 'acme', 'P1', ` + id + `, 1, concat('K', ` + id + `)` + ids,
			records(one)},
		"contracts": {
			`INSERT INTO contracts (tenant, project, id, row_version, name) SELECT 'acme', 'P1', ` + id + `, 1, %` + ids,
			contractIDs(Part[Contract]{})},
		"contracts with names of contractors": {
			`INSERT INTO contractors (tenant, id, row_version, name) SELECT 'acme', concat('K', ` + id + `), 1, %` + ids + `;
INSERT INTO contracts (tenant, project, id, row_version, contractor_id) SELECT 'acme', 'P1', ` + id + `, 1, concat('K', ` + id + `)` + ids,
			contractIDs(ContractCounterparty)},
		"contracts with linked records":                          contractsWith("'Name'", "%"),
		"contracts with linked records and names of contractors": contractsWith("%", "'r'"),
		"contractors": {
			`INSERT INTO contractors (tenant, id, row_version, city) SELECT 'acme', ` + id + `, 1, %` + ids + `;
INSERT INTO contracts (tenant, project, id, row_version, contractor_id) SELECT 'acme', 'P1', ` + id + `, 1, ` + id + ids,
			func(ctx context.Context, r *Reader, after string, limit int) ([]string, bool, error) {
				page, more, err := r.Contractors(ctx, ContractorPage{Tenant: "acme", Projects: []string{"P1"}, After: after, Limit: limit})
				return idsOf(page, func(c Contractor) string { return c.ID }), more, err
			}},
		"units": {
			`INSERT INTO units (tenant, project, id, row_version, label) SELECT 'acme', 'P1', ` + id + `, 1, %` + ids,
			func(ctx context.Context, r *Reader, after string, limit int) (ids []string, more bool, err error) {
				page, more, err := r.Units(ctx, UnitPage{Tenant: "acme", Project: "P1", After: after, Limit: limit})
				for _, u := range page {
					ids = append(ids, u.ID)
				}
				return ids, more, err
			}},
		"facilities": {
			`INSERT INTO facilities (tenant, id, row_version, project_ids, lender, margin_bp, commitment_fee_bp)
SELECT 'acme', ` + id + `, 1, ['P1'], %, '0', '0'` + ids,
			func(ctx context.Context, r *Reader, after string, limit int) ([]string, bool, error) {
				page, more, err := r.Facilities(ctx, FacilityPage{Tenant: "acme", ProjectID: "P1",
					Projects: []FinancedProject{{ProjectRef: one, Currency: "EUR"}}, After: after, Limit: limit})
				return idsOf(page, func(f Facility) string { return f.ID }), more, err
			}},
		"drawdowns": {
			`INSERT INTO facility_entries (tenant, project, id, row_version, kind, date)
SELECT 'acme', 'F1', ` + id + `, 1, %, '2026-01-01'` + ids,
			func(ctx context.Context, r *Reader, after string, limit int) (ids []string, more bool, err error) {
				wanted := FacilityEntryPage{Tenant: "acme", FacilityID: "F1", Limit: limit}
				if after != "" {
					wanted.After = events.Some(FacilityEntryPlace{Date: calendar.NewDate(2026, 1, 1), ID: after})
				}
				page, more, err := r.FacilityEntries(ctx, wanted)
				for _, e := range page {
					ids = append(ids, e.ID)
				}
				return ids, more, err
			}},
	}
}

func idsOf[T any](items []T, id func(T) string) (ids []string) {
	for _, item := range items {
		ids = append(ids, id(item))
	}
	return ids
}

// contractsWith are contracts whose contractors have such a name, and to each of which such a record is linked.
func contractsWith(name, record string) pagedList {
	const id, ids = "concat('i', leftPad(toString(number), 2, '0'))", " FROM numbers(6)"
	return pagedList{
		`INSERT INTO contractors (tenant, id, row_version, name) SELECT 'acme', concat('K', ` + id + `), 1, ` + name + ids + `;
INSERT INTO contracts (tenant, project, id, row_version, contractor_id, allocation_node, allocation_value, currency)
SELECT 'acme', 'P1', ` + id + `, 1, concat('K', ` + id + `), ['in'], [1], 'EUR'` + ids + `;
INSERT INTO sums (tenant, project, keys, amount1, amount4, amount2, amount3)
SELECT 'acme', 'P1', concat('lines\0', ` + id + `, '\0out\0EUR\0paid\0'), 1, 1, 5, 6` + ids + `;
INSERT INTO sums (tenant, project, keys, amount1) SELECT 'acme', 'P1', concat('links\0', ` + id + `, '\0out\0EUR\0\0', ` + record + `), 1` + ids,
		contractIDs(Parts(ContractFigures, ContractReclass, ContractCounterparty)),
	}
}

func contractIDs(read Part[Contract]) func(context.Context, *Reader, string, int) ([]string, bool, error) {
	return func(ctx context.Context, r *Reader, after string, limit int) (ids []string, more bool, err error) {
		page, more, err := r.Contracts(ctx, ContractPage{Tenant: "acme", Projects: []ProjectRef{{ID: "P1"}}, After: after,
			Limit: limit, Read: read})
		for i := range page {
			// A page that is cut is put together again: what is linked counts once.
			if c := &page[i]; read.needs(linkedSums) && (c.Figures.Invoiced.String() != "5" || len(c.ReclassRecordIDs) != 1) {
				return nil, false, fmt.Errorf("%s has %s invoiced, and %d records to re-code", c.ID, c.Figures.Invoiced, len(c.ReclassRecordIDs))
			}
		}
		return idsOf(page, func(c Contract) string { return string(c.ID) }), more, err
	}
}

// A page of every list is cut where its items are large, down to a single one that is larger than a page, and a walk
// goes on where it ends.
func TestPagesOfLargeItemsAreCut(t *testing.T) {
	for name, list := range pagedLists() {
		t.Run(name, func(t *testing.T) {
			// Given items of which a few fit into a page, or none
			r := newReader(t, 30*time.Second)
			fillPaged(t, r, list.fill)
			for bound, most := range map[int]int{pageOfFew: paged / 2, pageOfNone: 1} {
				r := New(r.conn, r.conn, 30*time.Second)
				r.maxPage = bound
				var met []string
				for after, more := "", true; more; {
					var page []string
					var err error
					if page, more, err = list.page(context.Background(), r, after, paged+1); err != nil {
						t.Fatal(err)
					}
					if len(page) > most {
						t.Fatalf("with pages of %d bytes, %d items are in one", bound, len(page))
					}
					if len(page) == 0 {
						break
					}
					met, after = append(met, page...), page[len(page)-1]
				}
				// Then a walk meets each of them once.
				if len(met) != paged || !slices.IsSorted(met) || len(slices.Compact(met)) != paged {
					t.Errorf("with pages of %d bytes, met %q", bound, met)
				}
			}
			// And a small reader leaves them to one that isn't.
			r.maxPage = pageOfFew
			if page, _, err := list.page(context.Background(), r.Small(), "", paged); !errors.Is(err, ErrTooLarge) {
				t.Errorf("a small reader reads %d items, %v", len(page), err)
			}
		})
	}
}

func fillPaged(t *testing.T, r *Reader, fill string) {
	t.Helper()
	fill = strings.ReplaceAll(fill, "%", fmt.Sprintf("concat(toString(number), repeat('x', %d))", largeItem))
	for statement := range strings.SplitSeq(fill, ";") {
		if err := r.conn.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

// The statements that look for the records of one page in several places share the bytes of a page.
func TestAPageIsBoundedWhereverItsRecordsAreFound(t *testing.T) {
	// Given large records among the places of many that are gone, so that each window of places has some
	r := newReader(t, 30*time.Second)
	r.maxPage = 320 << 10
	err := r.conn.Exec(context.Background(), `INSERT INTO records (tenant, project, id, row_version, deleted, workflow_step)
WITH [0, 1, 11, 12, 40, 41] AS alive
SELECT 'acme', if(modulo(number, 2) = 0, 'P1', 'P2'), concat('i', leftPad(toString(number), 3, '0')), 1, NOT has(alive, number),
  if(has(alive, number), repeat('x', 100000), '') FROM numbers(200)`)
	if err != nil {
		t.Fatal(err)
	}
	// Then a page has no more than twice its bytes, and a walk meets all of them.
	met := 0
	for after, more := "", true; more; {
		page, err := r.Records(context.Background(), RecordPage{After: after, Limit: 7, Read: RecordWorkflowStep.Part(),
			Filter: RecordFilter{Tenant: "acme", Projects: []ProjectRef{{ID: "P1"}, {ID: "P2"}}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Records) > 4 {
			t.Errorf("%d records of 100 kB are in a page of 320 KiB", len(page.Records))
		}
		met, more = met+len(page.Records), page.More && len(page.Records) > 0
		if more {
			after = page.Records[len(page.Records)-1].ID
		}
	}
	if met != 6 {
		t.Errorf("met %d records", met)
	}
}

func TestStructuresAreKeptByTheirBytes(t *testing.T) {
	large := strings.Repeat("x", 1000)
	node := events.BudgetNode{Code: large, Name: large, Description: events.Some(large), ParentID: events.Some(large),
		AccountingCodes: []events.AccountingCode{{System: large, Code: large}}}
	if size := sizeOf([]analytics.Node{{ID: analytics.NodeID(large), BudgetNode: node}}); size < 7000 {
		t.Errorf("a node with seven texts of 1,000 bytes counts as %d", size)
	}
}
