package worker

import (
	"context"
	"errors"
	"fmt"
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
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// # How the scenarios work
//
// A scenario is one interleaving of workers, holders and servers that could break exactly-once, produced step by step
// on the real engine and broker. What there is to know:
//
//   - world (harness_test.go) is a database, a broker and whatever workers a test starts in a consumer group.
//   - scenario is a world without a consumer group: the test decides which member believes to own which partition. It uses the topic of
//     records, and partition 0 unless it says otherwise.
//   - model (model_test.go) is told every message that is sent, and computes naively what the tables must hold. drift lists the
//     differences; check fails on any. Where there is none, both ask the project's own verify, which must find none either.
//   - member is a worker of a scenario. assign and revoke change what it believes to own, crash ends it without any clean-up, onStep runs
//     code when it next comes to a Step of the protocol (steps.go) and blocks it there.
//   - interceptor stands between a member and the database: it sees, changes, delays or drops statements (loseBatch, slowBatch, loseRaise,
//     slowRaise). Rules of the protocol are left out here, by changing the statement that carries the rule; the worker has no switches.
//   - proveRule runs a scenario twice: with all rules it must end without a symptom, with one rule left out (omitRule) it must end
//     with one, or it proves nothing. A symptom is drift from the model, or a member that refuses to write.
//   - Some scenarios need two statements to run at the same moment. They return whether they did (overlapped); proveRule repeats those that
//     didn't.
//
// A new scenario begins with newScenario or proveRule, sends messages, joins members, and ends with check or drift.

// proveRule runs the scenario with all rules of the protocol, where it must show no symptom, and with one rule left
// out, where it must.
func proveRule(t *testing.T, play func(s *scenario, omitRule bool) (symptoms []string, overlapped bool)) {
	t.Parallel()
	for _, omitRule := range []bool{false, true} {
		name := "with the rule nothing drifts"
		if omitRule {
			name = "without it something does"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			symptoms := playUntilOverlap(t, func(s *scenario) ([]string, bool) { return play(s, omitRule) })
			switch {
			case !omitRule && len(symptoms) > 0:
				t.Errorf("symptoms: %s", strings.Join(symptoms, "\n"))
			case omitRule && len(symptoms) == 0:
				t.Error("no symptom: the scenario proves nothing")
			}
		})
	}
}

// playUntilOverlap repeats a scenario in which two statements that had to run at the same moment did not, as happens on
// a busy machine.
func playUntilOverlap(t *testing.T, play func(*scenario) ([]string, bool)) []string {
	t.Helper()
	for range 10 {
		if symptoms, overlapped := play(newScenario(t)); overlapped {
			return symptoms
		}
	}
	t.Fatal("the statements of the scenario never overlapped")
	return nil
}

// scenario is a world whose members have no consumer group: the test decides who believes to own what. It uses the
// topic of records, and partition 0 unless it says otherwise.
type scenario struct {
	*world
	t          testing.TB
	model      *model
	generation int32
	intercept  func(*interceptor) // called with the database of every member; may be nil
	heads      latest.Options     // of members that join
	joined     []*member
}

var scenarioPartition = kafkalog.Partition{Topic: string(events.Records), Number: 0}

func newScenario(t testing.TB) *scenario {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	return newScenarioOn(t, addr, name, kafkatest.Start(t).Addr())
}

func newScenarioOn(t testing.TB, clickhouseAddr, name, kafkaAddr string) *scenario {
	t.Helper()
	s := &scenario{world: joinWorldWith(t, clickhouseAddr, name, kafkaAddr, trapped), t: t, model: newModel()}
	s.world.about, s.heads.Dir = s.about, s.dir
	return s
}

// about says what the members are about.
func (s *scenario) about() string {
	var all []string
	for _, m := range s.joined {
		for _, is := range m.Status() {
			all = append(all, fmt.Sprintf("%s is in partition %d %s at %d: %s", m.name, is.Partition, is.Condition, is.Position, is.Reason))
		}
	}
	return strings.Join(all, "; ")
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

// someRecords are first versions of n records of partition 0, all different.
func someRecords(n int) (all []message) {
	for i, id := range ids(0, n) {
		all = append(all, record(id, 1, map[string]any{"net": 1000 + i, "tax": nil, "gross": nil, "allocations": []any{}}))
	}
	return all
}

// send produces messages that the tables must show in the end.
func (s *scenario) send(messages ...message) {
	s.t.Helper()
	s.produce(messages...)
	s.model.take(messages...)
}

// at reads the positions of a partition's table and views.
func (s *scenario) at(partition int32) position.Positions {
	s.t.Helper()
	all, err := position.Read(context.Background(), s.db, store.Of(events.Records), []int32{partition})
	if err != nil {
		s.t.Fatal(err)
	}
	return all[partition]
}

// awaitTable waits until the state table has reached a position in partition 0.
func (s *scenario) awaitTable(at uint64) {
	s.t.Helper()
	s.await(fmt.Sprint("the table is at ", at), func() bool { return s.at(0).State == at })
}

// awaitAll waits until the table and all its views have reached a position in partition 0.
func (s *scenario) awaitAll(at uint64) {
	s.t.Helper()
	s.await(fmt.Sprint("table and views are at ", at), func() bool { return s.reached(0, at) })
}

// reached reports whether the table and all its views are at a position.
func (s *scenario) reached(partition int32, at uint64) bool {
	s.t.Helper()
	p := s.at(partition)
	return p.State == at && p.Level()
}

// member is a worker without a consumer group.
type member struct {
	*Worker
	scenario *scenario
	name     string
	db       *interceptor
	stop     context.CancelFunc
	parts    sync.WaitGroup

	registry *prometheus.Registry

	mu      sync.Mutex
	hooks   map[Step]func()
	paused  sleeper // nil: it sleeps
	crashed bool
}

// join brings a member into the scenario.
func (s *scenario) join(name string) *member {
	s.t.Helper()
	return s.joinOn(name, s.db)
}

// writing is a new member that has partition 0, after it wrote these messages.
func (s *scenario) writing(name string, messages ...message) *member {
	s.t.Helper()
	s.send(messages...)
	m := s.join(name)
	m.assign()
	s.awaitAll(uint64(len(messages)))
	return m
}

// joinOn brings in a member that writes to these shards; the interceptor stands before the first.
func (s *scenario) joinOn(name string, shards ...Database) *member {
	s.t.Helper()
	var err error
	p := &member{scenario: s, name: name, db: &interceptor{Database: shards[0]}, registry: prometheus.NewRegistry(), hooks: map[Step]func(){}}
	if s.intercept != nil {
		s.intercept(p.db)
	}
	p.Worker, err = New(Options{
		Cluster: s.cluster, Servers: append([]Database{p.db}, shards[1:]...), Heads: s.heads, Group: "none",
		Entities: []*store.Entity{store.Of(events.Records)}, Freshness: time.Millisecond, Log: s.log.With("player", name), Metrics: p.registry,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	p.observe, p.sleep = p.step, p.pause
	p.pace.budget = 10_000
	ctx, stop := context.WithCancel(context.Background())
	p.stop = stop
	p.startParts(ctx, &p.parts)
	s.joined = append(s.joined, p)
	s.t.Cleanup(p.crash)
	return p
}

func (m *member) step(_ kafkalog.Partition, step Step) {
	m.mu.Lock()
	hook := m.hooks[step]
	delete(m.hooks, step)
	m.mu.Unlock()
	if hook != nil {
		hook()
	}
}

// onStep runs f when the member next comes to a step; the member waits for it.
func (m *member) onStep(step Step, f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.hooks[step] = f
}

func (m *member) pause(ctx context.Context, tp kafkalog.Partition, d time.Duration, progress func()) {
	m.mu.Lock()
	pause := m.paused
	m.mu.Unlock()
	if pause == nil {
		pause = sleepAlive
	}
	pause(ctx, tp, d, progress)
}

// pauses are the pauses of a member between two attempts at partition 0, which the scenario ends.
type pauses struct {
	member *member
	begun  chan time.Duration
	over   chan struct{}
}

// pauseByHand makes the member's pauses last until the scenario ends them.
func (m *member) pauseByHand() *pauses {
	p := &pauses{m, make(chan time.Duration), make(chan struct{})}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = func(ctx context.Context, tp kafkalog.Partition, d time.Duration, _ func()) {
		if tp != scenarioPartition {
			return
		}
		select {
		case p.begun <- d:
		case <-ctx.Done():
		}
		select {
		case <-p.over:
		case <-ctx.Done():
		}
	}
	return p
}

// next waits for a pause, and is how long it would be.
func (p *pauses) next() (d time.Duration) {
	s := p.member.scenario
	s.t.Helper()
	select {
	case d = <-p.begun:
	case <-time.After(patience):
		s.giveUp(p.member.name + " pauses")
	}
	return d
}

// end ends the pause that next returned.
func (p *pauses) end() {
	s := p.member.scenario
	s.t.Helper()
	select {
	case p.over <- struct{}{}:
	case <-time.After(patience):
		s.giveUp(p.member.name + " goes on after its pause")
	}
}

// assign makes the member believe that it owns partitions, by default partition 0.
func (m *member) assign(partitions ...int32) {
	if len(partitions) == 0 {
		partitions = []int32{0}
	}
	var all []kafkalog.Partition
	for _, n := range partitions {
		all = append(all, kafkalog.Partition{Topic: string(events.Records), Number: n})
	}
	m.scenario.generation++
	m.members.pause(0)
	m.members.begin(m.scenario.generation, all, testPartitions)
	for _, tp := range all {
		m.keepWriting(tp, m.scenario.generation)
	}
}

// keepWriting starts a partition's writer, and a second one where the first was about to end: it had learned a moment
// ago that the partition was lost. A worker in a group ends such writers before the next generation begins.
func (m *member) keepWriting(tp kafkalog.Partition, generation int32) {
	m.startWriter(context.Background(), tp)
	m.Worker.mu.Lock()
	first := m.writers[tp]
	m.Worker.mu.Unlock()
	go func() {
		<-first.done
		m.Worker.mu.Lock()
		stopped := m.writers[tp] != first
		m.Worker.mu.Unlock()
		m.members.mu.Lock()
		over := m.members.generation != generation
		m.members.mu.Unlock()
		if !stopped && !over {
			m.startWriter(context.Background(), tp)
		}
	}()
}

// revoke makes the member learn that it owns nothing any more.
func (m *member) revoke() {
	m.scenario.generation++
	m.members.pause(0)
	m.members.begin(m.scenario.generation, nil, testPartitions)
}

// hasEnded reports whether the member's writer of a partition has learned that it lost it, and ended.
func (m *member) hasEnded(partition int32) bool {
	m.Worker.mu.Lock()
	defer m.Worker.mu.Unlock()
	r := m.writers[kafkalog.Partition{Topic: scenarioPartition.Topic, Number: partition}]
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// crash ends the member without draining or releasing anything.
func (m *member) crash() {
	m.mu.Lock()
	crashed := m.crashed
	m.crashed = true
	m.mu.Unlock()
	if crashed {
		return
	}
	ended := make(chan struct{})
	go func() {
		m.stopWriters(context.Background(), func(kafkalog.Partition) bool { return true })
		m.stop()
		m.parts.Wait()
		_ = m.sender.close()
		m.admin.Close()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		m.scenario.t.Errorf("%s doesn't end", m.name)
	}
}

// statusOf is what the member reports of a partition.
func (m *member) statusOf(partition int32) Status {
	for _, s := range m.Status() {
		if s.Partition == partition {
			return s
		}
	}
	return Status{}
}

// awaitCondition waits until the member reports one of these conditions of partition 0.
func (m *member) awaitCondition(conditions ...Condition) Condition {
	m.scenario.t.Helper()
	var is Status
	m.scenario.await(fmt.Sprint(m.name, " is one of ", conditions), func() bool {
		is = m.statusOf(0)
		for _, c := range conditions {
			if is.Condition == c {
				return true
			}
		}
		return false
	})
	return is.Condition
}

// refusal says why a member does not write, "" when it does.
func (m *member) refusal() []string {
	if s := m.statusOf(0); s.Condition != Running {
		return []string{fmt.Sprintf("%s is %s: %s", m.name, s.Condition, s.Reason)}
	}
	return nil
}

// counter is the sum of the member's counters of a name over all labels.
func (m *member) counter(name string) float64 { return counter(m.scenario.t, m.registry, name) }

func counter(t testing.TB, registry prometheus.Gatherer, name string) (n float64) {
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

// interceptor is a database whose statements a scenario sees, changes, loses or delays on their way.
type interceptor struct {
	Database
	mu     sync.Mutex
	insert []func(st database.Statement, next insertFunc) (uint64, error)
	exec   []func(st database.Statement, next execFunc) error
	rows   []func(q database.Query, each rowFunc, next queryFunc) error
}

type (
	insertFunc func(database.Statement) (uint64, error)
	execFunc   func(database.Statement) error
	rowFunc    func(scan func(...any) error) error
	queryFunc  func(database.Query, rowFunc) error
)

func (i *interceptor) Insert(ctx context.Context, st database.Statement) (uint64, error) {
	i.mu.Lock()
	layers := i.insert
	i.mu.Unlock()
	ctx = context.WithoutCancel(ctx) // what is delivered late arrives whatever became of its sender
	do := func(st database.Statement) (uint64, error) { return i.Database.Insert(ctx, st) }
	for _, layer := range layers {
		inner := do
		do = func(st database.Statement) (uint64, error) { return layer(st, inner) }
	}
	return do(st)
}

func (i *interceptor) Exec(ctx context.Context, st database.Statement) error {
	i.mu.Lock()
	layers := i.exec
	i.mu.Unlock()
	ctx = context.WithoutCancel(ctx)
	do := func(st database.Statement) error { return i.Database.Exec(ctx, st) }
	for _, layer := range layers {
		inner := do
		do = func(st database.Statement) error { return layer(st, inner) }
	}
	return do(st)
}

func (i *interceptor) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	i.mu.Lock()
	layers := i.rows
	i.mu.Unlock()
	do := func(q database.Query, each rowFunc) error { return i.Database.Rows(ctx, q, each) }
	for _, layer := range layers {
		inner := do
		do = func(q database.Query, each rowFunc) error { return layer(q, each, inner) }
	}
	return do(q, each)
}

func (i *interceptor) onInsert(f func(database.Statement, insertFunc) (uint64, error)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.insert = append(i.insert[:len(i.insert):len(i.insert)], f)
}

func (i *interceptor) onExec(f func(database.Statement, execFunc) error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.exec = append(i.exec[:len(i.exec):len(i.exec)], f)
}

func (i *interceptor) onRows(f func(database.Query, rowFunc, queryFunc) error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.rows = append(i.rows[:len(i.rows):len(i.rows)], f)
}

// Which statement is it?
func isBatch(st database.Statement) bool { return st.Batch != nil }
func isRaise(st database.Statement) bool { return strings.Contains(st.SQL, "INSERT INTO fences") }
func isKill(st database.Statement) bool  { return strings.Contains(st.SQL, "KILL QUERY") }
func readsFences(q database.Query) bool  { return strings.Contains(q.SQL, "argMax(since") }
func readsBack(q database.Query) bool    { return strings.Contains(q.SQL, "AND owner = {owner:String}") }
func readsView(q database.Query) bool    { return strings.Contains(q.SQL, "toString(sum(squares))") }

var errLostOnTheWay = errors.New("the connection broke")

// delayed is a statement whose sender believes that the connection broke, and that arrives all the same.
type delayed struct {
	st      database.Statement
	sent    chan struct{}
	deliver func() (written uint64, err error)
}

// loseBatch loses the next batch on its way. Its sender gets a broken connection, after then was called.
func (i *interceptor) loseBatch(then func()) *delayed { return i.lose(isBatch, then) }

// lose is loseBatch for another statement.
func (i *interceptor) lose(which func(database.Statement) bool, then func()) *delayed {
	l := &delayed{sent: make(chan struct{})}
	var once sync.Once
	i.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		mine := false
		if which(st) {
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
func (i *interceptor) failure() <-chan struct{} {
	failed := make(chan struct{})
	var once sync.Once
	i.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
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
	scenario *scenario
	id       string
	sent     chan struct{}
}

const slowTime = 2500 * time.Millisecond

// slowBatch makes the next batch slow.
func (i *interceptor) slowBatch(s *scenario) *slow {
	l := &slow{scenario: s, sent: make(chan struct{})}
	var once sync.Once
	i.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		if isBatch(st) {
			once.Do(func() {
				l.id = st.ID
				st.SQL += fmt.Sprintf(" AND sleep(%.1f) = 0", slowTime.Seconds())
				close(l.sent)
			})
		}
		return next(st)
	})
	return l
}

// begun waits until the slow batch has seen its conditions hold.
func (l *slow) begun() {
	l.scenario.awaitEvent("the slow insert is sent", l.sent)
	l.scenario.await("the slow insert runs", func() bool {
		return l.scenario.count("SELECT count() FROM system.processes WHERE query_id = '"+l.id+"' AND elapsed > 0.3") > 0
	})
}

// runs reports whether it still does.
func (l *slow) runs() bool {
	return l.scenario.count("SELECT count() FROM system.processes WHERE query_id = '"+l.id+"'") > 0
}

// fenceOf is a partition's fence that counts.
func (s *scenario) fenceOf(partition int32) fence.Current {
	s.t.Helper()
	all, err := fence.Read(context.Background(), s.db, string(events.Records))
	if err != nil {
		s.t.Fatal(err)
	}
	return all[partition]
}
