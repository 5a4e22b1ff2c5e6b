package answer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// unwanted says why nobody is told.
type unwanted string

// Error is the reason.
func (u unwanted) Error() string { return string(u) }

// errNotYet says that the tables don't have yet what the answer is about.
var errNotYet = errors.New("what was read is not in the table yet")

// compose writes the letter that an answer is, from what the tables have now.
func (s *Sender) compose(ctx context.Context, e events.Event, a *events.Answer) (to string, mail []byte, err error) {
	p, known := s.options.Settings.projects[place{e.TenantID, a.ProjectID}]
	if !known {
		return "", nil, unwanted("the project answers no mails")
	}
	if a.About == events.AboutDay {
		return s.composeDigest(ctx, e, a, p)
	}
	l := &letter{id: e.ID, language: p.Language, at: e.At, Subject: a.Mail.Subject.V, inReplyTo: a.Mail.MessageID.V}
	if a.Mail.ArrivedAt.Ok {
		l.Arrived = day(p.Language, a.Mail.ArrivedAt.V)
	}
	if a.Mail.Sender.Ok {
		l.Sender, l.to = true, a.Mail.Sender.V
		if !p.Senders || !plain(l.to) {
			return "", nil, unwanted("the project does not answer senders")
		}
	} else if l.to, l.Project, err = s.responsible(ctx, e.TenantID, p); err != nil {
		return "", nil, err
	}
	if l.Lines, err = s.lines(ctx, e.TenantID, a, p, l.Sender); err != nil {
		return "", nil, err
	}
	if len(l.Lines) == 0 {
		return "", nil, unwanted("nothing became of the mail")
	}
	if !l.wanted(p) {
		return "", nil, unwanted("the project is not told of this")
	}
	mail, err = l.written(s.texts, s.from)
	return l.to, mail, err
}

// wanted reports whether a letter says anything that the project wants to be told.
func (l *letter) wanted(p project) bool {
	for _, one := range l.Lines {
		switch one.State {
		case analytics.InboxFailed:
			if p.Failure {
				return true
			}
		case analytics.InboxDuplicate:
			if p.Duplicate {
				return true
			}
		default:
			if p.Receipt {
				return true
			}
		}
	}
	return false
}

// day is a day and an hour as people write them.
func day(language string, t time.Time) string {
	date := calendar.ViennaDate(t).String()
	if language == "de" {
		date = date[8:10] + "." + date[5:7] + "." + date[:4]
	}
	return date + " " + calendar.ViennaClock(t)
}

// responsible is the address of a project's responsible user, who may see all of it, and the project's name.
func (s *Sender) responsible(ctx context.Context, tenant string, p project) (address, name string, err error) {
	if address, err = s.directory.user(ctx, tenant, p.Responsible); err != nil {
		return "", "", err
	}
	if address == "" {
		return "", "", unwanted("the responsible user is not active, or has no address")
	}
	seen, err := s.directory.seen(ctx, tenant, p.Responsible, []string{p.Project})
	if err != nil {
		return "", "", err
	}
	name, sees := seen[p.Project]
	if !sees {
		return "", "", unwanted("the responsible user may not see the project")
	}
	return address, name, nil
}

// lines say what became of each file of a mail.
func (s *Sender) lines(ctx context.Context, tenant string, a *events.Answer, p project, sender bool) ([]line, error) {
	if len(a.Mail.Records) == 0 {
		if !a.Mail.Reason.Ok {
			return nil, nil
		}
		reason, err := s.texts.reason(p.Language, a.Mail.Reason.V)
		return []line{{State: analytics.InboxFailed, Reason: reason}}, err
	}
	all, err := s.directory.read(ctx, tenant, a.Mail.Records)
	if err != nil {
		return nil, err
	}
	var lines []line
	for _, r := range all {
		if r.project != a.ProjectID {
			continue // it was moved: who may see it there is told there
		}
		one := line{State: r.state}
		for _, d := range r.reading.Documents {
			if d.Kind == "original" {
				one.File = d.Name
				break
			}
		}
		if r.state == analytics.InboxFailed {
			if one.Reason, err = s.texts.reason(p.Language, r.reading.Reason.V); err != nil {
				return nil, err
			}
		}
		switch {
		case !sender:
			one.Link = s.link(r.id)
			if one.Earlier, err = s.earlier(ctx, tenant, p, analytics.Repeats(&r.reading)); err != nil {
				return nil, err
			}
		case r.state == analytics.InboxDuplicate: // what came before is not the sender's to know
			one.State = analytics.InboxRead
		}
		lines = append(lines, one)
	}
	if len(all) < len(a.Mail.Records) {
		return nil, fmt.Errorf("%w: %d of %d records", errNotYet, len(all), len(a.Mail.Records))
	}
	return lines, nil
}

// link is where the desk shows a record, or its id without a desk.
func (s *Sender) link(id string) string {
	if s.options.Settings.desk == "" {
		return id
	}
	return s.options.Settings.desk + "/inbox/" + url.PathEscape(id)
}

// earlier names those records that the responsible user may see.
func (s *Sender) earlier(ctx context.Context, tenant string, p project, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	all, err := s.directory.read(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	var projects []string
	for _, r := range all {
		projects = append(projects, r.project)
	}
	seen, err := s.directory.seen(ctx, tenant, p.Responsible, projects)
	if err != nil {
		return nil, err
	}
	var links []string
	for _, r := range all {
		if _, sees := seen[r.project]; sees {
			links = append(links, s.link(r.id))
		}
	}
	return links, nil
}
