package main

import (
	"bytes"
	"errors"
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
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
	before := pdf[bytes.LastIndex(pdf, []byte("startxref\n"))+len("startxref\n"):]
	before, _, _ = bytes.Cut(before, []byte("\n"))
	out := bytes.NewBuffer(pdf)
	table := "xref\n"
	for _, number := range []int{catalog, page} {
		table += fmt.Sprintf("%d 1\n%010d 00000 n \n", number, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", number, objects[number])
	}
	fmt.Fprintf(out, "%strailer\n<< /Size 9 /Root 1 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", table, before, out.Len())
	return out.Bytes()
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
