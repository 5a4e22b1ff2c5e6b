package reader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// inbox is a reader of a database with 100,000 mails of a tenant, the newest of which is i000000, one a minute, in the
// projects P0 to P9 by their last digit; those whose number ends in 00 are doubtful. i000003 was doubtful and is read now,
// i000005 was deleted. Another tenant has newer ones.
func inbox(t *testing.T) (*Reader, *counted) {
	t.Helper()
	db := database(t)
	const insert = `INSERT INTO readings (tenant, project, id, row_version, deleted, state, newest, sender, number, supplier, currency, gross, reading)
SELECT %s, 'P' || number %% 10, 'i' || leftPad(toString(number), 6, '0'), %d, %t, %s,
  number * 60000000 - 1767225600000000, 'office@b' || number %% 7 || '.example', 'R-' || number, 'Bauwerk ' || number %% 100, 'EUR', 100 * number,
  '{"status": "completed", "mail": {"mailbox": "in", "uidValidity": 1, "uid": 1, "released": false, "bytes": 1}, "documents": [], "fields": [], "findings": []}'
FROM numbers(%d) WHERE %s`
	for _, statement := range []string{
		fmt.Sprintf(insert, "'acme'", 1, false, "if(number % 100 = 0 OR number = 3, 'doubtful', 'read')", 100_000, "1"),
		fmt.Sprintf(insert, "'acme'", 2, false, "'read'", 10, "number = 3"),
		fmt.Sprintf(insert, "'other'", 1, false, "'read'", 500, "1"),
		`INSERT INTO readings (tenant, project, id, row_version, deleted) VALUES ('acme', 'P5', 'i000005', 2, true)`,
	} {
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	conn := &counted{Conn: db}
	return New(conn, db, 30*time.Second), conn
}

func someProjects(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("P", i))
	}
	return all
}

func lineIDs(lines []InboxLine) string {
	var ids []string
	for _, l := range lines {
		ids = append(ids, strings.TrimPrefix(l.ID, "i"))
	}
	return strings.Join(ids, " ")
}

// Given 100,000 mails, when pages are read, then each has what matches, newest first, and reads rows by the page and not by
// how many mails there are.
func TestAPageOfTheInboxReadsFewRows(t *testing.T) {
	r, conn := inbox(t)
	day := time.UnixMicro(1767225600000000).UTC()
	for name, c := range map[string]struct {
		filter InboxFilter
		limit  int
		want   string // ids
		next   bool
		rows   uint64 // at most, of 100,000
	}{
		"of all projects":       {InboxFilter{Projects: someProjects(10)}, 6, "000000 000001 000002 000003 000004 000006", true, 6_000},
		"of one project":        {InboxFilter{Projects: []string{"P5"}}, 3, "000015 000025 000035", true, 6_000},
		"of no project":         {InboxFilter{}, 3, "", false, 0},
		"of a foreign project":  {InboxFilter{Projects: []string{"P77"}}, 3, "", false, 250_000},
		"doubtful":              {InboxFilter{Projects: someProjects(10), State: "doubtful"}, 3, "000000 000100 000200", true, 8_000},
		"of a state as it was":  {InboxFilter{Projects: []string{"P3"}, State: "doubtful"}, 3, "", false, 250_000},
		"of a sender":           {InboxFilter{Projects: someProjects(10), Sender: "OFFICE@b6"}, 2, "000006 000013", true, 6_000},
		"of a number":           {InboxFilter{Projects: someProjects(10), Text: "r-4711"}, 3, "004711 047110 047111", true, 320_000},
		"of a supplier":         {InboxFilter{Projects: someProjects(10), Text: "bauwerk 42"}, 2, "000042 000142", true, 8_000},
		"of an amount":          {InboxFilter{Projects: someProjects(10), Gross: map[int]int64{2: 700}}, 2, "000007", false, 250_000},
		"of a number or amount": {InboxFilter{Projects: someProjects(10), Text: "700", Gross: map[int]int64{2: 700}}, 2, "000007 000700", true, 12_000},
		"of a day": {InboxFilter{Projects: someProjects(10), From: events.Some(day.Add(-5 * time.Minute)), To: events.Some(day.Add(-3 * time.Minute))},
			3, "000004", false, 6_000},
	} {
		t.Run(name, func(t *testing.T) {
			c.filter.Tenant = "acme"
			conn.count(0)
			page, err := r.Inbox(context.Background(), c.filter, events.Opt[InboxPlace]{}, c.limit)
			if err != nil || lineIDs(page.Lines) != c.want || page.Next.Ok != c.next {
				t.Errorf("got %s, next %v, want %s: %v", lineIDs(page.Lines), page.Next, c.want, err)
			}
			t.Logf("%d statements read %d rows", conn.statements, conn.rows)
			if conn.rows > c.rows {
				t.Errorf("%d rows were read, want at most %d", conn.rows, c.rows)
			}
		})
	}
}

// Given mails in currencies of more and fewer decimals, when an amount is looked for, then those are found whose gross it is in their own
// currency, and none that only have the same minor units.
func TestAnAmountIsFoundInEachCurrency(t *testing.T) {
	r, _ := fill(t, `INSERT INTO readings (tenant, project, id, row_version, state, newest, currency, gross, reading)
SELECT 'acme', 'P1', currency || gross, 1, 'read', 0, currency, gross,
  '{"status": "completed", "mail": {"mailbox": "in", "uidValidity": 1, "uid": 1, "released": false, "bytes": 1}, "documents": [], "fields": [], "findings": []}'
FROM VALUES('currency String, gross Nullable(Int64)', ('EUR', 50000), ('EUR', 5000000), ('JPY', 50000), ('JPY', 5000000), ('KWD', 50000000),
  ('KWD', 5000000), ('', 5000000), ('EUR', 12345), ('KWD', 12345), ('JPY', 12345))`)
	for name, c := range map[string]struct {
		gross map[int]int64
		want  string
	}{
		"50000":  {map[int]int64{0: 50_000, 2: 5_000_000, 3: 50_000_000}, "5000000 EUR5000000 JPY50000 KWD50000000"},
		"12.345": {map[int]int64{3: 12_345}, "KWD12345"},
	} {
		page, err := r.Inbox(t.Context(), InboxFilter{Tenant: "acme", Projects: []string{"P1"}, Gross: c.gross}, events.Opt[InboxPlace]{}, 20)
		if got := lineIDs(page.Lines); err != nil || got != c.want {
			t.Errorf("%s is found in %s, want %s: %v", name, got, c.want, err)
		}
	}
}

// Pages follow each other without a gap and without a repetition, also of mails that came at the same instant.
func TestPagesOfTheInboxFollowEachOther(t *testing.T) {
	db := database(t)
	if err := db.Exec(context.Background(), `INSERT INTO readings (tenant, project, id, row_version, state, newest, reading)
SELECT 'acme', 'P' || number % 3, 'i' || number % 37, 1 + intDiv(number, 37), 'read', -intDiv(number % 37, 5),
  '{"status": "completed", "mail": {"mailbox": "in", "uidValidity": 1, "uid": 1, "released": false, "bytes": 1}, "documents": [], "fields": [], "findings": []}'
FROM numbers(37)`); err != nil {
		t.Fatal(err)
	}
	r := New(db, db, 30*time.Second)
	for limit := 1; limit < 40; limit += 3 {
		seen := map[string]bool{}
		var at events.Opt[InboxPlace]
		for range 50 {
			page, err := r.Inbox(context.Background(), InboxFilter{Tenant: "acme", Projects: someProjects(3)}, at, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range page.Lines {
				if seen[l.ID] || at.Ok && l.before(at.V) <= 0 {
					t.Fatalf("pages of %d: %s comes behind %v", limit, l.ID, at)
				}
				seen[l.ID] = true
			}
			if at = page.Next; !at.Ok {
				break
			}
		}
		if len(seen) != 37 {
			t.Errorf("pages of %d have %d readings", limit, len(seen))
		}
	}
}

func TestTheInboxIsCountedByStateAsItIs(t *testing.T) {
	r, conn := inbox(t)
	counts, err := r.InboxCounts(context.Background(), "acme", someProjects(5))
	want := map[analytics.InboxState]int{"doubtful": 100, "read": 4900}
	if err != nil || fmt.Sprint(counts.Of) != fmt.Sprint(want) || counts.All {
		t.Errorf("got %v, want %v of the newest: %v", counts, want, err)
	}
	if conn.rows > 25_000 {
		t.Errorf("%d rows were read", conn.rows)
	}
}

func TestAReadingIsFoundInVisibleProjectsAlone(t *testing.T) {
	r, conn := inbox(t)
	l, err := r.Reading(context.Background(), "acme", "i000013", someProjects(10))
	if err != nil || l.ProjectID != "P3" || l.State != "read" || l.Reading.Status != "completed" || conn.rows > 3_000 {
		t.Errorf("got %+v after %d rows: %v", l, conn.rows, err)
	}
	for _, c := range []struct{ tenant, id, project string }{{"acme", "i000013", "P4"}, {"other", "i000913", "P3"}, {"acme", "i000005", "P5"}} {
		if _, err := r.Reading(context.Background(), c.tenant, c.id, []string{c.project}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// A tenant must be told of its own mails alone: what names its inbox's standing changes with them, and with nobody else's.
func TestTheStandingOfAnInboxIsItsOwn(t *testing.T) {
	db := database(t)
	r := New(db, db, 30*time.Second)
	standing := func(tenant string) string {
		t.Helper()
		at, err := r.InboxStandings(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		own, err := r.InboxStanding(t.Context(), at, tenant)
		if err != nil {
			t.Fatal(err)
		}
		return own
	}
	offset := 412_345_677
	arrives := func(table, tenant string) { // with the position of its partition, as blocks have them
		t.Helper()
		offset++
		insert := fmt.Sprintf(`INSERT INTO %s (tenant, project, id, row_version, src_partition, src_offset) VALUES
('%s', 'P1', 'i1', %[3]d, 2, %[3]d), ('', '#2', '', %[3]d + 1, 2, 0)`, table, tenant, offset)
		if err := db.Exec(t.Context(), insert); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{standing("acme"): true}
	for _, table := range []string{"readings", "intake_requests", "readings"} {
		before := standing("acme")
		arrives(table, "other")
		if standing("acme") != before {
			t.Errorf("a row of another tenant in %s changes the standing", table)
		}
		arrives(table, "acme")
		if now := standing("acme"); seen[now] || strings.Contains(now, fmt.Sprint(offset)) {
			t.Errorf("after a row of its own in %s the standing is %s, of %v", table, now, seen)
		} else {
			seen[now] = true
		}
	}
}
