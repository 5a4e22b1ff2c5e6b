package api_test

import (
	"context"
	"flag"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"tallyhouse/api"
)

// contract is the OpenAPI document as clients read it; every answer is held against it.
type contract struct{ doc *openapi3.T }

func (w *world) loadContract() *contract {
	w.Helper()
	answer, err := http.Get(w.url + "/openapi.json")
	w.must(err)
	defer answer.Body.Close()
	doc, err := openapi3.NewLoader().LoadFromIoReader(answer.Body)
	w.must(err)
	w.must(doc.Validate(context.Background()))
	return &contract{doc}
}

// operation finds what the document says of a request.
func (c *contract) operation(method, escapedPath string) *openapi3.Operation {
	given := strings.Split(escapedPath, "/")
	for path, item := range c.doc.Paths.Map() {
		wanted := strings.Split(path, "/")
		if len(wanted) == len(given) && !slices.ContainsFunc(wanted, func(s string) bool {
			i := slices.Index(wanted, s)
			return !strings.HasPrefix(s, "{") && s != given[i]
		}) {
			return item.GetOperation(method)
		}
	}
	return nil
}

// check holds an answer against the document: its status, its content type and its body.
func (c *contract) check(t testing.TB, method, escapedPath string, r response) {
	t.Helper()
	kind, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	schema := c.doc.Components.Schemas["Error"]
	if operation := c.operation(method, escapedPath); operation != nil && r.status != http.StatusNotModified {
		said := operation.Responses.Value(strconv.Itoa(r.status))
		if said == nil {
			t.Fatalf("%s %s answered %d, which the document does not know", method, escapedPath, r.status)
		}
		content := said.Value.Content.Get(kind)
		if content == nil {
			t.Fatalf("%s %s answered %d as %q, which the document does not know", method, escapedPath, r.status, kind)
		}
		schema = content.Schema
	} else if kind != "application/problem+json" {
		return
	}
	if err := c.validate(schema.Value, r.json); err != nil {
		t.Fatalf("%s %s does not answer as the document says: %.300v\n%s", method, escapedPath, err, r.body)
	}
}

func (c *contract) validate(schema *openapi3.Schema, value any) error {
	return c.doc.ValidateSchemaJSON(schema, value, openapi3.EnableFormatValidation())
}

func TestTheDocumentRefusesWhatTheAPINeverAnswers(t *testing.T) {
	w := newWorld(t)
	good := func() map[string]any {
		return map[string]any{"id": "P1", "name": "N", "workspaceId": nil}
	}
	project := w.contract.doc.Components.Schemas["Project"].Value
	if err := w.contract.validate(project, good()); err != nil {
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
		if w.contract.validate(project, bad) == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestTheRouterAndTheDocumentAreInBijection(t *testing.T) {
	// Given
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.known(adminKey)
	doc := w.contract.doc

	// Then every operation of the document is served: an id that doesn't exist is told by its own 404, after the query was
	// read.
	documented := make(map[string]bool)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			documented[operation.OperationID] = true
			if method != http.MethodGet {
				t.Fatalf("%s %s: what reads data is GET", method, path)
			}
			concrete := path
			for _, p := range operation.Parameters {
				if p.Value.In == "path" {
					concrete = strings.ReplaceAll(concrete, "{"+p.Value.Name+"}", "none")
				}
			}
			w.get(adminKey, concrete+"?nonsense=1").want(t, http.StatusBadRequest, "invalid-query")
			w.do(http.MethodPut, adminKey, concrete, nil).want(t, http.StatusMethodNotAllowed, "method-not-allowed")
		}
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

func TestEveryParameterOfTheDocumentIsTaken(t *testing.T) {
	// Given
	w := newWorld(t)
	w.user("U", adminKey, "admin")
	w.known(adminKey)
	for path, item := range w.contract.doc.Paths.Map() {
		for _, p := range item.Get.Parameters {
			if p.Value.In != "query" {
				continue
			}
			// When it is sent empty
			r := w.get(adminKey, strings.NewReplacer("{projectId}", "x", "{recordId}", "x", "{contractId}", "x", "{month}",
				"2026-01").Replace(path)+"?"+p.Value.Name+"=").want(t, http.StatusBadRequest, "invalid-query")
			// Then it is refused as empty, not as unknown
			if wrong := r.wrong(); len(wrong) != 1 || wrong[p.Value.Name] != "is empty" {
				t.Errorf("%s ?%s=: %v", path, p.Value.Name, wrong)
			}
		}
	}
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
}
