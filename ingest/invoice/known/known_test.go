package known_test

import (
	"fmt"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/known"
)

var (
	donau     = known.Supplier{Contractor: "C1", Name: "Bauwerk Donau GmbH", TaxID: "ATU 1234-5675"}
	nord      = known.Supplier{Contractor: "C2", Name: "Ziegel Nord OG", TaxID: "ATU11111116"}
	nameless  = known.Supplier{Contractor: "C3", Name: "Werk & Söhne KG"}
	confirmed = known.Supplier{Name: "Werk & Söhne KG", Confirmed: true}
)

// page is an invoice with candidates of its supplier: the first name and id are its own choice where they are certain.
func page(names, ids map[string]float64) fields.Invoice {
	var i fields.Invoice
	take := func(field, value string, confidence float64) *fields.Text {
		e := fields.Evidence{Page: 1, Text: value, Rule: "letterhead", Confidence: confidence}
		if confidence >= fields.Certain {
			return &fields.Text{Value: value, Evidence: e}
		}
		i.Possible = append(i.Possible, fields.Possible{Field: field, Value: value, Evidence: e})
		return nil
	}
	for value, confidence := range names {
		if t := take(fields.SupplierName, value, confidence); t != nil {
			i.SupplierName = t
		}
	}
	for value, confidence := range ids {
		if t := take(fields.SupplierTaxID, value, confidence); t != nil {
			i.SupplierTaxID = t
		}
	}
	return i
}

// Given what a page says and whom a tenant knows, then it is the one supplier that both name, or what the page was certain of.
func TestASupplierThatIsKnownIsRecognised(t *testing.T) {
	type printed = map[string]float64
	for _, c := range []struct {
		when       string
		names, ids printed
		suppliers  []known.Supplier
		want       string // name, tax id and contractor
	}{
		{"nobody is known", printed{"Bauwerk Donau": 0.9}, printed{"ATU12345675": 0.6}, nil, "Bauwerk Donau - -"},
		{"its id is printed, its name as a picture", nil, printed{"ATU12345675": 0.6}, []known.Supplier{nord, donau}, "Bauwerk Donau GmbH ATU12345675 C1"},
		{"its id and its name are printed", printed{"BAUWERK DONAU GMBH": 0.05, "Rohbau": 0.5}, printed{"ATU12345675": 0.93},
			[]known.Supplier{donau}, "BAUWERK DONAU GMBH ATU12345675 C1"},
		{"the page was certain of a line that is no name", printed{"BAUWERK DONAU GMBH": 0.05, "Ihr Partner am Bau": 0.85}, printed{"ATU12345675": 0.93},
			[]known.Supplier{donau}, "BAUWERK DONAU GMBH ATU12345675 C1"},
		{"the page is certain of a name beside the id", printed{"Donau Bau": 0.9}, printed{"ATU12345675": 0.93}, []known.Supplier{donau}, "Donau Bau ATU12345675 C1"},
		{"the page is certain of another name than a person has confirmed for the id", printed{"Ihr Partner am Bau": 0.9}, printed{"ATU12345675": 0.93},
			[]known.Supplier{{Contractor: "C1", Name: "Donau Bau", TaxID: "ATU12345675", Confirmed: true}, donau}, "Donau Bau ATU12345675 C1"},
		{"the id is the buyer's", nil, printed{"ATU12345675": 0.3}, []known.Supplier{donau}, "- - -"},
		{"ids of two are printed", nil, printed{"ATU12345675": 0.6, "ATU11111116": 0.6}, []known.Supplier{donau, nord}, "- - -"},
		{"another VAT id is certain", printed{"Bauwerk Donau GmbH": 0.5}, printed{"ATU99999999": 0.93}, []known.Supplier{donau}, "- ATU99999999 -"},
		{"its name alone is likely", printed{"Werk und Söhne": 0.2, "werk & söhne kg": 0.5}, nil, []known.Supplier{nameless}, "werk & söhne kg - C3"},
		{"its name is barely likely", printed{"Werk & Söhne KG": 0.2}, nil, []known.Supplier{nameless}, "- - -"},
		{"its name is barely likely, and was confirmed before", printed{"Werk & Söhne KG": 0.2}, nil, []known.Supplier{confirmed}, "Werk & Söhne KG - -"},
		{"names of two are likely", printed{"Werk & Söhne KG": 0.4, "Ziegel Nord OG": 0.4}, nil, []known.Supplier{nord, nameless}, "- - -"},
		{"two contractors have its name", printed{"Werk & Söhne KG": 0.9}, nil, []known.Supplier{nameless, {Contractor: "C4", Name: nameless.Name}},
			"Werk & Söhne KG - -"},
		{"two contractors have its name, and a person has said which one it is", printed{"Werk & Söhne KG": 0.9}, nil,
			[]known.Supplier{{Contractor: "C4", Name: nameless.Name, Confirmed: true}, nameless, {Contractor: "C4", Name: nameless.Name}}, "Werk & Söhne KG - C4"},
	} {
		t.Run(c.when, func(t *testing.T) {
			before := page(c.names, c.ids)
			i, contractor := known.Recognise(before, "", c.suppliers)
			got := fmt.Sprintf("%s %s %s", certainly(i.SupplierName), certainly(i.SupplierTaxID), orNone(contractor))
			if got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
			for value := range c.names {
				if !mentions(i, fields.SupplierName, value) {
					t.Errorf("%q was possible and is lost", value)
				}
			}
			if again, _ := known.Recognise(i, "", c.suppliers); certainly(again.SupplierName) != certainly(i.SupplierName) {
				t.Errorf("recognised again it is %v", again.SupplierName)
			}
		})
	}
}

// Given accounts on a page, and the sender's domain if somebody vouches for it, then they tell suppliers that people have confirmed
// before; what several suppliers share tells none of them.
func TestAccountAndDomainTellTheSupplier(t *testing.T) {
	type printed = map[string]float64
	const ours, theirs = "AT611904300234573201", "DE89370400440532013000"
	taught := func(name, iban, domain string) known.Supplier {
		return known.Supplier{Contractor: "of " + name, Name: name, IBAN: iban, Domain: domain, Confirmed: true}
	}
	paid, sent := taught("Werk & Söhne KG", ours, ""), taught("Werk & Söhne KG", "", "werk.example")
	for _, c := range []struct {
		when      string
		names     printed
		accounts  []string
		domain    string
		suppliers []known.Supplier
		want      string
	}{
		{"its account alone is printed", nil, []string{ours}, "", []known.Supplier{paid}, "Werk & Söhne KG"},
		{"its account is one of several", nil, []string{theirs, ours}, "", []known.Supplier{paid}, "Werk & Söhne KG"},
		{"another account is printed", nil, []string{theirs}, "", []known.Supplier{paid}, "-"},
		{"several are paid by the account", nil, []string{ours}, "", []known.Supplier{paid, taught("Ziegel Nord OG", ours, "")}, "-"},
		{"accounts of two are printed", nil, []string{ours, theirs}, "", []known.Supplier{paid, taught("Ziegel Nord OG", theirs, "")}, "-"},
		{"the page is certain of another name beside the account", printed{"Ziegel Nord OG": 0.9}, []string{ours}, "", []known.Supplier{paid}, "Ziegel Nord OG"},
		{"the page prints its name as well, and is certain of another one", printed{"Ihr Partner": 0.9, "Werk & Söhne KG": 0.02}, []string{ours}, "",
			[]known.Supplier{paid}, "Werk & Söhne KG"},
		{"its unlikely name comes from its domain", printed{"Werk & Söhne KG": 0.02}, nil, "werk.example", []known.Supplier{sent}, "Werk & Söhne KG"},
		{"its unlikely name comes from another domain", printed{"Werk & Söhne KG": 0.02}, nil, "mail.example", []known.Supplier{sent}, "-"},
		{"its unlikely name comes from nobody who is vouched for", printed{"Werk & Söhne KG": 0.02}, nil, "",
			[]known.Supplier{taught("Werk & Söhne KG", "", "")}, "-"},
		{"only its domain tells it", printed{"Rohbau": 0.02}, nil, "werk.example", []known.Supplier{sent}, "-"},
		{"several send from the domain", printed{"Werk & Söhne KG": 0.02}, nil, "werk.example",
			[]known.Supplier{sent, taught("Ziegel Nord OG", "", "werk.example")}, "-"},
		{"the page is certain of another name, from its domain", printed{"Ziegel Nord OG": 0.9, "Werk & Söhne KG": 0.02}, nil, "werk.example",
			[]known.Supplier{sent}, "Ziegel Nord OG"},
		{"names of two are likely, and one comes from its domain", printed{"Werk & Söhne KG": 0.4, "Ziegel Nord OG": 0.4}, nil, "werk.example",
			[]known.Supplier{sent, taught("Ziegel Nord OG", "", "")}, "Werk & Söhne KG"},
		{"a contractor's name is likely, and the domain is another's", printed{"Werk & Söhne KG": 0.02, "Ziegel Nord OG": 0.4, "Bauwerk Donau GmbH": 0.4}, nil,
			"werk.example", []known.Supplier{sent, nord, donau}, "-"},
	} {
		t.Run(c.when, func(t *testing.T) {
			i := page(c.names, nil)
			for n, account := range c.accounts {
				if len(c.accounts) == 1 {
					i.SupplierIBAN = &fields.Text{Value: account, Evidence: fields.Evidence{Page: 1, Confidence: 0.95}}
				} else {
					i.Possible = append(i.Possible, fields.Possible{Field: fields.SupplierIBAN, Value: account, Evidence: fields.Evidence{Page: n}})
				}
			}
			i, contractor := known.Recognise(i, c.domain, c.suppliers)
			if got := certainly(i.SupplierName); got != c.want {
				t.Errorf("it is %s, want %s", got, c.want)
			}
			if taught := c.want == "Werk & Söhne KG"; taught != (contractor == "of Werk & Söhne KG") {
				t.Errorf("its contractor is %q", contractor)
			}
		})
	}
}

func certainly(f *fields.Text) string {
	if f == nil || f.Confidence < fields.Certain {
		return "-"
	}
	return f.Value
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// mentions reports whether a value is a field's, or among what it could be.
func mentions(i fields.Invoice, field, value string) bool {
	if i.SupplierName != nil && i.SupplierName.Value == value {
		return true
	}
	for _, p := range i.Possible {
		if p.Field == field && p.Value == value {
			return true
		}
	}
	return false
}
