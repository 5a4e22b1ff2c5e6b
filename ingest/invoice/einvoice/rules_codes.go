package einvoice

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

// codeRules are those of EN 16931 on codes whose lists are short, or known to a library: types, currencies, countries, payment means,
// categories of VAT, kinds of attachments.
func codeRules() []rule {
	vat := []string{"AE", "L", "M", "E", "S", "Z", "G", "O", "K", "B"}
	rules := []rule{
		{id: "BR-CL-01", broken: func(a about) (string, string) {
			if code := a.text("BT-3"); a.states("BT-3") && !invoiceType(code) {
				return fmt.Sprintf("type code %q is none of invoices", code), "BT-3"
			}
			return "", ""
		}},
		{id: "BR-CL-03", broken: amountInNoCurrency},
		coded("BR-CL-04", "", "BT-5", "currency of ISO 4217", isCurrency), coded("BR-CL-05", "", "BT-6", "currency of ISO 4217", isCurrency),
		coded("BR-CL-15", "BG-25", "BT-159", "country of ISO 3166", isCountry),
		coded("BR-CL-16", "BG-16", "BT-81", "means of payment of UNTDID 4461", isPaymentMeans),
		{id: "BR-CL-24", broken: attachmentIsOfAnotherKind},
	}
	for _, w := range []struct{ group, name string }{{"BG-5", "BT-40"}, {"BG-8", "BT-55"}, {"BG-11", "BT-69"}, {"BG-15", "BT-80"}} {
		rules = append(rules, coded("BR-CL-14", w.group, w.name, "country of ISO 3166", isCountry))
	}
	isVAT := func(code string) bool { return slices.Contains(vat, code) }
	for _, group := range []string{"BG-20", "BG-21"} {
		rules = append(rules, coded("BR-CL-17", group, "BT-95", "category of VAT", isVAT))
	}
	rules = append(rules, coded("BR-CL-18", "BG-25", "BT-151", "category of VAT", isVAT))
	// The validators count the breakdown to lines in CII, to allowances in UBL.
	for _, syntax := range []struct {
		id  string
		ubl bool
	}{{"BR-CL-17", true}, {"BR-CL-18", false}} {
		breakdown := coded(syntax.id, "BG-23", "BT-118", "category of VAT", isVAT)
		rules = append(rules, rule{id: syntax.id, group: "BG-23", broken: func(a about) (string, string) {
			if a.ubl != syntax.ubl {
				return "", ""
			}
			return breakdown.broken(a)
		}})
	}
	for _, w := range []struct{ group, name string }{{"", "BT-31"}, {"", "BT-48"}, {"BG-11", "BT-63"}} {
		rules = append(rules, rule{id: "BR-CO-09", group: w.group, fatal: true, broken: func(a about) (string, string) {
			for _, id := range a.texts(w.name) {
				if len(id) < 2 || !isCountry(id[:2]) && id[:2] != "EL" {
					return fmt.Sprintf("%s %q (%s) doesn't begin with the code of a country", terms[w.name].name, id, w.name), w.name
				}
			}
			return "", ""
		}})
	}
	return rules
}

// coded is a rule by which a code that is stated is one of a list.
func coded(id, group, name, of string, known func(string) bool) rule {
	return rule{id: id, group: group, broken: func(a about) (string, string) {
		for _, code := range a.texts(name) {
			if !known(code) {
				return fmt.Sprintf("%s %q (%s) is no %s", terms[name].name, code, name, of), name
			}
		}
		return "", ""
	}}
}

func unlessOneOf(a about, name string, codes ...string) (string, string) {
	if code := a.text(name); !slices.Contains(codes, code) {
		return fmt.Sprintf("%s %q (%s) is none of %s", terms[name].name, code, name, strings.Join(codes, ", ")), name
	}
	return "", ""
}

func isCurrency(code string) bool {
	_, err := currency.ParseISO(code)
	return err == nil && strings.ToUpper(code) == code
}

// amountInNoCurrency looks at whatever says in which currency it is, as each amount of UBL has to.
func amountInNoCurrency(a about) (string, string) {
	mustSay := a.has("currencyID") || a.ubl && strings.HasSuffix(a.name.Local, "Amount")
	if code := a.attr("currencyID"); mustSay && !isCurrency(code) {
		return fmt.Sprintf("%s %s is in %q, which is no currency of ISO 4217", a.name.Local, a.value(), code), ""
	}
	for _, c := range a.children {
		if what, _ := amountInNoCurrency(about{c, a.root, a.ubl}); what != "" {
			return what, ""
		}
	}
	return "", ""
}

// isCountry knows the codes of ISO 3166-1, Northern Ireland's and Kosovo's, which invoices use besides.
func isCountry(code string) bool {
	if code == "XI" || code == "1A" {
		return true
	}
	region, err := language.ParseRegion(code)
	return err == nil && region.IsCountry() && region.String() == code && code != "XK"
}

// isPaymentMeans knows UNTDID 4461, whose codes are numbers, with gaps.
func isPaymentMeans(code string) bool {
	if code == "ZZZ" {
		return true
	}
	n := 0
	if _, err := fmt.Sscanf(code, "%d", &n); err != nil || fmt.Sprint(n) != code {
		return false
	}
	return n >= 1 && n <= 70 || n >= 74 && n <= 78 || n >= 91 && n <= 98
}

func attachmentIsOfAnotherKind(a about) (string, string) {
	kinds := []string{"application/pdf", "image/png", "image/jpeg", "text/csv",
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "application/vnd.oasis.opendocument.spreadsheet"}
	for _, document := range a.each("BG-24") {
		for _, file := range document.each("BT-125") {
			if kind := file.attr("mimeCode"); file.has("mimeCode") && !slices.Contains(kinds, kind) {
				return fmt.Sprintf("an attachment (BT-125) of the kind %q, which invoices may not have", kind), "BG-24"
			}
		}
	}
	return "", ""
}
