package resource

import "time"

// AppendInstant writes an instant in UTC behind b (docs/api.md#conventions), with as many decimals as it has.
func AppendInstant(b []byte, t time.Time) []byte {
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, "2006-01-02T15:04:05.999999999Z07:00")
	return append(b, '"')
}
