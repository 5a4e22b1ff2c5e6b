package stream

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/topics"
	"tallyhouse/schemas/events"
)

// everyStep is where a worker can be killed.
var everyStep = []Step{StepFence, StepKill, StepIdentity, StepPositions, StepHeads, StepStand, StepCut, StepSend, StepInsert, StepInserted, StepRemember, StepCommit}

// Workers and engine are killed at random points and at every step of the protocol, while a stream with everything that a stream can
// hold runs. TALLYHOUSE_CRASHES sets the number of kills: the nightly target asks for more.
func TestNothingIsLostOrCountedTwiceWhateverIsKilled(t *testing.T) {
	kills := 16
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_CRASHES")); err == nil {
		kills = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("TALLYHOUSE_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("TALLYHOUSE_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))

	engine, err := clickhousetest.StartIn(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Stop(context.Background()) })
	w := joinWorld(t, engine.Addr(), "default", kafkatest.Start(t).Addr())
	m := newModel()
	chaos := newChaos(rnd)

	var workers []*child
	named := 0
	start := func(dieAt Step) {
		named++
		// The names, and so the heads, come round again: heads of an older day are part of it.
		workers = append(workers, startChild(t, childWork{
			Kafka: w.cluster.Addrs[0], ClickHouse: w.addr, Database: w.name, Heads: filepath.Join(w.dir, fmt.Sprint("heads", named%3)), Name: fmt.Sprint("w", named),
			DieAt: dieAt, DieAfter: 1 + rnd.Int64N(6),
		}))
	}
	start("")
	for kill := range kills {
		messages := chaos.messages(60)
		w.produce(messages...)
		m.take(messages...)
		switch {
		case kill < len(everyStep):
			start(everyStep[kill])
			for deadline := time.Now().Add(20 * time.Second); !workers[len(workers)-1].dead() && time.Now().Before(deadline); {
				more := chaos.messages(10)
				w.produce(more...)
				m.take(more...)
				time.Sleep(100 * time.Millisecond)
			}
			if !workers[len(workers)-1].dead() { // it got no partition that passed the step often enough
				workers[len(workers)-1].kill()
			}
		case kill%2 == 0:
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			engine.Kill()
		default:
			start("")
			time.Sleep(time.Duration(rnd.IntN(4000)) * time.Millisecond)
			workers[rnd.IntN(len(workers))].kill()
		}
		workers = slices.DeleteFunc(workers, (*child).dead)
		if len(workers) == 0 {
			start("")
		}
	}
	last := chaos.messages(100)
	w.produce(last...)
	m.take(last...)
	if len(workers) < 2 {
		start("")
	}
	w.settledWithin(2 * time.Minute)
	w.check(m)
	w.checkLetters(chaos.poison)
	if t.Failed() {
		t.Logf("again with TALLYHOUSE_SEED=%d", seed)
	}
}

// checkLetters compares the dead letters with the messages that had to be refused: each once.
func (w *world) checkLetters(refused map[string]int) {
	w.t.Helper()
	byID := map[string]string{}
	err := topics.Read(context.Background(), w.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
		byID[string(r.Key)] = string(r.Value)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]int{}
	for _, value := range byID {
		got[value]++
	}
	for value, n := range refused {
		if got[value] != n {
			w.t.Errorf("%d dead letters of %.80q, want %d", got[value], value, n)
		}
		delete(got, value)
	}
	for value, n := range got {
		w.t.Errorf("%d dead letters of %.200q, which was not to be refused", n, value)
	}
}

// chaos invents a stream with everything that a stream can hold.
type chaos struct {
	rnd      *rand.Rand
	versions map[string]int
	sent     []message
	poison   map[string]int // values that must be refused, and how often they were sent
	nulls    int

	recordsOnly bool
}

func newChaos(rnd *rand.Rand) *chaos {
	return &chaos{rnd: rnd, versions: map[string]int{}, poison: map[string]int{}}
}

func (c *chaos) messages(n int) (out []message) {
	for range n {
		m := c.one()
		// A tenth goes to a partition where its key does not belong.
		if c.rnd.IntN(10) == 0 && m.value != nil {
			m.partition = c.rnd.IntN(testPartitions)
		}
		out = append(out, m)
		c.sent = append(c.sent, m)
	}
	if len(c.sent) > 400 {
		c.sent = c.sent[200:]
	}
	return out
}

func (c *chaos) one() message {
	switch x := c.rnd.IntN(100); {
	case x < 8 && len(c.sent) > 0: // a duplicate, or by now a stale message
		m := c.sent[c.rnd.IntN(len(c.sent))]
		if m.value == nil || c.poison[string(m.value)] > 0 {
			return c.change("R" + fmt.Sprint(c.rnd.IntN(60)))
		}
		return m
	case x < 12:
		return c.bad()
	case x < 14: // a null value that deletes nothing
		c.nulls++
		c.poison[""]++
		return message{topic: events.Records, partition: -1, key: fmt.Sprint("demo/N", c.nulls)}
	case x < 20 && !c.recordsOnly:
		id := fmt.Sprint("P", c.rnd.IntN(5))
		c.versions[id]++
		return event(events.Projects, id, c.versions[id], map[string]any{"name": fmt.Sprint("Project ", c.versions[id]), "currency": "EUR", "workspaceId": "W1"})
	case x < 25 && !c.recordsOnly:
		id := fmt.Sprint("K", c.rnd.IntN(8))
		c.versions[id]++
		if c.rnd.IntN(6) == 0 {
			return event(events.Contractors, id, c.versions[id], nil)
		}
		return event(events.Contractors, id, c.versions[id], map[string]any{"name": fmt.Sprint("Firm ", c.versions[id])})
	case x < 50: // one that never comes again: no later version hides its loss
		c.nulls++
		return c.change(fmt.Sprint("O", c.nulls))
	default:
		return c.change("R" + fmt.Sprint(c.rnd.IntN(60)))
	}
}

// change is the next version of a record, or one that leaps ahead and makes others stale.
func (c *chaos) change(id string) message {
	c.versions[id] += 1 + c.rnd.IntN(8)/7*3
	version := c.versions[id]
	if c.rnd.IntN(12) == 0 {
		return event(events.Records, id, version, nil)
	}
	net := c.rnd.IntN(2_000_000) - 300_000
	d := map[string]any{
		"projectId": fmt.Sprint("P", c.rnd.IntN(4)), "net": net, "tax": net / 5, "contractId": []any{nil, "C1", "C2"}[c.rnd.IntN(3)],
		"contractorId": []any{nil, "K1", "K2"}[c.rnd.IntN(3)], "currency": []string{"EUR", "EUR", "EUR", "CHF"}[c.rnd.IntN(4)],
		"stepKind": []string{"setup", "approval", "payment", "rejected"}[c.rnd.IntN(4)], "source": []string{"invoice", "invoice", "accrual"}[c.rnd.IntN(3)],
		"recognitionDate": fmt.Sprintf("2026-%02d-10", 1+c.rnd.IntN(12)), "gross": nil,
	}
	if c.rnd.IntN(3) == 0 {
		d["stepKind"], d["cashDate"] = "paid", fmt.Sprintf("2026-%02d-20", 1+c.rnd.IntN(12))
	}
	if c.rnd.IntN(2) == 0 {
		d["gross"] = net + net/5 + c.rnd.IntN(3) - 1
	}
	allocations := []any{}
	left := net
	for n := c.rnd.IntN(4); n > 0; n-- {
		part := left
		if n > 1 {
			part = left / 2
		}
		allocations = append(allocations, map[string]any{"nodeId": fmt.Sprint("n", c.rnd.IntN(5)), "net": part})
		left -= part
	}
	d["allocations"] = allocations
	if c.rnd.IntN(10) == 0 {
		d["net"], d["tax"], d["gross"], d["allocations"] = nil, nil, nil, []any{}
	}
	return record(id, version, d)
}

// bad is a message that must become a dead letter.
func (c *chaos) bad() message {
	c.nulls++
	id := fmt.Sprint("B", c.nulls)
	m := record(id, 1, nil)
	switch c.rnd.IntN(4) {
	case 0:
		m.value = []byte(fmt.Sprintf(`{"id": %q, not JSON`, id))
	case 1:
		m = record(id, 1, map[string]any{"nett": 5})
	case 2:
		m = record(id, 1, map[string]any{"net": 10001})
	case 3:
		m.key = "demo/another-" + id
	}
	c.poison[string(m.value)]++
	return m
}
