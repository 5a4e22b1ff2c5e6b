package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/schemas/events"
)

// making is a mail whose files are made records.
type making struct {
	*session
	mail  mailbox.Mail
	from  source
	files []readFile
	had   []string // ids of the records that were read before
	out   *outcome
	turn  *turn
}

// process makes the records of a mail. When it returns without an error, Kafka has acknowledged all of them.
func (s *session) process(ctx context.Context, m mailbox.Mail, read *content, out *outcome, t *turn) error {
	making := &making{session: s, mail: m, out: out, turn: t}
	if err := making.recall(ctx, read.identity); err != nil {
		return err
	}
	if making.allRead() {
		return nil
	}
	if len(out.files)*len(out.projects) > manyRecords {
		if err := t.longer(); err != nil {
			return err
		}
	}
	making.from = newSource(s.watch.box, s.box.UIDValidity, m, read.MessageID, read.raw)
	if err := s.keep(ctx, making.from, out.files); err != nil {
		return err
	}
	if len(out.files) == 1 {
		return making.one(ctx)
	}
	return making.several(ctx)
}

// recall finds which records of the mail's files were made before.
func (m *making) recall(ctx context.Context, mail string) error {
	tenant := m.watch.box.Tenant
	err := m.retry(ctx, "originals", func() (err error) {
		m.files, err = m.watch.recall(ctx, tenant, mail, m.out.files)
		return err
	})
	if err != nil {
		return err
	}
	var ids []identity
	for _, f := range m.files {
		ids = append(ids, f.own)
		if f.isPart() && f.of != f.own {
			ids = append(ids, f.of)
		}
	}
	if m.had, err = m.known(ctx, ids, m.out.projects); err != nil {
		return err
	}
	for i, f := range m.files { // of records that were made before anything was noted of them
		its := slices.ContainsFunc(m.out.projects, func(project string) bool { return slices.Contains(m.had, f.own.in(tenant, project)) })
		if its && !f.isPart() {
			m.files[i].of = f.own
		}
	}
	return nil
}

// allRead reports whether each file of the mail is part of a record that was read before, and tells of those records.
func (m *making) allRead() bool {
	var all outcome
	for _, project := range m.out.projects {
		for _, f := range m.files {
			id := f.of.in(m.watch.box.Tenant, project)
			if !f.isPart() || !slices.Contains(m.had, id) {
				return false
			}
			if !slices.Contains(all.became[project], id) {
				all.add(project, id, "known")
			}
		}
	}
	m.out.records, m.out.became = all.records, all.became
	return true
}

// group finds the invoices among the mail's files.
func (m *making) group(ctx context.Context) (invoices []found, supporting []readFile, err error) {
	err = m.retry(ctx, "originals", func() (err error) {
		invoices, supporting, err = m.grouped(ctx, m.watch.box.Tenant, m.files)
		return err
	})
	return invoices, supporting, err
}

// one makes the records of a mail with one file: it is a record whatever the file says, so it shows at once that it waits.
func (m *making) one(ctx context.Context) error {
	alone, _, err := m.group(ctx)
	if err != nil {
		return err
	}
	all, err := m.drafts(ctx, alone[0])
	if err != nil {
		return err
	}
	if err := m.announce(ctx, all); err != nil {
		return err
	}
	f, err := m.read(ctx, m.files[0].Data, m.from, m.turn)
	if err != nil {
		return err
	}
	return m.complete(ctx, all, f, m.out)
}

// several makes the records of a mail with several files: all are read before it is known which of them are invoices.
func (m *making) several(ctx context.Context) error {
	if err := m.readAll(ctx, m.files, m.from, m.turn); err != nil {
		return err
	}
	invoices, supporting, err := m.group(ctx)
	if err != nil {
		return err
	}
	m.reportUnread(m.mail, supporting)
	for _, f := range invoices {
		all, err := m.drafts(ctx, f)
		if err != nil {
			return err
		}
		if err := m.announce(ctx, all); err != nil {
			return err
		}
		if err := m.complete(ctx, all, f.reading, m.out); err != nil {
			return err
		}
	}
	return nil
}

// drafts are an invoice's records that are to be made, one of each project.
func (m *making) drafts(ctx context.Context, f found) (all []draft, err error) {
	tenant := m.watch.box.Tenant
	for _, project := range m.out.projects {
		id := f.record.in(tenant, project)
		if slices.Contains(m.had, id) {
			m.out.add(project, id, "known")
			continue
		}
		first, err := m.agreed(ctx, id, m.from)
		if err != nil {
			return nil, err
		}
		all = append(all, draft{tenant, project, id, f.documents, first, first.evidence.ArrivedAt.Or(m.mail.Arrived), m.options.MaxAmount})
	}
	return all, nil
}

// reportUnread says which files beside invoices could not be read: a person may know that one of them is an invoice.
func (s *session) reportUnread(m mailbox.Mail, supporting []readFile) {
	for _, f := range supporting {
		if f.reading.reason != string(invoice.NotAnInvoice) {
			s.log.Info("a file beside an invoice could not be read; it is a document of the invoice",
				"uid", m.UID, "name", f.Name, "reason", f.reading.reason, "detail", f.reading.failed)
			s.metrics.unread.WithLabelValues(f.reading.reason).Inc()
		}
	}
}

// known gives the ids of the records that the table has as read: they were written when the mail was read before.
func (w *watch) known(ctx context.Context, files []identity, projects []string) ([]string, error) {
	var known []string
	for _, project := range projects {
		var ids []string
		for _, f := range files {
			ids = append(ids, f.in(w.box.Tenant, project))
		}
		var stored map[string]int64
		err := w.retry(ctx, "clickhouse", func() (err error) {
			stored, err = w.directory.versions(ctx, w.box.Tenant, project, ids)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			if stored[id] >= versionRead {
				known = append(known, id)
			}
		}
	}
	return known, nil
}

// announce sends versions 1 and 2 of records.
func (w *watch) announce(ctx context.Context, drafts []draft) error {
	for _, v := range []struct {
		version int64
		status  string
		step    step
	}{{versionQueued, "queued", stepQueued}, {versionProcessing, "processing", stepProcessing}} {
		var all []events.Event
		for _, d := range drafts {
			all = append(all, d.event(v.version, v.status, time.Now()))
		}
		if err := w.sendAll(ctx, events.Records, all); err != nil {
			return err
		}
		w.observe(v.step)
	}
	return nil
}

// maxLogged bounds the warnings of an invoice that are logged.
const maxLogged = 10

// complete sends version 3 of the records of an invoice, and before them what was read.
func (w *watch) complete(ctx context.Context, drafts []draft, f reading, out *outcome) error {
	var all, evidence []events.Event
	status := "completed"
	for _, d := range drafts {
		e, failure := d.outcome(versionRead, f, time.Now())
		if failure != "" {
			status = "failed"
			w.log.Info("an invoice could not be read", "record", d.id, "name", d.documents[0].Name, "reason", f.reason, "detail", failure)
		}
		if n := len(f.warnings); n > 0 {
			w.log.Info("an invoice was read; something about it is worth a look", "record", d.id, "name", d.documents[0].Name,
				"warnings", f.warnings[max(0, n-maxLogged):])
		}
		var repeated []events.Finding
		err := w.retry(ctx, "originals", func() (err error) {
			repeated, err = w.repeated(ctx, d, f)
			return err
		})
		if err != nil {
			return err
		}
		all = append(all, e)
		evidence = append(evidence, d.evidence(e, f, failure, repeated))
	}
	if err := w.sendAll(ctx, events.Readings, evidence); err != nil {
		return err
	}
	w.observe(stepEvidence)
	if err := w.sendAll(ctx, events.Records, all); err != nil {
		return err
	}
	w.observe(stepCompleted)
	if status == "failed" {
		w.metrics.unread.WithLabelValues(f.reason).Inc()
	}
	for _, d := range drafts {
		out.add(d.project, d.id, status)
		w.metrics.records.WithLabelValues(w.name, status).Inc()
		w.metrics.arrival.Observe(max(0, time.Since(d.arrived).Seconds()))
	}
	return nil
}

// outcome is the event of an invoice that was read, or could not be; then failure says why.
func (d draft) outcome(version int64, f reading, now time.Time) (e events.Event, failure string) {
	if f.failed == "" {
		e = d.complete(version, f, now)
		if _, err := messageOf(events.Records, e); err == nil {
			return e, ""
		} else { // a value that the ledger doesn't take
			f.failed = err.Error()
		}
	}
	return d.event(version, "failed", now), f.failed
}

// readAll reads the files of a mail, for as long as they are allowed together.
func (w *watch) readAll(ctx context.Context, files []readFile, from source, t *turn) (err error) {
	for _, i := range quickFirst(files) {
		if files[i].reading = tooLong(w.timings.mail); t.took >= w.timings.mail {
			continue
		}
		if files[i].reading, err = w.read(ctx, files[i].Data, from, t); err != nil {
			return err
		}
	}
	return nil
}

// read reads a file of a mail and finds the contractor. It waits as long as it takes for what it needs.
func (w *watch) read(ctx context.Context, file []byte, from source, t *turn) (f reading, err error) {
	if t.took > w.timings.slow {
		if err := t.longer(); err != nil {
			return f, err
		}
	}
	var took time.Duration
	var later error
	err = w.retry(ctx, "reader", func() (err error) {
		f, took, err = w.readInvoice(ctx, file, t.longer)
		t.spend(took)
		if errors.Is(err, errLater) {
			later, err = err, nil
		}
		return err
	})
	if err := errors.Join(err, later); err != nil {
		return f, err
	}
	w.metrics.reading.Observe(took.Seconds())
	w.observe(stepRead)
	err = w.retry(ctx, "clickhouse", func() (err error) {
		f, err = w.directory.recognised(ctx, w.box.Tenant, f, from)
		return err
	})
	return f, err
}

// sendAll sends events and waits, as long as it takes, until Kafka has acknowledged them.
func (w *watch) sendAll(ctx context.Context, topic events.Topic, all []events.Event) error {
	if len(all) == 0 {
		return nil
	}
	messages := make([]kafka.Message, len(all))
	for i, e := range all {
		var err error
		if messages[i], err = messageOf(topic, e); err != nil {
			return fmt.Errorf("make a message of %s about %s: %w", topic, e.ID, errors.Join(errUnfit, err))
		}
	}
	return w.retry(ctx, "kafka", func() error { return w.send.try(ctx, messages) })
}
