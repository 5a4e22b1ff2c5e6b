package problem

// ExampleID is the requestId of the examples.
const ExampleID = "4f1c0a9e7d3b48f2a6c5e0d1b2f39a87"

// Example is a request that leads to a problem of this kind, and the document that answers it. Tests make the requests.
// The body of a request, where it has one, stands behind its target.
func (k *Kind) Example() (request string, document []byte) {
	request, e := k.example()
	if request == "" {
		return "", nil
	}
	e.Kind = k
	return request, e.Append(nil, ExampleID)
}

func (k *Kind) example() (request string, e Error) {
	switch k {
	case InvalidQuery:
		return "GET /v0/records?state=paid&limit=500", Error{
			Detail: "The query of the request cannot be taken; errors lists why.",
			Parameters: []Parameter{
				{Name: "state", Reason: "is not a parameter of this operation", Suggestion: "status"},
				{Name: "limit", Reason: "must be a whole number from 1 to 200"},
			}}
	case InvalidBody:
		return `POST /v0/feedback {"category":"prise"}`, Error{
			Detail: "The body cannot be taken; errors lists why.",
			Parameters: []Parameter{
				{Name: "message", Reason: "is missing"},
				{Name: "category", Reason: "is not one of the allowed values",
					Allowed: []string{"bug", "missing", "confusing", "idea", "praise"}, Suggestion: "praise"},
			}}
	case InvalidCursor:
		return "GET /v0/records?cursor=abc", Error{Detail: "The cursor was not made for this request."}
	case FilterNotAllowed:
		return "GET /v0/records?cashDateFrom=2026-01-01", Error{Detail: "cashDateFrom needs the field group payment."}
	case TooManyProjects:
		return "GET /v0/records", Error{
			Detail: "The call spans 31 projects; at most 30 are allowed. Name one with projectId."}
	case AuthenticationRequired:
		return "GET /v0/projects", Error{Detail: "Send the header Authorization: Bearer <token>."}
	case InvalidCredentials:
		return "GET /v0/projects", Error{}
	case NotFound:
		return "GET /v0/projects/no-such-project", Error{}
	case MethodNotAllowed:
		return "DELETE /v0/records", Error{}
	case TooManyRequests:
		return "GET /v0/records", Error{Detail: "At most 300 requests in any 60 seconds are answered."}
	case InternalError:
		return "GET /v0/records", Error{}
	}
	return "", Error{}
}
