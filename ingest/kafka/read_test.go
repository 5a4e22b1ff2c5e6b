package kafka_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// Given a topic to which more is sent while it is read, then reading ends where the log ended at the call; what it is read from on is an
// offset, an instant, or where the log begins by now.
func TestReadingEndsWhereTheLogEnded(t *testing.T) {
	const topic, fetch = string(events.Contractors), 1 << 20 // read at a time
	c := topicstest.Cluster(t, 1)
	var instants []time.Time
	sent := 0
	send := func(bytesOfValue int) {
		t.Helper()
		value := append(fmt.Appendf(nil, "%d ", sent), bytes.Repeat([]byte("x"), bytesOfValue)...)
		m := kafkago.Message{Topic: topic, Key: []byte("demo/C1"), Value: value}
		if _, _, err := kafka.Send(t.Context(), c, m); err != nil {
			t.Fatal(err)
		}
		sent++
	}
	for range 6 { // several fetches
		time.Sleep(2 * time.Millisecond) // instants of messages have milliseconds: none may be that of the message before
		instants = append(instants, time.Now())
		time.Sleep(2 * time.Millisecond)
		send(fetch * 9 / 10)
	}
	for _, tc := range []struct {
		name string
		read func(func(*kgo.Record) error) error
		want []int64
	}{
		{"all", func(each func(*kgo.Record) error) error { return kafka.Read(t.Context(), c, topic, each) }, []int64{0, 1, 2, 3, 4, 5}},
		{"since an instant", func(each func(*kgo.Record) error) error {
			return kafka.ReadSince(t.Context(), c, topic, instants[3], each)
		}, []int64{3, 4, 5, 6}},
		{"from an offset on", func(each func(*kgo.Record) error) error {
			_, err := kafka.ReadOn(t.Context(), c, topic, []int64{5}, each)
			return err
		}, []int64{5, 6, 7}},
		{"from before the log's beginning on", func(each func(*kgo.Record) error) error {
			deleteBefore(t, c, topic, 4)
			_, err := kafka.ReadOn(t.Context(), c, topic, []int64{2}, each)
			return err
		}, []int64{4, 5, 6, 7, 8}},
	} {
		var got []int64
		err := tc.read(func(r *kgo.Record) error {
			if len(got) == 0 {
				send(1)
			}
			got = append(got, r.Offset)
			return nil
		})
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: read %v, want %v; %v", tc.name, got, tc.want, err)
		}
	}
}

// Given messages that unpack to more than anybody takes, when the topic is followed, then they are passed, and what comes behind them is
// taken.
func TestFollowingPassesMessagesThatUnpackToTooMuch(t *testing.T) {
	const topic = string(events.Contractors)
	c := topicstest.Cluster(t, 1)
	n := topicstest.SendTooMuch(t, c, events.Contractors, 0)
	if _, _, err := kafka.Send(t.Context(), c, kafkago.Message{Topic: topic, Key: []byte("demo/C1"), Value: []byte("behind")}); err != nil {
		t.Fatal(err)
	}
	seen := errors.New("seen")
	err := kafka.Follow(t.Context(), c, topic, time.Now().Add(-time.Hour), func(r *kgo.Record) error {
		return fmt.Errorf("%w: %.10q at %d", seen, r.Value, r.Offset)
	})
	if want := fmt.Sprintf(`seen: "behind" at %d`, n); !errors.Is(err, seen) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// deleteBefore makes the log of partition 0 begin at an offset.
func deleteBefore(t *testing.T, c kafka.Cluster, topic string, offset int64) {
	t.Helper()
	client, err := kgo.NewClient(c.Reading...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Offset = offset
	of := kmsg.NewDeleteRecordsRequestTopic()
	of.Topic, of.Partitions = topic, append(of.Partitions, p)
	request := kmsg.NewPtrDeleteRecordsRequest()
	request.Topics, request.TimeoutMillis = append(request.Topics, of), 10_000
	r, err := request.RequestWith(t.Context(), client)
	if err != nil || r.Topics[0].Partitions[0].ErrorCode != 0 {
		t.Fatal(err, r)
	}
}
