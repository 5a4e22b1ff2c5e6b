package worker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/store"
	kafkalog "tallyhouse/schemas/kafka"
)

// Given a stream of changes, when workers join and leave until three share the topics, then each partition has one
// owner each time, and nothing is lost or counted twice.
func TestThreeWorkersShareThePartitions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	changes := newChaos(rand.New(rand.NewPCG(1, 2)))
	stream := func() {
		some := changes.messages(60)
		w.produce(some...)
		m.take(some...)
	}
	workers := map[string]*worker{}
	join := func(name string) func() { return func() { workers[name] = w.start(name, quickGroup) } }
	leave := func(name string) func() { return func() { workers[name].end() } }
	for _, step := range []struct {
		change  func()
		members int
	}{
		{join("a"), 1},
		{join("b"), 2},
		{join("c"), 3},
		{leave("a"), 2},
		{join("d"), 3},
		{leave("c"), 2},
		{leave("b"), 1},
	} {
		stream()
		step.change()
		stream()
		w.await(fmt.Sprintf("%d members share the partitions", step.members), func() bool { return w.shared() == step.members })
		w.await("each is written by the one that has it", func() bool {
			written := 0
			for _, worker := range workers {
				written += len(worker.Status())
			}
			return written == testPartitions*len(store.All())
		})
	}
	stream()
	w.awaitAllWrittenWithin(2 * time.Minute)
	w.check(m)
	w.checkDeadLetters(changes.poison)
}

// Given an insert that takes longer than the session, when another worker joins, then the first one stays the member that
// it is: a member that lost its session would have the group rebalance anew.
func TestARebalanceWaitsForAnInsertNoLongerThanASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	inserts, finish := make(chan struct{}), make(chan struct{})
	var begun atomic.Bool
	a := w.start("a", func(worker *Worker) {
		worker.timings.rebalance = 20 * time.Second
		worker.observe = func(_ kafkalog.Partition, s Step) {
			if s == StepInsert && begun.CompareAndSwap(false, true) {
				close(inserts)
				<-finish
			}
		}
	})
	release := sync.OnceFunc(func() { close(finish) })
	t.Cleanup(release)
	some := newChaos(rand.New(rand.NewPCG(1, 2))).messages(60)
	w.produce(some...)
	m.take(some...)
	w.awaitEvent("an insert is under way", inserts)
	w.await("it is a member", func() bool { return w.shared() == 1 })
	first := w.group().Members[0].MemberID
	w.start("b", func(worker *Worker) { worker.timings.rebalance = 20 * time.Second })
	w.await("the first one is between generations", a.members.rebalancing)
	w.await("two members share the partitions", func() bool { return w.shared() == 2 })
	if !slices.ContainsFunc(w.group().Members, func(m kmsg.DescribeGroupsResponseGroupMember) bool { return m.MemberID == first }) {
		t.Errorf("the member that inserted, %s, lost its session", first)
	}
	release()
	w.awaitAllWritten()
	w.check(m)
}

// Given partitions whose recovery waits for the group's next generation, when the worker is to end, then it drains:
// their writers must not wait for a generation that begins only after them.
func TestAWorkerEndsThatRecoversBetweenGenerations(t *testing.T) {
	for _, at := range []Step{StepMember, StepRead} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			waiting := make(chan struct{})
			var once sync.Once
			worker := w.start("a", func(worker *Worker) {
				worker.timings.end = time.Hour // in an orderly way
				worker.observe = func(_ kafkalog.Partition, s Step) {
					if s == at {
						once.Do(func() { worker.members.pause(0); close(waiting) })
					}
				}
			})
			w.awaitEvent("it recovers between generations", waiting)
			worker.end()
		})
	}
}

// shared counts the members of the consumer group where each has some partitions and each partition has one owner; else
// it is 0.
func (w *world) shared() int {
	w.t.Helper()
	group := w.group()
	if group.State != "Stable" {
		return 0
	}
	owners := map[kafkalog.Partition]string{}
	for _, member := range group.Members {
		var assigned kmsg.ConsumerMemberAssignment
		if err := assigned.ReadFrom(member.MemberAssignment); err != nil {
			w.t.Fatal(err)
		}
		if len(assigned.Topics) == 0 {
			return 0
		}
		for _, topic := range assigned.Topics {
			for _, p := range topic.Partitions {
				tp := kafkalog.Partition{Topic: topic.Topic, Number: p}
				if other := owners[tp]; other != "" {
					w.t.Errorf("%s belongs to %s and %s", tp, other, member.MemberID)
				}
				owners[tp] = member.MemberID
			}
		}
	}
	if len(owners) != testPartitions*len(store.All()) {
		return 0
	}
	return len(group.Members)
}
