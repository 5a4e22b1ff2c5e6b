package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"
)

// instants is a column DateTime64(6) over the whole range of events. The driver's own counts in nanoseconds, which 64
// bits hold only from 1678 to 2262, and cuts what is before 1970 upwards, maybe into the next day.
type instants struct{ *proto.ColDateTime64 }

func newInstants() instants {
	return instants{new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro)}
}

func (c instants) Append(t time.Time) {
	if t.IsZero() {
		t = time.Unix(0, 0) // none
	}
	c.AppendRaw(proto.DateTime64(t.UnixMicro()))
}

func (c instants) AppendArr(ts []time.Time) {
	for _, t := range ts {
		c.Append(t)
	}
}

func (c instants) Row(i int) time.Time { return time.UnixMicro(int64(c.Data[i])).UTC() }
