package layouts

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"tallyhouse/ingest/invoice/page/words"
)

// party is a company or person with what it prints about itself.
type party struct {
	name, street, town, postal, domain, mail, phone, taxID, iban, register string

	word, trade, form string // of the name; people and offices have no form in law
}

// stems are invented beginnings of companies' names.
var stems = strings.Fields("Al Bor Cal Dor El Fin Gar Hol Is Jur Kal Lun Mar Nor Os Per Qua Ros Sil Tor Ul Ver Wal Zan")

var endings = strings.Fields("mont vik ander ita berg ona etti dal mar eco ius tal win ora ley")

func (f *Family) company(r *rand.Rand, person bool) party {
	l := f.lang
	word := one(r, stems) + one(r, endings)
	p := party{street: l.street(r, f.land), town: one(r, l.words("towns")), postal: f.land.postalCode(r)}
	form := one(r, f.land.forms)
	trade := one(r, l.words("trades"))
	kinds := 5
	if f.isLetter {
		kinds = 10
	}
	switch {
	case person:
		p.name = one(r, l.words("people"))
		word, form = plain(p.name[strings.LastIndexByte(p.name, ' ')+1:]), ""
	default:
		switch r.IntN(kinds) {
		case 0:
			p.name = trade + " " + word + " " + form
		case 1:
			p.name = word + " " + form
		case 2:
			p.name = word + " & " + one(r, stems) + one(r, endings) + " " + form
		case 3:
			p.name, form = word+" "+trade, ""
		case 8: // partners
			p.name = word + " " + one(r, stems) + one(r, endings) + " & Partner " + trade + " " + form
		case 5:
			p.name = word + " " + trade + " " + form
			if l.code == "sl" { // what a company does is a part of its name
				p.name = word + ", " + strings.ToLower(one(r, l.words("profession"))) + ", " + form
			}
		case 7: // one word
			p.name, form = word+[]string{"", strings.ToLower(one(r, endings)), ".com"}[r.IntN(3)], ""
		case 6: // an office, a town's works
			p.name, word, form = trade+" "+p.town, plain(trade), ""
		default:
			p.name = word + " " + trade + " " + form
		}
	}
	p.word, p.trade, p.form = word, trade, form
	p.domain = strings.ToLower(word) + "." + map[string]string{"GB": "co.uk", "US": "com"}[f.land.code]
	if strings.HasSuffix(p.domain, ".") {
		p.domain += strings.ToLower(f.land.code)
	}
	if !f.domain {
		p.domain = []string{"gmail.com", "gmx.net", "office-mail.eu"}[r.IntN(3)]
	}
	p.mail = []string{"office", "info", "rechnung", strings.ToLower(word)}[r.IntN(4)] + "@" + p.domain
	p.phone = f.land.phone + " " + digits(r, 2) + " " + digits(r, 3) + " " + digits(r, 3)
	p.taxID = f.land.vatID(r)
	p.iban = f.land.iban(r)
	p.register = strings.NewReplacer("{n}", strconv.Itoa(10000+r.IntN(900000)), "{town}", p.town).
		Replace(one(r, l.words("register")))
	return p
}

// plain is a word without accents, small, as in a domain.
func plain(s string) string {
	s = strings.NewReplacer("ß", "ss", "ä", "ae", "ö", "oe", "ü", "ue", "'", "").Replace(strings.ToLower(s))
	return words.Fold([]rune(s))
}

func digits(r *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	return b.String()
}

func (l language) street(r *rand.Rand, land country) string {
	number := strconv.Itoa(1 + r.IntN(180))
	street := one(r, l.words("streets"))
	if l.code == "en" || l.code == "fr" {
		return number + " " + street
	}
	return street + " " + number
}

// city is a town with its postal code, as the country writes it.
func (p party) city(land country) string {
	switch land.code {
	case "GB", "IE":
		return p.town + " " + p.postal
	case "US":
		if len(p.town)%2 == 0 {
			return p.town + ", " + map[string]string{"MA": "Massachusetts", "CO": "Colorado", "NY": "New York"}[p.postal[:2]] + p.postal[2:]
		}
		return p.town + ", " + p.postal
	}
	return p.postal + " " + p.town
}

func (c country) postalCode(r *rand.Rand) string {
	switch c.code {
	case "GB", "IE":
		return string("ABCDEGHLMNRS"[r.IntN(12)]) + string("ABLNRST"[r.IntN(7)]) + fmt.Sprintf("%d %dAB", 1+r.IntN(9), 1+r.IntN(9))
	case "US":
		return []string{"MA ", "CO ", "NY "}[r.IntN(3)] + strconv.Itoa(1+r.IntN(9)) + digits(r, 4)
	}
	code := strconv.Itoa(1+r.IntN(9)) + digits(r, c.postal-1)
	switch c.code {
	case "NL":
		return code + " " + string("ABCDEGH"[r.IntN(7)]) + string("ABCDEGH"[r.IntN(7)])
	case "PL":
		return code[:2] + "-" + code[2:]
	case "CZ":
		return code[:3] + " " + code[3:]
	}
	return code
}

// iban has the country's letters, right check digits, and the length of Germany's.
func (c country) iban(r *rand.Rand) string {
	if c.code == "US" {
		return digits(r, 9)
	}
	body := digits(r, 18)
	rest := 0
	for _, d := range body + fmt.Sprintf("%d%d00", c.code[0]-'A'+10, c.code[1]-'A'+10) {
		rest = (rest*10 + int(d-'0')) % 97
	}
	out := fmt.Sprintf("%s%02d", c.code, 98-rest)
	for i := 0; i < len(body); i += 4 {
		out += " " + body[i:min(i+4, len(body))]
	}
	return out
}

// vatID has the country's shape and check digit.
func (c country) vatID(r *rand.Rand) string {
	for {
		d := digits(r, 8)
		switch c.code {
		case "AT":
			return "ATU" + d[:7] + austrian(d[:7])
		case "DE":
			if d[0] != '0' {
				return "DE" + d + mod1110(d)
			}
		case "CH":
			if check := (11 - sum(d, 5, 4, 3, 2, 7, 6, 5, 4)%11) % 11; check < 10 {
				return fmt.Sprintf("CHE-%s.%s.%s%d MWST", d[:3], d[3:6], d[6:8], check)
			}
		case "IT":
			d = "0" + d + digits(r, 1)
			return "IT" + d + luhn(d)
		case "SI":
			if check := 11 - sum(d[:7], 8, 7, 6, 5, 4, 3, 2)%11; d[0] != '0' && check < 11 {
				return fmt.Sprintf("SI%s%d", d[:7], check%10)
			}
		case "FR":
			siren := d + luhn(d)
			n, _ := strconv.Atoi(siren) // figures alone
			return fmt.Sprintf("FR%02d%s", (12+3*(n%97))%97, siren)
		case "BE":
			n, _ := strconv.Atoi("0" + d[:7])
			return fmt.Sprintf("BE0%s%02d", d[:7], 97-n%97)
		case "GB":
			weighted := sum(d[:7], 8, 7, 6, 5, 4, 3, 2)
			return fmt.Sprintf("GB%s%02d", d[:7], (97-weighted%97)%97)
		case "IE":
			return "IE" + d[:7] + string("WABCDEFGHIJKLMNOPQRSTUV"[sum(d[:7], 8, 7, 6, 5, 4, 3, 2)%23])
		case "ES":
			return "B" + d[:7] + luhn(d[:7])
		case "NL":
			if check := sum(d, 9, 8, 7, 6, 5, 4, 3, 2) % 11; check < 10 {
				return fmt.Sprintf("NL%s%dB01", d, check)
			}
		case "PL":
			d += digits(r, 1)
			if check := sum(d, 6, 5, 7, 2, 3, 4, 5, 6, 7) % 11; check < 10 && d[0] != '0' {
				return fmt.Sprintf("PL%s%d", d, check)
			}
		case "HR":
			d += digits(r, 2)
			return "HR" + d + mod1110(d)
		case "CZ":
			if check := 11 - sum(d[:7], 8, 7, 6, 5, 4, 3, 2)%11; d[0] != '9' {
				return fmt.Sprintf("CZ%s%d", d[:7], check%10)
			}
		case "HU":
			if d[0] != '0' {
				return fmt.Sprintf("HU%s%d", d[:7], (10-sum(d[:7], 9, 7, 3, 1, 9, 7, 3)%10)%10)
			}
		default:
			return d[:2] + "-" + d[1:8]
		}
	}
}

func sum(d string, weights ...int) int {
	n := 0
	for i, w := range weights {
		n += int(d[i]-'0') * w
	}
	return n
}

func austrian(d string) string {
	n := 4
	for i, c := range d {
		v := int(c - '0')
		if i%2 == 1 {
			v = v*2/10 + v*2%10
		}
		n += v
	}
	return strconv.Itoa((10 - n%10) % 10)
}

func mod1110(d string) string {
	p := 10
	for _, c := range d {
		s := (int(c-'0') + p) % 10
		if s == 0 {
			s = 10
		}
		p = 2 * s % 11
	}
	return strconv.Itoa((11 - p) % 10)
}

func luhn(d string) string {
	n := 0
	for i := range len(d) {
		v := int(d[len(d)-1-i] - '0')
		if i%2 == 0 {
			v = v*2/10 + v*2%10
		}
		n += v
	}
	return strconv.Itoa((10 - n%10) % 10)
}
