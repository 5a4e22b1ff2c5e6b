package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
	"tallyhouse/schemas/jsonschema"
)

func schemaOf(t *testing.T, topic events.Topic) *jsonschema.Schema {
	t.Helper()
	schema, err := events.Schema(topic)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// schemaText is the schema as it is written.
func schemaText(t *testing.T, topic events.Topic) []byte {
	t.Helper()
	text, err := json.MarshalIndent(schemaOf(t, topic), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

// compiled is the schema of a topic, formats asserted.
func compiled(t *testing.T, topic events.Topic) *validator.Schema {
	t.Helper()
	document, err := validator.UnmarshalJSON(bytes.NewReader(schemaText(t, topic)))
	if err != nil {
		t.Fatalf("schema of %s: %v", topic, err)
	}
	c := validator.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("schema of %s: %v", topic, err)
	}
	return schema
}

func validate(schema *validator.Schema, value []byte) error {
	v, err := validator.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return err
	}
	return schema.Validate(v)
}

// eachTopic runs a property for every topic.
func eachTopic(t *testing.T, property func(t *rapid.T, topic events.Topic, schema *validator.Schema)) {
	for _, topic := range events.Topics() {
		t.Run(string(topic), func(t *testing.T) {
			schema := compiled(t, topic)
			rapid.Check(t, func(t *rapid.T) { property(t, topic, schema) })
		})
	}
}

func TestValidMessagesPassDecoderAndSchemaAndAreWrittenAsRead(t *testing.T) {
	eachTopic(t, func(t *rapid.T, topic events.Topic, schema *validator.Schema) {
		m := eventstest.Draw(t, topic)
		value := m.Value()
		if err := validate(schema, value); err != nil {
			t.Fatalf("the schema refuses %s: %v", value, err)
		}
		e, err := events.Decode(topic, m.Key(), value)
		if err != nil {
			t.Fatalf("Decode refuses %s: %v", value, err)
		}
		written, err := events.Encode(topic, e)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, written); err != nil {
			t.Fatalf("the schema refuses what Encode writes, %s: %v", written, err)
		}
		again, err := events.Decode(topic, []byte(e.Key()), written)
		if err != nil || !reflect.DeepEqual(again, e) || again.ContentHash() != e.ContentHash() {
			t.Fatalf("%s\nis written as %s\nwhich differs (%v)", value, written, err)
		}
	})
}

func TestDecoderAndSchemaAgreeOnChangedMessages(t *testing.T) {
	eachTopic(t, func(t *rapid.T, topic events.Topic, schema *validator.Schema) {
		m, what := eventstest.Mutate(t, eventstest.Draw(t, topic))
		value := m.Value()
		_, err := events.Decode(topic, m.Key(), value)
		var invalid *events.Invalid
		if err != nil && !errors.As(err, &invalid) {
			t.Fatalf("%s: %v is not an *Invalid", value, err)
		}
		bySchema := validate(schema, value)
		switch {
		case err == nil && bySchema != nil:
			t.Fatalf("%s: Decode takes what the schema refuses: %s: %v", what, value, bySchema)
		case err != nil && bySchema == nil && !besideSchema(topic, err):
			t.Fatalf("%s: the schema takes what Decode refuses: %s: %v", what, value, err)
		}
	})
}

// besideSchema reports whether a refusal is one of the rules that a schema can't say.
func besideSchema(topic events.Topic, err error) bool {
	for _, r := range rulesBesideSchema {
		if r.topic == topic && regexp.MustCompile(r.refusal).MatchString(err.Error()) {
			return true
		}
	}
	return false
}

// rulesBesideSchema are the refusals of docs/events.md#beside-the-schema, each with a message that breaks the rule and
// the nearest one that doesn't.
var rulesBesideSchema = []struct {
	topic          events.Topic
	refusal        string // of the whole error
	refused, taken eventstest.Message
}{
	{events.BudgetNodes, `^data.parentId names the node itself \(".*"\); a node can't be its own parent$`,
		smallest(events.BudgetNodes, "N1").With("data.parentId", "N1"),
		smallest(events.BudgetNodes, "N1").With("data.parentId", "N2")},
	{events.Records, `^data.allocations add up to -?\d+, not to net -?\d+$`,
		smallest(events.Records, "R1").With("data.allocations[1]", map[string]any{"nodeId": "N2", "net": 1}),
		smallest(events.Records, "R1").With("data.allocations[1]", map[string]any{"nodeId": "N2", "net": 1}).
			With("data.net", 101)},
	{events.Records, `^data.allocations add up to more than an amount holds, not to net -?\d+$`,
		smallest(events.Records, "R1").With("data.allocations", wrapping()).With("data.net", 0),
		smallest(events.Records, "R1").With("data.allocations", wrapping()[:1]).With("data.net", 9007199254740991)},
	{events.Records, `^data.allocations add up to 4294967396, not to net 100$`, // equal in the lower 32 bits
		smallest(events.Records, "R1").With("data.allocations[1]", map[string]any{"net": 4294967296}),
		smallest(events.Records, "R1").With("data.allocations[1]", map[string]any{"net": 4294967296}).
			With("data.allocations[2]", map[string]any{"net": -4294967296})},
	{events.Records, `^data.allocations\[\d+\].net is null, but data.net is not$`,
		smallest(events.Records, "R1").With("data.allocations[0].net", nil),
		smallest(events.Records, "R1").With("data.allocations", []any{})},
	{events.Records, `^data.net is null, but data.allocations\[\d+\].net is not$`,
		smallest(events.Records, "R1").With("data.net", nil),
		smallest(events.Records, "R1").With("data.net", nil).With("data.allocations[0].net", nil)},
	{events.Records, `^data.gross is missing, and net and tax add up to more than an amount holds$`,
		smallest(events.Records, "R1").With("data.tax", events.MaxAmount-99),
		smallest(events.Records, "R1").With("data.tax", events.MaxAmount-100)},
	{events.Records, `^data.gross is missing, and net and tax add up to more than an amount holds$`,
		smallest(events.Records, "R1").With("data.net", -1).With("data.allocations[0].net", -1).With("data.tax", -events.MaxAmount),
		smallest(events.Records, "R1").With("data.net", -1).With("data.allocations[0].net", -1).With("data.tax", -events.MaxAmount).
			With("data.gross", 0)},
	{events.Records, `^data.currency is missing, but the record has amounts$`,
		smallest(events.Records, "R1").Without("data.currency"),
		withoutAmounts()},
	{events.Records, `^data.currency is missing, but the record has amounts$`,
		withoutAmounts().With("data.tax", 0),
		withoutAmounts().With("data.tax", 0).With("data.currency", "EUR")},
	{events.Records, `^data.currency is missing, but the record has amounts$`,
		withoutAmounts().With("data.gross", 0),
		withoutAmounts()},
	{events.Records, `^data.stepKind is paid, but neither paidAt nor cashDate says when$`,
		smallest(events.Records, "R1").With("data.stepKind", "paid"),
		smallest(events.Records, "R1").With("data.stepKind", "paid").With("data.paidAt", "2026-03-01T10:15:00Z")},
	{events.Contracts, `^data.amendments\[\d+\].id repeats .*, which an earlier amendment has$`,
		smallest(events.Contracts, "C1").With("data.amendments", []any{change("A1"), change("A1")}),
		smallest(events.Contracts, "C1").With("data.amendments", []any{change("A1"), change("A2")})},
	{events.Requests, `^data.sender must be in lower case, not ".*"$`,
		allowing("A@b.example", "sender:A@b.example"), allowing("a@b.example", "sender:a@b.example")},
	{events.Requests, `^id must be "sender:.*", not ".*"$`,
		allowing("a@b.example", "sender:b@b.example"), allowing("a@b.example", "sender:a@b.example")},
	{events.ForecastSnapshots, `^data.lines\[\d+\].nodeId repeats .*, which an earlier line has$`,
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N1", nil), line("N1", nil)}),
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N1", nil), line("N2", nil)})},
	{events.ForecastSnapshots, `^data.lines\[\d+\].parentId names .*, which is no line of the snapshot$`,
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N1", nil), line("N2", "N3")}),
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N2", "N1"), line("N1", nil)})},
	{events.ForecastSnapshots, `^data.lines\[\d+\].parentId leads in a circle back to .*$`,
		smallest(events.ForecastSnapshots, "S1").With("data.lines",
			[]any{line("N1", nil), line("N2", "N3"), line("N3", "N4"), line("N4", "N2")}),
		smallest(events.ForecastSnapshots, "S1").With("data.lines",
			[]any{line("N1", nil), line("N2", "N3"), line("N3", "N4"), line("N4", "N1")})},
	{events.ForecastSnapshots, `^data.lines\[\d+\].parentId leads in a circle back to .*$`,
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N1", "N1")}),
		smallest(events.ForecastSnapshots, "S1").With("data.lines", []any{line("N1", nil), line("N2", "N1"), line("N3", "N1")})},
	{events.IndexValues, `^id must be series:month, here .*, not .*$`,
		smallest(events.IndexValues, "VPI:2026-01").With("id", "VPI:2026-02"),
		smallest(events.IndexValues, "VPI:2026-02")},
	{events.Facilities, `^data.maturity must be after availability.from \(\d{4}-\d\d-\d\d\), but is \d{4}-\d\d-\d\d$`,
		smallest(events.Facilities, "F1").With("data.maturity", "2026-01-01"),
		smallest(events.Facilities, "F1").With("data.maturity", "2026-01-02")},
}

func smallest(topic events.Topic, id string) eventstest.Message {
	return eventstest.New(topic, "demo", id, 1)
}

// withoutAmounts is a record whose document hasn't been read yet.
func withoutAmounts() eventstest.Message {
	return smallest(events.Records, "R1").With("data.currency", nil).With("data.net", nil).With("data.allocations", []any{})
}

func change(id string) map[string]any {
	return map[string]any{"id": id, "value": 1, "status": "pending"}
}

func line(node string, parent any) map[string]any {
	return map[string]any{"nodeId": node, "parentId": parent, "level": "budget", "code": "1", "name": "",
		"budget": 0, "committed": 0, "pendingChanges": 0,
		"uncommitted": 0, "uncommittedDefaulted": true, "invoiced": 0, "paid": 0}
}

// wrapping are allocations whose sum is 2^64: in 64 bits it would be 0.
func wrapping() []any {
	out := make([]any, 2048, 2049)
	for i := range out {
		out[i] = map[string]any{"net": 9007199254740991}
	}
	return append(out, map[string]any{"net": 2048})
}

func TestRulesBesideTheSchemaRefuseAndTake(t *testing.T) {
	for _, r := range rulesBesideSchema {
		schema := compiled(t, r.topic)
		for _, m := range []eventstest.Message{r.refused, r.taken} {
			if err := validate(schema, m.Value()); err != nil {
				t.Errorf("%s: the schema refuses %s: %v", r.refusal, m.Value(), err)
			}
		}
		_, err := events.Decode(r.topic, r.refused.Key(), r.refused.Value())
		if err == nil || !regexp.MustCompile(r.refusal).MatchString(err.Error()) {
			t.Errorf("%s: Decode says %v", r.refusal, err)
		}
		if _, err := events.Decode(r.topic, r.taken.Key(), r.taken.Value()); err != nil {
			t.Errorf("%s: Decode refuses the neighbour: %v", r.refusal, err)
		}
	}
}

func TestRulesOfTheSchemaRefuseAndTake(t *testing.T) {
	for _, r := range []struct {
		topic      events.Topic
		path       string
		bad, good  any
		wantMember string
	}{
		{events.Claims, "data.probabilityBp", "10000.001", "10000.000", "data.probabilityBp"},
		{events.Claims, "data.probabilityBp", json.Number("-0.001"), json.Number("0"), "data.probabilityBp"},
		{events.Facilities, "data.projectIds", []any{}, []any{"P1"}, "data.projectIds"},
		{events.Facilities, "data.ipdEveryMonths", 0, 1, "data.ipdEveryMonths"},
		{events.Facilities, "data.interestTreatment", "", "swapped", "data.interestTreatment"},
		{events.Facilities, "data.dayCount", "ACT/ACT", "30/360", "data.dayCount"},
		{events.LinePlans, "data.recurring", map[string]any{"everyMonths": 0, "from": "2026-01"},
			map[string]any{"everyMonths": 1, "from": "2026-01"}, "data.recurring.everyMonths"},
		{events.Leases, "data.indexation",
			map[string]any{"type": "fixed", "rateBp": "200", "firstOn": "2026-01-01", "everyMonths": 0},
			map[string]any{"type": "fixed", "rateBp": "200", "firstOn": "2026-01-01", "everyMonths": 12},
			"data.indexation.everyMonths"},
		{events.Leases, "data.indexation", map[string]any{"type": "fixed", "firstOn": "2026-01-01", "everyMonths": 12},
			map[string]any{"type": "none", "rateBp": nil}, "data.indexation.rateBp"},
		{events.Leases, "data.indexation", map[string]any{"type": "none", "rateBp": "200"}, nil, "data.indexation.rateBp"},
		{events.FacilityEntries, "data.value", 0, 1, "data.value"},
		{events.FacilityEntries, "data.kind", strings.Repeat("ä", 101), strings.Repeat("ä", 100), "data.kind"},
		{events.BudgetRows, "data.kind", "Initial", "addendum", "data.kind"},
		{events.BudgetRows, "data.amount.currency", "eur", "CHF", "data.amount.currency"},
		{events.Contracts, "data.amendments",
			[]any{map[string]any{"id": "A", "value": 1, "status": "draft", "currency": "EUR"}},
			[]any{change("A")}, "data.amendments[0].currency"},
		{events.Memberships, "data.scope", map[string]any{"tenant": false},
			map[string]any{"tenant": true, "projectId": nil}, "data.scope.tenant"},
		{events.Memberships, "data.scope", map[string]any{"projectId": "P1", "workspaceId": "W1"},
			map[string]any{"workspaceId": "W1"}, "data.scope"},
		{events.Memberships, "data.scope", map[string]any{}, map[string]any{"projectId": "P1"}, "data.scope"},
		{events.Keys, "data.prefix", "a_b", "a-b", "data.prefix"},
		{events.Keys, "data.groups", []any{"amount"}, []any{}, "data.groups[0]"},
		{events.Records, "tenantId", "a/b", "ä b", "tenantId"},
		{events.Records, "tenantId", "", "0", "tenantId"},
		{events.Records, "id", strings.Repeat("😀", 201), strings.Repeat("😀", 200), "id"},
		{events.Records, "id", "", "a/b", "id"},
		{events.Records, "version", 0, 1, "version"},
		{events.Records, "at", "2026-03-01T10:15:00+00:00", "2026-03-01T10:15:00.000Z", "at"},
		{events.Records, "at", "2299-12-31T23:00:00Z", "2299-12-31T22:59:59Z", "at"},
		{events.Records, "at", "2026-03-01T10:15:00.0123456789Z", "2026-03-01T10:15:00.012345678Z", "at"},
		{events.Records, "data.paidAt", "2026-03-01T10:15:60Z", "2026-03-01T10:15:59Z", "data.paidAt"},
		{events.ReceivedFeedback, "data.message", "", "!", "data.message"},
		{events.ReceivedFeedback, "data.message", strings.Repeat("ä", 4001), strings.Repeat("ä", 4000), "data.message"},
		{events.Records, "op", "delete", "upsert", "data"},
		{events.Records, "extra", 1, nil, "extra"},
		{events.Records, "data.intake.ext", 1, nil, "data.intake.ext"},
		{events.Records, "data.source", "", "barter", "data.source"},
		{events.Records, "data.projectId", nil, "P2", "data.projectId"},
		{events.IndexValues, "data.value", "0.0", "0.1", "data.value"},
		{events.Units, "data.areaM2", "-1", "-0", "data.areaM2"},
		{events.Units, "data.spaces", -1, 0, "data.spaces"},
	} {
		schema := compiled(t, r.topic)
		id := "X1"
		if r.topic == events.IndexValues {
			id = "VPI:2026-01"
		}
		bad, good := smallest(r.topic, id).With(r.path, r.bad), smallest(r.topic, id).With(r.path, r.good)
		if r.good == nil && r.wantMember != "data.indexation.rateBp" {
			good = good.Without(r.path)
		}
		_, err := events.Decode(r.topic, bad.Key(), bad.Value())
		var invalid *events.Invalid
		if !errors.As(err, &invalid) || invalid.Member != r.wantMember {
			t.Errorf("%s %s %v: Decode says %v, want a refusal of %s", r.topic, r.path, r.bad, err, r.wantMember)
		}
		if validate(schema, bad.Value()) == nil {
			t.Errorf("%s %s %v: the schema takes it", r.topic, r.path, r.bad)
		}
		if _, err := events.Decode(r.topic, good.Key(), good.Value()); err != nil {
			t.Errorf("%s %s %v: Decode refuses it: %v", r.topic, r.path, r.good, err)
		}
		if err := validate(schema, good.Value()); err != nil {
			t.Errorf("%s %s %v: the schema refuses it: %v", r.topic, r.path, r.good, err)
		}
	}
}

// Each schema is complete in itself, so shared definitions are repeated: a name must mean the same everywhere.
func TestDefinitionsOfTheSameNameAreTheSameInAllSchemas(t *testing.T) {
	first := map[string]*jsonschema.Schema{}
	for _, topic := range events.Topics() {
		schema := schemaOf(t, topic)
		for i, name := range schema.Defs.Names {
			switch def := schema.Defs.Schemas[i]; {
			case first[name] == nil:
				first[name] = def
			case !reflect.DeepEqual(first[name], def):
				t.Errorf("%s defines %s otherwise than the schemas before it", topic, name)
			}
		}
	}
}

// The decoder keeps a bit of 64 for each member, and one for ext.
func TestNoObjectHasMoreMembersThanTheDecoderCanCount(t *testing.T) {
	for _, topic := range events.Topics() {
		schema := schemaOf(t, topic)
		for _, s := range append(schema.Defs.Schemas, schema) {
			for _, s := range append(s.OneOf, s) {
				if s.Properties != nil && len(s.Properties.Names) > 63 {
					t.Errorf("%s: an object with %d members", topic, len(s.Properties.Names))
				}
			}
		}
	}
}

// allowing is a request that allows a sender.
func allowing(sender, id string) eventstest.Message {
	return smallest(events.Requests, id).With("data.action", "allow").Without("data.mail").With("data.sender", sender)
}
