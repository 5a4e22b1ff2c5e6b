package layouts

import (
	"embed"
	"fmt"
	"strings"
)

// Each file holds the wordings of a language: "[section]" and entries, a line each. Of every label's entries each
// fourth is kept for the families that training doesn't see: wordings are new there, not layouts alone.
//
//   - %r stands for a rate, %s for a day, %d for a number, {n} and {town} for the number and place of a register
//   - (none) is an empty wording
//
//go:embed wordings/*.txt
var files embed.FS

// language is how the invoices of a country speak.
type language struct {
	code      string
	countries []country
	sections  map[string][]string
}

func (l language) words(section string) []string { return l.sections[section] }

// sections that every language has.
var sections = strings.Fields(`title credit_title part_title final_title number date due title_number dated
	months other other_date from to greeting item quantity unit price amount works net tax gross payable rate base
	within discount prepaid contract cumulative earlier retention reverse until days early period phone vat bank
	register trades streets towns people slogan contact manager noise third banks
	name address early_days open_terms debit replaces reference said charge balance
	subject profession addressee attention department on_the intro pay_to others seat detail closing small_print more_other`)

// country is where an invoice comes from.
type country struct {
	code, currency string
	forms          []string // legal forms
	rates          []int    // of VAT, in tenths of a percent
	postal         int      // digits of its postal codes
	group, point   string   // of its amounts
	dates          []string // in the form of package time; MMMM is the month's name
	phone          string
}

// spoken lists the countries of each language, in the order of languages.
func spoken() []language {
	austria := country{"AT", "EUR", []string{"GmbH", "GmbH & Co KG", "e.U.", "OG", "AG"}, []int{200, 200, 100}, 4, ".", ",",
		[]string{"02.01.2006", "2. MMMM 2006", "02.01.06", "2.1.2006"}, "+43"}
	germany := country{"DE", "EUR", []string{"GmbH", "GmbH & Co. KG", "KG", "UG", "AG", "GbR"}, []int{190, 190, 70}, 5, ".", ",",
		[]string{"02.01.2006", "2. MMMM 2006", "02.01.06", "2006-01-02"}, "+49"}
	return []language{
		{code: "de", countries: []country{austria, germany, germany,
			{"CH", "CHF", []string{"AG", "GmbH", "Sàrl", "SA"}, []int{81, 81, 26}, 4, "'", ".",
				[]string{"02.01.2006", "2. MMMM 2006", "2.1.2006"}, "+41"}}},
		{code: "en", countries: []country{
			{"GB", "GBP", []string{"Ltd", "Limited", "LLP", "plc"}, []int{200, 200, 50}, 0, ",", ".",
				[]string{"02/01/2006", "2 MMMM 2006", "02-01-2006", "2 Jan 2006"}, "+44"},
			{"IE", "EUR", []string{"Ltd", "DAC", "Limited"}, []int{230, 135}, 0, ",", ".",
				[]string{"02/01/2006", "2 MMMM 2006"}, "+353"},
			{"US", "USD", []string{"Inc.", "LLC", "Corp."}, []int{80, 65}, 5, ",", ".",
				[]string{"MMMM 2, 2006", "01/02/2006", "Jan 2, 2006"}, "+1"}}},
		{code: "fr", countries: []country{
			{"FR", "EUR", []string{"SARL", "SAS", "SA", "EURL", "SCI"}, []int{200, 200, 100, 55}, 5, " ", ",",
				[]string{"02/01/2006", "2 MMMM 2006", "02/01/06", "02.01.2006"}, "+33"},
			{"BE", "EUR", []string{"SRL", "SA", "SPRL"}, []int{210, 60}, 4, ".", ",",
				[]string{"02/01/2006", "2 MMMM 2006"}, "+32"}}},
		{code: "it", countries: []country{
			{"IT", "EUR", []string{"S.r.l.", "S.p.A.", "Srl", "S.n.c.", "SRL"}, []int{220, 220, 100}, 5, ".", ",",
				[]string{"02/01/2006", "2 MMMM 2006", "02-01-2006", "02.01.2006"}, "+39"}}},
		{code: "sl", countries: []country{
			{"SI", "EUR", []string{"d.o.o.", "d.d.", "s.p."}, []int{220, 220, 95}, 4, ".", ",",
				[]string{"02.01.2006", "2. 1. 2006", "2. MMMM 2006", "2.1.2006"}, "+386"}}},
		{code: "es", countries: []country{
			{"ES", "EUR", []string{"S.L.", "S.A.", "SL", "S.L.U."}, []int{210, 210, 100}, 5, ".", ",",
				[]string{"02/01/2006", "2 de MMMM de 2006", "02-01-2006", "2/1/2006"}, "+34"}}},
		{code: "nl", countries: []country{
			{"NL", "EUR", []string{"B.V.", "BV", "V.O.F.", "N.V."}, []int{210, 210, 90}, 4, ".", ",",
				[]string{"02-01-2006", "2 MMMM 2006", "02/01/2006", "2-1-2006"}, "+31"}}},
		{code: "pl", countries: []country{
			{"PL", "PLN", []string{"Sp. z o.o.", "S.A.", "sp.j.", "sp. k."}, []int{230, 230, 80}, 5, " ", ",",
				[]string{"02.01.2006", "2006-01-02", "2 MMMM 2006", "02-01-2006"}, "+48"}}},
		{code: "hr", countries: []country{
			{"HR", "EUR", []string{"d.o.o.", "d.d.", "j.d.o.o.", "obrt"}, []int{250, 250, 130}, 5, ".", ",",
				[]string{"02.01.2006.", "2. MMMM 2006.", "02.01.2006", "2.1.2006."}, "+385"}}},
		{code: "cs", countries: []country{
			{"CZ", "CZK", []string{"s.r.o.", "a.s.", "spol. s r.o."}, []int{210, 210, 120}, 5, " ", ",",
				[]string{"02.01.2006", "2. 1. 2006", "2. MMMM 2006", "2.1.2006"}, "+420"}}},
		{code: "hu", countries: []country{
			{"HU", "HUF", []string{"Kft.", "Zrt.", "Bt."}, []int{270, 270, 50}, 4, " ", ",",
				[]string{"2006.01.02.", "2006. MMMM 2.", "2006-01-02", "2006.01.02"}, "+36"}}},
	}
}

// Drawer draws families of invoices.
type Drawer struct{ languages []language }

// NewDrawer returns a Drawer of all languages. An error means that the wordings built into the program are faulty.
func NewDrawer() (*Drawer, error) {
	d := &Drawer{languages: spoken()}
	for i := range d.languages {
		l := &d.languages[i]
		data, err := files.ReadFile("wordings/" + l.code + ".txt")
		if err != nil {
			return nil, fmt.Errorf("reading wordings: %w", err)
		}
		l.sections = parse(string(data))
		for _, section := range sections {
			if name := strings.ReplaceAll(section, "_", " "); len(l.sections[name]) == 0 {
				return nil, fmt.Errorf("wordings of %s have no section %q", l.code, name)
			}
		}
	}
	return d, nil
}

func parse(file string) map[string][]string {
	out := map[string][]string{}
	section := ""
	for line := range strings.Lines(file) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case strings.HasPrefix(line, "["):
			section = strings.Trim(line, "[]")
		case line == "(none)":
			out[section] = append(out[section], "")
		default:
			out[section] = append(out[section], line)
		}
	}
	return out
}
