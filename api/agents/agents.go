// Package agents serves the API's operations to agents: as tools of the Model Context Protocol, over streamable HTTP
// (docs/mcp.md). A tool makes a request of its arguments and gives it to the API's own handler, so access, limits and
// answers are those of the API, whoever asks.
package agents

import (
	"context"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tallyhouse/api/problem"
	"tallyhouse/schemas/jsonschema"
)

// maxAnswer bounds the body that a tool returns, in bytes: models take much less at a time.
const maxAnswer = 4 << 20

// Tool is an operation as agents call it.
type Tool struct {
	Name        string
	Title       string
	Description string
	Path        string // with {names} of the arguments that belong into it
	Arguments   []Argument
}

// Argument is a parameter of the operation.
type Argument struct {
	Name        string
	Description string
	Schema      *jsonschema.Schema
	Required    bool
}

// Message is what an agent has sent. Handler finds it in the context of a request (With).
type Message struct {
	// Request is the one that brought the message. Tools take the caller and the time from it.
	Request *http.Request
	// ID names that request.
	ID string
	// Refused says that there were too many requests: tools answer it by themselves, all else is refused with it.
	Refused *problem.Error
}

type messageKey struct{}

// With lets Handler, and the requests that tools make, find the message.
func With(ctx context.Context, m *Message) context.Context {
	return context.WithValue(ctx, messageKey{}, m)
}

// From is the message that a request was made for, nil when it was made for none.
func From(ctx context.Context) *Message {
	m, _ := ctx.Value(messageKey{}).(*Message)
	return m
}

// instructions are what a model is told about the tools together.
const instructions = "Read access to projects, their budgets and the records ledger: the money that moves on a project. Amounts are " +
	"whole numbers of the currency's smallest unit (cents for EUR); amounts in different currencies are never added. Members that the " +
	"caller may not see are left out; null means that there is no value. A list's page.nextCursor is sent as cursor for the next page, " +
	"with the same filters. An error is a problem document: errors lists every argument that cannot be taken."

// Handler answers messages of agents, one for each request, by JSON. It keeps nothing between requests. The requests of tools go
// to the API. Each request needs a Message in its context, and a body that is bounded and holds no batch.
func Handler(tools []Tool, version string, api http.Handler) http.Handler {
	server := mcp.NewServer(&mcp.Implementation{Name: "tallyhouse", Title: "Tallyhouse", Version: version}, &mcp.ServerOptions{
		Instructions: instructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	server.AddReceivingMiddleware(guard)
	for _, t := range tools {
		server.AddTool(&mcp.Tool{
			Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.schema(),
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)},
		}, t.handler(api))
	}
	// The caller of this handler sees to foreign origins. Which name the host has decides nothing: each request needs a token.
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true,
	})
}

const callTool = "tools/call"

// served are the methods of messages that are answered. Subscriptions are not: they would keep a connection.
var served = map[string]bool{"initialize": true, "notifications/initialized": true, "notifications/cancelled": true, "ping": true,
	"server/discover": true, "tools/list": true, callTool: true}

// codeRefused is that of the JSON-RPC error of a message too many, of the range that is left to servers.
const codeRefused = -32000

// guard refuses what isn't served, and what was too much.
func guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		m := From(ctx)
		switch {
		case !served[method]:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "this method is not served"}
		case m.Refused != nil && method != callTool:
			return nil, &jsonrpc.Error{Code: codeRefused, Message: m.Refused.Kind.Title, Data: m.Refused.Append(nil, m.ID)}
		}
		return next(ctx, method, r)
	}
}
