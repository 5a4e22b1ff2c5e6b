package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tallyhouse/api/problem"
	"tallyhouse/schemas/jsonschema"
)

// schema is what the tool's arguments may be.
func (t *Tool) schema() *jsonschema.Schema {
	closed := false
	s := &jsonschema.Schema{Type: "object", Properties: &jsonschema.Properties{}, AdditionalProperties: &closed}
	for _, a := range t.Arguments {
		described := *a.Schema
		if a.Description != "" {
			described.Description = a.Description
		}
		s.Properties.Add(a.Name, &described)
		if a.Required {
			s.Required = append(s.Required, a.Name)
		}
	}
	return s
}

// handler calls the operation.
func (t *Tool) handler(api http.Handler) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
		m := From(ctx)
		// This runs in a goroutine of its own, where a panic would end the process. The API reports those of its handlers itself.
		defer func() {
			if value := recover(); value != nil {
				result, err = failed(m, &problem.Error{Kind: problem.InternalError}), nil
			}
		}()
		target, wrong := t.target(call.Params.Arguments)
		if len(wrong) > 0 {
			return failed(m, &problem.Error{Kind: problem.InvalidQuery, Detail: "The arguments cannot be taken; errors lists why.",
				Parameters: wrong}), nil
		}
		request, err := http.NewRequestWithContext(m.Request.Context(), http.MethodGet, target, nil)
		if err != nil {
			return failed(m, &problem.Error{Kind: problem.InvalidQuery, Detail: "The arguments make no request."}), nil
		}
		request.RequestURI, request.RemoteAddr = target, m.Request.RemoteAddr
		for _, name := range []string{"Authorization", "X-Forwarded-For"} {
			request.Header[name] = m.Request.Header.Values(name)
		}
		request.Header.Set("X-Request-Id", m.ID) // so that the log shows the two beside each other
		answer := &answer{header: make(http.Header)}
		api.ServeHTTP(answer, request)
		if answer.full {
			return failed(m, &problem.Error{Kind: problem.InternalError, Detail: fmt.Sprintf("The answer is larger than the %d bytes "+
				"that a tool may return: ask for less, by limit, fields or filters.", maxAnswer)}), nil
		}
		return answer.result(), nil
	}
}

// failed is a tool's error that the API has not made itself.
func failed(m *Message, p *problem.Error) *mcp.CallToolResult {
	return (&answer{status: p.Kind.Status, body: p.Append(nil, m.ID)}).result()
}

var errType = errors.New("must be of the type that the tool's inputSchema says")

// target is the address of the operation's request. That of every argument which isn't part of the path is left to the API to
// judge, also whether there is such a parameter, and only once.
func (t *Tool) target(arguments json.RawMessage) (target string, wrong []problem.Parameter) {
	path := t.Path
	var query strings.Builder
	refuse := func(name, reason string) { wrong = append(wrong, problem.Parameter{Name: name, Reason: reason}) }
	err := members(arguments, func(name string, value json.RawMessage) {
		at := slices.IndexFunc(t.Arguments, func(a Argument) bool { return a.Name == name })
		var schema *jsonschema.Schema
		if at >= 0 {
			schema = t.Arguments[at].Schema
		}
		text, err := written(value, schema)
		if err != nil {
			refuse(name, err.Error())
			return
		}
		if place := "{" + name + "}"; at >= 0 && strings.Contains(path, place) {
			path = strings.Replace(path, place, url.PathEscape(text), 1)
			return
		}
		query.WriteString("&" + url.QueryEscape(name) + "=" + url.QueryEscape(text))
	})
	if err != nil {
		refuse("", "the arguments are no object")
	}
	for _, a := range t.Arguments {
		if a.Required && strings.Contains(path, "{"+a.Name+"}") && !slices.ContainsFunc(wrong,
			func(p problem.Parameter) bool { return p.Name == a.Name }) {
			refuse(a.Name, "is required")
		}
	}
	if query.Len() == 0 {
		return path, wrong
	}
	return path + "?" + query.String()[1:], wrong
}

// members calls each for the members of an object, in their order, also of one that is there twice.
func members(object json.RawMessage, each func(name string, value json.RawMessage)) error {
	if len(object) == 0 || string(object) == "null" {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return errors.Join(errType, err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return err
		}
		each(name.(string), value) // of an object, every other token is a name
	}
	return nil
}

// written is a value as the address of a request has it. The schema is nil for what no argument is called like.
func written(value json.RawMessage, schema *jsonschema.Schema) (string, error) {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(value))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	kind := any(nil)
	if schema != nil {
		kind = schema.Type
	}
	fits := func(name string) bool { return kind == nil || kind == name }
	switch v := v.(type) {
	case string:
		if fits("string") {
			return v, nil
		}
	case json.Number:
		if fits("integer") {
			return v.String(), nil
		}
	case bool:
		if fits("boolean") {
			return strconv.FormatBool(v), nil
		}
	case []any:
		if !fits("array") {
			break
		}
		items := make([]string, len(v))
		for i, item := range v {
			text, ok := item.(string)
			if !ok || strings.Contains(text, ",") {
				return "", errType
			}
			items[i] = text
		}
		return strings.Join(items, ","), nil
	}
	if kind == nil {
		return "", errors.New("is not an argument of this tool")
	}
	return "", errType
}

// answer takes what the API answers.
type answer struct {
	header http.Header
	status int
	body   []byte
	full   bool
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) {
	if a.full = a.full || len(a.body)+len(b) > maxAnswer; a.full {
		return 0, errors.New("the answer is too large for a tool")
	}
	a.body = append(a.body, b...)
	return len(b), nil
}

// result is the answer as a tool's: a problem is its error.
func (a *answer) result() *mcp.CallToolResult {
	result := &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(a.body)}},
		StructuredContent: json.RawMessage(a.body),
		IsError:           a.status != http.StatusOK,
	}
	if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err == nil {
		result.Meta = mcp.Meta{"tallyhouse/retryAfterSeconds": wait}
	}
	return result
}
