package latest

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const onFiles = true

// cpuTime is what the process has used of the processors.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestADiskThatGivesNoMore: once the file may not grow, a put that needs it to is refused with the cause, and nothing
// is harmed. The limit of file sizes stands for the full disk: both refuse at the same point.
func TestADiskThatGivesNoMore(t *testing.T) {
	const most = 4 << 20
	table, hasher := newTable(t, Options{}), NewHasher()
	key := func(i int) Key { return hasher.KeyString("tenant", fmt.Sprint(i)) }
	model := map[Key]Head{}

	signals := make(chan os.Signal, 1) // unheard it would end the process
	signal.Notify(signals, unix.SIGXFSZ)
	defer signal.Stop(signals)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	var err error
	for i := 0; err == nil && i < 200_000; i++ {
		if err = table.Put(key(i), nth(i)); err == nil {
			model[key(i)] = nth(i)
		}
	}
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}

	if !errors.Is(err, unix.EFBIG) {
		t.Fatalf("%v after %d heads, want the file system's refusal", err, table.Len())
	}
	if _, taken := table.Bytes(); taken > most {
		t.Errorf("%d bytes taken, allowed are %d", taken, most)
	}
	mustHold(t, table, model)
	for i := range 200_000 {
		if err := table.Put(key(i), nth(i)); err != nil {
			t.Fatalf("with room again: %v", err)
		}
		model[key(i)] = nth(i)
	}
	mustHold(t, table, model)
}

// TestTheScratchFileHasNoName, so nothing stays behind, whatever happens to the process.
func TestTheScratchFileHasNoName(t *testing.T) {
	dir := t.TempDir()
	table := newTable(t, Options{Dir: dir})
	if err := table.Put(Key{}, Head{}); err != nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("%v %v, want an empty directory", files, err)
	}
}
