package einvoice

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

var (
	validators = flag.String("validators", "", "the folder that validators/fetch prints: ask them what the invoices of testdata/rules break")
	update     = flag.Bool("update", false, "write down what the validators say, instead of comparing it")
)

const verdictsFile = "testdata/rules/verdicts.txt"

// Given e-invoices, each with one thing left out, emptied or changed, then the rules that they break here are those that the
// validators of EN 16931 and XRechnung say they break, as verdicts.txt has it; with -validators these are asked anew.
func TestRulesAgreeWithTheValidators(t *testing.T) {
	documents := drawnDocuments(t)
	if *validators != "" {
		askValidators(t, documents)
	}
	verdicts := readVerdicts(t)
	if len(verdicts) != len(documents) {
		t.Fatalf("%s has %d invoices, there are %d: write it anew, by -validators and -update", verdictsFile, len(verdicts), len(documents))
	}
	ours := knownRules()
	held := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		want, found := verdicts[name]
		if !found {
			t.Fatalf("%s lacks %q: write it anew", verdictsFile, name)
		}
		if slices.Equal(want, []string{"error"}) {
			continue // what the validators' own rules can't compute with, such as an amount that is none
		}
		got := brokenRules(t, documents[name])
		for id := range ours {
			switch {
			case strings.HasPrefix(id, "BR-DE-") && !bytes.Contains(documents[name], []byte("xrechnung")): // the validators ask of all
			case slices.Contains(want, id) == got[id]:
				held[id] = held[id] || got[id]
			case departs(name, id, got[id], want) == "":
				t.Errorf("%s: %s broken here: %v, by the validators: %v", name, id, got[id], !got[id])
			}
		}
	}
	for id := range ours {
		if !held[id] && neverBroken[id] == "" {
			t.Errorf("no invoice breaks %s: it is held against nothing", id)
		}
	}
}

// departs says why a rule may be judged otherwise here than by the validators, "" if it may not.
func departs(document, id string, here bool, theirs []string) string {
	kind, change, _ := strings.Cut(document, ": ")
	number := id[strings.LastIndex(id, "-")+1:]
	switch {
	case here && strings.HasPrefix(change, "without all of "):
		return "they say nothing of what isn't there at all, which their schema refuses"
	case here && strings.HasPrefix(change, "empty "):
		return "what is empty is missing; they think so of some terms, and otherwise in either syntax"
	case strings.HasPrefix(change, "finer "):
		return "they add up some amounts in binary floating point"
	case here && (strings.HasSuffix(change, "/TypeCode") || strings.HasSuffix(change, "/TaxScheme/ID")):
		return "they ask in some rules alone whether the tax is VAT"
	case here && (kind == "cii L" || kind == "cii M" || kind == "cii O"):
		return "their rules of these categories hide those on the breakdown, and look for rates where there are none"
	case kind == "cii O" && id == "BR-O-08" && strings.HasSuffix(change, "/BasisAmount"):
		return "what hides BR-45 doesn't hide what follows from it"
	case !here && id == "BR-S-02" && strings.Contains(change, "TaxScheme"):
		return "they want a tax id of lines that aren't taxed, too"
	case kind == "cii O" && strings.HasPrefix(id, "BR-O-1"):
		return "they tell of lines, allowances, charges and breakdown alike"
	case here && number == "01" && strings.HasPrefix(kind, "ubl"):
		return "they don't ask whether what the breakdown has is anywhere else"
	case !here && (id == "BR-62" || id == "BR-63") && strings.HasSuffix(change, "/URIID"):
		return "an address without an address has no scheme"
	case !here && id == "BR-CO-15" && strings.HasPrefix(change, "without all of") && strings.Contains(change, "Monetary"):
		return "totals that aren't there can't be added up"
	}
	missing := slices.Clone(follows[id])
	switch number {
	case "08":
		missing = append(missing, "BR-45", "BR-CO-04")
	case "09":
		missing = append(missing, "BR-45", "BR-46", "BR-48")
	}
	for _, m := range missing {
		if !here && slices.Contains(theirs, m) {
			return "it only follows from what is missing"
		}
	}
	return ""
}

// follows are rules that can't hold where others say that something is missing.
var follows = map[string][]string{
	"BR-09": {"BR-08"}, "BR-11": {"BR-10"}, "BR-27": {"BR-26"},
	"BR-CO-10": {"BR-12"}, "BR-CO-13": {"BR-13"}, "BR-CO-15": {"BR-13", "BR-14"}, "BR-CO-16": {"BR-15"}, "BR-CO-17": {"BR-45", "BR-46", "BR-48"},
	"BR-CO-14": {"BR-CO-15"}, "BR-O-12": {"BR-CO-04"}, "BR-O-13": {"BR-32"}, "BR-O-14": {"BR-37"},
}

// neverBroken are rules that no drawn invoice breaks, and why.
var neverBroken = map[string]string{
	"BR-01": "an invoice that states no specification doesn't say that it follows these rules",
}

// knownRules are the ids of all rules.
func knownRules() map[string]bool {
	known := map[string]bool{}
	for _, r := range slices.Concat(documentRules(), sumRules(), vatRules(), codeRules(), xrechnungRules()) {
		known[r.id] = true
	}
	return known
}

func brokenRules(t *testing.T, document []byte) map[string]bool {
	t.Helper()
	d, err := Read(document)
	var faulty *Faulty
	switch {
	case errors.As(err, &faulty):
		d.Findings = faulty.Findings
	case err != nil:
		t.Fatal(err)
	}
	broken := map[string]bool{}
	for _, f := range d.Findings {
		broken[f.Rule] = true
	}
	return broken
}

func readVerdicts(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile(verdictsFile)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string][]string{}
	for line := range strings.Lines(string(data)) {
		name, rules, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		verdicts[name] = strings.Fields(rules)
	}
	return verdicts
}

// askValidators has the validators judge each invoice, and compares that with verdicts.txt, or writes it.
func askValidators(t *testing.T, documents map[string][]byte) {
	t.Helper()
	dir := t.TempDir()
	inputs := map[string]*bytes.Buffer{"CII": {}, "UBL": {}}
	names := map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(documents)) {
		file := filepath.Join(dir, strconv.Itoa(i)+".xml")
		if err := os.WriteFile(file, documents[name], 0o600); err != nil {
			t.Fatal(err)
		}
		names[file] = name
		syntax := "UBL"
		if strings.HasPrefix(name, "cii") {
			syntax = "CII"
		}
		fmt.Fprintln(inputs[syntax], file)
	}
	var verdicts []string
	for syntax, input := range inputs {
		validate := exec.Command("java", "-cp", filepath.Join(*validators, "*"), "validators/Validate.java", syntax)
		validate.Stdin, validate.Stderr = input, os.Stderr
		out, err := validate.Output()
		if err != nil {
			t.Fatal("running the validators: ", err)
		}
		for line := range strings.Lines(string(out)) {
			file, rules, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			about := slices.DeleteFunc(strings.Fields(rules), func(id string) bool {
				return !strings.HasPrefix(id, "BR-") && id != "error" // of the syntaxes alone, and of Peppol
			})
			verdicts = append(verdicts, names[file]+"\t"+strings.Join(about, " ")+"\n")
		}
	}
	slices.Sort(verdicts)
	written := strings.Join(verdicts, "")
	if *update {
		if err := os.WriteFile(verdictsFile, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have, err := os.ReadFile(verdictsFile); err != nil || string(have) != written {
		t.Errorf("the validators judge otherwise than %s has it (%v): write it anew by -update, and see what changed", verdictsFile, err)
	}
}

// drawnDocuments are the invoices of testdata/rules and changes of them, each with one thing changed, by a name that says what.
func drawnDocuments(t *testing.T) map[string][]byte {
	t.Helper()
	documents := map[string][]byte{}
	for _, syntax := range []string{"cii", "ubl"} {
		data, err := os.ReadFile("testdata/rules/" + syntax + ".xml")
		if err != nil {
			t.Fatal(err)
		}
		changesOf(t, documents, syntax, data)
		for what, change := range otherwise[syntax] {
			documents[syntax+": "+what] = []byte(strings.NewReplacer(change...).Replace(string(data)))
		}
		for _, c := range []drawnCategory{
			{"S", "20", "19.00", "114.00", true, false}, {"L", "7", "6.65", "101.65", true, false}, {"M", "10", "9.50", "104.50", true, false},
			{"Z", "0", "0.00", "95.00", true, false}, {"E", "0", "0.00", "95.00", true, true}, {"AE", "0", "0.00", "95.00", true, true},
			{"K", "0", "0.00", "95.00", true, true}, {"G", "0", "0.00", "95.00", true, true}, {"O", "", "0.00", "95.00", false, true},
		} {
			data := c.invoice(t, syntax)
			for _, p := range places(t, data) {
				if ofCategories(p.path) {
					documents[syntax+" "+c.Code+": "+p.without()] = p.element.cut(data)
				}
			}
			documents[syntax+" "+c.Code+": as it is"] = data
			for what, changed := range c.wrong(t, syntax, data) {
				documents[syntax+" "+c.Code+": "+what] = changed
			}
		}
	}
	return documents
}

// changesOf draws what an invoice could say otherwise.
func changesOf(t *testing.T, documents map[string][]byte, name string, data []byte) {
	t.Helper()
	add := func(what string, changed []byte) {
		if bytes.Contains(changed, []byte("urn:cen.eu:en16931:2017")) { // else it follows other rules
			documents[name+": "+what] = changed
		}
	}
	add("as it is", data)
	for _, p := range places(t, data) {
		add(p.without(), p.element.cut(data))
		for what, text := range p.otherTexts(data) {
			add(what+" "+p.path, p.text.replace(data, text))
		}
		for _, a := range p.attributes {
			add("without "+p.path+"/@"+a.name, a.cut(data))
			add("odd "+p.path+"/@"+a.name, a.replace(data, ` `+a.name+`="QQ"`))
		}
	}
}

// ofCategories are the places that rules on categories of VAT look at.
func ofCategories(path string) bool {
	for _, part := range []string{"TaxRegistration", "PartyTaxScheme", "ApplicableTradeTax", "CategoryTradeTax", "TaxSubtotal", "TaxCategory",
		"Delivery", "AllowanceCharge"} {
		if strings.Contains(path, part) && !strings.Contains(path, "TradeDelivery/BilledQuantity") {
			return true
		}
	}
	return false
}

// drawnCategory is what an invoice states that is all in one category of VAT.
type drawnCategory struct {
	Code, Rate, Tax, Gross string
	IDs, Reason            bool
}

func (c drawnCategory) invoice(t *testing.T, syntax string) []byte {
	t.Helper()
	page, err := template.ParseFiles("testdata/rules/" + syntax + "-category.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := page.Execute(&data, c); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

// wrong are changes that leaving out doesn't make.
func (c drawnCategory) wrong(t *testing.T, syntax string, data []byte) map[string][]byte {
	text := string(data)
	change := func(old, new string, n int) []byte {
		at := 0
		for range n {
			i := strings.Index(text[at:], old)
			if i < 0 {
				return data
			}
			at += i + len(old)
		}
		return []byte(text[:at-len(old)] + new + text[at:])
	}
	rate, reason := "Percent>", "<cac:TaxScheme>"
	if syntax == "cii" {
		rate, reason = "RateApplicablePercent>", "<ram:BasisAmount>95"
	}
	wrong := map[string][]byte{
		"a taxable amount of a few units more": change(">95.00<", ">99.00<", 1), "a taxable amount of cents more": change(">95.00<", ">95.40<", 1),
	}
	if c.Rate == "" {
		c.IDs = true
		wrong["tax ids where there is no tax"] = c.invoice(t, syntax)
		taxed := map[string][2]string{"cii": {"<ram:SpecifiedTradeAllowanceCharge>", "<ram:ApplicableTradeTax><ram:CalculatedAmount>0.00</ram:CalculatedAmount>" +
			"<ram:TypeCode>VAT</ram:TypeCode><ram:BasisAmount>0.00</ram:BasisAmount><ram:CategoryCode>Z</ram:CategoryCode>" +
			"<ram:RateApplicablePercent>0</ram:RateApplicablePercent></ram:ApplicableTradeTax><ram:SpecifiedTradeAllowanceCharge>"},
			"ubl": {"</cac:TaxSubtotal>", "</cac:TaxSubtotal><cac:TaxSubtotal><cbc:TaxableAmount currencyID=\"EUR\">0.00</cbc:TaxableAmount>" +
				"<cbc:TaxAmount currencyID=\"EUR\">0.00</cbc:TaxAmount><cac:TaxCategory><cbc:ID>Z</cbc:ID><cbc:Percent>0</cbc:Percent>" +
				"<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>"}}[syntax]
		wrong["a taxed part of the breakdown"] = change(taxed[0], taxed[1], 1)
		stated := map[string][2]string{"cii": {">O</ram:CategoryCode>", ">O</ram:CategoryCode><ram:RateApplicablePercent>0</ram:RateApplicablePercent>"},
			"ubl": {">O</cbc:ID>", ">O</cbc:ID><cbc:Percent>0</cbc:Percent>"}}[syntax]
		for n, place := range []string{"first", "second", "third", "fourth"} {
			wrong["a rate at the "+place+" place"] = change(stated[0], stated[1], n+1)
		}
	}
	if !c.Reason {
		given := map[string]string{"cii": "<ram:ExemptionReason>None</ram:ExemptionReason>", "ubl": "<cbc:TaxExemptionReason>None</cbc:TaxExemptionReason>"}
		n := map[string]int{"cii": 1, "ubl": 3}
		wrong["a reason where there is none"] = change(reason, given[syntax]+reason, n[syntax])
	}
	for n, place := range []string{"first", "second", "third", "fourth"} {
		wrong["another category at the "+place+" place"] = change(">"+c.Code+"<", ">"+map[bool]string{true: "E", false: "Z"}[c.Code == "Z"]+"<", n+1)
		wrong["a rate below zero at the "+place+" place"] = change(rate+c.Rate+"<", rate+"-1<", n+1)
		wrong["a rate of five at the "+place+" place"] = change(rate+c.Rate+"<", rate+"5<", n+1)
	}
	return wrong
}

// otherwise are changes of the large invoices by a text and what stands in its place, each for a rule that leaving out doesn't break.
var otherwise = map[string]map[string][]string{
	"cii": {
		"no terms and no due date": {"<ram:Description>Payable in 30 days\n#SKONTO#TAGE=14#PROZENT=2.00#\n</ram:Description>", "",
			`<ram:DueDateDateTime><udt:DateTimeString format="102">20260517</udt:DateTimeString></ram:DueDateDateTime>`, ""},
		"a discount in words":                {"#SKONTO#TAGE=14#PROZENT=2.00#\n", "#SKONTO#TAGE=14#PROZENT=2#\n"},
		"a discount at the end of the terms": {"#PROZENT=2.00#\n", "#PROZENT=2.00#"},
		"another version of XRechnung":       {"xrechnung_3.0", "xrechnung_2.3"},
		"a correction of nothing": {"<ram:TypeCode>380<", "<ram:TypeCode>384<",
			"<ram:InvoiceReferencedDocument><ram:IssuerAssignedID>2026-100</ram:IssuerAssignedID></ram:InvoiceReferencedDocument>", ""},
		"a period that ends before it begins": {"20260331", "20260228"},
		"empty periods": {`<ram:StartDateTime><udt:DateTimeString format="102">20260301</udt:DateTimeString></ram:StartDateTime>`, "",
			`<ram:EndDateTime><udt:DateTimeString format="102">20260331</udt:DateTimeString></ram:EndDateTime>`, ""},
		"a card": {"<ram:TypeCode>58<", "<ram:TypeCode>48<", "<ram:PayeePartyCreditorFinancialAccount>",
			"<ram:ApplicableTradeSettlementFinancialCard><ram:ID>4111111111111111</ram:ID></ram:ApplicableTradeSettlementFinancialCard><ram:PayeePartyCreditorFinancialAccount>"},
		"a card that isn't there":   {"<ram:TypeCode>58<", "<ram:TypeCode>48<"},
		"a direct debit of nothing": {"<ram:TypeCode>58<", "<ram:TypeCode>59<"},
		"a direct debit of a mandate alone": {"<ram:TypeCode>58<", "<ram:TypeCode>59<",
			"</ram:SpecifiedTradePaymentTerms>", "<ram:DirectDebitMandateID>M-1</ram:DirectDebitMandateID></ram:SpecifiedTradePaymentTerms>"},
		"a direct debit of an account that is none": {"<ram:TypeCode>58<", "<ram:TypeCode>59<", "<ram:PayeePartyCreditorFinancialAccount>",
			"<ram:PayerPartyDebtorFinancialAccount><ram:IBANID>AT611904300234573202</ram:IBANID></ram:PayerPartyDebtorFinancialAccount><ram:PayeePartyCreditorFinancialAccount>"},
		"an account that is none":         {"AT611904300234573201", "AT611904300234573202"},
		"a telephone without a number":    {"+43 1 234567", "see above"},
		"a mail address without a domain": {"<ram:URIID>ana@geruest.example", "<ram:URIID>ana@geruest"},
		"two attachments of one name": {"<ram:AdditionalReferencedDocument>", "<ram:AdditionalReferencedDocument><ram:IssuerAssignedID>2</ram:IssuerAssignedID>" +
			`<ram:TypeCode>916</ram:TypeCode><ram:AttachmentBinaryObject mimeCode="text/csv" filename="hours.csv">YQ==</ram:AttachmentBinaryObject>` +
			"</ram:AdditionalReferencedDocument><ram:AdditionalReferencedDocument>"},
		"the payee is the seller": {"Bank AG", "Gerüstbau Wien GmbH"},
		"both points of tax": {"<ram:BasisAmount>965.00</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode>",
			`<ram:BasisAmount>965.00</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode><ram:TaxPointDate><udt:DateString format="102">20260331</udt:DateString></ram:TaxPointDate><ram:DueDateTypeCode>5</ram:DueDateTypeCode>`},
		"fine bases of a line": {"<ram:ActualAmount>50.00", "<ram:BasisAmount>50.005</ram:BasisAmount><ram:ActualAmount>50.00",
			"<ram:ActualAmount>10.00", "<ram:BasisAmount>10.005</ram:BasisAmount><ram:ActualAmount>10.00"},
		"fine bases": {"<ram:ActualAmount>20.00", "<ram:BasisAmount>20.005</ram:BasisAmount><ram:ActualAmount>20.00",
			"<ram:ActualAmount>25.00", "<ram:BasisAmount>25.005</ram:BasisAmount><ram:ActualAmount>25.00"},
		"no tax ids at all": {`<ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">22/123/4567</ram:ID></ram:SpecifiedTaxRegistration>`, "",
			`<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">ATU12345675</ram:ID></ram:SpecifiedTaxRegistration>`, "",
			`<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE811569869</ram:ID></ram:SpecifiedTaxRegistration>`, ""},
		"no identifier of the seller": {"<ram:ID>L-17</ram:ID>", "", "<ram:SpecifiedLegalOrganization><ram:ID>FN 123456a</ram:ID></ram:SpecifiedLegalOrganization>", "",
			`<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">ATU12345675</ram:ID></ram:SpecifiedTaxRegistration>`, ""},
	},
	"ubl": {
		"no terms and no due date": {"<cac:PaymentTerms><cbc:Note>Payable in 30 days\n#SKONTO#TAGE=14#PROZENT=2.00#\n</cbc:Note></cac:PaymentTerms>", "",
			"<cbc:DueDate>2026-05-17</cbc:DueDate>", ""},
		"a discount in words":          {"#SKONTO#TAGE=14#PROZENT=2.00#\n", "#SKONTO#TAGE=14#PROZENT=2#\n"},
		"another version of XRechnung": {"xrechnung_3.0", "xrechnung_2.3"},
		"a correction of nothing": {"<cbc:InvoiceTypeCode>380<", "<cbc:InvoiceTypeCode>384<",
			"<cac:BillingReference><cac:InvoiceDocumentReference><cbc:ID>2026-100</cbc:ID></cac:InvoiceDocumentReference></cac:BillingReference>", ""},
		"a period that ends before it begins": {"<cbc:EndDate>2026-03-31<", "<cbc:EndDate>2026-02-28<"},
		"empty periods":                       {"<cbc:StartDate>2026-03-01</cbc:StartDate><cbc:EndDate>2026-03-31</cbc:EndDate>", ""},
		"a card":                              {">58<", ">48<", "<cac:PayeeFinancialAccount>", "<cac:CardAccount><cbc:PrimaryAccountNumberID>4111111111111111</cbc:PrimaryAccountNumberID></cac:CardAccount><cac:PayeeFinancialAccount>"},
		"a card that isn't there":             {">58<", ">48<"},
		"a direct debit of nothing":           {">58<", ">59<"},
		"a direct debit of a mandate alone": {">58<", ">59<", "<cac:PayeeFinancialAccount><cbc:ID>AT611904300234573201</cbc:ID></cac:PayeeFinancialAccount>",
			"<cac:PaymentMandate><cbc:ID>M-1</cbc:ID></cac:PaymentMandate>"},
		"a direct debit of an account that is none": {">58<", ">59<", "<cac:PayeeFinancialAccount><cbc:ID>AT611904300234573201</cbc:ID></cac:PayeeFinancialAccount>",
			"<cac:PaymentMandate><cbc:ID>M-1</cbc:ID><cac:PayerFinancialAccount><cbc:ID>AT611904300234573202</cbc:ID></cac:PayerFinancialAccount></cac:PaymentMandate>"},
		"an account that is none":         {"AT611904300234573201", "AT611904300234573202"},
		"a telephone without a number":    {"+43 1 234567", "see above"},
		"a mail address without a domain": {"ElectronicMail>ana@geruest.example", "ElectronicMail>ana@geruest"},
		"both points of tax": {"<cbc:InvoiceTypeCode>", "<cbc:TaxPointDate>2026-03-31</cbc:TaxPointDate><cbc:InvoiceTypeCode>",
			"<cac:InvoicePeriod><cbc:StartDate>2026-03-01</cbc:StartDate><cbc:EndDate>2026-03-31</cbc:EndDate></cac:InvoicePeriod>\n  <cac:BillingReference>",
			"<cac:InvoicePeriod><cbc:DescriptionCode>35</cbc:DescriptionCode></cac:InvoicePeriod>\n  <cac:BillingReference>"},
		"fine bases of a line": {"<cbc:Amount currencyID=\"EUR\">50.00</cbc:Amount>", "<cbc:Amount currencyID=\"EUR\">50.00</cbc:Amount><cbc:BaseAmount currencyID=\"EUR\">50.005</cbc:BaseAmount>",
			"<cbc:Amount currencyID=\"EUR\">10.00</cbc:Amount>", "<cbc:Amount currencyID=\"EUR\">10.00</cbc:Amount><cbc:BaseAmount currencyID=\"EUR\">10.005</cbc:BaseAmount>"},
	},
}

// span is a part of a document.
type span struct{ from, to int }

func (s span) cut(data []byte) []byte { return s.replace(data, "") }

func (s span) replace(data []byte, text string) []byte {
	return slices.Concat(data[:s.from], []byte(text), data[s.to:])
}

// attribute is one, with the space before it.
type attribute struct {
	span
	name string
}

// place is an element.
type place struct {
	element    span
	text       span // of one without elements in it
	path       string
	leaf       bool
	attributes []attribute
}

// without says that an element is left out, with all that is in it.
func (p place) without() string {
	if p.leaf {
		return "without " + p.path
	}
	return "without all of " + p.path
}

// otherTexts are what an element could say instead, by what is done to it.
func (p place) otherTexts(data []byte) map[string]string {
	if !p.leaf {
		return nil
	}
	text := string(data[p.text.from:p.text.to])
	others := map[string]string{"empty": ""}
	if v := decimal(text); v != nil && strings.Contains(text, ".") {
		others["more"], others["finer"], others["negative"] = text[:len(text)-4]+"9"+text[len(text)-3:], text+"5", "-"+text
	} else if v != nil && len(text) < 4 {
		others["odd"], others["none"] = "17", "0"
	}
	if len(text) <= 3 && strings.ToUpper(text) == text && decimal(text) == nil {
		others["odd"] = "QQ"
	}
	return others
}

// places are all elements below the root, with paths that count those of the same name.
func places(t *testing.T, data []byte) []place {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(data))
	type open struct {
		place
		counts map[string]int
	}
	var stack []*open
	var all []place
	for {
		from := int(d.InputOffset())
		token, err := d.Token()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		to := int(d.InputOffset())
		switch e := token.(type) {
		case xml.StartElement:
			p := place{element: span{from: from}, text: span{from: to}, leaf: true, path: e.Name.Local}
			if len(stack) > 0 {
				parent := stack[len(stack)-1]
				parent.leaf = false
				parent.counts[e.Name.Local]++
				if n := parent.counts[e.Name.Local]; n > 1 {
					p.path += "[" + strconv.Itoa(n) + "]"
				}
				if len(stack) > 1 {
					p.path = parent.path + "/" + p.path
				}
				p.attributes = attributesOf(data, from, to, e)
			}
			stack = append(stack, &open{p, map[string]int{}})
		case xml.EndElement:
			p := stack[len(stack)-1].place
			stack = stack[:len(stack)-1]
			p.element.to, p.text.to = to, from
			if len(stack) > 0 {
				all = append(all, p)
			}
		}
	}
}

func attributesOf(data []byte, from, to int, e xml.StartElement) []attribute {
	var all []attribute
	for _, a := range e.Attr {
		written := fmt.Sprintf(" %s=%q", a.Name.Local, a.Value)
		if at := bytes.Index(data[from:to], []byte(written)); at >= 0 {
			all = append(all, attribute{span{from + at, from + at + len(written)}, a.Name.Local})
		}
	}
	return all
}
