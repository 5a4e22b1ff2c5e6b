package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"tallyhouse/api/access"
	"tallyhouse/api/cursor"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsontext"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// paging are the parameters that every paginated list takes (docs/api.md#walking-a-list).
var paging = []query.Param{
	{Name: "limit", Type: query.Integer(1, maxLimit, defaultLimit), Paging: true,
		Description: "How many items a page may hold."},
	{Name: "cursor", Type: query.Cursor(), Paging: true,
		Description: "The place to go on from: `page.nextCursor` of the page before."},
}

func (c *call) limit() int { return int(query.Value[int64](c.values, "limit").Or(defaultLimit)) }

// A cursor's place is an id, or, where that is too long, its digest and its beginning.
const (
	placeID     = 'i'
	placeLongID = 'l'
)

// rankedPlace is the place behind an id in a list that is ordered by something else before it: a rank, which has one
// length in all places of the list.
func rankedPlace(rank, id string) []byte {
	place := []byte(rank)
	if len(place)+1+len(id) <= cursor.MaxPlace {
		return append(append(place, placeID), id...)
	}
	sum := sha256.Sum256([]byte(id))
	place = append(append(place, placeLongID), sum[:reader.DigestSize]...)
	return append(place, id[:cursor.MaxPlace-len(place)]...)
}

// openCursor finds the id that the call goes on from.
func (s *Server) openCursor(ctx context.Context, c *call) error {
	text := query.Value[string](c.values, "cursor")
	if !text.Ok {
		return nil
	}
	place, err := s.cursors.Open(ctx, text.V, c.binding())
	if err == nil && len(place) < c.operation.rank {
		err = cursor.ErrInvalid
	}
	if err == nil {
		c.rank = string(place[:c.operation.rank])
		c.after, err = s.idAt(ctx, c, place[c.operation.rank:])
	}
	if errors.Is(err, cursor.ErrInvalid) {
		return &problem.Error{Kind: problem.InvalidCursor, Detail: "The cursor was not made for this request."}
	}
	if err != nil {
		return fmt.Errorf("open a cursor: %w", err)
	}
	return nil
}

// idAt is the id behind which a place is.
func (s *Server) idAt(ctx context.Context, c *call, place []byte) (string, error) {
	switch {
	case len(place) > 0 && place[0] == placeID:
		return string(place[1:]), nil
	case len(place) > reader.DigestSize && place[0] == placeLongID:
		if len(c.caller.Projects()) == 0 {
			return string(place[1+reader.DigestSize:]), nil // whatever it is, nothing follows
		}
		id, err := c.reader.ID(ctx, c.operation.lists, c.caller.Tenant(), string(place[1+reader.DigestSize:]),
			place[1:1+reader.DigestSize])
		if errors.Is(err, reader.ErrNotFound) {
			return "", cursor.ErrInvalid
		}
		return id, err
	}
	return "", cursor.ErrInvalid
}

// page is a page of a list as it was read.
type page[T any] struct {
	items []T
	more  bool // whether others may follow
	// place is where an item is in the list: what it is ordered by before its id, and its id.
	place func(v *T) (rank, id string)
	write func(e *resource.Encoder, v *T)
	total events.Opt[int64] // of all pages, where it is shown
}

// byID is the place of an item in a list that is ordered by ids alone.
func byID[T any](id func(v *T) string) func(v *T) (rank, id string) {
	return func(v *T) (string, string) { return "", id(v) }
}

// shown writes each item as far as the groups of its own show it.
func shown[T any](table *resource.Table[T], groups func(v *T) access.Groups) func(e *resource.Encoder, v *T) {
	return func(e *resource.Encoder, v *T) {
		e.Groups = groups(v)
		table.Append(e, table.Visible(e.Groups), v)
	}
}

// writePage writes a page. It is cut before the item that would make it too large, unless that is the first.
func writePage[T any](s *Server, c *call, p page[T]) writer {
	return func(e *resource.Encoder) error {
		e.B = append(e.B, `{"data":[`...)
		for i := range p.items {
			before := e.Mark()
			if i > 0 {
				e.B = append(e.B, ',')
				e.Limit = c.maxPage
			}
			p.write(e, &p.items[i])
			if !e.Full() {
				continue
			}
			if i == 0 || !c.cuts {
				return fmt.Errorf("encode a page, item %d: %w", i, reader.ErrTooLarge)
			}
			e.Back(before)
			p.items, p.more = p.items[:i], true
			break
		}
		e.Limit = 0
		return p.end(s, c, e)
	}
}

// end writes what comes behind the items of a list.
func (p *page[T]) end(s *Server, c *call, e *resource.Encoder) error {
	e.B = append(e.B, `],"page":{"nextCursor":`...)
	if n := len(p.items); p.more && n > 0 {
		rank, id := p.place(&p.items[n-1])
		next, err := s.cursors.Seal(rankedPlace(rank, id), c.binding())
		if err != nil {
			return fmt.Errorf("seal a cursor: %w", err)
		}
		e.B = jsontext.AppendString(e.B, next)
	} else {
		e.B = append(e.B, "null"...)
	}
	e.B = append(e.B, `,"limit":`...)
	e.B = resource.AppendInt(e.B, int64(c.limit()))
	if p.total.Ok {
		e.B = append(e.B, `,"total":`...)
		e.B = resource.AppendInt(e.B, p.total.V)
	}
	e.B = append(e.B, `}}`...)
	return nil
}
