package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"tallyhouse/api/cursor"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
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
		id, err := s.reader.ID(ctx, c.operation.lists, c.caller.Tenant(), string(place[1+reader.DigestSize:]),
			place[1:1+reader.DigestSize])
		if errors.Is(err, reader.ErrNotFound) {
			return "", cursor.ErrInvalid
		}
		return id, err
	}
	return "", cursor.ErrInvalid
}

// page is what a list says beside its items.
type page struct {
	limit int
	next  string // cursor; "" on the last page
	total int64
	count bool // whether the total is shown
}

// nextPage makes the page's cursor, where more items follow these. Place is an item's id, and before it the rank that
// the list is ordered by first, "" where ids alone order it.
func nextPage[T any](s *Server, c *call, items []T, more bool, place func(v *T) (rank, id string)) (page, error) {
	p := page{limit: c.limit()}
	if !more || len(items) == 0 {
		return p, nil
	}
	var err error
	p.next, err = s.cursors.Seal(rankedPlace(place(&items[len(items)-1])), c.binding())
	return p, err
}

// byID is the place of an item in a list that is ordered by ids alone.
func byID[T any](id func(*T) string) func(*T) (rank, id string) {
	return func(v *T) (string, string) { return "", id(v) }
}

// append writes the end of a list: what comes behind its items.
func (p *page) append(e *resource.Encoder) {
	e.B = append(e.B, `],"page":{"nextCursor":`...)
	if p.next == "" {
		e.B = append(e.B, "null"...)
	} else {
		e.B = jsontext.AppendString(e.B, p.next)
	}
	e.B = append(e.B, `,"limit":`...)
	e.B = resource.AppendInt(e.B, int64(p.limit))
	if p.count {
		e.B = append(e.B, `,"total":`...)
		e.B = resource.AppendInt(e.B, p.total)
	}
	e.B = append(e.B, `}}`...)
}
