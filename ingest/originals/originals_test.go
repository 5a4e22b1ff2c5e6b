package originals

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

// testServer is the variable that names a bucket of a real S3 server for these tests, as OpenBucket takes it.
const testServer = "TALLYHOUSE_TEST_S3"

// places are where originals can be: each opens the same place again and again.
func places(t *testing.T) map[string]func() (*Store, error) {
	t.Helper()
	dir := t.TempDir()
	all := map[string]func() (*Store, error){
		"directory": func() (*Store, error) {
			return OpenDirectory(context.Background(), filepath.Join(dir, "new", "originals"))
		},
	}
	address := fakeBucket(t)
	all["bucket"] = func() (*Store, error) { return OpenBucket(context.Background(), address) }
	if real := os.Getenv(testServer); real != "" {
		all["bucket of "+testServer] = func() (*Store, error) { return OpenBucket(context.Background(), real+"/"+filepath.Base(dir)) }
	}
	return all
}

// fakeBucket is a bucket of an S3 server in this process.
func fakeBucket(t *testing.T) string {
	t.Helper()
	return bucketAt(t, func(server http.Handler) http.Handler { return server })
}

// bucketAt is a bucket of an S3 server behind something that may answer in its place.
func bucketAt(t *testing.T, behind func(server http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("invoices"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(behind(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http://", "http://KEY:hush@", 1) + "/invoices/kept?region=eu-central-1"
}

func TestWhatIsKeptComesBackByItsHash(t *testing.T) {
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) {
			s := opened(t, open)
			for _, content := range []string{"a", strings.Repeat("invoice\x00", 1<<20)} {
				for range 2 { // again changes nothing
					if err := s.Put(t.Context(), "demo", []byte(content)); err != nil {
						t.Fatal(err)
					}
				}
				got, err := opened(t, open).Get(t.Context(), "demo", Of([]byte(content)))
				if err != nil || string(got) != content {
					t.Errorf("of %d bytes %d come back, %v", len(content), len(got), err)
				}
			}
			if _, err := s.Get(t.Context(), "demo", Of([]byte("b"))); !errors.Is(err, ErrNotFound) {
				t.Errorf("what was never kept: %v", err)
			}
		})
	}
}

// Given a bucket that is open, when its key is taken back, then whoever keeps something or asks for it is told so.
func TestAKeyThatIsTakenBackIsToldOf(t *testing.T) {
	var takenBack atomic.Bool
	address := bucketAt(t, func(server http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if takenBack.Load() {
				w.WriteHeader(http.StatusForbidden)
				return
			}
			server.ServeHTTP(w, r)
		})
	})
	s := opened(t, func() (*Store, error) { return OpenBucket(t.Context(), address) })
	if err := s.Put(t.Context(), "demo", []byte("a")); err != nil {
		t.Fatal(err)
	}

	takenBack.Store(true)

	if err := s.Put(t.Context(), "demo", []byte("b")); !errors.Is(err, ErrDenied) {
		t.Errorf("keep another one: %v, want %v", err, ErrDenied)
	}
	if _, err := s.Get(t.Context(), "demo", Of([]byte("a"))); !errors.Is(err, ErrDenied) {
		t.Errorf("get one: %v, want %v", err, ErrDenied)
	}
}

func opened(t *testing.T, open func() (*Store, error)) *Store {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What a tenant has can't be had by another, however it is called.
func TestTenantsAreApart(t *testing.T) {
	tenants := []string{"demo", "Demo", "dem_6f", "..", ".", "a b", "ä", "_", "content", "unfinished", strings.Repeat("x", 200),
		strings.Repeat("x", 199), strings.Repeat("ä", 200)}
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) {
			s := opened(t, open)
			for i, tenant := range tenants {
				mine := []byte(fmt.Sprint("invoice of ", i))
				if err := s.Put(t.Context(), tenant, mine); err != nil {
					t.Fatal(err)
				}
				if before, err := s.Enlist(t.Context(), tenant, "number 7", fmt.Sprint(i)); err != nil || len(before) != 0 {
					t.Errorf("%q sees records of others: %v, %v", tenant, before, err)
				}
				for k, other := range tenants {
					if _, err := s.Get(t.Context(), other, Of(mine)); (k == i) != (err == nil) || k != i && !errors.Is(err, ErrNotFound) {
						t.Errorf("%q, asking for what %q has: %v", other, tenant, err)
					}
				}
			}
		})
	}
}

// Files lie where they have always lain: a version that looked elsewhere would find nothing of before. docs/security.md says how folders
// are called.
func TestFilesLieWhereTheyAlwaysLay(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenDirectory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for tenant, folder := range map[string]string{
		"az-09": "az-09", "A b": "_41_20b", "ä/": "_c3_a4_2f", strings.Repeat("x", 200): strings.Repeat("x", 200),
		strings.Repeat("x", 201): "_" + Of([]byte(strings.Repeat("x", 201))).String(),
	} {
		if err := s.Put(t.Context(), tenant, []byte("a")); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, folder, "content", "ca", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")); string(got) != "a" {
			t.Errorf("what %q keeps isn't there: %v", tenant, err)
		}
	}
}

// Of what several say of a thing at the same time the same counts for all, and for whoever asks later; another thing, and another
// tenant's, is its own.
func TestWhatWasNotedFirstCounts(t *testing.T) {
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) {
			const many = 10
			got := make([]string, many)
			var all sync.WaitGroup
			for i := range many {
				all.Go(func() {
					s, err := open()
					if err == nil {
						var first []byte
						first, err = s.First(t.Context(), "demo", "record 7", fmt.Append(nil, i))
						got[i] = string(first)
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			s := opened(t, open)
			for _, c := range []struct{ tenant, thing, want string }{{"demo", "record 7", got[0]}, {"demo", "record 8", "x"}, {"Demo", "record 7", "x"}} {
				if first, err := s.First(t.Context(), c.tenant, c.thing, []byte("x")); err != nil || string(first) != c.want {
					t.Errorf("of %s of %s was noted %q, want %q; %v", c.thing, c.tenant, first, c.want, err)
				}
			}
			if slices.ContainsFunc(got, func(one string) bool { return one != got[0] || one == "" }) {
				t.Errorf("they see %q", got)
			}
			if _, err := s.First(t.Context(), "demo", "record 9", make([]byte, maxNoted+1)); !errors.Is(err, errTooLarge) {
				t.Errorf("too much is %v", err)
			}
		})
	}
}

// Records have one order, whoever asks again and however many come at the same time: each sees those before it.
func TestRecordsAreEnlistedInOneOrder(t *testing.T) {
	for name, open := range places(t) {
		t.Run(name, func(t *testing.T) {
			const records = MaxListed + 3
			before := make([][]string, records)
			var all sync.WaitGroup
			for i := range records {
				all.Go(func() {
					s, err := open()
					if err == nil {
						before[i], err = s.Enlist(t.Context(), "demo", "number 7", fmt.Sprint(i))
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			s := opened(t, open)
			var places []int
			for i := range records {
				again, err := s.Enlist(t.Context(), "demo", "number 7", fmt.Sprint(i))
				if err != nil || !slices.Equal(again, before[i]) {
					t.Errorf("record %d saw %v before it, and then %v, %v", i, before[i], again, err)
				}
				places = append(places, len(again))
			}
			slices.Sort(places)
			for place, n := range places[:MaxListed] {
				if n != place {
					t.Errorf("the places are %v", places)
				}
			}
			if last := places[MaxListed:]; !slices.Equal(last, []int{MaxListed, MaxListed, MaxListed}) {
				t.Errorf("those behind the bound see %v", last)
			}
			if other, err := s.Enlist(t.Context(), "demo", "number 8", "x"); err != nil || len(other) != 0 {
				t.Errorf("another thing has %v, %v", other, err)
			}
		})
	}
}

// What was changed behind the store's back is told, not given out.
func TestDamageIsTold(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenDirectory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("an invoice of 100 euros")
	if err := s.Put(t.Context(), "demo", content); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(contentName("demo", Of(content))))
	if err := os.WriteFile(path, []byte("an invoice of 900 euros"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "demo", Of(content)); !errors.Is(err, errDamaged) {
		t.Errorf("got %v", err)
	}
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "originals")
	s, err := OpenDirectory(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), "demo", []byte("a")); err != nil {
		t.Fatal(err)
	}
	files := 0
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %s", path, info.Mode())
		}
		if !e.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != 2 { // the marker and the content: nothing unfinished
		t.Errorf("%d files, %v", files, err)
	}
}

// What a process that died had begun is removed once nobody can be at it any more.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for i := range 2 {
		if _, err := OpenDirectory(t.Context(), dir); err != nil {
			t.Fatal(err)
		}
		left, err := os.ReadDir(filepath.Join(dir, "unfinished"))
		if err != nil || len(left) != i {
			t.Fatalf("%d files are left, %v", len(left), err)
		}
		old, young := filepath.Join(dir, "unfinished", "old"), filepath.Join(dir, "unfinished", "young")
		for _, path := range []string{old, young} {
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		long := time.Now().Add(-2 * abandoned)
		if err := os.Chtimes(old, long, long); err != nil {
			t.Fatal(err)
		}
	}
}

// overwriting is a backend that doesn't refuse to overwrite, as some S3 servers don't.
type overwriting struct{ backend }

func (overwriting) create(context.Context, string, []byte) (bool, error) { return true, nil }

func TestAPlaceThatOverwritesIsRefused(t *testing.T) {
	if _, err := open(t.Context(), overwriting{}, "it"); err == nil || !strings.Contains(err.Error(), "overwrites") {
		t.Errorf("got %v", err)
	}
}

func TestWrongPlacesAreToldWithoutTheirSecrets(t *testing.T) {
	for address, want := range map[string]string{
		"":                                   "names no server",
		"ftp://KEY:hush@h/b":                 "names no server",
		"https://KEY:hush@h":                 "names no bucket",
		"https://KEY@h/b":                    "without its secret",
		"https://KEY:hush@h/b?regoin=x":      "unknown parameter regoin",
		"http://KEY:hush@s3.example/b":       "another machine",
		"https://KEY:hush@h/%zz":             "no URL",
		"http://KEY:hush@127.0.0.1:1/b":      "open the originals at http://127.0.0.1:1/b",
		"http://KEY:hush@127.0.0.1:1/b/c/d/": "open the originals at http://127.0.0.1:1/b/c/d:",
	} {
		ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := OpenBucket(ctx, address)
		stop()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: got %v, want %q", address, err, want)
		}
	}
	if _, err := OpenBucket(t.Context(), strings.Replace(fakeBucket(t), "/invoices/", "/missing/", 1)); err == nil {
		t.Error("a bucket that isn't there is taken")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenDirectory(t.Context(), file); err == nil {
		t.Error("a file is taken for a directory")
	}
}
