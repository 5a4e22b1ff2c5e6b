package resource_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
)

// inner and thing are resources with members of every type.
type inner struct {
	Name  string
	Value int64
}

type thing struct {
	id      string
	text    events.Opt[string]
	flag    bool
	day     events.Opt[calendar.Date]
	instant events.Opt[time.Time]
	money   events.Opt[int64]
	inner   *inner
	list    []inner
}

var innerTable = resource.NewTable("Inner", "",
	resource.Field[inner]{Name: "name", Groups: access.Core, Required: true,
		Value: resource.Text(func(i *inner) string { return i.Name })},
	resource.Field[inner]{Name: "value", Groups: access.Amounts,
		Value: resource.NullAmount(func(i *inner) (events.Opt[int64], string) { return events.Some(i.Value), "CHF" })},
)

var thingTable = resource.NewTable("Thing", "",
	resource.Field[thing]{Name: "id", Groups: access.Core, Required: true,
		Value: resource.Text(func(v *thing) string { return v.id })},
	resource.Field[thing]{Name: "kind", Groups: access.Core, Value: resource.Const[thing]("constant")},
	resource.Field[thing]{Name: "text", Groups: access.Tax,
		Value: resource.NullText(func(v *thing) events.Opt[string] { return v.text })},
	resource.Field[thing]{Name: "flag", Groups: access.Budget,
		Value: resource.Flag(func(v *thing) bool { return v.flag })},
	resource.Field[thing]{Name: "day", Groups: access.Payment,
		Value: resource.NullDate(func(v *thing) events.Opt[calendar.Date] { return v.day })},
	resource.Field[thing]{Name: "instant", Groups: access.Core,
		Value: resource.NullInstant(func(v *thing) events.Opt[time.Time] { return v.instant })},
	resource.Field[thing]{Name: "money", Groups: access.Amounts | access.Budget,
		Value: resource.NullAmount(func(v *thing) (events.Opt[int64], string) { return v.money, "EUR" })},
	resource.Field[thing]{Name: "inner", Groups: access.Documents,
		Value: resource.NullObject(innerTable, func(v *thing) *inner { return v.inner })},
	resource.Field[thing]{Name: "list", Groups: access.Core,
		Value: resource.List(innerTable, func(v *thing) []inner { return v.list })},
)

// The same as encoding/json would write it: a member that may not be seen is a nil pointer.
type (
	jsonAmount struct {
		Value    int64  `json:"value"`
		Currency string `json:"currency"`
	}
	jsonInner struct {
		Name  string      `json:"name"`
		Value *jsonAmount `json:"value,omitempty"`
	}
	jsonThing struct {
		ID      string        `json:"id"`
		Kind    string        `json:"kind"`
		Text    **string      `json:"text,omitempty"`
		Flag    *bool         `json:"flag,omitempty"`
		Day     **string      `json:"day,omitempty"`
		Instant **time.Time   `json:"instant,omitempty"`
		Money   **jsonAmount  `json:"money,omitempty"`
		Inner   **jsonInner   `json:"inner,omitempty"`
		List    *[]*jsonInner `json:"list,omitempty"`
	}
)

// expected writes what a caller with the groups may see of a thing.
func expected(v *thing, groups access.Groups) jsonThing {
	want := jsonThing{ID: v.id, Kind: "constant"}
	part := func(i *inner) *jsonInner {
		if i == nil {
			return nil
		}
		p := &jsonInner{Name: i.Name}
		if groups.Has(access.Amounts) {
			p.Value = &jsonAmount{i.Value, "CHF"}
		}
		return p
	}
	if groups.Has(access.Tax) {
		want.Text = show(v.text, func(s string) string { return s })
	}
	if groups.Has(access.Budget) {
		want.Flag = &v.flag
	}
	if groups.Has(access.Payment) {
		want.Day = show(v.day, calendar.Date.String)
	}
	want.Instant = show(v.instant, time.Time.UTC)
	if groups.Has(access.Amounts | access.Budget) {
		want.Money = show(v.money, func(n int64) jsonAmount { return jsonAmount{n, "EUR"} })
	}
	if groups.Has(access.Documents) {
		in := part(v.inner)
		want.Inner = &in
	}
	list := []*jsonInner{}
	for i := range v.list {
		list = append(list, part(&v.list[i]))
	}
	want.List = &list
	return want
}

func show[T, U any](o events.Opt[T], as func(T) U) **U {
	var p *U
	if o.Ok {
		u := as(o.V)
		p = &u
	}
	return &p
}

func optional[T any](t *rapid.T, g *rapid.Generator[T], name string) events.Opt[T] {
	if !rapid.Bool().Draw(t, name+"?") {
		return events.Opt[T]{}
	}
	return events.Some(g.Draw(t, name))
}

func TestTablesWriteWhatEncodingJSONWrites(t *testing.T) {
	amounts := rapid.Int64Range(-9007199254740991, 9007199254740991)
	inners := rapid.Custom(func(t *rapid.T) inner {
		return inner{rapid.String().Draw(t, "name"), amounts.Draw(t, "value")}
	})
	rapid.Check(t, func(t *rapid.T) {
		v := thing{
			id: rapid.String().Draw(t, "id"), text: optional(t, rapid.String(), "text"), flag: rapid.Bool().Draw(t, "flag"),
			day: optional(t, rapid.Custom(func(t *rapid.T) calendar.Date {
				return calendar.Date(rapid.Int32Range(int32(calendar.MinDate), int32(calendar.MaxDate)).Draw(t, "day"))
			}), "day"),
			instant: optional(t, rapid.Custom(func(t *rapid.T) time.Time {
				return time.UnixMicro(rapid.Int64Range(-2e15, 9e15).Draw(t, "instant"))
			}), "instant"),
			money: optional(t, amounts, "money"), list: rapid.SliceOfN(inners, 0, 3).Draw(t, "list"),
		}
		if rapid.Bool().Draw(t, "inner?") {
			in := inners.Draw(t, "inner")
			v.inner = &in
		}
		groups := access.Groups(rapid.IntRange(0, int(access.All)).Draw(t, "groups")) | access.Core

		e := &resource.Encoder{Groups: groups}
		thingTable.Append(e, thingTable.Visible(groups), &v)

		want, err := json.Marshal(expected(&v, groups))
		if err != nil {
			t.Fatal(err)
		}
		if e.Beyond.Count > 0 || !slices.Equal(tokens(t, e.B), tokens(t, want)) {
			t.Fatalf("got  %s, %v\nwant %s", e.B, e.Beyond, want)
		}
	})
}

// tokens are the parts of a JSON text in their order. Texts that differ only in what they escape have the same ones.
func tokens(t *rapid.T, text []byte) (all []json.Token) {
	r := json.NewDecoder(bytes.NewReader(text))
	r.UseNumber()
	for {
		switch token, err := r.Token(); {
		case err == io.EOF:
			return all
		case err != nil:
			t.Fatalf("%s is not JSON: %v", text, err)
		default:
			all = append(all, token)
		}
	}
}

func TestAnAmountOutsideTheRangeIsNull(t *testing.T) {
	for value, want := range map[int64]string{
		9007199254740991:  `{"money":{"value":9007199254740991,"currency":"EUR"}}`,
		-9007199254740991: `{"money":{"value":-9007199254740991,"currency":"EUR"}}`,
		9007199254740992:  `{"money":null}`, -9007199254740992: `{"money":null}`, -1 << 63: `{"money":null}`,
	} {
		e := &resource.Encoder{Groups: access.All}
		thingTable.Append(e, thingTable.Named([]string{"money"}), &thing{money: events.Some(value)})
		if string(e.B) != want {
			t.Errorf("%d is shown as %s", value, e.B)
		}
		var beyond resource.Beyond
		if want == `{"money":null}` {
			beyond = resource.Beyond{Count: 1, Member: "money", Value: fmt.Sprint(value)}
		}
		if e.Beyond != beyond {
			t.Errorf("%d is reported as %+v", value, e.Beyond)
		}
	}
}

// sums are two figures that cannot be null themselves.
type sums struct{ amount, units int64 }

var sumsTable = resource.NewTable("Sums", "",
	resource.Field[sums]{Name: "amount", Groups: access.Core,
		Value: resource.Figure(func(s *sums) (analytics.Int128, string) { return analytics.Int(s.amount), "EUR" })},
	resource.Field[sums]{Name: "units", Groups: access.Core,
		Value: resource.Units(func(s *sums) analytics.Int128 { return analytics.Int(s.units) })},
)

func TestAnObjectIsNullWhereItsFigureCannotBe(t *testing.T) {
	const most = analytics.MaxAmount
	table := resource.NewTable("Two", "",
		resource.Field[[2]sums]{Name: "a", Groups: access.Core,
			Value: resource.NullObject(sumsTable, func(v *[2]sums) *sums { return &v[0] })},
		resource.Field[[2]sums]{Name: "b", Groups: access.Core,
			Value: resource.NullObject(sumsTable, func(v *[2]sums) *sums { return &v[1] })},
	)
	shown := `{"amount":{"value":1,"currency":"EUR"},"units":9007199254740991}`
	for _, c := range []struct {
		value [2]sums
		want  string
	}{
		{[2]sums{{1, most}, {1, most}}, `{"a":` + shown + `,"b":` + shown + `}`},
		{[2]sums{{1, most + 1}, {1, most}}, `{"a":null,"b":` + shown + `}`},
		{[2]sums{{1, most}, {-most - 1, 1}}, `{"a":` + shown + `,"b":null}`},
		{[2]sums{{most + 1, most + 1}, {most + 1, 1}}, `{"a":null,"b":null}`},
	} {
		e := &resource.Encoder{Groups: access.Core}
		table.Append(e, table.Visible(access.Core), &c.value)
		if string(e.B) != c.want {
			t.Errorf("got  %s\nwant %s", e.B, c.want)
		}
	}
}

// rate is a resource with members that a value may lack.
type rate struct {
	bp, floor events.Opt[events.Decimal]
	from      calendar.Date
}

var rateTable = resource.NewTable("Rate", "",
	resource.Field[rate]{Name: "bp", Groups: access.Core,
		Value: resource.Number(func(r *rate) events.Decimal { return r.bp.V }).When(func(r *rate) bool { return r.bp.Ok })},
	resource.Field[rate]{Name: "floorBp", Groups: access.Core, Required: true,
		Value: resource.NullNumber(func(r *rate) events.Opt[events.Decimal] { return r.floor })},
	resource.Field[rate]{Name: "from", Groups: access.Core, Required: true,
		Value: resource.Date(func(r *rate) calendar.Date { return r.from })},
)

func TestAMemberWithoutAValueIsLeftOutWhereNullIsNotMeant(t *testing.T) {
	decimal := func(units int64, scale uint8) events.Opt[events.Decimal] {
		return events.Some(events.Decimal{Units: units, Scale: scale})
	}
	from := calendar.NewDate(2028, 2, 29)
	for _, c := range []struct {
		value rate
		want  string
	}{
		{rate{from: from}, `{"floorBp":null,"from":"2028-02-29"}`},
		{rate{decimal(0, 0), decimal(-5, 2), from}, `{"bp":0,"floorBp":-0.05,"from":"2028-02-29"}`},
		{rate{decimal(2455, 1), decimal(1<<62, 0), from}, `{"bp":245.5,"floorBp":4611686018427387904,"from":"2028-02-29"}`},
	} {
		e := &resource.Encoder{}
		rateTable.Append(e, rateTable.Visible(access.Core), &c.value)
		if string(e.B) != c.want {
			t.Errorf("got  %s\nwant %s", e.B, c.want)
		}
	}
}

// manyFields are n fields of different names.
func manyFields(n int) []resource.Field[thing] {
	var fields []resource.Field[thing]
	for i := range n {
		fields = append(fields,
			resource.Field[thing]{Name: fmt.Sprint("f", i), Groups: access.Core,
				Value: resource.Text(func(v *thing) string { return v.id })})
	}
	return fields
}

func TestATableWithAMistakeMakesNoDocument(t *testing.T) {
	twice := append(manyFields(1), manyFields(1)...)
	inside := resource.Field[thing]{Name: "inside", Groups: access.Core,
		Value: resource.List(resource.NewTable("Bad", "", twice...), func(*thing) []thing { return nil })}
	for name, c := range map[string]struct {
		schemas []*resource.Schema
		wrong   string
	}{
		"as many fields as a mask holds": {[]*resource.Schema{resource.NewTable("A", "", manyFields(64)...).Reference()}, ""},
		"one more": {[]*resource.Schema{resource.NewTable("A", "", manyFields(65)...).Reference()},
			"resource A has 65 fields"},
		"a member that is required and may be left out": {[]*resource.Schema{resource.NewTable("A", "",
			resource.Field[thing]{Name: "a", Groups: access.Core, Required: true, Value: resource.Const[thing]("").
				When(func(*thing) bool { return false })}).Reference()}, "requires the field a"},
		"a name twice": {[]*resource.Schema{resource.NewTable("A", "", twice...).Reference()},
			"two fields named f0"},
		"inside another": {[]*resource.Schema{resource.NewTable("A", "", inside).Reference().OrNull()},
			"resource Bad has two fields"},
		"one name, the same twice": {[]*resource.Schema{innerTable.Reference(), innerTable.Reference()}, ""},
		"one name for different schemas": {[]*resource.Schema{innerTable.Reference(),
			resource.NewTable("Inner", "", manyFields(1)...).Reference()}, "two schemas named Inner"},
	} {
		_, err := jsonschema.Definitions(c.schemas...)
		if got := fmt.Sprint(err); (err == nil) != (c.wrong == "") || !strings.Contains(got, c.wrong) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheLastFieldOfAFullTableIsShown(t *testing.T) {
	table := resource.NewTable("A", "", manyFields(64)...)
	e := &resource.Encoder{}
	table.Append(e, table.Visible(access.Core)&table.Named([]string{"f63"}), &thing{id: "x"})
	if string(e.B) != `{"f63":"x"}` {
		t.Errorf("got %s", e.B)
	}
}

func TestComponentsAreAllThatSchemasReferTo(t *testing.T) {
	found, err := jsonschema.Definitions(&resource.Schema{Type: "array", Items: thingTable.Reference()})
	if err != nil || !slices.Equal(found.Names, []string{"Thing", "Amount", "Inner"}) {
		t.Errorf("got %v, %v", found.Names, err)
	}
}
