package mail

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// readFile is a file of a mail with what it says.
type readFile struct {
	message.File
	reading reading
	own     identity
	of      identity // whose record it has become part of before; the zero value: it isn't known
}

// isPart reports whether a file has become part of a record before.
func (f readFile) isPart() bool { return f.of != identity{} }

// found is what of a mail becomes one record (docs/mail.md#for-finance-teams).
type found struct {
	first     int      // the file that a new record's id rests on: its PDF, else its XML
	record    identity // the record's, that of first or of an earlier reading
	files     []int    // that state it, those first that lead
	reading   reading
	documents []document
}

// document is a file that a record has.
type document struct {
	events.Document
	file   message.File
	states bool // the record's values are this file's
}

// The kinds of documents.
const (
	original = "original" // states the invoice
	other    = "other"    // was sent with it
)

// group finds the invoices among the files of a mail, in the order of the files. A PDF and an XML that state the same
// invoice are one, which is as the XML says. Supporting files are documents of every invoice of the mail: whose they are
// isn't known. Where no file could be read as an invoice, each is a record that failed. What was one invoice stays one, and what was an
// invoice stays one, whatever of it can be read now: a record is the same however often its mail is read.
func group(files []readFile) (invoices []found, supporting []readFile) {
	leaders := leaders(files)
	anyRead := slices.ContainsFunc(files, func(f readFile) bool { return f.reading.failed == "" })
	of := map[int]*found{} // by leader
	var all []*found
	var beside []document
	for i, f := range files {
		lead := leaders[i]
		alone := lead == i && !slices.Contains(leaders[i+1:], i) && !slices.Contains(leaders[:i], i)
		if alone && anyRead && !f.isPart() && f.supports() {
			supporting = append(supporting, f)
			beside = append(beside, document{Document: events.Document{Name: f.Name, Kind: other}, file: f.File})
			continue
		}
		one := of[lead]
		if one == nil {
			one = &found{first: i, reading: files[lead].reading}
			of[lead], all = one, append(all, one)
		}
		if files[one.first].XML && !f.XML {
			one.first = i // the id is the same whether XML is read or not
		}
		if one.files = append(one.files, i); i == lead {
			one.files[0], one.files[len(one.files)-1] = i, one.files[0]
		}
		one.documents = append(one.documents,
			document{Document: events.Document{Name: f.Name, Kind: original}, file: f.File, states: lead == i})
	}
	for _, one := range all {
		one.record = files[one.first].own
		if at := slices.IndexFunc(one.files, func(i int) bool { return files[i].isPart() }); at >= 0 {
			one.record = files[one.files[at]].of
		}
		one.documents = append(one.documents, beside...)
		invoices = append(invoices, *one)
	}
	return invoices, supporting
}

// invoiceName is the name of a file that calls itself an invoice, or has an invoice's number for a name.
var invoiceName = regexp.MustCompile(`(?i)invoice|rechnung|gutschrift|honorarnote|faktura|factur|fattura|credit|^(re|rg|inv)[-_ .]*\d`)

// supports reports whether a file, sent beside an invoice, is one that only goes with it, such as terms or plans: it is
// no invoice, or nobody can read it and nothing says that it is one.
func (f readFile) supports() bool {
	switch invoice.Reason(f.reading.reason) {
	case "", invoice.SeveralInvoices, invoice.FaultyEInvoice:
		return false
	case invoice.NotAnInvoice:
		return true
	default:
		return !invoiceName.MatchString(f.Name)
	}
}

// leaders gives, for each file, the XML that states the same invoice, else the first file of the same record; a file without either leads
// itself.
func leaders(files []readFile) []int {
	of := make([]int, len(files))
	var leading []int
	lead := func(xml bool) {
		for i, f := range files {
			if f.XML != xml {
				continue
			}
			of[i] = i
			if at := slices.IndexFunc(leading, func(j int) bool { return together(files[j], f) }); at >= 0 {
				of[i] = leading[at]
			} else if xml || f.isPart() {
				leading = append(leading, i)
			}
		}
	}
	lead(true)
	lead(false)
	return of
}

// together reports whether a leading file and another one are one invoice.
func together(leader, file readFile) bool {
	if leader.isPart() && file.isPart() {
		return leader.of == file.of
	}
	return leader.XML && same(leader, file)
}

// same reports whether an XML and another file state the same invoice. What could not be read, or has no number, is
// known by its name.
func same(xml, file readFile) bool {
	sameName := strings.EqualFold(stem(xml.Name), stem(file.Name))
	switch a, b := xml.reading, file.reading; {
	case a.failed != "" || b.failed != "":
		return sameName
	case a.number == "" || b.number == "":
		return sameName && a.agrees(b)
	default:
		return number(a.number) == number(b.number) && a.agrees(b)
	}
}

// agrees reports whether no amount that both are certain of differs.
func (r reading) agrees(s reading) bool {
	agree := func(a, b *int64) bool { return a == nil || b == nil || *a == *b }
	return (r.currency == "" || s.currency == "" || r.currency == s.currency) &&
		agree(r.net, s.net) && agree(r.tax, s.tax) && agree(r.gross, s.gross)
}

// stem is a file's name without its extension.
func stem(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// number is an invoice's number without blanks, which pages add.
func number(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, s)
}
