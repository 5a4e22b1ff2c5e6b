package worker

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

func (s *scenario) adminOptions() admin.Options {
	return admin.Options{Holder: fence.NewHolder("the scenario"), Shards: 1, Log: s.log}
}

// identity is what the cluster says of the topic.
func (s *scenario) identity() kafkalog.Identity {
	s.t.Helper()
	client, err := newAdminClient(s.cluster)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	all, err := kafkalog.Identities(context.Background(), client, scenarioPartition.Topic)
	if err != nil {
		s.t.Fatal(err)
	}
	return all[scenarioPartition.Topic]
}

// versions are next versions of some(n), each over several lines.
func versions(n, version int) (all []message) {
	for i, id := range ids(0, n) {
		all = append(all, record(id, version, map[string]any{"net": 100 * (i + version), "allocations": []any{
			map[string]any{"nodeId": "n1", "net": 60 * (i + version)}, map[string]any{"nodeId": "n2", "net": 40 * (i + version)},
		}}))
	}
	return all
}

// A rebuild's holder dies in the middle. The writer waits, the operator releases the hold, the writer still refuses,
// because the work has not ended, and a second rebuild ends it.
func TestScenarioARebuildWhoseHolderDies(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(8)...)
	s.exec("INSERT INTO sums (tenant, project, keys, amount2) SELECT tenant, project, keys, 1000 FROM sums WHERE roll = 'lines'")
	if len(s.drift(s.model)) == 0 || len(s.verify(s.model)) == 0 {
		t.Fatal("the view is right, or verify takes it for right: there is nothing to rebuild")
	}
	valve := clickhousetest.NewValve(t, s.addr)
	dying, err := database.Open(database.Options{Addr: valve.Addr(), Database: s.name, User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer dying.Close()
	o := s.adminOptions()
	steps := 0
	o.Progress = func(admin.Progress) {
		if steps++; steps == 2 { // a range is corrected, the positions are not yet looked at
			valve.Turn(true)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Second)
	defer stop()
	if _, err := admin.Rebuild(ctx, dying, []*store.Entity{store.Of(events.Records)}, o); err == nil {
		t.Fatal("the holder did not die")
	}
	s.send(versions(8, 2)...)
	a.awaitCondition(HeldBack)
	if _, err := fence.Break(t.Context(), s.db, scenarioPartition.Topic, "release"); err != nil {
		t.Fatal(err)
	}
	a.awaitRefusal("rebuild", "same command")
	if at := s.at(0).State; at != 8 {
		t.Errorf("it wrote up to %d before the work was ended", at)
	}
	if _, err := admin.Rebuild(t.Context(), s.db, []*store.Entity{store.Of(events.Records)}, s.adminOptions()); err != nil {
		t.Fatal(err)
	}
	b := s.join("b")
	b.assign()
	s.send(versions(8, 3)...)
	s.awaitAll(24)
	s.check(s.model)
}

// The topic grows while old workers are about: one is running, one sleeps with a batch cut by the old number. Keys
// change partitions; what lies in the old ones is re-routed.
func TestScenarioResizeWithOldWorkersAbout(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	s.send(someRecords(8)...)
	a, zombie := s.join("a"), s.join("zombie")
	a.assign(0, 1, 2)
	s.awaitAll(8)
	a.revoke()
	asleep, awake := make(chan struct{}), make(chan struct{})
	wake := sync.OnceFunc(func() { close(awake) })
	defer wake()
	zombie.onStep(StepInsert, func() { close(asleep); <-awake })
	zombie.assign()
	s.send(versions(8, 2)...) // in the old partition, cut by the zombie
	s.awaitEvent("the zombie falls asleep", asleep)
	const now = 5
	s.addPartitions(now)
	for _, m := range versions(8, 3) { // by the new number
		m.partition = kafka.Partition([]byte(m.key), now)
		untilDone(t, func() error { return produce(s.cluster, []message{m}) }) // until the client knows of the new partitions
		s.model.take(m)
	}
	r, err := admin.Resize(t.Context(), s.db, store.Of(events.Records), s.identity(), s.adminOptions())
	if err != nil || r != (admin.Resized{From: testPartitions, To: now}) {
		t.Fatal(r, err)
	}
	wake()
	a.assign(0, 1, 2)
	b := s.join("b")
	b.assign(3, 4)
	settled := func() bool {
		for tp, end := range s.ends() {
			if tp.Topic == scenarioPartition.Topic && !s.reached(tp.Number, uint64(end)) {
				return false
			}
		}
		return true
	}
	s.await("all five partitions are at the end", settled)
	s.check(s.model)
	zombie.revoke()
	for _, m := range versions(8, 4) { // some of them still by the old number, from a producer that hasn't noticed
		if kafka.Partition([]byte(m.key), now)%2 == 0 {
			m.partition = kafka.Partition([]byte(m.key), now)
		}
		s.send(m)
	}
	s.await("all five partitions are at the end", settled)
	s.check(s.model)
}

// formerFormula makes the sums what a release with another formula would have left: it counted more.
func (s *scenario) formerFormula() {
	s.t.Helper()
	s.exec("INSERT INTO sums (tenant, project, keys, amount2) SELECT tenant, project, keys, 1000 FROM sums WHERE roll = 'lines'")
	s.stream(func(next *position.Stream) { next.Formula, next.Life = "former", position.NewLife() })
	if len(s.drift(s.model)) == 0 {
		s.t.Fatal("the former formula summed the same")
	}
}

// A release sums something new: its workers refuse until the sums are rebuilt, then go on with heads of the new life.
func TestScenarioAnotherFormulaBesideWorkers(t *testing.T) {
	t.Parallel()
	s := newScenario(t)
	a := s.writing("a", someRecords(8)...)
	a.revoke()
	s.formerFormula()
	s.send(versions(8, 2)[:4]...)
	b := s.join("b")
	b.assign()
	b.awaitRefusal("formula")
	b.revoke()
	if r, err := admin.Reform(t.Context(), s.db, store.Of(events.Records), s.adminOptions()); err != nil || r.Corrected == 0 {
		t.Fatal(r, err)
	}
	a.assign() // with heads of the former life
	s.awaitAll(12)
	s.check(s.model)
}

// The server is restarted in the middle of a piece of work, which takes its hold down: the work notices, a worker goes
// on or refuses, and the same work, done again, ends it.
func TestScenarioAServerRestartInTheMiddle(t *testing.T) {
	t.Parallel()
	engine := clickhousetest.Start(t)
	records := store.Of(events.Records)
	tests := []struct {
		name    string
		prepare func(*scenario)
		work    func(*scenario, admin.Options) error
		killAt  int // which progress
	}{
		{"of a rebuild", func(s *scenario) {
			s.exec("INSERT INTO sums (tenant, project, keys, amount2) SELECT tenant, project, keys, 1000 FROM sums WHERE roll = 'lines'")
		}, func(s *scenario, o admin.Options) error {
			_, err := admin.Rebuild(context.Background(), s.db, []*store.Entity{records}, o)
			return err
		}, 2},
		{"of a rebuild by another formula", (*scenario).formerFormula, func(s *scenario, o admin.Options) error {
			_, err := admin.Reform(context.Background(), s.db, records, o)
			return err
		}, 2},
		{"of a resize", func(s *scenario) { s.addPartitions(5) }, func(s *scenario, o admin.Options) error {
			_, err := admin.Resize(context.Background(), s.db, records, s.identity(), o)
			return err
		}, 0},
		{"of a hold", func(*scenario) {}, func(s *scenario, o admin.Options) error {
			h, err := fence.Take(context.Background(), s.db, scenarioPartition.Topic, allPartitions, o.Holder)
			for errors.Is(err, fence.ErrLostRace) { // the writers that recover were quicker
				h, err = fence.Take(context.Background(), s.db, scenarioPartition.Topic, allPartitions, o.Holder)
			}
			if err != nil {
				return err
			}
			o.Progress(admin.Progress{})
			if err := h.Check(context.Background(), s.db); err != nil {
				return err
			}
			return h.Release(context.Background(), s.db)
		}, 1},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server, err := database.Open(database.Options{Addr: engine.Addr(), Database: "default", User: "default"}, 1)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			name := fmt.Sprint("restart", i)
			untilDone(t, func() error {
				return server.Exec(t.Context(), database.Statement{SQL: "CREATE DATABASE IF NOT EXISTS " + name})
			})
			s := newScenarioOn(t, engine.Addr(), name, kafkatest.Start(t).Addr())
			s.send(someRecords(8)...)
			a := s.join("a")
			a.assign(0, 1, 2)
			s.awaitAll(8)
			a.revoke()
			test.prepare(s)
			a.assign(0, 1, 2)
			s.send(versions(8, 2)...)

			o, steps, killed := s.adminOptions(), 0, false
			o.Progress = func(admin.Progress) {
				if steps++; steps == test.killAt && !killed {
					killed = true
					engine.Kill()
				}
			}
			if test.killAt == 0 { // it reports no progress
				kill := time.AfterFunc(20*time.Millisecond, engine.Kill)
				_ = test.work(s, o)
				if !kill.Stop() {
					killed = true
				}
			} else if err := test.work(s, o); err == nil {
				t.Fatal("it went on over a server that died")
			} else if killed == false {
				t.Fatal(err)
			}
			untilDone(t, func() error { return s.db.Ping(t.Context()) })
			untilDone(t, func() error {
				again := s.adminOptions()
				again.Progress = func(admin.Progress) {}
				return test.work(s, again)
			})
			a.crash()
			b := s.join("b")
			b.assign(0, 1, 2, 3, 4)
			s.await("everything is at the end", func() bool {
				all, err := s.everywhere()
				return err == nil && all
			})
			s.check(s.model)
		})
	}
}

// everywhere reports whether all partitions of the topic are at the end of the log.
func (s *scenario) everywhere() (bool, error) {
	ends := s.ends()
	for tp, end := range ends {
		if tp.Topic != scenarioPartition.Topic {
			continue
		}
		at, err := position.Read(context.Background(), s.db, store.Of(events.Records), []int32{tp.Number})
		if err != nil {
			return false, err
		}
		if at[tp.Number].State != uint64(end) || !at[tp.Number].Level() {
			return false, nil
		}
	}
	if len(ends) == 0 {
		return false, errors.New("no partitions")
	}
	// A message that was re-routed meanwhile made a log longer, before its old partition's position passed it.
	return maps.Equal(ends, s.ends()), nil
}
