package worker

import (
	"encoding/binary"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/servertest"
	kafkalog "tallyhouse/schemas/kafka"
)

// leaderless stands between clients and a broker, and takes partitions their leaders: in all that the broker says of a
// topic they have none, as after the loss of every replica.
type leaderless struct {
	addr   string
	broker string

	mu         sync.Mutex
	partitions map[kafkalog.Partition]bool
}

func newLeaderless(t testing.TB, broker string) *leaderless {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &leaderless{addr: listener.Addr().String(), broker: broker, partitions: map[kafkalog.Partition]bool{}}
	servertest.On(t, listener, l.pass)
	return l
}

// take takes a partition its leader, or gives it back.
func (l *leaderless) take(p kafkalog.Partition, taken bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.partitions[p] = taken
}

func (l *leaderless) pass(client net.Conn) {
	defer client.Close()
	broker, err := net.Dial("tcp", l.broker)
	if err != nil {
		return
	}
	defer broker.Close()
	var mu sync.Mutex
	metadata := map[uint32]int16{} // versions of the requests that are under way, by correlation id
	go func() {
		defer client.Close()
		for {
			frame, err := readFrame(broker)
			if err != nil {
				return
			}
			id := binary.BigEndian.Uint32(frame)
			mu.Lock()
			version, ok := metadata[id]
			delete(metadata, id)
			mu.Unlock()
			if ok {
				frame = l.change(frame, version)
			}
			if writeFrame(client, frame) != nil {
				return
			}
		}
	}()
	for {
		frame, err := readFrame(client)
		if err != nil {
			return
		}
		if key := int16(binary.BigEndian.Uint16(frame)); key == int16(kmsg.Metadata) {
			mu.Lock()
			metadata[binary.BigEndian.Uint32(frame[4:])] = int16(binary.BigEndian.Uint16(frame[2:]))
			mu.Unlock()
		}
		if writeFrame(broker, frame) != nil {
			return
		}
	}
}

// change changes what the broker says of its topics, and has clients come this way.
func (l *leaderless) change(frame []byte, version int16) []byte {
	r := kmsg.NewPtrMetadataResponse()
	r.SetVersion(version)
	header := 4
	if r.IsFlexible() {
		header++ // the number of tags, none
	}
	if r.ReadFrom(frame[header:]) != nil {
		return frame
	}
	host, port, _ := net.SplitHostPort(l.addr)
	number, _ := strconv.Atoi(port)
	for i := range r.Brokers {
		r.Brokers[i].Host, r.Brokers[i].Port = host, int32(number)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range r.Topics {
		for i := range t.Partitions {
			p := &t.Partitions[i]
			if t.Topic != nil && l.partitions[kafkalog.Partition{Topic: *t.Topic, Number: p.Partition}] {
				p.Leader, p.ErrorCode = -1, kerr.LeaderNotAvailable.Code
			}
		}
	}
	return r.AppendTo(frame[:header:header])
}

func readFrame(from net.Conn) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	_, err := io.ReadFull(from, frame)
	return frame, err
}

func writeFrame(to net.Conn, frame []byte) error {
	_, err := to.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
	return err
}
