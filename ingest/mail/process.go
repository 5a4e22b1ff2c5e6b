package mail

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/sandbox"
	"tallyhouse/schemas/events"
)

// outcome is what became of a mail, for its mark and its log line.
type outcome struct {
	decision
	records []string            // ids, each with its status
	became  map[string][]string // ids of records, by project
}

// add notes a record that the mail became.
func (o *outcome) add(project, id, status string) {
	o.records = append(o.records, id+" "+status)
	if o.became == nil {
		o.became = map[string][]string{}
	}
	o.became[project] = append(o.became[project], id)
}

// open reads small mails together, marks those that give no record and queues the others again.
func (s *session) open(ctx context.Context, some []candidate) error {
	began := time.Now()
	read, err := s.readSmall(ctx, some)
	if err != nil {
		return err
	}
	each := time.Since(began) / time.Duration(len(some))
	gone := map[mailbox.UID]bool{}
	for _, c := range some {
		gone[c.mail.UID] = true
		s.spent.add(c.sender, each)
	}
	var done batch
	var todo []candidate
	for _, c := range read {
		if c.decision.mark != mailbox.Done {
			done.add(c)
			continue
		}
		c.alone = true
		todo = append(todo, c)
		delete(gone, c.mail.UID)
	}
	if err := s.finishBatch(ctx, done); err != nil {
		return err
	}
	s.free(slices.Collect(maps.Keys(gone))...)
	s.queue.reopen(todo)
	return nil
}

// serveOne handles a mail, or puts it back when it takes so long that others go first.
func (s *session) serveOne(ctx context.Context, c candidate) error {
	t := &turn{queue: s.queue, sender: c.sender, slow: c.slow}
	defer t.end()
	err := s.handle(ctx, &c, t)
	if !errors.Is(err, errLater) {
		s.queue.done(c.mail.UID)
		s.free(c.mail.UID)
		return err
	}
	s.log.Info("a mail takes long, so others go first", "uid", c.mail.UID, "took", t.took.Round(time.Millisecond))
	s.metrics.slow.WithLabelValues(s.name).Inc()
	if err := s.box.Withdraw(ctx, c.mail.UID); err != nil {
		return err
	}
	s.free(s.queue.putBack(c)...)
	return nil
}

// handle claims a mail, makes its records and marks it.
func (s *session) handle(ctx context.Context, c *candidate, t *turn) error {
	began := time.Now()
	m := c.mail
	tried := 0
	if c.read == nil {
		tried = s.tried(m) + 1
	}
	if tried > mailbox.MaxAttempts { // a worker died in the last one
		return s.finish(ctx, m, outcome{decision: failed(reasonNeverEnded, "%s", reasonSetAside).of(c.decision.projects)}, began)
	}
	mine, err := s.box.Claim(ctx, m.UID, tried, s.box.ClaimedByOther(m.State))
	if errors.Is(err, mailbox.ErrGone) {
		return s.gone(m)
	}
	if err != nil {
		return err
	}
	if !mine {
		s.lookAgain(time.Second + rand.N(3*time.Second))
		return nil
	}
	s.observe(stepClaimed)
	defer s.renewClaim(ctx, m.UID)()
	if c.read == nil {
		if c.read, err = s.readAlone(ctx, c, tried, t); err != nil || c.read == nil {
			return err
		}
		c.decision = c.decision.opened(c.read.Mail, c.read.err)
	}
	s.observe(stepFetched)
	out := outcome{decision: c.decision}
	if out.mark == mailbox.Done {
		err = s.process(ctx, m, c.read, &out, t)
	}
	if errors.Is(err, errUnfit) {
		out.decision = failed(reasonRefused, "%s", err).of(c.decision.projects)
	} else if err != nil {
		return err
	}
	return s.finish(ctx, m, out, began)
}

// reasonSetAside is that of mails that are not read again by themselves.
var reasonSetAside = fmt.Sprintf("reading it was begun %d times and never ended; tallyhouse mail release has it tried again",
	mailbox.MaxAttempts)

// readAlone reads a mail in a sandboxed process of its own. Nothing read and no error say that the mail is left as it
// is, to be tried again, or finished.
func (s *session) readAlone(ctx context.Context, c *candidate, tried int, t *turn) (*content, error) {
	m := c.mail
	if !s.box.Keywords() { // which count them otherwise
		s.attempts.set(m.UID, tried)
	}
	raw, err := s.fetchBody(ctx, m)
	switch {
	case errors.Is(err, mailbox.ErrGone):
		return nil, s.gone(m)
	case errors.Is(err, mailbox.ErrTooLarge):
		return &content{err: err}, s.endAttempts(ctx, m.UID)
	case err != nil:
		return nil, err
	}
	began := time.Now()
	read, err := s.readMails(ctx, [][]byte{raw})
	t.spend(time.Since(began))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil && tried < mailbox.MaxAttempts:
		s.log.Warn("a mail could not be read and is tried again", "uid", m.UID, "size", m.Size, "attempt", tried, "error", err)
		s.lookAgain(s.timings.attempts * time.Duration(tried))
		return nil, s.box.Withdraw(ctx, m.UID)
	case err != nil:
		d := failed(reasonNeverEnded, "%s: %s", reasonSetAside, err).of(c.decision.projects)
		return nil, s.finish(ctx, m, outcome{decision: d}, time.Now())
	}
	if err := s.endAttempts(ctx, m.UID); err != nil {
		return nil, err
	}
	return &content{identity: mailIdentity(read[0].Mail.MessageID, raw), raw: raw, err: read[0].Err, Mail: read[0].Mail}, nil
}

// endAttempts forgets the attempts to read a mail: it was read.
func (s *session) endAttempts(ctx context.Context, uid mailbox.UID) error {
	s.attempts.set(uid, 0)
	return s.box.EndAttempts(ctx, uid)
}

// readMails reads mails in one sandboxed process. Its error says that they, and not the installation, are at fault, or
// is the context's.
func (in *Intake) readMails(ctx context.Context, raws [][]byte) (read []message.Result, err error) {
	waited := in.retry(ctx, "reader", func() error {
		read, err = message.ReadAllSandboxed(ctx, raws, in.options.Limits.Limits, in.options.Reader.Sandbox)
		if errors.Is(err, sandbox.ErrStart) {
			return err
		}
		return nil
	})
	return read, errors.Join(err, waited)
}

// renewClaim shows other workers, until it is ended, that this one is alive.
func (s *session) renewClaim(ctx context.Context, uid mailbox.UID) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		// Others look four times within the life of a claim: between two looks it changes once at most.
		tick := time.NewTicker(s.timings.claims / 3)
		defer tick.Stop()
		for beat := true; ; beat = !beat {
			select {
			case <-tick.C:
				if s.box.Renew(context.WithoutCancel(ctx), uid, beat) != nil {
					return // the connection broke, which others notice as well
				}
			case <-ctx.Done():
				return
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}

// process makes the records of a mail. When it returns without an error, Kafka has acknowledged all of them.
//
// A mail with one file is a record whatever the file says, so it shows at once that it waits. Of several files, all are
// read before it is known which of them are invoices.
func (s *session) process(ctx context.Context, m mailbox.Mail, read *content, out *outcome, t *turn) error {
	ids := identities(read.identity, out.files)
	known, err := s.known(ctx, ids, out.projects)
	if err != nil {
		return err
	}
	if len(known) == len(ids)*len(out.projects) { // the mail was read before
		for _, project := range out.projects {
			for _, f := range ids {
				out.add(project, f.in(s.watch.box.Tenant, project), "known")
			}
		}
		return nil
	}
	if len(ids)*len(out.projects) > manyRecords {
		if err := t.longer(); err != nil {
			return err
		}
	}
	from := newSource(s.watch.box, s.box.UIDValidity, m, read.MessageID, read.raw)
	if err := s.keep(ctx, from, out.files); err != nil {
		return err
	}
	drafts := func(f found) (all []draft, err error) {
		for _, project := range out.projects {
			id := ids[f.first].in(s.watch.box.Tenant, project)
			if slices.Contains(known, id) {
				out.add(project, id, "known")
				continue
			}
			first, err := s.agreed(ctx, id, from)
			if err != nil {
				return nil, err
			}
			all = append(all, draft{s.watch.box.Tenant, project, id, f.documents, first,
				first.evidence.ArrivedAt.Or(m.Arrived), s.options.MaxAmount})
		}
		return all, nil
	}
	if len(out.files) == 1 {
		alone, _ := group([]readFile{{File: out.files[0]}})
		one, err := drafts(alone[0])
		if err != nil {
			return err
		}
		if err := s.announce(ctx, one); err != nil {
			return err
		}
		f, err := s.read(ctx, out.files[0].Data, from, t)
		if err != nil {
			return err
		}
		return s.complete(ctx, one, f, out)
	}
	files, err := s.readAll(ctx, out.files, from, t)
	if err != nil {
		return err
	}
	invoices, supporting := group(files)
	s.reportUnread(m, supporting)
	for _, f := range invoices {
		all, err := drafts(f)
		if err != nil {
			return err
		}
		if err := s.announce(ctx, all); err != nil {
			return err
		}
		if err := s.complete(ctx, all, f.reading, out); err != nil {
			return err
		}
	}
	return nil
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
func (w *watch) readAll(ctx context.Context, files []message.File, from source, t *turn) ([]readFile, error) {
	all := make([]readFile, len(files))
	for _, i := range quickFirst(files) {
		all[i] = readFile{files[i], tooLong(w.timings.mail)}
		if t.took >= w.timings.mail {
			continue
		}
		var err error
		if all[i].reading, err = w.read(ctx, files[i].Data, from, t); err != nil {
			return nil, err
		}
	}
	return all, nil
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

// errUnfit says that a mail gives a record that the ledger doesn't take, whatever is tried.
var errUnfit = errors.New("the record breaks the rules of events")
