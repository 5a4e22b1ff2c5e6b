package store

import (
	"unsafe"

	"github.com/ClickHouse/ch-go/proto"
)

// texts is a column of texts whose rows are parts of the block, good until the next one is read; the driver's own copies
// each.
type texts struct{ *proto.ColStr }

func newTexts() texts { return texts{new(proto.ColStr)} }

// Row implements proto.ColumnOf.
func (c texts) Row(i int) string {
	b := c.RowBytes(i)
	return unsafe.String(unsafe.SliceData(b), len(b))
}
