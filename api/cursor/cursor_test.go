package cursor_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"tallyhouse/api/cursor"
	"tallyhouse/reader"
)

// memory is a store that keeps keys as the table does.
type memory struct {
	mu    sync.Mutex
	keys  []reader.CursorKey
	reads int
	// pause lets two instances find the store empty at the same time.
	pause func()
}

func (m *memory) CursorKeys(context.Context) ([]reader.CursorKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	best := append([]reader.CursorKey(nil), m.keys...)
	for i := range best {
		for j := range best[:i] {
			if best[i].ID > best[j].ID || best[i].ID == best[j].ID && best[i].Secret < best[j].Secret {
				best[i], best[j] = best[j], best[i]
			}
		}
	}
	return best, nil
}

func (m *memory) AddCursorKey(_ context.Context, k reader.CursorKey, _ time.Time) error {
	if m.pause != nil {
		m.pause()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys = append(m.keys, k)
	return nil
}

func loaded(t testing.TB, store cursor.Store) *cursor.Ring {
	t.Helper()
	ring := cursor.FromStore(store)
	if err := ring.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestACursorOpensForItsRequestAlone(t *testing.T) {
	ring, other := loaded(t, &memory{}), loaded(t, &memory{})
	rapid.Check(t, func(t *rapid.T) {
		place := rapid.SliceOfN(rapid.Byte(), 0, cursor.MaxPlace).Draw(t, "place")
		request := rapid.SliceOf(rapid.Byte()).Draw(t, "request")
		sealed, err := ring.Seal(place, request)
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := ring.Seal(place, request); again != sealed {
			t.Fatal("the same place of the same request has two cursors")
		}
		if len(sealed) > cursor.MaxLength || strings.ContainsAny(sealed, "+/=&?#") {
			t.Fatalf("cursor %q", sealed)
		}
		if got, err := ring.Open(context.Background(), sealed, request); err != nil || string(got) != string(place) {
			t.Fatalf("opened as %q, %v", got, err)
		}
		if _, err := ring.Open(context.Background(), sealed, append(request, 0)); !errors.Is(err, cursor.ErrInvalid) {
			t.Fatalf("another request: %v", err)
		}
		if _, err := other.Open(context.Background(), sealed, request); !errors.Is(err, cursor.ErrInvalid) {
			t.Fatalf("another installation: %v", err)
		}
		at := rapid.IntRange(0, len(sealed)-1).Draw(t, "at")
		changed := []byte(sealed)
		changed[at] = rapid.SampledFrom([]byte("ABCxyz019-_")).Filter(func(b byte) bool {
			return b != sealed[at]
		}).Draw(t, "letter")
		if _, err := ring.Open(context.Background(), string(changed), request); !errors.Is(err, cursor.ErrInvalid) {
			t.Fatalf("a changed cursor: %v", err)
		}
		broken := sealed[:at] + rapid.SampledFrom([]string{"\n", "\r", "\r\n"}).Draw(t, "end of line") + sealed[at:]
		if _, err := ring.Open(context.Background(), broken, request); !errors.Is(err, cursor.ErrInvalid) {
			t.Fatalf("a cursor over two lines: %v", err)
		}
	})
}

func TestInstancesThatStartTogetherUnderstandEachOther(t *testing.T) {
	// Given two instances that both find no key and both make one
	var both sync.WaitGroup
	both.Add(2)
	store := &memory{pause: func() { both.Done(); both.Wait() }}
	rings := make([]*cursor.Ring, 2)
	var started sync.WaitGroup
	for i := range rings {
		started.Go(func() { rings[i] = cursor.FromStore(store); _ = rings[i].Load(context.Background()) })
	}
	started.Wait()
	if len(store.keys) != 2 {
		t.Fatalf("%d keys", len(store.keys))
	}
	// And one that has read its own key alone
	alone := &memory{keys: store.keys[:1]}
	early := loaded(t, alone)
	alone.keys = store.keys
	cursor.Forget(early)
	for _, ring := range append(rings, early) {
		for _, other := range append(rings, early) {
			sealed, err := ring.Seal([]byte("R1"), []byte("q"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := other.Open(context.Background(), sealed, []byte("q")); err != nil || string(got) != "R1" {
				t.Errorf("opened as %q, %v", got, err)
			}
		}
	}
}

func TestKeysRotateWithAnOverlap(t *testing.T) {
	// Given a cursor of the old key
	dir, one, two := t.TempDir(), strings.Repeat("01", 32), strings.Repeat("02", 32)
	file := func(text string) *cursor.Ring {
		path := filepath.Join(dir, "keys")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		ring, err := cursor.FromFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return ring
	}
	old, _ := file(one).Seal([]byte("R1"), nil)
	// When a new key goes in front
	rotated := file(two + "\n" + one + "\n\n")
	// Then both open, and new cursors are of the new key
	if got, err := rotated.Open(context.Background(), old, nil); err != nil || string(got) != "R1" {
		t.Errorf("old cursor: %q, %v", got, err)
	}
	fresh, _ := rotated.Seal([]byte("R1"), nil)
	if _, err := file(one).Open(context.Background(), fresh, nil); !errors.Is(err, cursor.ErrInvalid) {
		t.Errorf("new cursor with the old key: %v", err)
	}
	if _, err := file(two).Open(context.Background(), old, nil); !errors.Is(err, cursor.ErrInvalid) {
		t.Errorf("old cursor when its key is gone: %v", err)
	}
}

func TestABadKeyFileIsRefusedWithoutShowingIt(t *testing.T) {
	for name, text := range map[string]string{"empty": "\n", "no hex": strings.Repeat("secret", 12),
		"too short": strings.Repeat("ab", 31), "too many": strings.Repeat(strings.Repeat("ab", 32)+"\n", 2000)} {
		path := filepath.Join(t.TempDir(), "keys")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cursor.FromFile(path); err == nil || strings.Contains(err.Error(), "secret") && name == "no hex" &&
			strings.Contains(err.Error(), "secretsecret") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := cursor.FromFile(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a missing file is taken")
	}
}

// lost is a store that takes keys and shows none.
type lost struct{}

func (lost) CursorKeys(context.Context) ([]reader.CursorKey, error)          { return nil, nil }
func (lost) AddCursorKey(context.Context, reader.CursorKey, time.Time) error { return nil }

// Given a store whose keys can't be read, then that is an error and nothing is sealed.
func TestWithoutKeysNothingIsSealed(t *testing.T) {
	ring := cursor.FromStore(lost{})
	if err := ring.Load(t.Context()); err == nil || ring.Loaded() {
		t.Errorf("loaded: %t, %v", ring.Loaded(), err)
	}
	if sealed, err := ring.Seal([]byte("R1"), nil); err == nil {
		t.Errorf("sealed %q", sealed)
	}
}

func TestUnknownCursorsDoNotFloodTheStore(t *testing.T) {
	store := &memory{}
	ring := loaded(t, store)
	before := store.reads
	for i := range 1000 {
		garbage := hex.EncodeToString([]byte{byte(i), byte(i >> 8)}) + strings.Repeat("A", 60)
		if _, err := ring.Open(context.Background(), garbage, nil); !errors.Is(err, cursor.ErrInvalid) {
			t.Fatalf("%q: %v", garbage, err)
		}
	}
	if store.reads > before+60 {
		t.Errorf("the store was read %d times", store.reads-before)
	}
}

func FuzzOpen(f *testing.F) {
	key := strings.Repeat("07", 32)
	path := filepath.Join(f.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
		f.Fatal(err)
	}
	ring, err := cursor.FromFile(path)
	if err != nil {
		f.Fatal(err)
	}
	sealed, _ := ring.Seal([]byte("R1"), []byte("q"))
	f.Add(sealed)
	f.Add("")
	f.Add("AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		place, err := ring.Open(context.Background(), text, []byte("q"))
		if err == nil && (text != sealed || string(place) != "R1") {
			t.Fatalf("%q opened as %q", text, place)
		}
		if err != nil && !errors.Is(err, cursor.ErrInvalid) {
			t.Fatal(err)
		}
	})
}

// held is a store whose next read waits until it is let go.
type held struct {
	memory
	reading, letGo chan struct{}
}

func (h *held) CursorKeys(ctx context.Context) ([]reader.CursorKey, error) {
	if h.reading != nil {
		h.reading <- struct{}{}
		<-h.letGo
	}
	return h.memory.CursorKeys(ctx)
}

func TestFirstUsesOfANewKeyAtOnceAllOpenAndReadTheKeysOnce(t *testing.T) {
	// Given an instance that has not read the keys since a new one was added, by which another one sealed a cursor
	store := &held{}
	ring := loaded(t, store)
	store.keys = append(store.keys, reader.CursorKey{ID: 2, Secret: strings.Repeat("02", 32)})
	sealed, err := loaded(t, store).Seal([]byte("R1"), []byte("q"))
	if err != nil {
		t.Fatal(err)
	}
	cursor.Forget(ring)
	store.reading, store.letGo = make(chan struct{}), make(chan struct{})
	before := store.reads
	// When many requests bring such cursors while the keys are being read
	const many = 50
	opened := make(chan error, many)
	open := func(ctx context.Context) {
		place, err := ring.Open(ctx, sealed, []byte("q"))
		if err == nil && string(place) != "R1" {
			err = errors.New("another place")
		}
		opened <- err
	}
	leaving, leave := context.WithCancel(context.Background())
	first := make(chan struct{})
	go func() { open(leaving); close(first) }()
	<-store.reading
	leave() // the one that the reading began for doesn't wait for it
	<-first
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("the one that left got %v", err)
	}
	var started sync.WaitGroup
	for range many {
		started.Add(1)
		go func() { started.Done(); open(context.Background()) }()
	}
	started.Wait()
	close(store.letGo)
	// Then all of them open, and the keys were read once.
	for range many {
		if err := <-opened; err != nil {
			t.Errorf("a cursor of the new key: %v", err)
		}
	}
	if store.reads != before+1 {
		t.Errorf("the keys were read %d times", store.reads-before)
	}
}
