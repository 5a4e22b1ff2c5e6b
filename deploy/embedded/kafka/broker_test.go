package kafka

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/supervise"
)

// TestMain lets the test binary be a process with a broker that a test can kill.
func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "broker" {
		b, err := Start(context.Background(), Options{DataDir: os.Args[2], Addr: os.Args[3]})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(b.Addr())
		select {}
	}
	os.Exit(m.Run())
}

func startBroker(t *testing.T, dir, addr string) *Broker {
	t.Helper()
	return startWith(t, dir, addr, supervise.Usual())
}

func startWith(t *testing.T, dir, addr string, patience supervise.Patience) *Broker {
	t.Helper()
	b, err := start(t.Context(), Options{DataDir: dir, Addr: addr}, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, b) })
	return b
}

func stop(t *testing.T, b *Broker) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := b.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// process starts a process with a broker on dir.
func process(t *testing.T, dir string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	cmd = exec.Command(os.Args[0], "broker", dir, "127.0.0.1:0")
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if _, err := fmt.Fscan(bufio.NewReader(output), &addr); err != nil {
		t.Fatalf("the process did not tell its address: %v", err)
	}
	return cmd, addr
}

func createTopic(t *testing.T, addr, topic string, partitions int, configs ...kafka.ConfigEntry) {
	t.Helper()
	created, err := client(t, addr).CreateTopics(t.Context(), &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{
		{Topic: topic, NumPartitions: partitions, ReplicationFactor: 1, ConfigEntries: configs},
	}})
	if err == nil {
		err = created.Errors[topic]
	}
	if err != nil {
		t.Fatalf("create topic %s: %v", topic, err)
	}
}

func writer(t *testing.T, addr, topic string) *kafka.Writer {
	t.Helper()
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	w := &kafka.Writer{
		Addr: kafka.TCP(addr), Transport: transport, Topic: topic, RequiredAcks: kafka.RequireAll,
		Balancer: kafka.Murmur2Balancer{Consistent: true}, BatchBytes: 17 << 20, BatchTimeout: time.Millisecond,
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// read takes records from the start of partition 0, committed ones only, until
// there are n or nothing more comes before the end of the log.
func read(t *testing.T, addr, topic string, opts ...kgo.Opt) []*kgo.Record {
	t.Helper()
	end := endOffset(t, addr, topic)
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(addr), kgo.FetchIsolationLevel(kgo.ReadCommitted()), kgo.KeepControlRecords(),
		kgo.BrokerMaxReadBytes(64 << 20), kgo.FetchMaxPartitionBytes(32 << 20), kgo.FetchMaxBytes(32 << 20),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var records []*kgo.Record
	for at := int64(0); at < end; {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		fetches := client.PollFetches(ctx)
		cancel()
		if errors.Is(fetches.Err0(), context.DeadlineExceeded) {
			break // what is left up to end is aborted, or removed by compaction
		}
		for _, failed := range fetches.Errors() {
			t.Fatal(failed.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			at = r.Offset + 1
			if !r.Attrs.IsControl() {
				records = append(records, r)
			}
		})
	}
	return records
}

func values(records []*kgo.Record) string {
	var all []string
	for _, r := range records {
		all = append(all, string(r.Value))
	}
	return strings.Join(all, " ")
}

// endOffset is the last stable offset of partition 0: what a reader of committed records gets to.
func endOffset(t *testing.T, addr, topic string) int64 {
	t.Helper()
	return offsets(t, addr, topic).LastOffset
}

func startOffset(t *testing.T, addr, topic string) int64 {
	t.Helper()
	return offsets(t, addr, topic).FirstOffset
}

func offsets(t *testing.T, addr, topic string) kafka.PartitionOffsets {
	t.Helper()
	listed, err := client(t, addr).ListOffsets(t.Context(), &kafka.ListOffsetsRequest{
		Topics:         map[string][]kafka.OffsetRequest{topic: {kafka.FirstOffsetOf(0), kafka.LastOffsetOf(0)}},
		IsolationLevel: kafka.ReadCommitted,
	})
	if err != nil {
		t.Fatal(err)
	}
	got := listed.Topics[topic][0]
	if got.Error != nil {
		t.Fatal(got.Error)
	}
	return got
}

// client has connections of its own: the default ones are kept per address, and
// the first use after a broker's restart there fails.
func client(t *testing.T, addr string) *kafka.Client {
	t.Helper()
	transport := &kafka.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(addr), Transport: transport}
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("still not so after a minute: %s", what)
}

func TestAStoppedBrokerStartsAgainWithItsData(t *testing.T) {
	dir := t.TempDir()
	// given a broker with messages, stopped
	first := startBroker(t, dir, "127.0.0.1:0")
	createTopic(t, first.Addr(), "a", 1)
	if err := writer(t, first.Addr(), "a").WriteMessages(t.Context(), kafka.Message{Key: []byte("k"), Value: []byte("v")}); err != nil {
		t.Fatal(err)
	}
	stop(t, first)
	if first.supervisor.Healthy() == nil {
		t.Error("a stopped broker calls itself healthy")
	}
	// when it is started again on the same address
	second := startBroker(t, dir, first.Addr())
	// then the message is read from it
	records := read(t, second.Addr(), "a")
	if len(records) != 1 || string(records[0].Key) != "k" || string(records[0].Value) != "v" {
		t.Fatalf("got %v, wrote k=v", records)
	}
}

func TestAcknowledgedMessagesSurviveAKillOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	// given a process with a broker, and messages that it acknowledged one by one until it was killed
	cmd, addr := process(t, dir)
	createTopic(t, addr, "a", 1)
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.DefaultProduceTopic("a"), kgo.DisableIdempotentWrite())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	acknowledged := 0
	for {
		if acknowledged == 300 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			cmd.Wait()
			time.AfterFunc(100*time.Millisecond, cancel) // the client would try for ever
		}
		record := &kgo.Record{Value: []byte(strconv.Itoa(acknowledged))}
		if err := client.ProduceSync(ctx, record).FirstErr(); err != nil {
			break
		}
		acknowledged++
	}
	if acknowledged < 300 {
		t.Fatalf("the broker failed after %d messages, before it was killed", acknowledged)
	}
	// when a broker is started on what is left
	b := startBroker(t, dir, "127.0.0.1:0")
	// then each of them is there, in order
	records := read(t, b.Addr(), "a")
	if len(records) < acknowledged {
		t.Fatalf("%d messages were acknowledged, %d are there", acknowledged, len(records))
	}
	for i, r := range records {
		if string(r.Value) != strconv.Itoa(i) || r.Offset != int64(i) {
			t.Fatalf("message %d at offset %d is %s", i, r.Offset, r.Value)
		}
	}
}

func TestTransactionsSurviveAKillOfTheProcess(t *testing.T) {
	dir := t.TempDir()
	// given a committed, an aborted and an open transaction when the process is killed
	cmd, addr := process(t, dir)
	createTopic(t, addr, "a", 1)
	transact(t, addr, "one", "a", kgo.TryCommit, "kept")
	transact(t, addr, "two", "a", kgo.TryAbort, "aborted")
	open := transactional(t, addr, "three", "a")
	if err := open.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	if err := open.ProduceSync(t.Context(), kgo.StringRecord("open")).FirstErr(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	// when a broker is started on what is left, and one more is committed
	b := startBroker(t, dir, "127.0.0.1:0")
	transact(t, b.Addr(), "four", "a", kgo.TryCommit, "later")
	// then the committed ones are read, and the open one holds nothing up
	if got := values(read(t, b.Addr(), "a")); got != "kept later" {
		t.Errorf("read %q, committed were kept and later", got)
	}
}

func TestABrokerThatFallsSilentIsReplaced(t *testing.T) {
	patience := supervise.Usual()
	patience.Interval, patience.Timeout, patience.Failures = 20*time.Millisecond, 500*time.Millisecond, 2
	b := startWith(t, t.TempDir(), "127.0.0.1:0", patience)
	createTopic(t, b.Addr(), "a", 1)
	w := writer(t, b.Addr(), "a")
	if err := w.WriteMessages(t.Context(), kafka.Message{Value: []byte("before")}); err != nil {
		t.Fatal(err)
	}
	// when the cluster is closed beneath its supervisor
	b.supervisor.Current().cluster.Close()
	// then another one serves the same data on the same address
	await(t, "the broker was replaced", func() bool { return b.supervisor.Restarts() == 1 && b.supervisor.Healthy() == nil })
	if got := values(read(t, b.Addr(), "a")); got != "before" {
		t.Errorf("read %q", got)
	}
}

func TestATakenPortIsNamed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = Start(t.Context(), Options{DataDir: t.TempDir(), Addr: taken.Addr().String()})
	var port *supervise.PortTakenError
	if !errors.As(err, &port) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{taken.Addr().String(), "--kafka-addr"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %s", err, part)
		}
	}
}

func TestADataDirectoryServesOneBroker(t *testing.T) {
	dir := t.TempDir()
	first := startBroker(t, dir, "127.0.0.1:0")
	_, err := Start(t.Context(), Options{DataDir: dir, Addr: "127.0.0.1:0"})
	if !errors.Is(err, errDataDirInUse) || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--data-dir") {
		t.Fatalf("got %v", err)
	}
	if err := first.supervisor.Healthy(); err != nil {
		t.Errorf("the first broker suffered: %v", err)
	}
}

func TestOptionsMustSayWhereDataAndAddressAre(t *testing.T) {
	for name, o := range map[string]Options{"no data directory": {Addr: "127.0.0.1:0"}, "no address": {DataDir: t.TempDir()}} {
		if _, err := Start(t.Context(), o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
