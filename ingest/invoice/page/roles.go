package page

// role is what a labelled sum of money is on an invoice.
type role int

const (
	roleNone      role = iota
	roleOther          // prepayments, discounts, charges, balances brought forward
	roleNet            // the sum before tax
	roleTax            // tax, of one rate or in all
	roleTaxWithin      // tax that the gross sum contains: "davon MwSt."
	roleGross          // the sum with tax
	rolePayable        // what is left to pay, after prepayments
	roleRounding       // Swiss rounding
)

// wording gives a role to a label by its folded text; weight orders roles that
// several labels claim: 3 says so plainly, 2 by custom, 1 at best.
type wording struct {
	pattern *pattern
	role    role
	weight  int
}

const taxWord = `(?:mwst|mw-?st|m\.?w\.?st|ust\b|u\.?st\b|umsatzsteuer|mehrwertsteuer|[a-z]*steuer\b|steuern\b|steuerbetrag|vat\b|v\.a\.t|t\.?v\.?a\b|iva\b|i\.v\.a|btw\b|tax(?:es)?\b|gst\b|hst\b|pst\b|qst\b|tvq\b|tps\b|igic\b|moms\b|dph\b|afa\b|podatk\w*|podatek|impuestos?|imposta|iva:)`

// wordings are looked at in order; the first that matches decides.
var wordings = []wording{
	// Identifiers and rates that carry the words of taxes.
	{compile(`id-?nr|-id\b|\bid\b|identifikation|registr|intracom|nummer\b|number\b|\biban\b|steuersatz|tax rate\b|\bbtw %$|steuernr|\bp\.? ?iva\b[ :]*(?:it)?\d|quantity|menge|preis\b|price`), roleNone, 0},
	{compile(`rundung|rounding|arrondi|arrotond|redondeo|afronding`), roleRounding, 3},
	{compile(`anzahlung|akonto|acompte|acconto|anticip|deposit|prepaid|prepayment|vorauszahlung|abschlagszahlung|bezahlt|\bpaid\b|\bpayments?\b(?: received| made)|erhalten|geleistet|guthaben|deja (?:paye|verse|regle)|versement|pagado|pagato|betaald|previous|vortrag|ubertrag|carried|brought|report\b|unpaid|ausstehend|offene forderung|alter saldo|saldo precedente`), roleOther, 3},
	{compile(`ortstaxe|kurtaxe|beherbergungs|(?:tourist|city|occupancy) tax|taxe de sejour|tassa di soggiorno|auslagen|durchlaufende|debours|disbursement|spese anticipate|suplidos`), roleOther, 2},
	{compile(`(?:warenwert|wert der waren|positions?summe|goods|merce|marchandises?|mercanc[a-z]+|lieferungen|leistungen),? \(?(?:netto|net|ht|exkl|excl)|^(?:gesamt|total[ei]?|summe|somma|suma) (?:der |des |of |di |de )?(?:ware|waren|goods|merc[ei]|marchandises?|mercancias?|beni|items|articles)$`), roleNet, 2},
	{compile(`skonto|rabatt|discount|remise|rabais|sconto|descuento|korting|nachlass|abschlag|abschlage|zuschlag|zuschlage|allowance|charges?\b|versand|fracht|shipping|\bporto\b|freight|delivery|livraison|spedizione|transporte|mahngebuhr|fee\b|eco-?part|frais|escompte|pfand|verpackung|tip\b|trinkgeld|bonus|positions?summe|warenwert|retention|retenue|irpf|ritenuta|bollo|cassa`), roleOther, 2},
	{compile(`(?:davon|darin|enthalt\w*|enthaltene\w*|of which|dont|di cui|de los cuales|hiervan|inbegriffen|includes?|^inkl\w*\.?|^incl\w*\.?)[a-z0-9 .,:%()]*` + taxWord), roleTaxWithin, 2},
	{compile(taxWord + `[a-z0-9 .,:%()]*(?:enthalten|inbegriffen|included\b)`), roleTaxWithin, 2},
	{compile(`(?:inkl|incl|inclu|inklus|incluid|compris|compresa|einschl|with|mit|including|con)\w*\.? ?(?:\d+[.,]?\d* ?% ?)?(?:gesetzl\w*\.? ?|der |the |la |l')?` + taxWord + `|` + taxWord + `[ .,]*(?:inkl|incl|inclu|compris|inclus)|\bttc\b|t\.t\.c|toutes taxes|brutt?o|iva incluid|ivato|incl\.? btw|przed|inc\.? vat|ati\b`), roleGross, 3},
	{compile(`net(?:to)? (?:a|to|ter|a') ?(?:payer|pay|pagare|betalen)|zahlbetrag|restbetrag|restsumme|restschuld|amount (?:due|payable|outstanding|owed|to pay)|balance|\bdue\b(?: now)?$|amount due|offener? (?:betrag|rechnungsbetrag)|(?:a|reste a|restant a|total a) payer|a pagar|da pagare|saldo|zu (?:be)?zahlen|noch zu|zahllast|verbleib|do zaplaty|te betalen|total due|to be paid|total to pay|pay this|still due|auszahlungs|uberweisungsbetrag|reglement|att betala|at betale|a betale`), rolePayable, 2},
	{compile(`netto|\bnet\b|\bht\b|h\.t\.|hors (?:taxe|tva)|imponibile|base imponible|\bbase\b|taxable|(?:ohne|exkl\w*\.?|excl\w*\.?|\bex\b\.?|exclusief|exclusive of|excluding|vor|before|without|sin|senza|sans) ?(?:der |gesetzl\w*\.? ?|\d+[.,]?\d* ?% ?|impuestos? ?)?` + taxWord + `|neto\b|bemessung|steuerbasis|basisbetrag|grondslag|grundlag|warenwert|steuerpflichtig|entgelt|\bvatable|bez vat|zaklad`), roleNet, 3},
	{compile(taxWord + `|versicherungsteuer`), roleTax, 3},
	{compile(`sub-? ?total|zwischensumme|zwischentotal|sous-? ?total|subtotale|subtotaal|subsuma|delsumma`), roleNet, 2},
	{compile(`rechnungsbeitrag|gesamt(?:beitrag|betrag|summe|preis|rechnungsbetrag)?|rechnungs(?:betrag|summe|endbetrag|total)|endbetrag|endsumme|schlussbetrag|total(?:e|t|betrag|summe)?\b|totaal|grand total|invoice (?:total|amount|value)|montant (?:total|de la facture|du)|importe total|summa\b|razem|ogolem|celkem|fakturabelob|kwota naleznosci|gross\b|factuurbedrag|suma\b|osszesen|belob|montant a`), roleGross, 2},
	{compile(`^(?:summe|betrag|amount|importe|importo|montant|summe gesamt|kosten|bedrag|kwota)\b`), roleGross, 1},
}

// roleOf returns what a label names; the amounts in it do not count.
func roleOf(folded string) (role, int) {
	for _, w := range wordings {
		if w.pattern.MatchString(folded) {
			return w.role, w.weight
		}
	}
	return roleNone, 0
}
