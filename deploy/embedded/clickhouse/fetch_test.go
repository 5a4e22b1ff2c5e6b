package clickhouse

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tarball is an archive as npm packs it, with the given content as the library.
func tarball(t *testing.T, library string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	archive := tar.NewWriter(zipped)
	for _, file := range [][2]string{{"package/package.json", "{}"}, {"package/" + libraryFile, library}} {
		name, content := file[0], file[1]
		header := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content))}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(archive, content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// releaseOf is a release whose tarball is the given one.
func releaseOf(packed []byte) release {
	hash := sha512.Sum512(packed)
	return release{
		platform:  "test-none",
		integrity: "sha512-" + base64.StdEncoding.EncodeToString(hash[:]),
		tarball:   int64(len(packed)),
		library:   int64(len("the library")),
	}
}

// client puts a program named npm on PATH that runs the shell script with the
// tarball at $TARBALL, and writes a line to the returned file for each call.
func client(t *testing.T, packed []byte, script string) (calls string) {
	t.Helper()
	dir := t.TempDir()
	calls = filepath.Join(dir, "calls")
	write(t, filepath.Join(dir, "tarball"), packed, 0o644)
	npm := "#!/bin/sh\necho \"$@\" >> '" + calls + "'\nTARBALL='" + filepath.Join(dir, "tarball") + "'\n" + script
	write(t, filepath.Join(dir, "npm"), []byte(npm), 0o755)
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return calls
}

const packs = "cp \"$TARBALL\" ./chdb-lib.tgz\necho chdb-lib.tgz\n"

func write(t *testing.T, path string, content []byte, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, content, mode); err != nil {
		t.Fatal(err)
	}
}

func fetchOptions(t *testing.T) Options {
	t.Helper()
	return Options{CacheDir: t.TempDir(), Progress: io.Discard, Log: slog.New(slog.DiscardHandler)}
}

// nothingCached fails where a failed fetch left something that a later start would use or a disk would keep.
func nothingCached(t *testing.T, o Options, r release) {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(o.CacheDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range left {
		if path != filepath.Join(o.CacheDir, r.dir()+".lock") {
			t.Errorf("the failed fetch left %s", path)
		}
	}
}

func TestTheLibraryIsFetchedOnce(t *testing.T) {
	// given an npm client that warns, as it does about settings it does not know
	packed := tarball(t, "the library")
	calls := client(t, packed, "echo 'npm warn Unknown user config \"x\". code ENOTFOUND' >&2\n"+packs)
	o, r := fetchOptions(t), releaseOf(packed)
	var shown bytes.Buffer
	o.Progress = &shown
	// when two need the library at the same time
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			path, err := fetchLibrary(t.Context(), o, r)
			if err != nil {
				t.Error(err)
				return
			}
			// then each has it, as it was packed
			content, err := os.ReadFile(path)
			if err != nil || string(content) != "the library" {
				t.Errorf("read %q, %v from %s", content, err, path)
			}
		})
	}
	both.Wait()
	// and it was fetched once, by package and version, and shown
	called, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(called)), "\n"); len(lines) != 1 || !strings.HasPrefix(lines[0], "pack "+r.spec()+" ") {
		t.Errorf("npm was called with %q", lines)
	}
	for _, part := range []string{"fetching the ClickHouse engine 100%", "unpacking the ClickHouse engine 100%"} {
		if !strings.Contains(shown.String(), part) {
			t.Errorf("the progress shown was %q, without %q", shown.String(), part)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(o.CacheDir, "*.fetching")); len(left) > 0 {
		t.Errorf("the fetch left %v", left)
	}
}

func TestAHalfDoneCacheEntryIsReplaced(t *testing.T) {
	packed := tarball(t, "the library")
	client(t, packed, packs)
	o, r := fetchOptions(t), releaseOf(packed)
	if err := os.MkdirAll(filepath.Join(o.CacheDir, r.dir()), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := fetchLibrary(t.Context(), o, r); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAKilledFetchLeftIsRemoved(t *testing.T) {
	// given what a fetch has put on the disk when it is killed
	packed := tarball(t, "the library")
	place := filepath.Join(t.TempDir(), "place")
	client(t, packed, "pwd > '"+place+"'\nexit 1\n")
	o, r := fetchOptions(t), releaseOf(packed)
	if _, err := fetchLibrary(t.Context(), o, r); err == nil {
		t.Fatal("a fetch whose client fails is taken")
	}
	left, err := os.ReadFile(place)
	if err != nil {
		t.Fatal(err)
	}
	work := strings.TrimSpace(string(left))
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(work, "half"), packed, 0o644)
	// when the next one succeeds
	client(t, packed, packs)
	if _, err := fetchLibrary(t.Context(), o, r); err != nil {
		t.Fatal(err)
	}
	// then nothing of it is left: it would be gigabytes after some
	if _, err := os.Stat(work); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", work, err)
	}
}

func TestAFailedFetchSaysWhatToDo(t *testing.T) {
	good := tarball(t, "the library")
	for _, c := range []struct {
		name   string
		packed []byte
		script string
		reason error
		says   []string
	}{
		{"no name server", good, "echo 'npm error code EAI_AGAIN' >&2; exit 1", errNoNetwork,
			[]string{"EAI_AGAIN", "proxy", "TALLYHOUSE_CLICKHOUSE"}},
		{"an older client without a connection", good, "echo 'npm ERR! code ECONNREFUSED' >&2; exit 1", errNoNetwork, []string{"ECONNREFUSED"}},
		{"the package is gone", good, "echo 'npm error code E404' >&2; exit 1", errFetch, []string{"E404", "npm pack @chdb/lib-"}},
		{"a failure without a code", good, "echo 'something broke' >&2; exit 3", errFetch, []string{"something broke", "exit status 3"}},
		{"a full disk under npm", good, "echo 'npm error code ENOSPC' >&2; exit 1", errDiskFull, []string{"free some", "XDG_CACHE_HOME"}},
		{"success without a tarball", good, "exit 0", errFetch, []string{"0 tarballs", "update npm"}},
		{"another tarball than the pinned one", tarball(t, "another library"), packs, errIntegrity,
			[]string{"expected " + releaseOf(good).integrity, "got " + releaseOf(tarball(t, "another library")).integrity, "mirror"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			client(t, c.packed, c.script)
			o, r := fetchOptions(t), releaseOf(good)
			_, err := fetchLibrary(t.Context(), o, r)
			var failed *startFailure
			if !errors.As(err, &failed) || !errors.Is(err, c.reason) {
				t.Fatalf("got %v, a %T; want %v", err, err, c.reason)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not say %q", err, part)
				}
			}
			nothingCached(t, o, r)
		})
	}
}

func TestWithoutTheNPMClientTheErrorSaysSo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	o, r := fetchOptions(t), releaseOf(nil)
	_, err := fetchLibrary(t.Context(), o, r)
	if !errors.Is(err, errNoClient) || !strings.Contains(err.Error(), "install Node.js") {
		t.Fatalf("got %v", err)
	}
	nothingCached(t, o, r)
}

func TestAFetchThatTakesTooLongEnds(t *testing.T) {
	// given a client that never ends, and whose own child would outlive it
	started := filepath.Join(t.TempDir(), "started")
	client(t, nil, "touch '"+started+"'; sleep 600")
	o, r := fetchOptions(t), releaseOf(nil)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // a start that is cancelled while the client runs
		for range 3000 {
			if _, err := os.Stat(started); err == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	_, err := fetchLibrary(ctx, o, r)
	if !errors.Is(err, errFetch) || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	nothingCached(t, o, r)
	// and what ends by its deadline is called a missing network
	late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	if err := packError(late, r, "", errors.New("signal: killed")); !errors.Is(err, errNoNetwork) {
		t.Fatalf("got %v", err)
	}
}

// full is a disk with room for so many bytes.
type full struct{ room int }

func (f *full) Write(b []byte) (int, error) {
	if len(b) > f.room {
		return f.room, &os.PathError{Op: "write", Path: libraryFile, Err: syscall.ENOSPC}
	}
	f.room -= len(b)
	return len(b), nil
}

func TestAFullDiskIsNamed(t *testing.T) {
	err := copyLibrary(&full{room: 3}, bytes.NewReader(tarball(t, "the library")))
	err = diskError("unpack the library", "/cache/"+libraryFile, err)
	if !errors.Is(err, errDiskFull) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"/cache/" + libraryFile, "free some", "--data-dir", "XDG_CACHE_HOME"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestATarballMustHoldTheLibrary(t *testing.T) {
	var empty bytes.Buffer
	zipped := gzip.NewWriter(&empty)
	if err := errors.Join(tar.NewWriter(zipped).Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	whole := tarball(t, "the library")
	for name, packed := range map[string][]byte{
		"no library in it": empty.Bytes(),
		"cut short":        whole[:len(whole)/2],
		"not an archive":   []byte("<html>"),
	} {
		if err := copyLibrary(io.Discard, bytes.NewReader(packed)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAnUnsupportedPlatformIsNamed(t *testing.T) {
	_, err := releaseFor("plan9-mips")
	if !errors.Is(err, errUnsupportedPlatform) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"plan9-mips", "linux-x64-gnu", "clickhouse binary", "TALLYHOUSE_CLICKHOUSE"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}
