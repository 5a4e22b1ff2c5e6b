package einvoice

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tallyhouse/ingest/invoice/iban"
)

// xrechnungRules are those that XRechnung 3.0, what German authorities take, adds to EN 16931.
func xrechnungRules() []rule {
	return []rule{
		present("BR-DE-1", "", "BG-16"), present("BR-DE-2", "", "BG-6"),
		must("BR-DE-3", "BG-5", "BT-37"), must("BR-DE-4", "BG-5", "BT-38"),
		must("BR-DE-5", "BG-6", "BT-41"), must("BR-DE-6", "BG-6", "BT-42"), must("BR-DE-7", "BG-6", "BT-43"),
		must("BR-DE-8", "BG-8", "BT-52"), must("BR-DE-9", "BG-8", "BT-53"),
		must("BR-DE-10", "BG-15", "BT-77"), must("BR-DE-11", "BG-15", "BT-78"),
		must("BR-DE-14", "BG-23", "BT-119"), must("BR-DE-15", "", "BT-10"),
		{id: "BR-DE-16", broken: lacksAnyTaxID},
		{id: "BR-DE-17", broken: func(a about) (string, string) {
			return unlessOneOf(a, "BT-3", "326", "380", "384", "389", "381", "875", "876", "877")
		}},
		{id: "BR-DE-18", broken: discountIsUnreadable},
		{id: "BR-DE-19", group: "BG-16", broken: func(a about) (string, string) { return accountIsWrong(a, "58", a.text("BT-84"), "BT-84") }},
		{id: "BR-DE-20", group: "BG-16", broken: func(a about) (string, string) {
			return accountIsWrong(a, "59", a.invoice().text("BT-91"), "BT-91")
		}},
		{id: "BR-DE-21", broken: func(a about) (string, string) {
			if id := a.text("BT-24"); !xrechnungID.MatchString(id) {
				return fmt.Sprintf("specification %s (BT-24) is not that of XRechnung 3.0", id), "BT-24"
			}
			return "", ""
		}},
		{id: "BR-DE-22", broken: attachmentsShareAName},
		{id: "BR-DE-23-a", group: "BG-16", broken: func(a about) (string, string) { return lacksItsMeans(a, "BG-17", "30", "58") }},
		{id: "BR-DE-24-a", group: "BG-16", broken: func(a about) (string, string) { return lacksItsMeans(a, "BG-18", "48", "54", "55") }},
		{id: "BR-DE-25-a", group: "BG-16", broken: func(a about) (string, string) {
			if a.text("BT-81") == "59" && !debits(a.invoice()) {
				return "a direct debit without a mandate (BT-89), creditor (BT-90) or account (BT-91)", ""
			}
			return "", ""
		}},
		{id: "BR-DE-26", broken: func(a about) (string, string) {
			if a.text("BT-3") == "384" && !a.states("BG-3") {
				return "a correction (384) that doesn't say of which invoice (BG-3)", "BG-3"
			}
			return "", ""
		}},
		unlike("BR-DE-27", "BT-42", threeDigits, "at least three digits"),
		unlike("BR-DE-28", "BT-43", mailAddress, "one @ and a domain behind it"),
		{id: "BR-DE-30", broken: func(a about) (string, string) {
			if debits(a) && !(a.states("BT-90") && (a.ubl || a.states("BT-89") || a.states("BT-91"))) {
				return "a direct debit needs the creditor's identifier (BT-90), and the mandate (BT-89)", "BT-90"
			}
			return "", ""
		}},
		{id: "BR-DE-31", broken: func(a about) (string, string) {
			if debits(a) && !(a.states("BT-91") && (a.ubl || a.states("BT-89") || a.states("BT-90"))) {
				return "a direct debit needs the account to be debited (BT-91), and the mandate (BT-89)", "BT-91"
			}
			return "", ""
		}},
	}
}

var (
	xrechnungID = regexp.MustCompile(`^urn:cen\.eu:en16931:2017#compliant#urn:xeinkauf\.de:kosit:xrechnung_3\.0(?:` +
		`#conformant#urn:xeinkauf\.de:kosit:extension:xrechnung_3\.0|#compliant#urn:xeinkauf\.de:kosit:xrechnung:cvd_.*)?$`)
	threeDigits = regexp.MustCompile(`(?:[0-9].*){3}`)
	mailAddress = regexp.MustCompile(`^[^@\s]+@(?:[^@.\s]+\.)+[^@.\s]+$`)
	// discountLine is a discount for paying early as programs read it, a line of the payment terms.
	discountLine = regexp.MustCompile(`^#SKONTO#TAGE=[0-9]+#PROZENT=[0-9]+\.[0-9]{2}(?:#BASISBETRAG=-?[0-9]+\.[0-9]{2})?#$`)
)

// unlike is a rule by which the contact's term has a certain shape.
func unlike(id, name string, shape *regexp.Regexp, is string) rule {
	return rule{id: id, group: "BG-6", broken: func(a about) (string, string) {
		if text := a.text(name); !shape.MatchString(text) {
			return fmt.Sprintf("%s %q (%s) hasn't %s", terms[name].name, text, name, is), ""
		}
		return "", ""
	}}
}

func lacksAnyTaxID(a about) (string, string) {
	if a.text("BT-31") != "" || a.text("BT-32") != "" || a.states("BG-11") {
		return "", ""
	}
	for _, c := range categories() {
		for _, w := range categorized {
			if c.parties != nobody && len(c.of(a, w.group, w.category)) > 0 {
				return "the seller has neither a VAT id (BT-31) nor a tax number (BT-32), nor a tax representative (BG-11)", "BT-31"
			}
		}
	}
	return "", ""
}

// discountIsUnreadable looks at the lines of the terms that begin as a discount does. Each ends with a line break.
func discountIsUnreadable(a about) (string, string) {
	for _, e := range a.each("BT-20") {
		lines := strings.SplitAfter(string(e.node.text), "\n")
		for _, line := range lines {
			trimmed := strings.TrimSpace(line)
			if !strings.HasPrefix(trimmed, "#") {
				continue
			}
			if !discountLine.MatchString(trimmed) || !strings.HasSuffix(line, "\n") {
				return fmt.Sprintf("discount %q in the payment terms (BT-20) is not as #SKONTO#TAGE=14#PROZENT=2.00# and a line break",
					trimmed), "BT-20"
			}
		}
		return "", "" // the first one alone
	}
	return "", ""
}

func accountIsWrong(a about, means, account, name string) (string, string) {
	if a.text("BT-81") != means || iban.Valid(account) {
		return "", ""
	}
	return fmt.Sprintf("account %q (%s) is no IBAN, which SEPA payments need", account, name), ""
}

func attachmentsShareAName(a about) (string, string) {
	seen := map[string]bool{}
	for _, document := range a.each("BG-24") {
		for _, file := range document.each("BT-125") {
			name := file.attr("filename")
			if seen[name] && name != "" {
				return fmt.Sprintf("two attachments (BT-125) are called %q", name), "BG-24"
			}
			seen[name] = true
		}
	}
	return "", ""
}

// lacksItsMeans says that payment instructions of one of some codes have not the group that goes with it.
func lacksItsMeans(a about, group string, codes ...string) (string, string) {
	if code := a.text("BT-81"); slices.Contains(codes, code) && !a.states(group) {
		return fmt.Sprintf("means of payment %s without a %s (%s)", code, terms[group].name, group), group
	}
	return "", ""
}

// debits reports whether an invoice states anything of a direct debit (BG-19).
func debits(a about) bool {
	return a.states("BT-89") || a.states("BT-90") && !a.ubl || a.states("BT-91")
}
