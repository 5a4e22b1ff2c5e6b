package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/jsonschema"
)

// documentVersion is the version of the API's description (docs/api.md#versions).
const documentVersion = "0.1.4"

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

// Parts of the OpenAPI document, in the order in which they are written.
type (
	document struct {
		OpenAPI    string                                  `json:"openapi"`
		Info       documentInfo                            `json:"info"`
		Servers    []documentServer                        `json:"servers"`
		Security   []map[string][]string                   `json:"security"`
		Tags       []documentTag                           `json:"tags"`
		Paths      map[string]map[string]documentOperation `json:"paths"`
		Components documentComponents                      `json:"components"`
	}
	documentInfo struct {
		Title       string            `json:"title"`
		Version     string            `json:"version"`
		Description string            `json:"description"`
		License     map[string]string `json:"license"`
	}
	documentServer struct {
		URL string `json:"url"`
	}
	documentTag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	documentOperation struct {
		OperationID string                      `json:"operationId"`
		Summary     string                      `json:"summary"`
		Description string                      `json:"description"`
		Tags        []string                    `json:"tags"`
		Parameters  []documentParameter         `json:"parameters,omitempty"`
		Responses   map[string]documentResponse `json:"responses"`
	}
	documentParameter struct {
		Name        string           `json:"name"`
		In          string           `json:"in"`
		Required    bool             `json:"required,omitempty"`
		Description string           `json:"description,omitempty"`
		Style       string           `json:"style,omitempty"`
		Explode     *bool            `json:"explode,omitempty"`
		Schema      *resource.Schema `json:"schema"`
	}
	documentResponse struct {
		Ref         string                     `json:"$ref,omitempty"`
		Description string                     `json:"description,omitempty"`
		Headers     map[string]documentHeader  `json:"headers,omitempty"`
		Content     map[string]documentContent `json:"content,omitempty"`
	}
	documentHeader struct {
		Description string           `json:"description"`
		Schema      *resource.Schema `json:"schema"`
	}
	documentContent struct {
		Schema *resource.Schema `json:"schema"`
	}
	documentComponents struct {
		SecuritySchemes map[string]map[string]string `json:"securitySchemes"`
		Schemas         *resource.Properties         `json:"schemas"`
		Responses       map[string]documentResponse  `json:"responses"`
	}
)

// describe makes the OpenAPI document from the operations and the tables of the resources.
func describe(operations []operation, basePath string) ([]byte, error) {
	var responses []*resource.Schema
	for i := range operations {
		responses = append(responses, operations[i].returns)
	}
	schemas, err := jsonschema.Definitions(append(responses, errorReference())...)
	if err != nil {
		return nil, fmt.Errorf("collect the schemas of the OpenAPI document: %w", err)
	}
	d := document{
		OpenAPI: "3.1.0",
		Info: documentInfo{
			Title:       "Tallyhouse",
			Version:     documentVersion,
			Description: "Read access to projects, their budgets and the records ledger: the money that moves on a project.",
			License:     map[string]string{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		Servers:  []documentServer{{URL: "/" + strings.TrimPrefix(basePath, "/")}},
		Security: []map[string][]string{{"token": {}}},
		Tags:     []documentTag{{Name: "ledger", Description: "Projects, budgets and records."}},
		Paths:    make(map[string]map[string]documentOperation),
		Components: documentComponents{
			SecuritySchemes: map[string]map[string]string{"token": {
				"type": "http", "scheme": "bearer",
				"description": "An API key, pk_<environment>_<prefix>_<secret>, or a session token.",
			}},
			Schemas:   schemas,
			Responses: problemResponses(),
		},
	}
	for i := range operations {
		d.Paths[operations[i].path] = map[string]documentOperation{"get": operations[i].describe()}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return append(text, '\n'), nil
}

// problemStatuses are what every operation may answer beside 200, by the name of their response.
var problemStatuses = []struct{ status, name, description string }{
	{"400", "BadRequest", "The query cannot be taken, or a filter, cursor or number of projects is not allowed."},
	{"401", "Unauthorized", "The token is missing or gives no access."},
	{"404", "NotFound", "There is no such thing, or the caller may not see it."},
	{"405", "MethodNotAllowed", "The path does not take this method."},
	{"429", "TooManyRequests", "The caller sent too many requests; Retry-After says how many seconds to wait."},
	{"500", "InternalError", "The service could not answer; report the requestId."},
}

func problemResponses() map[string]documentResponse {
	all := make(map[string]documentResponse)
	for _, p := range problemStatuses {
		headers := map[string]documentHeader{
			"x-request-id": {Description: "Names this request in the service's log.", Schema: &resource.Schema{Type: "string"}},
		}
		if p.status == "429" {
			headers["Retry-After"] = documentHeader{Description: "Seconds to wait.", Schema: &resource.Schema{Type: "integer"}}
		}
		all[p.name] = documentResponse{Description: p.description, Headers: headers,
			Content: map[string]documentContent{typeProblem: {Schema: errorReference()}}}
	}
	return all
}

func (o *operation) describe() documentOperation {
	described := documentOperation{
		OperationID: o.id, Summary: o.summary, Description: o.description, Tags: []string{"ledger"},
		Responses: map[string]documentResponse{"200": {
			Description: "The answer. Members that the caller may not see are left out.",
			Headers: map[string]documentHeader{
				"x-request-id": {Description: "Names this request in the service's log.", Schema: &resource.Schema{Type: "string"}},
				"ETag": {Description: "Send it as If-None-Match: unchanged data are answered by 304.",
					Schema: &resource.Schema{Type: "string"}},
			},
			Content: map[string]documentContent{typeJSON: {Schema: o.returns}},
		}},
	}
	for _, p := range problemStatuses {
		described.Responses[p.status] = documentResponse{Ref: "#/components/responses/" + p.name}
	}
	for _, segment := range strings.Split(o.path, "/") {
		if name, ok := parameter(segment); ok {
			schema := query.Text().Schema
			if t, ok := o.pathTypes[name]; ok {
				schema = t.Schema
			}
			described.Parameters = append(described.Parameters,
				documentParameter{Name: name, In: "path", Required: true, Schema: schema})
		}
	}
	for _, p := range o.params {
		shown := documentParameter{Name: p.Name, In: "query", Description: p.Description, Schema: p.Type.Schema}
		if p.Groups != 0 {
			shown.Description += " Needs the field group " + strings.Join(p.Groups.Names(), ", ") + "."
		}
		if p.Type.Style != "" {
			explode := false
			shown.Style, shown.Explode = p.Type.Style, &explode
		}
		described.Parameters = append(described.Parameters, shown)
	}
	return described
}

// serveDescription answers with the OpenAPI document, the same that is public at /openapi.json.
func (s *Server) serveDescription(r *http.Request) (reply, error) {
	switch {
	case r.Method != http.MethodGet:
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: dataMethods}
	default:
		return reply{status: http.StatusOK, contentType: typeJSON, body: s.description, tagged: true}, nil
	}
}
