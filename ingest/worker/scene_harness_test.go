package worker

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

// A scene is one interleaving, played step by step on the real engine and broker. It is played twice: with all rules of the protocol it
// must show no symptom, with one rule left out it must show one, or it tests nothing.
func playTwice(t *testing.T, play func(s *stage, without bool) (symptoms []string, met bool)) {
	t.Parallel()
	for _, without := range []bool{false, true} {
		name := "with the rule nothing drifts"
		if without {
			name = "without it something does"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			symptoms := playUntilMet(t, func(s *stage) ([]string, bool) { return play(s, without) })
			switch {
			case !without && len(symptoms) > 0:
				t.Errorf("symptoms: %s", strings.Join(symptoms, "\n"))
			case without && len(symptoms) == 0:
				t.Error("no symptom: the scene tests nothing")
			}
		})
	}
}

// playUntilMet plays again when two statements that had to run at the same moment did not, as happens on a crowded machine.
func playUntilMet(t *testing.T, play func(*stage) ([]string, bool)) []string {
	t.Helper()
	for range 5 {
		if symptoms, met := play(newStage(t)); met {
			return symptoms
		}
	}
	t.Fatal("the statements of the scene never met")
	return nil
}

// stage is a world whose writers have no consumer group: the scene says who believes to own what. It plays with records, in partition 0
// where it doesn't say otherwise.
type stage struct {
	*world
	t          testing.TB
	model      *model
	generation int32
	tamper     func(*tampered) // with the database of every player, if not nil
}

var scenePartition = topicPartition{string(events.Records), 0}

func newStage(t testing.TB) *stage {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	return newStageOn(t, addr, name, kafkatest.Start(t).Addr())
}

func newStageOn(t testing.TB, clickhouseAddr, name, kafkaAddr string) *stage {
	t.Helper()
	return &stage{world: joinWorldWith(t, clickhouseAddr, name, kafkaAddr, trapped), t: t, model: newModel()}
}

// ids are names of records whose keys belong to the partition.
func ids(partition int32, n int) (all []string) {
	for i := 0; len(all) < n; i++ {
		id := fmt.Sprint("R", i)
		if kafka.Partition([]byte("demo/"+id), testPartitions) == int(partition) {
			all = append(all, id)
		}
	}
	return all
}

// some are first versions of n records of partition 0, all different.
func some(n int) (all []message) {
	for i, id := range ids(0, n) {
		all = append(all, record(id, 1, map[string]any{"net": 1000 + i, "tax": nil, "gross": nil, "allocations": []any{}}))
	}
	return all
}

// send produces messages that the tables must show in the end.
func (s *stage) send(messages ...message) {
	s.t.Helper()
	s.produce(messages...)
	s.model.take(messages...)
}

// await waits until something is so.
func (s *stage) await(what string, is func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(90 * time.Second); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// at reads where a partition's table and views are.
func (s *stage) at(partition int32) position.Positions {
	s.t.Helper()
	all, err := position.Read(context.Background(), s.db, store.Of(events.Records), []int32{partition})
	if err != nil {
		s.t.Fatal(err)
	}
	return all[partition]
}

// awaitState waits until the state table of partition 0 has come to a position.
func (s *stage) awaitState(at uint64) {
	s.t.Helper()
	s.await(fmt.Sprint("the table stands at ", at), func() bool { return s.at(0).State == at })
}

// awaitAll waits until the table and all its views have come to a position of partition 0.
func (s *stage) awaitAll(at uint64) {
	s.t.Helper()
	s.await(fmt.Sprint("table and views stand at ", at), func() bool { return s.stands(0, at) })
}

// stands tells whether the table and all its views are at a position.
func (s *stage) stands(partition int32, at uint64) bool {
	s.t.Helper()
	p := s.at(partition)
	for _, view := range p.Views {
		if view != int64(at) {
			return false
		}
	}
	return p.State == at
}

// player is a worker without a group.
type player struct {
	*Worker
	stage  *stage
	name   string
	db     *tampered
	latest *heads.Store
	stop   context.CancelFunc
	parts  sync.WaitGroup

	registry *prometheus.Registry

	mu    sync.Mutex
	hooks map[Step]func()
	dead  bool
}

// enter brings a player on the stage, with the heads that its name left there.
func (s *stage) enter(name string) *player {
	s.t.Helper()
	return s.enterOn(name, s.db)
}

func (s *stage) enterOn(name string, db Database) *player {
	s.t.Helper()
	latest, err := heads.Open(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	p := &player{stage: s, name: name, db: &tampered{Database: db}, latest: latest, registry: prometheus.NewRegistry(), hooks: map[Step]func(){}}
	if s.tamper != nil {
		s.tamper(p.db)
	}
	p.Worker, err = New(Options{
		Cluster: s.cluster, Servers: []Database{p.db}, Heads: latest, Group: "none", Entities: []*store.Entity{store.Of(events.Records)},
		Freshness: time.Millisecond, Log: s.log.With("player", name), Metrics: p.registry,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	p.observe = p.step
	p.pace.budget = 10_000
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.begin(ctx, &p.parts)
	s.t.Cleanup(p.die)
	return p
}

func (p *player) step(_ topicPartition, step Step) {
	p.mu.Lock()
	hook := p.hooks[step]
	delete(p.hooks, step)
	p.mu.Unlock()
	if hook != nil {
		hook()
	}
}

// once has something happen when the player next comes to a step; the player waits for it.
func (p *player) once(step Step, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hooks[step] = f
}

// own makes the player believe that it owns partitions, by default partition 0.
func (p *player) own(partitions ...int32) {
	if len(partitions) == 0 {
		partitions = []int32{0}
	}
	var all []topicPartition
	for _, n := range partitions {
		all = append(all, topicPartition{string(events.Records), n})
	}
	p.stage.generation++
	p.members.pause(0)
	p.members.begin(p.stage.generation, all, testPartitions)
	for _, tp := range all {
		p.startWriter(context.Background(), tp)
	}
}

// lose tells the player that it owns nothing any more.
func (p *player) lose() {
	p.stage.generation++
	p.members.pause(0)
	p.members.begin(p.stage.generation, nil, testPartitions)
}

// die ends the player without any farewell.
func (p *player) die() {
	p.mu.Lock()
	dead := p.dead
	p.dead = true
	p.mu.Unlock()
	if dead {
		return
	}
	p.stopWriters(func(topicPartition) bool { return true })
	p.stop()
	p.parts.Wait()
	_ = p.latest.Close()
	_ = p.sender.close()
	p.asking.Close()
}

// is tells what the player says of a partition.
func (p *player) is(partition int32) Status {
	for _, s := range p.Status() {
		if s.Partition == partition {
			return s
		}
	}
	return Status{}
}

// awaitCondition waits until the player says one of these of partition 0.
func (p *player) awaitCondition(conditions ...Condition) Condition {
	p.stage.t.Helper()
	var is Status
	p.stage.await(fmt.Sprint(p.name, " is one of ", conditions), func() bool {
		is = p.is(0)
		for _, c := range conditions {
			if is.Condition == c {
				return true
			}
		}
		return false
	})
	return is.Condition
}

// refusal says why a player does not write, "" when it does.
func (p *player) refusal() []string {
	if s := p.is(0); s.Condition != Standing {
		return []string{fmt.Sprintf("%s is %s: %s", p.name, s.Condition, s.Reason)}
	}
	return nil
}

// counted adds up what the player's metrics of a name say, whatever their labels.
func (p *player) counted(name string) float64 { return counted(p.stage.t, p.registry, name) }

func counted(t testing.TB, registry prometheus.Gatherer, name string) (n float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == "tallyhouse_ingest_"+name {
			for _, m := range f.GetMetric() {
				n += m.GetCounter().GetValue()
			}
		}
	}
	return n
}

// tampered is a database whose statements a scene sees, changes, loses or holds back on their way. It is where rules are left out: the
// worker has no switch for that.
type tampered struct {
	Database
	mu     sync.Mutex
	insert []func(st database.Statement, next inserting) (uint64, error)
	exec   []func(st database.Statement, next execing) error
	rows   []func(q database.Query, each eaching, next asking) error
}

type (
	inserting func(database.Statement) (uint64, error)
	execing   func(database.Statement) error
	eaching   func(scan func(...any) error) error
	asking    func(database.Query, eaching) error
)

func (d *tampered) Insert(ctx context.Context, st database.Statement) (uint64, error) {
	d.mu.Lock()
	layers := d.insert
	d.mu.Unlock()
	do := func(st database.Statement) (uint64, error) { return d.Database.Insert(ctx, st) }
	for _, layer := range layers {
		inner := do
		do = func(st database.Statement) (uint64, error) { return layer(st, inner) }
	}
	return do(st)
}

func (d *tampered) Exec(ctx context.Context, st database.Statement) error {
	d.mu.Lock()
	layers := d.exec
	d.mu.Unlock()
	do := func(st database.Statement) error { return d.Database.Exec(ctx, st) }
	for _, layer := range layers {
		inner := do
		do = func(st database.Statement) error { return layer(st, inner) }
	}
	return do(st)
}

func (d *tampered) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	d.mu.Lock()
	layers := d.rows
	d.mu.Unlock()
	do := func(q database.Query, each eaching) error { return d.Database.Rows(ctx, q, each) }
	for _, layer := range layers {
		inner := do
		do = func(q database.Query, each eaching) error { return layer(q, each, inner) }
	}
	return do(q, each)
}

func (d *tampered) onInsert(f func(database.Statement, inserting) (uint64, error)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.insert = append(d.insert[:len(d.insert):len(d.insert)], f)
}

func (d *tampered) onExec(f func(database.Statement, execing) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.exec = append(d.exec[:len(d.exec):len(d.exec)], f)
}

func (d *tampered) onRows(f func(database.Query, eaching, asking) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rows = append(d.rows[:len(d.rows):len(d.rows)], f)
}

// Which statement is it?
func isBatch(st database.Statement) bool { return st.Batch != nil }
func isRaise(st database.Statement) bool { return strings.Contains(st.SQL, "INSERT INTO fences") }
func isKill(st database.Statement) bool  { return strings.Contains(st.SQL, "KILL QUERY") }
func readsFences(q database.Query) bool  { return strings.Contains(q.SQL, "argMax(since") }
func readsBack(q database.Query) bool    { return strings.Contains(q.SQL, "AND owner = {owner:String}") }
func readsView(q database.Query, view string) bool {
	return strings.Contains(q.SQL, "toInt64(sum(position))\nFROM "+view+" ")
}

var errLostOnTheWay = errors.New("the connection broke")

// late is a statement whose sender believes that the connection broke, and that comes all the same.
type late struct {
	st      database.Statement
	sent    chan struct{}
	deliver func() (written uint64, err error)
}

// loseBatch loses the next batch on its way. Its sender hears of a broken connection, after then was called.
func (d *tampered) loseBatch(then func()) *late {
	l := &late{sent: make(chan struct{})}
	var once sync.Once
	d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
		mine := false
		if isBatch(st) {
			once.Do(func() { mine = true })
		}
		if !mine {
			return next(st)
		}
		l.st = st
		l.deliver = func() (uint64, error) { return next(st) }
		if then != nil {
			then()
		}
		close(l.sent)
		return 0, errLostOnTheWay
	})
	return l
}

// failure is closed when the next batch has come back with an error.
func (d *tampered) failure() <-chan struct{} {
	failed := make(chan struct{})
	var once sync.Once
	d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
		written, err := next(st)
		if isBatch(st) && err != nil {
			once.Do(func() { close(failed) })
		}
		return written, err
	})
	return failed
}

// slow is a batch that takes its time between seeing its conditions hold and writing.
type slow struct {
	stage *stage
	id    string
	sent  chan struct{}
}

const slowly = 2500 * time.Millisecond

// slowBatch makes the next batch slow.
func (d *tampered) slowBatch(s *stage) *slow {
	l := &slow{stage: s, sent: make(chan struct{})}
	var once sync.Once
	d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
		if isBatch(st) {
			once.Do(func() {
				l.id = st.ID
				st.SQL += fmt.Sprintf(" AND sleep(%.1f) = 0", slowly.Seconds())
				close(l.sent)
			})
		}
		return next(st)
	})
	return l
}

// begun waits until the slow batch has seen its conditions hold.
func (l *slow) begun() {
	<-l.sent
	l.stage.await("the slow insert runs", func() bool {
		return l.stage.count("SELECT count() FROM system.processes WHERE query_id = '"+l.id+"' AND elapsed > 0.3") > 0
	})
}

// runs tells whether it still does.
func (l *slow) runs() bool {
	return l.stage.count("SELECT count() FROM system.processes WHERE query_id = '"+l.id+"'") > 0
}

// fenceOf is a partition's fence that counts.
func (s *stage) fenceOf(partition int32) fence.Standing {
	s.t.Helper()
	all, err := fence.Read(context.Background(), s.db, string(events.Records))
	if err != nil {
		s.t.Fatal(err)
	}
	return all[partition]
}
