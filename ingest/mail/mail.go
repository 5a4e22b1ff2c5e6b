// Package mail turns mailed invoices into records (docs/mail.md). It watches mailboxes, finds the project by the intake
// address and the PDFs and e-invoices by their content, reads mails and files in sandboxed processes, and sends a
// record's versions 1 (queued), 2 (processing) and 3 (completed or failed) to Kafka.
//
// Whenever a process dies: a mail is marked only after Kafka has acknowledged all its records; a mail without a mark is
// read again; a mail that is read twice gives the same ids and versions, so it is one record. Nothing is ever deleted.
// The marks in the mailbox are the only state that says what is to be done.
//
// Of each record the mail and its files are kept before the record is sent, and what was read of them, with the evidence,
// is sent to the topic intake.readings before the record's version that has it.
package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sethvargo/go-retry"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Limits bound what is taken of a mail. The zero value of a field stands for its default.
type Limits struct {
	Bytes int64 // of a mail; default 50 MiB
	message.Limits
}

const (
	defaultBytes = 50 << 20
	// DefaultMaxAmount is 100,000,000.00.
	DefaultMaxAmount = 100_000_000_00
)

// Recipients are the header fields in which an intake address is looked for, by default.
func Recipients() []string {
	return []string{"To", "Cc", "Delivered-To", "X-Original-To", "Envelope-To"}
}

// Options are what an intake needs.
type Options struct {
	Mailboxes  []mailbox.Options // each Address with its tenant
	Recipients []string          // header fields; the envelope's are looked at first, else in this order; default Recipients()
	Limits     Limits
	Reader     isolated.Options // how PDFs and e-invoices are read
	// MaxAmount is the largest amount that is taken as certain, in minor units; default 100,000,000.00, at most
	// events.MaxAmount.
	MaxAmount int64
	// Originals keeps the mails and files of records; nil: they are not kept, and repetitions are not found.
	Originals Originals
	// Answers say who is told of mails; nil: nobody.
	Answers  Answers
	Parallel int // mails read at the same time, per mailbox; default: as many as there are processors, and two at least
	Cluster  kafka.Cluster
	Shards   []*database.Server
	Log      *slog.Logger
	Metrics  prometheus.Registerer
}

// Intake watches mailboxes. Several, in as many processes, may watch the same one.
type Intake struct {
	options   Options
	directory directory
	metrics   *metrics
	timings   timings
	pictures  *semaphore.Weighted // held by files that are drawn or read by OCR
	observe   func(step)          // for tests: what was just done
}

// step is a point at which a worker may die.
type step string

// The steps of a mail.
const (
	stepKnown      step = "known" // a mail of a sender whom people know is queued
	stepClaimed    step = "claimed"
	stepTried      step = "tried" // the reading of a mail, alone, is counted and begins
	stepFetched    step = "fetched"
	stepKept       step = "kept" // mail and files are among the originals
	stepQueued     step = "queued"
	stepProcessing step = "processing"
	stepRead       step = "read"
	stepEvidence   step = "evidence" // Kafka has the reading
	stepCompleted  step = "completed"
	stepMarked     step = "marked"
)

// New checks the options; its error names all that is wrong with them. It does not connect.
func New(o Options) (*Intake, error) {
	var wrong []error
	if len(o.Mailboxes) == 0 {
		wrong = append(wrong, errors.New("no mailbox is given"))
	}
	seen := map[string]bool{}
	for _, m := range o.Mailboxes {
		if m.Tenant == "" || strings.Contains(m.Tenant, "/") {
			wrong = append(wrong, fmt.Errorf("mailbox %s needs a tenant without a slash, not %q", m.Address, m.Tenant))
		}
		if name := boxName(m); seen[name] {
			wrong = append(wrong, fmt.Errorf("mailbox %s is given twice", m.Address))
		} else {
			seen[name] = true
		}
	}
	if o.Limits.Bytes > originals.MaxBytes {
		wrong = append(wrong, fmt.Errorf("the largest mail must have at most %d bytes, not %d", originals.MaxBytes, o.Limits.Bytes))
	}
	if o.MaxAmount < 0 || o.MaxAmount > events.MaxAmount {
		wrong = append(wrong, fmt.Errorf("the largest amount must be within 0 and %d, not %d", int64(events.MaxAmount), o.MaxAmount))
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, fmt.Errorf("intake of mail: %w", err)
	}
	if len(o.Recipients) == 0 {
		o.Recipients = Recipients()
	}
	if o.Limits.Bytes == 0 {
		o.Limits.Bytes = defaultBytes
	}
	if o.MaxAmount == 0 {
		o.MaxAmount = DefaultMaxAmount
	}
	if o.Originals == nil {
		o.Originals = nowhere{}
	}
	if o.Parallel == 0 {
		o.Parallel = max(2, runtime.NumCPU()) // one of them stays free of mails that take long
	}
	return &Intake{
		pictures: semaphore.NewWeighted(max(1, int64(runtime.NumCPU()/2))),
		options:  o, directory: directory{o.Shards}, metrics: newMetrics(o.Metrics), timings: usualTimings(), observe: func(step) {},
	}, nil
}

// Run takes mail in until the context ends.
func (in *Intake) Run(ctx context.Context) error {
	send := in.sender()
	defer send.close()
	work, ctx := errgroup.WithContext(ctx)
	for _, m := range in.options.Mailboxes {
		w := &watch{Intake: in, box: m, send: send, name: m.String(), log: in.options.Log.With("mailbox", m.String())}
		work.Go(func() error { return w.run(ctx) })
		work.Go(func() error { return w.heed(ctx) })
		work.Go(func() error { return w.endAllUnread(ctx) })
	}
	return work.Wait()
}

// retry tries until it works or the context ends: what mail needs is away, so it waits, and nothing is marked.
func (in *Intake) retry(ctx context.Context, what string, try func() error) error {
	const first, most = 200 * time.Millisecond, 15 * time.Second
	pauses := retry.WithCappedDuration(most, retry.NewExponential(first))
	return retry.Do(ctx, pauses, func(ctx context.Context) error {
		err := try()
		if err != nil && ctx.Err() == nil {
			in.metrics.waits.WithLabelValues(what).Inc()
			in.options.Log.Warn("mail waits", "for", what, "error", err)
		}
		return retry.RetryableError(err)
	})
}
