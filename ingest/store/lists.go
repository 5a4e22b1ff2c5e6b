package store

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"
)

// Lists of a payload are kept as arrays side by side, one for each member of their elements.

func boolsColumn[P any](name string, of func(*P) []bool) Column {
	return Column{name, func() filler { return fillerOf[P, []bool]{proto.NewArray[bool](new(proto.ColBool)), of} }}
}

func textsOrNull[P any](name string, of func(*P) []proto.Nullable[string]) Column {
	return Column{name, func() filler {
		return fillerOf[P, []proto.Nullable[string]]{proto.NewArray[proto.Nullable[string]](proto.NewColNullable[string](new(proto.ColStr))), of}
	}}
}

func datesOrNull[P any](name string, of func(*P) []proto.Nullable[time.Time]) Column {
	return Column{name, func() filler {
		return fillerOf[P, []proto.Nullable[time.Time]]{proto.NewArray[proto.Nullable[time.Time]](proto.NewColNullable[time.Time](new(proto.ColDate32))), of}
	}}
}

func integerColumn[P any](name string, of func(*P) int64) Column {
	return Column{name, func() filler { return fillerOf[P, int64]{new(proto.ColInt64), of} }}
}

// each is one member of every element of a list.
func each[E, V any](list []E, of func(*E) V) []V {
	if len(list) == 0 {
		return nil
	}
	values := make([]V, len(list))
	for i := range list {
		values[i] = of(&list[i])
	}
	return values
}
