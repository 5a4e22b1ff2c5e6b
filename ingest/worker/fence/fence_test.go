package fence_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/clickhouse"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

const topic = "ledger.records"

// server is a database with fences and a table whose rows only the writer may write whose fence counts.
func server(t *testing.T) *database.Server {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	db, err := database.Open(database.Options{Addr: addr, Database: name, User: "default"}, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	steps, err := clickhouse.Migrations(clickhouse.Target{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append(steps[0].Statements, "CREATE TABLE written (who String, partition UInt32) ENGINE = MergeTree ORDER BY who") {
		if err := db.Exec(t.Context(), database.Statement{SQL: s}); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func put(t *testing.T, db fence.Database, partitions ...int32) *fence.Claim {
	t.Helper()
	claim, held, err := fence.Put(t.Context(), db, topic, partitions, "writer")
	if err != nil || len(held) > 0 || len(claim.Epochs) != len(partitions) {
		t.Fatalf("got %+v, held %v, %v", claim, held, err)
	}
	return claim
}

func take(t *testing.T, db fence.Database, holder string, partitions ...int32) *fence.Hold {
	t.Helper()
	hold, err := fence.Take(t.Context(), db, topic, partitions, holder)
	if err != nil {
		t.Fatal(err)
	}
	return hold
}

// writes reports whether a conditional insert wrote.
func writes(t *testing.T, db *database.Server, condition string, params database.Params) bool {
	t.Helper()
	n, err := db.Insert(t.Context(), database.Statement{SQL: "INSERT INTO written SELECT 'x', 0 WHERE " + condition, ID: db.Name() + "/" + topic + "/0/x", Params: params})
	if err != nil {
		t.Fatal(err)
	}
	return n == 1
}

func mayWrite(t *testing.T, db *database.Server, c *fence.Claim, p int32) bool {
	t.Helper()
	return writes(t, db, fence.Counts, c.Params(p))
}

func holds(t *testing.T, db *database.Server, h *fence.Hold) bool {
	t.Helper()
	by := writes(t, db, fence.HoldCounts, h.Params())
	if err := h.Check(t.Context(), db); (err == nil) != by {
		t.Fatalf("the condition says %v, the check %v", by, err)
	}
	return by
}

func TestOnlyTheNewestFenceCounts(t *testing.T) {
	db := server(t)
	first := put(t, db, 0, 1)
	if !mayWrite(t, db, first, 0) || !mayWrite(t, db, first, 1) {
		t.Fatal("the first writer can't write")
	}
	second := put(t, db, 1)
	if !mayWrite(t, db, first, 0) || mayWrite(t, db, first, 1) || !mayWrite(t, db, second, 1) {
		t.Fatal("the newest fence of each partition must count, and no other")
	}
	counts, err := first.Counting(t.Context(), db)
	if err != nil || !counts[0] || counts[1] {
		t.Fatal(counts, err)
	}
}

func TestOfManyAtOnceOneCounts(t *testing.T) {
	db := server(t)
	claims := make([]*fence.Claim, 6)
	var racing sync.WaitGroup
	for i := range claims {
		racing.Go(func() { claims[i], _, _ = fence.Put(t.Context(), db, topic, []int32{0, 1, 2}, "writer") })
	}
	racing.Wait()
	for p := range int32(3) {
		winners := 0
		for _, c := range claims {
			if c == nil {
				t.Fatal("a claim failed")
			}
			if c.Has(p) && mayWrite(t, db, c, p) {
				winners++
			}
		}
		if winners != 1 {
			t.Errorf("%d writers may write partition %d", winners, p)
		}
	}
}

// rows is how many fences the topic has, on the partitions below.
func rows(t *testing.T, db *database.Server, below int32) (n uint64) {
	t.Helper()
	q := database.Query{SQL: "SELECT count() FROM fences WHERE topic = {topic:String} AND partition < {below:UInt32}", Params: database.Params{"topic": topic, "below": strconv.Itoa(int(below))}}
	if err := db.Row(t.Context(), q, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Each row is a block that the condition of every insert scans.
func TestRecoveriesWithoutEndLeaveFewFences(t *testing.T) {
	db := server(t)
	other := put(t, db, 3)
	take(t, db, "holder", 4)
	var mine *fence.Claim
	for range 64 {
		mine = put(t, db, 0, 1, 2)
		if n := rows(t, db, 5); n > 3+2+32 {
			t.Fatalf("%d rows", n)
		}
	}
	for p := range int32(3) {
		if !mayWrite(t, db, mine, p) {
			t.Errorf("the newest fence of partition %d was trimmed", p)
		}
	}
	if !mayWrite(t, db, other, 3) {
		t.Error("another writer's fence was trimmed")
	}
	if _, held, err := fence.Put(t.Context(), db, topic, []int32{4}, "writer"); err != nil || held[4] == nil {
		t.Errorf("the hold was trimmed: %v", err)
	}
}

// Given so many rows that every writer trims them, when many put up fences at the same time, then each one's fence
// stands until another takes its place.
func TestAFenceThatArrivesWhileOthersAreTrimmedSurvives(t *testing.T) {
	db := server(t)
	fill := "INSERT INTO fences (topic, partition, epoch, owner) SELECT '" + topic + "', 1000, number, 'somebody:x' FROM numbers(100)"
	if err := db.Exec(t.Context(), database.Statement{SQL: fill}); err != nil {
		t.Fatal(err)
	}
	var writers sync.WaitGroup
	for p := range int32(4) {
		writers.Go(func() {
			for range 12 {
				claim, _, err := fence.Put(t.Context(), db, topic, []int32{p}, "writer")
				if err != nil || !claim.Has(p) {
					t.Errorf("partition %d: %+v, %v", p, claim, err)
					return
				}
				// The others go on trimming.
				if counts, err := claim.Counting(t.Context(), db); err != nil || !counts[p] {
					t.Errorf("partition %d lost its fence: %v", p, err)
				}
			}
		})
	}
	writers.Wait()
	if n := rows(t, db, 1000); n > 4*2 {
		t.Errorf("%d rows are left", n)
	}
}

func TestAFenceNamesItsWriter(t *testing.T) {
	db := server(t)
	owner := func() string {
		current, err := fence.Read(t.Context(), db, topic)
		if err != nil {
			t.Fatal(err)
		}
		return current[0].Owner
	}
	first := put(t, db, 0)
	if name := fence.Writer(owner()); name != "writer" {
		t.Errorf("the writer is %q", name)
	}
	if again := put(t, db, 0); again.Owner == first.Owner {
		t.Error("two attempts of a writer have one owner")
	}
	hold := take(t, db, "holder", 0)
	if name := fence.Holder(owner()); name != "holder" {
		t.Errorf("the holder is %q", name)
	}
	if err := hold.Release(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if name := fence.Writer(owner()); name != "" {
		t.Errorf("what a release left behind is taken for the fence of writer %q", name)
	}
}

func TestARestartOfTheServerTakesAllFencesDown(t *testing.T) {
	db := server(t)
	c := put(t, db, 0)
	if err := db.Exec(t.Context(), database.Statement{SQL: "DETACH TABLE fences"}); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), database.Statement{SQL: "ATTACH TABLE fences"}); err != nil {
		t.Fatal(err)
	}
	if mayWrite(t, db, c, 0) {
		t.Fatal("a fence outlived the memory of the server")
	}
}

func TestAHoldKeepsWritersAndOtherHoldersOut(t *testing.T) {
	// Given a writer's partition that somebody takes a hold of
	db := server(t)
	writer := put(t, db, 0, 1)
	hold := take(t, db, "holder", 0)
	if mayWrite(t, db, writer, 0) || !mayWrite(t, db, writer, 1) || !holds(t, db, hold) {
		t.Fatal("a hold must take the place of the writer's fence, on its partition")
	}
	// When the writer comes back, then it gets the other partition alone, and learns who holds this one.
	claim, held, err := fence.Put(t.Context(), db, topic, []int32{0, 1}, "writer")
	if err != nil || claim.Has(0) || !claim.Has(1) || held[0] == nil || fence.Holder(held[0].Owner) != "holder" {
		t.Fatalf("%+v, held %v, %v", claim, held, err)
	}
	// When another takes a hold of both, then it gets neither, and the first hold stands.
	_, err = fence.Take(t.Context(), db, topic, []int32{0, 1}, "another")
	var other *fence.Held
	if !errors.As(err, &other) || !strings.Contains(err.Error(), "holder") {
		t.Fatal(err)
	}
	if !holds(t, db, hold) {
		t.Fatal("an attempt of another took the hold down")
	}
	if next := put(t, db, 1); !mayWrite(t, db, next, 1) {
		t.Fatal("the other left partition 1 held")
	}
	// When the holder tries again, then its new hold counts, until it is released.
	again := take(t, db, "holder", 0)
	if holds(t, db, hold) || !holds(t, db, again) {
		t.Fatal("the same holder's new attempt must take the place of its old one")
	}
	if err := again.Release(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if holds(t, db, again) || !mayWrite(t, db, put(t, db, 0), 0) {
		t.Fatal("released, and yet held")
	}
}

func TestAHoldOfEveryPartitionOrOfNone(t *testing.T) {
	db := server(t)
	hold := take(t, db, "holder", 0, 1, 2)
	if !holds(t, db, hold) {
		t.Fatal("it doesn't count")
	}
	land(t, db, 1, hold.Epochs[1]+1, "writer:another", false)
	if holds(t, db, hold) {
		t.Fatal("it lost a partition and still counts")
	}
}

// late lets a database lose the connection when fences are put up: the statement arrives later, or never.
type late struct {
	fence.Database
	arrive []func() error
}

func (l *late) Exec(ctx context.Context, st database.Statement) error {
	if !strings.Contains(st.SQL, "INSERT INTO fences") {
		return l.Database.Exec(ctx, st)
	}
	l.arrive = append(l.arrive, func() error { return l.Database.Exec(context.WithoutCancel(ctx), st) })
	return errors.New("connection cut")
}

func TestAFenceThatArrivesLateDoesNotCount(t *testing.T) {
	db := server(t)
	// Both are one above what stood: which of two equals would win is chance, so it is tried often.
	for p := range int32(8) {
		slow := &late{Database: db}
		if _, _, err := fence.Put(t.Context(), slow, topic, []int32{p}, "slow"); err == nil {
			t.Fatal("cut, and no error")
		}
		quick := put(t, db, p)
		slow.arrives(t)
		if !mayWrite(t, db, quick, p) {
			t.Fatal("what was computed before a fence went over it")
		}
	}
}

func TestAHoldThatArrivesAfterItWasGivenUpHoldsNothing(t *testing.T) {
	db := server(t)
	put(t, db, 0)
	slow := &late{Database: db}
	if _, err := fence.Take(t.Context(), slow, topic, []int32{0}, "holder"); err == nil {
		t.Fatal("cut, and no error")
	}
	writer := put(t, db, 0)
	slow.arrives(t)
	if !mayWrite(t, db, writer, 0) {
		t.Fatal("a hold that nobody has any more keeps the writer out for ever")
	}
}

// Given a server that was restarted, which took all fences down, then a hold that was computed before holds nothing.
func TestAHoldThatArrivesBehindARestartHoldsNothing(t *testing.T) {
	db := server(t)
	put(t, db, 0)
	slow := &late{Database: db}
	if _, err := fence.Take(t.Context(), slow, topic, []int32{0}, "holder"); err == nil {
		t.Fatal("cut, and no error")
	}
	if err := db.Exec(t.Context(), database.Statement{SQL: "TRUNCATE TABLE fences"}); err != nil {
		t.Fatal(err)
	}
	slow.arrives(t)
	if n := rows(t, db, 1); n != 0 {
		t.Fatal("a hold that nobody has any more keeps writers out for ever")
	}
}

// arrives lets the statements through that were cut off.
func (l *late) arrives(t *testing.T) {
	t.Helper()
	if len(l.arrive) == 0 {
		t.Fatal("nothing was cut off")
	}
	for _, arrive := range l.arrive {
		if err := arrive(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAReleaseThatArrivesLateDoesNotReleaseAnother(t *testing.T) {
	db := server(t)
	hold := take(t, db, "first", 0)
	slow := &late{Database: db}
	if err := hold.Release(t.Context(), slow); err == nil {
		t.Fatal("cut, and no error")
	}
	if _, err := fence.Break(t.Context(), db, topic, "the test"); err != nil {
		t.Fatal(err)
	}
	second := take(t, db, "second", 0)
	slow.arrives(t)
	if !holds(t, db, second) {
		t.Fatal("the first holder's release took the second's hold down")
	}
}

func TestBreakEndsADeadHoldersHoldAndWhatItLeftRunning(t *testing.T) {
	db := server(t)
	if broken, err := fence.Break(t.Context(), db, topic, "the test"); err != nil || broken != nil {
		t.Fatalf("nobody held: %+v, %v", broken, err)
	}
	hold := take(t, db, "the dead", 0, 1)
	ended := running(t, db, hold.StatementID(db))
	broken, err := fence.Break(t.Context(), db, topic, "the test")
	if err != nil || len(broken) != 2 || fence.Holder(broken[0].Owner) != "the dead" || broken[0].Since.IsZero() {
		t.Fatalf("%+v, %v", broken, err)
	}
	if err := <-ended; err == nil {
		t.Fatal("what the dead holder had begun ended by itself")
	}
	if c := put(t, db, 0, 1); holds(t, db, hold) || !mayWrite(t, db, c, 0) || !mayWrite(t, db, c, 1) {
		t.Fatal("it still holds")
	}
}

// Given a backup that was made while a command held a topic, when it is restored, then the next holder takes the dead hold over; and it
// keeps others out itself, however much later and whatever becomes of the table's rows.
func TestAHoldThatCameWithABackupIsTakenOver(t *testing.T) {
	db := server(t)
	dead := take(t, db, "the dead", 0, 1)
	anotherSecond(t, db)
	restore(t, db)
	if !holds(t, db, dead) {
		t.Fatal("the backup has no hold: nothing is tested")
	}
	next := take(t, db, "the next", 0, 1)
	if holds(t, db, dead) || !holds(t, db, next) {
		t.Fatal("the dead holder's hold counts")
	}

	anotherSecond(t, db)
	trim := database.Statement{SQL: "ALTER TABLE fences DELETE WHERE owner = '" + dead.Owner + "' SETTINGS mutations_sync = 1"}
	if err := db.Exec(t.Context(), trim); err != nil {
		t.Fatal(err)
	}
	_, err := fence.Take(t.Context(), db, topic, []int32{1}, "another")
	var held *fence.Held
	if !errors.As(err, &held) || !strings.Contains(err.Error(), "the next") || !strings.Contains(err.Error(), "tallyhouse release "+topic) {
		t.Fatalf("of a hold whose holder may live: %v", err)
	}
	if err := next.Release(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if c := put(t, db, 0, 1); !mayWrite(t, db, c, 0) || !mayWrite(t, db, c, 1) {
		t.Fatal("released, and yet held")
	}
}

// restore replaces the database by a backup of itself.
func restore(t *testing.T, db *database.Server) {
	t.Helper()
	in, err := database.Open(database.Options{Addr: db.Addr(), Database: "default", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, s := range []string{
		"BACKUP DATABASE `%[1]s` TO File('%[1]s-backup')", "DROP DATABASE `%[1]s` SYNC", "RESTORE DATABASE `%[1]s` FROM File('%[1]s-backup')",
	} {
		if err := in.Exec(t.Context(), database.Statement{SQL: fmt.Sprintf(s, db.Name())}); err != nil {
			t.Fatal(err)
		}
	}
}

// anotherSecond waits until the server's clock shows another second: when a table was made is known no better.
func anotherSecond(t *testing.T, db *database.Server) {
	t.Helper()
	var began, now time.Time
	for began.IsZero() || now.Equal(began) {
		if err := db.Row(t.Context(), database.Query{SQL: "SELECT now()"}, &now); err != nil {
			t.Fatal(err)
		}
		if began.IsZero() {
			began = now
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestKillEndsWhatItsPrefixNamesAndNothingElse(t *testing.T) {
	db := server(t)
	mine := running(t, db, fence.WriterID(db, topic, 1))
	longer := running(t, db, fence.WriterID(db, topic, 12))
	if err := fence.Kill(t.Context(), db, fence.PartitionPrefix(db, topic, 1)); err != nil {
		t.Fatal(err)
	}
	if err := <-mine; err == nil {
		t.Fatal("partition 1's insert was not killed")
	}
	select {
	case err := <-longer:
		t.Fatalf("partition 12's insert was killed too: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	if err := fence.Kill(t.Context(), db, fence.TopicPrefix(db, topic)); err != nil {
		t.Fatal(err)
	}
	if err := <-longer; err == nil {
		t.Fatal("the topic's inserts were not killed")
	}
}

// unheard lets a server not hear of so many kills.
type unheard struct {
	fence.Database
	kills int
}

func (u *unheard) Exec(ctx context.Context, st database.Statement) error {
	if strings.Contains(st.SQL, "KILL QUERY") && u.kills > 0 {
		u.kills--
		return nil
	}
	return u.Database.Exec(ctx, st)
}

// Given an insert that a kill doesn't end, as one that waits for its data, then it is asked for again until nothing runs.
func TestAKillIsOverWhenNothingRuns(t *testing.T) {
	db := server(t)
	ended := running(t, db, fence.WriterID(db, topic, 0))
	if err := fence.Kill(t.Context(), &unheard{db, 2}, fence.PartitionPrefix(db, topic, 0)); err != nil {
		t.Fatal(err)
	}
	var n uint64
	q := database.Query{SQL: "SELECT count() FROM system.processes WHERE startsWith(query_id, {prefix:String})",
		Params: database.Params{"prefix": fence.TopicPrefix(db, topic)}}
	if err := db.Row(t.Context(), q, &n); err != nil || n > 0 {
		t.Errorf("%d inserts run on, %v", n, err)
	}
	if err := <-ended; err == nil {
		t.Error("it came to its end by itself")
	}
}

// running starts an insert that takes long and returns when the server runs it; the channel gives how it ended.
func running(t *testing.T, db *database.Server, id string) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	go func() {
		_, err := db.Insert(context.Background(), database.Statement{ID: id, Limit: time.Minute, // longer than it runs
			SQL: "INSERT INTO written SELECT toString(sleepEachRow(0.05)), 0 FROM numbers(200) SETTINGS max_block_size = 1"})
		ended <- err
	}()
	awaitRunning(t, db, id)
	return ended
}

// awaitRunning returns when the server runs a statement.
func awaitRunning(t *testing.T, db *database.Server, id string) {
	t.Helper()
	for range 1000 {
		var n uint64
		q := database.Query{SQL: "SELECT count() FROM system.processes WHERE query_id = {id:String}", Params: database.Params{"id": id}}
		if err := db.Row(t.Context(), q, &n); err != nil {
			t.Fatal(err)
		}
		if n == 1 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s never ran", id)
}

// Given a statement of a hold's work that runs, then it is over when the hold is released, and wrote nothing.
func TestAReleaseEndsWhatRuns(t *testing.T) {
	db := server(t)
	hold := take(t, db, "holder", 0)
	ended := running(t, db, hold.StatementID(db))
	if err := hold.Release(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Fatal("it came to its end behind the release")
	}
}

// atRelease does something at the very moment before a plain fence takes a hold's place.
type atRelease struct {
	fence.Database
	do func()
}

func (a *atRelease) Exec(ctx context.Context, st database.Statement) error {
	if strings.Contains(st.SQL, "INSERT INTO fences") && st.Params["held"] == "false" {
		a.do()
	}
	return a.Database.Exec(ctx, st)
}

// Given a statement of a hold's work that is still on its way when the hold is released, then it finds that its hold no
// longer counts, however late it arrives.
func TestAReleaseSettlesWhatIsOnItsWay(t *testing.T) {
	db := server(t)
	hold := take(t, db, "holder", 0, 1)
	tried := false
	err := hold.Release(t.Context(), &atRelease{db, func() {
		tried = true
		if holds(t, db, hold) {
			t.Error("a statement that arrives before the release would write, and land behind it")
		}
		if _, held, err := fence.Put(t.Context(), db, topic, []int32{0, 1}, "writer"); err != nil || len(held) != 2 {
			t.Errorf("a writer got in before the release: held %v, %v", held, err)
		}
	}})
	if err != nil || !tried {
		t.Fatal(tried, err)
	}
	if !mayWrite(t, db, put(t, db, 0, 1), 1) {
		t.Fatal("released, and yet held")
	}
}
