package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/accuracy/truth"
	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/page/layouts"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

// folder writes the sample invoice with a truth beside it.
func folder(t *testing.T, says string) string {
	t.Helper()
	dir := t.TempDir()
	for name, data := range map[string][]byte{"a.pdf": pdftest.Sample().PDF(), "a.json": []byte(says)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const visible = `"visible":{"invoiceNumber":true,"invoiceDate":true,"dueDate":true,"supplierName":true,"supplierTaxId":true,"currency":true,"net":true,"tax":true,"gross":true}`

func TestRightWrongMissingAndInventedAreToldApart(t *testing.T) {
	dir := folder(t, `{"file":"a.pdf","kind":"invoice","expect":"fields","source":"hand",`+visible+`,
		"invoiceNumber":"2026-0417","invoiceDate":"2026-04-18","dueDate":null,"supplierName":"BAUWERK DONAU","supplierTaxId":"ATU 12345675","currency":"EUR","net":1240000,"tax":248000,"gross":1488000}`)
	truths, err := truth.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := invoice.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	r := reader.Read(t.Context(), pdftest.Sample().PDF(), invoice.Options{NoXML: true})
	r.Net = nil
	tally := newTally(true)
	tally.add(truths[0], r)
	for name, want := range map[string]count{"invoiceNumber": {right: 1}, "invoiceDate": {wrong: 1}, "dueDate": {invented: 1},
		"supplierName": {right: 1}, "supplierTaxId": {right: 1}, "net": {missing: 1}, "gross": {right: 1}} {
		if *tally.fields[name] != want {
			t.Errorf("%s = %+v, want %+v", name, *tally.fields[name], want)
		}
	}
	if tally.core != [2]int{0, 1} {
		t.Errorf("all right together = %v, want none of one: the date is wrong", tally.core)
	}
	var out bytes.Buffer
	tally.print(&out)
	if !strings.Contains(out.String(), "invoiceNumber        1      0        0         0  100.0 %") {
		t.Errorf("table:\n%s", out.String())
	}
}

// Given one confirmed invoice of each family, then of what isn't right in the next one a fifth is, and nothing more is wrong. Labels that
// nobody knows are few, so it takes many families.
func TestAConfirmedInvoiceTeachesTheNext(t *testing.T) {
	reader, err := page.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	drawer, err := layouts.NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	const families = 300
	before, _ := readFamilies(reader, drawer.Family, unseen, families, nil, false)
	taught, _ := readFamilies(reader, drawer.Family, unseen, families, nil, true)
	left, right := 0, 0
	for _, name := range names {
		was, is := before.fields[name], taught.fields[name]
		left += was.wrong + was.missing
		right += is.right - was.right
		if is.wrong > was.wrong || is.invented > was.invented || is.right < was.right {
			t.Errorf("%s was %+v and is %+v", name, *was, *is)
		}
	}
	if left == 0 || 5*right < left {
		t.Errorf("%d values more are right, want a fifth of the %d that weren't", right, left)
	}
}

func TestRefusalsAreCounted(t *testing.T) {
	dir := folder(t, `{"file":"a.pdf","kind":"non-invoice","expect":"none"}`)
	truths, err := truth.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	tally := newTally(true)
	tally.add(truths[0], invoice.Result{Status: invoice.Failed})
	tally.add(truths[0], invoice.Result{Status: invoice.OK})
	tally.add(truths[0], invoice.Failure(invoice.Crashed, errors.New("reader panicked")))
	if *tally.refused["non-invoice"] != [2]int{1, 3} || len(tally.misses) != 2 {
		t.Errorf("%v, %q", tally.refused["non-invoice"], tally.misses)
	}
}

func TestAFolderWithoutTruthsIsAnError(t *testing.T) {
	if err := measure(t.TempDir(), false, false); err == nil {
		t.Error("an empty folder was measured")
	}
}

// Given drawn families, then known and unseen ones are told apart, by field, kind of bill and confidence.
func TestFamiliesAreMeasuredKnownAndUnseenApart(t *testing.T) {
	var out bytes.Buffer
	if err := measureFamilies(&out, 12, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Families that training saw", "Families that nobody has seen", "invoiceNumber", "0.98 to 1.00", "self-billed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing:\n%s", want, out.String())
		}
	}
}

// Given families that training didn't see, then so much of each field is right, so little is wrong, and of what is stated
// with 0.9 or more, nine in ten and more are right.
func TestUnseenFamiliesAreRead(t *testing.T) {
	reader, err := page.NewReader()
	if err != nil {
		t.Fatal(err)
	}
	drawer, err := layouts.NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	const families = 200
	all, _ := readFamilies(reader, drawer.Family, unseen, families, nil, false)
	for name, floor := range map[string]int{fields.Number: 75, fields.Date: 75, fields.DueDate: 70, fields.SupplierName: 80,
		fields.SupplierTaxID: 80, fields.Currency: 75, fields.Net: 65, fields.Tax: 65, fields.Gross: 75} {
		c, calibrated := all.fields[name], all.calibrations[name]
		if known := c.right + c.wrong + c.missing; 100*c.right < floor*known {
			t.Errorf("%s: %d of %d are right, want %d %%", name, c.right, known, floor)
		}
		if 100*c.wrong > 3*families {
			t.Errorf("%s: %d are wrong, want 3 %% at most", name, c.wrong)
		}
		right, stated := 0, 0
		for i, from := range bins {
			if from >= 0.9 {
				right, stated = right+calibrated.right[i], stated+calibrated.stated[i]
			}
		}
		if 10*right < 9*stated {
			t.Errorf("%s: %d of %d stated with 0.9 are right", name, right, stated)
		}
	}
}

// Given values stated with a confidence, then those of them that are right are counted by it.
func TestConfidenceIsComparedWithWhatIsRight(t *testing.T) {
	var c calibration
	c.add(0.79, false)
	c.add(0.8, true)
	c.add(0.84, false)
	c.add(1, true)
	want := calibration{right: [6]int{0, 1, 0, 0, 0, 1}, stated: [6]int{1, 2, 0, 0, 0, 1}}
	if c != want {
		t.Errorf("counted %+v, want %+v", c, want)
	}
}
