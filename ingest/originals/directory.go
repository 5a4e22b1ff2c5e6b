package originals

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// OpenDirectory opens a directory as a Store, and makes it where it's missing. Only this user can read it. Its error says
// what is wrong with the place.
func OpenDirectory(ctx context.Context, path string) (*Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open the originals: %w", err)
	}
	d := directory{path}
	if err := os.MkdirAll(d.unfinished(), 0o700); err != nil {
		return nil, fmt.Errorf("open the originals at %s: %w", path, err)
	}
	if err := d.tidy(time.Now().Add(-abandoned)); err != nil {
		return nil, fmt.Errorf("open the originals at %s: %w", path, err)
	}
	return open(ctx, d, path)
}

// directory is a backend of files.
type directory struct{ path string }

// abandoned is the age from which on an unfinished file is nobody's any more.
const abandoned = 24 * time.Hour

// unfinished is where files are until they are whole.
func (d directory) unfinished() string { return filepath.Join(d.path, "unfinished") }

// tidy removes what processes that died left unfinished.
func (d directory) tidy(before time.Time) error {
	entries, err := os.ReadDir(d.unfinished())
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && info.ModTime().Before(before) {
			err = os.Remove(filepath.Join(d.unfinished(), e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// create writes the content aside, then links it to its name, which fails where there is one. A file of this name is
// therefore always whole.
func (d directory) create(ctx context.Context, name string, content []byte) (created bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	path := filepath.Join(d.path, filepath.FromSlash(name))
	if _, err := os.Stat(path); err == nil {
		return false, syncDirectory(filepath.Dir(path)) // whoever made it may have died before this
	}
	if err := d.makeParents(name); err != nil {
		return false, err
	}
	aside, err := d.writeAside(content)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.Remove(aside)) }()
	switch err := os.Link(aside, path); {
	case errors.Is(err, fs.ErrExist):
		return false, syncDirectory(filepath.Dir(path))
	case err != nil:
		return false, err
	}
	return true, syncDirectory(filepath.Dir(path))
}

// makeParents makes the directories above a name, each of which its own parent keeps for good.
func (d directory) makeParents(name string) error {
	at := d.path
	steps := strings.Split(name, "/")
	for _, step := range steps[:len(steps)-1] {
		parent := at
		at = filepath.Join(at, step)
		switch err := os.Mkdir(at, 0o700); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return err
		}
		if err := syncDirectory(parent); err != nil {
			return err
		}
	}
	return nil
}

func (d directory) writeAside(content []byte) (path string, err error) {
	f, err := os.CreateTemp(d.unfinished(), "*") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (d directory) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(d.path, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f, limit)
}

func readBounded(r io.Reader, limit int64) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, errTooLarge
	}
	return content, err
}
