package worker

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
	kafkalog "tallyhouse/schemas/kafka"
)

// replaced leaves out what a statement that brings a batch says.
func replaced(what, by string) func(*interceptor) {
	return func(d *interceptor) {
		d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
			if isBatch(st) {
				if !strings.Contains(st.SQL, what) {
					return 0, fmt.Errorf("the insert does not say %q", what)
				}
				st.SQL = strings.Replace(st.SQL, what, by, 1)
			}
			return next(st)
		})
	}
}

// An insert whose sender gave up arrives while the next owner's insert of the same offsets runs: both see the position
// where they expect it. Only the fence tells them apart.
func TestScenarioFence(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = replaced(fence.Counts, "1")
		}
		s.send(someRecords(3)...)
		a, b := s.join("a"), s.join("b")
		lost := a.db.loseBatch(a.revoke)
		a.assign()
		s.awaitEvent("the insert is lost", lost.sent)
		slow := b.db.slowBatch(s)
		b.assign()
		slow.begun()
		if written, err := lost.deliver(); err != nil || (written > 0) != omitRule {
			s.t.Fatalf("the late insert wrote %d rows: %v", written, err)
		}
		overlapped := slow.runs()
		b.awaitCondition(Running)
		s.await("the slow insert has ended", func() bool { return !slow.runs() })
		s.awaitTable(3)
		return s.drift(s.model), overlapped
	})
}

// A writer loses its own insert, recovers and inserts the same offsets again; then the lost one arrives.
func TestScenarioFreshFenceAfterOnesOwnFailure(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = keepClaim
		}
		s.send(someRecords(3)...)
		a := s.join("a")
		slow := a.db.slowBatch(s) // the second one: the first is lost before it comes here
		lost := a.db.loseBatch(nil)
		a.assign()
		s.awaitEvent("the insert is lost", lost.sent)
		slow.begun()
		written, err := lost.deliver()
		if err != nil || (written > 0) != omitRule {
			s.t.Fatalf("the late insert wrote %d rows: %v", written, err)
		}
		overlapped := slow.runs()
		s.await("the slow insert has ended", func() bool { return !slow.runs() })
		s.awaitTable(3)
		return s.drift(s.model), overlapped
	})
}

// keepClaim keeps the fence that a writer put up first.
func keepClaim(d *interceptor) {
	var mu sync.Mutex
	first := ""
	d.onExec(func(st database.Statement, next execFunc) error {
		mu.Lock()
		defer mu.Unlock()
		if isRaise(st) {
			if first != "" {
				return nil
			}
			first = st.Params["owner"]
		}
		return next(st)
	})
	old := func(p database.Params) database.Params {
		mu.Lock()
		defer mu.Unlock()
		return p.With(database.Params{"owner": first})
	}
	d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
		if readsBack(q) {
			q.Params = old(q.Params)
		}
		return next(q, each)
	})
	d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
		if _, ok := st.Params["owner"]; ok {
			st.Params = old(st.Params)
		}
		return next(st)
	})
}

// An insert has written its rows and still works on a view when another owner takes over.
func TestScenarioKill(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = func(d *interceptor) {
				d.onExec(func(st database.Statement, next execFunc) error {
					if isKill(st) {
						return nil
					}
					return next(st)
				})
				d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
					if strings.Contains(q.SQL, "count() FROM system.processes") {
						q.SQL = "SELECT toUInt64(0)"
					}
					return next(q, each)
				})
			}
		}
		runs := func() bool {
			prefix := fence.TopicPrefix(s.db, scenarioPartition.Topic)
			return s.count("SELECT count() FROM system.processes WHERE startsWith(query_id, '"+prefix+"')") > 0
		}
		s.exec("INSERT INTO nap VALUES (2.9)")
		s.send(someRecords(3)...)
		a, b := s.join("a"), s.join("b")
		a.assign()
		s.awaitTable(3)
		s.exec("TRUNCATE TABLE nap")
		a.revoke()
		overlapped := false
		look := StepKill
		if omitRule {
			look = StepMend
		}
		b.onStep(look, func() { overlapped = runs() })
		b.assign()
		b.awaitCondition(Running)
		s.await("nothing runs any more", func() bool { return !runs() })
		return s.drift(s.model), overlapped
	})
}

// The tables are taken back to an older state while a worker runs, as a restored backup does.
func TestScenarioPositionCondition(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		e := store.Of(events.Records)
		if omitRule {
			s.intercept = replaced(position.StateIs(e.Table), "1")
		}
		messages := someRecords(5)
		s.writing("a", messages[:3]...)
		s.exec("TRUNCATE TABLE records")
		s.exec("TRUNCATE TABLE sums")
		s.send(messages[3:]...)
		s.awaitTable(5)
		if !omitRule {
			s.awaitAll(5)
		}
		return s.drift(s.model), true
	})
}

// An insert fails in a view, after its rows are written.
func TestScenarioMending(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = func(d *interceptor) {
				d.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
					if readsView(q) {
						q.SQL = "SELECT concat('#records/', substring(project, 2)), toString(max(row_version))," +
							" toString(max(row_version) * max(row_version)) FROM records WHERE tenant = '' AND has({keys:Array(String)}, concat('#records/', substring(project, 2))) GROUP BY project"
					}
					return next(q, each)
				})
			}
		}
		messages := someRecords(5)
		s.exec("INSERT INTO bomb VALUES ('records')")
		s.send(messages[:3]...)
		a := s.join("a")
		failed := a.db.failure()
		a.assign()
		s.awaitEvent("the insert fails", failed)
		s.exec("TRUNCATE TABLE bomb")
		s.send(messages[3:]...)
		s.awaitTable(5)
		s.await("what the insert does is done", func() bool { return a.statusOf(0).Position == 5 })
		if !omitRule && a.counter("views_mended_total") == 0 {
			s.t.Error("no view was mended")
		}
		return s.drift(s.model), true
	})
}

// Another writer brought in a batch while this one believed to own the partition. Its heads say how far they have come,
// and take in what they lack; without the rule they say that they lack nothing.
func TestScenarioHeadsPosition(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		id := ids(0, 1)[0]
		s.send(record(id, 1, map[string]any{"net": 1000, "allocations": []any{}}))
		a, b := s.join("a"), s.join("b")
		a.assign()
		s.awaitAll(1)
		a.members.pause(0) // it keeps its heads, and writes nothing
		b.assign()
		b.awaitCondition(Running)
		s.send(record(id, 2, map[string]any{"net": 2000, "allocations": []any{}}))
		s.awaitAll(2)
		b.revoke()
		a.onStep(StepHeads, func() {
			if omitRule {
				a.headsOf(0).position = 2
			}
		})
		a.assign()
		s.send(record(id, 3, map[string]any{"net": 4000, "allocations": []any{}}))
		s.awaitAll(3)
		return s.drift(s.model), true
	})
}

// headsOf are the heads of a partition. They may be changed while the partition recovers.
func (m *member) headsOf(partition int32) *heads { return m.writerOf(partition).heads }

// writerOf is the writer of a partition. It may be changed at a step, for which it waits.
func (m *member) writerOf(partition int32) *writer {
	m.Worker.mu.Lock()
	defer m.Worker.mu.Unlock()
	return m.writers[kafkalog.Partition{Topic: scenarioPartition.Topic, Number: partition}].writer
}

// A writer about to insert is overtaken by one that reads the log when its first message is gone already. Both batches
// end at the same position; the position alone does not say whose it is.
func TestScenarioAnInsertCountsOnlyWhenItWrote(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = func(d *interceptor) {
				d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
					written, err := next(st)
					if first, _ := strconv.ParseUint(st.Params["first"], 10, 64); isBatch(st) && err == nil && written == 0 && s.at(0).State > first {
						return 1, nil
					}
					return written, err
				})
			}
		}
		messages := someRecords(3)
		id := ids(0, 1)[0]
		s.produce(messages[0])
		s.send(messages[1:]...)
		a, b := s.join("a"), s.join("b")
		overtaken := make(chan struct{})
		a.onStep(StepInsert, func() {
			defer close(overtaken)
			s.deleteRecords(0, 1)
			b.assign()
			s.awaitAll(3)
			b.revoke()
		})
		a.assign()
		s.awaitEvent("it is overtaken", overtaken)
		s.send(record(id, 2, map[string]any{"net": 500, "allocations": []any{}}))
		s.awaitAll(4)
		return s.drift(s.model), true
	})
}

// deleteRecords makes the log of a partition begin later.
func (s *scenario) deleteRecords(partition int32, start int64) {
	s.t.Helper()
	client, err := newAdminClient(s.cluster)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = scenarioPartition.Topic
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, start
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	r, err := req.RequestWith(context.Background(), client)
	if err != nil || len(r.Topics) != 1 || r.Topics[0].Partitions[0].ErrorCode != 0 {
		s.t.Fatalf("delete records: %+v, %v", r, err)
	}
}

// Between a recovery's look at the table and its look at the views another writer takes over and brings a batch in:
// together the positions look inconsistent, but they were not read in one snapshot.
func TestScenarioStopOnlyWhileTheFenceIsOnesOwn(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		messages := someRecords(4)
		s.send(messages[:3]...)
		a, b := s.join("a"), s.join("b")
		var once sync.Once
		inconsistent := false
		a.db.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
			if readsView(q) {
				once.Do(func() {
					b.assign()
					s.awaitAll(3)
					b.revoke()
					inconsistent = true
				})
			}
			return next(q, each)
		})
		if omitRule { // the check whether the fence still counts finds that it does
			var mu sync.Mutex
			claim := database.Params{}
			a.db.onExec(func(st database.Statement, next execFunc) error {
				if isRaise(st) {
					mu.Lock()
					claim = st.Params
					mu.Unlock()
				}
				return next(st)
			})
			a.db.onRows(func(q database.Query, each rowFunc, next queryFunc) error {
				if readsFences(q) && inconsistent {
					mu.Lock()
					q.SQL = "SELECT toUInt32(0), toUInt64(1), {owner:String}, false, now64(3)"
					q.Params = database.Params{"owner": claim["owner"]}
					inconsistent = false
					mu.Unlock()
				}
				return next(q, each)
			})
		}
		a.assign()
		if a.awaitCondition(Running, Stopped) == Stopped {
			return a.refusal(), true
		}
		s.send(messages[3])
		s.awaitAll(4)
		return s.drift(s.model), true
	})
}

// An insert that comes in several blocks fails between two of them: half of it is there, and no position shows that.
// One block is there or isn't.
func TestScenarioSingleBlock(t *testing.T) {
	proveRule(t, func(s *scenario, omitRule bool) ([]string, bool) {
		if omitRule {
			s.intercept = func(d *interceptor) {
				d.onInsert(func(st database.Statement, next insertFunc) (uint64, error) {
					if isBatch(st) {
						st.SQL += " SETTINGS use_strict_insert_block_limits = 1, max_insert_block_size = 1, min_insert_block_size_rows = 1"
					}
					return next(st)
				})
			}
		}
		messages := someRecords(8)
		s.send(messages[:6]...)
		// One row is refused, so that the position row, which comes last, is never reached.
		s.exec("ALTER TABLE records ADD CONSTRAINT refused CHECK id != '" + ids(0, 1)[0] + "'")
		a := s.join("a")
		failed := a.db.failure()
		a.assign()
		s.awaitEvent("the insert fails", failed)
		if omitRule {
			s.await("a part of the batch is written", func() bool { return s.count("SELECT count() FROM records") > 0 })
		} else if n := s.count("SELECT count() FROM records"); n > 0 {
			s.t.Errorf("%d rows of a batch that failed are there", n)
		}
		s.exec("ALTER TABLE records DROP CONSTRAINT refused")
		s.awaitTable(6)
		s.send(messages[6:]...)
		s.awaitTable(8)
		s.await("what the insert does is done", func() bool { return a.statusOf(0).Position == 8 })
		return s.drift(s.model), true
	})
}
