// Package calendar has the two calendar values of the ledger: the date and the month, both as the clocks of Vienna show
// them (docs/events.md#values). They are plain numbers, so that they compare, subtract and store cheaply.
package calendar

import (
	"fmt"
	"time"
	_ "time/tzdata" // the zone must be known on machines that have no zone files
)

// Date is a calendar date, as days since 1970-01-01.
type Date int32

// Month is a calendar month, as year*12 + month - 1.
type Month int32

// The range of dates that the ledger takes: 1900-01-01 to 2299-12-31.
const (
	MinDate  Date  = -25567
	MaxDate  Date  = 120529
	MinMonth Month = 1900 * 12
	MaxMonth Month = 2299*12 + 11
)

var vienna = mustLoad("Europe/Vienna")

func mustLoad(name string) *time.Location {
	l, err := time.LoadLocation(name)
	if err != nil { // impossible: the zone data are compiled in
		panic(err)
	}
	return l
}

// NewDate is the date of a year, month and day that exist; others are normalised, as time.Date does.
func NewDate(year, month, day int) Date {
	if year > 0 && month >= 1 && month <= 12 {
		// Counted in years that begin in March: the leap day is their last, and months before one are as long in each.
		since := month - 3
		if since < 0 {
			year, since = year-1, since+12
		}
		const epoch = 719468 // days from the first of March of the year 0 to 1970-01-01
		return Date(365*year + year/4 - year/100 + year/400 + (153*since+2)/5 + day - 1 - epoch)
	}
	return Date(time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// ViennaDate is the date that the clocks of Vienna show at an instant.
func ViennaDate(t time.Time) Date {
	y, m, d := t.In(vienna).Date()
	return NewDate(y, int(m), d)
}

// ViennaClock is the time of the day that the clocks of Vienna show at an instant, like 17:05.
func ViennaClock(t time.Time) string { return t.In(vienna).Format("15:04") }

// ViennaStart is the instant at which the date begins by the clocks of Vienna.
func (d Date) ViennaStart() time.Time { return d.ViennaAt(0, 0) }

// ViennaAt is the instant of the date at which the clocks of Vienna show a time: one of the two where they show it twice, and
// one within an hour of it where they skip it.
func (d Date) ViennaAt(hour, minute int) time.Time {
	year, month, day := d.Time().Date()
	return time.Date(year, month, day, hour, minute, 0, 0, vienna)
}

// ParseDate reads YYYY-MM-DD, a date that exists and is in the ledger's range.
func ParseDate(s string) (Date, error) {
	d, err := ParseAnyDate(s)
	if err == nil && (d < MinDate || d > MaxDate) {
		return 0, fmt.Errorf("%q is outside 1900-01-01..2299-12-31", s)
	}
	return d, err
}

// ParseAnyDate reads YYYY-MM-DD, a date that exists, from the year 0000 to 9999: an end of a range may lie outside the
// ledger's own.
func ParseAnyDate(s string) (Date, error) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, fmt.Errorf("%q is not a date YYYY-MM-DD", clip(s))
	}
	y, ok1 := digits(s[:4])
	m, ok2 := digits(s[5:7])
	d, ok3 := digits(s[8:])
	if !ok1 || !ok2 || !ok3 || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
		return 0, fmt.Errorf("%q is not a date YYYY-MM-DD", clip(s))
	}
	return NewDate(y, m, d), nil
}

// ParseMonth reads YYYY-MM in the ledger's range.
func ParseMonth(s string) (Month, error) {
	m, err := ParseAnyMonth(s)
	if err == nil && (m < MinMonth || m > MaxMonth) {
		return 0, fmt.Errorf("%q is outside 1900-01..2299-12", s)
	}
	return m, err
}

// ParseAnyMonth reads YYYY-MM, from the year 0000 to 9999.
func ParseAnyMonth(s string) (Month, error) {
	if len(s) != 7 || s[4] != '-' {
		return 0, fmt.Errorf("%q is not a month YYYY-MM", clip(s))
	}
	y, ok1 := digits(s[:4])
	m, ok2 := digits(s[5:])
	if !ok1 || !ok2 || m < 1 || m > 12 {
		return 0, fmt.Errorf("%q is not a month YYYY-MM", clip(s))
	}
	return Month(y*12 + m - 1), nil
}

// Time is midnight UTC of the date, the form in which databases exchange dates.
func (d Date) Time() time.Time { return time.Unix(int64(d)*86400, 0).UTC() }

// Month is the month of the date.
func (d Date) Month() Month {
	year, month, _ := d.Time().Date()
	return Month(year*12 + int(month) - 1)
}

// AddMonths is the same day n months later, the last day of that month when it has no such day.
func (d Date) AddMonths(n int) Date {
	from := d.Month()
	to := from + Month(n)
	return min(to.First()+(d-from.First()), to.Last())
}

// String writes YYYY-MM-DD.
func (d Date) String() string { return string(d.Append(nil)) }

// Append appends YYYY-MM-DD to b.
func (d Date) Append(b []byte) []byte {
	y, m, day := d.Time().Date()
	return append(Month(y*12+int(m)-1).Append(b), '-', byte('0'+day/10), byte('0'+day%10))
}

// First is the first day of the month.
func (m Month) First() Date { return NewDate(int(m)/12, int(m)%12+1, 1) }

// Last is the last day of the month.
func (m Month) Last() Date { return (m + 1).First() - 1 }

// String writes YYYY-MM. It asks for no memory within the ledger's range.
func (m Month) String() string {
	if m < MinMonth || m > MaxMonth {
		return string(m.Append(nil))
	}
	const length = len("YYYY-MM")
	return months[int(m-MinMonth)*length:][:length]
}

// months are the texts of all months of the ledger's range, one behind the other.
var months = allMonths()

func allMonths() string {
	var b []byte
	for m := MinMonth; m <= MaxMonth; m++ {
		b = m.Append(b)
	}
	return string(b)
}

// Append appends YYYY-MM to b.
func (m Month) Append(b []byte) []byte {
	y, mm := int(m)/12, int(m)%12+1
	b = append(b, byte('0'+y/1000), byte('0'+y/100%10), byte('0'+y/10%10), byte('0'+y%10))
	return append(b, '-', byte('0'+mm/10), byte('0'+mm%10))
}

func digits(s string) (n int, ok bool) {
	for i := range len(s) {
		c := s[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// clip keeps a value from outside short where an error quotes it.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
