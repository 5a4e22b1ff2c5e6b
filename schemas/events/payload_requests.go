package events

import (
	"strings"
	"time"
)

// Request is the payload of Requests: what a person asks the intake of mail to do, and what became of it
// (docs/events.md#intakerequests).
type Request struct {
	Action      string
	ProjectID   Opt[string]
	Mail        MailPlace // with retry and release
	Sender      string    // with allow and disallow
	RequestedBy Opt[string]
	RequestedAt time.Time
	Answer      Opt[RequestAnswer]
}

// What can be asked for.
const (
	RequestRetry    = "retry"
	RequestRelease  = "release"
	RequestAllow    = "allow"
	RequestDisallow = "disallow"
)

// MailPlace is where a mail is.
type MailPlace struct {
	Mailbox     string
	UIDValidity int64
	UID         int64
}

// RequestAnswer is what became of a request.
type RequestAnswer struct {
	At      time.Time
	Outcome string
	Detail  Opt[string]
}

// The outcomes of requests (docs/mail.md#what-people-ask-for).
const (
	OutcomeGivenBack   = "given-back"
	OutcomeReadAgain   = "read-again"
	OutcomeNotWaiting  = "not-waiting"
	OutcomeNoMail      = "no-mail"
	OutcomeNotKept     = "not-kept"
	OutcomeTakenOver   = "taken-over"
	OutcomeConfirmed   = "confirmed"
	OutcomeUnfinished  = "unfinished"
	OutcomeWouldDamage = "would-damage"
	OutcomeExpired     = "expired"
	OutcomeFailed      = "failed"
)

// What the intake and those who ask it go by.
const (
	// RequestsLast is how long after RequestedAt a request is heeded.
	RequestsLast = 24 * time.Hour
	// MostAllowedSenders bounds the senders of a tenant that people allow; those that were allowed first count.
	MostAllowedSenders = 1000
)

// LongestSender is how many characters a sender has at most whom a request is about: it is a part of the request's id.
const LongestSender = MaxIDLength - len(senderID)

const senderID = "sender:"

// SenderRequest is the id of requests about a sender, who is in lower case.
func SenderRequest(sender string) string { return senderID + sender }

var mailPlace = table("mailPlace", "where the mail was when it was read",
	need("mailbox", text, func(m *MailPlace) *string { return &m.Mailbox }),
	need("uidValidity", integer(0, mostUID), func(m *MailPlace) *int64 { return &m.UIDValidity }),
	need("uid", integer(0, mostUID), func(m *MailPlace) *int64 { return &m.UID }),
)

var requestAnswer = table("requestAnswer", "what became of it: the intake's next version of the request; null while nobody has heeded it",
	need("at", instant, func(a *RequestAnswer) *time.Time { return &a.At }),
	need("outcome", extensible(OutcomeGivenBack, OutcomeReadAgain, OutcomeNotWaiting, OutcomeNoMail, OutcomeNotKept,
		OutcomeTakenOver, OutcomeConfirmed, OutcomeUnfinished, OutcomeWouldDamage, OutcomeExpired, OutcomeFailed),
		func(a *RequestAnswer) *string { return &a.Outcome }).
		doc("docs/mail.md#what-people-ask-for"),
	may("detail", chars(0, 1000), func(a *RequestAnswer) *Opt[string] { return &a.Detail }).
		doc("the same for a person"),
)

// asking are the requests for one of these actions.
func asking(actions ...string) condition[Request] {
	return condition[Request]{"action", func(r *Request) string { return r.Action }, actions}
}

var request = table("request", "What a person asks the intake of mail to do, and what became of it. The newest of each mail, and of each "+
	"sender, counts; its version is the microseconds since 1970 at which it was asked.",
	need("action", enum(RequestRetry, RequestRelease, RequestAllow, RequestDisallow), func(r *Request) *string { return &r.Action }).
		doc("`retry`: read the mail or the record's invoice again; `release`: read the mail as one of an allowed sender; `allow`, "+
			"`disallow`: a sender of the tenant may send from now on, or no more"),
	may("projectId", id, func(r *Request) *Opt[string] { return &r.ProjectID }).
		doc("of the mail's reading"),
	when(asking(RequestRetry, RequestRelease), need("mail", mailPlace.kind(), func(r *Request) *MailPlace { return &r.Mail }).
		doc("the id is that of the mail's reading")),
	when(asking(RequestAllow, RequestDisallow), need("sender", chars(1, LongestSender), func(r *Request) *string { return &r.Sender }).
		doc("the address, in lower case; the id is `sender:` and this")),
	may("requestedBy", id, func(r *Request) *Opt[string] { return &r.RequestedBy }).
		doc("the user; null where an operator's command asked"),
	need("requestedAt", instant, func(r *Request) *time.Time { return &r.RequestedAt }),
	may("answer", requestAnswer.kind(), func(r *Request) *Opt[RequestAnswer] { return &r.Answer }),
)

// checkRequest refuses requests about a sender whose id is another one's.
func checkRequest(d *decoder, e *Envelope, r *Request) {
	switch {
	case r.Sender == "":
	case r.Sender != strings.ToLower(r.Sender):
		d.failAt("data.sender", "must be in lower case, not %s", quoted(r.Sender))
	case e.ID != SenderRequest(r.Sender):
		d.failAt("id", "must be %s, not %s", quoted(SenderRequest(r.Sender)), quoted(e.ID))
	}
}
