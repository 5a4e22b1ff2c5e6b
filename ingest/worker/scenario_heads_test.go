package worker

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/schemas/events"
)

// A record goes to another project while a member that keeps its heads isn't the one who writes. It leaves a row under its old project,
// of the same version, that says that it is gone: no head may take that for what the record is now.
func TestScenarioARecordThatMovedWhileHeadsWereBehind(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	id := ids(0, 1)[0]
	of := func(version int, project string, net int) message {
		return record(id, version, map[string]any{"projectId": project, "net": net, "tax": nil, "gross": nil, "allocations": []any{}})
	}
	a := s.writing("a", of(1, "P1", 1000))
	a.members.pause(0) // it keeps its heads, and writes nothing
	b := s.join("b")
	b.assign()
	b.awaitCondition(Running)
	s.send(of(2, "P2", 2000)) // the row of P1 comes before that of P2
	s.awaitAll(2)
	b.revoke()
	a.assign()
	s.send(of(3, "P2", 4000))
	s.awaitAll(3)
	s.check(s.model)
	if a.counter("heads_total") != 2 {
		t.Errorf("heads were loaded or caught up %v times: the member didn't keep what it had", a.counter("heads_total"))
	}
}

// Rows of older versions lie in a newer part, as after a part was detached and attached again: what is loaded last isn't the newest.
func TestScenarioAnOlderVersionInANewerPart(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	id := ids(0, 1)[0]
	of := func(version, net int) message {
		return record(id, version, map[string]any{"net": net, "tax": nil, "gross": nil, "allocations": []any{}})
	}
	s.exec("SYSTEM STOP MERGES records")
	a := s.writing("a", of(1, 1000))
	s.send(of(2, 2000))
	s.awaitAll(2)
	a.crash()
	s.exec("INSERT INTO records SELECT * FROM records WHERE tenant = 'demo' AND row_version = 1")
	b := s.join("b")
	b.assign()
	s.send(of(3, 4000))
	s.awaitAll(3)
	s.check(s.model)
}

// Another writer takes over and writes while a member loads heads: what they are then is behind the position that the member found, and
// a batch that it cut there would send its dead letters again.
func TestScenarioAPositionThatMovesWhileHeadsAreLoaded(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(3)
	refused := message{topic: events.Records, key: m[0].key, value: []byte("no event")}
	s.send(m[0], refused, m[1])
	a, b := s.join("a"), s.join("b")
	a.onStep(StepHeads, func() {
		b.assign()
		s.awaitAll(3)
		b.revoke()
	})
	a.assign()
	a.awaitCondition(Running)
	s.send(m[2])
	s.awaitAll(4)
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"no event": 1})
}

// An offset below the position comes again: a batch with it would take the position back.
func TestScenarioAnOffsetThatComesAgain(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(4)
	a := s.writing("a", m[:3]...)
	recovered := a.counter("recoveries_total")
	again := record(ids(0, 1)[0], 9, nil)
	a.source.deliver(kgo.FetchTopicPartition{Topic: scenarioPartition.Topic, FetchPartition: kgo.FetchPartition{
		Records: []*kgo.Record{{Topic: scenarioPartition.Topic, Offset: 1, Key: []byte(again.key), Value: again.value}},
	}})
	s.await("it recovers", func() bool { return a.counter("recoveries_total") > recovered && a.statusOf(0).Condition == Running })
	s.send(m[3])
	s.awaitAll(4)
	s.check(s.model)
}
