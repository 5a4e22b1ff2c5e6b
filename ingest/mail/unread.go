package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// A record that was announced is read as long as its mail waits in the mailbox, whatever happens in between. Where somebody removes the
// mail before, or sets it aside, nothing in the mailbox leads to the record any more: it is found in the table, and fails
// (docs/mail.md#what-happened-to-a-mail). Each worker may do that, again and again: it is the same version with the same content.

// reasonUnread is that of records whose mail is gone.
const reasonUnread = "left-unread"

// detailUnread says what happened and what to do.
const detailUnread = "its mail was removed from the mailbox, or set aside there, before it was read: " +
	"have it read again (tallyhouse mail retry), or ask for it once more"

// unreadElsewhere is how long a record waits whose mail was in a mailbox that this worker doesn't watch, or nobody knows in which: whoever
// watches that may be away.
const unreadElsewhere = 24 * time.Hour

// endAllUnread ends, now and then, the records whose mails nobody will read, until the context ends.
func (w *watch) endAllUnread(ctx context.Context) error {
	tick := time.NewTicker(w.timings.unread)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := w.endUnread(ctx, time.Now().Add(-w.timings.unreadFor)); err != nil && ctx.Err() == nil {
			w.log.Warn("records that were announced and not read can't be looked after; it is tried again", "error", err)
		}
	}
}

// endUnread ends the records that were announced before an instant and whose mail doesn't wait in this mailbox.
func (w *watch) endUnread(ctx context.Context, before time.Time) error {
	all, err := w.directory.unread(ctx, w.box.Tenant, before)
	if err != nil {
		return err
	}
	for _, r := range all {
		mail, noted, err := w.notedMail(ctx, w.box.Tenant, r.id)
		if err != nil {
			return err
		}
		if here := noted && mail.Mailbox == w.name; !here && r.at.After(before.Add(-unreadElsewhere)) {
			continue
		}
		waits, err := w.waits(ctx, r.recordState, mail.MessageID.V)
		if err != nil {
			return err
		}
		if waits {
			continue
		}
		if !noted {
			mail = events.ReadMail{Mailbox: w.name}
		}
		switch err := w.failUnread(ctx, r, mail); {
		case errors.Is(err, errUnfit): // the others are ended all the same
			w.log.Error("a record that was announced can't be ended; please report it", "record", r.id, "error", err)
		case err != nil:
			return err
		}
	}
	return nil
}

// waits reports whether a record's mail is in this mailbox and will be read, or was read: then the table has yet to learn of it.
func (w *watch) waits(ctx context.Context, r recordState, messageID string) (bool, error) {
	own := *w.Intake
	own.options.Mailboxes = []mailbox.Options{w.box}
	mail, err := own.findMail(ctx, w.box.Tenant, r, messageID)
	if errors.Is(err, errNoMail) {
		return false, nil
	}
	return mail.state.Open() || mail.state.Mark() == mailbox.Done, err
}

// failUnread sends that a record failed, as it was announced.
func (w *watch) failUnread(ctx context.Context, r unreadRecord, mail events.ReadMail) error {
	d := draft{tenant: w.box.Tenant, project: r.project, id: r.id, arrived: r.receivedAt}
	for _, doc := range r.documents {
		d.documents = append(d.documents, document{Document: doc})
	}
	e := d.event(versionRead, "failed", time.Now())
	reading := events.Event{Envelope: e.Envelope, Data: &events.Reading{
		ProjectID: events.Some(r.project), Status: events.ReadingFailed,
		Reason: events.Some(reasonUnread), Detail: events.Some(detailUnread), Mail: mail,
	}}
	if err := w.sendAll(ctx, events.Readings, []events.Event{reading}); err != nil {
		return err
	}
	if err := w.sendAll(ctx, events.Records, []events.Event{e}); err != nil {
		return err
	}
	w.metrics.records.WithLabelValues(w.name, "failed").Inc()
	w.metrics.unread.WithLabelValues(reasonUnread).Inc()
	w.log.Warn("a record failed: "+detailUnread, "record", r.id, "project", r.project)
	return nil
}

// unreadRecord is a record that was announced.
type unreadRecord struct {
	recordState
	at        time.Time // when it was
	documents []events.Document
}

// mostUnread is how many records are looked after at a time.
const mostUnread = 100

const unreadQuery = `SELECT project, id, documents, toUnixTimestamp64Micro(at), toUnixTimestamp64Micro(received_at)
FROM records FINAL
WHERE tenant = {tenant:String} AND (project, id) IN (
    SELECT project, id
    FROM records
    PREWHERE tenant = {tenant:String} AND intake_status IN ('queued', 'processing')
    WHERE ` + unreadMatches + `)
  AND ` + unreadMatches + ` AND intake_status IN ('queued', 'processing') AND NOT deleted AND NOT moved
ORDER BY at, id LIMIT {most:UInt32}`

const unreadMatches = `channel = 'email' AND row_version < {read:UInt64} AND startsWith(id, {prefix:String})
  AND toUnixTimestamp64Micro(at) < {before:Int64}`

// unread gives the records that the table has as announced before an instant and not read, the oldest first.
func (d directory) unread(ctx context.Context, tenant string, before time.Time) (all []unreadRecord, err error) {
	params := database.Params{"tenant": database.Text(tenant), "read": strconv.Itoa(versionRead), "prefix": events.MailedPrefix,
		"before": strconv.FormatInt(before.UnixMicro(), 10), "most": strconv.Itoa(mostUnread)}
	err = d.shards.Each(ctx, unreadQuery, params, func(scan func(...any) error) error {
		var r unreadRecord
		var documents string
		var at int64
		var received *int64
		if err := scan(&r.project, &r.id, &documents, &at, &received); err != nil {
			return err
		}
		if received != nil {
			r.receivedAt = time.UnixMicro(*received).UTC()
		}
		r.at = time.UnixMicro(at)
		var err error
		r.documents, err = events.ParseDocuments(documents)
		all = append(all, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("find the records that were announced and not read: %w", err)
	}
	slices.SortFunc(all, func(a, b unreadRecord) int { return a.at.Compare(b.at) })
	return all, nil
}
