package store

import (
	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/schemas/calendar"
)

// dates is a column Date32 of calendar dates, which are days since 1970 as well; the driver's own makes instants of them.
type dates struct{ *proto.ColDate32 }

func newDates() dates { return dates{new(proto.ColDate32)} }

func (c dates) Append(d calendar.Date) { *c.ColDate32 = append(*c.ColDate32, proto.Date32(d)) }

func (c dates) AppendArr(ds []calendar.Date) {
	for _, d := range ds {
		c.Append(d)
	}
}

func (c dates) Row(i int) calendar.Date { return calendar.Date((*c.ColDate32)[i]) }
