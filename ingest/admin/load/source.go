package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"tallyhouse/schemas/events"
)

// Limits of what is read.
const (
	blockBytes  = 1 << 20
	longestRead = 4 << 20
	// maxLine leaves room for topic and key beside the largest value.
	maxLine = events.MaxMessageBytes + 64<<10
	// maxSpool bounds the copy of standard input.
	maxSpool = 256 << 30
)

// source is one file, of which exactly size bytes are read, twice: to validate it and to send it.
type source struct {
	name     string // as the user knows it
	file     *os.File
	size     int64
	modified time.Time
	named    bool // a temporary file that still has its name
}

// open opens what the user named; "-" and everything that cannot be read twice is copied to a temporary file first.
func open(ctx context.Context, name string, stdin io.Reader) (*source, error) {
	if name == "-" {
		return spool(ctx, "standard input", stdin)
	}
	f, err := Interruptibly(ctx, func() (*os.File, error) { return os.Open(name) }) // of a named pipe it waits for who writes
	if err != nil {
		return nil, fmt.Errorf("open what to load: %w", err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("open what to load: %w", err)
	case info.IsDir():
		err = fmt.Errorf("open what to load: %s is a directory; name the files in it", name)
	case !info.Mode().IsRegular():
		defer f.Close()
		return spool(ctx, name, f)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &source{name: name, file: f, size: info.Size(), modified: info.ModTime()}, nil
}

func spool(ctx context.Context, name string, from io.Reader) (_ *source, err error) {
	f, err := os.CreateTemp("", "tallyhouse-load-")
	if err != nil {
		return nil, fmt.Errorf("make room for %s: %w; point TMPDIR to a place to write", name, err)
	}
	// A file that is open needs no name, and without one it goes with the process, however that ends. Some systems
	// keep the name of what is open.
	s := &source{name: name, file: f, named: os.Remove(f.Name()) != nil}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.size, err = Interruptibly(ctx, func() (int64, error) { return io.Copy(f, io.LimitReader(from, maxSpool+1)) })
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("copy %s: %w", name, context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("copy %s to %s: %w; point TMPDIR to a disk with more room, or load files", name, f.Name(), err)
	}
	if s.size > maxSpool {
		return nil, fmt.Errorf("copy %s: it has more than %d bytes; load it in parts", name, int64(maxSpool))
	}
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("copy %s: %w", name, err)
	}
	s.modified = info.ModTime()
	return s, nil
}

// Interruptibly does what no context ends, such as a read from a pipe to which nobody writes, and returns when the
// context ends: what is left of it waits on, in vain, until the process ends.
func Interruptibly[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		result T
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		result, err := do()
		done <- outcome{result, err}
	}()
	select {
	case o := <-done:
		return o.result, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

func (s *source) close() {
	s.file.Close()
	if s.named {
		os.Remove(s.file.Name())
	}
}

// unchanged reports whether the file still is what was validated.
func (s *source) unchanged() error {
	info, err := s.file.Stat()
	if err != nil {
		return fmt.Errorf("look at %s again: %w", s.name, err)
	}
	if info.Size() != s.size || !info.ModTime().Equal(s.modified) {
		return fmt.Errorf("%s changed while it was loaded: load it again when nobody writes to it", s.name)
	}
	return nil
}

// block is a number of whole lines of a file.
type block struct {
	source *source
	line   int    // number of the first, from 1
	text   []byte // nil when the one line is longer than maxLine
}

// errChanged is the file's end before its size.
var errChanged = errors.New("became shorter while it was read")

// blocks cuts the file into blocks and hands them to each, in order; each may keep them. No more than one block is held
// here.
func (s *source) blocks(each func(block) error) error {
	from := io.NewSectionReader(s.file, 0, s.size)
	var rest []byte // the beginning of a line that is not complete yet
	skipping := false
	line := 1
	for left := s.size; left > 0; {
		more := min(max(int64(len(rest)), blockBytes), longestRead, left) // more and more for a line that has no end yet
		text := make([]byte, int64(len(rest))+more)
		copy(text, rest)
		n, err := io.ReadFull(from, text[len(rest):])
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = errChanged
			}
			return fmt.Errorf("read %s: %w", s.name, err)
		}
		left -= int64(n)
		begun := len(rest) // without a line's end
		if skipping {
			end := bytes.IndexByte(text, '\n')
			if end < 0 {
				continue
			}
			skipping, text = false, text[end+1:]
			line++
		}
		cut := len(text)
		if left > 0 {
			cut = bytes.LastIndexByte(text[begun:], '\n') + 1
			if cut > 0 {
				cut += begun
			}
		}
		rest = text[cut:]
		if cut > 0 {
			if err := each(block{source: s, line: line, text: text[:cut]}); err != nil {
				return err
			}
			line += bytes.Count(text[:cut], []byte{'\n'})
		}
		if len(rest) > maxLine {
			if err := each(block{source: s, line: line}); err != nil {
				return err
			}
			rest, skipping = nil, true
		}
	}
	return nil
}

// lines hands each line of the block that isn't blank to each, with its number.
func (b block) lines(each func(number int, line []byte)) {
	number := b.line
	for text := b.text; len(text) > 0; number++ {
		line, more, _ := bytes.Cut(text, []byte{'\n'})
		if len(bytes.TrimSpace(line)) > 0 {
			each(number, line)
		}
		text = more
	}
}
