package access_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/api/access"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/schemas/events"
)

// patience bounds a hung test. It asserts nothing.
const patience = time.Minute

// database is what is stored: how far the topic of keys has come in partition 0, and when messages were lost.
type database struct {
	mu   sync.Mutex
	keys int64
	gap  time.Time
}

func (d *database) LoadAccess(_ context.Context, topic events.Topic, _ func(events.Event)) (map[int32]int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if topic != events.Keys || d.keys == 0 {
		return nil, nil
	}
	return map[int32]int64{0: d.keys}, nil
}

func (d *database) LastGap(_ context.Context, topic events.Topic) (time.Time, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if topic != events.Keys {
		return time.Time{}, nil
	}
	return d.gap, nil
}

// set changes what is stored.
func (d *database) set(change func(d *database)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

// wire watches the answers of the broker to one follower. While it is locked, no message gets through.
type wire struct {
	sync.RWMutex
	asked atomic.Int64 // for the topics: once in every round of checks
}

const fetchKey, metadataKey = 1, 3

func (w *wire) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, _ error) {
	switch key {
	case fetchKey:
		w.RLock()
		defer w.RUnlock()
	case metadataKey:
		w.asked.Add(1)
	}
}

// rounds waits until the follower has looked at the ends of the topics several times.
func (w *wire) rounds(t *testing.T) {
	t.Helper()
	from := w.asked.Load()
	eventually(t, "the ends are asked for", func() bool { return w.asked.Load() >= from+4 })
}

func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	err := retry.Do(context.Background(), retry.WithMaxDuration(patience, retry.NewConstant(5*time.Millisecond)),
		func(context.Context) error {
			if !happened() {
				return retry.RetryableError(errors.New("not yet"))
			}
			return nil
		})
	if err != nil {
		t.Fatalf("after %s it is still not so that %s", patience, what)
	}
}

// cluster is a broker with the topics of access, each with one partition.
func cluster(t *testing.T) (addr string, client *kgo.Client) {
	t.Helper()
	addr = kafkatest.Start(t).Addr()
	client, err := kgo.NewClient(kgo.SeedBrokers(addr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	request := kmsg.NewPtrCreateTopicsRequest()
	for _, name := range access.Topics() {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = string(name), 1, 1
		request.Topics = append(request.Topics, topic)
	}
	if _, err := request.RequestWith(context.Background(), client); err != nil {
		t.Fatal(err)
	}
	for _, name := range access.Topics() {
		kafkatest.AwaitTopic(t, addr, string(name), 1)
	}
	return addr, client
}

// send puts something on the topic of keys.
func send(t *testing.T, client *kgo.Client) {
	t.Helper()
	record := &kgo.Record{Topic: string(events.Keys), Key: []byte("acme/K1"), Value: []byte("{}")}
	if err := client.ProduceSync(context.Background(), record).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// follow runs a follower until the test ends.
func follow(t *testing.T, addr string, source access.Source, accepted time.Time, w *wire) *access.Follower {
	t.Helper()
	follower := access.NewFollower(source, []kgo.Opt{kgo.SeedBrokers(addr), kgo.WithHooks(w)}, accepted,
		slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { follower.Run(ctx); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
	return follower
}

func confirmed(f *access.Follower) bool {
	_, err := f.Store()
	return err == nil
}

func TestNothingIsConfirmedThatHasNotBeenRead(t *testing.T) {
	// Given a follower that knows everything
	addr, client := cluster(t)
	send(t, client)
	between := &wire{}
	follower := follow(t, addr, &database{}, time.Time{}, between)
	eventually(t, "everything is known", func() bool { return confirmed(follower) })
	// When no message gets through any more, while the topics grow and their ends are known
	between.Lock()
	send(t, client)
	grown := time.Now()
	between.rounds(t)
	// Then nothing is confirmed that came after
	if at := follower.Confirmed(); at.After(grown) {
		t.Errorf("confirmed up to %s, but a message of %s has not been read", at, grown)
	}
	// And one that begins now knows nothing, until it has read them.
	behind := &wire{}
	behind.Lock()
	late := follow(t, addr, &database{}, time.Time{}, behind)
	behind.rounds(t)
	if _, err := late.Store(); !errors.Is(err, access.ErrUnconfirmed) {
		t.Errorf("one that has read nothing says %v", err)
	}
	between.Unlock()
	behind.Unlock()
	eventually(t, "both know everything", func() bool { return follower.Confirmed().After(grown) && confirmed(late) })
}

// deleteBelow has the topic of keys begin at an offset.
func deleteBelow(t *testing.T, client *kgo.Client, offset int64) {
	t.Helper()
	request := kmsg.NewPtrDeleteRecordsRequest()
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = string(events.Keys)
	partition := kmsg.NewDeleteRecordsRequestTopicPartition()
	partition.Partition, partition.Offset = 0, offset
	topic.Partitions = append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	if _, err := request.RequestWith(context.Background(), client); err != nil {
		t.Fatal(err)
	}
}

func TestALogThatBeginsBehindWhatIsStoredConfirmsNothing(t *testing.T) {
	// Given a database that holds the first of four changes, and a log that has lost the next two
	addr, client := cluster(t)
	for range 4 {
		send(t, client)
	}
	deleteBelow(t, client, 3)
	stored := &database{keys: 1}
	follower := follow(t, addr, stored, time.Time{}, &wire{})
	// Then access is not confirmed, and it says why
	refuses := func(why string) func() bool {
		return func() bool {
			_, err := follower.Store()
			if err == nil {
				t.Fatal("access is confirmed, but a revocation may be lost")
			}
			return errors.Is(err, access.ErrUnconfirmed) && strings.Contains(err.Error(), why)
		}
	}
	eventually(t, "the reason is told", refuses("begins at 3"))
	// And neither when the worker has gone on behind the gap
	found := time.Now()
	stored.set(func(d *database) { d.keys, d.gap = 4, found })
	eventually(t, "the reason is told", refuses("--access-gaps-accepted "+found.UTC().Format(time.RFC3339Nano)))
	// But one that was told that this gap has been seen to
	accepting := follow(t, addr, stored, found, &wire{})
	eventually(t, "access is confirmed", func() bool { return confirmed(accepting) })
}

func TestALogOfWhichNothingIsStoredMayBeginAnywhere(t *testing.T) {
	// Given a log that has lost its first changes, and a database that never had any of it
	addr, client := cluster(t)
	for range 2 {
		send(t, client)
	}
	deleteBelow(t, client, 2)
	// Then what is gone gave nobody access
	follower := follow(t, addr, &database{}, time.Time{}, &wire{})
	eventually(t, "access is confirmed", func() bool { return confirmed(follower) })
}
