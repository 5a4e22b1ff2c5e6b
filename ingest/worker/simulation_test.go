package worker

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// Several writers that all believe to own the same partitions, that pause, die at every step and come back; views that
// fail or stall; connections that are cut in an insert; inserts that arrive after their sender gave up; a server that
// is killed. TALLYHOUSE_ROUNDS sets the number of rounds: the nightly target asks for more.
func TestWritersThatFightOverPartitionsStayExact(t *testing.T) {
	t.Parallel()
	rounds, seed := 20, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv("TALLYHOUSE_ROUNDS")); err == nil {
		rounds = n
	}
	if n, err := strconv.ParseUint(os.Getenv("TALLYHOUSE_SEED"), 10, 64); err == nil {
		seed = n
	}
	engine := clickhousetest.Start(t)
	stopKilling := make(chan struct{})
	var kills atomic.Int64
	var checking sync.RWMutex // the server lives while rounds compare what it holds
	var killing sync.WaitGroup
	killing.Go(func() {
		rnd := rand.New(rand.NewPCG(seed, 7))
		for {
			wait := 5*time.Second + time.Duration(rnd.IntN(10_000))*time.Millisecond
			if engine.Healthy() != nil {
				wait = 100 * time.Millisecond // killed before it serves, it would get nowhere
			}
			select {
			case <-stopKilling:
				return
			case <-time.After(wait):
			}
			if wait > time.Second {
				checking.Lock()
				engine.Kill()
				checking.Unlock()
				kills.Add(1)
			}
		}
	})
	t.Run("rounds", func(t *testing.T) {
		for i := range rounds {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				playRound(t, engine.Addr(), fmt.Sprint("round", i), seed+uint64(i), &checking)
			})
		}
	})
	close(stopKilling)
	killing.Wait()
	t.Logf("%d rounds, %d kills of the server, first seed %d", rounds, kills.Load(), seed)
}

// fought are the topics that the writers fight over: with several views, with lines that come and go, with one summand.
var fought = []events.Topic{events.Records, events.Contracts, events.BudgetRows}

func contested() (all []kafkalog.Partition) {
	for _, topic := range fought {
		for p := range int32(testPartitions) {
			all = append(all, kafkalog.Partition{Topic: string(topic), Number: p})
		}
	}
	return all
}

// round is one database that several writers fight over.
type round struct {
	*world
	t      *testing.T
	rnd    *rand.Rand
	rndMu  sync.Mutex
	calm   atomic.Bool
	epoch  int32
	actors []*actor
}

// actor is a writer's process: it dies and comes back.
type actor struct {
	round *round
	name  string
	proxy *proxy
	mu    sync.Mutex
	alive *simulated
	owns  map[kafkalog.Partition]bool
}

// simulated is one life of an actor: a worker without a group, whose membership the round decides.
type simulated struct {
	*Worker
	db    *database.Server
	stop  context.CancelFunc
	parts sync.WaitGroup
}

func playRound(t *testing.T, engineAddr, name string, seed uint64, checking *sync.RWMutex) {
	rnd := rand.New(rand.NewPCG(seed, 3))
	admin, err := database.Open(database.Options{Addr: engineAddr, Database: "default", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	untilDone(t, func() error {
		return admin.Exec(context.Background(), database.Statement{SQL: "CREATE DATABASE IF NOT EXISTS " + name})
	})
	w := joinWorldWith(t, engineAddr, name, kafkatest.Start(t).Addr(), trapped)
	r := &round{world: w, t: t, rnd: rnd}
	m := newModel()
	chaos := newChaos(rand.New(rand.NewPCG(seed, 4)), fought...)
	actors := 2 + rnd.IntN(3)
	for i := range actors {
		a := &actor{round: r, name: fmt.Sprint("a", i), proxy: newProxy(t, engineAddr, rand.New(rand.NewPCG(seed, uint64(i)+10)), 5+rnd.IntN(25)), owns: map[kafkalog.Partition]bool{}}
		r.actors = append(r.actors, a)
		a.live()
	}
	t.Cleanup(func() {
		for _, a := range r.actors {
			a.die()
		}
	})
	var disturbing sync.WaitGroup
	stop := make(chan struct{})
	disturbing.Go(func() { r.disturb(stop) })
	for range 12 {
		messages := chaos.messages(20)
		w.produce(messages...)
		m.take(messages...)
		r.reassign()
		r.sleepUpTo(500 * time.Millisecond)
	}
	close(stop)
	disturbing.Wait()
	r.execWhenUp("TRUNCATE TABLE bomb")
	r.execWhenUp("TRUNCATE TABLE nap")
	// The last writer starts while zombies and late inserts are still about.
	last := &actor{round: r, name: "last", proxy: newProxy(t, engineAddr, rand.New(rand.NewPCG(seed, 99)), 0), owns: map[kafkalog.Partition]bool{}}
	r.actors = append(r.actors, last)
	last.live()
	r.calm.Store(true)
	for _, tp := range contested() {
		last.own(tp, true)
	}
	r.sleepUpTo(500 * time.Millisecond)
	for _, a := range r.actors[:len(r.actors)-1] {
		a.proxy.calm.Store(true)
		for _, tp := range contested() {
			a.own(tp, false)
		}
	}
	for _, a := range r.actors {
		for a.proxy.held.Load() > 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	// It gets there while the server is killed, or once nobody kills it: it pauses longer after every death, and so do the
	// writers.
	for deadline := time.Now().Add(10 * time.Second); w.behind() != "" && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
	checking.RLock()
	defer checking.RUnlock()
	w.awaitAllWrittenWithin(2 * time.Minute)
	for _, d := range w.drift(m) {
		t.Errorf("%s (again with TALLYHOUSE_SEED=%d TALLYHOUSE_ROUNDS=1)", d, seed)
	}
	w.checkDeadLetters(chaos.poison)
	// Every start of a killed server loads all its tables: those of hundreds of rounds are too many for its memory.
	untilDone(t, func() error {
		return admin.Exec(context.Background(), database.Statement{SQL: "DROP DATABASE IF EXISTS " + name + " SYNC"})
	})
}

// trappedViews fail when there is a bomb for them; those that doze sleep when there is a nap. They are named by their
// tables.
var trappedViews = []struct {
	name  string
	dozes bool
}{{"records", true}, {"contracts", true}, {"budget_rows", false}}

// trapped lays the traps: they act while the insert runs, not when it is planned.
func trapped(statement string) []string {
	for _, view := range trappedViews {
		if strings.HasPrefix(statement, "CREATE MATERIALIZED VIEW IF NOT EXISTS "+clickhouse.Trigger(view.name)+" ") {
			trap := "\nWHERE throwIf((SELECT count() FROM bomb WHERE view = '" + view.name + "') > 0 AND d.keys != 'x') = 0"
			if view.dozes {
				trap += " AND sleep((SELECT max(seconds) FROM nap)) = 0"
			}
			return []string{
				"CREATE TABLE IF NOT EXISTS bomb (view String) ENGINE = MergeTree ORDER BY tuple()",
				"CREATE TABLE IF NOT EXISTS nap (seconds Float64) ENGINE = MergeTree ORDER BY tuple()",
				statement + trap,
			}
		}
	}
	return []string{statement}
}

func (r *round) n(n int) int {
	r.rndMu.Lock()
	defer r.rndMu.Unlock()
	return r.rnd.IntN(n)
}

func (r *round) sleepUpTo(d time.Duration) { time.Sleep(time.Duration(r.n(int(d)))) }

// disturb breaks and mends the views and has the tables merged, at random.
func (r *round) disturb(stop <-chan struct{}) {
	merged := []string{"records", "contracts", "budget_rows", "sums"}
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(r.n(80)) * time.Millisecond):
		}
		sql := "TRUNCATE TABLE bomb"
		switch x := r.n(10); {
		case x < 2:
			sql = "INSERT INTO bomb VALUES ('" + trappedViews[r.n(len(trappedViews))].name + "')"
		case x < 5:
		case x < 6:
			sql = fmt.Sprintf("INSERT INTO nap VALUES (0.%03d)", r.n(250))
		case x < 8:
			sql = "TRUNCATE TABLE nap"
		default:
			sql = "OPTIMIZE TABLE " + merged[r.n(len(merged))]
		}
		_ = r.db.Exec(context.Background(), database.Statement{SQL: sql}) // the server may be dead just now
	}
}

// reassign gives a partition to an actor; the one who had it hears of it now, later or never.
func (r *round) reassign() {
	all := contested()
	tp := all[r.n(len(all))]
	to := r.actors[r.n(len(r.actors))]
	for _, a := range r.actors {
		if a == to {
			continue
		}
		switch x := r.n(10); {
		case x < 3:
			a.own(tp, false)
		case x < 8:
			time.AfterFunc(time.Duration(r.n(900))*time.Millisecond, func() {
				if !r.calm.Load() {
					a.own(tp, false)
				}
			})
		}
	}
	to.own(tp, true)
}

// own lets an actor own a partition, or not, from now on.
func (a *actor) own(tp kafkalog.Partition, owns bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if owns {
		a.owns[tp] = true
	} else {
		delete(a.owns, tp)
	}
	if a.alive != nil {
		a.announce()
	}
}

// announce begins a generation in which the actor is assigned what it owns; the caller holds the lock.
func (a *actor) announce() {
	a.round.rndMu.Lock()
	a.round.epoch++
	generation := a.round.epoch
	a.round.rndMu.Unlock()
	var all []kafkalog.Partition
	for tp := range a.owns {
		all = append(all, tp)
	}
	w := a.alive.Worker
	w.members.pause(0)
	w.members.begin(generation, all, testPartitions)
	for _, tp := range all {
		w.startWriter(context.Background(), tp)
	}
}

// live begins a life.
func (a *actor) live() {
	a.mu.Lock()
	defer a.mu.Unlock()
	db, err := database.Open(database.Options{Addr: a.proxy.addr(), Database: a.round.name, User: "default"}, 4)
	if err != nil {
		a.round.t.Error(err)
		return
	}
	var entities []*store.Entity
	for _, topic := range fought {
		entities = append(entities, store.Of(topic))
	}
	w, err := New(Options{
		Cluster: a.round.cluster, Servers: []Database{db}, Heads: latest.Options{Dir: a.round.dir}, Group: "none", Entities: entities,
		Freshness: time.Millisecond, Log: a.round.log.With("actor", a.name), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		a.round.t.Error(err)
		return
	}
	w.observe = a.observe
	w.pace.budget = 10_000
	s := &simulated{Worker: w, db: db}
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	w.startParts(ctx, &s.parts)
	a.alive = s
	a.announce()
}

// observe pauses at a step, or dies there.
func (a *actor) observe(_ kafkalog.Partition, _ Step) {
	r := a.round
	if r.calm.Load() {
		return
	}
	switch x := r.n(1000); {
	case x < 700:
	case x < 920:
		r.sleepUpTo(15 * time.Millisecond)
	case x < 985:
		r.sleepUpTo(150 * time.Millisecond)
	case x < 992:
		r.sleepUpTo(1500 * time.Millisecond)
	case x < 996:
		go a.dieAndReturn()
	}
}

func (a *actor) dieAndReturn() {
	if !a.die() {
		return
	}
	a.round.sleepUpTo(300 * time.Millisecond)
	if !a.round.calm.Load() {
		a.live()
	}
}

// die ends a life as SIGKILL would: its connections are gone, nothing is finished.
func (a *actor) die() bool {
	a.mu.Lock()
	s := a.alive
	a.alive = nil
	a.mu.Unlock()
	if s == nil {
		return false
	}
	ended := make(chan struct{})
	go func() {
		s.stopWriters(context.Background(), func(kafkalog.Partition) bool { return true })
		close(ended)
	}()
	err := try(func() error {
		a.proxy.cut()
		select {
		case <-ended:
			return nil
		default:
			return fmt.Errorf("%s doesn't die", a.name)
		}
	})
	if err != nil {
		a.round.t.Error(err)
		return false
	}
	s.stop()
	s.parts.Wait()
	_ = s.db.Close()
	_ = s.sender.close()
	s.admin.Close()
	return true
}
