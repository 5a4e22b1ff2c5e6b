package main

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tallyhouse/api/desk/desktest"
	"tallyhouse/ingest/invoice/pdf/pdftest"
)

const (
	pageDrawn = `document.querySelector("figure.drawn").dataset.state === "drawn"`
	// boxOnWord is that the box stands where a word of the page does.
	boxOnWord = `(() => {
		const box = document.querySelector(".place-box"), word = document.querySelector('[role=option][aria-label=%q]');
		if (box.hidden || !word) return false;
		const b = box.getBoundingClientRect(), w = word.getBoundingClientRect();
		const x = (w.left + w.right) / 2, y = (w.top + w.bottom) / 2;
		return b.left < x && x < b.right && b.top < y && y < b.bottom && b.height < 3 * w.height;
	})()`
	wordOf = `[role=option][aria-label=%q]`
)

// offered is what is offered of a word, for the field that was entered last.
func offered(p *desktest.Person) string {
	p.Helper()
	return desktest.Evaluate[string](p, `[...document.querySelectorAll("[data-part=given] button")].map((b) => b.textContent).join("|")`)
}

// Given an invoice with its PDF, when its page is opened, then the PDF is drawn beside the fields; a field shows its box there, and a
// word of the page goes into a field, by the mouse or the keyboard.
func (s *mailedWorld) drawsThePage(t *testing.T) {
	l := s.mailed(t, "k9", numbered("K-9")).Line
	p, url := s.signedIn(t, "demo", "uma", "de-AT")
	p.Open(url + "/inbox/" + l.ID)
	p.Wait(pageDrawn)
	s.must(until(s.within(startsWithin), func() error { return inkOf(p, "RECHNUNG") }))

	p.Do(chromedp.Focus("#field-gross"))
	p.Wait(fmt.Sprintf(boxOnWord, "14.880,00"))
	p.Do(chromedp.Focus("#field-invoiceNumber"))
	p.Wait(fmt.Sprintf(boxOnWord, "K-9"))
	p.Check("an invoice with a box on its page")

	for _, c := range []struct{ field, word, offers string }{
		{"invoiceNumber", "Donau", "Donau|Bauwerk Donau GmbH"},
		{"invoiceDate", "17.04.2026", "2026-04-17"},
		{"gross", "2.480,00", "2480,00"},
		{"gross", "RECHNUNG", ""},
	} {
		p.Do(chromedp.Focus("#field-"+c.field), chromedp.Click(fmt.Sprintf(wordOf, c.word)))
		if got := offered(p); got != c.offers {
			t.Errorf("of %s the page offers %q for %s, want %q", c.word, got, c.field, c.offers)
		}
		if none := desktest.Evaluate[bool](p, `!document.querySelector("[data-part=none]").hidden`); none != (c.offers == "") {
			t.Errorf("of %s the page says that it is nothing for %s: %v", c.word, c.field, none)
		}
	}
	// By keyboard: to the word in front of the one that was chosen, which is the last one of the foot; its offer; the field.
	p.Do(chromedp.Focus("#field-supplierName"), chromedp.Focus(".words"), chromedp.KeyEvent(kb.End), chromedp.KeyEvent(kb.ArrowLeft))
	p.Do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter))
	p.Wait(`document.activeElement.id === "field-supplierName" && document.activeElement.value === "UID-Nr."`)
	p.Window(desktest.Phone, true)
	p.Check("a drawn page on a phone")
	if text := fetched(p, "/inbox/"+l.ID); !strings.Contains(text, `<figure class="drawn mail-part" hidden`) {
		t.Error("without scripts there is a page that nothing draws")
	}
}

// inkOf is nil when the window shows something dark where a word of the page is.
func inkOf(p *desktest.Person, word string) error {
	p.Helper()
	at := desktest.Evaluate[[]float64](p, fmt.Sprintf(`(() => {
		const word = document.querySelector('[role=option][aria-label=%q]');
		word.scrollIntoView({block: "center"});
		const r = word.getBoundingClientRect();
		return [r.left, r.top, r.right, r.bottom];
	})()`, word))
	picture, err := png.Decode(bytes.NewReader(p.Picture()))
	if err != nil {
		return err
	}
	dark, light := 0, 0
	for x := int(at[0]); x < int(at[2]); x++ {
		for y := int(at[1]); y < int(at[3]); y++ {
			if r, g, b, _ := picture.At(x, y).RGBA(); r+g+b < 3*0x5000 {
				dark++
			} else if r+g+b > 3*0xf000 {
				light++
			}
		}
	}
	if dark < 20 || light < 20 {
		return fmt.Errorf("where %s should be, %d pixels are dark and %d light", word, dark, light)
	}
	return nil
}

// hostile is an invoice of two pages that runs JavaScript and opens an address when it is opened, when a page is shown and when the
// page is clicked, and has HTML as text.
func hostile(address string) []byte {
	invoice := pdftest.Sample()
	invoice.Number = "H-1"
	first := invoice.Page()
	first.Texts = append(first.Texts, pdftest.Text{X: 60, Y: 600, Size: 10, Text: `<img/src=x/onerror=document.title=1>`})
	pdf := pdftest.Document{Pages: []pdftest.Page{first, {Texts: []pdftest.Text{{X: 60, Y: 100, Size: 12, Text: "Anhang"}}}}}.Bytes()
	script := fmt.Sprintf(`<< /S /JavaScript /JS (app.launchURL\("%[1]s/js"\); fetch\("%[1]s/js"\);) >>`, address)
	open := fmt.Sprintf(`<< /S /URI /URI (%s/uri) /Next %s >>`, address, script)
	const catalog, page = 1, 6 // as the pages above are numbered
	objects := map[int]string{
		catalog: fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /OpenAction %s /AA << /WC %s >> /Names << /JavaScript << /Names [(a) %s] >> >> >>",
			open, script, script),
		page: fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> "+
			"/Contents 5 0 R /AA << /O %s >> /Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 595 842] /A %s >>] >>", script, open),
	}
	return changed(pdf, objects)
}

// changed is a PDF with other objects behind it in the place of those of their numbers.
func changed(pdf []byte, objects map[int]string) []byte {
	before := pdf[bytes.LastIndex(pdf, []byte("startxref\n"))+len("startxref\n"):]
	before, _, _ = bytes.Cut(before, []byte("\n"))
	out := bytes.NewBuffer(pdf)
	table := "xref\n"
	for _, number := range slices.Sorted(maps.Keys(objects)) {
		table += fmt.Sprintf("%d 1\n%010d 00000 n \n", number, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", number, objects[number])
	}
	fmt.Fprintf(out, "%strailer\n<< /Size 100 /Root 1 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", table, before, out.Len())
	return out.Bytes()
}

// scanned is an invoice with three pictures on its page, each white above and black below: in the coding of fax machines, in JBIG2 and
// in JPEG 2000.
func scanned() []byte {
	fax := []byte{0xF2, 0x6A, 0x2F, 0xE0, 0x01, 0x00, 0x10} // 8 by 8, Group 4
	jbig2 := []byte{
		0, 0, 0, 0, 48, 0, 1, 0, 0, 0, 19, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // a page of 8 by 8
		0, 0, 0, 1, 38, 0, 1, 0, 0, 0, 25, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, // a region, as fax machines code it
	}
	jpx, _ := hex.DecodeString("ff4fff510029000000000010000000100000000000000000000000100000001000000000000000000001070101" + // 16 by 16
		"ff52000c00000001000004040001ff5c00044040ff90000a0000000000680001ff93df82b88c45034ad8a9efcc1bf68000000309097c86d14000000184" +
		"84bbaf580061212f049b0000c2425e00b400018484bc0168000309097802d000061212f005a0000c2425e00b400018484bc0168000309097802d00006" +
		"1212fffd9")
	invoice := pdftest.Sample()
	invoice.Number = "S-1"
	pdf := pdftest.Document{Pages: []pdftest.Page{invoice.Page()}}.Bytes()
	const page, content, first = 6, 20, 21
	draw, names := "", ""
	objects := map[int]string{}
	for i, picture := range []struct {
		dict string
		data []byte
	}{
		{"/Width 8 /Height 8 /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 8 /Rows 8 >>", fax},
		{"/Width 8 /Height 8 /BitsPerComponent 1 /ColorSpace /DeviceGray /Filter /JBIG2Decode", append(jbig2, fax...)},
		{"/Width 16 /Height 16 /BitsPerComponent 8 /ColorSpace /DeviceGray /Filter /JPXDecode", jpx},
	} {
		draw += fmt.Sprintf("q 100 0 0 100 %d 200 cm /P%d Do Q\n", 60+150*i, i)
		names += fmt.Sprintf("/P%d %d 0 R ", i, first+i)
		objects[first+i] = fmt.Sprintf("<< /Type /XObject /Subtype /Image %s /Length %d >>\nstream\n%s\nendstream", picture.dict,
			len(picture.data), picture.data)
	}
	objects[content] = fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(draw), draw)
	objects[page] = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> /XObject << " + names +
		">> >> /Contents [5 0 R 20 0 R] >>"
	return changed(pdf, objects)
}

// Given a scan as office machines write it, then its pictures are drawn.
func (s *mailedWorld) drawsScans(t *testing.T) {
	l := s.mailed(t, "k11", scanned()).Line
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + l.ID)
	p.Wait(pageDrawn)
	sheet := desktest.Evaluate[[]float64](p, `(() => {
		const sheet = document.querySelector("[data-part=sheet]");
		sheet.scrollIntoView({block: "end"});
		const r = sheet.getBoundingClientRect();
		return [r.left, r.top, r.width, r.height];
	})()`)
	err := until(s.within(startsWithin), func() error {
		picture, err := png.Decode(bytes.NewReader(p.Picture()))
		if err != nil {
			return err
		}
		dark := func(x, y float64) bool { // in points of the page, from its lower left
			r, g, b, _ := picture.At(int(sheet[0]+sheet[2]*x/595), int(sheet[1]+sheet[3]*(842-y)/842)).RGBA()
			return r+g+b < 3*0x5000
		}
		for i, coding := range []string{"fax", "JBIG2", "JPEG 2000"} {
			x := float64(60 + 150*i + 50)
			if above, below := dark(x, 275), dark(x, 225); above || !below {
				return fmt.Errorf("%s: dark above %v, below %v", coding, above, below)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Given a PDF that wants to run scripts and to open addresses, when its page is opened and clicked, then it is drawn and nothing else
// happens.
func (s *mailedWorld) doesNothingThatAPDFAsksFor(t *testing.T) {
	var asked atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(trap.Close)
	l := s.mailed(t, "k10", hostile(trap.URL)).Line
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + l.ID)
	p.Wait(pageDrawn)
	if desktest.Evaluate[bool](p, `(() => {
		const frame = document.querySelector("figure.drawn iframe");
		return frame.contentDocument !== null || frame.sandbox.value !== "allow-scripts";
	})()`) {
		t.Error("the frame has the desk's origin")
	}
	p.Do(chromedp.Focus("#field-gross"), chromedp.Click(fmt.Sprintf(wordOf, "14.880,00")))
	if got := offered(p); got != "14880.00" {
		t.Errorf("in English the page offers %q", got)
	}
	p.Do(chromedp.Focus("#field-invoiceNumber"), chromedp.Click(`[role=option][aria-label^="<img"]`))
	if got, want := offered(p), `<img/src=x/onerror=document.title=1>`; got != want {
		t.Errorf("the page offers %q, want %q", got, want)
	}
	p.Do(chromedp.Click("[data-part=next]"))
	p.Wait(`document.querySelector("figure.drawn").dataset.shown === "2" && document.querySelector("[role=option][aria-label=Anhang]")`)
	if text := p.Text(); !strings.Contains(text, "Page 2 of 2") {
		t.Errorf("the second page is %s", text)
	}
	p.Do(chromedp.Focus("#field-gross"))
	p.Wait(`document.querySelector("figure.drawn").dataset.shown === "1" && ` + fmt.Sprintf(boxOnWord, "14.880,00"))
	if title := desktest.Evaluate[string](p, `document.title`); title == "1" || asked.Load() > 0 {
		t.Errorf("the PDF has asked for %d addresses; the title is %q", asked.Load(), title)
	}
	if here := desktest.Evaluate[string](p, `location.href`); here != url+"/inbox/"+l.ID {
		t.Errorf("the PDF has led to %s", here)
	}
	// What isn't said by the frame doesn't count.
	p.Do(chromedp.Evaluate[chromedp.Void](`postMessage({ kind: "failed", why: "broken" }, "*"); setTimeout(() => { window.later = true; })`))
	p.Wait(`window.later`)
	if state := desktest.Evaluate[string](p, `document.querySelector("figure.drawn").dataset.state`); state != "drawn" {
		t.Errorf("after somebody else's message the page is %s", state)
	}
}

// Given a file that is broken, then its page says so, and the fields can be filled in; given a record of the application, then what
// was read still shows its place.
func (s *mailedWorld) saysThatAFileCannotBeDrawn(t *testing.T) {
	states, err := desktest.Mails(t.Context(), s.api.inbox, "demo", "house")
	s.must(err)
	ids := map[string]string{}
	for _, state := range states {
		ids[state.Line.Reading.Mail.MessageID.V] = state.Line.ID
	}
	if ids["k6"] == "" || ids["k7"] == "" {
		s.must(errors.New("the mails of the application's record and of the broken file are not there"))
	}
	p, url := s.signedIn(t, "demo", "uma", "de-AT")
	p.Open(url + "/inbox/" + ids["k7"])
	p.Wait(`document.querySelector("figure.drawn").dataset.state === "failed"`)
	if text := p.Text(); !strings.Contains(text, "Die Datei ist beschädigt") || strings.Contains(text, "Wörter der Seite") {
		t.Errorf("the page says %s", text)
	}
	if desktest.Evaluate[bool](p, `Boolean(document.querySelector("figure.drawn iframe"))`) {
		t.Error("the frame of a broken file is still there")
	}
	p.Check("a file that can't be drawn")
	p.Open(url + "/inbox/" + ids["k6"])
	p.Wait(pageDrawn)
	p.Do(chromedp.Click("table button.place"))
	p.Wait(`!document.querySelector(".place-box").hidden`)
	p.Check("the evidence beside its page")
}
