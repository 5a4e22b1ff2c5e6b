package demo

import (
	"fmt"
	"strconv"

	"tallyhouse/schemas/events"
)

// contractor is an invented firm. Its position in the list of all gives its trade: each trade has as many firms.
type contractor struct {
	id      string
	name    string
	data    events.Contractor
	numbers int   // the style of its invoice numbers
	first   int64 // of its invoice numbers
}

const mostFirms = 200 // of a trade

// firmsPerTrade grows with the projects, not with the records.
func firmsPerTrade(projects int) int { return min(5+projects/3, mostFirms) }

func (w *world) drawContractors() {
	var d dice
	w.firms = firmsPerTrade(len(w.projects))
	for t := range trades {
		for k := range w.firms {
			n := t*w.firms + k
			d.take(w.Seed, ofContractor, int64(n))
			w.contractors = append(w.contractors, newContractor(&d, n, t, k))
		}
	}
}

// newContractor draws the k-th firm of a trade.
func newContractor(d *dice, n, t, k int) contractor {
	tr := &trades[t]
	country, city := "AT", oneOf(d, austrianCities)
	if d.in10000(1800) && t != authority {
		country, city = "DE", oneOf(d, germanCities)
	}
	form := tr.form
	if form == "" {
		form = oneOf(d, legalForms)
	}
	family := families[(k+t*7)%len(families)]
	name := fmt.Sprintf("%s %s %s", family, tr.word, form)
	switch {
	case t == authority: // not a firm
		name = fmt.Sprintf("%s %s %d", tr.word, city, k+1)
	case k >= len(families): // the families are used up: branches
		name = fmt.Sprintf("%s %s %s %d %s", family, tr.word, city, k/len(families)+1, form)
	}
	c := contractor{
		id:      fmt.Sprintf("ct-%05d", n+1),
		name:    name,
		numbers: d.below(invoiceNumberStyles),
		first:   d.between(100, 9000),
		data:    events.Contractor{Name: events.Some(name), City: events.Some(city), Country: events.Some(country)},
	}
	if t != authority && !d.in10000(500) { // some firms' numbers are not known yet
		c.data.TaxID = events.Some(taxID(country, d.between(1_000_000, 9_999_999)))
		c.data.RegistrationNumber = events.Some(registration(d, country, city))
	}
	return c
}

// taxID is a VAT identification number of the right form with its check digit; n has seven digits.
func taxID(country string, n int64) string {
	if country == "DE" {
		digits := strconv.FormatInt(n, 10) + strconv.FormatInt(n%10, 10)
		return "DE" + digits + string(germanCheck(digits))
	}
	digits := strconv.FormatInt(n, 10)
	return "ATU" + digits + string(austrianCheck(digits))
}

// austrianCheck is the last digit of a UID: every second digit counts with the digit sum of its double.
func austrianCheck(digits string) byte {
	sum := 4
	for i, r := range digits {
		d := int(r - '0')
		if i%2 == 1 {
			d = d/5 + d*2%10
		}
		sum += d
	}
	return byte('0' + (10-sum%10)%10)
}

// germanCheck is the last digit of an USt-IdNr. (ISO 7064, MOD 11,10).
func germanCheck(digits string) byte {
	product := 10
	for _, r := range digits {
		sum := (int(r-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return byte('0' + (11-product)%10)
}

func registration(d *dice, country, city string) string {
	if country == "DE" {
		return fmt.Sprintf("HRB %d (%s)", d.between(1_000, 260_000), city)
	}
	return fmt.Sprintf("FN %d%c", d.between(20_000, 640_000), "abdfghikmpstvwxyz"[d.below(17)])
}

const invoiceNumberStyles = 4

// appendInvoiceNumber writes a number that only this record has at its contractor, rising in time.
func (c *contractor) appendInvoiceNumber(b []byte, record int64, year int, credit bool) []byte {
	n := c.first + record
	kind := "RE"
	if credit {
		kind = "GS"
	}
	switch c.numbers {
	case 0:
		b = append(strconv.AppendInt(append(append(b, kind...), '-'), int64(year), 10), '-')
	case 1:
		b = append(strconv.AppendInt(b, int64(year), 10), '/')
		if credit {
			b = append(b, 'G')
		}
	case 2:
		b = strconv.AppendInt(append(b, kind[:1]...), int64(year%100), 10)
	default:
		b = append(append(b, kind...), ' ')
	}
	for least := int64(10_000); n < least && least > 1; least /= 10 {
		b = append(b, '0')
	}
	return strconv.AppendInt(b, n, 10)
}

// addContractors schedules the firms; some move to another city later.
func (w *world) addContractors() {
	var d dice
	for i := range w.contractors {
		c := &w.contractors[i]
		d.take(w.Seed, ofContractor, -int64(i)-1)
		w.schedule.add(change{topic: events.Contractors, id: c.id, version: 1, at: w.start,
			data: func() any { return &c.data }})
		if !d.in10000(300) {
			continue
		}
		moved := c.data
		moved.City = events.Some(oneOf(&d, austrianCities))
		if moved.Country.V == "DE" {
			moved.City = events.Some(oneOf(&d, germanCities))
		}
		w.schedule.add(change{topic: events.Contractors, id: c.id, version: 2, at: d.between(w.start, w.end-1),
			data: func() any { return &moved }})
	}
}
