package text_test

import (
	"fmt"
	"strings"
	"testing"
)

// Given a page with a sum that can be seen and another in some way, then the other
// is read where a reader of the page sees it, and nowhere else.
func TestWhatNobodySeesIsNotRead(t *testing.T) {
	const (
		sum  = "BT /F1 10 Tf 50 700 Td (999.00) Tj ET "
		box  = "40 690 100 30 re f "
		off  = "/OCProperties << /OCGs [7 0 R 8 0 R] /D << /OFF [7 0 R] >> >>"
		flip = "/OCProperties << /OCGs [7 0 R 8 0 R] /D << /BaseState /OFF /ON [8 0 R] >> >>"
	)
	cases := []struct {
		name, content string
		catalog       string
		seen          bool
	}{
		{name: "plain", content: sum, seen: true},

		{name: "white on white", content: "1 g " + sum},
		{name: "white in rgb", content: "1 1 1 rg " + sum},
		{name: "white in cmyk", content: "0 0 0 0 k " + sum},
		{name: "nearly white", content: "0.97 g " + sum},
		{name: "white in a calibrated space", content: "/Icc cs 1 1 1 sc " + sum},
		{name: "white as no ink", content: "/Spot cs 0 scn " + sum},
		{name: "spot color", content: "/Spot cs 1 scn " + sum, seen: true},
		{name: "light gray", content: "0.8 g " + sum, seen: true},
		{name: "white on a dark box", content: "0 0 0.5 rg " + box + "1 g " + sum, seen: true},
		{name: "white in a dark frame", content: "0 g 30 680 120 50 re 40 690 100 30 re f* 1 g " + sum, seen: true},
		{name: "white on a rounded box", content: "0 g 40 690 m 140 690 l 150 690 150 720 140 720 c 40 720 l f 1 g " + sum, seen: true},
		{name: "white on a picture", content: "q 200 0 0 50 40 690 cm /Photo Do Q 1 g " + sum, seen: true},
		{name: "white on a shading", content: "/Sh sh 1 g " + sum, seen: true},
		{name: "white beside the dark box", content: "0 g 300 690 100 30 re f 1 g " + sum},
		{name: "white behind more areas than are kept", content: strings.Repeat("0 0 9 9 re f ", 5000) + "1 g " + sum, seen: true},
		{name: "black on black", content: box + sum},
		{name: "white, restored", content: "q 1 g Q " + sum, seen: true},
		{name: "white outlines alone", content: "1 G 1 Tr " + sum},
		{name: "black outlines alone", content: "1 g 1 Tr " + sum, seen: true},

		{name: "painted over", content: sum + "1 g " + box},
		{name: "painted over by a drawn rectangle", content: sum + "1 g 40 690 m 140 690 l 140 720 l 40 720 l h f"},
		{name: "painted over by one of several", content: sum + "1 g 300 690 50 30 re 40 690 100 30 re f"},
		{name: "painted over by a pattern", content: sum + "/Pattern cs /P scn " + box, seen: true},
		{name: "framed by a filled path", content: sum + "30 680 120 50 re 40 690 100 30 re f*", seen: true},
		{name: "underlined", content: sum + "40 698 100 1 re f", seen: true},
		{name: "struck through", content: sum + "40 702 100 3 re f", seen: true},
		{name: "marked by a transparent color", content: sum + "/Half gs 1 1 0 rg " + box, seen: true},
		{name: "marked by a blended color", content: sum + "/Multiply gs 1 1 0 rg " + box, seen: true},
		{name: "painted over, and shown again", content: sum + "0.9 g " + box + "0 g " + sum, seen: true},
		{name: "under a small picture", content: sum + "q 200 0 0 50 40 690 cm /Photo Do Q"},
		{name: "under a masked picture", content: sum + "q 200 0 0 50 40 690 cm /Stencil Do Q", seen: true},
		{name: "under a clipped color", content: sum + "q 300 0 50 50 re W n 40 0 500 800 re f Q", seen: true},
		{name: "under a picture of the page", content: sum + "q 600 0 0 800 0 0 cm /Photo Do Q", seen: true},

		{name: "clipped", content: "q 300 600 50 50 re W n " + sum + "Q"},
		{name: "within its clip", content: "q 40 690 100 30 re W n " + sum + "Q", seen: true},
		{name: "outside of its form", content: "/Small Do"},
		{name: "off the page", content: "BT /F1 10 Tf 50 -30 Td (999.00) Tj ET"},
		{name: "tiny", content: "BT /F1 1 Tf 50 700 Td (999.00) Tj ET"},
		{name: "small by its matrix", content: "q 0.1 0 0 0.1 0 0 cm BT /F1 10 Tf 500 7000 Td (999.00) Tj ET Q"},
		{name: "large by its matrix", content: "BT /F1 1 Tf 10 0 0 10 50 700 Tm (999.00) Tj ET", seen: true},
		{name: "transparent", content: "/Clear gs " + sum},
		{name: "half transparent", content: "/Half gs " + sum, seen: true},

		{name: "squeezed", content: "1 Tz " + sum},
		{name: "narrow", content: "60 Tz " + sum, seen: true},
		{name: "squeezed by its matrix", content: "BT /F1 10 Tf 0.01 0 0 1 50 700 Tm (999.00) Tj ET"},
		{name: "in the ink that is none", content: "/Never cs 1 scn " + sum},
		{name: "in several inks that are none", content: "/Nevers cs 1 1 scn " + sum},
		{name: "behind a mask that lets nothing through", content: "/Shut gs " + sum},
		{name: "behind a mask that lets something through", content: "/Ajar gs " + sum, seen: true},
		{name: "behind a mask that was taken away", content: "q /Shut gs Q " + sum, seen: true},
		{name: "by glyphs that paint nothing", content: "BT /F3 10 Tf 50 700 Td (999.00) Tj ET"},
		{name: "by glyphs that are painted", content: "BT /F4 10 Tf 50 700 Td (999.00) Tj ET", seen: true},
		{name: "under a wide line", content: sum + "1 G 30 w 40 705 m 150 705 l S"},
		{name: "under a wide upright line", content: sum + "1 G 120 w 80 690 m 80 720 l S"},
		{name: "under a thin line", content: sum + "1 G 3 w 40 703 m 150 703 l S", seen: true},
		{name: "under a wide dashed line", content: sum + "1 G [2 5] 0 d 30 w 40 705 m 150 705 l S", seen: true},
		{name: "under a transparent wide line", content: sum + "/HalfLine gs 1 1 0 RG 30 w 40 705 m 150 705 l S", seen: true},
		{name: "white on a wide dark line", content: "0 0 0.5 RG 30 w 40 705 m 150 705 l S 1 g " + sum, seen: true},
		{name: "without ink", content: "3 Tr " + sum},
		{name: "without ink, over a picture of the page", content: "q 600 0 0 800 0 0 cm /Photo Do Q 3 Tr " + sum, seen: true},
		{name: "without ink, over strips", content: "q 600 0 0 400 0 0 cm /Photo Do Q q 600 0 0 400 0 400 cm" +
			" /Photo Do Q 3 Tr " + sum, seen: true},
		{name: "without ink, beside a logo", content: "q 60 0 0 60 0 0 cm /Photo Do Q 3 Tr " + sum},

		{name: "layer on", content: "/OC /Off BDC " + sum + "EMC", seen: true},
		{name: "layer off", content: "/OC /Off BDC " + sum + "EMC", catalog: off},
		{name: "other layer", content: "/OC /On BDC " + sum + "EMC", catalog: off, seen: true},
		{name: "layers off by default", content: "/OC /Off BDC " + sum + "EMC", catalog: flip},
		{name: "layer on by exception", content: "/OC /On BDC " + sum + "EMC", catalog: flip, seen: true},
		{name: "within a layer that is off", content: "/OC /Off BDC /Span BMC EMC " + sum + "EMC", catalog: off},
		{name: "behind a layer that is off", content: "/OC /Off BDC EMC " + sum, catalog: off, seen: true},
		{name: "any of two layers", content: "/OC /Any BDC " + sum + "EMC", catalog: off, seen: true},
		{name: "all of two layers", content: "/OC /All BDC " + sum + "EMC", catalog: off},
		{name: "not a layer that is on", content: "/OC /NotOn BDC " + sum + "EMC", catalog: off},
		{name: "not a layer that is off", content: "/OC /NotOff BDC " + sum + "EMC", catalog: off, seen: true},
		{name: "an expression of layers", content: "/OC /Both BDC " + sum + "EMC", catalog: off},
		{name: "a layer that viewers switch off", content: "/OC /Viewed BDC " + sum + "EMC", catalog: "/OCProperties << /OCGs [13 0 R] " +
			"/D << /AS [<< /Event /View /Category [/View] /OCGs [13 0 R] >>] >> >>"},
		{name: "form in a layer that is off", content: "/Layered Do", catalog: off},
		{name: "form in a layer that is on", content: "/Layered Do", seen: true},
		{name: "painted over in a layer that is off", content: sum + "1 g /OC /Off BDC " + box + "EMC", catalog: off, seen: true},
	}
	form := "BT /F1 10 Tf 50 700 Td (999.00) Tj ET"
	resources := strings.Replace(helvetica, "/F1", "/F3 "+type3(16)+" /F4 "+type3(17)+" /F1", 1) + " /XObject << /Photo 5 0 R /Stencil 6 0 R /Small 9 0 R /Layered 10 0 R >>" +
		" /ExtGState << /Shut << /SMask << /S /Luminosity /G 14 0 R >> >> /Ajar << /SMask << /S /Luminosity /G 15 0 R >> >>" +
		" /HalfLine << /CA 0.5 >> /Clear << /ca 0 >> /Half << /ca 0.5 >> /Multiply << /BM /Multiply >> >>" +
		" /ColorSpace << /Never [/Separation /None /DeviceGray 12 0 R]" +
		" /Nevers [/DeviceN [/None /None] /DeviceGray 12 0 R] /Icc [/ICCBased 11 0 R] /Spot [/Separation /Blue /DeviceCMYK 12 0 R] >>" +
		" /Properties << /NotOn << /Type /OCMD /VE [/Not 8 0 R] >> /NotOff << /Type /OCMD /VE [/Not 7 0 R] >>" +
		" /Both << /Type /OCMD /VE [/And 8 0 R [/Or 7 0 R [/Not 8 0 R]]] >> /Viewed 13 0 R /Off 7 0 R /On 8 0 R /Any << /Type /OCMD /OCGs [7 0 R 8 0 R] >> /All << /Type /OCMD /P /AllOn" +
		" /OCGs [7 0 R 8 0 R] >> >>"
	rest := "5 0 obj\n<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8" +
		" /Length 1 >>\nstream\nx\nendstream\nendobj\n" +
		"6 0 obj\n<< /Type /XObject /Subtype /Image /ImageMask true /Width 1 /Height 1 /BitsPerComponent 1" +
		" /Length 1 >>\nstream\nx\nendstream\nendobj\n" +
		"7 0 obj\n<< /Type /OCG /Name (off) >>\nendobj\n8 0 obj\n<< /Type /OCG /Name (on) >>\nendobj\n" +
		fmt.Sprintf("9 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 40 40] /Length %d >>\nstream\n%s\n"+
			"endstream\nendobj\n", len(form), form) +
		fmt.Sprintf("10 0 obj\n<< /Type /XObject /Subtype /Form /OC 7 0 R /BBox [0 0 600 800] /Length %d >>\nstream\n"+
			"%s\nendstream\nendobj\n", len(form), form) +
		"11 0 obj\n<< /N 3 /Length 1 >>\nstream\nx\nendstream\nendobj\n12 0 obj\n<< /FunctionType 2 /Domain [0 1] /N 1 >>\nendobj\n" +
		"13 0 obj\n<< /Type /OCG /Name (viewed) /Usage << /View << /ViewState /OFF >> >> >>\nendobj\n" +
		group(14, "0 0 600 800 re n") + group(15, "1 g 0 0 600 800 re f") + glyph(16, "500 0 d0") + glyph(17, "500 0 d0 0 0 500 700 re f")
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			data := page("BT /F1 10 Tf 50 500 Td (seen) Tj ET "+c.content, resources, rest, 0)
			data = []byte(strings.Replace(string(data), "/Type /Catalog", "/Type /Catalog "+c.catalog, 1))
			doc := read(t, data)
			got, want := show(doc.Pages[0]), "seen"
			if c.seen {
				want = "999.00\nseen"
			}
			if got != want {
				t.Errorf("read %q, want %q", got, want)
			}
			if !c.seen && doc.Unseen != len("99900") {
				t.Errorf("%d figures unseen, want %d", doc.Unseen, len("99900"))
			}
		})
	}
}

// group is a form for a soft mask.
func group(number int, content string) string {
	return fmt.Sprintf("%d 0 obj\n<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Group << /S /Transparency /CS /DeviceGray >> "+
		"/Length %d >>\nstream\n%s\nendstream\nendobj\n", number, len(content), content)
}

// glyph is the drawing of a type 3 font's glyph.
func glyph(number int, content string) string {
	return fmt.Sprintf("%d 0 obj\n<< /Length %d >>\nstream\n%s\nendstream\nendobj\n", number, len(content), content)
}

// type3 is a font with figures that are drawn by one glyph.
func type3(glyph int) string {
	return fmt.Sprintf("<< /Type /Font /Subtype /Type3 /FontMatrix [0.001 0 0 0.001 0 0] /FontBBox [0 0 500 700] /FirstChar 46 /LastChar 57 "+
		"/Widths [500 500 500 500 500 500 500 500 500 500 500 500] /CharProcs << /nine %d 0 R /zero %d 0 R /period %d 0 R >> "+
		"/Encoding << /Differences [46 /period 48 /zero 57 /nine] >> >>", glyph, glyph, glyph)
}
