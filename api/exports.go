package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"tallyhouse/api/access"
	"tallyhouse/api/export"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
)

// Exports are outside /v0 (docs/export.md): whole lists in one answer, which is read and sent page by page.

// maxExportedProjects bounds the projects of an export: a cursor of changes knows each of them.
const maxExportedProjects = 500

// exportOperations are the operations below /export.
func exportOperations() []operation {
	return []operation{
		exportRecords(export.NDJSON),
		exportRecords(export.CSV, query.Param{Name: "dialect", Type: query.Enum(string(export.ExcelDE)), Paging: true,
			Description: "How CSV is written for a program."}),
		exportRecords(export.Parquet),
		exportChanges,
	}
}

// exportParams are those of exports and of changes: a copy is made with one set of them.
var exportParams = slices.Concat([]query.Param{
	{Name: "projectId", Type: query.Text(),
		Description: "One project. Without it the call spans all projects that the caller may see."},
}, recordFilters, []query.Param{
	{Name: "fields", Type: query.List(recordTable.Names()...),
		Description: "Only these members of each record, and id. Without it: all that the caller may see in every project."},
})

func exportRecords(f export.Format, more ...query.Param) operation {
	return operation{
		id: "exportRecords", path: "/export/v1/records." + string(f),
		params: slices.Concat(exportParams, more), check: checkRecords, maxProjects: maxExportedProjects,
		begin: func(ctx context.Context, b *bulk) (bulkPages, error) {
			walk := b.reader.WalkRecords(b.filter(), recordTable.Reads(b.shown))
			dialect := export.Dialect(query.Value[string](b.call.values, "dialect").V)
			return &recordPages{bulk: b, format: f, dialect: dialect, walk: walk}, nil
		},
	}
}

// bulk is a call for an export. What it spans and shows is settled when it begins, and access to all of that is confirmed
// for every page.
type bulk struct {
	server   *Server
	call     *call
	reader   *reader.Reader
	projects []access.Project // that it spans, ascending by id
	groups   access.Groups    // that the caller has in each of them
	shown    resource.Mask    // the columns
	marks    reader.Marks     // how far the tables had come when it began
	cursor   string           // of the changes since then
	since    *copied          // what the client's copy stands on, where it asks for changes
}

// recordGroups are the groups that anything of a record needs.
const recordGroups = access.Core | access.Amounts | access.Budget | access.Payment | access.Documents | access.Accounting

// newBulk settles what a call spans and shows. A column that cannot be shown in every project is refused, whether or not
// there is a record that has it.
func (s *Server) newBulk(c *call) (*bulk, error) {
	// A key's or user's exports are a party of their own: its other requests don't wait behind their statements.
	turn := s.turnOf(c.caller, "exports of "+c.caller.Principal(), nil)
	b := &bulk{server: s, call: c, groups: recordGroups, reader: s.large.reader.Queued(turn)}
	for _, p := range c.spans() {
		b.groups &= p.Groups
	}
	b.shown = recordTable.Visible(b.groups)
	if fields := query.Value[[]string](c.values, "fields"); fields.Ok {
		wanted := recordTable.Named(append([]string{"id"}, fields.V...))
		if hidden := wanted &^ b.shown; hidden != 0 {
			return nil, &problem.Error{Kind: problem.FilterNotAllowed,
				Detail: fmt.Sprintf("fields asks for %s, which the caller may not see in every project of the export.",
					strings.Join(recordTable.NamesOf(hidden), ", "))}
		}
		b.shown = wanted
	}
	return b, nil
}

// filter is what the call asks for, in the projects that it spans.
func (b *bulk) filter() reader.RecordFilter { return recordFilter(b.call, b.projects) }

// errAccessLost says that a caller may no longer see what an export shows.
var errAccessLost = errors.New("the caller's access to what is exported has ended")

// confirm checks the access to everything that is shown anew.
func (b *bulk) confirm(r *http.Request, seen *observation) error {
	caller, err := b.server.authenticate(r.Context(), r, seen)
	if err != nil {
		return fmt.Errorf("%w: %w", errAccessLost, err)
	}
	for _, p := range b.projects {
		if now, ok := caller.Project(p.ID); !ok || !now.Groups.Has(b.groups) {
			return fmt.Errorf("%w: project %s", errAccessLost, p.ID)
		}
	}
	return nil
}

// serveExport checks a request for an export, in the order of those below /v0, and reads its first page.
func (s *Server) serveExport(ctx context.Context, r *http.Request, header http.Header, path string,
	seen *observation) (reply, error) {
	caller, err := s.identify(ctx, r, header, seen)
	if err != nil {
		return reply{}, err
	}
	operation, values, ok := s.exports.match(path)
	if !ok {
		return reply{}, &problem.Error{Kind: problem.NotFound, Detail: "There is no such path."}
	}
	seen.operation = operation.id
	if !slices.Contains(dataMethods, r.Method) {
		return reply{}, &problem.Error{Kind: problem.MethodNotAllowed, Allow: dataMethods}
	}
	c := &call{operation: operation, caller: caller, path: values}
	if err := c.parse(r.URL.RawQuery); err != nil {
		return reply{}, err
	}
	if err := c.refused(); err != nil {
		return reply{}, err
	}
	b, err := s.newBulk(c)
	if err != nil {
		return reply{}, err
	}
	if err := c.tooMany(); err != nil {
		return reply{}, err
	}
	place, err := s.slots.enter(caller.Tenant(), caller.Principal())
	if err != nil {
		return reply{}, err
	}
	out := &stream{bulk: b, place: place}
	begun := false
	defer func() {
		if !begun { // also when it panics
			place.leave()
		}
	}()
	if err := s.turn(ctx, c.caller, out.begin); err != nil {
		return reply{}, err
	}
	begun = true
	return reply{stream: out}, nil
}

// begin reads what comes before everything else, and the first page. The order matters: what changes later than the
// marks were read will be found by the changes since. What has no place in a cursor is refused here, before anything is sent.
func (t *stream) begin(ctx context.Context) (err error) {
	b := t.bulk
	if b.call.values.Given("cursor") {
		if b.since, err = b.openCursor(ctx); err != nil {
			return err
		}
	}
	if b.projects, err = b.call.reach(); err != nil {
		return err
	}
	if b.marks, err = b.reader.Marks(ctx); err != nil {
		return err
	}
	if b.cursor, err = b.seal(); err != nil {
		return err
	}
	if t.pages, err = b.call.operation.begin(ctx, b); err != nil {
		return err
	}
	return t.pages.read(ctx)
}

// recordPages are the pages of an export of records.
type recordPages struct {
	bulk    *bulk
	format  export.Format
	dialect export.Dialect
	walk    *reader.RecordWalk

	records []reader.Record // of the page that was read
	writer  export.Writer
	encoder resource.Encoder
	written int64
}

func (p *recordPages) contentType() string { return p.format.ContentType() }

func (p *recordPages) fileName() string { return "records." + string(p.format) }

func (p *recordPages) done() bool { return p.walk.Done() }

func (p *recordPages) read(ctx context.Context) (err error) {
	p.records, err = p.walk.Next(ctx)
	return err
}

func (p *recordPages) open(to io.Writer) error {
	columns, err := export.Columns(recordTable.Reference(), recordTable.NamesOf(p.bulk.shown))
	if err != nil {
		return err
	}
	p.writer, err = export.NewWriter(p.format, p.dialect, columns, to)
	return err
}

func (p *recordPages) write() error {
	p.encoder.Groups = p.bulk.groups
	for i := range p.records {
		p.encoder.B = p.encoder.B[:0]
		recordTable.Append(&p.encoder, p.bulk.shown, &p.records[i])
		if err := p.writer.Write(p.encoder.B); err != nil {
			return err
		}
		p.written++
	}
	p.records = nil
	return nil
}

func (p *recordPages) end(cursor string) error {
	return p.writer.Close(export.End{Records: p.written, Cursor: cursor})
}

func (p *recordPages) count() int64 { return p.written }

func (p *recordPages) beyond() resource.Beyond { return p.encoder.Beyond }
