package answer

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/analytics"
	"tallyhouse/ingest/mail/derived"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/money"
)

// A digest is owed from its time of the day on. Every worker says so, once for each day that it sees; the id follows from the
// project and the day, so it is one all the same. What it says is looked up when it is sent.

const (
	// mostSaid bounds the mails that a digest speaks of.
	mostSaid = 20
	// unread is how long before a digest its day ends, so that the mails of the last minutes have been read.
	unread = 5 * time.Minute
	// openLast is how long a mail that nobody saw to is spoken of.
	openLast = 30 * 24 * time.Hour
)

// dayID is the id of a project's digest of a day.
func dayID(at place, d calendar.Date) string {
	return derived.ID("day-", nil, at.tenant, at.project, d.String())
}

// announce says of the digests whose time has come that they are owed.
func (s *Sender) announce(ctx context.Context) error {
	now := s.options.Clock().UTC().Truncate(time.Microsecond)
	today := calendar.ViennaDate(now)
	var due []kafkago.Message
	var of []place
	for at, p := range s.options.Settings.projects {
		if p.Digest == "" || s.announced[at] == today || now.Before(p.digestOn(today)) || len(due) == most {
			continue
		}
		e := events.Event{Data: &events.Answer{About: events.AboutDay, ProjectID: at.project, Day: today},
			Envelope: events.Envelope{ID: dayID(at, today), TenantID: at.tenant, Version: 1, Op: events.Upsert, At: now}}
		value, err := events.Encode(events.Answers, e)
		if err != nil {
			return fmt.Errorf("say that a digest is owed: %w", err)
		}
		due, of = append(due, kafkago.Message{Topic: string(events.Answers), Key: []byte(e.Key()), Value: value}), append(of, at)
	}
	if len(due) == 0 {
		return nil
	}
	if err := s.write(ctx, due...); err != nil {
		return err
	}
	for _, at := range of {
		s.announced[at] = today
	}
	return nil
}

// digest is what the responsible user is told of a day.
type digest struct {
	Project     string
	Since, Till string
	New, Open   int
	More        bool // are open than were counted
	States      []stateCount
	Lines       []digestLine
	Inbox       string // where the desk shows the project's inbox; "" without a desk
}

type stateCount struct {
	Name  string
	Count int
}

// digestLine is a mail that needs somebody, as the desk's inbox says it.
type digestLine struct{ Title, Gross, State, Arrived, Sender, Say, Link string }

// composeDigest writes the digest of a day, from what the tables have now.
func (s *Sender) composeDigest(ctx context.Context, e events.Event, a *events.Answer, p project) (to string, mail []byte, err error) {
	if p.Digest == "" {
		return "", nil, unwanted("the project wants no digest")
	}
	l := &letter{id: e.ID, language: p.Language, at: e.At}
	var d digest
	if l.to, d.Project, err = s.responsible(ctx, e.TenantID, p); err != nil {
		return "", nil, err
	}
	d.Project = untrusted.Cut(untrusted.Line(d.Project), longestSubject)
	since, till := p.digestOn(a.Day-1).Add(-unread), p.digestOn(a.Day).Add(-unread)
	d.Since, d.Till = day(p.Language, since), day(p.Language, till)
	came, err := s.directory.came(ctx, e.TenantID, p.Project, since, till)
	if err != nil {
		return "", nil, err
	}
	if err := s.countStates(&d, p.Language, came); err != nil {
		return "", nil, err
	}
	open, more, err := s.directory.open(ctx, e.TenantID, p.Project, s.options.Clock().Add(-openLast), since)
	if err != nil {
		return "", nil, err
	}
	if d.Open, d.More = len(open), more; d.New == 0 && d.Open == 0 {
		return "", nil, unwanted("nothing is new, and nothing is open")
	}
	if d.Lines, err = s.digestLines(ctx, e.TenantID, p, open[:min(len(open), mostSaid)]); err != nil {
		return "", nil, err
	}
	if s.options.Settings.desk != "" {
		d.Inbox = s.options.Settings.desk + "/inbox?project=" + url.QueryEscape(p.Project)
	}
	subject, err := s.texts.say(p.Language, "subject digest", d)
	if err != nil {
		return "", nil, err
	}
	body, err := s.texts.say(p.Language, "digest", d)
	if err != nil {
		return "", nil, err
	}
	mail, err = l.mail(s.from, subject, body, "auto-generated")
	return l.to, mail, err
}

// countStates says in a digest how many mails came, by their states.
func (s *Sender) countStates(d *digest, language string, came map[analytics.InboxState]int) error {
	for _, state := range analytics.InboxStates() {
		if n := came[state]; n > 0 {
			name, err := s.texts.say(language, "inboxState "+string(state), nil)
			if err != nil {
				return err
			}
			d.New += n
			d.States = append(d.States, stateCount{name, n})
		}
	}
	return nil
}

// digestLines are the lines of mails that still are the project's.
func (s *Sender) digestLines(ctx context.Context, tenant string, p project, ids []string) (lines []digestLine, err error) {
	all, err := s.directory.read(ctx, tenant, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.project != p.Project {
			continue // it was moved meanwhile
		}
		one, err := s.digestLine(p.Language, &r)
		if err != nil {
			return nil, err
		}
		lines = append(lines, one)
	}
	return lines, nil
}

// digestLine says what is the matter with a mail, and what to do, in the words of the inbox.
func (s *Sender) digestLine(language string, r *read) (digestLine, error) {
	one := digestLine{Link: s.link(r.id), Sender: untrusted.Cut(untrusted.Line(r.reading.Mail.From.V), longestFile)}
	if at := r.reading.Mail.ArrivedAt; at.Ok {
		one.Arrived = day(language, at.V)
	}
	text := func(name string) string {
		v, _ := analytics.FieldOf(&r.reading, name)
		return untrusted.Cut(untrusted.Line(v.Text.V), longestFile)
	}
	one.Title = strings.TrimSpace(text("supplierName") + " " + text("invoiceNumber"))
	if one.Title == "" && r.state != analytics.InboxQuarantined { // what its sender wants to be read isn't passed on
		one.Title = untrusted.Cut(untrusted.Line(r.reading.Mail.Subject.V), longestSubject)
	}
	if gross, ok := analytics.FieldOf(&r.reading, "gross"); ok && gross.Minor.Ok && text("currency") != "" {
		one.Gross = amount(language, gross.Minor.V, text("currency"))
	}
	var err error
	if one.State, err = s.texts.say(language, "inboxState "+string(r.state), nil); err == nil {
		one.Say, err = s.texts.matter(language, r)
	}
	if err == nil && one.Title == "" {
		one.Title, err = s.texts.say(language, "no subject", nil)
	}
	return one, err
}

// matter is what is the matter with a mail, and what to do.
func (t texts) matter(language string, r *read) (string, error) {
	switch r.state {
	case analytics.InboxDuplicate:
		return t.say(language, "inbox sayDuplicate", len(analytics.Repeats(&r.reading)))
	case analytics.InboxDoubtful:
		var missing []string
		for _, field := range analytics.Missing(&r.reading) {
			name, err := t.say(language, "field "+field, nil)
			if err != nil {
				return "", err
			}
			missing = append(missing, name)
		}
		if len(missing) > 0 {
			return t.say(language, "inbox sayMissing", strings.Join(missing, ", "))
		}
		return t.say(language, "inbox sayDoubtful", nil)
	case analytics.InboxRead:
		return t.say(language, "inbox sayRead", nil)
	}
	name := "inboxReason " + r.reading.Reason.V
	if t[language].Lookup(name) == nil {
		name = "inbox sayUnknown"
	}
	return t.say(language, name, nil)
}

// amount is an amount of minor units with its currency, as people write it.
func amount(language string, minor int64, code string) string {
	form := money.Form{Minus: "-", Group: ",", Point: "."}
	if language == "de" {
		form.Group, form.Point = ".", ","
	}
	return string(form.AppendMinor(nil, strconv.FormatInt(minor, 10), money.Decimals(code))) + " " + code
}
