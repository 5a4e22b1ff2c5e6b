package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"

	"tallyhouse/api/access"
	"tallyhouse/api/pages"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/ratelimit"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/jsonschema"
)

const descriptionPath = "/v0/openapi.json"

// object is a schema of an object that has all of these members.
func object(names []string, schemas ...*resource.Schema) *resource.Schema {
	closed := false
	return &resource.Schema{Type: "object", Properties: &resource.Properties{Names: names, Schemas: schemas},
		Required: names, AdditionalProperties: &closed}
}

// plainList is the response of a list that is always one page.
func plainList(item *resource.Schema) *resource.Schema {
	return object([]string{"data"}, &resource.Schema{Type: "array", Items: item})
}

// list is the response of a paginated list.
func list(item *resource.Schema) *resource.Schema {
	return object([]string{"data", "page"}, &resource.Schema{Type: "array", Items: item}, pageSchema())
}

// countedList is the response of a paginated list that can count its items.
func countedList(item *resource.Schema) *resource.Schema {
	page := pageSchema()
	page.Properties.Names = append(page.Properties.Names, "total")
	page.Properties.Schemas = append(page.Properties.Schemas, &resource.Schema{
		Type: "integer", Minimum: jsonschema.Number(int64(0)),
		Description: "How many items match across all pages; only with count=true.",
	})
	return object([]string{"data", "page"}, &resource.Schema{Type: "array", Items: item}, page)
}

func pageSchema() *resource.Schema {
	return object([]string{"nextCursor", "limit"},
		&resource.Schema{Type: []string{"string", "null"},
			Description: "Send it as cursor for the next page; null on the last one."},
		&resource.Schema{Type: "integer", Minimum: jsonschema.Number(int64(1)), Maximum: jsonschema.Number(int64(maxLimit))})
}

// errorReference is the schema of every problem document.
func errorReference() *resource.Schema {
	text := func(description string) *resource.Schema {
		return &resource.Schema{Type: "string", Description: description}
	}
	parameter := object([]string{"name", "reason"}, text("The parameter or member."), text("What is wrong with it."))
	parameter.Properties.Names = append(parameter.Properties.Names, "allowed", "suggestion")
	parameter.Properties.Schemas = append(parameter.Properties.Schemas,
		&resource.Schema{Type: "array", Items: &resource.Schema{Type: "string"}, Description: "The values that it may have."},
		text("What may have been meant."))
	var types []string
	for _, k := range problem.Kinds() {
		types = append(types, k.Type())
	}
	s := object([]string{"type", "title", "status", "requestId"},
		&resource.Schema{Type: "string", KnownValues: types,
			Description: "A relative URI that names the kind of problem and leads to its explanation."},
		text("The kind of problem in words."),
		&resource.Schema{Type: "integer", Description: "The status of the response."},
		text("The same as in the header x-request-id."))
	s.Description = "A problem document (RFC 9457)."
	s.Properties.Names = append(s.Properties.Names, "detail", "errors")
	s.Properties.Schemas = append(s.Properties.Schemas, text("What was wrong this time."),
		&resource.Schema{Type: "array", Items: parameter,
			Description: "Of invalid-query and invalid-body: every offending parameter or member."})
	return resource.Reference(resource.Component{Name: "Error", Schema: s})
}

// describe makes the OpenAPI document from the operations and the tables of the resources.
func describe(operations []operation, basePath string, limit ratelimit.Policy) ([]byte, error) {
	var responses []*resource.Schema
	for i := range operations {
		responses = append(responses, operations[i].returns)
		if taken := operations[i].takes; taken != nil {
			responses = append(responses, taken)
		}
	}
	schemas, err := jsonschema.Definitions(append(responses, errorReference())...)
	if err != nil {
		return nil, fmt.Errorf("collect the schemas of the OpenAPI document: %w", err)
	}
	d := document{
		OpenAPI: "3.1.0",
		Info: documentInfo{
			Title:       "Tallyhouse",
			Version:     pages.Version(),
			Description: introduction,
			Contact:     map[string]string{"name": "Whoever runs this service"},
			License:     map[string]string{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		Servers:  []documentServer{{URL: "/" + strings.TrimPrefix(basePath, "/")}},
		Security: []map[string][]string{{"token": {}}},
		Tags:     []documentTag{{Name: "ledger", Description: "All that the API answers, and feedback about it."}},
		Paths:    make(map[string]map[string]documentOperation),
		Components: documentComponents{
			SecuritySchemes: map[string]map[string]string{"token": {
				"type": "http", "scheme": "bearer",
				"description": "An API key, `pk_<environment>_<prefix>_<secret>`, or a session token.",
			}},
			Parameters: map[string]documentParameter{"IfNoneMatch": {
				Name: "If-None-Match", In: "header", Schema: &resource.Schema{Type: "string"},
				Description: "The `ETag` of an answer that the client has: while it is still the answer, 304 without a body.",
			}},
			Schemas:   schemas,
			Responses: problemResponses(),
		},
	}
	for i := range operations {
		described, err := operations[i].describe(limit)
		if err != nil {
			return nil, err
		}
		d.Paths[operations[i].path] = map[string]documentOperation{strings.ToLower(operations[i].methods()[0]): described}
	}
	var text bytes.Buffer
	written := json.NewEncoder(&text)
	written.SetIndent("", "  ")
	written.SetEscapeHTML(false) // examples are as they are answered
	if err := written.Encode(d); err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return text.Bytes(), nil
}

// introduction is what the document begins with.
const introduction = "Read access to the money of projects: budgets, records, contracts, forecasts, cash flows, rents and loans.\n\n" +
	"- Amounts are whole numbers of the currency's smallest unit; amounts in different currencies are never added.\n" +
	"- Members that the caller may not see are left out, never null. `x-field-group` names the field groups that a member, " +
	"or a filter, needs, all of them.\n" +
	"- What a caller may not see answers as what does not exist: 404.\n" +
	"- Unknown, empty, repeated and malformed parameters are refused. Every problem's `type` leads to its explanation; " +
	"`/problems` lists them.\n" +
	"- Values of `x-extensible-enum` may grow: take a value that you don't know as such.\n" +
	"- What has changed between the versions stands at `/changelog`."

// problemStatuses are what every operation may answer beside its answer, by the name of their response.
var problemStatuses = []struct {
	status, name, description string
	kinds                     []*problem.Kind
	headers                   []string // beside those of every response
}{
	{"400", "BadRequest", "The query or body cannot be taken, or a filter, cursor or number of projects is not allowed.",
		[]*problem.Kind{problem.InvalidQuery, problem.InvalidBody, problem.InvalidCursor, problem.FilterNotAllowed,
			problem.TooManyProjects}, counted()},
	{"401", "Unauthorized", "The token is missing or gives no access.",
		[]*problem.Kind{problem.AuthenticationRequired, problem.InvalidCredentials}, []string{"WWW-Authenticate"}},
	{"404", "NotFound", "There is no such thing, or the caller may not see it.", []*problem.Kind{problem.NotFound}, counted()},
	{"405", "MethodNotAllowed", "The path does not take this method.", []*problem.Kind{problem.MethodNotAllowed},
		counted("Allow")},
	{"429", "TooManyRequests", "The caller sent too many requests; Retry-After says how many seconds to wait.",
		[]*problem.Kind{problem.TooManyRequests}, counted("Retry-After")},
	{"500", "InternalError", "The service could not answer; report the requestId.", []*problem.Kind{problem.InternalError},
		counted()},
}

// counted are the headers of a response to a request that is counted in the rate limit, and the named ones.
func counted(names ...string) []string { return append(names, "RateLimit", "RateLimit-Policy") }

// responseHeaders are those of every response and the named ones.
func responseHeaders(names ...string) map[string]documentHeader {
	described := map[string]string{
		"x-request-id":     "Names this request in the service's log.",
		"Link":             "Where feedback on the API is taken.",
		"ETag":             "Send it as If-None-Match: unchanged data are answered by 304.",
		"WWW-Authenticate": "How to authenticate.",
		"Allow":            "The methods that the path takes.",
		"Retry-After":      "Seconds to wait.",
		"RateLimit":        "How many requests are left, and in how many seconds there are more.",
		"RateLimit-Policy": "How many requests may be sent in how many seconds.",
	}
	headers := make(map[string]documentHeader)
	for _, name := range append(names, "x-request-id", "Link") {
		h := documentHeader{Description: described[name], Required: true, Schema: &resource.Schema{Type: "string"}}
		switch name {
		case "Retry-After":
			h.Schema = &resource.Schema{Type: "integer", Minimum: jsonschema.Number(int64(1))}
		case "RateLimit", "RateLimit-Policy":
			h.Required = false // without a limit, or while it cannot be counted, there are none
		}
		headers[name] = h
	}
	return headers
}

func problemResponses() map[string]documentResponse {
	all := map[string]documentResponse{
		"NotModified": {Description: "The client has the answer already: its tag is among those of If-None-Match.",
			Headers: responseHeaders(counted("ETag")...)},
	}
	for _, p := range problemStatuses {
		content := documentContent{Schema: errorReference(), Examples: make(map[string]documentExample)}
		for _, k := range p.kinds {
			request, shown := k.Example()
			content.Examples[k.Suffix] = documentExample{Summary: request, Value: shown}
		}
		all[p.name] = documentResponse{Description: p.description, Headers: responseHeaders(p.headers...),
			Content: map[string]documentContent{typeProblem: content}}
	}
	return all
}

func (o *operation) describe(limit ratelimit.Policy) (documentOperation, error) {
	sample, err := readExample(o)
	if err != nil {
		return documentOperation{}, err
	}
	described := documentOperation{
		OperationID: o.id, Summary: o.summary, Description: o.description, Tags: []string{"ledger"},
		Responses: map[string]documentResponse{
			"200": {
				Description: "The answer. Members that the caller may not see are left out.",
				Headers:     responseHeaders(counted("ETag")...),
				Content:     map[string]documentContent{typeJSON: {Schema: o.returns, Examples: sample.shown(sample.Response)}},
			},
			"304": {Ref: "#/components/responses/NotModified"},
		},
		Groups: o.groups(), Limits: o.limits(limit),
	}
	if o.takes != nil {
		described.Responses = map[string]documentResponse{"201": {
			Description: "It was received, and is kept.",
			Headers:     responseHeaders(counted()...),
			Content:     map[string]documentContent{typeJSON: {Schema: o.returns, Examples: sample.shown(sample.Response)}},
		}}
		described.Body = &documentBody{Required: true, Content: map[string]documentContent{
			typeJSON: {Schema: o.takes, Examples: sample.shown(sample.Body)}}}
	}
	for _, p := range problemStatuses {
		if o.takes != nil && p.status == "404" {
			continue // there is nothing to be found
		}
		described.Responses[p.status] = documentResponse{Ref: "#/components/responses/" + p.name}
	}
	for name, t := range o.pathParameters() {
		described.Parameters = append(described.Parameters,
			documentParameter{Name: name, In: "path", Required: true, Schema: t.Schema, Example: sample.path[name]})
	}
	for _, p := range o.params {
		shown := documentParameter{Name: p.Name, In: "query", Description: describeParam(p), Schema: p.Type.Schema,
			Groups: p.Groups.Names()}
		if p.Type.Style != "" {
			explode := false
			shown.Style, shown.Explode = p.Type.Style, &explode
		}
		described.Parameters = append(described.Parameters, shown)
	}
	if o.takes == nil {
		described.Parameters = append(described.Parameters, documentParameter{Ref: "#/components/parameters/IfNoneMatch"})
	}
	return described, nil
}

// pathParameters are those of the operation's path, in their order.
func (o *operation) pathParameters() iter.Seq2[string, query.Type] {
	return func(yield func(string, query.Type) bool) {
		for _, segment := range strings.Split(o.path, "/") {
			name, ok := parameter(segment)
			if !ok {
				continue
			}
			t, ok := o.pathTypes[name]
			if !ok {
				t = query.Text()
			}
			if !yield(name, t) {
				return
			}
		}
	}
}

// describeParam says what a parameter of the query does, and what it needs.
func describeParam(p query.Param) string {
	if p.Groups == 0 {
		return p.Description
	}
	return p.Description + " Needs the field group " + strings.Join(p.Groups.Names(), ", ") + "."
}

// groups are the field groups that some member of the answer, or some filter, needs.
func (o *operation) groups() []string {
	needed := make(map[string]bool)
	need := func(names []string) {
		for _, name := range names {
			needed[name] = true
		}
	}
	seen := make(map[*resource.Schema]bool)
	var walk func(s *resource.Schema)
	walk = func(s *resource.Schema) {
		if s == nil || seen[s] {
			return
		}
		seen[s] = true
		need(s.Group)
		parts := append([]*resource.Schema{s.Items}, s.AnyOf...)
		if d := s.Definition(); d != nil {
			parts = append(parts, d.Schema)
		}
		if s.Properties != nil {
			parts = append(parts, s.Properties.Schemas...)
		}
		for _, part := range parts {
			walk(part)
		}
	}
	walk(o.returns)
	for _, p := range o.params {
		need(p.Groups.Names())
	}
	return slices.DeleteFunc(access.All.Names(), func(name string) bool { return !needed[name] })
}

func (o *operation) limits(limit ratelimit.Policy) documentLimits {
	l := documentLimits{Requests: limit.Events, Seconds: seconds(limit.Window), Projects: o.maxProjects, Messages: o.maxMessages}
	for _, p := range o.params {
		if p.Name == "limit" {
			l.PageSize = &documentPageSize{Default: defaultLimit, Maximum: maxLimit}
		}
	}
	return l
}

// serveDescription answers with the OpenAPI document, the same that is public at /openapi.json.
func (s *Server) serveDescription(r *http.Request) (reply, error) {
	if r.Method != http.MethodGet {
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: dataMethods}
	}
	if _, wrong := query.Parse(r.URL.RawQuery, nil); len(wrong) > 0 {
		return reply{}, invalidQuery(wrong)
	}
	return reply{status: http.StatusOK, contentType: typeJSON, body: s.description, tagged: true}, nil
}
