package einvoice

import (
	"fmt"
	"strings"
)

// documentRules are those of EN 16931 on what an invoice states, less its sums and taxes.
func documentRules() []rule {
	return []rule{
		must("BR-01", "", "BT-24"), must("BR-02", "", "BT-1"), must("BR-03", "", "BT-2"), must("BR-04", "", "BT-3"),
		must("BR-05", "", "BT-5"), must("BR-06", "", "BT-27"), must("BR-07", "", "BT-44"),
		present("BR-08", "", "BG-5"), must("BR-09", "BG-5", "BT-40"),
		present("BR-10", "", "BG-8"), must("BR-11", "BG-8", "BT-55"),
		present("BR-12", "", "BT-106"), present("BR-13", "", "BT-109"), present("BR-14", "", "BT-112"),
		present("BR-15", "", "BT-115"), present("BR-16", "", "BG-25"),
		{id: "BR-17", group: "BG-10", broken: payeeIsAnother},
		must("BR-18", "BG-11", "BT-62"), present("BR-19", "BG-11", "BG-12"), must("BR-20", "BG-11", "BT-69"),
		must("BR-56", "BG-11", "BT-63"),
		must("BR-21", "BG-25", "BT-126"), present("BR-22", "BG-25", "BT-129"), present("BR-23", "BG-25", "BT-130"),
		present("BR-24", "BG-25", "BT-131"), must("BR-25", "BG-25", "BT-153"), present("BR-26", "BG-25", "BT-146"),
		notNegative("BR-27", "BT-146"), notNegative("BR-28", "BT-148"),
		{id: "BR-29", group: "BG-14", broken: endsBeforeItBegins}, {id: "BR-30", group: "BG-26", broken: endsBeforeItBegins},
		{id: "BR-CO-19", group: "BG-14", broken: isEmptyPeriod}, {id: "BR-CO-20", group: "BG-26", broken: isEmptyPeriod},
		present("BR-31", "BG-20", "BT-92"), present("BR-32", "BG-20", "BT-95"), present("BR-33", "BG-20", "BT-97"),
		present("BR-36", "BG-21", "BT-92"), present("BR-37", "BG-21", "BT-95"), present("BR-38", "BG-21", "BT-97"),
		present("BR-41", "BG-27", "BT-92"), present("BR-42", "BG-27", "BT-97"),
		present("BR-43", "BG-28", "BT-92"), present("BR-44", "BG-28", "BT-97"),
		present("BR-49", "BG-16", "BT-81"),
		{id: "BR-51", group: "BG-16", broken: showsWholeCard},
		must("BR-52", "BG-24", "BT-122"),
		{id: "BR-53", broken: lacksTaxInItsCurrency},
		present("BR-54", "BG-32", "BT-160"), present("BR-54", "BG-32", "BT-161"),
		must("BR-55", "BG-3", "BT-25"), must("BR-57", "BG-15", "BT-80"),
		{id: "BR-61", group: "BG-16", broken: transfersToNoAccount},
		qualified("BR-62", "", "BT-34", "schemeID"), qualified("BR-63", "", "BT-49", "schemeID"),
		qualified("BR-64", "BG-25", "BT-157", "schemeID"), qualified("BR-65", "BG-25", "BT-158", "listID"),
		{id: "BR-CO-03", broken: func(a about) (string, string) {
			if a.states("BT-7") && a.states("BT-8") {
				return "both a tax point date (BT-7) and a code of it (BT-8)", "BT-8"
			}
			return "", ""
		}},
		{id: "BR-CO-25", broken: func(a about) (string, string) {
			if v := a.number("BT-115"); v != nil && v.Sign() > 0 && !a.states("BT-9") && !a.states("BT-20") {
				return "something is to be paid, but neither a due date (BT-9) nor terms (BT-20) say when", "BT-9"
			}
			return "", ""
		}},
		{id: "BR-CO-26", broken: func(a about) (string, string) {
			if !a.states("BT-29") && !a.states("BT-30") && !a.states("BT-31") {
				return "the seller has no identifier (BT-29), registration (BT-30) or VAT id (BT-31)", "BT-31"
			}
			return "", ""
		}},
		twoDecimals("BR-DEC-01", "BG-20", "BT-92"), twoDecimals("BR-DEC-02", "BG-20", "BT-93"),
		twoDecimals("BR-DEC-05", "BG-21", "BT-92"), twoDecimals("BR-DEC-06", "BG-21", "BT-93"),
		twoDecimals("BR-DEC-09", "", "BT-106"), twoDecimals("BR-DEC-10", "", "BT-107"), twoDecimals("BR-DEC-11", "", "BT-108"),
		twoDecimals("BR-DEC-12", "", "BT-109"), twoDecimals("BR-DEC-14", "", "BT-112"),
		twoDecimals("BR-DEC-16", "", "BT-113"), twoDecimals("BR-DEC-17", "", "BT-114"), twoDecimals("BR-DEC-18", "", "BT-115"),
		twoDecimals("BR-DEC-19", "BG-23", "BT-116"), twoDecimals("BR-DEC-20", "BG-23", "BT-117"),
		twoDecimals("BR-DEC-23", "BG-25", "BT-131"),
		twoDecimals("BR-DEC-24", "BG-27", "BT-92"), twoDecimals("BR-DEC-25", "BG-27", "BT-93"),
		twoDecimals("BR-DEC-27", "BG-28", "BT-92"), twoDecimals("BR-DEC-28", "BG-28", "BT-93"),
	}
}

func payeeIsAnother(a about) (string, string) {
	switch name := a.text("BT-59"); {
	case !a.states("BT-59"):
		return "no payee's name (BT-59)", "BT-59"
	case name == a.invoice().text("BT-27"):
		return fmt.Sprintf("the payee %s is the seller himself: leave the payee out", name), "BT-59"
	}
	return "", ""
}

func notNegative(id, name string) rule {
	return rule{id: id, group: "BG-25", fatal: true, broken: func(a about) (string, string) {
		if v := a.number(name); v != nil && v.Sign() < 0 {
			return fmt.Sprintf("%s %s (%s) is negative: negate the quantity instead", terms[name].name, a.text(name), name), name
		}
		return "", ""
	}}
}

func endsBeforeItBegins(a about) (string, string) {
	begins, ends := a.days("BT-73"), a.days("BT-74")
	switch {
	case len(begins) == 0 || len(ends) == 0:
		return "", ""
	case begins[0] == "" || ends[0] == "":
		return "its beginning or its end is no date, or not in its format", "BT-74"
	case ends[0] < begins[0]:
		return fmt.Sprintf("it ends on %s, before it begins on %s", ends[0], begins[0]), "BT-74"
	}
	return "", ""
}

// days are the values of a term that is a date; CII has the day in an element of its own, in the format 102.
func (a about) days(name string) []string {
	if a.ubl {
		return a.texts(name)
	}
	var days []string
	for _, e := range a.each(name) {
		days = append(days, strings.Join(e.values("DateTimeString[@format=102]"), ""))
	}
	return days
}

func isEmptyPeriod(a about) (string, string) {
	if !a.states("BT-73") && !a.states("BT-74") && len(a.find("DescriptionCode")) == 0 {
		return "neither its beginning nor its end is stated", ""
	}
	return "", ""
}

// showsWholeCard: at most the first six and the last four digits of a card may be shown.
func showsWholeCard(a about) (string, string) {
	const most = 10
	if len(a.text("BT-87")) > most {
		return "the number of the payment card (BT-87) may show its first six and last four digits at most", "BT-87"
	}
	return "", ""
}

// creditTransfer are the codes of UNTDID 4461 of a transfer to an account.
func creditTransfer(code string) bool { return code == "30" || code == "58" }

func transfersToNoAccount(a about) (string, string) {
	if creditTransfer(a.text("BT-81")) && a.text("BT-84") == "" {
		return "a credit transfer without the number of an account (BT-84)", "BT-84"
	}
	return "", ""
}

func lacksTaxInItsCurrency(a about) (string, string) {
	if !a.states("BT-6") {
		return "", ""
	}
	currency := a.text("BT-6")
	for _, e := range a.each("BT-110") {
		if strings.EqualFold(e.attr("currencyID"), currency) {
			return "", ""
		}
	}
	return fmt.Sprintf("the tax is accounted for in %s (BT-6), but no total is in it (BT-111)", currency), "BT-110"
}
