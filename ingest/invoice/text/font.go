package text

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"tallyhouse/ingest/invoice/pdf"
)

// maxFontStream bounds an unpacked CMap or font program.
const maxFontStream = 8 << 20

// font turns the bytes of a shown string into text and widths.
type font struct {
	composite bool
	toUnicode *cmap
	encoding  *cmap // of a composite font; nil is Identity
	simple    [256]string
	widths    map[uint32]float64 // in thousandths; simple: by code, composite: by glyph id
	missing   float64
	byGlyph   map[uint32]string // text by glyph id, from the font program
	unmapped  bool              // no way from code to text is known
	type3     float64           // scale of type 3 widths, 0 for others
	blank     map[byte]bool     // codes of a type 3 font whose glyphs paint nothing
	dict      pdf.Dict
	unchecked bool           // there are too many fonts to be compared with what they say
	named     [256]bool      // codes of a simple font whose glyph the file itself names, or an encoding that it names
	figures   map[figure]int // how often a glyph was shown that ToUnicode calls a figure
}

// figure is a glyph that ToUnicode calls a figure, by its code and the number of the glyph in a composite font.
type figure struct {
	code, id uint32
	says     byte
}

// glyph is one decoded character code.
type glyph struct {
	text  string
	width float64 // in text space units of size 1
	space bool    // single byte code 32, which word spacing widens
	code  uint32
	id    uint32 // of the glyph, in a composite font
	blank bool   // drawing it paints nothing
}

func readFont(f *pdf.File, d pdf.Dict) *font {
	ft := &font{widths: map[uint32]float64{}, dict: d, figures: map[figure]int{}}
	if f.Spend(len(ft.simple)) != nil {
		return ft
	}
	if s := f.Stream(d["ToUnicode"]); s != nil {
		if program, err := f.Unpack(s, maxFontStream); err == nil {
			if m := readCMap(program, f); len(m.text) > 0 || len(m.ranges) > 0 {
				m.sortRanges()
				ft.toUnicode = m
			}
		}
	}
	if f.Name(d["Subtype"]) == "Type0" {
		ft.readComposite(f, d)
		return ft
	}
	ft.readSimple(f, d)
	return ft
}

func (ft *font) readSimple(f *pdf.File, d pdf.Dict) {
	base := string(f.Name(d["BaseFont"]))
	descriptor := f.Dict(d["FontDescriptor"])
	name := string(f.Name(d["Encoding"]))
	enc := f.Dict(d["Encoding"])
	if enc != nil {
		name = string(f.Name(enc["BaseEncoding"]))
	}
	symbolic := f.Int(descriptor["Flags"], 0)&4 != 0
	if name == "" && (f.Name(d["Subtype"]) == "Type1" || f.Name(d["Subtype"]) == "MMType1") && !symbolic {
		name = "StandardEncoding"
	}
	ft.simple = encodingTable(name)
	// Viewers take a symbolic TrueType font's glyphs by its own codes.
	if name != "" && (!symbolic || f.Name(d["Subtype"]) == "Type1") {
		for i := range ft.named {
			ft.named[i] = true
		}
	}
	if name == "" && descriptor != nil {
		ft.builtIn(f, descriptor)
	}
	if enc != nil {
		ft.differences(f, f.Array(enc["Differences"]))
	}
	if strings.Contains(base, "ZapfDingbats") || strings.Contains(base, "Wingdings") {
		for i := range ft.simple {
			if i > 32 {
				ft.simple[i] = "•"
			}
		}
	}
	if strings.Contains(base, "-feym") || strings.Contains(base, "-feyb") {
		// Eurosym, the usual euro font of LaTeX, names its glyphs as letters.
		for i := range ft.simple {
			ft.simple[i] = "€"
		}
	}
	first := f.Int(d["FirstChar"], 0)
	list := f.Array(d["Widths"])
	for i, w := range list {
		if i >= 256 {
			break
		}
		ft.widths[uint32(first)+uint32(i)] = f.Float(w, 0)
	}
	ft.missing = f.Float(descriptor["MissingWidth"], 0)
	if f.Name(d["Subtype"]) == "Type3" {
		ft.type3 = 0.001
		if m := f.Array(d["FontMatrix"]); len(m) == 6 {
			ft.type3 = f.Float(m[0], 0.001)
		}
		ft.findBlanks(f, f.Dict(d["CharProcs"]), f.Array(enc["Differences"]))
		return
	}
	if len(list) == 0 {
		ft.standardWidths(base)
	}
}

// findBlanks finds the glyphs of a type 3 font that paint nothing, or are not there.
func (ft *font) findBlanks(f *pdf.File, glyphs pdf.Dict, differences pdf.Array) {
	if f.Spend(len(differences)) != nil {
		return
	}
	ft.blank = map[byte]bool{}
	known := map[pdf.Name]bool{}
	code := 0
	for _, o := range differences {
		if n, ok := pdf.Number(f.Resolve(o)); ok {
			code = int(n)
			continue
		}
		if code >= 0 && code < len(ft.simple) {
			name := f.Name(o)
			blank, looked := known[name]
			if !looked {
				s := f.Stream(glyphs[name])
				blank = s == nil || paintsNothing(f, s)
				known[name] = blank
			}
			ft.blank[byte(code)] = blank
		}
		code++
	}
}

// builtIn reads the encoding vector in the clear part of a Type 1 program.
func (ft *font) builtIn(f *pdf.File, descriptor pdf.Dict) {
	s := f.Stream(descriptor["FontFile"])
	if s == nil {
		return
	}
	program, err := f.Unpack(s, maxFontStream)
	if err != nil {
		return
	}
	text := string(program[:min(len(program), 32<<10)])
	_, text, ok := strings.Cut(text, "/Encoding")
	if !ok {
		return
	}
	text, _, _ = strings.Cut(text, "readonly def")
	l := pdf.NewLexer([]byte(text))
	var previous pdf.Object
	for range 4096 {
		o, err := l.Next()
		if err != nil {
			return
		}
		if n, ok := previous.(int64); ok && n >= 0 && n < 256 {
			if name, isName := o.(pdf.Name); isName {
				ft.simple[n] = glyphText(string(name))
			}
		}
		previous = o
	}
}

func (ft *font) differences(f *pdf.File, list pdf.Array) {
	c := int64(0)
	for _, o := range list {
		if f.Spend(1) != nil {
			return
		}
		switch v := f.Resolve(o).(type) {
		case int64:
			c = v
		case pdf.Name:
			if c >= 0 && c < 256 {
				ft.named[c] = namesFigure(string(v))
				if ft.simple[c] = glyphText(string(v)); ft.simple[c] == "" && namedByCode(string(v), c) {
					ft.simple[c] = encodingTable("")[c]
				}
			}
			c++
		}
	}
}

// namedByCode reports whether a glyph is only named after its code, as TeX's type
// 3 fonts do: "a163".
func namedByCode(name string, code int64) bool {
	return code > 32 && strings.TrimLeft(name,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == strconv.FormatInt(code, 10)
}

func (ft *font) standardWidths(base string) {
	table := &helveticaWidths
	lower := strings.ToLower(base)
	bold := strings.Contains(lower, "bold")
	switch {
	case strings.Contains(lower, "courier") || strings.Contains(lower, "mono"):
		for i := range 256 {
			ft.widths[uint32(i)] = 600
		}
		return
	case strings.Contains(lower, "times") || strings.Contains(lower, "serif") || strings.Contains(lower, "roman"):
		if table = &timesWidths; bold {
			table = &timesBoldWidths
		}
	case bold:
		table = &helveticaBoldWidths
	}
	for i, text := range ft.simple {
		r, _ := utf8.DecodeRuneInString(norm.NFD.String(text))
		switch {
		case r >= 32 && r < 127:
			ft.widths[uint32(i)] = float64(table[r-32])
		case r == '•':
			ft.widths[uint32(i)] = 350
		case r == '—', r == '…':
			ft.widths[uint32(i)] = 1000
		default:
			ft.widths[uint32(i)] = 556
		}
	}
}

func (ft *font) readComposite(f *pdf.File, d pdf.Dict) {
	ft.composite = true
	if s := f.Stream(d["Encoding"]); s != nil {
		if program, err := f.Unpack(s, maxFontStream); err == nil {
			ft.encoding = readCMap(program, f)
			ft.encoding.sortRanges()
		}
	}
	var descendant pdf.Dict
	if list := f.Array(d["DescendantFonts"]); len(list) > 0 {
		descendant = f.Dict(list[0])
	}
	ft.missing = f.Float(descendant["DW"], 1000)
	ft.cidWidths(f, f.Array(descendant["W"]))
	if ft.toUnicode == nil {
		descriptor := f.Dict(descendant["FontDescriptor"])
		if s := f.Stream(descriptor["FontFile2"]); s != nil {
			if program, err := f.Unpack(s, maxFontStream); err == nil {
				ft.byGlyph = glyphTexts(program, f)
			}
		}
		ft.unmapped = len(ft.byGlyph) == 0
	}
}

// cidWidths reads the two forms of /W: c [w1 w2 …] and first last w.
func (ft *font) cidWidths(f *pdf.File, list pdf.Array) {
	for i := 0; i < len(list) && len(ft.widths) < 1<<16 && f.Spend(1) == nil; {
		first := f.Int(list[i], -1)
		if i+1 >= len(list) || first < 0 {
			return
		}
		if widths := f.Array(list[i+1]); widths != nil {
			for k, w := range widths {
				if f.Spend(entryCost) != nil {
					return
				}
				ft.widths[uint32(first)+uint32(k)] = f.Float(w, 0)
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last, w := f.Int(list[i+1], -1), f.Float(list[i+2], 0)
		for c := first; c <= last && c < 1<<16; c++ {
			if f.Spend(entryCost) != nil {
				return
			}
			ft.widths[uint32(c)] = w
		}
		i += 3
	}
}

// decode takes the codes of a shown string apart.
func (ft *font) decode(s string, each func(glyph)) {
	if !ft.composite {
		for i := range len(s) {
			c := uint32(s[i])
			g := glyph{code: c, text: ft.simple[s[i]], width: ft.width(c), space: c == 32, blank: ft.blank[s[i]]}
			if ft.toUnicode != nil {
				if t, ok := ft.toUnicode.textOf(c); ok {
					g.text = t
				}
			}
			each(g)
		}
		return
	}
	for len(s) > 0 {
		c, n := ft.nextCode(s)
		s = s[n:]
		id := c
		if ft.encoding != nil {
			id = ft.encoding.cid(c)
		}
		g := glyph{code: c, id: id, width: ft.width(id), space: n == 1 && c == 32}
		if ft.toUnicode != nil {
			g.text, _ = ft.toUnicode.textOf(c)
		} else {
			g.text = ft.byGlyph[id]
		}
		each(g)
	}
}

func (ft *font) nextCode(s string) (uint32, int) {
	switch {
	case ft.encoding != nil && len(ft.encoding.spaces) > 0:
		return ft.encoding.next(s, 2)
	case len(s) < 2:
		return uint32(s[0]), 1
	}
	return uint32(s[0])<<8 | uint32(s[1]), 2
}

func (ft *font) width(c uint32) float64 {
	w, ok := ft.widths[c]
	if !ok {
		w = ft.missing
	}
	if ft.type3 != 0 {
		return w * ft.type3
	}
	return w / 1000
}
