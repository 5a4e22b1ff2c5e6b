package paymentcode

import (
	"errors"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/iban"
)

var (
	giro = []string{"BCD", "002", "1", "SCT", "BKAUATWW", "Bauwerk Donau GmbH", "AT61 1904 3002 3457 3201", "EUR1200.5", "", "RF18539007547034"}
	bill = []string{"SPC", "0200", "1", "CH4431999123000889012", "S", "Alpenbau Zürich AG", "Seestrasse", "40", "8001", "Zürich", "CH", "", "", "", "",
		"", "", "", "1949.75", "CHF", "S", "Wohnen am See AG", "Bahnhofstrasse", "12", "8800", "Thalwil", "CH", "QRR", "210000000003139471430009017",
		"Rechnung R-26-0381", "EPD"}
	order = []string{"UPNQR", "", "", "", "", "Domovi Nova d.d.", "Mlinska ulica 3", "2000 Maribor", "00000122000", "", "", "GDSV",
		"Račun 2026-0417", "17.05.2026", "SI56020170014356205", "SI0020260417", "Gradnje Sava d.o.o.", "Savska cesta 7", "1000 Ljubljana", "185", ""}
)

// with is a code with one of its lines changed.
func with(lines []string, i int, line string) string {
	out := append([]string{}, lines...)
	out[i] = line
	return strings.Join(out, "\n")
}

// Given codes as their rules have them, then they say who is to be paid how much.
func TestCodesOfThreeSchemes(t *testing.T) {
	cases := map[string]Payment{
		strings.Join(giro, "\n"): {Scheme: "GiroCode", Payee: "Bauwerk Donau GmbH", IBAN: "AT611904300234573201", Amount: 120050, Currency: "EUR",
			Reference: "RF18539007547034"},
		strings.Join(giro, "\r\n"): {Scheme: "GiroCode", Payee: "Bauwerk Donau GmbH", IBAN: "AT611904300234573201", Amount: 120050, Currency: "EUR",
			Reference: "RF18539007547034"},
		strings.Join(giro[:7], "\n"): {Scheme: "GiroCode", Payee: "Bauwerk Donau GmbH", IBAN: "AT611904300234573201", Currency: "EUR"},
		strings.Join(bill, "\n"): {Scheme: "QR bill", Payee: "Alpenbau Zürich AG", IBAN: "CH4431999123000889012", Amount: 194975, Currency: "CHF",
			Reference: "210000000003139471430009017"},
		with(bill, 18, ""): {Scheme: "QR bill", Payee: "Alpenbau Zürich AG", IBAN: "CH4431999123000889012", Currency: "CHF",
			Reference: "210000000003139471430009017"},
		strings.Join(order, "\n"): {Scheme: "UPN QR", Payee: "Gradnje Sava d.o.o.", IBAN: "SI56020170014356205", Amount: 122000, Currency: "EUR",
			Reference: "SI0020260417", Due: "2026-05-17"},
	}
	for text, want := range cases {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%.60q: %v\n got %+v\nwant %+v", text, err, got, want)
		}
	}
}

// Given a code that breaks a rule of its scheme, then it says nothing, and what is wrong with it is told.
func TestFaultyCodes(t *testing.T) {
	cases := map[string]string{
		with(giro, 6, "AT611904300234573202"):         "the IBAN AT611904300234573202 is wrong",
		with(giro, 6, "A"):                            "IBAN",
		with(giro, 7, "EUR12.345"):                    "amount",
		with(giro, 7, "USD12.00"):                     "amount",
		with(giro, 7, "EUR-12.00"):                    "amount",
		with(giro, 7, "EUR9999999999.00"):             "amount",
		with(giro, 9, "RF19539007547034"):             "reference",
		with(giro, 5, ""):                             "name",
		with(giro, 3, "XYZ"):                          "transfer",
		with(giro, 1, "009"):                          "version",
		with(bill, 3, "CH4431999123000889013"):        "IBAN",
		with(bill, 3, "AT611904300234573201"):         "IBAN",
		with(bill, 3, "CH9300762011623852957"):        "a reference of the kind QRR",
		with(bill, 28, "210000000003139471430009018"): "reference",
		with(bill, 27, "NON"):                         "a reference of the kind NON",
		with(bill, 19, "USD"):                         "currency",
		with(bill, 30, ""):                            "EPD",
		with(bill, 18, "1'949.75"):                    "amount",
		with(order, 19, "186"):                        "check sum",
		with(order, 8, "122000"):                      "check sum",
		with(order, 14, "SI56020170014356206"):        "IBAN",
		with(order, 13, "17.05.26  "):                 "day",
		strings.Join(order[:10], "\n"):                "check sum",
		"BCD":                                         "version",
		"SPC":                                         "version",
	}
	for text, want := range cases {
		got, err := Parse(text)
		if !errors.Is(err, ErrFaulty) || !strings.Contains(err.Error(), want) || got != (Payment{}) {
			t.Errorf("%.90q: %v, %+v, want %s", text, err, got, want)
		}
	}
	for _, text := range []string{"", "https://example.org", "BCDX\n002", strings.Repeat("BCD\n", 1000), "SPC\xff"} {
		if _, err := Parse(text); !errors.Is(err, errOther) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// Whatever the text, it is read or refused, and what is read has an account with right check digits.
func FuzzParse(f *testing.F) {
	for _, lines := range [][]string{giro, bill, order} {
		f.Add(strings.Join(lines, "\n"))
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if (err == nil) == (p == Payment{}) || err == nil && (!iban.Valid(p.IBAN) || p.Amount < 0 || p.Payee == "") {
			t.Errorf("%+v, %v", p, err)
		}
	})
}
