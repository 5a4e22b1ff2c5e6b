package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"tallyhouse/api/access"
	"tallyhouse/api/cursor"
	"tallyhouse/api/export"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/jsontext"
)

// A client that keeps a copy of an export asks for what changed since (docs/export.md#changes). What makes that exact: an
// export's cursor holds how far the tables had come before anything of it was read, and which projects it spans with what
// access. A change that is stored later lies at or beyond those positions, so the changes since meet it, also when the
// export has met it already. A change of access is not among them: it is found by comparing, and then projects are to be
// read anew.

var exportChanges = operation{
	id: "exportChanges", path: "/export/v1/changes",
	params: slices.Concat(exportParams, []query.Param{{Name: "cursor", Type: query.Cursor(), Paging: true,
		Description: "Of the export, or of the changes before."}}),
	check: func(v query.Values) []problem.Parameter {
		wrong := checkRecords(v)
		if !v.Given("cursor") {
			wrong = append(wrong, problem.Parameter{Name: "cursor", Reason: "is required"})
		}
		return wrong
	},
	maxProjects: maxExportedProjects,
	begin:       beginChanges,
}

// copied is what a client's copy was made from: the positions of the tables, and the access.
type copied struct {
	life     [8]byte // digest
	groups   access.Groups
	offsets  [3]reader.Offsets // of records, nodes, contractors
	projects [][6]byte         // digests, ascending
}

// projectDigest stands for a project and for what else its records are shown by.
func projectDigest(p access.Project) [6]byte {
	text := jsontext.AppendString(nil, p.ID)
	if p.BudgetStructureID.Ok {
		text = jsontext.AppendString(text, p.BudgetStructureID.V)
	}
	sum := sha256.Sum256(text)
	return [6]byte(sum[:])
}

// copied is what a copy made by this call stands on.
func (b *bulk) copied() copied {
	life := sha256.Sum256([]byte(b.marks.Life))
	c := copied{life: [8]byte(life[:]), groups: b.groups,
		offsets: [3]reader.Offsets{b.marks.Records, b.marks.Nodes, b.marks.Contractors}}
	for _, p := range b.projects {
		c.projects = append(c.projects, projectDigest(p))
	}
	slices.SortFunc(c.projects, func(a, b [6]byte) int { return bytes.Compare(a[:], b[:]) })
	return c
}

const copiedVersion = 1

func (c *copied) append(b []byte) []byte {
	b = append(append(b, copiedVersion), c.life[:]...)
	b = binary.AppendUvarint(b, uint64(c.groups))
	for _, offsets := range c.offsets {
		b = binary.AppendUvarint(b, uint64(len(offsets)))
		for _, next := range offsets {
			b = binary.AppendUvarint(b, next)
		}
	}
	for _, p := range c.projects {
		b = append(b, p[:]...)
	}
	return b
}

// parse reads what append has written; false when it is something else.
func (c *copied) parse(b []byte) bool {
	if len(b) < 1+len(c.life) || b[0] != copiedVersion {
		return false
	}
	copy(c.life[:], b[1:])
	b = b[1+len(c.life):]
	number := func() (n uint64, ok bool) {
		n, size := binary.Uvarint(b)
		b = b[max(size, 0):]
		return n, size > 0
	}
	groups, ok := number()
	if !ok {
		return false
	}
	c.groups = access.Groups(groups)
	for i := range c.offsets {
		n, ok := number()
		if !ok || n > uint64(len(b)) {
			return false
		}
		for range n {
			next, ok := number()
			if !ok {
				return false
			}
			c.offsets[i] = append(c.offsets[i], next)
		}
	}
	for ; len(b) >= 6; b = b[6:] {
		c.projects = append(c.projects, [6]byte(b))
	}
	return len(b) == 0
}

// binding is what a cursor of changes belongs to: the caller, the filters and the fields, whatever the format.
func (b *bulk) binding() []byte {
	var bound []byte
	for _, p := range []string{"changes", b.call.caller.Tenant(), b.call.caller.Principal(), b.call.values.Filters(exportParams)} {
		bound = append(jsontext.AppendString(bound, p), '\n')
	}
	return bound
}

// seal makes the cursor of where the changes begin that this call has not seen for certain.
func (b *bulk) seal() (string, error) {
	now := b.copied()
	text, err := b.server.cursors.Seal(now.append(nil), b.binding())
	if err == nil && len(text) > cursor.MaxSealed {
		err = fmt.Errorf("the positions of the tables and %d projects take %d characters, more than %d", len(b.projects), len(text),
			cursor.MaxSealed)
	}
	if err != nil {
		return "", fmt.Errorf("make the cursor of an export: %w", err)
	}
	return text, nil
}

// openCursor finds what the client's copy stands on.
func (b *bulk) openCursor(ctx context.Context) (*copied, error) {
	place, err := b.server.cursors.Open(ctx, query.Value[string](b.call.values, "cursor").V, b.binding())
	var was copied
	if err == nil && !was.parse(place) {
		err = cursor.ErrInvalid
	}
	if errors.Is(err, cursor.ErrInvalid) {
		return nil, &problem.Error{Kind: problem.InvalidCursor, Detail: "The cursor was not made for this request."}
	}
	if err != nil {
		return nil, fmt.Errorf("open a cursor: %w", err)
	}
	return &was, nil
}

func beginChanges(ctx context.Context, b *bulk) (bulkPages, error) {
	filter, read := b.filter(), recordTable.Reads(b.shown)
	was, now := b.since, b.copied()
	since := reader.Marks{Records: was.offsets[0], Nodes: was.offsets[1], Contractors: was.offsets[2]}
	affected, err := b.reader.Affected(ctx, since, &filter, read)
	if err != nil {
		return nil, err
	}
	all := affected.Everything || was.life != now.life || was.groups != now.groups
	p := &changePages{bulk: b}
	var within []string
	for _, project := range b.projects {
		digest := projectDigest(project)
		_, known := slices.BinarySearchFunc(was.projects, digest, func(a, b [6]byte) int { return bytes.Compare(a[:], b[:]) })
		if all || !known {
			p.anew = append(p.anew, project.ID)
		} else {
			within = append(within, project.ID)
		}
	}
	p.access = len(p.anew) > 0 || !slices.Equal(was.projects, now.projects)
	p.walk = b.reader.WalkChanges(since, within, affected, filter, read)
	return p, nil
}

// changePages are the pages of the changes since.
type changePages struct {
	bulk   *bulk
	access bool     // whether the copy spans other projects now, or some are to be read anew
	anew   []string // projects
	walk   *reader.ChangeWalk

	changed  reader.Changed // of the page that was read
	to       io.Writer
	encoder  resource.Encoder
	upserts  int64
	removals int64
}

func (p *changePages) contentType() string { return export.NDJSON.ContentType() }

func (p *changePages) fileName() string { return "changes.ndjson" }

func (p *changePages) done() bool { return p.walk.Done() }

func (p *changePages) read(ctx context.Context) (err error) {
	p.changed, err = p.walk.Next(ctx)
	return err
}

// open tells what the copy spans now, before any change.
func (p *changePages) open(to io.Writer) error {
	p.to = to
	p.encoder.Groups = p.bulk.groups
	if !p.access {
		return nil
	}
	ids := make([]string, 0, len(p.bulk.projects))
	for _, project := range p.bulk.projects {
		ids = append(ids, project.ID)
	}
	b := append(p.encoder.B[:0], `{"access":{"projects":`...)
	b = appendTexts(b, ids)
	b = appendTexts(append(b, `,"fields":`...), recordTable.NamesOf(p.bulk.shown))
	b = appendTexts(append(b, `,"readAnew":`...), p.anew)
	p.encoder.B = append(b, "}}\n"...)
	return p.line()
}

func appendTexts(b []byte, texts []string) []byte {
	b = append(b, '[')
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, text)
	}
	return append(b, ']')
}

func (p *changePages) line() error {
	_, err := p.to.Write(p.encoder.B)
	return err
}

func (p *changePages) write() error {
	for i := range p.changed.Records {
		p.encoder.B = append(p.encoder.B[:0], `{"upsert":`...)
		recordTable.Append(&p.encoder, p.bulk.shown, &p.changed.Records[i])
		p.encoder.B = append(p.encoder.B, "}\n"...)
		if err := p.line(); err != nil {
			return err
		}
		p.upserts++
	}
	for _, id := range p.changed.Gone {
		b := jsontext.AppendString(append(p.encoder.B[:0], `{"remove":{"id":`...), id)
		p.encoder.B = append(b, "}}\n"...)
		if err := p.line(); err != nil {
			return err
		}
		p.removals++
	}
	p.changed = reader.Changed{}
	return nil
}

func (p *changePages) end(cursor string) error {
	b := resource.AppendInt(append(p.encoder.B[:0], `{"end":{"records":`...), p.upserts)
	b = resource.AppendInt(append(b, `,"removals":`...), p.removals)
	b = jsontext.AppendString(append(b, `,"cursor":`...), cursor)
	p.encoder.B = append(b, "}}\n"...)
	return p.line()
}

func (p *changePages) count() int64 { return p.upserts }

func (p *changePages) beyond() resource.Beyond { return p.encoder.Beyond }
