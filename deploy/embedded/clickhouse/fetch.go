package clickhouse

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/sethvargo/go-retry"

	"tallyhouse/deploy/embedded/supervise"
)

const (
	// fetchTimeout is enough for the tarball over a line of 2 Mbit/s.
	fetchTimeout = 15 * time.Minute
	// libraryLimit bounds what is unpacked; the library has some 566 MB.
	libraryLimit = 2 << 30
)

// fetchLibrary puts the library into the cache and returns its path. Of several
// processes that need it at once one fetches and the others wait for it.
func fetchLibrary(ctx context.Context, o Options, r release) (string, error) {
	if err := os.MkdirAll(o.CacheDir, 0o755); err != nil {
		return "", diskError("create the cache directory", o.CacheDir, err)
	}
	home := filepath.Join(o.CacheDir, r.dir())
	library := filepath.Join(home, libraryFile)
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	unlock, err := lock(ctx, home+".lock", o.Log)
	if err != nil {
		return "", &startFailure{Reason: errFetch, Detail: "another process has been fetching it for too long", Cause: err,
			Advice: "end that process and start again"}
	}
	defer unlock()
	if _, err := os.Stat(library); err == nil { // another process fetched it meanwhile
		return library, nil
	}
	o.Log.Info("fetching the engine library, once for this user", "package", r.spec(), "to", home)
	work := home + ".fetching"
	if err := os.RemoveAll(work); err != nil { // left by a fetch that was killed
		return "", diskError("clear the directory to fetch to", work, err)
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		return "", diskError("create a directory in the cache", work, err)
	}
	defer os.RemoveAll(work)
	tarball, err := pack(ctx, r, work, o.Progress)
	if err != nil {
		return "", err
	}
	if err := verify(tarball, r); err != nil {
		return "", err
	}
	unpacked := filepath.Join(work, r.dir())
	if err := unpack(tarball, r, filepath.Join(unpacked, libraryFile), o.Progress); err != nil {
		return "", err
	}
	if err := os.RemoveAll(home); err != nil { // left by a fetch that failed
		return "", diskError("clear the cache's place", home, err)
	}
	if err := os.Rename(unpacked, home); err != nil {
		return "", diskError("put the library into the cache", home, err)
	}
	return library, nil
}

// lock waits for the lock file at path.
func lock(ctx context.Context, path string, log *slog.Logger) (unlock func(), err error) {
	waited := false
	err = retry.Constant(ctx, 200*time.Millisecond, func(context.Context) (err error) {
		var free bool
		if unlock, free, err = supervise.TryLock(path); err != nil || free {
			return err
		}
		if !waited {
			log.Info("another process is fetching the engine library: waiting for it")
			waited = true
		}
		return retry.RetryableError(errors.New("another process holds it"))
	})
	if err != nil {
		return nil, fmt.Errorf("take the lock file %s: %w", path, err)
	}
	return unlock, nil
}

// pack has the npm client fetch the release's tarball into dir, and returns its
// path. The client works in dir with a cache of its own there, so that nothing
// of it is left and the directory's growth is its progress.
func pack(ctx context.Context, r release, dir string, progress io.Writer) (string, error) {
	client, err := exec.LookPath("npm")
	if err != nil {
		return "", &startFailure{Reason: errNoClient, Cause: err,
			Advice: "install Node.js with npm to have the engine library fetched, or " + elsewhere}
	}
	cmd := exec.CommandContext(ctx, client, "pack", r.spec(), "--cache", filepath.Join(dir, "npm"),
		"--loglevel", "error", "--ignore-scripts", "--no-update-notifier",
		"--fetch-retries", "2", "--fetch-retry-mintimeout", "1000")
	cmd.Dir = dir
	cmd.SysProcAttr = childAttributes()
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	cmd.WaitDelay = 5 * time.Second
	complaint := &tail{limit: 16 << 10}
	cmd.Stdout, cmd.Stderr = io.Discard, complaint
	bar := newBar(progress, "fetching the ClickHouse engine", r.tarball)
	defer bar.close()
	stop := bar.watch(dir)
	ended := make(chan error, 1)
	if err = startLocked(cmd, ended); err == nil {
		err = <-ended
	}
	stop()
	if err != nil {
		return "", packError(ctx, r, complaint.String(), err)
	}
	tarballs, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil || len(tarballs) != 1 {
		return "", &startFailure{Reason: errFetch, Cause: err,
			Detail: fmt.Sprintf("npm pack %s left %d tarballs where 1 was due", r.spec(), len(tarballs)),
			Advice: "update npm and start again, or " + elsewhere}
	}
	bar.finish()
	return tarballs[0], nil
}

var (
	npmCode      = regexp.MustCompile(`(?m)^npm (?:error|ERR!) code (\S+)`)
	networkCodes = map[string]bool{
		"ENOTFOUND": true, "EAI_AGAIN": true, "ECONNREFUSED": true, "ECONNRESET": true, "ETIMEDOUT": true,
		"ENETUNREACH": true, "EHOSTUNREACH": true, "ERR_SOCKET_TIMEOUT": true, "FETCH_ERROR": true, "ENOTCACHED": true,
	}
)

// packError finds the reason in what the npm client wrote; warnings are ignored.
func packError(ctx context.Context, r release, complaint string, err error) error {
	failed := &startFailure{Reason: errFetch, Detail: "npm pack " + r.spec(), Cause: err,
		Advice: "run that command to see more, or " + elsewhere}
	code := ""
	if match := npmCode.FindStringSubmatch(complaint); match != nil {
		code = match[1]
	}
	switch {
	case networkCodes[code]:
		failed.Reason = errNoNetwork
		failed.Detail += ": " + code
		failed.Advice = "connect this machine, or give npm its proxy, and start again; or " + elsewhere
	case code == "ENOSPC":
		failed.Reason, failed.Advice = errDiskFull, diskAdvice
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		failed.Reason, failed.Cause = errNoNetwork, ctx.Err()
		failed.Advice = "start again on a better line, or " + elsewhere
	case ctx.Err() != nil:
		failed.Cause, failed.Advice = ctx.Err(), "start again"
	case code != "":
		failed.Detail += ": " + code
	default:
		failed.Detail += ": " + lastLines(complaint)
	}
	return failed
}

// verify compares the tarball's hash with the one pinned in the source.
func verify(tarball string, r release) error {
	file, err := os.Open(tarball)
	if err != nil {
		return diskError("open the fetched tarball", tarball, err)
	}
	defer file.Close()
	hash := sha512.New()
	if _, err := io.Copy(hash, file); err != nil {
		return diskError("read the fetched tarball", tarball, err)
	}
	got := "sha512-" + base64.StdEncoding.EncodeToString(hash.Sum(nil))
	if got != r.integrity {
		return &startFailure{Reason: errIntegrity, Detail: r.spec() + ": expected " + r.integrity + ", got " + got,
			Advice: "do not use it: see which proxy or mirror npm is configured with, and start again; or " + elsewhere}
	}
	return nil
}

// unpack writes the library in the tarball to file.
func unpack(tarball string, r release, file string, progress io.Writer) error {
	source, err := os.Open(tarball)
	if err != nil {
		return diskError("open the fetched tarball", tarball, err)
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return diskError("create the library's directory", filepath.Dir(file), err)
	}
	target, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return diskError("create the library", file, err)
	}
	defer target.Close()
	bar := newBar(progress, "unpacking the ClickHouse engine", r.library)
	defer bar.close()
	if err := copyLibrary(io.MultiWriter(target, bar), source); err != nil {
		return diskError("unpack the library", file, err)
	}
	// The rename that follows must not outlive the bytes in a power cut.
	if err := errors.Join(target.Sync(), target.Close()); err != nil {
		return diskError("write the library", file, err)
	}
	bar.finish()
	return nil
}

// copyLibrary finds the library in a gzipped tar archive and copies it.
func copyLibrary(w io.Writer, tarball io.Reader) error {
	plain, err := gzip.NewReader(tarball)
	if err != nil {
		return fmt.Errorf("read the tarball: %w", err)
	}
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the tarball holds no %s", libraryFile)
		}
		if err != nil {
			return fmt.Errorf("read the tarball: %w", err)
		}
		if path.Base(header.Name) != libraryFile || header.Typeflag != tar.TypeReg {
			continue
		}
		if header.Size > libraryLimit {
			return fmt.Errorf("the library has %d bytes, more than %d", header.Size, int64(libraryLimit))
		}
		_, err = io.Copy(w, archive)
		return err
	}
}

const diskAdvice = "free some 1.2 GB there, or choose other directories with --data-dir DIR and XDG_CACHE_HOME"

// diskError names a full disk, and wraps whatever else keeps a file from being written.
func diskError(attempt, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &startFailure{Reason: errDiskFull, Detail: path, Cause: err, Advice: diskAdvice}
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("embedded clickhouse: %s: %w; make %s writable for this user, or choose other directories with "+
			"--data-dir DIR and XDG_CACHE_HOME", attempt, err, path)
	}
	return fmt.Errorf("embedded clickhouse: %s %s: %w", attempt, path, err)
}
