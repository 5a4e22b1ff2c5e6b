package clickhouse

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tallyhouse/deploy/embedded/supervise"
)

// binary puts a program named clickhouse on PATH that tells the given version and
// otherwise runs the library, as the real one runs the same engine.
func binary(t *testing.T, version string) (path string) {
	t.Helper()
	o, err := small(t.TempDir()).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	library, err := findLibrary(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path = filepath.Join(dir, "clickhouse")
	write(t, path, []byte(`#!/bin/sh
[ "$1" = local ] || exit 9
shift
if [ "$1" = --version ]; then echo "ClickHouse local version `+version+` (official build)."; exit 0; fi
exec '`+os.Args[0]+`' library '`+library+`' "$@"
`), 0o755)
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return path
}

func TestABinaryOnPathIsUsed(t *testing.T) {
	// given a clickhouse binary that is new enough, and a library that could not be fetched
	path := binary(t, "26.1.2.11")
	o := small(t.TempDir())
	o.CacheDir = filepath.Join(t.TempDir(), "empty")
	// when an engine is started
	e := startWith(t, o, supervise.Usual())
	// then the binary serves, and nothing was fetched
	if got := text(t, connect(t, e), "SELECT 'here'"); got != "here" {
		t.Errorf("got %q", got)
	}
	if _, err := os.Stat(o.CacheDir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a cache was made: %v", err)
	}
	// and it ends with a kill, with nothing left of it
	kill(e)
	await(t, "the engine is healthy again", func() bool { return e.Healthy() == nil })
	if e.Restarts() != 1 {
		t.Errorf("%d restarts, 1 was due", e.Restarts())
	}
	if err := e.Stop(context.Background()); err != nil {
		t.Errorf("%s was not stopped gently: %v", path, err)
	}
}

func TestABinaryThatIsTooOldIsNotUsed(t *testing.T) {
	for _, version := range []string{"25.12.1.1", "of nothing"} {
		binary(t, version)
		o, err := small(t.TempDir()).withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		p, err := findProgram(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if p.flag != "--library" {
			t.Errorf("version %s: got %v", version, p)
		}
	}
}
