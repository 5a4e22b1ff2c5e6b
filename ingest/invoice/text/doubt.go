package text

import (
	"strings"

	"tallyhouse/ingest/invoice/pdf"
)

// namesFigure reports whether a glyph's name is that of a figure, in whatever style. Programs that make parts of fonts
// number glyphs at will: a glyph that is called 1 may show anything.
func namesFigure(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	return len(name) > 1 && figures(glyphNamesText(name)) == 1
}

func glyphNamesText(name string) string {
	if r, ok := glyphNames[name]; ok {
		return string(r)
	}
	return ""
}

// maxLoose bounds the fonts that are no objects of their own and are compared with what they say.
const maxLoose = 256

// doubts counts the figures that were shown of which the font says otherwise than its ToUnicode table, by the names of its
// glyphs or by the characters that its program gives them, and those of which it says nothing. Programs that write PDFs
// let both agree, but make parts of fonts that have the table alone.
func (ft *font) doubts(f *pdf.File) (contradicted, unproven int) {
	if len(ft.figures) == 0 {
		return 0, 0
	}
	drawn := func(g figure) string {
		if ft.named[g.code&0xFF] {
			return ft.simple[g.code&0xFF]
		}
		return ""
	}
	if ft.composite {
		glyphs := ft.programGlyphs(f)
		drawn = func(g figure) string { return glyphs(g.id) }
	}
	for g, times := range ft.figures {
		switch own := drawn(g); {
		case figures(own) != 1:
			unproven += times
		case own != string(rune(g.says)):
			contradicted += times
		}
	}
	return contradicted, unproven
}

// programGlyphs gives the characters of a composite font's glyphs by its TrueType program, where it says them.
func (ft *font) programGlyphs(f *pdf.File) func(id uint32) string {
	nothing := func(uint32) string { return "" }
	list := f.Array(ft.dict["DescendantFonts"])
	if len(list) == 0 {
		return nothing
	}
	descendant := f.Dict(list[0])
	s := f.Stream(f.Dict(descendant["FontDescriptor"])["FontFile2"])
	if s == nil {
		return nothing
	}
	program, err := f.Unpack(s, maxFontStream)
	if err != nil {
		return nothing
	}
	glyphs := glyphTexts(program, f)
	to := f.Stream(descendant["CIDToGIDMap"])
	if to == nil {
		return func(id uint32) string { return glyphs[id] }
	}
	table, err := f.Unpack(to, 2<<16)
	if err != nil {
		return nothing
	}
	return func(id uint32) string {
		if at := int64(id) * 2; at+1 < int64(len(table)) {
			return glyphs[uint32(table[at])<<8|uint32(table[at+1])]
		}
		return ""
	}
}
