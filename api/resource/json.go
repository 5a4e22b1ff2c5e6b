package resource

import (
	"strconv"
	"time"
)

// AppendInt writes a whole number behind b.
func AppendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// AppendInstant writes an instant in UTC behind b (docs/api.md#conventions), with as many decimals as it has.
func AppendInstant(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999Z07:00")
	return append(b, '"')
}
