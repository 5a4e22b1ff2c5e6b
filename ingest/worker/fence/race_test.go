package fence_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
)

// land has a row of another attempt land, as one does that was computed before and comes late.
func land(t *testing.T, db fence.Database, partition int32, epoch uint64, owner string, held bool) {
	t.Helper()
	sql := fmt.Sprintf("INSERT INTO fences (topic, partition, epoch, owner, held, since) VALUES ('%s', %d, %d, '%s', %v, now64(3))",
		topic, partition, epoch, owner, held)
	if err := db.Exec(context.Background(), database.Statement{SQL: sql}); err != nil {
		t.Fatal(err)
	}
}

// between does something once, at the moment before a statement or a question that says so.
type between struct {
	fence.Database
	says string
	do   func()
}

func (b *between) once(sql string) {
	if do := b.do; do != nil && strings.Contains(sql, b.says) {
		b.do = nil
		do()
	}
}

func (b *between) Exec(ctx context.Context, st database.Statement) error {
	b.once(st.SQL)
	return b.Database.Exec(ctx, st)
}

func (b *between) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	b.once(q.SQL)
	return b.Database.Rows(ctx, q, each)
}

// Given two fences of one epoch, as two put up at one moment have, then one of them counts; of two holds likewise.
func TestOfTwoFencesOfOneEpochOneCounts(t *testing.T) {
	db := server(t)
	c := put(t, db, 0)
	land(t, db, 0, c.Epochs[0], "zz:another", false)
	counts, err := c.Counting(t.Context(), db)
	if err != nil || counts[0] || mayWrite(t, db, c, 0) {
		t.Fatalf("both count: %v, %v", counts, err)
	}
	hold := take(t, db, "holder", 1)
	land(t, db, 1, hold.Epochs[1], "zz/x", true)
	if holds(t, db, hold) {
		t.Error("both hold")
	}
}

// Given another's hold that lands at the epoch that was read, before a fence is put on top of that, then it stays: whoever read before
// it knew nothing of it. The other's name begins as the holder's own does.
func TestNothingGoesOverAHoldThatLandsMeanwhile(t *testing.T) {
	db := server(t)
	hold, writer := take(t, db, "holder", 0), put(t, db, 1)
	stays := func(partition int32, owner string) {
		t.Helper()
		all, err := fence.Read(t.Context(), db, topic)
		if err != nil || all[partition].Owner != owner || !all[partition].Held {
			t.Errorf("on partition %d counts %+v, %v", partition, all[partition], err)
		}
	}
	err := hold.Release(t.Context(), &between{db, "INSERT INTO fences", func() { land(t, db, 0, hold.Epochs[0], "holder2/x", true) }})
	if err != nil {
		t.Fatal(err)
	}
	stays(0, "holder2/x")
	raced := &between{db, "INSERT INTO fences", func() { land(t, db, 1, writer.Epochs[1], "zz/x", true) }}
	if claim, _, err := fence.Put(t.Context(), raced, topic, []int32{1}, "writer"); err != nil || claim.Has(1) {
		t.Errorf("a writer has %+v, %v", claim, err)
	}
	stays(1, "zz/x")
}

// Given a hold of another that is being put up, of the same epoch, then whoever takes one waits until it is there, and learns that
// it lost.
func TestAHoldWaitsForThoseThatAreUnderWay(t *testing.T) {
	db := server(t)
	put(t, db, 0)
	ended := make(chan error, 1)
	id := db.Name() + "/fence/" + topic + "/slow"
	go func() {
		ended <- db.Exec(context.Background(), database.Statement{ID: id, SQL: "INSERT INTO fences (topic, partition, epoch, owner, held, since) " +
			"SELECT '" + topic + "', 0, 1000001, 'zz/x', true, now64(3) WHERE sleep(2.9) = 0"})
	}()
	awaitRunning(t, db, id)
	if _, err := fence.Take(t.Context(), db, topic, []int32{0}, "holder"); !errors.Is(err, fence.ErrLostRace) {
		t.Errorf("it has the hold, and another has it then: %v", err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	all, err := fence.Read(t.Context(), db, topic)
	if err != nil || all[0].Owner != "zz/x" {
		t.Errorf("%+v, %v", all[0], err)
	}
}

// Given a hold that somebody ends while it kills what runs, then it isn't taken.
func TestAHoldThatIsLostWhileItIsTaken(t *testing.T) {
	db := server(t)
	raced := &between{db, "arrayExists(prefix", func() {
		if _, err := fence.Break(t.Context(), db, topic, "the test"); err != nil {
			t.Error(err)
		}
	}}
	_, err := fence.Take(t.Context(), raced, topic, []int32{0}, "holder")
	var lost *fence.Lost
	if !errors.As(err, &lost) || raced.do != nil {
		t.Fatal(err)
	}
}

// Given inserts of writers that run, then they are over when a hold is taken.
func TestAHoldEndsWhatRuns(t *testing.T) {
	db := server(t)
	ended := running(t, db, fence.WriterID(db, topic, 0))
	take(t, db, "holder", 0)
	if err := <-ended; err == nil {
		t.Fatal("it came to its end by itself")
	}
}

// Given a holder that doesn't get all partitions, then what another holder has under way on the topic goes on.
func TestWhoGivesUpKillsNothingOfAnother(t *testing.T) {
	db := server(t)
	other := take(t, db, "another", 1)
	ended := running(t, db, other.StatementID(db))
	var held *fence.Held
	if _, err := fence.Take(t.Context(), db, topic, []int32{0, 1}, "holder"); !errors.As(err, &held) {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Fatal(err)
		}
	default: // it goes on
	}
	if err := other.Release(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	<-ended
}

// Given a holder who was believed dead and puts up another attempt's hold, when somebody ends the dead one's, then it stays: nothing was
// put on top of what was read.
func TestBreakEndsNoHoldOfWhoIsAlive(t *testing.T) {
	db := server(t)
	take(t, db, "the living", 0)
	var again *fence.Hold
	raced := &between{db, "INSERT INTO fences", func() { again = take(t, db, "the living", 0) }}
	if broken, err := fence.Break(t.Context(), raced, topic, "the test"); !errors.Is(err, fence.ErrLostRace) {
		t.Errorf("broken are %+v, %v", broken, err)
	}
	if again == nil || !holds(t, db, again) {
		t.Error("it holds no more")
	}
}

// Given a hold that lands while its holder is told to stop, then it is given back all the same.
func TestAHoldThatIsGivenUpWhileItLandsIsReleased(t *testing.T) {
	db := server(t)
	ctx, stop := context.WithCancel(t.Context())
	raced := &between{db, "owner = {owner:String}", stop}
	if _, err := fence.Take(ctx, raced, topic, []int32{0, 1}, "holder"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if c := put(t, db, 0, 1); !mayWrite(t, db, c, 0) || !mayWrite(t, db, c, 1) {
		t.Error("it still holds")
	}
}

// Given a hold that was lost on its way, so that its holder gave up, then it holds nothing when it arrives: what was asked for is put a
// fence on, whether or not it was got.
func TestAHoldThatIsGivenUpIsFencedOff(t *testing.T) {
	db := server(t)
	first := true
	slow := &late{Database: db}
	lost := &chosen{db, slow, func() bool { defer func() { first = false }(); return first }}
	if _, err := fence.Take(t.Context(), lost, topic, []int32{0}, "holder"); err == nil {
		t.Fatal("cut, and no error")
	}
	slow.arrives(t)
	put(t, db, 0)
}

// chosen sends statements that put up fences on the other way where that is so.
type chosen struct {
	fence.Database
	other fence.Database
	is    func() bool
}

func (c *chosen) Exec(ctx context.Context, st database.Statement) error {
	if strings.Contains(st.SQL, "INSERT INTO fences") && c.is() {
		return c.other.Exec(ctx, st)
	}
	return c.Database.Exec(ctx, st)
}

// Given a topic whose fences are newer, on the same partitions, and held, then they are nothing to another topic, neither to its
// writers nor to its holders, however many rows are trimmed.
func TestTopicsHaveFencesOfTheirOwn(t *testing.T) {
	const other = "ledger.leases"
	db := server(t)
	theirs, err := fence.Take(t.Context(), db, other, []int32{0, 1}, "another")
	if err != nil {
		t.Fatal(err)
	}
	writer, _, err := fence.Put(t.Context(), db, other, []int32{2}, "writer")
	if err != nil {
		t.Fatal(err)
	}
	ours := put(t, db, 0, 2)
	if !mayWrite(t, db, ours, 0) || !mayWrite(t, db, ours, 2) || !mayWrite(t, db, writer, 2) {
		t.Error("of two writers, each of a topic of its own, one keeps the other out")
	}
	hold := take(t, db, "holder", 0, 1)
	for range 40 { // as many as are trimmed
		put(t, db, 2)
	}
	if !holds(t, db, hold) || !holds(t, db, theirs) {
		t.Error("of two holders, each of a topic of its own, one keeps the other out")
	}
	if n := rows(t, db, 3); n > 36 {
		t.Errorf("%d rows: nothing was trimmed", n)
	}
	if !mayWrite(t, db, writer, 2) {
		t.Error("the other topic's fence was trimmed")
	}
}
