package demo

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"tallyhouse/schemas/events"
)

// company is the last state of everything.
type company struct {
	heads map[events.Topic]map[string]events.Event // deleted ones too
	lines int
}

// readDemo writes the data, decodes every line, calls tell with each event and keeps the last states.
func readDemo(t *testing.T, o Options, tell func(topic events.Topic, before, now events.Event)) *company {
	t.Helper()
	c := &company{heads: map[events.Topic]map[string]events.Event{}}
	for _, topic := range Topics() {
		c.heads[topic] = map[string]events.Event{}
	}
	in, out := io.Pipe()
	defer in.Close()
	go func() { out.CloseWithError(Write(out, o)) }()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c.lines++
		topic, key, value := parts(t, lines.Bytes())
		e, err := events.Decode(topic, []byte(key), value)
		if err != nil {
			t.Fatalf("line %d, %s %s: %v\n%s", c.lines, topic, key, err, value)
		}
		heads := c.heads[topic]
		if heads == nil {
			t.Fatalf("line %d: %s is not among Topics()", c.lines, topic)
		}
		if tell != nil {
			tell(topic, heads[e.ID], e)
		}
		heads[e.ID] = e
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return c
}

// parts takes a line apart that is written exactly as {"topic":"T","key":"K","value":V}, which is faster than reading
// any JSON.
func parts(t *testing.T, line []byte) (topic events.Topic, key string, value []byte) {
	t.Helper()
	rest, ok1 := bytes.CutPrefix(line, []byte(`{"topic":"`))
	name, rest, ok2 := bytes.Cut(rest, []byte(`","key":`))
	quoted, rest, ok3 := bytes.Cut(rest, []byte(`,"value":`))
	value, ok4 := bytes.CutSuffix(rest, []byte(`}`))
	if err := json.Unmarshal(quoted, &key); !ok1 || !ok2 || !ok3 || !ok4 || err != nil {
		t.Fatalf("not a line of topic, key and value: %s", line)
	}
	return events.Topic(name), key, value
}

// live are the entities of a topic that exist in the end, by id.
func live[T any](c *company, topic events.Topic) map[string]*T {
	all := map[string]*T{}
	for id, e := range c.heads[topic] {
		if e.Op == events.Upsert {
			all[id] = e.Data.(*T)
		}
	}
	return all
}

// lineSums is what is booked on a budget line, computed from the last states alone, in the project's currency.
type lineSums struct{ budget, committed, invoiced int64 }

// leaves are the budget lines of a project without others below them, with what is booked on them.
func (c *company) leaves(t *testing.T, projectID string) map[string]*lineSums {
	project := live[events.Project](c, events.Projects)[projectID]
	lines := map[string]*lineSums{}
	inner := map[string]bool{}
	for id, n := range live[events.BudgetNode](c, events.BudgetNodes) {
		if n.ProjectID == events.Some(projectID) || n.StructureID.Ok && n.StructureID == project.BudgetStructureID {
			lines[id] = &lineSums{}
			inner[n.ParentID.V] = true
		}
	}
	for _, r := range live[events.BudgetRow](c, events.BudgetRows) {
		if r.ProjectID == projectID && r.Status == "approved" && r.NodeID.Ok {
			lines[r.NodeID.V].budget += r.Amount.Value
		}
	}
	for _, r := range live[events.BudgetTransfer](c, events.BudgetTransfers) {
		if r.ProjectID == projectID && r.Status == "approved" {
			lines[r.FromNodeID.V].budget -= r.Amount.Value
			lines[r.ToNodeID.V].budget += r.Amount.Value
		}
	}
	for _, r := range live[events.Contract](c, events.Contracts) {
		if r.ProjectID != projectID || r.Currency != project.Currency || r.Status != "signed" && r.Status != "completed" {
			continue
		}
		for _, a := range r.Allocations {
			lines[a.NodeID].committed += a.Value
		}
		for _, a := range r.Amendments {
			if a.Status == "approved" && a.NodeID.Ok {
				lines[a.NodeID.V].committed += a.Value
			}
		}
	}
	for _, r := range live[events.Record](c, events.Records) {
		if r.ProjectID == projectID && r.Source == "invoice" && r.StepKind != "rejected" && r.Currency.V == project.Currency {
			for _, a := range r.Allocations {
				lines[a.NodeID.V].invoiced += a.Net.V
			}
		}
	}
	for id := range inner {
		if s := lines[id]; s != nil {
			if *s != (lineSums{}) {
				t.Errorf("node %s has bookings, but lines below it", id)
			}
			delete(lines, id)
		}
	}
	return lines
}
