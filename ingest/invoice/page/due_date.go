package page

import (
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/invoice/fields"
)

// dueLabels announce the day by which to pay.
var dueLabels = append(append(
	labels(0.97, "due label", true,
		`\bfallig(?:keit|keitsdatum|keitstag)?\b(?: am| per| bis| zum| seit)?`, `\bzahlungs(?:ziel|frist)\b`, `\bzahlbar (?:bis|am|per|netto bis|ohne abzug bis|ohne abschlag bis)(?: zum| spatestens)?\b`, `\bzahlungstermin\b`, `\bzu zahlen bis\b`, `\bvaluta\b`,
		`\b(?:payment )?due(?: date| on| by)?\b`, `\bdate due\b`, `\bpay(?:ment|able)? (?:by|until|before)\b`,
		`\b(?:date )?(?:d'|de )?echeance\b(?: (?:de paiement|de reglement))?(?: le| au)?`, `\bpaiement du (?:le|avant le|pour le)\b`, `\b(?:a payer|a regler|payable) (?:avant )?(?:le|au|jusqu'au|au plus tard le)\b`, `\bdate limite (?:de )?(?:paiement|reglement)\b`,
		`\b(?:data )?(?:di )?scadenza\b(?: (?:del |di )?(?:pagamento|fattura|il))?`, `\b(?:da )?pagare entro(?: il)?\b`, `\bscade il\b`,
		`\b(?:fecha (?:de )?)?vencimiento\b`, `\bfecha (?:limite )?de pago\b`, `\bvence(?: el)?\b`, `\bpagar antes del?\b`,
		`\bverval[ -]?datum\b`, `\b(?:te )?betalen voor\b`, `\btermin platnosci\b`, `\bforfald(?:sdato)?\b`, `\bforfallo?(?:sdag|datum)\b`, `\bsplatnost\w*\b`, `\bdata de vencimento\b`, `\bfizetesi hatarido\b`),
	labels(0.93, "pay until", false, `\bnetto(?:frist)? bis(?: zum)?\b`,
		`\b(?:uberweisen|bezahlen|begleichen|zahlen|einzahlen|zahlung|rechnungsbetrag)\b[a-z ,]{0,60}\bbis(?: spatestens)?(?: zum| zu| am)?\b`, `\bbis(?: spatestens)?(?: zum)\b`, `\bpay\b[a-z ,]{0,40}\b(?:by|before|until)\b`, `\b(?:payer|regler)\b[a-z ,']{0,40}\b(?:avant le|au plus tard le)\b`,
		`\bpagar[ei]?\b[a-z ,]{0,40}\b(?:entro il|antes del?)\b`)...),
	nil...)

// earlyPayment marks terms for paying early, whose date is not the due date.
var earlyPayment = compile(`skonto|discount|escompte|sconto|descuento|\d ?% ?(?:bei|with|innerhalb|within)`)

// period stands before the end of a period.
var period = compile(`\b(?:vom|von|zeitraum|from|du|dal|del)\b`)

// conditional marks what would happen under another way of paying.
var conditional = compile(`\bwurden? |\babbuchen|\bwould\b|\bserait\b|\bsaremmo\b`)

// due reads the due date: printed, or told by terms counted from the day of issue.
func (s *sheet) due(issued *fields.Text, day time.Time) *fields.Text {
	var all []candidate
	s.each(dueLabels, func(f found) {
		before := f.item.folded[:f.start]
		if f.label.rule == "pay until" && period.MatchString(before) {
			return
		}
		if earlyPayment.MatchString(sentence(before)) || conditional.MatchString(f.item.folded) || strings.Contains(before, "amount ") && strings.Trim(f.item.folded[f.end:], " :") == "" {
			return
		}
		for _, p := range s.places(f) {
			d, ok := dateAt(p.item, p.from)
			if !ok && p.item != f.item {
				if earlyPayment.MatchString(p.item.folded) || s.earlyRow(p.item) {
					continue
				}
				// A column headed "due" may hold words before the date.
				if r := s.columnDate(f.item, p.item); r != nil {
					d, ok = r.dates[0], true
					p.item = r
				}
			}
			if ok && p.item != f.item && s.earlyRow(p.item) {
				continue
			}
			if ok && untilEarly(p.item, d) {
				if d, ok = afterEarly(p.item, d); !ok {
					return
				}
			}
			if ok {
				if d, exists := d.in(s.order); exists {
					all = append(all, candidate{value: d.String(), key: d.String(), at: p.item, rule: f.label.rule, score: f.label.weight * p.near})
				}
				return
			}
			if p.item == f.item {
				return
			}
		}
	})
	all = append(all, s.dueBehindDates()...)
	if len(all) > 0 {
		best := all[0]
		for _, c := range all[1:] {
			if c.score > best.score+0.005 {
				best = c
			}
		}
		for _, c := range all {
			if c.key != best.key && c.score > best.score-0.02 {
				best.score -= 0.12
				break
			}
		}
		if d, err := time.Parse(time.DateOnly, best.value); err == nil && !day.IsZero() && (d.Before(day.AddDate(-1, 0, 0)) || d.After(day.AddDate(3, 0, 0))) {
			best.score -= 0.3
		}
		return &fields.Text{Value: best.value, Evidence: s.evidence(best.at, best.rule, best.score)}
	}
	if issued == nil || issued.Confidence < fields.Certain {
		return nil
	}
	return s.dueByTerms(day)
}

// untilEarly reports whether a date is the last day of a discount: "bis 24.04. mit
// 2 % Skonto".
func untilEarly(it *item, d date) bool {
	rest := it.folded[d.end:]
	if i := strings.IndexAny(rest, ",;"); i >= 0 {
		rest = rest[:i]
	}
	rest, _, _ = strings.Cut(rest, ". ")
	return earlyPayment.MatchString(rest)
}

var fullPayment = compile(`netto|ohne (?:abzug|skonto)|danach|sonst|\bnet\b|sans escompte|afterwards|in full`)

// afterEarly finds the day for the whole sum behind that of a discount.
func afterEarly(it *item, early date) (date, bool) {
	for _, d := range it.dates {
		if d.start > early.end && fullPayment.MatchString(it.folded[early.end:]) && !untilEarly(it, d) {
			return d, true
		}
	}
	return date{}, false
}

var (
	untilDate = compile(`\b(?:am|zum|per|bis|le|il|el)(?: spatestens| zum| am)* $`)
	thenDue   = compile(`^(?: ist| sind| ohne abzug| netto| auf unser konto| zur zahlung)* ?,?(?:(?:zur zahlung )?fallig|zahlbar|zu (?:be)?zahlen|zur zahlung|zu begleichen|zu uberweisen)`)
)

// dueBehindDates reads "am 15.04.2026 fällig", also when the line breaks before the word.
func (s *sheet) dueBehindDates() []candidate {
	var out []candidate
	for _, row := range s.rows {
		for _, it := range row {
			for _, d := range it.dates {
				rest := it.folded[d.end:]
				if strings.Trim(rest, " ") == "" {
					for _, below := range s.below(it, 1.6) {
						if absFloat(below.x0-it.x0) < 3 {
							rest = " " + below.folded
							break
						}
					}
				}
				before := it.folded[:d.start]
				if !untilDate.MatchString(before) || !thenDue.MatchString(rest) || conditional.MatchString(it.folded) || earlyPayment.MatchString(sentence(before)) || earlyPayment.MatchString(rest) {
					continue
				}
				if day, exists := d.in(s.order); exists {
					out = append(out, candidate{value: day.String(), key: day.String(), at: it, rule: "due behind the date", score: 0.93})
				}
			}
		}
	}
	return out
}

// sentence is the part of a text behind its last full stop or semicolon.
func sentence(s string) string {
	if i := strings.LastIndexAny(s, ";,"); i >= 0 {
		s = s[i:]
	}
	if i := strings.LastIndex(s, ". "); i >= 0 {
		s = s[i:]
	}
	return s
}

func (s *sheet) earlyRow(it *item) bool {
	for _, other := range s.rows[it.row] {
		if other.col < it.col && earlyPayment.MatchString(other.folded) {
			return true
		}
	}
	return false
}

func (s *sheet) columnDate(header, under *item) *item {
	for _, other := range s.rows[under.row] {
		if other != header && aligned(header, other) && len(other.dates) == 1 && other.dates[0].start == 0 && other.row > header.row {
			return other
		}
	}
	return nil
}

// netTerms are terms that count days from the day of issue.
var netTerms = []*pattern{
	compile(`\b(\d{1,3}) ?tage?n? ?(?:ohne abzug|netto|rein netto|ab rechnungs|nach rechnungs|nach erhalt|ab erhalt|zahlbar)`),
	compile(`\b(?:zahlbar|zahlung|zahlungsziel|zahlungsbedingung(?:en)?|netto|begleichen|uberweisen|uberweisung|bezahlen)\b[a-z ,:]{0,70}?(?:innerhalb(?: von)?|binnen|innert|in)? ?(\d{1,3}) ?tagen?\b`),
	compile(`\b(?:zahlungsziel|zahlungsfrist|zahlungsbedingung(?:en)?|(?:zahlungs)?konditionen?) ?:? ?(\d{1,3}) ?tage?\b`),
	compile(`\bnet ?(\d{1,3})(?: days)?\b`),
	compile(`\b(?:pay(?:ment|able)?s?|due|settle)\b[a-z ,:]{0,50}?\b(?:within|in|terms?:?) (\d{1,3}) ?(?:calendar )?days?\b`),
	compile(`\b(?:paiement|reglement|payable|echeance)\b[a-z ,:']{0,40}?\b(?:a|sous|dans(?: les)?) (\d{1,3}) ?jours?\b`),
	compile(`\b(\d{1,3}) ?jours ?(?:nets?|a reception|(?:de la |a )?date de (?:la )?facture|apres)`),
	compile(`\b(?:conditions|delai|modalites)(?: de (?:paiement|reglement))? ?: ?(\d{1,3}) ?jours?\b`),
	compile(`\b(\d{1,3}) ?(?:gg|giorni)\.? ?(?:d\.? ?f\b|data (?:fattura|documento|ft)|dalla data|netto)`),
	compile(`\b(?:pagamento|condizioni)\b[a-z ,']{0,30}: ?(\d{1,3}) ?(?:giorni|gg)\b`),
	compile(`\b(?:plazo|condiciones|forma) de pago ?:? ?(\d{1,3}) ?dias\b`),
	compile(`\bterms ?:? ?(\d{1,3}) ?days\b`),
	compile(`\b(?:pagamento|pagare|scadenza)\b[a-z ,:']{0,40}?\b(?:a|entro|in) (\d{1,3}) ?(?:giorni|gg)\b`),
	compile(`\b(?:pago|vencimiento|pagar)\b[a-z ,:']{0,40}?\b(?:a|en) (\d{1,3}) ?dias\b`),
	compile(`\b(?:betaling|betalen|betalingstermijn)\b[a-z ,:']{0,40}?\b(?:binnen|:) ?(\d{1,3}) ?dagen\b`),
}

// openTerms are terms whose day their wording does not settle: the end of a
// month, instalments.
var openTerms = compile(`fin (?:de |du |d')?m(?:oi)?(?:s|es)\b|fine mese|\bf\.? ?m\b|monatsende|end of (?:the )?month|\beom\b|\d ?[/+] ?\d{2,3} ?(?:tage|days|jours|gg|giorni|dias)|\b(?:raten|instal?ments|rate mensili)\b`)

// dueByTerms counts the days of terms such as "30 Tage netto". Several
// different terms say nothing certain.
func (s *sheet) dueByTerms(day time.Time) *fields.Text {
	var best *fields.Text
	days := -1
	for _, row := range s.rows {
		for _, it := range row {
			n := termDays(it.folded)
			if n < 0 || n > 365 {
				continue
			}
			if days >= 0 && n != days || openTerms.MatchString(it.folded) {
				return nil
			}
			days = n
			best = &fields.Text{Value: day.AddDate(0, 0, n).Format(time.DateOnly), Evidence: s.evidence(it, "payment terms", 0.88)}
		}
	}
	return best
}

var (
	weeks      = compile(`\b(\d{1,2}) ?(wochen?|weeks?|semaines?|settimane|semanas|weken)\b`)
	spelled    = compile(`\b(?:sieben|acht|zehn|vierzehn|dreis(?:s)?ig|sechzig|seven|ten|fourteen|thirty|sixty|huit|dix|quinze|trente|soixante|quindici|trenta|sessanta|quince|treinta|sesenta) (?:tag|day|jour|giorn|dia|calendar day|kalendertag)`)
	dayWords   = map[string]string{"woche": "tagen", "wochen": "tagen", "week": "days", "weeks": "days", "semaine": "jours", "semaines": "jours", "settimane": "giorni", "semanas": "dias", "weken": "dagen"}
	spelledOut = map[string]string{
		"sieben": "7", "acht": "8", "zehn": "10", "vierzehn": "14", "dreissig": "30", "dreisig": "30", "sechzig": "60", "seven": "7", "ten": "10", "fourteen": "14", "thirty": "30", "sixty": "60",
		"huit": "8", "dix": "10", "quinze": "15", "trente": "30", "soixante": "60", "quindici": "15", "trenta": "30", "sessanta": "60", "quince": "15", "treinta": "30", "sesenta": "60",
	}
)

// inDays writes terms with their days in figures.
func inDays(folded string) string {
	if m := weeks.FindStringSubmatchIndex(folded); m != nil {
		folded = folded[:m[0]] + strconv.Itoa(7*atoi(folded[m[2]:m[3]])) + " " + dayWords[folded[m[4]:m[5]]] + folded[m[1]:]
	}
	if m := spelled.FindStringIndex(folded); m != nil {
		word, _, _ := strings.Cut(folded[m[0]:m[1]], " ")
		folded = folded[:m[0]] + spelledOut[word] + folded[m[0]+len(word):]
	}
	return folded
}

// termDays returns the days that a text gives for paying in full, -1 when none.
func termDays(folded string) int {
	days := -1
	for part := range strings.SplitSeq(strings.NewReplacer(";", "\n", ". ", "\n", ", ", "\n").Replace(inDays(folded)), "\n") {
		if earlyPayment.MatchString(part) && !strings.Contains(part, "netto") && !strings.Contains(part, "net ") {
			continue
		}
		for _, re := range netTerms {
			if m := re.FindStringSubmatch(part); m != nil && !strings.Contains(part, "verzug") && !strings.Contains(part, "late") {
				if n := atoi(m[1]); n > days {
					days = n
				}
				break
			}
		}
	}
	return days
}
