// Package problem holds every kind of error that the API answers with (docs/api.md#problems), and writes them as
// problem documents (RFC 9457).
package problem

// Kind is a kind of problem. Its type, title and status never change; the detail of an Error says what was wrong this
// time.
type Kind struct {
	Suffix  string // of its type, /problems/<suffix>
	Status  int
	Title   string
	Meaning string   // what it is
	Causes  []string // what it usually comes from
	Remedy  string   // what to do about it
}

// Type is the problem's type as the documents show it.
func (k *Kind) Type() string { return "/problems/" + k.Suffix }

// The kinds of problems. Their texts may hold `code` in backticks.
var (
	InvalidQuery = &Kind{"invalid-query", 400, "Invalid query",
		"A query parameter is unknown, empty, repeated, or has a value that it cannot take. The member `errors` lists every " +
			"one of them, with the reason, the allowed values when they are few, and what may have been meant.",
		[]string{
			"A parameter is misspelt or in another case: `projectid` instead of `projectId`.",
			"A parameter belongs to another operation: each takes its own.",
			"A parameter without a value, like `status=`. Leave out what you don't want to filter by.",
			"A value out of its range, like `limit=500`, or a date that doesn't exist.",
			"A parameter twice. Write several values with commas where the parameter takes a list: `status=paid,setup`.",
		},
		"Correct the request. Sending it again unchanged will not help."}
	InvalidBody = &Kind{"invalid-body", 400, "Invalid body",
		"The body of the request is not what the operation takes. The member `errors` lists every offending member, with the " +
			"reason.",
		[]string{
			"The body isn't JSON, is too large, or has another content type than `application/json`.",
			"A required member is missing, or a member is there that the operation doesn't know.",
			"A text holds what looks like a key or token: those must not be sent.",
		},
		"Correct the request. Sending it again unchanged will not help."}
	InvalidCursor = &Kind{"invalid-cursor", 400, "Invalid cursor",
		"The cursor is not one that this service made for this request. A cursor belongs to the operation, the filters and " +
			"the caller that it was made for.",
		[]string{
			"The filters differ from those of the page before. Only `limit`, `fields` and `count` may change within a list.",
			"The cursor was made for another key or user, or for another operation.",
			"The cursor was cut, decoded or changed on its way, or its key is no longer in use.",
		},
		"Take cursors from `page.nextCursor` unchanged, and send the same filters with the same token. Or start again without " +
			"a cursor."}
	FilterNotAllowed = &Kind{"filter-not-allowed", 400, "Filter not allowed",
		"A filter concerns a field group that the caller may not see in every project that the request spans. It is refused " +
			"whatever its value, so that nothing can be inferred from the answer.",
		[]string{
			"The caller is a guest of one of the projects.",
			"The key has a ceiling that leaves the field group out.",
		},
		"Leave the filter out, or name a project with `projectId` in which the caller has the field group."}
	TooManyProjects = &Kind{"too-many-projects", 400, "Too many projects",
		"Without `projectId` the request would span more projects than it may: the detail says how many are allowed.",
		[]string{"The caller may see more projects than a list or an export spans, and the request names none."},
		"Ask project by project: `GET /v0/projects` lists them."}
	AuthenticationRequired = &Kind{"authentication-required", 401, "Authentication required",
		"The request has no token.",
		[]string{
			"The header `Authorization` is missing, has no token, or a proxy took it away.",
			"The token was sent in the address: it is only taken from the header.",
		},
		"Send `Authorization: Bearer <token>`, with an API key or a session token."}
	InvalidCredentials = &Kind{"invalid-credentials", 401, "Invalid credentials",
		"The token gives no access. Which of the reasons it is, is not told on purpose.",
		[]string{
			"The token is wrong, incomplete, revoked or expired.",
			"The key is of another environment: a `test` key doesn't work on `live`, nor the reverse.",
			"The owner of the key is no longer active.",
			"The header is not `Bearer <token>`, or was sent twice.",
		},
		"Check the token, or have an administrator create a new key."}
	NotFound = &Kind{"not-found", 404, "Not found",
		"There is no such thing, or the caller may not see it: the two look alike on purpose.",
		[]string{
			"The path is misspelt. Paths are exact: another case, or a slash more, is another path.",
			"The id is wrong, or belongs to a project that the caller may not see.",
			"A character of the id is not escaped: a slash in an id is written `%2F`.",
			"The month has no approved snapshot.",
		},
		"Check the path and the id, and the caller's access to the project: `GET /v0/projects` lists what the caller may see."}
	MethodNotAllowed = &Kind{"method-not-allowed", 405, "Method not allowed",
		"The path exists, but does not take this method. Data can only be read: every data endpoint takes GET and nothing else, " +
			"not even HEAD or OPTIONS. The header `Allow` lists what the path takes.",
		[]string{
			"A client tries to create, change or delete data: the ledger changes in the application alone.",
			"A client or a monitor asks with HEAD. `GET` with `If-None-Match` is as cheap when nothing changed.",
			"A browser sends OPTIONS from a page whose origin the operator has not allowed.",
			"A redirect or proxy turned a GET into another method.",
		},
		"Send the request with a method that `Allow` lists."}
	TooManyRequests = &Kind{"too-many-requests", 429, "Too many requests",
		"The caller sent more requests than it may, or more at the same time than can wait.",
		[]string{
			"Many requests run in parallel with one key: a few are answered at a time, some more wait, the rest is refused.",
			"Pages are asked for faster than the limit allows.",
			"More feedback is sent than a day allows.",
			"Many tokens that give no access came from one address.",
		},
		"Wait for as many seconds as the header `Retry-After` says, and send the request again. Send fewer at the same time."}
	InternalError = &Kind{"internal-error", 500, "Internal error",
		"The service could not answer; the request was not at fault.",
		[]string{
			"The database is away, overloaded, or took longer than a request may take.",
			"The service cannot confirm who may see what, and then answers nothing.",
			"The answer would be larger than 64 MiB, as the detail then says.",
			"A fault of the service.",
		},
		"Try again after a pause that grows, and report the `requestId` when it lasts."}
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
