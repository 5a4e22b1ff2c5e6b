// Package load sends files of change events to Kafka: all lines are validated before the first message is sent. The
// caller can wait until the database holds what was sent.
package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	kafkalog "tallyhouse/schemas/kafka"
)

// Load is a number of files that are being loaded.
type Load struct {
	Entities []*store.Entity // what this installation stores; other topics are refused
	Stdin    io.Reader       // what the file name "-" means
	Progress Progress
	Log      *slog.Logger // for attempts to send that are repeated

	sources []*source
}

// Progress is told how far a load is. Its methods are never called concurrently.
type Progress interface {
	// Stage begins a part of the work, of total units.
	Stage(name string, total int64, unit Unit)
	// Done is how many units of the stage are done.
	Done(units int64)
	// End ends the last stage.
	End()
}

// Unit is what a stage's progress is counted in.
type Unit string

// The units of progress.
const (
	Bytes    Unit = "bytes"
	Messages Unit = "messages"
)

// Checked is what was found in files without a bad line.
type Checked struct {
	Messages int64
	ByTopic  map[string]int64
}

// Sent is what Kafka acknowledged.
type Sent struct {
	Messages int64
	// Next is the offset behind the last message of this load, by topic and partition.
	Next map[string]map[int]uint64
	Took time.Duration
}

// Check opens the files and validates every line. Lines that break a rule are a *BadLines. Close afterwards, whatever
// it returned.
func (l *Load) Check(ctx context.Context, names []string) (Checked, error) {
	for i, name := range names {
		if name == "-" && slices.Contains(names[:i], name) {
			return Checked{}, errors.New("standard input can be loaded once: give - once")
		}
		s, err := open(ctx, name, l.Stdin)
		if err != nil {
			return Checked{}, err
		}
		l.sources = append(l.sources, s)
	}
	return l.check(ctx)
}

// Send sends what Check found good, each entity's messages in the order of the files. After an error some may have been
// sent: sending all of it again is harmless, because versions decide.
func (l *Load) Send(ctx context.Context, c kafka.Cluster, found Checked) (Sent, error) {
	partitions, err := kafka.Partitions(ctx, c)
	if err != nil {
		return Sent{}, err
	}
	var missing []error
	for topic := range found.ByTopic {
		if partitions[topic] == 0 {
			missing = append(missing, fmt.Errorf("%s: %w", topic, kafkalog.ErrUnknown))
		}
	}
	if len(missing) > 0 {
		return Sent{}, errors.Join(missing...)
	}
	return l.send(ctx, c, partitions, found)
}

// Close closes the files.
func (l *Load) Close() {
	for _, s := range l.sources {
		s.close()
	}
	l.sources = nil
}

func (l *Load) bytes() (n int64) {
	for _, s := range l.sources {
		n += s.size
	}
	return n
}
