package clickhouse

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// oldestBinary is the first major version whose clickhouse-local listens.
const oldestBinary = 26

// program is what the child runs: RunChild's flag and the file.
type program struct{ flag, path string }

// findProgram prefers a clickhouse binary on PATH and falls back to the library.
func findProgram(ctx context.Context, o Options) (program, error) {
	if path, err := exec.LookPath("clickhouse"); err == nil {
		version, err := binaryVersion(ctx, path)
		switch {
		case err != nil:
			o.Log.Warn("clickhouse on PATH does not tell its version; using the engine library", "path", path, "error", err)
		case version < oldestBinary:
			o.Log.Warn("clickhouse on PATH is too old; using the engine library", "path", path, "version", version, "oldest", oldestBinary)
		default:
			return program{"--binary", path}, nil
		}
	}
	path, err := findLibrary(ctx, o)
	return program{"--library", path}, err
}

var versionText = regexp.MustCompile(`version (\d+)\.\d+`)

// binaryVersion is the major version of a clickhouse binary.
func binaryVersion(ctx context.Context, path string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	output, err := exec.CommandContext(ctx, path, "local", "--version").Output()
	if err != nil {
		return 0, err
	}
	match := versionText.FindSubmatch(output)
	if match == nil {
		return 0, strconv.ErrSyntax
	}
	return strconv.Atoi(string(match[1]))
}

// findLibrary returns the cached library, and fetches it where there is none.
func findLibrary(ctx context.Context, o Options) (string, error) {
	release, err := releaseFor(hostPlatform())
	if err != nil {
		return "", err
	}
	if !loadsLibraries {
		return "", &startFailure{Reason: errNoLoader, Advice: elsewhere + ", or take a program built without the tag static"}
	}
	path := filepath.Join(o.CacheDir, release.dir(), libraryFile)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		return path, nil
	}
	return fetchLibrary(ctx, o, release)
}
