package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"tallyhouse/schemas/events"
)

// maxShown bounds the bad lines that are listed one by one.
const maxShown = 100

// BadLine is a line that breaks a rule.
type BadLine struct {
	File   string
	Line   int // from 1
	Reason string
	file   int
}

// BadLines are the reason that nothing was sent.
type BadLines struct {
	First []BadLine // at most 100, in the order of the files
	Count int64     // all of them
}

// Error is one line for each bad line: file:line: reason.
func (b *BadLines) Error() string {
	var text strings.Builder
	for _, l := range b.First {
		fmt.Fprintf(&text, "%s:%d: %s\n", l.File, l.Line, l.Reason)
	}
	if more := b.Count - int64(len(b.First)); more > 0 {
		fmt.Fprintf(&text, "and %d more bad lines\n", more)
	}
	return text.String() + "nothing was sent"
}

var errTooLong = fmt.Errorf("the line is longer than %d bytes; a value has at most %d", maxLine, events.MaxMessageBytes)

// checker validates blocks, several at a time.
type checker struct {
	stored Stored

	mu       sync.Mutex
	found    Checked
	bad      []BadLine
	badCount int64
	done     int64
	progress Progress
}

func (l *Load) check(ctx context.Context) (Checked, error) {
	c := &checker{stored: StoredBy(l.Entities), found: Checked{ByTopic: map[string]int64{}}, progress: l.Progress}
	l.Progress.Stage("checking", l.bytes(), Bytes)
	defer l.Progress.End()
	workers, ctx := errgroup.WithContext(ctx)
	type work struct {
		block
		file int
	}
	queue := make(chan work)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() error {
			for w := range queue {
				c.check(w.file, w.block)
			}
			return nil
		})
	}
	workers.Go(func() error {
		defer close(queue)
		for i, s := range l.sources {
			err := s.blocks(func(b block) error {
				select {
				case queue <- work{b, i}:
					return nil
				case <-ctx.Done():
					return fmt.Errorf("check %s: %w", s.name, ctx.Err())
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err := workers.Wait(); err != nil {
		return Checked{}, err
	}
	if c.badCount > 0 {
		c.shorten()
		return Checked{}, &BadLines{First: c.bad, Count: c.badCount}
	}
	return c.found, nil
}

// check validates one block and adds its outcome.
func (c *checker) check(file int, b block) {
	byTopic := map[events.Topic]int64{}
	var bad []BadLine
	var count int64
	refuse := func(line int, err error) {
		if count++; len(bad) < maxShown {
			bad = append(bad, BadLine{File: b.source.name, Line: line, Reason: err.Error(), file: file})
		}
	}
	if b.text == nil {
		refuse(b.line, errTooLong)
	}
	b.lines(func(number int, line []byte) {
		if len(line) > maxLine {
			refuse(number, errTooLong)
			return
		}
		topic, err := c.checkLine(line)
		if err != nil {
			refuse(number, err)
			return
		}
		byTopic[topic]++
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for topic, n := range byTopic {
		c.found.ByTopic[string(topic)] += n
		c.found.Messages += n
	}
	c.badCount += count
	if c.bad = append(c.bad, bad...); len(c.bad) > 2*maxShown {
		c.shorten()
	}
	c.done += int64(len(b.text))
	c.progress.Done(c.done)
}

// checkLine validates one line and returns its topic.
func (c *checker) checkLine(line []byte) (events.Topic, error) {
	m, err := parse(line)
	if err != nil {
		return "", fmt.Errorf("the line %w", err)
	}
	return m.topic, c.stored.Validate(m.topic, m.key, m.value)
}

// shorten keeps the first bad lines alone.
func (c *checker) shorten() {
	slices.SortFunc(c.bad, func(a, b BadLine) int {
		if a.file != b.file {
			return a.file - b.file
		}
		return a.Line - b.Line
	})
	c.bad = c.bad[:min(len(c.bad), maxShown)]
}

var _ error = (*BadLines)(nil)
