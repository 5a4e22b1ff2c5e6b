package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"tallyhouse/api/agents"
	"tallyhouse/api/problem"
)

// Agents find the operations that read data as tools, outside /v0 (docs/mcp.md). A message of an agent is a request; what it asks
// a tool for becomes another one, which goes through all that the API checks.

const (
	agentsPath = "/mcp"
	// maxMessage bounds a message of an agent, in bytes.
	maxMessage = 64 << 10
	// agentGrace is how much longer than the request of a tool its message may take.
	agentGrace = 2 * time.Second
	// agentShare is how much less of messages than of requests is worked on at the same time: their answers are copied several times.
	agentShare = 2
)

// agentTools makes a tool of each operation that reads data.
func (s *Server) agentTools() []agents.Tool {
	var tools []agents.Tool
	for i := range s.operations {
		o := &s.operations[i]
		if o.takes != nil {
			continue
		}
		tool := agents.Tool{Name: o.id, Title: o.summary, Description: o.description, Path: s.basePath + o.path}
		for name, t := range o.pathParameters() {
			tool.Arguments = append(tool.Arguments, agents.Argument{Name: name, Schema: t.Schema, Required: true})
		}
		for _, p := range o.params {
			tool.Arguments = append(tool.Arguments, agents.Argument{Name: p.Name, Description: describeParam(p), Schema: p.Type.Schema})
		}
		tools = append(tools, tool)
	}
	return tools
}

// serveAgents answers a message. The message counts as the request that it is; the request of a tool doesn't count again.
func (s *Server) serveAgents(ctx context.Context, r *http.Request, header http.Header, seen *observation) (reply, error) {
	if origin := r.Header.Get("Origin"); origin != "" && !s.allowed(origin) {
		return s.foreign(seen), nil
	}
	caller, err := s.identify(ctx, r, header, seen)
	refused, _ := errors.AsType[*problem.Error](err)
	if caller == nil || err != nil && refused == nil {
		return reply{}, err
	}
	seen.operation = "agents"
	body, err := readMessage(r)
	switch {
	case err != nil && refused != nil:
		return reply{}, refused
	case err != nil:
		return reply{}, err
	case refused != nil:
		s.refusals.hold(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.messages.enter(ctx, caller.Tenant(), caller.Principal())
	if err != nil {
		return reply{}, err
	}
	defer request.finish(0) // where it is not answered, also by a panic
	m := &agents.Message{ID: seen.requestID, Refused: refused}
	m.Request = r.WithContext(agents.With(ctx, m))
	outer, cancel := context.WithTimeout(agents.With(r.Context(), m), s.timeout+agentGrace)
	defer cancel()
	message := r.WithContext(outer)
	message.Body = io.NopCloser(bytes.NewReader(body))
	out := &recorder{header: make(http.Header)}
	s.agents.ServeHTTP(out, message)
	if out.status == 0 {
		return reply{}, errors.New("a message of an agent was not answered in time")
	}
	if out.status >= http.StatusBadRequest && !strings.HasPrefix(out.header.Get("Content-Type"), typeJSON) {
		return reply{}, noMessage()
	}
	request.finish(len(out.body) + sendingOverhead)
	return reply{status: out.status, contentType: out.header.Get("Content-Type"), body: out.body, admitted: request}, nil
}

// noMessage is said in the place of what the protocol's library says of a message that it can't take: a line of text, with Go's names.
func noMessage() error {
	return &problem.Error{Kind: problem.InvalidBody, Detail: "This is no message of the protocol that is served here: see its " +
		"members jsonrpc, id and method, and the headers Content-Type, Accept and MCP-Protocol-Version."}
}

// readMessage reads the body of a request before it waits for its turn: a slow client takes nobody's. A batch is refused: it would
// be many requests.
func readMessage(r *http.Request) ([]byte, error) {
	if r.Method != http.MethodPost {
		return nil, &problem.Error{Kind: problem.MethodNotAllowed, Allow: []string{http.MethodPost}}
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxMessage+1))
	refuse := func(detail string) ([]byte, error) {
		return nil, &problem.Error{Kind: problem.InvalidBody, Detail: detail}
	}
	switch {
	case err != nil:
		return refuse("The body could not be read to its end.")
	case len(body) > maxMessage:
		return refuse(fmt.Sprintf("The body has more than %d bytes.", maxMessage))
	case !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")):
		return refuse("Send one message, a JSON object.")
	}
	return body, nil
}

// foreign refuses a page of an origin that isn't allowed, before anything else of it is looked at.
func (s *Server) foreign(seen *observation) reply {
	return reply{status: http.StatusForbidden, contentType: typeProblem, body: fmt.Appendf(nil,
		`{"type":"about:blank","title":"Forbidden","status":403,"detail":"Pages of this origin may not call this service.","requestId":%q}`,
		seen.requestID)}
}

// recorder takes what the handler of messages answers.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (a *recorder) Header() http.Header { return a.header }

func (a *recorder) WriteHeader(status int) { a.status = status }

func (a *recorder) Write(b []byte) (int, error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	a.body = append(a.body, b...)
	return len(b), nil
}
