package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/schemas/events"
)

// everyStep is where a worker can be killed.
var everyStep = []Step{
	StepMember, StepFence, StepKill, StepIdentity, StepPositions, StepMend, StepLog, StepHeads, StepRead, StepCut, StepSend, StepInsert,
	StepInserted, StepHeadsUpdate, StepCommit,
}

// A step that is added is one where a worker can be killed.
func TestWorkersAreKilledAtEveryStep(t *testing.T) {
	source, err := os.ReadFile("steps.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []Step
	for _, named := range regexp.MustCompile(`\bStep +(?:Step )?= "([^"]+)"`).FindAllSubmatch(source, -1) {
		all = append(all, Step(named[1]))
	}
	if !slices.Equal(all, everyStep) {
		t.Errorf("the steps are %q, workers are killed at %q", all, everyStep)
	}
}

// Workers and engine are killed at random points and at every step of the protocol, while a stream with everything that
// a stream can hold runs. TALLYHOUSE_CRASHES sets the number of kills: the nightly target asks for more.
func TestNothingIsLostOrCountedTwiceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	kills := len(everyStep) + 2
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_CRASHES")); err == nil {
		kills = n
	}
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("TALLYHOUSE_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("TALLYHOUSE_SEED=%d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))

	engine := clickhousetest.Start(t)
	w := joinWorldWith(t, engine.Addr(), "default", kafkatest.Start(t).Addr(), trapped)
	m := newModel()
	chaos := newChaos(rnd)

	var workers []*child
	named := 0
	start := func(dieAt Step) {
		named++
		passes := 1 + rnd.Int64N(6)
		if dieAt == StepMend { // there are few
			passes = 1
		}
		// The names, and so the heads, come round again: heads of an older day are part of it.
		workers = append(workers, startChild(t, childWork{
			Kafka: w.cluster.Addrs[0], ClickHouse: w.addr, Database: w.name, Name: fmt.Sprint("w", named),
			DieAt: dieAt, DieAfter: passes,
		}))
	}
	mended := false
	start("")
	for kill := range kills {
		messages := chaos.messages(100)
		w.produce(messages...)
		m.take(messages...)
		switch {
		case kill < len(everyStep):
			if everyStep[kill] == StepMend { // until it is dead each batch of these tables is torn, and mended by whoever recovers
				w.execWhenUp("INSERT INTO bomb VALUES ('records'), ('contracts'), ('budget_rows')")
			}
			start(everyStep[kill])
			for deadline := time.Now().Add(30 * time.Second); !workers[len(workers)-1].dead() && time.Now().Before(deadline); {
				more := chaos.messages(15)
				w.produce(more...)
				m.take(more...)
				time.Sleep(100 * time.Millisecond)
			}
			died := workers[len(workers)-1].dead()
			if !died { // it got no partition that passed the step often enough
				workers[len(workers)-1].kill()
			}
			if everyStep[kill] == StepMend {
				mended = died
				w.execWhenUp("TRUNCATE TABLE bomb")
			}
		case kill%2 == 0:
			time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond)
			engine.Kill()
		default:
			start("")
			time.Sleep(time.Duration(rnd.IntN(4000)) * time.Millisecond)
			workers[rnd.IntN(len(workers))].kill()
		}
		workers = slices.DeleteFunc(workers, (*child).dead)
		if len(workers) == 0 {
			start("")
		}
	}
	last := chaos.messages(150)
	w.produce(last...)
	m.take(last...)
	if len(workers) < 2 {
		start("")
	}
	w.awaitAllWrittenWithin(2 * time.Minute)
	w.check(m)
	w.checkDeadLetters(chaos.poison)
	if !mended && kills >= len(everyStep) {
		t.Error("no worker died at a mend")
	}
	if t.Failed() {
		t.Logf("again with TALLYHOUSE_SEED=%d", seed)
	}
}

// checkDeadLetters compares the dead letters with the messages that had to be refused: each once.
func (w *world) checkDeadLetters(refused map[string]int) {
	w.t.Helper()
	byID := map[string]string{}
	err := kafka.Read(context.Background(), w.cluster, string(events.DeadLetters), func(r *kgo.Record) error {
		byID[string(r.Key)] = string(r.Value)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	got := map[string]int{}
	for _, value := range byID {
		got[value]++
	}
	for value, n := range refused {
		if got[value] != n {
			w.t.Errorf("%d dead letters of %.80q, want %d", got[value], value, n)
		}
		delete(got, value)
	}
	for value, n := range got {
		w.t.Errorf("%d dead letters of %.200q, which was not to be refused", n, value)
	}
}
