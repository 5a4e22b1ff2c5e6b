package worker

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// chaos invents a stream with everything that a stream can hold: new versions, duplicates, stale and late ones,
// deletes, moves between projects, messages in partitions where their keys do not belong, null values, and such as must
// be refused.
type chaos struct {
	rnd      *rand.Rand
	kinds    []drawnKind
	weights  int
	versions map[string]int
	fresh    int
	sent     []message
	late     []message      // drawn, and kept back until newer ones are out
	next     []message      // to be sent before anything else
	poison   map[string]int // values that must be refused, and how often they were sent
}

// newChaos invents a stream of some topics, of all if none is named.
func newChaos(rnd *rand.Rand, of ...events.Topic) *chaos {
	c := &chaos{rnd: rnd, versions: map[string]int{}, poison: map[string]int{}}
	for _, k := range drawn {
		if len(of) == 0 || slices.Contains(of, k.topic) {
			c.kinds = append(c.kinds, k)
			c.weights += k.weight
		}
	}
	return c
}

func (c *chaos) messages(n int) (out []message) {
	for range n {
		m := c.one()
		// A tenth goes to a partition where its key does not belong.
		if c.rnd.IntN(10) == 0 && m.partition < 0 {
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
	if len(c.next) > 0 {
		m := c.next[0]
		c.next = c.next[1:]
		return m
	}
	k := c.kind()
	switch x := c.rnd.IntN(100); {
	case x < 8 && len(c.sent) > 0: // a duplicate, or by now a stale message
		m := c.sent[c.rnd.IntN(len(c.sent))]
		if m.value == nil || c.poison[string(m.value)] > 0 {
			return c.change(k, c.again(k))
		}
		return m
	case x < 12:
		return c.bad(k)
	case x < 13: // a null value that deletes nothing
		c.poison[""]++
		return null(k.topic, c.new("N"))
	case x < 14: // a null value after a delete, which is housekeeping
		id := c.new("D")
		c.next = append(c.next, null(k.topic, id))
		return atHome(event(k.topic, id, 1, nil))
	case x < 18 && len(c.late) > 0: // one that was kept back
		i := c.rnd.IntN(len(c.late))
		m := c.late[i]
		c.late = slices.Delete(c.late, i, i+1)
		return m
	case x < 22:
		c.late = append(c.late, c.change(k, c.again(k)))
		return c.change(k, c.again(k))
	case x < 50: // one that never comes again: no later version hides its loss
		return c.change(k, c.new("O"))
	default:
		return c.change(k, c.again(k))
	}
}

func (c *chaos) kind() drawnKind {
	x := c.rnd.IntN(c.weights)
	for _, k := range c.kinds {
		if x -= k.weight; x < 0 {
			return k
		}
	}
	return c.kinds[0]
}

// new is an id that no message has had.
func (c *chaos) new(prefix string) string {
	c.fresh++
	return fmt.Sprint(prefix, c.fresh)
}

// again is one of the ids that come again and again.
func (c *chaos) again(k drawnKind) string { return fmt.Sprint(k.prefix, c.rnd.IntN(k.ids)) }

// change is the next version of an entity, or one that leaps ahead and makes others stale.
func (c *chaos) change(k drawnKind, id string) message {
	key := fmt.Sprint(k.topic, "/", id)
	c.versions[key] += 1 + c.rnd.IntN(8)/7*3
	if c.rnd.IntN(12) == 0 {
		return k.event(id, c.versions[key], nil)
	}
	return k.event(id, c.versions[key], k.data(c))
}

// bad is a message that must become a dead letter.
func (c *chaos) bad(k drawnKind) message {
	id := c.new("B")
	data := k.data(c)
	m := k.event(id, 1, data)
	switch c.rnd.IntN(4) {
	case 0:
		m.value = []byte(fmt.Sprintf(`{"id": %q, not JSON`, id))
	case 1:
		data["nett"] = 5
		m = k.event(id, 1, data)
	case 2:
		k.spoil(c, id, data)
		// At home: whether an entity is more than the views can hold is asked there, and one that is re-routed twice is
		// refused twice.
		m = atHome(k.event(id, 1, data))
	case 3:
		m.key = "demo/another-" + id
	}
	c.poison[string(m.value)]++
	return m
}

// null is a message without a value; elsewhere than at home it would be refused.
func null(topic events.Topic, id string) message {
	return atHome(message{topic: topic, key: "demo/" + id})
}

// atHome puts a message firmly where its key belongs.
func atHome(m message) message {
	m.partition = kafka.Partition([]byte(m.key), testPartitions)
	return m
}

func (c *chaos) project() string { return fmt.Sprint("P", c.rnd.IntN(4)) }

func (c *chaos) facility() string { return fmt.Sprint("F", c.rnd.IntN(3)) }

func (c *chaos) node() string { return fmt.Sprint("n", c.rnd.IntN(5)) }

// nodeOrNone is none one time in four.
func (c *chaos) nodeOrNone() any {
	if c.rnd.IntN(4) == 0 {
		return nil
	}
	return c.node()
}

func (c *chaos) pick(from ...any) any { return from[c.rnd.IntN(len(from))] }

func (c *chaos) month() string { return fmt.Sprintf("2026-%02d", 1+c.rnd.IntN(12)) }

// value is an amount in minor units, now and then one of the largest.
func (c *chaos) value() int {
	if c.rnd.IntN(20) == 0 {
		return c.pick(events.MaxAmount, -events.MaxAmount).(int)
	}
	return c.rnd.IntN(2_000_000) - 300_000
}

func (c *chaos) currency() any { return c.pick("EUR", "EUR", "EUR", "CHF") }

func (c *chaos) amount() map[string]any {
	return map[string]any{"value": c.value(), "currency": c.currency()}
}

// list has fewer than n elements.
func (c *chaos) list(n int, element func(i int) map[string]any) []any {
	all := []any{}
	for i := range c.rnd.IntN(n) {
		all = append(all, element(i))
	}
	return all
}
