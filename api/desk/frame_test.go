package desk

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tallyhouse/schemas/events"
)

// The frame that draws PDFs can run the desk's scripts and nothing else: it has no origin, loads and sends nothing, and compiles nothing.
func TestTheFrameCanDoNothingButDraw(t *testing.T) {
	files, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	frame, err := (&Desk{assets: files}).frame()
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	secured(frame).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, framePath, nil))
	got := map[string]string{}
	for directive := range strings.SplitSeq(w.Header().Get("Content-Security-Policy"), "; ") {
		name, value, _ := strings.Cut(directive, " ")
		got[name] = value
	}
	want := map[string]string{"sandbox": "allow-scripts", "default-src": "'none'", "script-src": "'self'", "worker-src": "blob:",
		"style-src": "'self'", "form-action": "'none'", "base-uri": "'none'", "frame-ancestors": "'self'"}
	for name := range got {
		if got[name] != want[name] {
			t.Errorf("the frame may have %s %s, want %q", name, got[name], want[name])
		}
	}
	if len(got) != len(want) {
		t.Errorf("the frame's policy is %v", got)
	}
}

// Places are shown in the PDF that the values are from, and in no other.
func TestThePDFThatIsDrawn(t *testing.T) {
	pdf, xml := events.ReadDocument{Type: "pdf"}, events.ReadDocument{Type: "xml"}
	statedPDF, statedXML := events.ReadDocument{Type: "pdf", Stated: true}, events.ReadDocument{Type: "xml", Stated: true}
	for _, c := range []struct {
		documents []events.ReadDocument
		number    int
		place     string
	}{
		{nil, 0, ""},
		{[]events.ReadDocument{xml}, 0, ""},
		{[]events.ReadDocument{pdf, statedPDF}, 2, "3 10 20 30 40"},
		{[]events.ReadDocument{statedXML, pdf, pdf}, 2, ""},
	} {
		r := &events.Reading{Documents: c.documents}
		number, _ := drawnDocument(r)
		at := place(r, 3, events.Some(events.Box{Left: 10, Top: 20, Right: 30, Bottom: 40}))
		if number != c.number || at != c.place {
			t.Errorf("of %v document %d is drawn, with the place %q; want %d, %q", c.documents, number, at, c.number, c.place)
		}
		if at := place(r, 0, events.Some(events.Box{})) + place(r, 1, events.Opt[events.Box]{}); at != "" {
			t.Errorf("what stands nowhere has the place %q", at)
		}
	}
}
