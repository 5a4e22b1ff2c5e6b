package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
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

// Records that went to another project leave a row under their old one, of the same version: heads that are loaded from the table, as after a
// restart, are of where they are now, whichever project comes first.
func TestScenarioRecordsThatMovedBeforeHeadsAreLoaded(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	up, down := ids(0, 2)[0], ids(0, 2)[1]
	of := func(id string, version int, project string, net int) message {
		return record(id, version, map[string]any{"projectId": project, "net": net, "tax": nil, "gross": nil, "allocations": []any{}})
	}
	a := s.writing("a", of(up, 1, "P1", 1000), of(down, 1, "P9", 2000))
	s.send(of(up, 2, "P2", 1000), of(down, 2, "P1", 2000))
	s.awaitAll(4)
	a.crash()
	s.join("b").assign()
	s.send(of(up, 3, "P2", 3000), of(down, 3, "P1", 4000))
	s.awaitAll(6)
	s.check(s.model)
}

// Rows of older versions, and of an older position, lie in a newer part, as after a part was detached and attached again: what is loaded
// last isn't the newest.
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
	parts := s.texts("SELECT name FROM system.parts WHERE database = currentDatabase() AND table = 'records' AND active ORDER BY name")
	s.exec("ALTER TABLE records DETACH PART '" + parts[0] + "'")
	s.exec("ALTER TABLE records ATTACH PART '" + parts[0] + "'")
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
	letters := 0
	err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(*kgo.Record) error {
		letters++
		return nil
	})
	if err != nil || letters != 1 {
		t.Errorf("%d dead letters were sent, %v", letters, err)
	}
}

// The tables are put back to where they were, as by a snapshot of their disk, beside a member that keeps its heads: these know what the
// tables don't. Of what is there one record was deleted, and one left a row under its old project.
func TestScenarioTablesThatArePutBack(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	id := ids(0, 3)
	of := func(id string, version int, project string, net int) message {
		return record(id, version, map[string]any{"projectId": project, "net": net, "tax": nil, "gross": nil, "allocations": []any{}})
	}
	a := s.writing("a", of(id[0], 1, "P1", 100), event(events.Records, id[0], 2, nil), of(id[1], 1, "P1", 1000), of(id[1], 2, "P2", 2000))
	for _, table := range []string{"records", "sums"} {
		s.exec("CREATE TABLE kept_" + table + " AS " + table)
		s.exec("ALTER TABLE kept_" + table + " ATTACH PARTITION tuple() FROM " + table)
	}
	s.send(of(id[1], 3, "P2", 4000), of(id[2], 1, "P1", 8000))
	s.awaitAll(6)
	a.members.pause(0)
	for _, table := range []string{"records", "sums"} {
		s.exec("ALTER TABLE " + table + " REPLACE PARTITION tuple() FROM kept_" + table)
	}
	s.awaitAll(4)
	a.assign()
	s.awaitAll(6)
	s.produce(message{topic: events.Records, key: "demo/" + id[0], partition: -1}) // as compaction leaves it behind a delete
	s.send(of(id[1], 4, "P1", 16_000))
	s.awaitAll(8)
	s.check(s.model)
	s.checkDeadLetters(nil)
	if n := a.counter("heads_total"); n != 2 {
		t.Errorf("heads were loaded or caught up %v times", n)
	}
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

// A member that goes on in the next generation has the heads that it had: nothing is loaded, nor caught up. When it loses the partition,
// it gives their memory back.
func TestScenarioHeadsLastAsLongAsThePartition(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := versions(3, 1)
	a := s.writing("a", m[:2]...)
	for range 2 {
		recovered := a.counter("recoveries_total")
		a.assign()
		s.await("it recovers", func() bool { return a.counter("recoveries_total") > recovered && a.statusOf(0).Condition == Running })
	}
	if n := a.counter("heads_total"); n != 1 {
		t.Errorf("heads were loaded or caught up %v times", n)
	}
	s.send(m[2])
	s.awaitAll(3)
	w := a.writerOf(0)
	a.revoke()
	s.await("the writer has ended", func() bool { return a.hasEnded(0) })
	if _, err := w.heads.texts.NumberString("another"); !errors.Is(err, latest.ErrClosed) {
		t.Errorf("the memory of texts is kept: %v", err)
	}
	if err := w.heads.table.Put(latest.Key{1}, latest.Head{}); !errors.Is(err, latest.ErrClosed) {
		t.Errorf("the memory of heads is kept: %v", err)
	}
	s.check(s.model)
}

// heldScan is a database whose scans of a state table begin when the test lets them.
type heldScan struct {
	Database
	begun, goOn chan struct{}
}

func (s *heldScan) Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error {
	s.begun <- struct{}{}
	<-s.goOn
	return s.Database.Scan(ctx, q, into, each)
}

// stopping stops the member's writer of a partition, and says when it has ended.
func (m *member) stopping(partition int32) <-chan struct{} {
	ended := make(chan struct{})
	go func() {
		m.stopWriters(context.Background(), func(tp kafkalog.Partition) bool { return tp.Number == partition })
		close(ended)
	}()
	return ended
}

// Given heads of two partitions that load for long, when one of them goes to another member, then its writer ends at once, for the group's
// next generation begins only then; the other one goes on with its heads. When both go and one comes back, then it loads its heads
// anew once the first scan is over, and nothing is left of that.
func TestScenarioAWriterThatStopsWhileHeadsLoad(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(3)
	s.writing("before", m[:1]...).crash()
	slow := &heldScan{Database: s.db, begun: make(chan struct{}), goOn: make(chan struct{})}
	a := s.joinOn("a", slow)
	scans := a.coordinators[scenarioPartition.Topic][0]
	a.assign(2)
	s.awaitEvent("the heads of another one load", slow.begun)
	a.assign(0, 1, 2)
	time.Sleep(200 * time.Millisecond) // by now both wait for the next recovery, which is theirs together
	slow.goOn <- struct{}{}
	s.awaitEvent("the heads load", slow.begun)
	left := scans.scan.into[1].heads
	s.awaitEvent("the writer ends while they load", a.stopping(1))
	slow.goOn <- struct{}{}
	s.await("the other goes on", func() bool { return a.statusOf(0).Condition == Running })
	s.checkClosed(left)
	s.send(m[1])
	s.awaitAll(2)

	s.awaitEvent("it ends", a.stopping(0))
	a.assign(0)
	s.awaitEvent("the heads load again", slow.begun)
	first := scans.scan
	left = first.into[0].heads
	s.awaitEvent("the only writer ends while they load", a.stopping(0))
	again := make(chan struct{})
	a.onStep(StepHeads, func() { close(again) })
	a.assign(0)
	s.awaitEvent("it comes to its heads once more", again)
	select {
	case <-slow.begun:
		t.Error("there are two scans at a time")
	case <-time.After(300 * time.Millisecond):
	}
	slow.goOn <- struct{}{}
	s.awaitEvent("the first scan is over", first.closed)
	s.checkClosed(left)
	s.awaitEvent("the heads load anew", slow.begun)
	slow.goOn <- struct{}{}
	s.send(m[2])
	s.awaitAll(3)
	s.check(s.model)
}

// checkClosed fails where the memory of heads wasn't given back.
func (s *scenario) checkClosed(h *heads) {
	s.t.Helper()
	if err := h.table.Put(latest.Key{1, 1}, latest.Head{}); err == nil {
		s.t.Error("the memory of the heads was still there")
	}
}
