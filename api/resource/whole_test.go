package resource_test

import (
	"math/big"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// lease has members that may have no value, and numbers of all kinds.
type lease struct {
	end   events.Opt[calendar.Date]
	rent  analytics.Int128
	sum   analytics.Int128
	space events.Opt[int64]
	area  events.Opt[events.Decimal]
	parts []lease
}

func leaseFields() []resource.Field[lease] {
	field := func(name string, value resource.Value[lease]) resource.Field[lease] {
		return resource.Field[lease]{Name: name, Groups: access.Core, Value: value}
	}
	return []resource.Field[lease]{
		field("end", resource.Date(func(l *lease) calendar.Date { return l.end.V }).When(func(l *lease) bool { return l.end.Ok })),
		field("rent", resource.FigureOrNothing(func(l *lease) (analytics.Int128, string) { return l.rent, "EUR" })),
		field("sum", resource.Integer(func(l *lease) analytics.Int128 { return l.sum })),
		field("space", resource.NullWhole(func(l *lease) events.Opt[int64] { return l.space })),
		field("area", resource.NullNumber(func(l *lease) events.Opt[events.Decimal] { return l.area })),
	}
}

var leaseTable = resource.NewTable("Lease", "", append(leaseFields(),
	resource.Field[lease]{Name: "parts", Groups: access.Core,
		Value: resource.List(resource.NewTable("Part", "", leaseFields()...), func(l *lease) []lease { return l.parts })})...)

func TestMembersWithoutAValueAreNullOrLeftOutAsTheirTypeSays(t *testing.T) {
	huge, err := analytics.Int128FromBig(new(big.Int).Lsh(big.NewInt(-1), 100))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of     lease
		want   string
		beyond int
	}{
		"nothing": {lease{},
			`{"rent":{"value":0,"currency":"EUR"},"sum":0,"space":null,"area":null,"parts":[]}`, 0},
		"everything": {lease{end: events.Some(calendar.NewDate(2026, 5, 31)), rent: analytics.Int(-7), sum: analytics.Int(1 << 60),
			space: events.Some[int64](2), area: events.Some(events.Decimal{Units: 725, Scale: 1})},
			`{"end":"2026-05-31","rent":{"value":-7,"currency":"EUR"},"sum":1152921504606846976,"space":2,"area":72.5,"parts":[]}`, 0},
		"an amount beyond its range is left out, a whole number is not": {lease{rent: analytics.Int(analytics.MaxAmount + 1), sum: huge},
			`{"sum":-1267650600228229401496703205376,"space":null,"area":null,"parts":[]}`, 1},
		"in a list, each as it is": {lease{parts: []lease{{rent: huge}, {space: events.Some[int64](0)}}},
			`{"rent":{"value":0,"currency":"EUR"},"sum":0,"space":null,"area":null,"parts":[` +
				`{"sum":0,"space":null,"area":null},{"rent":{"value":0,"currency":"EUR"},"sum":0,"space":0,"area":null}]}`, 1},
	} {
		e := &resource.Encoder{Groups: access.Core}
		leaseTable.Append(e, leaseTable.Visible(access.Core), &c.of)
		if string(e.B) != c.want || e.Beyond.Count != c.beyond {
			t.Errorf("%s: got\n%s, %d beyond, want\n%s, %d", name, e.B, e.Beyond.Count, c.want, c.beyond)
		}
	}
	e := &resource.Encoder{Groups: access.Core}
	if leaseTable.Append(e, leaseTable.Named([]string{"end"}), &lease{}); string(e.B) != "{}" {
		t.Errorf("an object without its only member is %s", e.B)
	}
}
