package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/jsontext"
)

// operation is one call of the API: all that routing, checks, documentation and answering need to know about it.
type operation struct {
	id          string // operationId
	path        string // with {names} of path parameters
	summary     string
	description string
	params      []query.Param
	pathTypes   map[string]query.Type // of path parameters that are not any text
	// check finds what is wrong with parameters that are right one by one.
	check func(v query.Values) []problem.Parameter
	// maxProjects bounds the projects that the call spans when it names none; 0: no bound.
	maxProjects int
	lists       reader.Table     // whose ids a paginated list goes through
	rank        int              // how many bytes its cursors hold of what it is ordered by before the id
	takes       *resource.Schema // the body of a request; nil for those that read data
	maxMessages int              // that it takes of a key or user in any 24 hours
	returns     *resource.Schema
	// kept reports whether the call's answer is kept for as long as nothing changes (reader.Standing). It is about one
	// project and names it.
	kept   func(c *call) bool
	answer func(ctx context.Context, s *Server, c *call) (writer, error)
	begin  func(ctx context.Context, b *bulk) (bulkPages, error) // of bulk operations, instead of answer
}

// writer writes the body of a response.
type writer func(e *resource.Encoder) error

// call is one request for an operation, checked.
type call struct {
	operation *operation
	caller    *access.Caller
	path      map[string]string
	values    query.Values
	today     calendar.Date   // in Vienna when the request came: all of an answer is of this day
	standing  reader.Standing // read for what is kept of answers; the zero value when it wasn't
	has       reader.Inputs   // of the answer that is kept
	inputs    reader.Inputs   // of the one that was made
	// Where the cursor is: behind this id, "" for the first page, of this rank where the list has ranks.
	after string
	rank  string
	// What the call may take: see share.
	share
}

// share is what a call may take of what all calls share. It begins with a small one, which every admitted request has;
// where that is not enough it begins anew with a large one.
type share struct {
	reader  *reader.Reader
	maxPage int  // bytes of the page of a list
	maxBody int  // bytes of anything else, and of a page with one item
	cuts    bool // whether pages are cut; else a page that is too large needs a larger share
}

// queued is the same share with statements that wait for their turn.
func (s share) queued(turn reader.Turn) share {
	s.reader = s.reader.Queued(turn)
	return s
}

// operations is the API's table of contents. The OpenAPI document is made from it.
func operations() []operation {
	return []operation{
		listProjects,
		getProject,
		listRecords,
		getRecord,
		getProjectBudget,
		getCashflow,
		listContracts,
		getContract,
		listContractors,
		listForecastSnapshots,
		getForecastSnapshot,
		listUnits,
		getRentRoll,
		listFacilities,
		getFacilitySchedule,
		listFacilityDrawdowns,
		sendFeedback,
	}
}

// dataMethods are those of what reads data.
var dataMethods = []string{http.MethodGet}

// methods that the operation takes.
func (o *operation) methods() []string {
	if o.takes != nil {
		return []string{http.MethodPost}
	}
	return dataMethods
}

// spans are the projects that a call reaches into: the one that it names, if the caller may see it, else all that
// the caller may see. So the name of a hidden project changes nothing.
func (c *call) spans() []access.Project {
	if id, ok := c.namedProject(); ok {
		if p, ok := c.caller.Project(id); ok {
			return []access.Project{p}
		}
	}
	return c.caller.Projects()
}

// reach are the projects that a list is made from: the one that the call names, which must exist for the caller, else
// all that the caller may see.
func (c *call) reach() ([]access.Project, error) {
	id, named := c.namedProject()
	if !named {
		return c.caller.Projects(), nil
	}
	p, ok := c.caller.Project(id)
	if !ok {
		return nil, reader.ErrNotFound
	}
	return []access.Project{p}, nil
}

func (c *call) namedProject() (string, bool) {
	if id, ok := c.path["projectId"]; ok {
		return id, true
	}
	id := query.Value[string](c.values, "projectId")
	return id.V, id.Ok
}

// refused returns the first filter that concerns a group that the caller lacks in some project that the call spans.
func (c *call) refused() error {
	granted := access.All
	for _, p := range c.spans() {
		granted &= p.Groups
	}
	for _, p := range c.operation.params {
		if c.values.Given(p.Name) && !granted.Has(p.Groups) {
			return &problem.Error{Kind: problem.FilterNotAllowed,
				Detail: fmt.Sprintf("%s needs the field group %s.", p.Name, strings.Join(p.Groups.Names(), " and "))}
		}
	}
	return nil
}

// tooMany is an error when a call that names no project would span too many.
func (c *call) tooMany() error {
	if _, named := c.namedProject(); named || c.operation.maxProjects == 0 {
		return nil
	}
	if n := len(c.caller.Projects()); n > c.operation.maxProjects {
		return &problem.Error{Kind: problem.TooManyProjects,
			Detail: fmt.Sprintf("The call spans %d projects; at most %d are allowed. Name one with projectId.", n,
				c.operation.maxProjects)}
	}
	return nil
}

// binding is what a cursor of this call belongs to: operation, path, filters and caller.
func (c *call) binding() []byte {
	var b []byte
	parts := []string{c.operation.id, c.caller.Tenant(), c.caller.Principal(), c.values.Filters(c.operation.params)}
	for _, segment := range strings.Split(c.operation.path, "/") {
		if name, ok := parameter(segment); ok {
			parts = append(parts, c.path[name])
		}
	}
	for _, p := range parts {
		b = append(jsontext.AppendString(b, p), '\n')
	}
	return b
}
