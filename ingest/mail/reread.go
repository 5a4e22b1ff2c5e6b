package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"tallyhouse/analytics"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/sandbox"
	"tallyhouse/schemas/events"
)

// Retried is what reading a record's invoice again gave.
type Retried struct {
	ID      string `json:"id"`
	Tenant  string `json:"tenant"`
	Version int64  `json:"version"` // that was written
	Status  string `json:"status"`  // completed or failed
	Reason  string `json:"reason,omitempty"`
}

// Why a record can't be read again.
var (
	errNoRecord       = errors.New("no such record among those of mails")
	errSeveralTenants = errors.New("several tenants have a record of this id: give the command the mailboxes of one of them (--imap)")
	errTakenOver      = fmt.Errorf("the application has taken it over (versions from %d on are its own): correct it there",
		analytics.ApplicationsOwn)
	errUnfinished = errors.New("it is not read yet; the worker reads it as soon as it can")
	errNoMail     = errors.New("its mail is not kept, and in none of the mailboxes; see that they are the ones it was sent to (--imap), " +
		"the folder of done mails too (--mail-done, --mail-folder)")
	errWouldDamage = errors.New("it could be read before but can't be now, so nothing was written")
	errConfirmed   = errors.New("a person has confirmed it at the desk, which counts: correct it there")
	errOvertaken   = errors.New("somebody else has written its next version at the same moment: look at it, then try again")
	errNotShown    = errors.New("what was read was sent, but isn't stored yet, so the record was not written: try again once it is")
)

// Retry reads the invoice of a record again and writes the record's next version.
func (in *Intake) Retry(ctx context.Context, id string) (Retried, error) {
	r, err := in.reread(ctx, id)
	if err != nil {
		return r, fmt.Errorf("read record %s again: %w", id, err)
	}
	return r, nil
}

func (in *Intake) reread(ctx context.Context, id string) (Retried, error) {
	tenant, h, err := in.findRecord(ctx, id)
	if err != nil {
		return Retried{}, err
	}
	switch {
	case !h.mailed():
		return Retried{}, errNoRecord
	case h.version+1 >= analytics.ApplicationsOwn:
		return Retried{}, errTakenOver
	case h.status != "completed" && h.status != "failed":
		return Retried{}, errUnfinished
	}
	before, err := in.directory.reading(ctx, tenant, h.project, id)
	version := max(h.version, before.version) + 1
	switch {
	case err != nil:
		return Retried{}, err
	case before.confirmed:
		return Retried{}, errConfirmed
	case version >= analytics.ApplicationsOwn:
		return Retried{}, errTakenOver
	}
	mail, err := in.findMail(ctx, tenant, h, before.mail)
	if errors.Is(err, errNoMail) {
		mail, err = in.keptMail(ctx, tenant, h)
	}
	if err != nil {
		return Retried{}, err
	}
	if err := in.putAll(ctx, tenant, mail.source, mail.files); err != nil {
		return Retried{}, err
	}
	f, err := in.readAgain(ctx, tenant, mail)
	if err != nil {
		return Retried{}, err
	}
	// As the record has it: an arrival that changed would be no correction.
	d := draft{tenant, h.project, h.id, f.documents, mail.source, h.receivedAt, in.options.MaxAmount}
	e, failure := d.outcome(version, f.reading, time.Now())
	out := Retried{ID: id, Tenant: tenant, Version: e.Version, Status: "completed", Reason: failure}
	if failure != "" {
		out.Status = "failed"
		if h.status == "completed" {
			return Retried{}, fmt.Errorf("%w: %s", errWouldDamage, failure)
		}
	}
	return out, in.sendAgain(ctx, d, e, f.reading, failure)
}

// sendAgain sends what was read and, once the table shows that it counts, the record: of several readings with one version the first
// counts, and a person may confirm at this moment.
func (in *Intake) sendAgain(ctx context.Context, d draft, record events.Event, f reading, failure string) error {
	repeated, err := in.repeated(ctx, d, f)
	if err != nil {
		return err
	}
	evidence, err := messageOf(events.Readings, d.evidence(record, f, failure, repeated))
	if err != nil {
		return err
	}
	message, err := messageOf(events.Records, record)
	if err != nil {
		return err
	}
	send := in.sender()
	defer send.close()
	if err := send.try(ctx, []kafka.Message{evidence}); err != nil {
		return err
	}
	if err := in.counts(ctx, d, record); err != nil {
		return err
	}
	return send.try(ctx, []kafka.Message{message})
}

// shownLimit bounds how long a reading may take to be stored.
const shownLimit = time.Minute

// counts waits until the table has a version of a reading, and reports whether it is the one of this record.
func (in *Intake) counts(ctx context.Context, d draft, record events.Event) error {
	ctx, stop := context.WithTimeout(ctx, shownLimit)
	defer stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		now, err := in.directory.reading(ctx, d.tenant, d.project, d.id)
		switch {
		case err == nil && now.confirmed:
			return errConfirmed
		case err == nil && now.version == record.Version && now.at.Equal(record.At):
			return nil
		case err == nil && now.version >= record.Version:
			return errOvertaken
		case err != nil && ctx.Err() == nil:
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errNotShown
		}
	}
}

// findRecord looks for a record in the tenants of all mailboxes. Anybody may give a record any id, another tenant's too, so one that came
// by mail goes before others; where there are several, nothing is guessed.
func (in *Intake) findRecord(ctx context.Context, id string) (tenant string, h recordState, err error) {
	found := 0
	asked := map[string]bool{}
	for _, o := range in.options.Mailboxes {
		if asked[o.Tenant] {
			continue
		}
		asked[o.Tenant] = true
		its, err := in.directory.record(ctx, o.Tenant, id)
		switch {
		case errors.Is(err, errNoRecord):
		case err != nil:
			return "", recordState{}, err
		case found == 0, its.mailed() && !h.mailed():
			tenant, h, found = o.Tenant, its, 1
		case its.mailed() == h.mailed():
			found++
		}
	}
	switch found {
	case 0:
		return "", recordState{}, errNoRecord
	case 1:
		return tenant, h, nil
	}
	return "", recordState{}, errSeveralTenants
}

// mailed reports whether a record is one that came by mail.
func (h recordState) mailed() bool { return !h.deleted && h.channel == "email" }

// mostOpenedAgain bounds how many mails of a folder are opened to find a record's: so many of its very second, and then so many of the
// days around it, for a mailbox that was moved may tell another second.
const mostOpenedAgain = 1000

// readAgain reads the files of a mail again and gives the invoice that one of them is or belongs to. That one is read first:
// it may have been left when the time of its mail was over.
func (in *Intake) readAgain(ctx context.Context, tenant string, mail foundMail) (found, error) {
	at := mail.at
	all, err := in.recall(ctx, tenant, mail.identity, mail.files)
	if err != nil {
		return found{}, err
	}
	record := all[at].own
	all[at].of = record // it has become one
	took := time.Duration(0)
	order := slices.DeleteFunc(quickFirst(all), func(i int) bool { return i == at })
	for _, i := range append([]int{at}, order...) {
		if all[i].reading = tooLong(in.timings.mail); took >= in.timings.mail {
			continue
		}
		reading, its, err := in.readInvoice(ctx, all[i].Data, func() error { return nil })
		took += its
		if err == nil {
			reading, err = in.directory.recognised(ctx, tenant, reading, mail.source)
		}
		if err != nil {
			return found{}, err
		}
		all[i].reading = reading
	}
	invoices, _ := group(all)
	for _, f := range invoices {
		if f.record == record {
			return f, nil
		}
	}
	alone, _ := group(all[at : at+1]) // it was a record of its own, and wouldn't be one now
	return alone[0], nil
}

// foundMail is the mail behind a record.
type foundMail struct {
	source   source
	identity string
	files    []message.File
	at       int           // the file that the record's id rests on
	state    mailbox.State // where it is in a mailbox
}

// findMail finds the mail behind a record by computing the ids of what the files of those mails are that arrived when it
// did. Mails with another Message-ID than the reading tells, "" when it tells none, are not opened: strangers may have sent any
// number at that time.
func (in *Intake) findMail(ctx context.Context, tenant string, h recordState, id string) (foundMail, error) {
	for _, exact := range []bool{true, false} {
		for _, o := range in.options.Mailboxes {
			if o.Tenant != tenant {
				continue
			}
			places := []string{o.Mailbox}
			if o.DoneFolder != "" {
				places = []string{o.DoneFolder, o.Mailbox}
			}
			for _, place := range places {
				o.Mailbox = place
				mail, err := in.findIn(ctx, o, h, id, exact)
				if err != nil || mail.files != nil {
					return mail, err
				}
			}
		}
	}
	return foundMail{}, errNoMail
}

// keptMail is the mail behind a record as it was kept: it may have been removed from its mailbox.
func (in *Intake) keptMail(ctx context.Context, tenant string, h recordState) (foundMail, error) {
	evidence, noted, err := in.notedMail(ctx, tenant, h.id)
	if err != nil {
		return foundMail{}, err
	}
	if !noted || !evidence.SHA256.Ok {
		return foundMail{}, errNoMail
	}
	raw, err := in.Original(ctx, tenant, evidence.SHA256.V)
	if errors.Is(err, originals.ErrNotFound) {
		return foundMail{}, errNoMail
	}
	if err != nil {
		return foundMail{}, err
	}
	return in.openFor(ctx, tenant, h, source{evidence, raw})
}

// openFor opens a mail and finds the file that a record's id rests on; errNoMail says that it has none.
func (in *Intake) openFor(ctx context.Context, tenant string, h recordState, from source) (foundMail, error) {
	mail, err := message.ReadSandboxed(ctx, from.raw, in.options.Limits.Limits, in.options.Reader.Sandbox)
	if errors.Is(err, sandbox.ErrStart) || ctx.Err() != nil {
		return foundMail{}, err
	}
	if err != nil {
		return foundMail{}, errNoMail // it became no record
	}
	from.evidence.MessageID = headerText(mail.MessageID)
	name := mailIdentity(mail.MessageID, from.raw)
	for i, identity := range identities(name, mail.Files) {
		if identity.in(tenant, h.project) == h.id {
			return foundMail{source: from, identity: name, files: mail.Files, at: i}, nil
		}
	}
	return foundMail{}, errNoMail
}

// findIn looks in one folder, at the mails of the record's second or at those of the days around it.
func (in *Intake) findIn(ctx context.Context, o mailbox.Options, h recordState, id string, exact bool) (found foundMail, err error) {
	box, err := mailbox.Open(ctx, o)
	if err != nil {
		return found, err
	}
	defer box.Close()
	uids, err := box.On(ctx, h.receivedAt)
	if err != nil {
		return found, err
	}
	opened := 0
	for m, err := range pages(ctx, box, uids) {
		if err != nil {
			return found, err
		}
		if m.Arrived.Equal(h.receivedAt) != exact || m.Size > in.options.Limits.Bytes {
			continue
		}
		if its := headerText(message.ReadHeader(m.Header).MessageID()).V; id != "" && its != id && (its != "" || exact) {
			continue
		}
		if opened++; opened > mostOpenedAgain {
			break
		}
		raw, err := box.Body(ctx, m, in.options.Limits.Bytes)
		if errors.Is(err, mailbox.ErrGone) || errors.Is(err, mailbox.ErrTooLarge) {
			continue
		}
		if err != nil {
			return found, err
		}
		mail, err := in.openFor(ctx, o.Tenant, h, newSource(o, box.UIDValidity, m, "", raw))
		if !errors.Is(err, errNoMail) {
			mail.state = m.State
			return mail, err
		}
	}
	return found, nil
}
