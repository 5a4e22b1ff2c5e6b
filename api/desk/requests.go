package desk

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/ratelimit"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// What people ask the intake of mail for (docs/mail.md#what-people-ask-for): to read a mail again, to release it, to allow
// its sender. The desk has no mailbox; it sends a request, which the worker that watches the mailbox heeds and answers.

const (
	// requestsOfOne bounds what a person may ask for in a minute, and peopleAsking how many people are counted.
	requestsOfOne = 60
	peopleAsking  = 10_000
	// sendLimit bounds the sending of a request, and shownLimit how long a page waits until it shows it.
	sendLimit, shownLimit = 15 * time.Second, 3 * time.Second
)

func newAskingRule(clock func() time.Time) *ratelimit.Memory {
	return ratelimit.NewMemory(ratelimit.Policy{Events: requestsOfOne, Window: time.Minute}, peopleAsking, clock)
}

// requests are the screens of what people ask for.
func (d *Desk) requests() []route {
	if d.inbox == nil || d.publisher == nil {
		return nil
	}
	return []route{
		{"POST /inbox/{id}/retry", askFor(events.RequestRetry), asksPage},
		{"POST /inbox/{id}/release", askFor(events.RequestRelease), asksPage},
		{"POST /inbox/{id}/allow", askToAllow, asksPage},
		{"GET /inbox/senders", showSenders, asksPage},
		{"POST /inbox/senders/disallow", askToDisallow, asksPage},
	}
}

// mailActions are what a person can ask for about a mail. An address is "" where that isn't offered.
type mailActions struct {
	Retry, Release, Allow string
	Sender                string // whom Allow allows
	Notes                 []string
	Asked                 string // what was asked for last, and what became of it
}

// actions are what the person can ask for about a mail or a mailed record.
func (v *visit) actions(l reader.InboxLine, m mailbox) (a mailActions, err error) {
	if v.desk.publisher == nil {
		return a, nil
	}
	asked, err := v.asked([]reader.InboxLine{l}, m)
	if err != nil {
		return a, err
	}
	if q, ok := asked[l.ID]; ok {
		a.Asked = v.sayAsked(q)
	}
	here := "/inbox/" + url.PathEscape(l.ID)
	switch l.State {
	case analytics.InboxFailed, analytics.InboxWithoutRecord:
		a.Retry = here + "/retry"
	case analytics.InboxQuarantined:
		a.Release = here + "/release"
		var note string
		if a.Sender, note = v.allowable(l); a.Sender != "" {
			a.Allow = here + "/allow"
		}
		if note != "" {
			a.Notes = append(a.Notes, note)
		}
	}
	return a, nil
}

// allowable is the sender of a mail in quarantine, where the person may allow him and that changes something, and what is to be
// known about that.
func (v *visit) allowable(l reader.InboxLine) (sender, note string) {
	mail := l.Reading.Mail
	switch {
	case l.State != analytics.InboxQuarantined || l.Reading.Reason.V != "sender-not-allowed":
		return "", ""
	case mail.Verdict.Ok && mail.Verdict.V != "pass":
		return "", v.text("ask.notVouched", mail.VerdictBy.V, mail.Verdict.V)
	case !v.caller.Administers():
		return "", v.text("ask.administrators")
	case !isAddress(mail.From.V):
		return "", v.text("ask.oneSender")
	case mail.VerdictBy.Ok:
		return strings.ToLower(mail.From.V), v.text("ask.vouched", mail.VerdictBy.V)
	}
	return strings.ToLower(mail.From.V), v.text("ask.nobodyVouches")
}

// isAddress reports whether a text is one address, as one that can be allowed is.
func isAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && local != "" && domain != "" && !strings.ContainsAny(s, ", \t<>\"") && !strings.Contains(domain, "@") &&
		len([]rune(strings.ToLower(s))) <= events.LongestSender
}

// asked are the newest requests about mails, by id.
func (v *visit) asked(lines []reader.InboxLine, m mailbox) (map[string]reader.IntakeRequest, error) {
	ids := make([]string, len(lines))
	for i, l := range lines {
		ids[i] = l.ID
	}
	return v.desk.inbox.IntakeRequests(v.request.Context(), v.caller.Tenant(), m.ids, ids)
}

// waits reports whether a request may still be heeded.
func (v *visit) waits(q reader.IntakeRequest) bool {
	return q.Outcome == "" && v.desk.clock().Sub(q.At) < events.RequestsLast
}

// sayAsked says what was asked for, by whom and when, and what became of it.
func (v *visit) sayAsked(q reader.IntakeRequest) string {
	who := q.By
	if who == "" {
		who = v.text("ask.operator")
	}
	said := v.text("ask.said", v.lang.Name("askedAction", q.Action), who, v.lang.Date(calendar.ViennaDate(q.At)))
	outcome := q.Outcome
	switch {
	case v.waits(q):
		outcome = "waits"
	case outcome == "":
		outcome = events.OutcomeExpired
	}
	said += " " + v.lang.Name("askedOutcome", outcome)
	if q.Outcome == events.OutcomeFailed {
		said += " " + q.Detail
	}
	return said
}

// sayWaits is what a line of the inbox says of a request: that it waits, or why it could not be done.
func (v *visit) sayWaits(q reader.IntakeRequest) string {
	if q.Outcome == events.OutcomeGivenBack || q.Outcome == events.OutcomeReadAgain {
		return ""
	}
	return v.sayAsked(q)
}

// askFor takes a request about a mail.
func askFor(action string) func(v *visit) (answer, error) {
	return func(v *visit) (answer, error) {
		l, m, err := v.reading()
		if err != nil {
			return nil, err
		}
		a, err := v.actions(l, m)
		if err != nil {
			return nil, err
		}
		if action == events.RequestRetry && a.Retry == "" || action == events.RequestRelease && a.Release == "" {
			return nil, &refusedError{v.text("ask.notNow")}
		}
		mail := l.Reading.Mail
		q := &events.Request{Action: action, ProjectID: l.Reading.ProjectID,
			Mail: events.MailPlace{Mailbox: mail.Mailbox, UIDValidity: mail.UIDValidity, UID: mail.UID}}
		if err := v.send(l.ID, q); err != nil {
			return nil, err
		}
		if l.State == analytics.InboxFailed { // the others' pages go once they are records
			return redirect("/inbox/" + url.PathEscape(l.ID)), nil
		}
		return redirect("/inbox"), nil
	}
}

// askToAllow takes the request to allow the sender of a mail.
func askToAllow(v *visit) (answer, error) {
	l, _, err := v.reading()
	if err != nil {
		return nil, err
	}
	sender, _ := v.allowable(l)
	if sender == "" {
		return nil, &refusedError{v.text("ask.notNow")}
	}
	all, err := v.desk.inbox.AllowedSenders(v.request.Context(), v.caller.Tenant(), events.MostAllowedSenders)
	if err != nil {
		return nil, err
	}
	if len(all) >= events.MostAllowedSenders {
		return nil, &refusedError{v.text("ask.tooManySenders", events.MostAllowedSenders)}
	}
	return redirect("/inbox"), v.send(events.SenderRequest(sender), &events.Request{Action: events.RequestAllow, Sender: sender})
}

// askToDisallow takes an allowed sender back.
func askToDisallow(v *visit) (answer, error) {
	if !v.caller.Administers() {
		return nil, errNotFound
	}
	sender := v.request.PostFormValue("sender")
	id := events.SenderRequest(sender)
	before, err := v.desk.inbox.IntakeRequests(v.request.Context(), v.caller.Tenant(), []string{""}, []string{id})
	if err != nil {
		return nil, err
	}
	if before[id].Action != events.RequestAllow {
		return nil, errNotFound
	}
	return redirect("/inbox/senders"), v.send(id, &events.Request{Action: events.RequestDisallow, Sender: sender})
}

// send sends a request of the person and waits for a moment until the database has it, so that the next page shows it.
func (v *visit) send(id string, q *events.Request) error {
	d, tenant := v.desk, v.caller.Tenant()
	if taken, err := d.asking.Take(v.request.Context(), tenant+"/"+v.session.UserID); err != nil || !taken.Accepted {
		return errTooMany
	}
	newest := func(ctx context.Context) (int64, error) {
		before, err := d.inbox.IntakeRequests(ctx, tenant, []string{q.ProjectID.V}, []string{id})
		return before[id].Version, err
	}
	ctx, stop := context.WithTimeout(v.request.Context(), sendLimit)
	defer stop()
	before, err := newest(ctx)
	if err != nil {
		return err
	}
	now := d.clock().UTC().Truncate(time.Microsecond)
	q.RequestedBy, q.RequestedAt = events.Some(v.session.UserID), now
	e := events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: max(now.UnixMicro(), before+1), Op: events.Upsert, At: now},
		Data: q}
	value, err := events.Encode(events.Requests, e)
	if err != nil {
		return fmt.Errorf("write a request: %w", err)
	}
	if err := d.publisher.Publish(ctx, events.Requests, []byte(e.Key()), value); err != nil {
		return fmt.Errorf("send a request: %w", err)
	}
	d.log.Info("somebody asked the intake for something", "tenant", tenant, "user", v.session.UserID, "action", q.Action, "id", id)
	shown, stop := context.WithTimeout(ctx, shownLimit)
	defer stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if has, err := newest(shown); err == nil && has >= e.Version {
			return nil
		}
		select {
		case <-tick.C:
		case <-shown.Done():
			return nil // it is sent; the page shows it later
		}
	}
}

// senderRow is a sender whom people allow.
type senderRow struct{ Sender, By, At string }

// showSenders lists the senders whom people allow, for administrators.
func showSenders(v *visit) (answer, error) {
	if !v.caller.Administers() {
		return nil, errNotFound
	}
	all, err := v.desk.inbox.AllowedSenders(v.request.Context(), v.caller.Tenant(), events.MostAllowedSenders)
	if err != nil {
		return nil, err
	}
	rows := make([]senderRow, len(all))
	for i, q := range all {
		rows[i] = senderRow{Sender: q.Sender, By: q.By, At: v.lang.Date(calendar.ViennaDate(q.At))}
	}
	return view{name: "senders", title: v.text("ask.senders"), here: "inbox", data: rows}, nil
}
