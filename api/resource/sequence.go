package resource

import "iter"

// Sequence is an array of objects that are made one after another; an empty one is []. Each is needed only until the
// next.
func Sequence[T, U any](table *Table[U], get func(v *T) iter.Seq[*U]) Value[T] {
	return Value[T]{schema: &Schema{Type: "array", Items: table.Reference()}, append: func(e *Encoder, v *T) {
		e.B = append(e.B, '[')
		m, start := table.Visible(e.Groups), len(e.B)
		for u := range get(v) {
			if len(e.B) > start {
				e.B = append(e.B, ',')
			}
			if table.Append(e, m, u); e.Full() {
				break
			}
		}
		e.B = append(e.B, ']')
	}}
}
