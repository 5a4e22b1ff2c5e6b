package api

import (
	"context"
	"slices"

	"tallyhouse/api/access"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// maxSpannedProjects bounds the projects of a call across projects (docs/api.md#limits).
const maxSpannedProjects = 30

var listRecords = operation{
	id: "listRecords", path: "/v0/records",
	summary: "List records",
	description: "The records of one project, or of all projects that the caller may see, ascending by id. Follow " +
		"`page.nextCursor` until it is null. The list is no frozen snapshot: records that are added while paging may or " +
		"may not appear.",
	params: slices.Concat(paging, []query.Param{
		{Name: "projectId", Type: query.Text(),
			Description: "One project. Without it the call spans all projects that the caller may see, up to 30."},
	}, recordFilters, []query.Param{
		{Name: "fields", Type: query.List(recordTable.Names()...), Paging: true,
			Description: "Only these members of each record; id is always there, and field groups still apply."},
		{Name: "count", Type: query.Boolean(), Paging: true,
			Description: "Also tell how many records match across all pages, as `page.total`."},
	}),
	check:       checkRecords,
	maxProjects: maxSpannedProjects,
	lists:       reader.RecordsTable,
	returns:     countedList(recordTable.PartialReference("PartialRecord", "id")),
	answer:      answerRecords,
}

// recordFilters are the parameters that say which records of the projects are meant (docs/api.md#filters-of-records).
var recordFilters = []query.Param{
	{Name: "status", Type: query.List(recordStatuses...), Description: "Any of these."},
	{Name: "invoiceNumber", Type: query.Text(), Description: "Exactly this one."},
	{Name: "contractorId", Type: query.Text(), Description: "One counterparty."},
	{Name: "recognitionDateFrom", Type: query.Date(), Description: "First invoice date, inclusive."},
	{Name: "recognitionDateTo", Type: query.Date(), Description: "Last invoice date, inclusive."},
	{Name: "budgetNodeId", Type: query.Text(), Groups: access.Budget, Description: "Records on exactly this node."},
	{Name: "includeDescendants", Type: query.Boolean(), Groups: access.Budget,
		Description: "With budgetNodeId: also all nodes below it."},
	{Name: "channel", Type: query.Enum(intakeChannels...), Description: "How the record came in."},
	{Name: "cashDateFrom", Type: query.Date(), Groups: access.Payment,
		Description: "First payment date, inclusive. Records without one are left out."},
	{Name: "cashDateTo", Type: query.Date(), Groups: access.Payment,
		Description: "Last payment date, inclusive. Records without one are left out."},
	{Name: "hasCashDate", Type: query.Boolean(), Groups: access.Payment,
		Description: "Only records with a payment date, or only those without."},
	{Name: "source", Type: query.Enum("invoice", "accrual"),
		Description: "Supplier invoices only, or accrual entries only."},
	{Name: "accountingCode", Type: query.Code(), Groups: access.Accounting,
		Description: "Records whose code in that accounting system is this one."},
}

var getRecord = operation{
	id: "getRecord", path: "/v0/records/{recordId}",
	summary:     "Get a record",
	description: "One record.",
	returns:     recordTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		all := recordTable.Reads(recordTable.Visible(access.All))
		record, err := c.reader.Record(ctx, c.caller.Tenant(), c.path["recordId"], projectRefs(c.caller.Projects()), all)
		if err != nil {
			return nil, err
		}
		project, _ := c.caller.Project(record.ProjectID) // one of those above
		return writeOne(recordTable, project.Groups, &record), nil
	},
}

func projectRef(p access.Project) reader.ProjectRef {
	return reader.ProjectRef{ID: p.ID, StructureID: p.BudgetStructureID}
}

func projectRefs(projects []access.Project) []reader.ProjectRef {
	refs := make([]reader.ProjectRef, len(projects))
	for i, p := range projects {
		refs[i] = projectRef(p)
	}
	return refs
}

// checkRecords checks the rules between parameters.
func checkRecords(v query.Values) []problem.Parameter {
	var wrong []problem.Parameter
	for _, name := range []string{"recognitionDate", "cashDate"} {
		from, to := query.Value[calendar.Date](v, name+"From"), query.Value[calendar.Date](v, name+"To")
		if from.Ok && to.Ok && from.V > to.V {
			wrong = append(wrong, problem.Parameter{Name: name + "From", Reason: "lies after " + name + "To"})
		}
	}
	if v.Given("includeDescendants") && !v.Given("budgetNodeId") {
		wrong = append(wrong, problem.Parameter{Name: "includeDescendants", Reason: "needs budgetNodeId beside it"})
	}
	return wrong
}

func answerRecords(ctx context.Context, s *Server, c *call) (writer, error) {
	projects, err := c.reach()
	if err != nil {
		return nil, err
	}
	view := newRecordView(projects, query.Value[[]string](c.values, "fields").V)
	var found reader.Page
	counted := query.Value[bool](c.values, "count").V
	if len(projects) > 0 {
		found, err = c.reader.Records(ctx, reader.RecordPage{
			Filter: recordFilter(c, projects), After: c.after, Limit: c.limit(), Read: view.reads(), Count: counted,
		})
		if err != nil {
			return nil, err
		}
	}
	return writePage(s, c, page[reader.Record]{items: found.Records, more: found.More,
		place: byID(func(v *reader.Record) string { return v.ID }), write: view.write,
		total: events.Opt[int64]{V: found.Total, Ok: counted}}), nil
}

func recordFilter(c *call, projects []access.Project) reader.RecordFilter {
	v := c.values
	f := reader.RecordFilter{
		Tenant:          c.caller.Tenant(),
		Projects:        projectRefs(projects),
		Statuses:        query.Value[[]string](v, "status").V,
		InvoiceNumber:   query.Value[string](v, "invoiceNumber"),
		ContractorID:    query.Value[string](v, "contractorId"),
		RecognitionFrom: query.Value[calendar.Date](v, "recognitionDateFrom"),
		RecognitionTo:   query.Value[calendar.Date](v, "recognitionDateTo"),
		CashFrom:        query.Value[calendar.Date](v, "cashDateFrom"),
		CashTo:          query.Value[calendar.Date](v, "cashDateTo"),
		HasCashDate:     query.Value[bool](v, "hasCashDate"),
		Channel:         query.Value[string](v, "channel"),
		Source:          query.Value[string](v, "source"),
		NodeID:          query.Value[string](v, "budgetNodeId"),
		Descendants:     query.Value[bool](v, "includeDescendants").V,
		Code:            query.Value[reader.Code](v, "accountingCode"),
	}
	return f
}

// recordView is what the caller may see of the records of each project, and has asked for.
type recordView struct {
	masks  map[string]resource.Mask
	groups map[string]access.Groups
}

func newRecordView(projects []access.Project, fields []string) recordView {
	wanted := recordTable.Visible(access.All)
	if fields != nil {
		wanted = recordTable.Named(append([]string{"id"}, fields...))
	}
	view := recordView{make(map[string]resource.Mask, len(projects)), make(map[string]access.Groups, len(projects))}
	for _, p := range projects {
		view.masks[p.ID], view.groups[p.ID] = recordTable.Visible(p.Groups)&wanted, p.Groups
	}
	return view
}

// reads is what has to be read for all projects together.
func (v recordView) reads() reader.Part[reader.Record] {
	var all resource.Mask
	for _, m := range v.masks {
		all |= m
	}
	return recordTable.Reads(all)
}

func (v recordView) write(e *resource.Encoder, r *reader.Record) {
	e.Groups = v.groups[r.ProjectID]
	recordTable.Append(e, v.masks[r.ProjectID], r)
}
