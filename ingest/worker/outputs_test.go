package worker

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// slowSender is Kafka when it takes only so many letters in the time that a send has, and behind the first ones none at all for a while.
type slowSender struct {
	most  int
	fails int
	taken []int64
}

func (s *slowSender) sendDeadLetters(_ context.Context, letters []kafka.DeadLetter) error {
	if fails := len(s.taken) > 0 && s.fails > 0; fails || len(letters) > s.most {
		s.fails--
		return context.DeadlineExceeded
	}
	for _, l := range letters {
		s.taken = append(s.taken, l.Offset)
	}
	return nil
}

func (*slowSender) reroute(context.Context, int, []kafkago.Message) ([]kafkago.Message, error) {
	return nil, nil
}

// Given so many refused messages that a slow Kafka doesn't take all in the time that one send has, then they are sent some at a time, each
// once, also when the batch is cut anew after some of them were sent.
func TestManyDeadLettersComeToAnEnd(t *testing.T) {
	t.Parallel()
	const all, most = 40_000, 15_000 // a part has some 10,000
	sender := &slowSender{most: most, fails: 2}
	w := &writer{tp: scenarioPartition, sender: sender, state: newState(scenarioPartition, noObserver)}
	var failed int
	for {
		b, err := newBatch(store.Of(events.Records))
		if err != nil {
			t.Fatal(err)
		}
		b.reset(100)
		for i := range int64(all) {
			b.refuse(w.tp, &kgo.Record{Offset: 100 + 2*i, Key: []byte(fmt.Sprint("demo/", i)), Value: []byte("{}")}, "no reason")
		}
		b.next = 100 + 2*all
		if err = w.sendSideOutputs(t.Context(), &assignment{}, b); err == nil {
			break
		}
		if failed++; failed > 10 {
			t.Fatalf("it never comes to an end: %v", err)
		}
	}
	if failed != 2 || w.doubt.sent != 100+2*all {
		t.Errorf("it failed %d times, and is at %d", failed, w.doubt.sent)
	}
	if !slices.IsSorted(sender.taken) || len(sender.taken) != all {
		t.Errorf("%d letters were sent of %d, in order: %v", len(sender.taken), all, slices.IsSorted(sender.taken))
	}
}

// Given dead letters and messages for other partitions in turn, then what is sent together is what comes first of both.
func TestOutputsAreSentInTheirOrder(t *testing.T) {
	t.Parallel()
	b, err := newBatch(store.Of(events.Records))
	if err != nil {
		t.Fatal(err)
	}
	b.reset(0)
	half := make([]byte, sentTogether/2)
	for offset := range int64(8) {
		if r := (&kgo.Record{Offset: offset, Key: []byte("k"), Value: half}); offset%3 == 0 {
			b.refuse(scenarioPartition, r, "no reason")
		} else {
			b.reroute(scenarioPartition, r)
		}
	}
	b.next = 9
	var got []string
	for from := uint64(1); from < b.next; {
		letters, messages, next := b.outputs(from)
		said := fmt.Sprint("up to ", next, ":")
		for _, l := range letters {
			said += fmt.Sprint(" letter ", l.Offset)
		}
		for _, m := range messages {
			said += fmt.Sprint(" message ", m.offset)
		}
		got, from = append(got, said), next
	}
	want := []string{"up to 3: message 1 message 2", "up to 5: letter 3 message 4", "up to 7: letter 6 message 5", "up to 9: message 7"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What was sent up to an offset is believed of the messages that were read then, and not of those that took their places: these have a
// newer leader epoch than all that were read.
func TestWhatWasSentIsBelievedOfTheSameMessages(t *testing.T) {
	var d doubt
	read := func(epoch int32, offsets ...int64) {
		for _, o := range offsets {
			d.reads(&kgo.Record{Offset: o, LeaderEpoch: epoch})
		}
	}
	for _, step := range []struct {
		what string
		do   func()
		want uint64
	}{
		{"sent are four", func() { d.of("one"); read(1, 0, 1); read(2, 2, 3); d.hasSent(4) }, 4},
		{"the same again, and more", func() { read(1, 0, 1); read(2, 2, 3); read(3, 4) }, 4},
		{"another life of the log in place of two", func() { d.hasSent(5); read(4, 3, 4) }, 3},
		{"which are sent, too, and read again", func() { d.hasSent(5); read(2, 2); read(4, 3, 4) }, 5},
		{"another topic, whose epochs are its own", func() { d.of("two"); read(0, 0, 1); d.hasSent(2) }, 2},
		{"in which one takes the place of another", func() { read(1, 1) }, 1},
	} {
		if step.do(); d.sent != step.want {
			t.Errorf("%s: sent up to %d, want %d", step.what, d.sent, step.want)
		}
	}
}

// Given a topic of dead letters that takes less than it should, as one that somebody else made, then a large message that is refused leaves
// a shorter letter.
func TestScenarioATopicOfDeadLettersThatTakesLess(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.configureTopic(string(events.DeadLetters), "max.message.bytes", "1048588")
	m := someRecords(2)
	large := m[0]
	large.value = bytes.Repeat([]byte("x"), 3<<20)
	small := m[0]
	small.value = []byte("not JSON")
	s.produce(large, small)
	s.send(m...)
	s.join("a").assign()
	s.awaitAll(4)
	s.check(s.model)
	letters := map[int64]kafka.DeadLetter{}
	err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
		l, err := kafka.ParseDeadLetter(r)
		letters[l.Offset] = l
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if l := letters[0]; l.Whole() || l.Size() != 3<<20 || len(l.Value) < 256<<10 || !bytes.HasPrefix(large.value, l.Value) {
		t.Errorf("the letter has %d bytes of %d: %s", len(l.Value), l.Size(), l.Reason)
	}
	if l := letters[1]; !l.Whole() || string(l.Value) != "not JSON" {
		t.Errorf("the other one is %+v", l)
	}
}

// Given a topic of dead letters that takes Kafka's own megabyte, or far less, when several large messages are refused together, of which two
// letters fit alone and not together, then each leaves a letter that fits, down to headers alone, and the partition goes on.
func TestScenarioSeveralLargeLettersForATopicThatTakesLess(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		limit string
		holds int
	}{
		{limit: "1048588", holds: 512 << 10}, {limit: "30000", holds: 16 << 10}, {limit: "1500"},
	} {
		t.Run(tc.limit, func(t *testing.T) {
			t.Parallel()
			s := newScenario(t)
			s.configureTopic(string(events.DeadLetters), "max.message.bytes", tc.limit)
			m := someRecords(2)
			large := m[0]
			large.value = bytes.Repeat([]byte("x"), 1100<<10)
			const refused = 24
			s.packed(0, slices.Repeat([]message{large}, refused)...)
			s.send(m...)
			s.join("a").assign()
			s.awaitAll(refused + 2)
			s.check(s.model)
			letters := 0
			err := kafka.Read(t.Context(), s.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
				l, err := kafka.ParseDeadLetter(r)
				if letters++; len(l.Value) != tc.holds || l.Size() != 1100<<10 || l.Reason == "" {
					t.Errorf("letter %s holds %d bytes of %d: %s", l.ID(), len(l.Value), l.Size(), l.Reason)
				}
				return err
			})
			if err != nil || letters != refused {
				t.Errorf("%d letters, want %d: %v", letters, refused, err)
			}
		})
	}
}

// Given a topic of dead letters that takes none, however short, then the partition waits and says what to set.
func TestScenarioATopicThatTakesNoDeadLetter(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.configureTopic(string(events.DeadLetters), "max.message.bytes", "100")
	broken := someRecords(1)[0]
	broken.value = []byte("not JSON")
	s.produce(broken)
	a := s.join("a")
	a.assign()
	a.awaitCondition(Waiting)
	for _, word := range []string{"max.message.bytes", string(events.DeadLetters), "tallyhouse topics"} {
		if reason := a.statusOf(0).Reason; !strings.Contains(reason, word) {
			t.Errorf("it waits and says %q, and not %q", reason, word)
		}
	}
	s.configureTopic(string(events.DeadLetters), "max.message.bytes", "1048588")
	s.awaitAll(1)
	s.checkDeadLetters(map[string]int{"not JSON": 1})
}

// Given no topic of dead letters, then a partition with a refused message waits and says what helps, and goes on when it is there.
func TestScenarioNoTopicOfDeadLetters(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	r, err := s.cluster.Client().DeleteTopics(t.Context(), &kafkago.DeleteTopicsRequest{Topics: []string{string(events.DeadLetters)}})
	if err != nil || r.Errors[string(events.DeadLetters)] != nil {
		t.Fatal(r, err)
	}
	m := someRecords(1)
	broken := m[0]
	broken.value = []byte("not JSON")
	s.produce(broken)
	s.send(m...)
	a := s.join("a")
	a.assign()
	a.awaitCondition(Waiting)
	for _, word := range []string{string(events.DeadLetters), "tallyhouse topics"} {
		if reason := a.statusOf(0).Reason; !strings.Contains(reason, word) {
			t.Errorf("it waits and says %q, and not %q", reason, word)
		}
	}
	if _, err := kafka.Ensure(t.Context(), s.cluster, kafka.TopicSpec{Partitions: testPartitions}); err != nil {
		t.Fatal(err)
	}
	s.awaitAll(2)
	s.checkDeadLetters(map[string]int{"not JSON": 1})
}
