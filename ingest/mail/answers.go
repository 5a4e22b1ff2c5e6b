package mail

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"tallyhouse/ingest/mail/derived"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/events"
)

// What people are to be told of a mail goes to the topic intake.answers before the mail is marked
// (docs/mail.md#answers-by-mail). Package answer sends it: a mail server that is away doesn't touch the intake.

// Answers say whom a project tells of its mails.
type Answers interface {
	// Wanted reports whether the project's responsible user is told of mails, and whether their senders are.
	Wanted(tenant, project string) (responsible, senders bool)
	// Own is the address that answers come from, which is never answered.
	Own() string
}

// answersLast is how long after its arrival a mail is answered: whoever begins with a full mailbox answers nobody.
const answersLast = 24 * time.Hour

// mostAnswers is how many answers one person gets within an hour: whoever may send could have any number sent, and those to others
// would wait behind them.
const mostAnswers = 100

// owed are the answers to a mail, once it is known what became of it. Each has an id that follows from the mail, so it is one
// however often it is written.
func (s *session) owed(m mailbox.Mail, out outcome) []events.Event {
	wanted, box, d := s.options.Answers, s.watch.box, out.decision
	if wanted == nil || !concluded[d.mark] || time.Since(m.Arrived) > answersLast {
		return nil
	}
	h := message.ReadHeader(m.Header)
	sender := vouchedFor(h, box.Senders)
	if unanswerable(h) || strings.EqualFold(sender, wanted.Own()) {
		return nil
	}
	mail := mailIdentity(h.MessageID(), m.Header)
	about := events.AnsweredMail{MessageID: headerText(h.MessageID()), Subject: headerText(h.Text("Subject")), Reason: text(d.word)}
	if t := evidenceOf(box, s.box.UIDValidity, m, "").ArrivedAt; t.Ok {
		about.ArrivedAt = t
	}
	var all []events.Event
	add := func(project, sender string) {
		if !s.letters.use(cmp.Or(sender, thing("project", project)), m.UID, m.Arrived, mostAnswers) {
			s.log.Warn("a mail is not answered: as many were within an hour as may be", "uid", m.UID, "project", project, "most", mostAnswers)
			return
		}
		a := &events.Answer{About: events.AboutMail, ProjectID: project, Mail: about}
		a.Mail.Sender, a.Mail.Records = text(sender), out.became[project]
		id := answerID(box.Tenant, project, mail, "")
		if sender != "" { // of several projects one answers
			id = answerID(box.Tenant, "", mail, sender)
		}
		all = append(all, events.Event{Data: a, Envelope: events.Envelope{ID: id, TenantID: box.Tenant, Version: 1, Op: events.Upsert,
			At: time.Now().UTC().Truncate(time.Microsecond)}})
	}
	for _, project := range d.projects {
		responsible, senders := wanted.Wanted(box.Tenant, project)
		if responsible && d.word != reasonNoInvoice { // a sender may have forgotten the file
			add(project, "")
		}
		if senders && sender != "" {
			add(project, sender)
			sender = ""
		}
	}
	return all
}

// concluded are the marks of mails that are answered. One in quarantine waits for a person, and its sender is to learn nothing.
var concluded = map[mailbox.Mark]bool{mailbox.Done: true, mailbox.Failed: true, mailbox.Ignored: true}

// unanswerable reports whether a mail is one that no program answers (RFC 3834): it came from a program, a list or nobody.
func unanswerable(h message.Header) bool {
	if value, _ := message.Structured(h.Get("Auto-Submitted")); h.Get("Auto-Submitted") != "" && value != "no" {
		return true
	}
	for _, field := range []string{"List-Id", "List-Post", "List-Help", "List-Unsubscribe", "List-Subscribe", "List-Owner", "List-Archive",
		"Mailing-List", "Feedback-Id", "X-Loop", "X-Auto-Response-Suppress"} {
		if len(h.All(field)) > 0 {
			return true
		}
	}
	switch strings.ToLower(strings.TrimSpace(h.Get("Precedence"))) {
	case "bulk", "junk", "list", "auto_reply":
		return true
	}
	for _, path := range h.All("Return-Path") {
		if strings.Trim(path, "<> \t") == "" {
			return true
		}
	}
	return automatic(h) != ""
}

// vouchedFor is the sender of a mail, in lower case, for whom the mailbox's own server vouches; "" when it doesn't, or when
// the address is a program's.
func vouchedFor(h message.Header, s mailbox.Senders) string {
	from := h.Addresses("From")
	if s.AuthServer == "" || len(h.All("From")) != 1 || vouched(h, s.AuthServer) != "pass" {
		return ""
	}
	sender := strings.ToLower(from[0])
	at := strings.LastIndexByte(sender, '@')
	if at <= 0 || strings.ContainsFunc(sender, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"<>,;:\()[]`, c) }) {
		return ""
	}
	switch local := sender[:at]; {
	case slices.Contains(programs, local), strings.HasPrefix(local, "owner-"), strings.HasSuffix(local, "-request"),
		strings.HasSuffix(local, "-bounces"), strings.Contains(local, "noreply"), strings.Contains(local, "no-reply"):
		return ""
	}
	return sender
}

// programs are addresses that no person reads (RFC 3834, 2).
var programs = []string{"mailer-daemon", "postmaster", "listserv", "majordomo", "root", "donotreply", "do-not-reply"}

const answerPrefix = "answer-"

// answerID is the id of the answer to a mail: to the responsible user of a project, or to its sender.
func answerID(tenant, project, mail, sender string) string {
	return derived.ID(answerPrefix, nil, tenant, project, mail, sender)
}

// owe sends the answers to a mail to the outbox. One that can't be written is none: the mail is more than its answer.
func (s *session) owe(ctx context.Context, all []events.Event) error {
	err := s.sendAll(ctx, events.Answers, all)
	if errors.Is(err, errUnfit) {
		s.log.Error("a mail is not answered; please report it", "error", err)
		return nil
	}
	return err
}
