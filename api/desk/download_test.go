package desk

import (
	"context"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tallyhouse/api/access"
	"tallyhouse/schemas/events"
)

// keptContent is an original whatever is asked for.
type keptContent struct{}

func (keptContent) Original(context.Context, string, string) ([]byte, error) {
	return []byte("%PDF-1.7"), nil
}

// A file that a stranger has sent is saved under his name for it, but as what it is: a program that has the mark of a PDF near its
// beginning is no program to whoever opens it.
func TestFilesAreSavedAsWhatTheyAre(t *testing.T) {
	v := &visit{desk: &Desk{originals: keptContent{}}, request: httptest.NewRequest(http.MethodGet, "/", nil), caller: &access.Caller{}}
	for _, c := range []struct {
		name, of, want string
	}{
		{"Rechnung 17.pdf", "pdf", "Rechnung 17.pdf"}, {"RECHNUNG.PDF", "pdf", "RECHNUNG.PDF"}, {"Rechnung.exe", "pdf", "Rechnung.exe.pdf"},
		{"page.html", "pdf", "page.html.pdf"}, {"page.html", "xml", "page.html.xml"}, {"xrechnung.xml", "xml", "xrechnung.xml"},
		{"Rechnung", "pdf", "Rechnung.pdf"}, {`a"; filename="b.exe`, "pdf", `a"; filename="b.exe.pdf`}, {"Müller.pdf", "pdf", "Müller.pdf"},
	} {
		answer, err := v.downloadOf(&events.ReadDocument{Name: c.name, Type: c.of, SHA256: "00"})
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		if err := answer.write(v, w); err != nil {
			t.Fatal(err)
		}
		kind, parameters, err := mime.ParseMediaType(w.Header().Get("Content-Disposition"))
		if err != nil || kind != "attachment" || parameters["filename"] != c.want {
			t.Errorf("a %s named %s is saved by %q (%v)", c.of, c.name, w.Header().Get("Content-Disposition"), err)
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(policy, "sandbox;") ||
			w.Header().Get("Cache-Control") != "private, no-store" {
			t.Errorf("it is answered with the policy %q, to be kept %q", policy, w.Header().Get("Cache-Control"))
		}
	}
}
