package api_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tallyhouse/api"
	"tallyhouse/api/apitest"
)

// description is the OpenAPI document as clients read it; every answer is held against it.
func (w *world) description() []byte {
	w.Helper()
	answer, err := http.Get(w.url + "/openapi.json")
	w.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.must(err)
	return text
}

func TestTheDocumentIsOpenAPI(t *testing.T) {
	w := newWorld(t)
	doc, err := openapi3.NewLoader().LoadFromData(w.description())
	w.must(err)
	w.must(doc.Validate(context.Background()))
	if doc.OpenAPI != "3.1.0" || doc.Info.Version != "0.1.4" {
		t.Errorf("the document says OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
}

func TestTheDocumentRefusesWhatTheAPINeverAnswers(t *testing.T) {
	w := newWorld(t)
	good := func() map[string]any {
		return map[string]any{"id": "P1", "name": "N", "workspaceId": nil}
	}
	if err := w.contract.Validate("Project", good()); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"an unknown member": func(p map[string]any) { p["more"] = 1 },
		"a missing member":  func(p map[string]any) { delete(p, "name") },
		"null":              func(p map[string]any) { p["name"] = nil },
		"another type":      func(p map[string]any) { p["id"] = 1.0 },
	} {
		bad := good()
		change(bad)
		if w.contract.Validate("Project", bad) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTheContractRefusesAnswersThatItDoesNotDescribe(t *testing.T) {
	w := adminWorld(t)
	w.records(record{id: "R1", project: "P1"})
	request, err := http.NewRequest(http.MethodGet, w.url+"/v0/records/R1", nil)
	w.must(err)
	request.Header.Set("Authorization", "Bearer "+adminKey)
	answer, err := http.DefaultClient.Do(request)
	w.must(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	w.must(err)
	w.must(w.contract.Check(request, answer, body))
	for name, change := range map[string]func(a *http.Response, body []byte) []byte{
		"another status": func(a *http.Response, body []byte) []byte { a.StatusCode = http.StatusTeapot; return body },
		"another type": func(a *http.Response, body []byte) []byte {
			a.Header.Set("Content-Type", "text/html")
			return body
		},
		"no request id": func(a *http.Response, body []byte) []byte { a.Header.Del("X-Request-Id"); return body },
		"no entity tag": func(a *http.Response, body []byte) []byte { a.Header.Del("ETag"); return body },
		"another body":  func(*http.Response, []byte) []byte { return []byte(`{"id":"R1"}`) },
		"no JSON":       func(_ *http.Response, body []byte) []byte { return body[1:] },
		"a body of 304": func(a *http.Response, body []byte) []byte { a.StatusCode = http.StatusNotModified; return body },
		"a broken code": func(a *http.Response, body []byte) []byte { a.Header.Set("Content-Encoding", "gzip"); return body },
	} {
		changed := *answer
		changed.Header = answer.Header.Clone()
		if text := change(&changed, body); w.contract.Check(request, &changed, text) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTheRouterAndTheDocumentAreInBijection(t *testing.T) {
	// Given
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.known(adminKey)

	// Then every operation of the document is served: its query is read.
	documented := make(map[string]bool)
	for _, o := range w.contract.Operations() {
		documented[o.ID] = true
		if wanted := map[bool]string{true: http.MethodPost, false: http.MethodGet}[o.ID == "sendFeedback"]; o.Method != wanted {
			t.Fatalf("%s %s: what reads data is GET, and feedback is POST", o.Method, o.Path)
		}
		path := concrete(o)
		w.do(o.Method, adminKey, path+"?nonsense=1", nil).want(t, http.StatusBadRequest, "invalid-query")
		w.do(http.MethodPut, adminKey, path, nil).want(t, http.StatusMethodNotAllowed, "method-not-allowed")
	}
	// And every operation of the router is documented.
	for _, id := range api.OperationIDs() {
		if !documented[id] {
			t.Errorf("%s is served, but not documented", id)
		}
		delete(documented, id)
	}
	if len(documented) > 0 {
		t.Errorf("documented, but not served: %v", documented)
	}
}

// concrete is the operation's path with ids of what doesn't exist, and a month.
func concrete(o apitest.Operation) string {
	path := o.Path
	for _, p := range o.Parameters {
		value := "none"
		if p.Schema.Pattern != "" {
			value = "2026-01"
		}
		if p.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Name+"}", value)
		}
	}
	return path
}

var update = flag.Bool("update", false, "write the document to schemas anew")

func TestTheDocumentIsWrittenDown(t *testing.T) {
	const path = "../schemas/openapi.json"
	served, err := api.Description()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, served, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(written) != string(served) {
		t.Errorf("%s is not what is served: make generate", path)
	}
}

func TestTheDocumentIsPublicAndBelowV0(t *testing.T) {
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.known(adminKey)

	public := w.get("", "/openapi.json").want(t, http.StatusOK, "")
	w.get("", "/v0/openapi.json").want(t, http.StatusUnauthorized, "authentication-required")
	private := w.get(adminKey, "/v0/openapi.json").want(t, http.StatusOK, "")
	if string(public.body) != string(private.body) || len(public.body) == 0 {
		t.Error("the two documents differ")
	}
	w.do(http.MethodPost, adminKey, "/v0/openapi.json", nil).want(t, http.StatusMethodNotAllowed, "method-not-allowed")
	w.get(adminKey, "/v0/openapi.json?version=1").want(t, http.StatusBadRequest, "invalid-query")
}
