package resource

// Written is an array of objects that write appends itself, with its brackets, as the table would: for arrays so long that
// to go through the table's fields takes most of the time. The table says what they are, and it must show all of its
// members to whoever sees the array.
func Written[T, U any](table *Table[U], write func(b []byte, v *T) []byte) Value[T] {
	return Value[T]{schema: &Schema{Type: "array", Items: table.Reference()},
		append: func(e *Encoder, v *T) { e.B = write(e.B, v) }}
}
