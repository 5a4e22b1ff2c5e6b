package reader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	schema "tallyhouse/schemas/clickhouse"
)

// readAs holds a place of each type that values are read to.
type readAs struct {
	text, none, other string
	maybe, null       *string
	day, noDay        *int32
	number            int32
	signed            int64
	version           uint64
	sum               analytics.Int128
	yes, no           bool
	texts             []string
	titles            []*string
	days              []int32
	maybeDays         []*int32
	amounts           []int64
	empty             []int64
	flags             []bool
	at, never         *int64
	sums              []analytics.Int128
}

func (a *readAs) places() []any {
	return []any{&a.text, &a.none, &a.maybe, &a.null, &a.day, &a.noDay, &a.number, &a.signed, &a.version, &a.sum, &a.yes, &a.no, &a.texts,
		&a.titles, &a.days, &a.maybeDays, &a.amounts, &a.empty, &a.flags, &a.at, &a.never, &a.sums, &a.other}
}

// What the engine writes in RowBinary is read as it is, row by row, with texts of lengths that take one byte and two.
func TestRowsInOneTextAreReadAsTheyAre(t *testing.T) {
	// Given rows with a value of each type
	db := database(t)
	r := New(db, db, 10*time.Second)
	const row = `if(number = 0, 'a', repeat('ä', 150)), '', toNullable('is there'), CAST(NULL AS Nullable(String)), toNullable(toInt32(-25567)),
  CAST(NULL AS Nullable(Int32)), toInt32(-7), toInt64(-9223372036854775808), toUInt64(18446744073709551615),
  -toInt128('170141183460469231731687303715884105727'), true, false, ['x', '', 'z'], ['is there', NULL], [toInt32(-1), toInt32(2)], [toDate32('1900-01-01'), NULL], [toInt64(9223372036854775807)],
  CAST([] AS Array(Int64)), [true, false], toNullable(toDateTime64('1969-12-31 23:59:59.999998', 6, 'UTC')), CAST(NULL AS Nullable(DateTime64(6, 'UTC'))),
  [-toInt128('170141183460469231731687303715884105727'), toInt128(7)], toLowCardinality('last')`
	long := strings.Repeat("ä", 150)
	want := func(text string) readAs {
		there, day, at := "is there", int32(-25567), int64(-2)
		return readAs{text: text, other: "last", maybe: &there, day: &day, number: -7, signed: -9223372036854775808, version: 18446744073709551615,
			sum: analytics.NewInt128(-9223372036854775808, 1), yes: true, texts: []string{"x", "", "z"}, titles: []*string{&there, nil}, days: []int32{-1, 2}, maybeDays: []*int32{&day, nil},
			amounts: []int64{9223372036854775807}, empty: []int64{}, flags: []bool{true, false},
			at: &at, sums: []analytics.Int128{analytics.NewInt128(-9223372036854775808, 1), analytics.Int(7)}}
	}
	// When they are read as one text
	var got []readAs
	err := r.each(context.Background(), Query{SQL: "SELECT " + allOf(rowOf(row)) + " FROM numbers(2)"}, nil, func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		for rows := (rowBinary{text}); rows.left != ""; {
			var read readAs
			if err := rows.scan(read.places()...); err != nil {
				return err
			}
			got = append(got, read)
		}
		return nil
	})
	// Then they are the same.
	if err != nil || !reflect.DeepEqual(got, []readAs{want("a"), want(long)}) {
		t.Errorf("got %+v: %v", got, err)
	}
}

// Columns that are read as one text are those that the driver scans.
func TestColumnsAreReadAsOneTextAsTheDriverScansThem(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	r := New(db, db, 10*time.Second)
	for _, statement := range []string{
		`INSERT INTO leases (tenant, project, id, row_version, category, counterparty_name, status, unit_ids, start_date, end_date, currency, indexation_type,
  indexation_rate_bp, indexation_first_on, indexation_every_months, indexation_series, indexation_base_month, indexation_threshold_bp, indexation_lag_months,
  indexation_share_bp, indexation_cap_bp, indexation_text)
VALUES ('acme', 'P1', 'L1', 1, 'main', 'Tenant', 'active', ['U1', 'U2'], '1965-02-03', NULL, 'EUR', 'cpi', '', NULL, 1, 'VPI', '2025-01', '500', 2, '10000', '12.5', 'VPI'),
  ('acme', 'P1', 'L2', 1, 'other', NULL, 'signed', [], '2026-01-01', '2299-12-31', 'CHF', 'fixed', '200', '2027-01-01', 12, '', '', '', 0, '', NULL, NULL)`,
		`INSERT INTO line_plans (tenant, project, id, row_version, node_id, start_date, end_date, method, custom_month, custom_value, recurring_every_months, recurring_from)
VALUES ('acme', 'P1', 'p1', 1, 'a', '2026-01-15', NULL, 'custom', ['2026-06', '2026-07'], [100, -5], 3, '2026-01'), ('acme', 'P1', 'p2', 1, 'b', NULL, NULL, '', [], [], 0, '')`,
		`INSERT INTO forecast_snapshots (tenant, project, id, row_version, line_node, line_parent, line_level, line_code, line_name, line_budget, line_committed, line_pending_changes,
  line_uncommitted, line_uncommitted_defaulted, line_invoiced, line_paid, explanation_node, explanation_reason)
VALUES ('acme', 'P1', 'F1', 1, ['a', 'b'], ['', 'a'], ['budget', 'ext'], ['1', ''], ['A', 'B'], [1, -2], [3, 4], [5, 6], [7, 8], [true, false], [9, 10], [11, 12], ['a'], ['why']),
  ('acme', 'P1', 'F2', 1, [], [], [], [], [], [], [], [], [], [], [], [], [], [])`,
		`INSERT INTO units (tenant, project, id, row_version, scope, area_m2) VALUES ('acme', 'P1', 'U1', 1, 'scheme', '81.25'), ('acme', 'P1', 'U2', 1, 'other', '1')`,
	} {
		if err := db.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	asTheDriverScans(t, r, leaseColumns, "leases")
	asTheDriverScans(t, r, planColumns, "line_plans")
	asTheDriverScans(t, r, areaColumns, "units")
	asTheDriverScans(t, r, snapshotLines, "forecast_snapshots")
}

func asTheDriverScans[T any](t *testing.T, r *Reader, columns columns[T], table string) {
	t.Helper()
	from := " FROM (SELECT * FROM " + table + " ORDER BY id)"
	var scanned, read []T
	if err := columns.read(context.Background(), r, Query{SQL: "SELECT " + columns.String() + from}, nil, appendTo(&scanned)); err != nil {
		t.Fatal(err)
	}
	err := columns.readRows(context.Background(), r, Query{SQL: "SELECT " + columns.rows() + from}, nil, func(row *T, behind int) error {
		if last := len(read) == 1; last && behind != 0 {
			t.Errorf("behind the last row there are said to be %d", behind)
		}
		read = append(read, *row)
		return nil
	})
	if err != nil || len(read) != 2 || !reflect.DeepEqual(read, scanned) {
		t.Errorf("read is\n%+v\nthe driver scans\n%+v\n%v", read, scanned, err)
	}
}

func FuzzRowBinary(f *testing.F) {
	f.Add("\x01a\x00\x00\x03one\x01")
	f.Add("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a")
	f.Fuzz(func(t *testing.T, text string) {
		for rows := (rowBinary{text}); rows.left != ""; {
			before := len(rows.left)
			var read readAs
			err := rows.scan(read.places()...)
			if err != nil && !errors.Is(err, errRowBinary) {
				t.Fatal(err)
			}
			if err != nil {
				break
			}
			if len(rows.left) >= before {
				t.Fatalf("nothing is read of %q", rows.left)
			}
		}
	})
}

// Sums that end within one are refused, whatever is missing of them; behind whole ones the rest is left.
func TestSumsThatEndWithinOneAreRefused(t *testing.T) {
	// Given two sums, 1 and 2^64, and what follows them
	const two = "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00"
	rows := rowBinary{two + "rest"}
	var first, second analytics.Int128
	// When they are read, then they are what they are.
	if err := rows.int128s(&first, &second); err != nil || rows.left != "rest" {
		t.Fatalf("%q is left: %v", rows.left, err)
	}
	if first != analytics.Int(1) || second != analytics.NewInt128(1, 0) {
		t.Errorf("read are %s and %s", first, second)
	}
	// When a part of them is missing, then they are refused.
	for n := range len(two) {
		rows := rowBinary{two[:n]}
		if err := rows.int128s(&first, &second); !errors.Is(err, errRowBinary) {
			t.Errorf("of %d bytes: %v", n, err)
		}
	}
}

// A line has as many months as sums, each whole: else it is refused, whatever is missing.
func TestMonthsThatEndWithinOneAreRefused(t *testing.T) {
	// Given what was paid on a line in two months
	const one = "\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	keys := string(schema.AppendKeys(nil, schema.RollPayments.Roll(), []string{"a", "EUR", ""}))
	line := func(months, sums string) string { return string(rune(len(keys))) + keys + months + sums }
	whole := line("\x022026-01\x002026-02\x00", "\x02"+one+one)
	// When it is read, then it is what it is
	var b sumsOfPart
	if err := b.takeMonths(rowBinary{whole}); err != nil || len(b.cash) != 1 || len(b.cash[0].Paid) != 2 || b.cash[0].Paid[1].Net != analytics.Int(7) {
		t.Errorf("%+v: %v", b.cash, err)
	}
	// When a part is missing at the end, or a sum, or a month is none, then it is refused.
	for n := 1; n < len(whole); n++ {
		if err := new(sumsOfPart).takeMonths(rowBinary{whole[:n]}); err == nil {
			t.Errorf("%d bytes of %d are taken", n, len(whole))
		}
	}
	for _, wrong := range []string{line("\x022026-01\x002026-02\x00", "\x01"+one), line("\x012026-13\x00", "\x01"+one)} {
		if err := new(sumsOfPart).takeMonths(rowBinary{wrong}); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

// Thousands of sums are taken apart without asking for memory for each of them.
func TestRowsOfSumsAskForNoMemoryOfTheirOwn(t *testing.T) {
	const sums = 1000
	var text []byte
	for i := range sums {
		keys := schema.AppendKeys(nil, schema.RollLines.Roll(), []string{fmt.Sprint("C", i), "node", "EUR", "paid"})
		text = append(append(text, byte(len(keys))), keys...)
		for range 4 {
			text = append(text, "\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"...)
		}
	}
	rows := string(text)
	asked := testing.AllocsPerRun(10, func() {
		var p sumsOfPart
		if err := p.takeSums(rowBinary{rows}); err != nil || len(p.records) != sums || p.records[sums-1].Net != analytics.Int(7) {
			t.Fatalf("%d sums: %v", len(p.records), err)
		}
	})
	if asked > sums/50 {
		t.Errorf("%d sums ask for memory %.0f times", sums, asked)
	}
}
