package worker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/heads"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

// replaced leaves out what a statement that brings a batch says.
func replaced(what, by string) func(*tampered) {
	return func(d *tampered) {
		d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
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

// An insert whose sender gave up arrives while the next owner's insert of the same offsets runs: both see the position where they
// expect it. Only the fence tells them apart.
func TestSceneFence(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = replaced(fence.Counts, "1")
		}
		s.send(some(3)...)
		a, b := s.enter("a"), s.enter("b")
		lost := a.db.loseBatch(a.lose)
		a.own()
		<-lost.sent
		slow := b.db.slowBatch(s)
		b.own()
		slow.begun()
		if written, err := lost.deliver(); err != nil || (written > 0) != without {
			s.t.Fatalf("the late insert wrote %d rows: %v", written, err)
		}
		met := slow.runs()
		b.awaitCondition(Standing)
		s.await("the slow insert has ended", func() bool { return !slow.runs() })
		s.awaitState(3)
		return s.drift(s.model), met
	})
}

// A writer loses its own insert, recovers and inserts the same offsets again; then the lost one arrives.
func TestSceneFreshFenceAfterOnesOwnFailure(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = keepClaim
		}
		s.send(some(3)...)
		a := s.enter("a")
		slow := a.db.slowBatch(s) // the second one: the first is lost before it comes here
		lost := a.db.loseBatch(nil)
		a.own()
		<-lost.sent
		slow.begun()
		written, err := lost.deliver()
		if err != nil || (written > 0) != without {
			s.t.Fatalf("the late insert wrote %d rows: %v", written, err)
		}
		met := slow.runs()
		s.await("the slow insert has ended", func() bool { return !slow.runs() })
		s.awaitState(3)
		return s.drift(s.model), met
	})
}

// keepClaim keeps the fence that a writer put up first.
func keepClaim(d *tampered) {
	var mu sync.Mutex
	first := ""
	d.onExec(func(st database.Statement, next execing) error {
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
	d.onRows(func(q database.Query, each eaching, next asking) error {
		if readsBack(q) {
			q.Params = old(q.Params)
		}
		return next(q, each)
	})
	d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
		if _, ok := st.Params["owner"]; ok {
			st.Params = old(st.Params)
		}
		return next(st)
	})
}

// An insert has written its rows and still works on a view when another owner takes over.
func TestSceneKill(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = func(d *tampered) {
				d.onExec(func(st database.Statement, next execing) error {
					if isKill(st) {
						return nil
					}
					return next(st)
				})
				d.onRows(func(q database.Query, each eaching, next asking) error {
					if strings.Contains(q.SQL, "count() FROM system.processes") {
						q.SQL = "SELECT toUInt64(0)"
					}
					return next(q, each)
				})
			}
		}
		runs := func() bool {
			return s.count("SELECT count() FROM system.processes WHERE startsWith(query_id, '"+fence.TopicPrefix(s.db, scenePartition.topic)+"')") > 0
		}
		s.exec("INSERT INTO nap VALUES (2.9)")
		s.send(some(3)...)
		a, b := s.enter("a"), s.enter("b")
		a.own()
		s.awaitState(3)
		s.exec("TRUNCATE TABLE nap")
		a.lose()
		met := false
		look := StepKill
		if without {
			look = StepMend
		}
		b.once(look, func() { met = runs() })
		b.own()
		b.awaitCondition(Standing)
		s.await("nothing runs any more", func() bool { return !runs() })
		return s.drift(s.model), met
	})
}

// The tables are taken back to an older state while a worker runs, as a restored backup does.
func TestScenePositionCondition(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		e := store.Of(events.Records)
		if without {
			s.tamper = replaced(position.StateIs(e.Table), "1")
		}
		messages := some(5)
		s.send(messages[:3]...)
		a := s.enter("a")
		a.own()
		s.awaitAll(3)
		s.exec("TRUNCATE TABLE records")
		for _, v := range e.Views() {
			s.exec("TRUNCATE TABLE " + v.Name)
		}
		s.send(messages[3:]...)
		s.awaitState(5)
		if !without {
			s.awaitAll(5)
		}
		return s.drift(s.model), true
	})
}

// An insert fails in a view, after its rows are written.
func TestSceneMending(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = func(d *tampered) {
				d.onRows(func(q database.Query, each eaching, next asking) error {
					if readsView(q, "record_months") {
						q.SQL = "SELECT project, toInt64(max(row_version)) FROM records WHERE tenant = '' AND project IN {keys:Array(String)} GROUP BY project"
					}
					return next(q, each)
				})
			}
		}
		messages := some(5)
		s.exec("INSERT INTO bomb VALUES ('record_months')")
		s.send(messages[:3]...)
		a := s.enter("a")
		failed := a.db.failure()
		a.own()
		<-failed
		s.exec("TRUNCATE TABLE bomb")
		s.send(messages[3:]...)
		s.awaitState(5)
		s.await("what the insert does is done", func() bool { return a.is(0).Position == 5 })
		if !without && a.counted("views_mended_total") == 0 {
			s.t.Error("no view was mended")
		}
		return s.drift(s.model), true
	})
}

// A writer comes back with heads of an older day. Their mark says so; without the rule it lies.
func TestSceneHeadsPosition(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		id := ids(0, 1)[0]
		s.send(record(id, 1, map[string]any{"net": 1000, "allocations": []any{}}))
		a := s.enter("a")
		a.own()
		s.awaitAll(1)
		a.die()
		if err := os.CopyFS(filepath.Join(s.dir, "an older day"), os.DirFS(filepath.Join(s.dir, "a"))); err != nil {
			s.t.Fatal(err)
		}
		s.send(record(id, 2, map[string]any{"net": 2000, "allocations": []any{}}))
		b := s.enter("a")
		b.own()
		s.awaitAll(2)
		b.die()
		if without {
			s.mark("an older day", func(m heads.Mark) heads.Mark { return heads.Mark{Life: m.Life, Position: 2} })
		}
		s.send(record(id, 3, map[string]any{"net": 4000, "allocations": []any{}}))
		c := s.enter("an older day")
		c.own()
		s.awaitAll(3)
		return s.drift(s.model), true
	})
}

// mark changes what the heads of partition 0 in a directory say that they are good for.
func (s *stage) mark(dir string, change func(heads.Mark) heads.Mark) {
	s.t.Helper()
	latest, err := heads.Open(filepath.Join(s.dir, dir))
	if err != nil {
		s.t.Fatal(err)
	}
	p := latest.Of(scenePartition.topic, 0)
	m, ok, err := p.Mark()
	if err != nil || !ok {
		s.t.Fatal(ok, err)
	}
	if err := p.Update().Commit(change(m)); err != nil {
		s.t.Fatal(err)
	}
	if err := latest.Close(); err != nil {
		s.t.Fatal(err)
	}
}

// A writer about to insert is overtaken by one that reads the log when its first message is gone already. Both batches end at the same
// position; the position alone does not say whose it is.
func TestSceneAnInsertCountsOnlyWhenItWrote(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = func(d *tampered) {
				d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
					written, err := next(st)
					if first, _ := strconv.ParseUint(st.Params["first"], 10, 64); isBatch(st) && err == nil && written == 0 && s.at(0).State > first {
						return 1, nil
					}
					return written, err
				})
			}
		}
		messages := some(3)
		id := ids(0, 1)[0]
		s.produce(messages[0])
		s.send(messages[1:]...)
		a, b := s.enter("a"), s.enter("b")
		overtaken := make(chan struct{})
		a.once(StepInsert, func() {
			defer close(overtaken)
			s.deleteRecords(0, 1)
			b.own()
			s.awaitAll(3)
			b.lose()
		})
		a.own()
		<-overtaken
		s.send(record(id, 2, map[string]any{"net": 500, "allocations": []any{}}))
		s.awaitAll(4)
		return s.drift(s.model), true
	})
}

// deleteRecords makes the log of a partition begin later.
func (s *stage) deleteRecords(partition int32, start int64) {
	s.t.Helper()
	client, err := newAsking(s.cluster)
	if err != nil {
		s.t.Fatal(err)
	}
	defer client.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = 10_000
	topic := kmsg.NewDeleteRecordsRequestTopic()
	topic.Topic = scenePartition.topic
	p := kmsg.NewDeleteRecordsRequestTopicPartition()
	p.Partition, p.Offset = partition, start
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	r, err := req.RequestWith(context.Background(), client)
	if err != nil || len(r.Topics) != 1 || r.Topics[0].Partitions[0].ErrorCode != 0 {
		s.t.Fatalf("delete records: %+v, %v", r, err)
	}
}

// Between a recovery's look at the table and its look at the views another writer takes over and brings a batch in: together the
// positions are strange, but they are no one snapshot.
func TestSceneStopOnlyWhileTheFenceIsOnesOwn(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		messages := some(4)
		s.send(messages[:3]...)
		a, b := s.enter("a"), s.enter("b")
		var once sync.Once
		strange := false
		a.db.onRows(func(q database.Query, each eaching, next asking) error {
			if readsView(q, "record_sums") {
				once.Do(func() {
					b.own()
					s.awaitAll(3)
					b.lose()
					strange = true
				})
			}
			return next(q, each)
		})
		if without { // the look whether the fence still counts finds that it does
			var mu sync.Mutex
			claim := database.Params{}
			a.db.onExec(func(st database.Statement, next execing) error {
				if isRaise(st) {
					mu.Lock()
					claim = st.Params
					mu.Unlock()
				}
				return next(st)
			})
			a.db.onRows(func(q database.Query, each eaching, next asking) error {
				if readsFences(q) && strange {
					mu.Lock()
					q.SQL = "SELECT toUInt32(0), toUInt64(1), {owner:String}, false, now64(3)"
					q.Params = database.Params{"owner": claim["owner"]}
					strange = false
					mu.Unlock()
				}
				return next(q, each)
			})
		}
		a.own()
		if a.awaitCondition(Standing, Stopped) == Stopped {
			return a.refusal(), true
		}
		s.send(messages[3])
		s.awaitAll(4)
		return s.drift(s.model), true
	})
}

// An insert that comes in several blocks fails between two of them: half of it is there, and no position shows that. One block is there
// or isn't.
func TestSceneSingleBlock(t *testing.T) {
	playTwice(t, func(s *stage, without bool) ([]string, bool) {
		if without {
			s.tamper = func(d *tampered) {
				d.onInsert(func(st database.Statement, next inserting) (uint64, error) {
					if isBatch(st) {
						st.SQL += " SETTINGS use_strict_insert_block_limits = 1, max_insert_block_size = 1, min_insert_block_size_rows = 1"
					}
					return next(st)
				})
			}
		}
		messages := some(8)
		s.send(messages[:6]...)
		// One row is refused, so that the position row, which comes last, is never reached.
		s.exec("ALTER TABLE records ADD CONSTRAINT refused CHECK id != '" + ids(0, 1)[0] + "'")
		a := s.enter("a")
		failed := a.db.failure()
		a.own()
		<-failed
		if without {
			s.await("a part of the batch is written", func() bool { return s.count("SELECT count() FROM record_sums") > 0 })
		} else if n := s.count("SELECT count() FROM records"); n > 0 {
			s.t.Errorf("%d rows of a batch that failed are there", n)
		}
		s.exec("ALTER TABLE records DROP CONSTRAINT refused")
		s.awaitState(6)
		s.send(messages[6:]...)
		s.awaitState(8)
		s.await("what the insert does is done", func() bool { return a.is(0).Position == 8 })
		return s.drift(s.model), true
	})
}
