package mail

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// outcome is what became of a mail, for its mark and its log line.
type outcome struct {
	verdict
	messageID string
	records   []string // ids, each with its status
}

// handle makes the records of a mail. When it returns without an error, Kafka has acknowledged all of them.
func (w *watch) handle(ctx context.Context, m mailbox.Mail, v verdict, raw []byte) (outcome, error) {
	v, header := w.open(v, raw)
	out := outcome{verdict: v, messageID: header.MessageID()}
	if v.mark != mailbox.Done {
		return out, nil
	}
	mail := mailIdentity(header, raw)
	todo, err := w.unwritten(ctx, m, v, mail, &out)
	if err != nil {
		return out, err
	}
	if err := w.announce(ctx, todo); err != nil {
		return out, err
	}
	for i, pdf := range v.pdfs {
		if err := w.readInto(ctx, pdf, todo[i], &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// unwritten gives, for each PDF, the records that aren't read yet, one of each project. Those that the table knows as read were written when the mail was
// read before.
func (w *watch) unwritten(ctx context.Context, m mailbox.Mail, v verdict, mail string, out *outcome) ([][]draft, error) {
	todo := make([][]draft, len(v.pdfs))
	for _, project := range v.projects {
		drafts := make([]draft, len(v.pdfs))
		var ids []string
		for i, pdf := range v.pdfs {
			id := identity{w.box.Tenant, project, mail, i, sha256.Sum256(pdf.Data)}.id()
			drafts[i] = draft{w.box.Tenant, project, id, pdf.Name, m.Arrived}
			ids = append(ids, id)
		}
		var known map[string]int64
		err := w.patiently(ctx, "clickhouse", func() (err error) {
			known, err = w.books.newest(ctx, w.box.Tenant, project, ids)
			return err
		})
		if err != nil {
			return nil, err
		}
		for i, d := range drafts {
			if known[d.id] >= versionRead {
				out.records = append(out.records, d.id+" known")
				continue
			}
			todo[i] = append(todo[i], d)
		}
	}
	return todo, nil
}

// announce sends version 1 of all records of a mail.
func (w *watch) announce(ctx context.Context, todo [][]draft) error {
	var all []events.Event
	for _, drafts := range todo {
		for _, d := range drafts {
			all = append(all, d.event(versionQueued, "queued", time.Now()))
		}
	}
	if err := w.put(ctx, all); err != nil {
		return err
	}
	w.observe(stepQueued)
	return nil
}

// readInto reads a PDF, once for the records of all projects, and sends their versions 2 and 3.
func (w *watch) readInto(ctx context.Context, pdf message.PDF, drafts []draft, out *outcome) error {
	if len(drafts) == 0 {
		return nil
	}
	var events2, events3 []events.Event
	for _, d := range drafts {
		events2 = append(events2, d.event(versionProcessing, "processing", time.Now()))
	}
	if err := w.put(ctx, events2); err != nil {
		return err
	}
	w.observe(stepProcessing)
	f, contractor, err := w.read(ctx, pdf.Data, w.box.Tenant)
	if err != nil {
		return err
	}
	w.observe(stepRead)
	status := "completed"
	for _, d := range drafts {
		e, failure := d.outcome(versionRead, f, contractor, time.Now())
		if failure != "" {
			status = "failed"
			w.log.Info("a PDF could not be read", "record", d.id, "name", d.name, "reason", f.reason, "detail", failure)
		}
		events3 = append(events3, e)
	}
	if err := w.put(ctx, events3); err != nil {
		return err
	}
	w.observe(stepCompleted)
	if status == "failed" {
		w.metrics.unread.WithLabelValues(f.reason).Inc()
	}
	for _, d := range drafts {
		out.records = append(out.records, d.id+" "+status)
		w.metrics.records.WithLabelValues(w.name, status).Inc()
		w.metrics.arrival.Observe(max(0, time.Since(d.arrived).Seconds()))
	}
	return nil
}

// outcome is the event of a PDF that was read, or could not be; then failure says why.
func (d draft) outcome(version int64, f reading, contractor string, now time.Time) (e events.Event, failure string) {
	if f.failed == "" {
		e = d.complete(version, f, contractor, now)
		if _, err := messageOf(e); err == nil {
			return e, ""
		} else { // a value that the ledger doesn't take
			f.failed = err.Error()
		}
	}
	return d.event(version, "failed", now), f.failed
}

// read reads a PDF and finds the contractor, patiently.
func (in *Intake) read(ctx context.Context, pdf []byte, tenant string) (f reading, contractor string, err error) {
	began := time.Now()
	err = in.patiently(ctx, "reader", func() error {
		f, err = readPDF(ctx, pdf, in.options.Reader)
		return err
	})
	if err != nil {
		return f, "", err
	}
	in.metrics.reading.Observe(time.Since(began).Seconds())
	if f.failed != "" || f.taxID == "" && f.supplier == "" {
		return f, "", nil
	}
	err = in.patiently(ctx, "clickhouse", func() (err error) {
		contractor, err = in.books.contractor(ctx, tenant, f.taxID, f.supplier)
		return err
	})
	return f, contractor, err
}

// put sends events and waits, as long as it takes, until Kafka has acknowledged them.
func (w *watch) put(ctx context.Context, all []events.Event) error {
	if len(all) == 0 {
		return nil
	}
	messages := make([]kafka.Message, len(all))
	for i, e := range all {
		var err error
		if messages[i], err = messageOf(e); err != nil {
			return fmt.Errorf("make record %s: %w", e.ID, errors.Join(errUnfit, err))
		}
	}
	return w.patiently(ctx, "kafka", func() error { return w.send.try(ctx, messages) })
}

// errUnfit says that a mail gives a record that the ledger doesn't take, whatever is tried.
var errUnfit = errors.New("the record does not hold to the rules of events")
