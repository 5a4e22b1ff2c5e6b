package api

import (
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/calendar"
)

func TestMonthsAreWrittenAsTheirTableWritesThem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Given the values of some months, beside or among those that are listed
		near := rapid.Int32Range(0, 40)
		month := func(name string) calendar.Month {
			return calendar.NewDate(2024, 11, 1).Month() + calendar.Month(near.Draw(t, name))
		}
		asOf, first, last, from := month("asOf"), month("first"), month("last"), month("from")
		values := make([]analytics.Int128, near.Draw(t, "months"))
		for i := range values {
			if rapid.Bool().Draw(t, "something") {
				values[i] = analytics.NewInt128(rapid.Int64Range(-1, 1).Draw(t, "high"), rapid.Uint64().Draw(t, "low"))
			}
		}
		// Then each listed month is written like any other object
		var want resource.Encoder
		for m := first; m <= last; m++ {
			shown := cashflowMonth{month: m}
			if i := int(m - from); i >= 0 && i < len(values) && m < asOf {
				shown.actual = values[i]
			} else if i >= 0 && i < len(values) {
				shown.forecast = values[i]
			}
			if m > first {
				want.B = append(want.B, ',')
			}
			cashflowMonthTable.Append(&want, cashflowMonthTable.Visible(access.All), &shown)
		}
		months := newMonthsText(asOf, first, last)
		got := months.append([]byte("before"), from, values)
		if string(got) != "before["+string(want.B)+"]" {
			t.Fatalf("got  %s\nwant [%s]", got, want.B)
		}
		// And they take no less than what is expected of a line before it is written
		flow := shownCashflow{lines: []cashflowLine{{months: months}}}
		if least, took := flow.least(), len(got)-len("before"); took < least {
			t.Fatalf("%d bytes, at least %d were expected", took, least)
		}
	})
}
