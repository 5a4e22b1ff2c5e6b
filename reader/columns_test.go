package reader

import (
	"context"
	"strings"
	"testing"
	"time"

	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// sample is a row with a member of every kind of column.
type sample struct {
	text  string
	maybe events.Opt[string]
	empty events.Opt[string]
	day   events.Opt[calendar.Date]
	month calendar.Month
	at    time.Time
	ended events.Opt[time.Time]
	codes []events.AccountingCode
	items []events.Amendment
}

// sampleColumns are columns whose values are these expressions.
func sampleColumns(maybe, empty, day_, ended, ids, titles string) columns[sample] {
	return columns[sample]{
		member("'x'", plain, func(s *sample) *string { return &s.text }),
		member(maybe, nullable, func(s *sample) *events.Opt[string] { return &s.maybe }),
		member(empty, optional, func(s *sample) *events.Opt[string] { return &s.empty }),
		member("toInt32(toDate32("+day_+"))", day, func(s *sample) *events.Opt[calendar.Date] { return &s.day }),
		member("'2026-04'", month, func(s *sample) *calendar.Month { return &s.month }),
		member("toInt64(1000000)", instant, func(s *sample) *time.Time { return &s.at }),
		member(ended, optionalInstant, func(s *sample) *events.Opt[time.Time] { return &s.ended }),
		member(`'[{"system":"datev","code":"1"}]'`, parsed(events.ParseCodes), func(s *sample) *[]events.AccountingCode { return &s.codes }),
		elements(ids, func(s *sample) *[]events.Amendment {
			return &s.items
		}, func(a *events.Amendment, id string) { a.ID = id }),
		elements(titles, func(s *sample) *[]events.Amendment { return &s.items }, func(a *events.Amendment, title *string) {
			a.Title.Ok = title != nil
		}),
	}
}

// readSamples runs a statement of one row for each of the lists of columns.
func readSamples(t *testing.T, r *Reader, all ...columns[sample]) (rows []sample, err error) {
	t.Helper()
	var branches []string
	for _, c := range all {
		branches = append(branches, "SELECT "+c.String())
	}
	query := Query{SQL: "SELECT * FROM (\n" + strings.Join(branches, "\nUNION ALL\n") + "\n) SETTINGS max_threads = 1"}
	err = all[0].read(context.Background(), r, query, nil, func(row *sample) error {
		rows = append(rows, *row)
		return nil
	})
	return rows, err
}

func TestNothingOfARowIsLeftInTheNext(t *testing.T) {
	r := newReader(t, 10*time.Second)
	// Given two rows, one of which has everything that the other lacks
	whole := sampleColumns("toNullable('m')", "'e'", "toNullable('2026-03-02')", "toNullable(toInt64(5000000))",
		"['a', 'b']", "[toNullable('t'), NULL]")
	bare := sampleColumns("CAST(NULL, 'Nullable(String)')", "''", "CAST(NULL, 'Nullable(String)')",
		"CAST(NULL, 'Nullable(Int64)')",
		"CAST([], 'Array(String)')", "CAST([], 'Array(Nullable(String))')")
	// When they are read, one after the other
	rows, err := readSamples(t, r, whole, bare)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	if !rows[0].maybe.Ok {
		rows[0], rows[1] = rows[1], rows[0]
	}
	// Then each is as it is stored
	full, none := rows[0], rows[1]
	if full.text != "x" || full.maybe != events.Some("m") || full.empty != events.Some("e") ||
		full.day != events.Some(calendar.NewDate(2026, 3, 2)) ||
		full.month.String() != "2026-04" || !full.at.Equal(time.Unix(1, 0)) || !full.ended.V.Equal(time.Unix(5, 0)) ||
		len(full.codes) != 1 {
		t.Errorf("the whole row is %+v", full)
	}
	if len(full.items) != 2 || full.items[0].ID != "a" || !full.items[0].Title.Ok || full.items[1].ID != "b" ||
		full.items[1].Title.Ok {
		t.Errorf("its list is %+v", full.items)
	}
	if none.maybe.Ok || none.empty.Ok || none.day.Ok || none.ended.Ok || len(none.items) != 0 {
		t.Errorf("the bare row is %+v", none)
	}
}

func TestListsOfDifferentLengthsAreAFault(t *testing.T) {
	r := newReader(t, 10*time.Second)
	for _, c := range []struct{ ids, titles string }{{"['a', 'b']", "[toNullable('t')]"},
		{"['a']", "CAST([], 'Array(Nullable(String))')"}, {"CAST([], 'Array(String)')", "[toNullable('t')]"}} {
		_, err := readSamples(t, r,
			sampleColumns("toNullable('m')", "''", "toNullable('2026-03-02')", "toNullable(toInt64(1))", c.ids, c.titles))
		if err == nil || !strings.Contains(err.Error(), "elements") {
			t.Errorf("%s beside %s: %v", c.ids, c.titles, err)
		}
	}
}

func TestPartsTogetherReadEveryColumnOnce(t *testing.T) {
	if got := recordColumns(Parts(RecordNet, RecordGross,
		RecordNet)).String(); got != "id, project, currency, net, tax, gross" {
		t.Errorf("got %s", got)
	}
	if p := Parts(RecordCodes, RecordCounterparty); !p.needs(derivedCodes) || !p.needs(ownNames) || p.needs(bookedLines) {
		t.Errorf("looks up %b", p.lookups)
	}
}
