package page

import (
	"strings"
)

// Own names the company that receives the invoices: never the supplier.
type Own struct {
	Names  []string
	VATIDs []string
}

func (o Own) isName(name string) bool {
	n := compact(foldText(name))
	for _, own := range o.Names {
		c := compact(foldText(own))
		if len(c) >= 4 && n != "" && (strings.Contains(n, c) || len(n) >= 5 && strings.Contains(c, n)) {
			return true
		}
	}
	return false
}

func (o Own) isID(id string) bool {
	for _, own := range o.VATIDs {
		if compact(own) != "" && (compact(own) == compact(id) || strings.HasSuffix(compact(own), compact(id)) && len(compact(id)) >= 8) {
			return true
		}
	}
	return false
}

var (
	sellerLabel = compile(`^\W*(?:verkaufer|(?:konto|compte|conto|account) ?/ ?(?:zahlbar an|payable a|pagabile a|payable to)|zahlbar an|rechnungssteller|rechnungsaussteller|leistungserbringer|lieferant|absender|aussteller|seller|supplier|vendor|invoice from|bill from|billed from|from|sold by|payable to|issued by|issuer|service provider|vendeur|emetteur|fournisseur|emis par|prestataire|fornitore|cedente(?: prestatore)?|venditore|emittente|proveedor|emisor|vendedor|sprzedawca|wystawca|leverancier|verkoper|dodavatel|saljare|fatturato da|remetente|prestador)\b(?: ?[(/][^:]*)?\W*(?::|$)`)
	buyerLabel  = compile(`^\W*(?:kaufer(?:/leistungsempfanger)?|zahlbar durch|payable par|pagabile da|payable by|leistungsempfanger|rechnungsempfanger|rechnungsadresse|rechnungsanschrift|rechnung an|kunden?(?:daten|adresse|anschrift)?|auftraggeber|empfanger|an|buyer|customer|client|bill(?:ed|ing)? ?to|invoice(?:d)? to|invoice address|billing address|sold to|sell to|ship(?:ped|ping)? ?(?:to|address)|deliver(?:y)? (?:to|address)|service address|attention|attn|to|acheteur|destinataire|vos (?:identifiants|references|coordonnees)|ihre angaben|your (?:references?|details)|facture a|facturer a|adresse de facturation|adresse de livraison|livre a|livraison|delivery address|a l'attention de|acquirente|cliente|cessionario(?: committente)?|destinatario|spett(?:\.?le|abile)?|fatturare a|intestatario|comprador|facturar a|datos del cliente|destinatari[oa]|nabywca|odbiorca|podmiot inny|factuuradres|afleveradres|klant|koper|odberatel|lieferadresse|lieferanschrift|warenempfanger|abweichender \w+|steuerbevollmachtigter[a-z ]*|zahlungsempfanger|bezug|referenz|riferimento|your details|contact|kontaktperson.*|ansprechpartner|buyer/recipient|representant fiscal|consignee|recipient|payer|remit to|mitteilung|bemerkung(?:en)?|bill-to|ship-to)\b(?: ?[(/][^:]*)?\W*(?::|$)`)
	buyerWord   = compile(`\b(?:ihre?|ihrer|kunde|kunden|kaufer|customer|client|cliente|buyer|your|votre|vos|vostra|su nif|uw|nabywc\w*|acheteur|acquirente|comprador|bill to|empfanger|klant|destinatario)\b`)
	legalForm   = compile(`(?:^|[ ,.&])(?:g\.?m\.?b\.?h|ges\.?m\.?b\.?h\.?|gesmbh|mbh|ag|kg|kgaa|og|ohg|e\.? ?u|e\.? ?k|ek|ug|gbr|e\.? ?v|a\.? ?g|eg|egen|se|genossenschaft|stiftung|ltd|limited|llc|l\.l\.c|llp|lp|inc|incorporated|corp|corporation|company|plc|pty|pte|pvt|s\.?a|s\.?a\.?s|sasu|s\.?a\.?r\.?l|eurl|snc|sci|s\.?n\.?c|s\.?c|s\.?p\.?a|s\.?r\.?l|s\.?r\.?l\.?s|s\.?a\.?s|s\.?l|s\.?l\.?u|s\.?c\.?p|b\.? ?v|n\.? ?v|vof|sp\. ?z ?o\.? ?o|s\. ?c|oy|ab|a/s|aps|as|d\.?o\.?o|s\.?r\.?o|kft|zrt|lda|sarl|gmbh & co\.? kg|co\.? kg|ev|bvba|bv|nv)\.?(?:$|[ ,.)])`)
	postalCity  = compile(`(?:^|[ ,·•|~-])(?:[a-z]{1,2}[ -])?\d{4,5}(?: [a-z]{2})? +[a-z]{2}[a-z~.'() /-]+$|\b[a-z]{2},? \d{5}(?:-\d{4})?$|\b[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}$|\b\d{2}-\d{3} [a-z]+|^\d{4,5} [a-z]+|\b[a-z]+,? \d{5}\b`)
	streetLike  = compile(`(?:stra(?:s|ss)?e|str\.?|gasse|weg|platz|allee|ring|ufer|hof|gasse|street|road|rd|avenue|lane|drive|way|boulevard|blvd|rue|place|chemin|quai|via|viale|piazza|corso|calle|plaza|avenida|paseo|laan|straat|plein|ul\.|al\.)\.? ?\d|\d+[a-z]?,? (?:rue|av|avenue|place|chemin|bd|boulevard|quai|impasse|allee|street|st\b|road|rd\b|ave|lane|drive|high|main|king|queen|park)|^(?:via|calle|rue|ul\.|viale|piazza|plaza|avenida|po box|postfach|suite|building|floor)\b|^\d+[a-z]? [a-z]|[a-z]{4,} \d{1,4} ?[a-z]?(?:[/-]\d+)*$`)
)

// buyers marks the items that belong to the recipient: under or beside a label
// that names him, and the address window under a return-address line.
func (s *sheet) buyers() map[*item]bool {
	out := map[*item]bool{}
	for _, row := range s.rows {
		for _, it := range row {
			if loc := buyerLabel.FindStringIndex(it.folded); loc != nil && !sellerLabel.MatchString(it.folded) {
				out[it] = true
				// "Contact: Mrs Miller, 0123 456" is a line of whatever block it stands in.
				if !contactLine.MatchString(it.folded) {
					s.markBlock(it, out)
				}
			}
		}
	}
	// "z. Hd." stands under the recipient's name.
	for _, row := range s.rows {
		for _, it := range row {
			if !attention.MatchString(it.folded) {
				continue
			}
			for r := it.row - 1; r >= max(0, it.row-3); r-- {
				for _, above := range s.rows[r] {
					if above.page == it.page && absFloat(above.x0-it.x0) < 3 && it.y-above.y < 1.9*maxFloat(it.size, 7) {
						out[above] = true
					}
				}
			}
			out[it] = true
		}
	}
	return out
}

var contactLine = compile(`^\W*(?:contact|kontaktperson|ansprechpartner(?:in)?|attention|attn)\b[^:]*: *[a-z\d]`)

var attention = compile(`^(?:z\. ?hd\.?|zu handen|z\. ?h\.|attn\.?|att\.?:|attention|a l'attention|alla c\.?a\.?|c\.a\.|t\.?a\.?v\.?|a la atencion|f\.?a\.?o\.?)\b`)

// maxBlock is the most lines a party's block has.
const maxBlock = 9

// markBlock marks what stands right of a party's label and in its column below,
// until another label of a party, a gap, or the items.
func (s *sheet) markBlock(from *item, out map[*item]bool) {
	if r := s.right(from); r != nil && r.y == from.y && !sellerLabel.MatchString(r.folded) && r.x0-from.x1 < 190 {
		rest := strings.TrimRight(from.folded, " ")
		if strings.HasSuffix(rest, ":") || !s.columnBelow(from) {
			out[r] = true
			s.column(r, out)
		}
	}
	s.column(from, out)
}

// columnBelow reports whether something stands close under an item.
func (s *sheet) columnBelow(it *item) bool {
	return len(s.below(it, 1.6)) > 0
}

func (s *sheet) column(from *item, out map[*item]bool) {
	last := from
	for r, n := from.row+1, 0; r < len(s.rows) && n < maxBlock; r++ {
		row := s.rows[r]
		if row[0].page != from.page || row[0].y-last.y > 2.9*maxFloat(last.size, 7) {
			return
		}
		for _, it := range row {
			if it.x0 < from.x0-12 || it.x0 > from.x0+60 && !aligned(from, it) {
				continue
			}
			if sellerLabel.MatchString(it.folded) || titleOnly.MatchString(strings.Trim(it.folded, " .:")) {
				return
			}
			out[it] = true
			if it.x0-from.x0 < 12 || aligned(from, it) {
				last = it
			}
			n++
			break
		}
	}
}

func maxFloat(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}
