package desk

import (
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
)

// The page of an invoice as drawn: static/page.js shows it beside the fields, and static/frame.mjs draws it by pdf.js in a frame, so
// that a hostile PDF meets a place from where nothing can be reached (docs/desk.md#what-keeps-it-safe).

const framePath = "/frame"

// framePolicy is what the frame may do: run the desk's scripts, in a worker too. It has no origin, so no cookies and no
// storage; nothing is loaded or sent, nothing is compiled from text, and only pages of the desk can show it.
const framePolicy = "sandbox allow-scripts; default-src 'none'; script-src 'self'; worker-src blob:; style-src 'self'; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

var frameTemplate = template.Must(template.New("frame").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Page</title><link rel="stylesheet" href="{{.Style}}"></head>
<body data-library="{{.Library}}" data-worker="{{.Worker}}" data-decoders="{{.Decoders}}">
<canvas></canvas><script type="module" src="{{.Script}}"></script></body>
</html>
`))

// frame serves the document that pages are drawn in. It is the same for everybody.
func (d *Desk) frame() (http.Handler, error) {
	var files struct{ Style, Library, Worker, Decoders, Script string }
	for name, into := range map[string]*string{"frame.css": &files.Style, "pdf.min.mjs": &files.Library,
		"pdf.worker.min.mjs": &files.Worker, decoders: &files.Decoders, "frame.mjs": &files.Script} {
		var err error
		if *into, err = d.assets.address(name); err != nil {
			return nil, err
		}
	}
	var body strings.Builder
	if err := frameTemplate.Execute(&body, files); err != nil {
		return nil, fmt.Errorf("write the frame: %w", err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", framePolicy)
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Cache-Control", "no-cache")
		_, _ = fmt.Fprint(w, body.String()) // the browser may have left
	}), nil
}

// drawnPage is what a mail's page needs to show the invoice as drawn.
type drawnPage struct {
	File    string // address of the PDF
	Frame   string
	Decimal string // mark of the person's language
	Fields  []choice
	// Failures are the reasons why nothing is drawn, as the script names them.
	Failures []string
}

// drawnDocument is the PDF that is shown of a reading, counted from 1: the one that the values are from, else the first one; 0 where
// there is none. Places are known only in a PDF that the values are from.
func drawnDocument(r *events.Reading) (number int, hasPlaces bool) {
	for i, d := range r.Documents {
		if d.Type != "pdf" {
			continue
		}
		if d.Stated {
			return i + 1, true
		}
		if number == 0 {
			number = i + 1
		}
	}
	return number, false
}

// drawn is the page as drawn; nil where there is no PDF or originals are not kept.
func (v *visit) drawn(id string, r *events.Reading) *drawnPage {
	number, _ := drawnDocument(r)
	if number == 0 || v.desk.originals == nil {
		return nil
	}
	d := &drawnPage{File: target("/inbox/%s/documents/"+fmt.Sprint(number), []string{id}), Frame: framePath,
		Decimal: v.lang.Decimal, Failures: []string{"broken", "password", "slow", "away"}}
	for _, f := range fieldsOfForm() {
		if f.name != analytics.FieldContractor { // which is no text of the page
			d.Fields = append(d.Fields, choice{Value: f.name, Name: v.lang.Name("field", f.name)})
		}
	}
	return d
}

// place is where something stands on the page that is drawn: the page, then left, top, right and bottom in parts of ten thousand; ""
// where nothing is known.
func place(r *events.Reading, page int64, box events.Opt[events.Box]) string {
	if _, has := drawnDocument(r); !has || page == 0 || !box.Ok {
		return ""
	}
	return fmt.Sprint(page, box.V.Left, box.V.Top, box.V.Right, box.V.Bottom)
}
