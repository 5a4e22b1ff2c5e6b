package worker

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/compress"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// Given messages that are compressed together so well that they would take more memory than a worker has for them, then they become
// a dead letter, and the partition goes on with what comes before and behind them.
func TestScenarioABatchThatUnpacksToTooMuch(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(4)
	s.send(m[:2]...)
	padding := bytes.Repeat([]byte(" "), events.MaxMessageBytes)
	var packed []kafkago.Record
	for range kafkalog.UnpackedBytes/len(padding) + 1 {
		packed = append(packed, kafkago.Record{Key: kafkago.NewBytes([]byte(m[0].key)), Value: kafkago.NewBytes(padding)})
	}
	r, err := s.cluster.Client().Produce(t.Context(), &kafkago.ProduceRequest{
		Topic: scenarioPartition.Topic, RequiredAcks: kafkago.RequireAll, Compression: compress.Zstd, Records: kafkago.NewRecordReader(packed...),
	})
	if err != nil || r.Error != nil {
		t.Fatal(err, r)
	}
	s.send(m[2])
	a := s.join("a")
	a.assign()
	behind := uint64(3 + len(packed))
	s.awaitAll(behind)
	s.send(m[3])
	s.awaitAll(behind + 1)
	s.check(s.model)
	s.checkDeadLetters(map[string]int{"": 1})
	var reason string
	err = kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		reason = l.Reason
		return err
	})
	if err != nil || !strings.Contains(reason, fmt.Sprintf("offsets 2 to %d ", behind-2)) || !strings.Contains(reason, "smaller batches") {
		t.Errorf("the dead letter says %q, %v", reason, err)
	}
}

// behindGzip packs a batch by gzip with bytes behind it, which Kafka takes and Go's gzip doesn't.
type behindGzip struct{}

// Compress implements kgo.Compressor.
func (behindGzip) Compress(to *bytes.Buffer, content []byte, _ ...kgo.CompressFlag) ([]byte, kgo.CompressionCodecType) {
	w := gzip.NewWriter(to)
	_, _ = w.Write(content)
	_ = w.Close()
	to.WriteString("more")
	return to.Bytes(), kgo.CodecGzip
}

// Given a batch that Kafka took and nobody can unpack, then a dead letter says where it is, why, and what to do, and the partition goes on.
func TestScenarioABatchThatNobodyCanUnpack(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(4)
	s.writing("a", m[0])
	broken := wide(m[1])
	s.sendBy(s.sender(kgo.WithCompressor(behindGzip{})), broken, broken)
	s.send(m[2])
	s.awaitAll(4)
	s.send(m[3])
	s.awaitAll(5)
	s.check(s.model)
	var said []string
	err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		said = append(said, l.ID()+": "+l.Reason)
		return err
	})
	want := "ledger.records/0/1: the messages at offsets 1 to 2 are compressed together and can't be unpacked: gzip: unexpected EOF. " +
		"Have their producer send them again, in smaller batches or compressed otherwise"
	if err != nil || len(said) != 1 || said[0] != want {
		t.Errorf("the dead letters are %q, %v", said, err)
	}
}

// gaps are the offsets of partition 0 that are recorded as lost.
func (s *scenario) gaps() (all string) {
	s.t.Helper()
	q := database.Query{SQL: `SELECT arrayStringConcat(arraySort(groupArray(concat(toString(from_offset), ' to ', toString(to_offset)))), ', ')
		FROM gaps FINAL WHERE partition = 0`}
	if err := s.db.Row(context.Background(), q, &all); err != nil {
		s.t.Fatal(err)
	}
	return all
}

// Given a log that lost its end, as by an unclean election, behind a position, when other messages take those offsets, then nobody reads
// them, and so they are recorded as a gap: before the log has come to the position again, when nothing would show it any more.
func TestScenarioALogThatLostItsEnd(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(9)
	a := s.writing("a", m[:3]...)
	a.crash()
	// What the log had at offsets 3 to 5 is written, and gone from the log.
	s.exec(`INSERT INTO records SELECT * REPLACE (6 AS row_version, 3 AS batch_first, arraySlice(delta, 1, 1) AS delta)
		FROM records WHERE tenant = '' AND project = '#0' ORDER BY row_version DESC LIMIT 1`)
	s.awaitAll(6)
	b := s.join("b")
	var once sync.Once
	b.db.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		if strings.Contains(st.SQL, "INSERT INTO gaps") {
			once.Do(func() { st.Params = st.Params.With(database.Params{"owner": "a fence that doesn't count"}) })
		}
		return next(st)
	})
	pauses := b.pauseByHand()
	b.assign()
	pauses.next() // the gap could not be recorded
	pauses.end()
	pauses.next()
	b.awaitRefusal("lost its end", "send again")
	if got := s.gaps(); got != "3 to 6" {
		t.Errorf("the gap is %q", got)
	}
	pauses.end()
	pauses.next()   // it looks again, and records no other
	s.produce(m[3]) // nobody reads it
	pauses.end()
	pauses.next()
	s.produce(m[4:6]...)
	s.send(m[6:8]...)
	pauses.end()
	s.awaitAll(8)
	s.send(m[3:6]...) // their source, again
	s.send(m[8])
	s.awaitAll(12)
	s.check(s.model)
	if got := s.gaps(); got != "3 to 6" || b.counter("gaps_total") != 1 {
		t.Errorf("the gaps are %q, counted %v times", got, b.counter("gaps_total"))
	}
}

// Given a reading that learns from the broker that the log was cut below the position, then that is recorded, too, and the partition goes
// on.
func TestScenarioALossThatTheBrokerTells(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	m := someRecords(6)
	a := s.writing("a", m[:5]...)
	tell := func(from int64) {
		recovered := a.counter("recoveries_total")
		a.source.deliver(kgo.FetchTopicPartition{Topic: scenarioPartition.Topic, FetchPartition: kgo.FetchPartition{
			Err: &kgo.ErrDataLoss{Topic: scenarioPartition.Topic, ConsumedTo: 9, ResetTo: from},
		}})
		a.source.deliver(kgo.FetchTopicPartition{Topic: scenarioPartition.Topic, FetchPartition: kgo.FetchPartition{
			Records: []*kgo.Record{{Topic: scenarioPartition.Topic, Offset: from, Key: []byte(m[0].key), Value: m[0].value}},
		}})
		s.await("it recovers", func() bool { return a.counter("recoveries_total") > recovered && a.statusOf(0).Condition == Running })
	}
	tell(7) // what was read ahead is lost, and not what was written
	tell(5)
	if got := s.gaps(); got != "" {
		t.Errorf("nothing that was written is lost, and yet %q", got)
	}
	tell(3)
	if got := s.gaps(); got != "3 to 5" || a.counter("gaps_total") != 1 {
		t.Errorf("the gaps are %q, counted %v times", got, a.counter("gaps_total"))
	}
	tell(4) // it is recorded
	tell(2) // a part of it is
	if got := s.gaps(); !strings.Contains(got, "2 to 5") || a.counter("gaps_total") != 2 {
		t.Errorf("the gaps are %q, counted %v times", got, a.counter("gaps_total"))
	}
	s.send(m[5])
	s.awaitAll(6)
	s.check(s.model)
}

// The broker is asked by the epoch of the message before the position, where that says anything.
func TestWhichEpochIsChecked(t *testing.T) {
	for _, tc := range []struct {
		name string
		lost [2]uint64
		a    assignment
		want int32
	}{
		{"the last message's", [2]uint64{}, assignment{position: 6, epoch: 3}, 3},
		{"none where it isn't known", [2]uint64{}, assignment{position: 6, epoch: -1}, -1},
		{"none where the reading begins behind a gap", [2]uint64{}, assignment{position: 6, epoch: 3, gap: true, start: 9}, -1},
		{"none where the loss is recorded", [2]uint64{4, 6}, assignment{position: 6, epoch: 3}, -1},
		{"again, where it was another position's", [2]uint64{4, 5}, assignment{position: 6, epoch: 3}, 3},
	} {
		w := &writer{lost: tc.lost}
		if got := w.epochToCheck(&tc.a); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

// Messages that nobody can unpack are told from the position on, and have an epoch that nobody knows; what lies before the position is no
// reason to pass anything.
func TestUnreadMessagesArePassedFromThePositionOn(t *testing.T) {
	w := &writer{tp: scenarioPartition}
	unread := func(offset, next int64) error {
		return &kafkalog.UnreadError{Offset: offset, Next: next, Cause: errors.New("broken")}
	}
	for _, tc := range []struct {
		failed error
		letter int64 // 0: there is none
	}{{unread(7, 9), 7}, {unread(5, 9), 5}, {unread(3, 9), 5}, {unread(3, 5), 0}, {errLostOnTheWay, 0}, {kafkalog.ErrLater, 0},
		{&kgo.ErrDecompressTooLarge{Offset: 7, NextOffset: 9}, 0}} {
		as, b := emptyBatch(t)
		b.next, b.epoch = 5, 3
		_, err := w.passUnread(t.Context(), &assignment{}, b, as, tc.failed)
		switch {
		case tc.letter == 0 && (err == nil || len(b.deadLetters) > 0 || b.next != 5):
			t.Errorf("%v: passed up to %d", tc.failed, b.next)
		case tc.letter != 0 && (err != nil || len(b.deadLetters) != 1 || b.deadLetters[0].Offset != tc.letter || b.next != 9 || b.epoch != -1):
			t.Errorf("%v: %v, %+v, up to %d with epoch %d", tc.failed, err, b.deadLetters, b.next, b.epoch)
		}
	}
}
