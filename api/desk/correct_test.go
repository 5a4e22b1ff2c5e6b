package desk

import (
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"tallyhouse/api/desk/language"
	"tallyhouse/schemas/events"
)

// What somebody types is taken as a whole or not at all; each fault is said at its field.
func TestFaultsOfAFormAreSaidAtTheirFields(t *testing.T) {
	languages, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{desk: &Desk{maxAmount: 1_000_000_00, log: slog.New(slog.DiscardHandler)}, lang: languages.Of("en")}
	for _, c := range []struct{ typed, wrong string }{
		{"", ""},
		{"net=100&tax=20&gross=120&currency=eur", ""},
		{"net=-100&tax=-20&gross=-120&currency=EUR", ""},
		{"gross=120&currency=EUR", ""},
		{"net=100&tax=20&gross=119.99&currency=EUR", "gross: Net and tax add up to 120.00, not to 119.99."},
		{"net=100&tax=20&currency=EUR", "gross: This is missing; 120.00 would"},
		{"net=100&gross=120&currency=EUR", "tax: This is missing; 20.00 would"},
		{"tax=20&gross=120&currency=EUR", "net: This is missing; 100.00 would"},
		{"gross=120", "currency: Amounts need a currency."},
		{"gross=1000000.01&currency=EUR", "gross: An invoice of more than 1,000,000.00"},
		{"gross=9999999999999&currency=EUR", "gross: An invoice of more than"},
		{"gross=12,5&currency=EUR", "gross: This is no amount like \u22121,234.50."},
		{"gross=1.5&currency=JPY", "gross: This is no amount"},
		{"currency=EURO", "currency: A currency has three letters"},
		{"currency=E1R", "currency: A currency has three letters"},
		{"invoiceDate=2026-02-30", "invoiceDate: This is no day between 1900-01-01 and 2299-12-31."},
		{"dueDate=1899-12-31", "dueDate: This is no day"},
		{"dueDate=31.12.2026", "dueDate: This is no day"},
		{"invoiceNumber=" + strings.Repeat("ü", 101), "invoiceNumber: It may have 100 characters at most."},
		{"invoiceNumber=" + strings.Repeat("ü", 100), ""},
		{"supplierName=" + strings.Repeat("x", 301), "supplierName: It may have 300"},
		{"supplierTaxId=" + strings.Repeat("x", 51), "supplierTaxId: It may have 50"},
		{"supplierName=a%00b", "supplierName: It has characters that nobody can see."},
		{"supplierName=a%E2%80%AEb", "supplierName: It has characters that nobody can see."},
		{"supplierName=Bauwerk+D%C3%B6nau+%26+Co", ""},
	} {
		sent, err := url.ParseQuery(c.typed)
		if err != nil {
			t.Fatal(err)
		}
		f := v.entered(sent)
		var wrong []string
		for _, one := range fieldsOfForm() {
			if f.wrong[one.name] != "" {
				wrong = append(wrong, one.name+": "+f.wrong[one.name])
			}
		}
		if got := strings.Join(wrong, "; "); c.wrong == "" && got != "" || !strings.HasPrefix(got, c.wrong) {
			t.Errorf("%.80s: got %q, want %q", c.typed, got, c.wrong)
		}
	}
	f := v.entered(url.Values{"invoiceNumber": {"  7 "}, "currency": {"eur"}, "gross": {"1,234.50"}})
	if f.values.Number != events.Some("7") || f.values.Currency.V != "EUR" || f.values.Gross.V != 123450 || f.values.Net.Ok {
		t.Errorf("it is taken as %+v", f.values)
	}
}
