package mail

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tallyhouse/ingest/mail/derived"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

// Mails that became no record are told of on the topic of readings, too (docs/mail.md#the-inbox), before they are marked. A
// mail that becomes records after all is told to be handled.

const unrecordedPrefix = "intake-"

// unrecorded is the id of a mail's reading in a project, "" for one that no project is known of. It rests on the header
// alone: the body of most such mails isn't read, and the header stays the same when the server gives new UIDs.
func unrecorded(tenant, project string, header []byte) string {
	return derived.ID(unrecordedPrefix, header, tenant, project)
}

// told is what the table has of a mail's reading.
type told struct {
	version        int64
	status, reason string
}

// tell sends what has become of mails, as far as the table doesn't have it, and waits until Kafka has acknowledged it.
func (s *session) tell(ctx context.Context, all []candidate) error {
	tenant := s.watch.box.Tenant
	var projects, ids []string
	for _, c := range all {
		for _, project := range places(c.decision) {
			projects, ids = append(projects, project), append(ids, unrecorded(tenant, project, c.mail.Header))
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(projects)
	var known map[string]told
	err := s.retry(ctx, "clickhouse", func() (err error) {
		known, err = s.directory.told(ctx, tenant, slices.Compact(projects), ids)
		return err
	})
	if err != nil {
		return err
	}
	var changes []events.Event
	said := map[string]bool{} // a mail that is there twice, with one header, is one
	now := time.Now().UTC().Truncate(time.Microsecond)
	for _, c := range all {
		for _, project := range places(c.decision) {
			id := unrecorded(tenant, project, c.mail.Header)
			before, is := known[id]
			r := s.unrecordedReading(c, project)
			gone := r.Status == events.ReadingHandled
			// The table may not have yet what was told of a mail that has a mark.
			unknown := !is && (!gone || c.mail.State.Mark() != mailbox.Unmarked || c.mail.State.Released())
			if changed := is && (before.status != r.Status || before.reason != r.Reason.V); (unknown || changed) && !said[id] {
				said[id] = true
				envelope := events.Envelope{ID: id, TenantID: tenant, Version: max(now.UnixMicro(), before.version+1), Op: events.Upsert, At: now}
				e := events.Event{Envelope: envelope, Data: r}
				if _, err := messageOf(events.Readings, e); err != nil { // the mail is more than what is told of it
					s.log.Error("what became of a mail can't be told; please report it", "uid", c.mail.UID, "error", err)
					continue
				}
				changes = append(changes, e)
			}
		}
	}
	return s.sendAll(ctx, events.Readings, changes)
}

// places are the projects below which a mail may have been told of: those of its recipients, and none.
func places(d decision) []string { return append([]string{""}, d.projects...) }

// unrecordedReading is what is told of a mail in one of its places: the reason where it belongs, that it is handled in
// the others.
func (s *session) unrecordedReading(c candidate, project string) *events.Reading {
	d := c.decision
	r := &events.Reading{
		ProjectID: text(project), Status: events.ReadingHandled,
		Mail: evidenceOf(s.watch.box, s.box.UIDValidity, c.mail, message.ReadHeader(c.mail.Header).MessageID()),
	}
	switch belongs := (project == "") == (len(d.projects) == 0); {
	case d.mark == mailbox.Done || !belongs:
		return r
	case d.mark == mailbox.Quarantined:
		r.Status = events.ReadingQuarantined
	default:
		r.Status = events.ReadingWithoutRecord
	}
	r.Reason, r.Detail = text(d.word), text(untrusted.Line(d.reason))
	return r
}

const toldQuery = `SELECT id, row_version, JSONExtractString(reading, 'status'), reason
FROM readings FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id IN {ids:Array(String)} AND NOT deleted`

// told gives what the table has of readings of mails, by id.
func (d directory) told(ctx context.Context, tenant string, projects, ids []string) (map[string]told, error) {
	of := map[string]told{}
	params := database.Params{"tenant": database.Text(tenant), "projects": database.Texts(projects), "ids": database.Texts(ids)}
	err := d.shards.Each(ctx, toldQuery, params, func(scan func(...any) error) error {
		var id, status, reason string
		var version uint64
		if err := scan(&id, &version, &status, &reason); err != nil {
			return err
		}
		of[id] = told{int64(version), status, reason}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what was told of mails: %w", err)
	}
	return of, nil
}
