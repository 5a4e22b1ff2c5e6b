// Package apitest holds answers of the API against its OpenAPI document, for tests.
package apitest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Contract is the OpenAPI document as clients read it.
type Contract struct {
	paths    map[string]map[string]operation
	problems map[string]response // of components
	headers  map[string]bool     // that it describes of any answer
	schemas  *jsonschema.Compiler
	mu       sync.Mutex // of schemas, which keeps what it has compiled
}

// Operation is a call that the document describes.
type Operation struct {
	ID, Method, Path string
	Parameters       []Parameter
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name   string
	In     string // query, path or header
	Schema Schema
}

// Schema is what a parameter's value may be.
type Schema struct {
	Type      string
	Format    string
	Pattern   string
	Enum      []string
	Minimum   *int64
	Maximum   *int64
	MaxLength *int
	Items     *Schema
}

type operation struct {
	OperationID string
	Parameters  []Parameter
	Responses   map[string]response
}

type response struct {
	Ref     string `json:"$ref"`
	Headers map[string]struct{ Required bool }
	Content map[string]json.RawMessage
}

// documentURL names the document for the compiler of schemas; nothing is fetched.
const documentURL = "https://tallyhouse.invalid/openapi.json"

// ReadContract reads the OpenAPI document.
func ReadContract(text []byte) (*Contract, error) {
	var d struct {
		Paths      map[string]map[string]operation
		Components struct{ Responses map[string]response }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	whole, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	c := &Contract{paths: d.Paths, problems: d.Components.Responses, headers: make(map[string]bool), schemas: jsonschema.NewCompiler()}
	c.noteHeaders(d.Components.Responses)
	for _, methods := range d.Paths {
		for _, o := range methods {
			c.noteHeaders(o.Responses)
		}
	}
	c.schemas.DefaultDraft(jsonschema.Draft2020)
	c.schemas.AssertFormat()
	if err := c.schemas.AddResource(documentURL, whole); err != nil {
		return nil, fmt.Errorf("read the OpenAPI document: %w", err)
	}
	return c, nil
}

func (c *Contract) noteHeaders(of map[string]response) {
	for _, r := range of {
		for name := range r.Headers {
			c.headers[name] = true
		}
	}
}

// Operations are all that the document describes, in the order of their ids.
func (c *Contract) Operations() (all []Operation) {
	for path, methods := range c.paths {
		for method, o := range methods {
			all = append(all, Operation{ID: o.OperationID, Method: strings.ToUpper(method), Path: path, Parameters: o.Parameters})
		}
	}
	slices.SortFunc(all, func(a, b Operation) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Validate holds a value against a schema of the document's components.
func (c *Contract) Validate(component string, value any) error {
	return c.validate("/components/schemas/"+component, value)
}

func (c *Contract) validate(pointer string, value any) error {
	c.mu.Lock()
	schema, err := c.schemas.Compile(documentURL + "#" + pointer)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// Check says how an answer breaks the contract: its status, content type, headers and body are those that the document
// describes. Answers of what the document doesn't describe need only be problem documents where they say so.
func (c *Contract) Check(request *http.Request, answer *http.Response, body []byte) error {
	path := request.URL.Opaque
	if path == "" {
		path = request.URL.EscapedPath()
	}
	if _, err := url.PathUnescape(path); err != nil {
		return nil // refused by net/http before the API hears of it
	}
	if err := c.check(request.Method, path, answer, body); err != nil {
		return fmt.Errorf("%s %s answers otherwise than the document says: %w\n%.2000s", request.Method, path, err, body)
	}
	return nil
}

func (c *Contract) check(method, path string, answer *http.Response, body []byte) error {
	if method == http.MethodHead {
		return nil // has no body
	}
	kind, _, _ := strings.Cut(answer.Header.Get("Content-Type"), ";")
	schema := "/components/schemas/Error"
	if documented, o, ok := c.find(method, path); ok {
		status := strconv.Itoa(answer.StatusCode)
		said, ok := o.Responses[status]
		if !ok {
			return fmt.Errorf("status %s is not described", status)
		}
		pointer := "/paths/" + escape(documented) + "/" + strings.ToLower(method) + "/responses/" + status
		if said.Ref != "" {
			pointer = strings.TrimPrefix(said.Ref, "#")
			said = c.problems[pointer[strings.LastIndex(pointer, "/")+1:]]
		}
		for _, name := range slices.Sorted(maps.Keys(c.headers)) {
			header, described := said.Headers[name]
			switch given := answer.Header.Get(name) != ""; {
			case header.Required && !given:
				return fmt.Errorf("the header %s is missing from a %s", name, status)
			case given && !described:
				return fmt.Errorf("the header %s of a %s is not described", name, status)
			}
		}
		if len(said.Content) == 0 {
			if len(body) > 0 {
				return fmt.Errorf("a %s has a body", status)
			}
			return nil
		}
		if _, ok := said.Content[kind]; !ok {
			return fmt.Errorf("a %s of type %q is not described", status, kind)
		}
		if !strings.HasSuffix(kind, "json") {
			return nil
		}
		schema = pointer + "/content/" + escape(kind) + "/schema"
	} else if kind != "application/problem+json" {
		return nil
	}
	text, err := decoded(answer.Header.Get("Content-Encoding"), body)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("the body is no JSON: %w", err)
	}
	return c.validate(schema, value)
}

// find is what the document says of a request.
func (c *Contract) find(method, path string) (documented string, o operation, ok bool) {
	given := strings.Split(path, "/")
	for documented, methods := range c.paths {
		segments := strings.Split(documented, "/")
		if len(segments) != len(given) {
			continue
		}
		matches := true
		for i, s := range segments {
			matches = matches && (s == given[i] || strings.HasPrefix(s, "{") && given[i] != "")
		}
		if o, ok := methods[strings.ToLower(method)]; ok && matches {
			return documented, o, true
		}
	}
	return "", operation{}, false
}

// escape is a name as a part of a JSON pointer in a URL's fragment.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
}

func decoded(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("unpack the body: %w", err)
		}
		return io.ReadAll(r)
	case "zstd":
		r, err := zstd.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("unpack the body: %w", err)
		}
		defer r.Close()
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("the content encoding %q is not known", encoding)
}
