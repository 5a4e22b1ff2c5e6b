package calendar

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDateTakesOnlyRealDatesInRange(t *testing.T) {
	for _, c := range []struct {
		in string
		ok bool
	}{
		{"2024-02-29", true}, {"2023-02-29", false}, {"2000-02-29", true}, {"1900-02-29", false},
		{"1900-01-01", true}, {"2299-12-31", true}, {"1899-12-31", false}, {"2300-01-01", false}, {"2024-4-01", false},
		{"2024-04-31", false}, {"2024-13-01", false}, {"2024-00-10", false},
		{"2024-01-00", false}, {"+024-01-01", false}, {"2024-01-01T", false}, {"", false}, {"٢٠٢٤-01", false},
	} {
		d, err := ParseDate(c.in)
		if (err == nil) != c.ok {
			t.Errorf("ParseDate(%q): %v, want ok=%v", c.in, err, c.ok)
		}
		if err == nil && d.String() != c.in {
			t.Errorf("ParseDate(%q) writes %s", c.in, d)
		}
	}
	if MinDate.String() != "1900-01-01" || MaxDate.String() != "2299-12-31" {
		t.Errorf("range %s..%s", MinDate, MaxDate)
	}
}

func TestParseAnyTakesEveryYearOfFourDigits(t *testing.T) {
	for in, ok := range map[string]bool{"0000-01-01": true, "0001-01-01": true, "1899-12-31": true, "9999-12-31": true,
		"2000-02-29": true, "1900-02-29": false, "9999-12-32": false, "10000-01-01": false, "999-01-01": false} {
		d, err := ParseAnyDate(in)
		if (err == nil) != ok || ok && d.String() != in {
			t.Errorf("ParseAnyDate(%q) writes %s, %v", in, d, err)
		}
		if month := in[:max(0, len(in)-3)]; ok {
			if m, err := ParseAnyMonth(month); err != nil || m.String() != month {
				t.Errorf("ParseAnyMonth(%q) writes %s, %v", month, m, err)
			}
		}
	}
}

func TestParseMonthTakesOnlyRealMonthsInRange(t *testing.T) {
	for in, ok := range map[string]bool{"2024-02": true, "2024-2": false, "2024-00": false, "2024-13": false,
		"1899-12": false, "2300-01": false, "2299-12": true, "2024-02-01": false} {
		if _, err := ParseMonth(in); (err == nil) != ok {
			t.Errorf("ParseMonth(%q): %v", in, err)
		}
	}
	if MinMonth.String() != "1900-01" || MaxMonth.String() != "2299-12" {
		t.Errorf("range %s..%s", MinMonth, MaxMonth)
	}
}

func TestViennaDateFollowsTheClocksOfVienna(t *testing.T) {
	for in, want := range map[string]string{
		"2026-03-31T22:30:00Z": "2026-04-01", // summer
		"2026-10-31T22:30:00Z": "2026-10-31", // winter
		"2027-10-31T22:30:00Z": "2027-10-31", // the day on which summer time ends
		"2026-10-31T23:30:00Z": "2026-11-01",
		"1969-12-31T23:30:00Z": "1970-01-01",
		"1950-05-05T12:00:00Z": "1950-05-05",
	} {
		at, err := time.Parse(time.RFC3339, in)
		if err != nil {
			t.Fatal(err)
		}
		if got := ViennaDate(at).String(); got != want {
			t.Errorf("%s is %s in Vienna, want %s", in, got, want)
		}
	}
}

func TestEveryDateIsWrittenAsItIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Date(rapid.Int32Range(int32(MinDate), int32(MaxDate)).Draw(t, "date"))
		back, err := ParseDate(d.String())
		if err != nil || back != d || d.Time().Format(time.DateOnly) != d.String() {
			t.Fatalf("%d writes %s, reads %d, %v", d, d, back, err)
		}
		if m := d.Month(); d < m.First() || d > m.Last() || m.String() != d.String()[:7] {
			t.Fatalf("%s is not in its month %s", d, m)
		}
	})
}

func TestAddMonthsEndsWithTheMonth(t *testing.T) {
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{
		{"2027-01-31", 1, "2027-02-28"}, {"2028-01-31", 1, "2028-02-29"}, {"2027-01-31", 2, "2027-03-31"},
		{"2027-01-31", 3, "2027-04-30"}, {"2027-11-30", 3, "2028-02-29"}, {"2027-05-15", 0, "2027-05-15"},
		{"2027-12-15", 1, "2028-01-15"}, {"2028-02-29", 12, "2029-02-28"}, {"2028-03-31", -1, "2028-02-29"},
	} {
		from, err := ParseDate(c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := from.AddMonths(c.months).String(); got != c.want {
			t.Errorf("%s and %d months: %s, want %s", c.from, c.months, got, c.want)
		}
	}
}

func TestMonthsEndWithTheirLastDay(t *testing.T) {
	for in, want := range map[string]string{
		"2027-02": "2027-02-28", "2028-02": "2028-02-29", "2100-02": "2100-02-28", "2000-02": "2000-02-29", "2028-04": "2028-04-30",
		"2028-12": "2028-12-31",
	} {
		m, err := ParseMonth(in)
		if err != nil || m.Last().String() != want {
			t.Errorf("%s ends on %s, %v, want %s", in, m.Last(), err, want)
		}
	}
}

func FuzzParseDate(f *testing.F) {
	f.Add("2024-02-29")
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := ParseDate(s); err == nil && d.String() != s {
			t.Fatalf("%q reads as %s", s, d)
		}
	})
}

func TestViennaClockFollowsTheSummer(t *testing.T) {
	for instant, want := range map[string]string{"2026-01-31T23:30:00Z": "00:30", "2026-07-01T15:05:59Z": "17:05", "2026-10-25T00:30:00Z": "02:30"} {
		at, err := time.Parse(time.RFC3339, instant)
		if err != nil {
			t.Fatal(err)
		}
		if got := ViennaClock(at); got != want {
			t.Errorf("at %s the clocks show %s, want %s", instant, got, want)
		}
	}
}

// Given any year, month and day, those beside the calendar too, then they are the date that the standard library says.
func TestADateIsThatOfTheStandardLibrary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.IntRange(-10, 3000).Draw(t, "year")
		m := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(-30, 40)).Draw(t, "month")
		d := rapid.OneOf(rapid.IntRange(1, 31), rapid.IntRange(-500, 500)).Draw(t, "day")
		want := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
		if got := NewDate(y, m, d).Time(); !got.Equal(want) {
			t.Fatalf("%d-%d-%d is %v, want %v", y, m, d, got, want)
		}
	})
}
