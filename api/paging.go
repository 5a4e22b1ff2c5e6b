package api

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/api/cursor"
	"tallyhouse/api/problem"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
)

const (
	defaultLimit = 50
	maxLimit     = 200
)

// paging are the parameters that every paginated list takes (spec section 4.1).
var paging = []query.Param{
	{Name: "limit", Type: query.Integer(1, maxLimit, defaultLimit), Paging: true, Description: "How many items a page may hold."},
	{Name: "cursor", Type: query.Cursor(), Paging: true, Description: "The place to go on from: `page.nextCursor` of the page before."},
}

func (c *call) limit() int { return int(query.Value[int64](c.values, "limit").Or(defaultLimit)) }

// openCursor finds the place that the call goes on from.
func (s *Server) openCursor(ctx context.Context, c *call) error {
	text := query.Value[string](c.values, "cursor")
	if !text.Ok {
		return nil
	}
	place, err := s.cursors.Open(ctx, text.V, c.binding())
	if errors.Is(err, cursor.ErrInvalid) {
		return &problem.Error{Kind: problem.InvalidCursor, Detail: "The cursor was not made for this request."}
	}
	if err != nil {
		return fmt.Errorf("open a cursor: %w", err)
	}
	c.after = string(place)
	return nil
}

// page is what a list says beside its items.
type page struct {
	limit int
	next  string // cursor; "" on the last page
	total int64
	count bool // whether the total is shown
}

// nextPage makes the page's cursor, where more items follow the last one.
func (s *Server) nextPage(c *call, more bool, last string) (page, error) {
	p := page{limit: c.limit()}
	if !more {
		return p, nil
	}
	var err error
	p.next, err = s.cursors.Seal([]byte(last), c.binding())
	return p, err
}

// append writes the end of a list: what comes behind its items.
func (p *page) append(e *resource.Encoder) {
	e.B = append(e.B, `],"page":{"nextCursor":`...)
	if p.next == "" {
		e.B = append(e.B, "null"...)
	} else {
		e.B = resource.AppendString(e.B, p.next)
	}
	e.B = append(e.B, `,"limit":`...)
	e.B = resource.AppendInt(e.B, int64(p.limit))
	if p.count {
		e.B = append(e.B, `,"total":`...)
		e.B = resource.AppendInt(e.B, p.total)
	}
	e.B = append(e.B, `}}`...)
}
