package feedback_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"pgregory.net/rapid"

	"tallyhouse/api/feedback"
	"tallyhouse/api/feedback/feedbacktest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/kafka"
)

// topic is a broker with the topic, and a clock.
type topic struct {
	*testing.T
	broker string
	sender *feedbacktest.Sender
	ahead  atomic.Int64
}

func newTopic(t *testing.T) *topic {
	broker := kafkatest.Start(t).Addr()
	return &topic{T: t, broker: broker, sender: feedbacktest.New(t, broker)}
}

func (t *topic) options() []kgo.Opt { return []kgo.Opt{kgo.SeedBrokers(t.broker)} }

// instance is one of the API's.
func (t *topic) instance() *feedback.Log {
	return feedback.NewLog(t.options(), t.sender, func() time.Time { return time.Now().Add(time.Duration(t.ahead.Load())) })
}

func receive(t *topic, l *feedback.Log, principal, message string) error {
	t.Helper()
	r, err := l.Receive(t.Context(), "acme", principal, feedback.Input{Category: "idea", Message: message})
	if limit, ok := errors.AsType[*feedback.LimitError](err); ok {
		if limit.Wait <= 0 || limit.Wait > feedback.Day {
			t.Errorf("refused for %s", limit.Wait)
		}
		return err
	}
	if err != nil || r.ID == "" || r.ReceivedAt.IsZero() {
		t.Errorf("%+v, %v", r, err)
	}
	return err
}

// listed are the messages that are listed, by caller, and how many records the topic has.
func (t *topic) listed() (byCaller map[string][]string, records int) {
	t.Helper()
	byCaller = map[string][]string{}
	foreign, err := feedback.List(func(each func(*kgo.Record) error) error {
		return t.read(func(r *kgo.Record) error { records++; return each(r) })
	}, func(m feedback.Message) error {
		byCaller[m.Tenant+"/"+m.Principal] = append(byCaller[m.Tenant+"/"+m.Principal], m.Message)
		return nil
	})
	if err != nil || foreign > 0 {
		t.Fatalf("%d foreign, %v", foreign, err)
	}
	return byCaller, records
}

func (t *topic) read(each func(*kgo.Record) error) error {
	client, err := kgo.NewClient(t.options()...)
	if err != nil {
		return err
	}
	defer client.Close()
	name := string(events.ReceivedFeedback)
	ids, err := kafka.Identities(t.Context(), client, name)
	if err != nil {
		return err
	}
	ranges, err := kafka.Ranges(t.Context(), client, ids)
	if err != nil {
		return err
	}
	for number, r := range ranges[name] {
		p := kafka.Partition{Topic: name, Number: int32(number)}
		if r.Start == r.End {
			continue
		}
		reader, err := kafka.NewReader(t.options(), map[kafka.Partition]int64{p: r.Start})
		if err != nil {
			return err
		}
		for at := r.Start; at < r.End && err == nil; {
			var next map[kafka.Partition]int64
			next, err = reader.Poll(t.Context(), each)
			at = next[p]
		}
		reader.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

func TestTwentyMessagesInADayOverInstancesAndRestarts(t *testing.T) {
	// Given two instances, and a caller who has sent nineteen messages by turns, over an hour
	topic := newTopic(t)
	instances := []*feedback.Log{topic.instance(), topic.instance()}
	for i := range 19 {
		if err := receive(topic, instances[i%2], "user:a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		topic.ahead.Add(int64(3 * time.Minute))
	}
	// When the caller sends more, then one more is taken, by whichever instance, and further ones by none, a new one neither
	if err := receive(topic, instances[0], "user:a", "19"); err != nil {
		t.Fatal(err)
	}
	for _, l := range append(instances, topic.instance()) {
		if err := receive(topic, l, "user:a", "more"); err == nil {
			t.Error("the 21st message is taken")
		}
	}
	// And what is refused isn't kept, and other callers are not concerned
	if err := receive(topic, instances[1], "key:a", "other"); err != nil {
		t.Error(err)
	}
	byCaller, records := topic.listed()
	if records != 21 || len(byCaller["acme/user:a"]) != 20 || len(byCaller["acme/key:a"]) != 1 {
		t.Errorf("%d records: %v", records, byCaller)
	}
	// And a day after the first message there is room for one, and for no second.
	topic.ahead.Add(int64(23*time.Hour + 4*time.Minute))
	restarted := topic.instance()
	if err := receive(topic, restarted, "user:a", "20"); err != nil {
		t.Error(err)
	}
	if err := receive(topic, instances[1], "user:a", "more"); err == nil {
		t.Error("the 22nd message is taken")
	}
}

func TestTwentyMessagesInADayHoweverManyAtOnce(t *testing.T) {
	// Given many instances that have all found room for one more before any of them sends it
	topic := newTopic(t)
	const many = 26
	ready := make(chan struct{})
	var arrived atomic.Int32
	topic.sender.Before = func() {
		if arrived.Add(1) == many {
			close(ready)
		}
		<-ready
	}
	var taken atomic.Int32
	var all sync.WaitGroup
	for i := range many {
		l := topic.instance()
		all.Go(func() {
			if receive(topic, l, "user:a", fmt.Sprint(i)) == nil {
				taken.Add(1)
			}
		})
	}
	all.Wait()
	// Then twenty are told that theirs is taken, and those are what is listed
	byCaller, records := topic.listed()
	if taken.Load() != feedback.Most || len(byCaller["acme/user:a"]) != feedback.Most || records != many {
		t.Errorf("%d taken, %d listed of %d", taken.Load(), len(byCaller["acme/user:a"]), records)
	}
	// And the next instance counts the same.
	topic.sender.Before = nil
	if err := receive(topic, topic.instance(), "user:a", "more"); err == nil {
		t.Error("one more is taken")
	}
}

func TestNothingIsReceivedThatIsNotKept(t *testing.T) {
	// Given an instance whose messages do not reach the topic
	topic := newTopic(t)
	away := errors.New("the broker is away")
	l := feedback.NewLog(topic.options(), failing{away}, time.Now)
	// When feedback comes, then that is an error
	_, err := l.Receive(t.Context(), "acme", "user:a", feedback.Input{Category: "bug", Message: "m"})
	if !errors.Is(err, away) {
		t.Errorf("got %v", err)
	}
	// And so it is when who sent it leaves before.
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := topic.instance().Receive(ctx, "acme", "user:a", feedback.Input{Category: "bug", Message: "m"}); err == nil {
		t.Error("taken")
	}
	if _, records := topic.listed(); records != 0 {
		t.Errorf("%d records", records)
	}
}

type failing struct{ err error }

func (f failing) Send(context.Context, string, []byte, []byte, []byte) (int32, int64, error) {
	return 0, 0, f.err
}

func TestATopicThatIsMadeAnewCountsAnew(t *testing.T) {
	// Given an instance that counts on a topic
	topic := newTopic(t)
	l := topic.instance()
	for i := range feedback.Most {
		if err := receive(topic, l, "user:a", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	// When the topic is made anew
	client, err := kgo.NewClient(topic.options()...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	name := string(events.ReceivedFeedback)
	request := kmsg.NewPtrDeleteTopicsRequest()
	gone := kmsg.NewDeleteTopicsRequestTopic()
	gone.Topic = kmsg.StringPtr(name)
	request.Topics, request.TopicNames = append(request.Topics, gone), append(request.TopicNames, name)
	if _, err := request.RequestWith(t.Context(), client); err != nil {
		t.Fatal(err)
	}
	kafkatest.AwaitTopic(t, topic.broker, name, 0)
	topic.sender = feedbacktest.New(t, topic.broker)
	// Then messages are taken, and read from its beginning
	l2 := topic.instance()
	if err := receive(topic, l2, "user:a", "first"); err != nil {
		t.Error(err)
	}
	if byCaller, _ := topic.listed(); len(byCaller["acme/user:a"]) != 1 {
		t.Errorf("%v", byCaller)
	}
}

func TestTheRuleLetsNoDayHoldMoreThanTwenty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Given messages of some callers at instants that may go back a little, as clocks of instances differ
		r := feedback.Rule{}
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		counted := map[string][]time.Time{}
		for i := range rapid.IntRange(0, 150).Draw(t, "messages") {
			at = at.Add(time.Duration(rapid.IntRange(-60, 7200).Draw(t, "seconds")) * time.Second)
			by := rapid.SampledFrom([]string{"a", "a", "a", "b"}).Draw(t, "by")
			before := 0
			for _, other := range counted[by] {
				if at.Sub(other) < feedback.Day {
					before++
				}
			}
			// Then it is said exactly how long no further one counts
			if wait, full := r.Full(by, at); full && (r.Clone(by).Add(by, "early", at.Add(wait-1)) || !r.Clone(by).Add(by, "then", at.Add(wait))) {
				t.Fatalf("message %d has to wait for %s, it is told", i, wait)
			}
			// When each is added in their order, then it counts if and only if fewer than twenty do in the day before it
			id := fmt.Sprint(i)
			if got := r.Add(by, id, at); got != (before < feedback.Most) {
				t.Fatalf("message %d with %d before it: %v", i, before, got)
			} else if got {
				counted[by] = append(counted[by], at)
				if r.Add(by, id, at) {
					t.Fatal("it counts twice")
				}
			}
		}
	})
}

func TestALongLogTakesNoMoreMemoryThanAShortOne(t *testing.T) {
	r := feedback.Rule{}
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 5000 {
		at = at.Add(time.Hour)
		r.Add("a", fmt.Sprint(i), at)
	}
	if n := r.Held(); n > 3*feedback.Most {
		t.Errorf("%d messages are held", n)
	}
}
