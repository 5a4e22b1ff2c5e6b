package admin_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
	"tallyhouse/schemas/events"
)

// insert runs a statement that inserts.
type insert = func(database.Statement) (uint64, error)

// interceptor sees statements before they are sent.
type interceptor struct {
	*database.Server
	onExec   func(st database.Statement) error
	onInsert func(st database.Statement, next insert) (uint64, error)
}

func (i *interceptor) Exec(ctx context.Context, st database.Statement) error {
	if i.onExec != nil {
		if err := i.onExec(st); err != nil {
			return err
		}
	}
	return i.Server.Exec(ctx, st)
}

func (i *interceptor) Insert(ctx context.Context, st database.Statement) (uint64, error) {
	next := func(st database.Statement) (uint64, error) { return i.Server.Insert(ctx, st) }
	if i.onInsert == nil {
		return next(st)
	}
	return i.onInsert(st, next)
}

func isCorrection(st database.Statement) bool {
	return strings.HasPrefix(st.SQL, "INSERT INTO sums") && st.Batch != nil
}

func rebuildThrough(t *testing.T, db admin.Database, l *ingesttest.Ledger) error {
	t.Helper()
	_, err := admin.Rebuild(t.Context(), db, []*store.Entity{l.Entity}, options())
	return err
}

// Given a hold that somebody releases in the middle, and writers that go on, then nothing of the work lands any more.
func TestNoCorrectionLandsWithoutTheHold(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 31)
	l.Exec("%s", wrongEverySum)
	rows, released := int64(0), false
	db := &interceptor{Server: l.DB}
	db.onInsert = func(st database.Statement, next insert) (uint64, error) {
		if isCorrection(st) && !released {
			released = true
			if _, err := fence.Break(t.Context(), l.DB, string(events.Records), "the test"); err != nil {
				t.Error(err)
			}
			l.Fence()
			rows = l.Number("SELECT count() FROM sums")
		}
		return next(st)
	}
	err := rebuildThrough(t, db, l)
	var lost *fence.Lost
	if !errors.As(err, &lost) || !released {
		t.Fatal(err)
	}
	if now := l.Number("SELECT count() FROM sums"); now != rows {
		t.Fatalf("%d rows, then %d", rows, now)
	}
	if s := stream(t, l); s.Work == "" {
		t.Fatalf("the work is noted as complete: %+v", s)
	}
	nobodyHolds(t, l)
	rebuild(t, l)
	l.Truth(t)
}

// Given a hold that somebody releases before what is known of the topic is written, then that isn't written, at whichever of its steps.
func TestNothingIsNotedWithoutTheHold(t *testing.T) {
	t.Parallel()
	for _, step := range []int{1, 2} { // the work begins, and ends
		t.Run(fmt.Sprint("note ", step), func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 37)
			noted := 0
			var before position.Stream
			db := &interceptor{Server: l.DB}
			db.onInsert = func(st database.Statement, next insert) (uint64, error) {
				if strings.Contains(st.SQL, "INSERT INTO streams") {
					if noted++; noted == step {
						before = stream(t, l)
						if _, err := fence.Break(t.Context(), l.DB, string(events.Records), "the test"); err != nil {
							t.Error(err)
						}
					}
				}
				return next(st)
			}
			err := rebuildThrough(t, db, l)
			var lost *fence.Lost
			if !errors.As(err, &lost) || noted != step {
				t.Fatal(noted, err)
			}
			if after := stream(t, l); after.Revision != before.Revision {
				t.Errorf("it was %+v and is %+v", before, after)
			}
		})
	}
}

// Given a note that is lost, that the work begins or ends, and a newer one of somebody else in its place, of another life or of other work, then
// that isn't taken for it: it is written all the same.
func TestANoteOfOthersIsNotTakenForOnesOwn(t *testing.T) {
	t.Parallel()
	for step, theirs := range map[int]string{1: "'other' AS life, '`tallyhouse rebuild`' AS work", 2: "'other' AS work"} {
		t.Run(theirs, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 39)
			l.Exec("%s", wrongEverySum)
			noted := 0
			db := &interceptor{Server: l.DB}
			db.onInsert = func(st database.Statement, next insert) (uint64, error) {
				if strings.Contains(st.SQL, "INSERT INTO streams") {
					if noted++; noted == step {
						l.Exec("INSERT INTO streams SELECT * REPLACE (revision + 1 AS revision, %s) FROM streams ORDER BY revision DESC LIMIT 1", theirs)
						return 0, errors.New("connection cut")
					}
				}
				return next(st)
			}
			if err := rebuildThrough(t, db, l); err != nil || noted != 3 {
				t.Fatal(noted, err)
			}
			if s := stream(t, l); s.Life == "other" || s.Work != "" {
				t.Errorf("what is noted is %+v", s)
			}
			l.Truth(t)
		})
	}
}

// unsettled is a server whose user's profile changes settings.
type unsettled struct{ *database.Server }

func (unsettled) CheckSettings(context.Context) error {
	return errors.New("a profile insists on something")
}

// Given a user whose profile doesn't let statements be what they are, then no work begins.
func TestNoWorkBeginsUnderOtherSettings(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 38)
	before := stream(t, l)
	mustSay(t, rebuildThrough(t, unsettled{l.DB}, l), "a profile insists")
	if after := stream(t, l); after.Revision != before.Revision {
		t.Errorf("%+v", after)
	}
	nobodyHolds(t, l)
}

// Given another server behind the same address, then nothing of the work lands there, neither corrections nor the
// note of the work.
func TestNothingLandsOnAnotherServer(t *testing.T) {
	t.Parallel()
	for _, table := range []string{"sums", "streams"} {
		t.Run(table, func(t *testing.T) {
			t.Parallel()
			l, _ := filled(t, 32)
			l.Exec("%s", wrongEverySum)
			db := &interceptor{Server: l.DB}
			db.onInsert = func(st database.Statement, next insert) (uint64, error) {
				if strings.HasPrefix(strings.TrimSpace(st.SQL), "INSERT INTO "+table) { // as if the server, asked who it is, were another
					st.Params = st.Params.With(database.Params{"server": "00000000-0000-0000-0000-00000000beef"})
				}
				n, err := next(st)
				if table == "streams" && n > 0 {
					t.Error("written on another server")
				}
				return n, err
			}
			rows := l.Number("SELECT count() FROM sums")
			if err := rebuildThrough(t, db, l); !errors.Is(err, position.ErrNotWritten) {
				t.Fatal(err)
			}
			if now := l.Number("SELECT count() FROM sums"); now != rows {
				t.Fatalf("%d rows, then %d", rows, now)
			}
		})
	}
}

// Given statements whose outcome is unknown (they landed and the answer was lost, or were lost themselves, or come
// late), then the sums are right all the same.
func TestStatementsInDoubt(t *testing.T) {
	t.Parallel()
	cut := errors.New("connection cut")
	tests := []struct {
		name  string
		every int  // so many statements
		soon  bool // what is late comes right before the next statement
		lose  func(late *func(), st database.Statement, next insert) (uint64, error)
	}{
		{"it landed", 1, false, func(_ *func(), st database.Statement, next insert) (uint64, error) {
			_, _ = next(st)
			return 0, cut
		}},
		{"it was lost", 2, false, func(*func(), database.Statement, insert) (uint64, error) {
			return 0, cut
		}},
		{"it comes when the work is done", 2, false, func(late *func(), st database.Statement, next insert) (uint64, error) {
			earlier := *late
			*late = func() {
				if earlier != nil {
					earlier()
				}
				_, _ = next(st)
			}
			return 0, cut
		}},
		{"it comes when the step was computed anew", 2, true, func(late *func(), st database.Statement, next insert) (uint64, error) {
			*late = func() { _, _ = next(st) }
			return 0, cut
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l, r := filled(t, 33)
			l.Exec("%s", wrongEverySum)
			l.Exec("%s", behindPosition)
			db := &interceptor{Server: l.DB}
			n, lost := 0, 0
			var late func()
			db.onInsert = func(st database.Statement, next insert) (uint64, error) {
				if test.soon && late != nil {
					late()
					late = nil
				}
				if n++; n%test.every != 0 {
					return next(st)
				}
				lost++
				return test.lose(&late, st, next)
			}
			if err := rebuildThrough(t, db, l); err != nil {
				t.Fatal(err)
			}
			if late != nil {
				late()
			}
			if lost < 4 {
				t.Fatalf("only %d statements were in doubt", lost)
			}
			if s := stream(t, l); s.Work != "" {
				t.Fatalf("%+v", s)
			}
			writersGoOn(t, l, r)
		})
	}
}

// Given work that is given up while its last statement is in doubt, then the statement doesn't land behind the
// release, however late it comes.
func TestAReleaseSettlesTheStatementInDoubt(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 34)
	l.Exec("%s", wrongEverySum)
	db := &interceptor{Server: l.DB}
	ctx, stop := context.WithCancel(t.Context())
	var late func() (uint64, error)
	db.onInsert = func(st database.Statement, next insert) (uint64, error) {
		if !isCorrection(st) {
			return next(st)
		}
		late = func() (uint64, error) { return l.DB.Insert(context.Background(), st) }
		stop() // as by Ctrl-C
		return 0, errors.New("connection cut")
	}
	arrived := false
	db.onExec = func(st database.Statement) error {
		release := strings.Contains(st.SQL, "INSERT INTO fences") && st.Params["held"] == "false"
		if late != nil && release { // the very moment before
			arrived = true
			if n, err := late(); n > 0 {
				t.Errorf("the statement in doubt landed: %d rows, %v", n, err)
			}
		}
		return nil
	}
	if _, err := admin.Rebuild(ctx, db, []*store.Entity{l.Entity}, options()); err == nil {
		t.Fatal("it was given up, and yet it says nothing")
	}
	if !arrived {
		t.Fatal("there was no release")
	}
	nobodyHolds(t, l)
	if s := stream(t, l); s.Work == "" {
		t.Fatalf("the work is noted as complete: %+v", s)
	}
	rebuild(t, l)
	l.Truth(t)
}

// Given a resize that comes between the question for the partitions and the hold, then the work holds the new
// partitions, too.
func TestPartitionsThatAreNewUnderTheHoldAreHeld(t *testing.T) {
	t.Parallel()
	l, _ := filled(t, 35)
	log := identity(5)
	resized := false
	db := &interceptor{Server: l.DB}
	db.onExec = func(st database.Statement) error {
		if strings.Contains(st.SQL, "INSERT INTO fences") && !resized {
			resized = true
			if _, err := admin.Resize(t.Context(), l.DB, l.Entity, log, options()); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	s, err := admin.Begin(t.Context(), db, l.Entity, options())
	if err != nil || !resized {
		t.Fatal(resized, err)
	}
	_, held, err := fence.Put(t.Context(), l.DB, string(events.Records), []int32{0, 1, 2, 3, 4}, "a writer")
	if err != nil || len(held) != 5 {
		t.Errorf("held are %v: %v", held, err)
	}
	if err := s.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	nobodyHolds(t, l)
}

// Given a view that missed the last batch, then a rebuild corrects its sums and its position; what does not rebuild
// mends it first.
func TestAViewThatMissedTheLastBatch(t *testing.T) {
	t.Parallel()
	works := map[string]func(*testing.T, *ingesttest.Ledger){
		"rebuild": func(t *testing.T, l *ingesttest.Ledger) { rebuild(t, l) },
		"a session": func(t *testing.T, l *ingesttest.Ledger) {
			s, err := admin.Begin(t.Context(), l.DB, l.Entity, options())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"a session whose mend landed, and the answer was lost": func(t *testing.T, l *ingesttest.Ledger) {
			lost := 0
			db := &interceptor{Server: l.DB}
			db.onInsert = func(st database.Statement, next insert) (uint64, error) {
				n, err := next(st)
				if strings.HasPrefix(st.SQL, "INSERT INTO sums") && n > 0 {
					lost++
					return 0, errors.New("connection cut")
				}
				return n, err
			}
			s, err := admin.Begin(t.Context(), db, l.Entity, options())
			if err != nil || lost != partitions {
				t.Fatal(lost, err)
			}
			if err := s.End(t.Context()); err != nil {
				t.Fatal(err)
			}
		},
		"resize": func(t *testing.T, l *ingesttest.Ledger) {
			if _, err := admin.Resize(t.Context(), l.DB, l.Entity, identity(3), options()); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, work := range works {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, r := filled(t, 36)
			l.Exec("DETACH TABLE records_sums")
			l.Write(r.Draw(60, 120)...)
			l.Exec("ATTACH TABLE records_sums")
			if at := positions(t, l); !at[0].Missed() || !at[1].Missed() {
				t.Fatalf("%+v", at)
			}
			work(t, l)
			for p, at := range positions(t, l) {
				if !at.Level() {
					t.Errorf("partition %d: %+v", p, at)
				}
			}
			l.Truth(t)
		})
	}
}
