// Package problem holds every kind of error that the API answers with (docs/api.md#problems), and writes them as
// problem documents (RFC 9457).
package problem

// Kind is a kind of problem. Its type, title and status never change; the detail of an Error says what was wrong this
// time.
type Kind struct {
	Suffix  string // of its type, /problems/<suffix>
	Status  int
	Title   string
	Meaning string // what it is, and what to do about it
}

// Type is the problem's type as the documents show it.
func (k *Kind) Type() string { return "/problems/" + k.Suffix }

// The kinds of problems.
var (
	InvalidQuery = &Kind{"invalid-query", 400, "Invalid query",
		"A query parameter is unknown, empty, repeated or has a value that it cannot take. The member `errors` lists every " +
			"one of them with the reason. Correct the request: sending it again will not help."}
	InvalidBody = &Kind{"invalid-body", 400, "Invalid body",
		"The body of the request is not what the operation takes. The member `errors` lists every offending member with " +
			"the reason. Correct the request: sending it again will not help."}
	InvalidCursor = &Kind{"invalid-cursor", 400, "Invalid cursor",
		"The cursor is not one that this service made, or it was made for another operation, other filters or another " +
			"caller. Take cursors from `page.nextCursor` unchanged and send the same filters with them, or start again " +
			"without a cursor."}
	FilterNotAllowed = &Kind{"filter-not-allowed", 400, "Filter not allowed",
		"A filter concerns a field group that the caller may not see in every project that the request spans. Leave the " +
			"filter out, or name a project in which the group is granted."}
	TooManyProjects = &Kind{"too-many-projects", 400, "Too many projects",
		"Without projectId the request would span more than 30 projects. Ask project by project: `GET /v0/projects` lists " +
			"them."}
	AuthenticationRequired = &Kind{"authentication-required", 401, "Authentication required",
		"The request has no token. Send `Authorization: Bearer <token>`, with an API key or a session token."}
	InvalidCredentials = &Kind{"invalid-credentials", 401, "Invalid credentials",
		"The token is wrong, revoked or expired, belongs to another environment, or its owner no longer has access. Check " +
			"the token, or have an administrator create a new key."}
	NotFound = &Kind{"not-found", 404, "Not found",
		"There is no such thing, or the caller may not see it: the two look alike on purpose. Check the path and the id, " +
			"and the caller's access to the project."}
	MethodNotAllowed = &Kind{"method-not-allowed", 405, "Method not allowed",
		"The path does not take this method. The header `Allow` lists those that it takes; data are read with GET."}
	TooManyRequests = &Kind{"too-many-requests", 429, "Too many requests",
		"The caller sent more requests than the limit allows. Wait for as many seconds as the header `Retry-After` says."}
	InternalError = &Kind{"internal-error", 500, "Internal error",
		"The service could not answer; the request was not at fault. Try again after a pause that grows, and report the " +
			"`requestId` when it lasts."}
)

// Kinds lists all kinds.
func Kinds() []*Kind {
	return []*Kind{InvalidQuery, InvalidBody, InvalidCursor, FilterNotAllowed, TooManyProjects, AuthenticationRequired,
		InvalidCredentials,
		NotFound, MethodNotAllowed, TooManyRequests, InternalError}
}

// Find returns the kind with this suffix.
func Find(suffix string) (*Kind, bool) {
	for _, k := range Kinds() {
		if k.Suffix == suffix {
			return k, true
		}
	}
	return nil, false
}
