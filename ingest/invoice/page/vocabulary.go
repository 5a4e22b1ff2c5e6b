package page

import (
	"fmt"
	"strings"

	"tallyhouse/ingest/invoice/page/words"
)

// vocabulary is how invoices speak, compiled from the words of all languages.
// In its patterns "<section>" stands for the words of that section of the files
// in words/; en.txt says there what each section means.
type vocabulary struct {
	// What the document is.
	invoiceTitle, invoiceTitleAlone, titleAlone, titleTail *words.Pattern
	anyInvoiceTitle                                        *words.Pattern
	invoiceWord, invoicePart, creditTitle, copyMark        *words.Pattern
	correctionTitle, replacing, denied, certificate        *words.Pattern
	otherTitle, titleAboutInvoices, selfBilling, subject   *words.Pattern
	enclosure, sentAlong, noInvoice                        *words.Pattern
	reminderTitle, reminderSubject, offering               *words.Pattern

	// Numbers.
	numberLabels                        []label
	numberWords                         []string
	otherNumberBefore, otherNumberAfter *words.Pattern
	numberedThing, reference, referring *words.Pattern
	numberBehind, otherNumberBehind     *words.Pattern
	quoting                             *words.Pattern
	numberShape, phoneShape             *words.Pattern

	// Dates.
	dateLabels                                                        []label
	months                                                            map[string]int
	otherDate, otherDateAfter, bothDates, deliveryToo                 *words.Pattern
	beforeDate, placeAndDate, onDay, endsInPlace, dayBehindNumber     *words.Pattern
	yearFirst, yearLast, dayMonthWord, monthWordDay, compactDate      *words.Pattern
	yearMonthDay, yearDayMonth, dayAndMonth, monthAndYear, romanMonth *words.Pattern
	daysInWords                                                       map[string]int // by their letters
	americanCue, english                                              *words.Pattern

	// Terms of payment.
	dueLabels                                                                        []label
	earlyPayment, period, conditional, fullPayment, untilDate, fallsDue, or          *words.Pattern
	netTerms                                                                         []*words.Pattern
	openTerms, latePayment, paying, payingBack, daysCounted                          *words.Pattern
	fromReceipt                                                                      *words.Pattern
	deadlineAlone, fullBehind, verbEnd                                               *words.Pattern
	spanOfTime, numberInWords, onRequest, abbreviation                               *words.Pattern
	lastDay, lastDayBehind, debited, fromThen, firstTime, settled, would, askedToPay *words.Pattern
	nextBill, permit                                                                 *words.Pattern
	spans                                                                            map[string]unitOfTime // by the word for a week or month
	numbers                                                                          map[string]int        // by their words' letters

	// Sums.
	roles                                                                    []roleWording
	partOfTotal, rounded                                                     *words.Pattern
	anyTax, taxFollows, containedBefore, containedAfter, containedNet, noTax *words.Pattern
	zeroRate, netWord, contractSum, countedFrom, listHeading, withheld       *words.Pattern
	bareWithout, bareWith, bareRate                                          *words.Pattern
	prepayment, prepaidSum, prepaymentTitle                                  *words.Pattern
	itemHeading                                                              *words.Pattern
	currencyLabel, inCurrency                                                *words.Pattern
	nationalTax                                                              []nationalTax
	moms, mva                                                                *words.Pattern
	units                                                                    map[string]bool

	// Seller and buyer.
	sellerLabel, payeeLabel, sellerPhrase, buyerLabel, buyerWord             *words.Pattern
	fromWhom, toWhom                                                         *words.Pattern
	buyerPhrase, yours, sellers                                              *words.Pattern
	contact, contactLine, attention, honorific, onBehalf                     *words.Pattern
	legalForm, publicBody, branch, closing, ownHand                          *words.Pattern
	street, postalCity, townLine, department                                 *words.Pattern
	nameLabel, blockLabel                                                    *words.Pattern
	accountHolderLabel, accountHolderWord, bank                              *words.Pattern
	trade                                                                    *words.Pattern
	beforeName, owner, sentBy, belonging                                     *words.Pattern
	register, footMark, account, capital                                     *words.Pattern
	notAName, neverAName                                                     *words.Pattern
	ours                                                                     *words.Pattern
	givenNames                                                               map[string]bool
	vatLabel, businessNumber, taxNumberLabel, vatShape, idShape, digitsShape *words.Pattern
}

func newVocabulary() (*vocabulary, error) {
	w, err := words.Load()
	if err != nil {
		return nil, fmt.Errorf("loading words: %w", err)
	}
	v := &vocabulary{}
	v.addTitles(w)
	v.addNumbers(w)
	v.addDates(w)
	v.addTerms(w)
	v.addSums(w)
	v.addParties(w)
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("compiling words: %w", err)
	}
	return v, nil
}

func (v *vocabulary) addTitles(w *words.Words) {
	v.invoiceTitle = w.Compile(`^<invoice>`)
	v.anyInvoiceTitle = w.Compile(`^(?:\d{1,2}\. ?)?<*invoice>`)
	v.invoiceTitleAlone = w.Compile(`^(?:<*invoice>|<*credit note>)(?: vat)?(?: ?\([^)]*\))?$`)
	v.titleAlone = w.Compile(`^(?:<invoice>|<credit note>)$`)
	v.titleTail = w.Compile(`^[ :.]*(?:(?:<number>|#)[ :.#]*)?(?:[a-z]{0,5}[-/ ]?\d[\w./-]*(?: \d{2,4}){0,3})?[ .]*$`)
	v.invoiceWord = w.Any("invoice word")
	v.invoicePart = w.Compile(`<=invoice>`)
	v.copyMark = w.Compile(`^\W*<copy>\W*$`)
	v.creditTitle = w.Compile(`^\W*(?:<copy> )?<credit note>`)
	v.correctionTitle = w.Compile(`^\W*(?:<copy> )?<correction>`)
	v.denied = w.Any("not")
	v.replacing = w.Compile(`<replaces>.{1,40}<invoice word>`)
	v.selfBilling = w.Compile(`<self billing>|\(389\)`)                  // its code in UNTDID 1001
	const nth = `^\W*(?:\d{1,2} ?[a-z.~]{0,3} ?|(?:<copy>|<ordinal>) )?` // "2. Mahnung", "2e relance", "final reminder"
	v.otherTitle = w.Compile(nth + `(?:<other document>|<about invoices*>|<reminder*>)`)
	const andAnother = `(?: (?:<and>|&) (?:<ordinal> |\d{1,2}\. ?)?<reminder>)?` // "2. Mahnung und Kontoauszug"
	v.reminderTitle = w.Compile(nth + `<reminder>` + andAnother + `(?:$| ?[-:,/(|~]|[^.]*(?:<invoice word>|\d))|` +
		`[-:,/(|~] ?(?:<ordinal> |\d{1,2}\. ?)?<reminder>\W*$`)
	v.reminderSubject = w.Compile(`<reminder>|<unpaid>`)
	v.noInvoice = w.Any("no invoice")
	v.subject = w.Compile(`^\W*<subject>(?: ?: *| +)`)
	v.enclosure = w.Compile(`^\W*<enclosure>`)
	v.sentAlong = w.Any("sent along")
	v.offering, v.certificate = w.Any("offering"), w.Any("certificate")
	v.titleAboutInvoices = w.Compile(nth + `(?:<about invoices*>|<reminder*>)`)
}

func (v *vocabulary) addNumbers(w *words.Words) {
	v.numberLabels = []label{
		{pattern: w.Compile(`<invoice number>`), weight: 0.97, rule: numberLabel, below: true},
		{pattern: w.Compile(`(?:<number>|<reference>)[ .:]*(?:(?:<of>|de|del|della|di|do|du|da|van|za) )?(?:la |l')?<invoice>`), weight: 0.97,
			rule: numberLabel, below: true},
		{pattern: w.Compile(`<number in title>`), weight: 0.93, rule: titleNumber},
		{pattern: w.Compile(`(?:^|: ?)<invoice> [a-z' ]{1,40} <number>\b[ .:]*`), weight: 0.93, rule: titleNumber},
		{pattern: w.Compile(`(?:<*invoice>|<*credit note>)(?: ?\([^)]{1,60}\))+ ?(?:<number>|n[ro]?\b)`), weight: 0.93,
			rule: titleNumber},
		{pattern: w.Compile(`^<our> <invoice>[ .:]*$`), weight: 0.97, rule: numberLabel, below: true},
		{pattern: w.Compile(`<*invoice>|<*credit note>`), weight: 0.9, rule: titleBefore, below: true},
		{pattern: w.Compile(`(?:^|[|~] | - )(?:<number>|<plain number label>)[ .:#]*(?:no\b)?[ .:#]*`), weight: 0.81,
			rule: plainNumber, below: true},
		{pattern: w.Compile(`(?:^|/ ?)<our number>[ .:]*`), weight: 0.81, rule: plainNumber, below: true},
		{pattern: w.Compile(`(?:<quote>|<paying>)[^.;]*? <number>(?:[ .:]+|$)`), weight: 0.81, rule: plainNumber},
	}
	for _, word := range w.Entries("number") {
		v.numberWords = append(v.numberWords, foldText(word))
	}
	v.otherNumberBefore = w.Compile(`<other number>[ :.]*(?:<article>\.? ?)?$`)
	v.otherNumberBehind = w.Compile(`^[ .:]*[^ ]+ <other number behind>`)
	v.referring = w.Compile(`^(?:<reference>|<our>) <invoice>[ :.]*$`)
	v.reference = w.Compile(`^\W*<reference>[ :.]*$`)
	v.quoting = w.Any("quote")
	v.numberBehind = w.Compile(`[^ ]+[ .]+<number behind>`)
	v.numberedThing = w.Compile(`(?:<numbered thing>|<due>|<calendar week>)[ .:/#-]*(?:(?:<number>|<id>|code|ref)[ .:#-]*){0,2}$`)
	v.otherNumberAfter = w.Compile(`^\W{0,3}(?:<not the number>|a )`)
	v.numberShape = w.Compile(`^[\p{L}\p{N}][\p{L}\p{N}_./\\+*()#–-]*$`)
	v.phoneShape = w.Compile(`^\+?\d{2,}[-/ ]\d{3,}[-/ ]\d{3,}`)
}

func (v *vocabulary) addDates(w *words.Words) {
	v.dateLabels = []label{
		{pattern: w.Compile(`<issue date>`), weight: 0.97, rule: issueLabel, below: true},
		{pattern: w.Compile(`^<invoice of>`), weight: 0.91, rule: issueLabel, below: true},
		{pattern: w.Compile(`^<invoice>[a-z' -]{1,60}, `), weight: 0.93, rule: placeBefore}, // "Facture pour l'appartement, le 4 mai 2026"
		{pattern: w.Compile(`^[a-z][a-z .-]{2,30},? <day after place>`), weight: 0.93, rule: placeBefore},
		{pattern: w.Compile(`<date behind number>`), weight: 0.93, rule: behindTheNumber},
		{pattern: w.Compile(`^(?:[a-z]+ ?/ ?)?(?:<date>|<day>)|<date> ?:`), weight: 0.9, rule: "plain date label",
			below: true},
	}
	v.months = map[string]int{}
	for _, language := range w.Languages() {
		months := w.In(language, "months")
		if len(months) != 0 && len(months) != 12 {
			w.Fault(fmt.Errorf("language %s has %d months", language, len(months)))
		}
		for i, names := range months {
			for _, name := range strings.Fields(names) {
				v.months[foldText(name)] = i + 1
			}
		}
	}
	v.addDaysInWords(w)
	v.otherDate = w.Any("other date")
	v.otherDateAfter = w.Compile(`^\W{0,3}<not the date>`)
	v.bothDates = w.Compile(`<*delivery*>[- ]*(?:<and>|[/&=]) ?$`)
	v.deliveryToo = w.Compile(`^[- ]*(?:<and>|[/&=]) ?<*delivery*>`)
	v.beforeDate = w.Compile(`^<before a date>$`)
	v.dayBehindNumber = w.Compile(`<date behind number>$|\b(?:[a-z]{1,2}\. ?){1,2}$`) // "v.", "d. d.", whatever the language
	v.onDay = w.Compile(`(?:^| )<on> ?$`)
	v.placeAndDate = w.Compile(`^[a-z][a-z .()/'-]{1,40},? ?(?:,|<on>)? ?(?:<on> )?$`)
	v.endsInPlace = w.Compile(`, <day after place>$`)
	v.yearFirst = w.Compile(`\b((?:19|20)\d\d) ?([-/.]) ?(\d\d?) ?([-/.]) ?(\d\d?)\b`)
	v.yearLast = w.Compile(`\b(\d\d?) ?([-/.|~]) ?(\d\d?) ?([-/.|~]) ?((?:19|20)\d\d|\d\d)(?:\b|g\b)`) // "·" is folded to "~"
	v.dayMonthWord = w.Compile(`\b(\d\d?)(?:\.|er|st|nd|rd|th|o)?[ \-/.]{0,2}(?:de |di |of |do )?` +
		`([a-z]{3,12})\.?,?[ \-/.]{0,2}(?:de |del )?((?:19|20)\d\d|'?\d\d\b)`)
	v.romanMonth = w.Compile(`\b(\d\d?)(\.? ?)([ivx]{1,4})\b\.? ?((?:19|20)\d\d)\b`)
	v.compactDate = w.Compile(`\b(20\d\d)([01]\d)([0-3]\d)\b`)
	v.monthWordDay = w.Compile(`\b([a-z]{3,12})\.? (\d\d?)(?:st|nd|rd|th)? ?,? ?((?:19|20)\d\d)\b`)
	v.yearMonthDay = w.Compile(`\b((?:19|20)\d\d)\.?(?: m\.?)? ([a-z]{3,12})\.? (\d\d?)\b`)       // as in Hungary and Lithuania
	v.yearDayMonth = w.Compile(`\b((?:19|20)\d\d)\.? ?(?:gada|g\.?) (\d\d?)\.? ?([a-z]{3,12})\b`) // as in Latvia
	v.dayAndMonth = w.Compile(`\b(\d\d?)(?:\.|er|st|nd|rd|th|o)?[ \-/.]{0,2}(?:de |di |of )?([a-z]{3,12})\b`)
	v.english = w.AnyIn("en", "invoice word")
	v.americanCue = w.Compile(`\b[a-z]{2},? \d{5}(-\d{4})?$|\busa\b|united states|\bzip\b`)
}

// addDaysInWords adds the words for the days of a month. One that means another day in another language says nothing.
func (v *vocabulary) addDaysInWords(w *words.Words) {
	v.daysInWords = map[string]int{}
	for _, language := range w.Languages() {
		days := w.In(language, "day in words")
		if len(days) != 0 && len(days) != 31 {
			w.Fault(fmt.Errorf("language %s has words for %d days of a month", language, len(days)))
		}
		for i, day := range days {
			key := letters(fold([]rune(day)))
			if known := v.daysInWords[key]; known != 0 && known != i+1 {
				v.daysInWords[key] = -1
				continue
			}
			v.daysInWords[key] = i + 1
		}
	}
	v.monthAndYear = w.Compile(`\b([a-z]{3,12})\.?,? (?:de |del )?((?:19|20)\d\d)\b`)
}

func (v *vocabulary) addTerms(w *words.Words) {
	v.dueLabels = []label{
		{pattern: w.Compile(`<due>`), weight: 0.97, rule: dueLabel, below: true},
		{pattern: w.Compile(`<due each>`), weight: 0.97, rule: dueLabel, below: true, several: true},
		{pattern: w.Compile(`<pay until>`), weight: 0.93, rule: "pay until"},
	}
	v.earlyPayment = w.Any("early payment")
	v.or = w.Compile(`(?:^| )(?:<or>) `)
	v.firstTime = w.Compile(`<first time>(?: <until>)? ?$`)
	v.period = w.Any("from")
	v.conditional = w.Compile(`<conditional>|<debit offered>`)
	v.would = w.Any("conditional")
	v.fullPayment = w.Any("in full")
	v.deadlineAlone = w.Compile(`^\W*<deadline>[ :]*$`)
	v.fullBehind = w.Compile(`^[ ,:]*<in full>`)
	v.untilDate = w.Compile(`<until>(?: <until>)* $`)
	v.fallsDue = w.Compile(`^[ ,]*(?:<before due>[ ,]+)*<falls due*>`)
	v.netTerms = w.CompileEach("payment terms")
	v.paying, v.payingBack = w.Any("paying"), w.Any("paying back")
	v.daysCounted = w.Compile(`\b(\d{1,3}) ?<days>`)
	v.openTerms = w.Compile(`<open terms>|\d ?[/+] ?\d{2,3} ?<days>`)
	v.fromReceipt = w.Any("from receipt")
	v.latePayment = w.Any("late")
	v.nextBill = w.Compile(`^\W*(?:[a-z]{2,6} )?<next>`)
	v.permit = w.Any("permit")
	// "spätestens jedoch am", "bis Ende September (30.9.2026)"
	v.lastDay = w.Compile(`(?:<deadline>(?:,? [a-z]+,? <until>)?|<that is>)[ :]*(?:(?:[a-z]+ ){1,2}\()?$`)
	v.lastDayBehind = w.Compile(`^\.? ?<deadline behind>`)
	v.debited = w.Any("debited")
	v.verbEnd = w.Compile(` <end of a verb>$`)
	v.fromThen = w.Compile(`<from then>$`)
	v.settled, v.askedToPay = w.Any("already paid"), w.Any("asked to pay")
	v.abbreviation = w.Compile(`<abbreviation>\. `)
	v.onRequest = w.Any("on request")
	v.addSpans(w)
}

// addSpans adds the spans of time that terms are counted in.
func (v *vocabulary) addSpans(w *words.Words) {
	v.spans, v.numbers = map[string]unitOfTime{}, map[string]int{}
	for _, language := range w.Languages() {
		days := w.In(language, "days")
		weeks, months := w.In(language, "weeks"), w.In(language, "calendar months")
		if len(days) == 0 && len(weeks)+len(months) > 0 {
			w.Fault(fmt.Errorf("language %s has weeks or months and no days", language))
			continue
		}
		for _, week := range weeks {
			v.spans[foldText(week)] = unitOfTime{word: foldText(days[0])}
		}
		for _, month := range months {
			v.spans[foldText(month)] = unitOfTime{word: foldText(days[0]), months: true}
		}
	}
	var inWords []string
	for _, entry := range w.Entries("numbers") {
		figures, word, _ := strings.Cut(entry, " ")
		word = fold([]rune(word))
		v.numbers[letters(word)] = atoi(figures)
		inWords = append(inWords, strings.ReplaceAll(word, "~", "[ -]?"))
	}
	v.spanOfTime = w.Compile(`\b(\d{1,2}) ?(<weeks>|<calendar months>)`)
	v.numberInWords = w.Compile(`\b(` + strings.Join(inWords, "|") + `) (?:<days*>|<weeks>|<calendar months>)`)
}

// roleWording gives a role to labels by their words; weight orders roles that
// several labels claim: 3 says so plainly, 2 by custom, 1 at best.
type roleWording struct {
	pattern *words.Pattern
	role    role
	weight  int
}

// near stands between words of a label and those of a tax.
const near = `[a-z0-9 .,:%()]*`

func (v *vocabulary) addSums(w *words.Words) {
	const rate = `(?:\d+[.,]?\d* ?% ?)?`
	// "Im Gesamtbetrag enthaltene Lohnkosten", "of the total, labour included": a part of the invoice, with its own tax.
	v.partOfTotal = w.Compile(`(?:<*total>|<payable>|<gross>)[a-z ]*(?:<of which>|<contained>)`)
	// The first that matches decides.
	v.roles = []roleWording{
		{w.Any("not a sum"), roleNone, 0},
		{w.Any("rounding"), roleRounding, 3},
		{w.Any("already paid"), roleOther, 3},
		{w.Compile(`^\W*<payable>[a-z ]*<laid out>\W*$`), rolePayable, 2}, // "te betalen leges"
		{w.Any("laid out"), roleOther, 2},
		{w.Any("goods"), roleNet, 2},
		{w.Any("charge"), roleOther, 2},
		{w.Any("withheld"), roleOther, 2},
		{w.Compile(`<of which>.*<labour>|<labour>.*<contained>|\b35 ?a\b`), roleOther, 2}, // § 35a EStG
		{w.Compile(`<of which>` + near + `<tax>|<tax>` + near + `<contained>`), roleTaxWithin, 2},
		{v.partOfTotal, roleOther, 2},
		{w.Compile(`<with>\.? ?` + rate + `(?:<article>\.? ?)?<tax>|<tax>[ .,]*<inclusive>|<gross>`), roleGross, 3},
		{w.Compile(`<payable>[ ,:(]*<net>[ ):]*$`), roleNet, 2},                         // "verbleiben netto", "amount due, net"
		{w.Compile(`<payable>[ ,:(]*` + rate + `<tax>[ ):]*` + rate + `$`), roleTax, 2}, // "Restforderung MwSt 19 %"
		{w.Any("payable"), rolePayable, 2},
		{w.Compile(`<net>|<without>\.? ?(?:<article>\.? ?)?` + rate + `<tax>`), roleNet, 3},
		{w.Compile(`(?:<*total>|<*subtotal>|<sum>)[ .:]*<without>[\W]*$`), roleNet, 3}, // of tax: "Summe exkl."
		{w.Compile(`(?:<*total>|<*subtotal>|<sum>)[ .:]*<with>[\W]*$`), roleGross, 3},
		{w.Any("tax"), roleTax, 3},
		{w.Any("subtotal"), roleNet, 2},
		{w.Any("total"), roleGross, 2},
		{w.Compile(`^(?:\d{1,2}[.)] ?)?<sum>`), roleGross, 1},
	}
	v.rounded = w.Any("rounded")
	v.anyTax = w.Any("tax")
	// "Im Gesamtbetrag sind 200,00 € MwSt. enthalten", "dont 200,00 € de TVA".
	v.taxFollows = w.Compile(`^[ ~]*(?:eur|chf)? ?(?:<of> )?<tax>`)
	v.containedBefore = w.Compile(`(?:<of which>|<with>)\.?[ :(]*$`)
	v.containedNet = w.Compile(`(?:<of which>|<contained>)[ :(]*(?:<contained>[ :(]*)?<net>`)
	v.containedAfter = w.Compile(`^[ ~]*(?:eur|chf)? ?(?:<of> )?<tax>` + near + `(?:<contained>|<contained behind>)`)
	v.noTax = w.Any("no tax")
	v.zeroRate = w.Compile(`(?:^|[^\d.,])0(?:[.,]0+)? ?%`)
	v.netWord = w.Any("net")
	v.bareWithout = w.Compile(`^\W*<without>\W*$`)
	v.bareWith = w.Compile(`^\W*<with>\W*$`)
	v.bareRate = w.Compile(`^\W*\d{1,2}(?:[.,]\d{1,2})? ?%\W*$`)
	v.contractSum = w.Any("contract sum")
	v.countedFrom = w.Any("counted from")
	v.withheld = w.Any("withheld")
	v.prepayment = w.Compile(`^\W*<*prepayment*>`)
	v.prepaymentTitle = w.Any("prepayment invoice")
	v.prepaidSum = w.Compile(`^\W*<prepaid sum>\W*$`)
	v.itemHeading = w.Any("item heading")
	v.listHeading = w.Compile(`^\W*(?:<*invoice>|<*invoice word>|<invoice number>)\W*$`)
	for _, spoken := range nationalTaxes() {
		v.nationalTax = append(v.nationalTax, nationalTax{w.AnyIn(spoken.language, "tax"), spoken.currency})
	}
	v.moms, v.mva = w.AnyIn("da", "tax on crowns"), w.AnyIn("no", "tax on crowns")
	v.currencyLabel = w.Compile(`^<currency>`)
	v.inCurrency = w.Compile(`<in currency>$`)
	v.units = map[string]bool{}
	for _, unit := range w.Entries("units") {
		v.units[foldText(unit)] = true
	}
}

func (v *vocabulary) addParties(w *words.Words) {
	// "Buyer", "Buyer (invoice address):", "Buyer's name, address"
	const labelEnd = `(?:'?s?,? <name>(?:[,/ ]+[^ :,]+){0,2})?(?: ?[(/][^:]*)?\W*(?::|$)`
	// "Leistungserbringer | Supplier", "Supplier and carrier"
	v.payeeLabel = w.Compile(`^\W*<payee>` + labelEnd)
	v.sellerLabel = w.Compile(`^\W*<seller>(?: ?(?:[|~-]|<and>) ?<seller>| <and> [a-z]+)?` + labelEnd)
	v.fromWhom = w.Compile(`^<from whom>\W*$`)
	v.toWhom = w.Compile(`^(?:<for>|<buyer>)\W*$`)
	v.sellerPhrase = w.Compile(`^<sold by> `)
	v.buyerLabel = w.Compile(`^\W*<buyer>(?: ?[|~-] ?<buyer>)?` + labelEnd + `|^\W*<for> ?:`)
	v.yours = w.Compile(`<your>[ a-z-]*[-a-z. :#]*$`)
	v.sellers = w.Compile(`[ .:](?:<seller*>|<who supplies*>)[ .:]*$`)
	v.buyerPhrase = w.Compile(`^\W*<buyer>[ :]+[a-z]|^\W*<for> ?: ?[a-z]`)
	v.buyerWord = w.Any("buyer word")
	v.contact = w.Compile(`^\W*<contact>`)
	v.contactLine = w.Compile(`^\W*<contact>[^:]*: *[a-z\d]`)
	v.onBehalf = w.Any("on behalf")
	v.honorific = w.Compile(`^<honorific>\.? `)
	v.attention = w.Compile(`^<attention>`)
	// What is a word of other languages, as SIA, is a legal form beside a name in quotation marks, which are folded to "~", too.
	v.legalForm = w.Compile(`(?:^|[ ,.&])<=legal form>\.?(?:$|[ ,.)])|[a-z]{3}-<=legal form behind a hyphen>(?:$|[ ,.)])|` +
		`^<=legal form first> [a-z]|[a-z],? <=legal form first>$|` +
		`(?:^|[ ,(])<=legal form beside a quoted name> ?["~']|["~'],? ?<=legal form beside a quoted name>(?:$|[ ,.)])`)
	v.trade = w.Compile(`^(?:<trade>[ ,&]*)+$`)
	v.branch = w.Compile(`^<branch> [a-z]`)
	v.publicBody = w.Compile(`^<public body> [a-z]|[a-z] <ending of a public body>$`)
	v.closing = w.Compile(`^<closing>\W*$`)
	v.ownHand = w.Compile(`[ ,]+<own hand>\W*$`)
	v.street = w.Compile(`<=street>\.? ?\d|\d+[a-z]?,? <street behind number>|^<street first>` +
		`|^\d+[a-z]? [a-z]|[a-z]{4,} \d{1,4} ?[a-z]?(?:[/-]\d+)*$`)
	v.department = w.Compile(`^<department>`)
	v.postalCity = w.Compile(`(?:^|[ ,·•|~-])(?:[a-z]{1,2}[ -])?\d{4,5}(?: [a-z]{2})? +[a-z]{2}[a-z~.'() /-]+$` +
		`|\b[a-z]{2},? \d{5}(?:-\d{4})?$|\b[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}$` +
		`|\b\d{2}-\d{3} [a-z]+|^\d{4,5} [a-z]+|\b[a-z]+,? \d{5}\b`)
	v.townLine = w.Compile(`^[a-z][a-z .'-]+, [a-z]{2},? \d{5}`)
	v.beforeName = w.Compile(`^(?:<owner>|<before a name>)[ :.]+`)
	v.owner = w.Compile(`[ ,(]<owner>[ :.]+`)
	v.givenNames = words.GivenNames()
	v.belonging = w.Compile(`<belonging to> (?:<article>\.? )?`)
	v.sentBy = w.Compile(`<sent by> (?:<article>\.? )?`)
	v.nameLabel = w.Compile(`^<name>\s*:?\s*`)
	v.blockLabel = w.Compile(`^<block label>`)
	v.accountHolderLabel = w.Compile(`<account holder> ?: ?|^<account holder>$`)
	v.accountHolderWord = w.Compile(`\b<account holder> `)
	v.bank = w.Any("bank")
	v.register = w.Any("register")
	v.footMark = w.Compile(`<register>|\biban\b|\bhrb?\b|\bfn \d`)
	v.account = w.Any("account")
	v.capital = w.Compile(` <capital>`)
	v.notAName = w.Any("not a name")
	v.neverAName = w.Any("never a name")
	v.vatLabel = w.Compile(`<vat id>[. :/#-]*(?:(?:<id>|<vat id>)[. :/#-]*){0,4}`)
	v.taxNumberLabel = w.Compile(`<tax number>[. :]*`)
	v.ours = w.Compile(`<our>\W*$`)
	v.businessNumber = w.Compile(`<business number>[. :]*`)
	v.vatShape = w.Compile(vatShape)
	v.idShape = w.Compile(`^[ :.#-]*([a-z]{0,4}[ .-]?(?:\d[a-z\d .\-/]{5,18}\d[a-z]?\d?|[a-z]\d{7,8}[a-z]?))(?:$|[ .,;|)\]~·•-])`)
	v.digitsShape = w.Compile(`^[ :.#-]*(\d[\d /]{6,16}\d)|^[ a-z.]{0,50}(\d{2,4}/\d{3,4}/\d{4,5})`)
}
