package worker

import (
	"context"
	"errors"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Given a log that lost its end behind the position, as by an unclean election, and grew past the position again while nobody looked,
// when a writer comes, then it learns by the leader epoch what took the place of what was written: it records a gap, once, and goes on
// from its position. So it does where its view missed the last batch.
func TestALogThatWasRewrittenWhileNobodyLooked(t *testing.T) {
	for name, torn := range map[string]bool{"whole": false, "torn": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rewriteWhileNobodyLooks(t, torn)
		})
	}
}

func rewriteWhileNobodyLooks(t *testing.T, torn bool) {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	dir := t.TempDir()
	broker := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	kafkaAddr := broker.Addr()
	s := newScenarioOn(t, addr, name, kafkaAddr)
	m := someRecords(10)
	a := s.writing("a", m[:3]...)
	a.crash()
	// What the log had at offsets 3 to 5 is written, and gone from the log.
	if torn {
		s.exec("INSERT INTO bomb VALUES ('records')")
	}
	_, err := s.db.Insert(t.Context(), database.Statement{SQL: `
		INSERT INTO records SELECT * REPLACE (6 AS row_version, 3 AS batch_first, arraySlice(delta, 1, 1) AS delta)
		FROM records WHERE tenant = '' AND project = '#0' ORDER BY row_version DESC LIMIT 1`})
	if at := s.at(0); (err != nil) != torn || at.State != 6 || at.Missed() != torn {
		t.Fatalf("%+v, %v", at, err)
	}
	s.exec("TRUNCATE TABLE bomb")
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	kafkatest.StartIn(t, dir, kafkaAddr) // Apache Kafka begins an epoch with it
	s.elect()
	s.sendBy(s.sender(), m[3:8]...)
	s.model.take(m[6:8]...) // nobody reads the three before

	b := s.join("b")
	b.assign()
	s.awaitAll(8)
	if got := s.gaps(); got != "3 to 6" || b.counter("gaps_total") != 1 {
		t.Errorf("the gaps are %q, counted %v times", got, b.counter("gaps_total"))
	}
	b.crash()

	c := s.join("c") // from a position of the new epoch
	c.assign()
	s.sendBy(s.sender(), append(m[3:6:6], m[8:]...)...) // of the three their source again
	s.model.take(append(m[3:6:6], m[8:]...)...)
	s.awaitAll(13)
	s.check(s.model)
	if got := s.gaps(); got != "3 to 6" || c.counter("gaps_total") != 0 {
		t.Errorf("then the gaps are %q, counted %v times", got, c.counter("gaps_total"))
	}
}

// elect has the partition's leader begin another epoch.
func (s *scenario) elect() {
	s.t.Helper()
	client, err := newAdminClient(s.cluster)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrElectLeadersRequest()
	req.TimeoutMillis = 10_000
	topic := kmsg.NewElectLeadersRequestTopic()
	topic.Topic, topic.Partitions = scenarioPartition.Topic, []int32{scenarioPartition.Number}
	req.Topics = append(req.Topics, topic)
	untilDone(s.t, func() error { // the broker has just started
		r, err := req.RequestWith(context.Background(), client)
		if err != nil {
			return err
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil && !errors.Is(err, kerr.ElectionNotNeeded) {
					return err
				}
			}
		}
		return nil
	})
}

// Given a message that was refused, and told as a dead letter, when it is gone before it is written, as the log lost its end, and another
// takes its place, then that one is told, too.
func TestWhatWasSentOfALogThatWasRewrittenIsSentAnew(t *testing.T) {
	t.Parallel()
	addr, name := clickhousetest.Database(t)
	dir := t.TempDir()
	broker := kafkatest.StartIn(t, dir, "127.0.0.1:0")
	kafkaAddr := broker.Addr()
	s := newScenarioOn(t, addr, name, kafkaAddr)
	m := someRecords(3)
	a := s.writing("a", m[0])
	inItsPlace := message{topic: events.Records, key: m[1].key, value: []byte("in its place")}
	a.db.loseBatch(nil)
	pauses := a.pauseByHand()
	a.source.deliver(kgo.FetchTopicPartition{Topic: scenarioPartition.Topic, FetchPartition: kgo.FetchPartition{
		Records: []*kgo.Record{{Topic: scenarioPartition.Topic, Offset: 1, Key: []byte(m[1].key), Value: []byte("gone")}},
	}})
	pauses.next()
	s.checkDeadLetters(map[string]int{"gone": 1})
	if err := broker.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	kafkatest.StartIn(t, dir, kafkaAddr) // Apache Kafka begins an epoch with it
	s.elect()
	s.sendBy(s.sender(), inItsPlace, m[1], m[2])
	s.model.take(m[1:]...)
	pauses.end()
	s.awaitAll(4)
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"in its place": 1}) // the newest of a place
}
