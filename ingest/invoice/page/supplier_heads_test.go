package page

import (
	"testing"

	"tallyhouse/ingest/invoice/text"
)

// Given the sender's line above an address window, then the address behind the zone for remarks is the addressee's; one that is no larger
// than the line, farther away or in another column isn't.
func TestTheWindowBelowTheSendersLine(t *testing.T) {
	for name, c := range map[string]struct {
		size, x, gap float64 // of the address: the size of its letters, its left edge, how far below the line it begins
		says         string
		want         bool
	}{
		"behind the zone":           {10.5, 68, 29, "", true},
		"as small as the line":      {8, 68, 29, "", false},
		"far below":                 {10.5, 68, 60, "", false},
		"in another column":         {10.5, 300, 29, "", false},
		"of whom the supplies were": {10.5, 68, 29, "Gutschrift im Gutschriftverfahren (self-billing)", false},
	} {
		var words []text.Word
		line := func(content string, x, y, size float64) {
			words = append(words, text.Word{Text: content, X0: x, X1: x + size*float64(len(content))/2, Y: y, Size: size})
		}
		line("Maren Osterkamp / Karl-Heine-Straße 61 / 04229 Leipzig", 68, 76, 8)
		line("Saalebogen Wohnen GmbH & Co. KG", c.x, 76+c.gap, c.size)
		line("Mansfelder Straße 15", c.x, 92+c.gap, c.size)
		line("06108 Halle (Saale)", c.x, 108+c.gap, c.size)
		line(c.says, 68, 400, 10.5)
		s := newSheet(testVocabulary(t), text.Document{Pages: []text.Page{text.FromWords(1, 595, 842, words)}})
		buyers := map[*item]bool{}
		s.returnAddress(func(string, *item, string, string) {}, buyers)
		if got := buyers[s.rows[1][0]]; got != c.want {
			t.Errorf("%s: the addressee's is %v, want %v", name, got, c.want)
		}
	}
}

// Given a line of a head that tells where its company is, then its shape says whether a name can begin it.
func TestShapesOfSendersLines(t *testing.T) {
	for line, want := range map[string]string{
		"Berger Bau, Gasse 1, 1010 Wien":                 "",
		"Canal Wharf, Skipton, North Yorkshire BD23 1RT": "no street",
		"Berger Bau, 1010 Wien":                          "two parts",
	} {
		if got := shapeOfSendersLine(splitReturn(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Given a company's line below another one of its head, then both are its name where they are set in the same large letters from one edge,
// or one line has both.
func TestNamesOverTwoLinesOfAHead(t *testing.T) {
	for name, c := range map[string]struct {
		size, below, x float64 // of the first line's letters, of the second's, and where that begins
		whole          string
		want           bool
	}{
		"the same large letters":    {15, 15, 54, "", true},
		"a mark over the name":      {20, 15, 54, "", false},
		"letters as all":            {10, 10, 54, "", false},
		"another edge":              {15, 15, 60, "", false},
		"both in one line below":    {20, 9, 54, "Yildiz & Partner Trockenbau KG", true},
		"another name in that line": {20, 9, 54, "Yildiz Trockenbau KG", false},
	} {
		var words []text.Word
		line := func(content string, x, y, size float64) {
			words = append(words, text.Word{Text: content, X0: x, X1: x + size*float64(len(content))/2, Y: y, Size: size})
		}
		line("YILDIZ & PARTNER", 54, 60, c.size)
		line("Trockenbau KG", c.x, 60+1.15*c.size, c.below)
		for i := range 5 {
			line("Laxenburger Straße 211, 1230 Wien, und vieles mehr", 54, 120+float64(20*i), 10)
		}
		line(c.whole, 54, 400, 10)
		s := newSheet(testVocabulary(t), text.Document{Pages: []text.Page{text.FromWords(1, 595, 842, words)}})
		if got := s.secondLines()[s.rows[1][0]] != nil; got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}

// Given two lines of a head of which the second has a legal form, then both may be a name, unless figures as large stand beside them: those
// are labels.
func TestLabelsOverACompanyAreNoPartOfItsName(t *testing.T) {
	for lines, want := range map[string]string{
		"Yildiz & Partner\nTrockenbau KG":                  "Yildiz & Partner Trockenbau KG",
		"Yildiz & Partner        2026 / 57\nTrockenbau KG": "",
		"Yildiz & Partner\nTrockenbau KG        2026 / 57": "",
		"Notaires associés\nSRL Lhoest & Van Aerde":        "",
	} {
		var got string
		s := sheetOf(t, lines)
		s.overLines(s.rows[0][0].text(), s.rows[0][0], nil, func(name string, _ *item, _, _ string) { got = name })
		if got != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// Given words of self-billing, then the document is self-billed, unless a label says that whom it is addressed to is billed: then they speak
// of something else.
func TestWordsOfSelfBillingBelowABill(t *testing.T) {
	for label, want := range map[string]bool{"": true, "Rechnung an:": false} {
		var words []text.Word
		line := func(content string, y float64) {
			words = append(words, text.Word{Text: content, X0: 68, X1: 68 + 5*float64(len(content)), Y: y, Size: 10})
		}
		line("Altmetall Donau GmbH, Hafenstraße 1, 1020 Wien", 50)
		line(label, 118)
		line("Saalebogen Wohnen GmbH", 130)
		line("Mansfelder Straße 15", 142)
		line("06108 Halle (Saale)", 154)
		line("Für Altmetall gilt das Gutschriftverfahren (self-billing), und davon abweichend nichts.", 400)
		s := newSheet(testVocabulary(t), text.Document{Pages: []text.Page{text.FromWords(1, 595, 842, words)}})
		if got := s.saysSelfBilled(); got != want {
			t.Errorf("under %q: %t, want %t", label, got, want)
		}
	}
}

// Given a sender's line that begins with where the house stands, then the company behind it is the sender.
func TestASendersLineThatBeginsWithAPlace(t *testing.T) {
	for line, want := range map[string]string{
		"am Domplatz, Hotelbetriebe Reuß KG, Domstraße 4, 93047 Regensburg": "Hotelbetriebe Reuß KG",
		"Hotelbetriebe Reuß KG, Domstraße 4, 93047 Regensburg":              "Hotelbetriebe Reuß KG",
		"Reuß und Sohn, Domstraße 4, 93047 Regensburg":                      "Reuß und Sohn",
	} {
		var got string
		sheetOf(t, line).returnAddress(func(name string, _ *item, _, _ string) { got = name }, map[*item]bool{})
		if got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}
