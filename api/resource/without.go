package resource

import "slices"

// Without is the table of the same resource where it never has these members. They stay in its schema, which is the
// other's.
func (t *Table[T]) Without(names ...string) *Table[T] {
	fields := slices.DeleteFunc(slices.Clone(t.fields), func(f Field[T]) bool { return slices.Contains(names, f.Name) })
	return NewTable(t.name, t.description, fields...)
}
