package events

import (
	"time"

	"tallyhouse/schemas/calendar"
)

// Answer is the payload of Answers: a mail that the intake owes a person, and what became of it
// (docs/events.md#intakeanswers).
type Answer struct {
	About     string
	ProjectID string
	Mail      AnsweredMail  // about a mail
	Day       calendar.Date // about a day
	Outcome   Opt[AnswerOutcome]
}

// What answers are about.
const (
	AboutMail = "mail"
	AboutDay  = "day"
)

// AnsweredMail is a mail with what became of it. With a Sender the answer goes there.
type AnsweredMail struct {
	MessageID Opt[string]
	Subject   Opt[string]
	ArrivedAt Opt[time.Time]
	Sender    Opt[string]
	Records   []string
	Reason    Opt[string]
}

// AnswerOutcome is what became of an answer.
type AnswerOutcome struct {
	At     time.Time
	What   string
	Detail Opt[string]
}

// The outcomes of answers (docs/mail.md#answers-by-mail).
const (
	AnswerSent     = "sent"
	AnswerUnwanted = "unwanted"
	AnswerRefused  = "refused"
	AnswerExpired  = "expired"
)

var answeredMail = table("answeredMail", "",
	may("messageId", text, func(m *AnsweredMail) *Opt[string] { return &m.MessageID }),
	may("subject", text, func(m *AnsweredMail) *Opt[string] { return &m.Subject }),
	may("arrivedAt", instant, func(m *AnsweredMail) *Opt[time.Time] { return &m.ArrivedAt }),
	may("sender", chars(1, 320), func(m *AnsweredMail) *Opt[string] { return &m.Sender }).
		doc("who gets the answer: the sender, for whom the mailbox's own server vouched; null: the project's responsible user"),
	need("records", list(id), func(m *AnsweredMail) *[]string { return &m.Records }).
		doc("that it became"),
	may("reason", text, func(m *AnsweredMail) *Opt[string] { return &m.Reason }).
		doc("why it became none: docs/mail.md#the-inbox"),
)

var answerOutcome = table("answerOutcome", "what became of it: the answer's next version; null while it is owed",
	need("at", instant, func(o *AnswerOutcome) *time.Time { return &o.At }),
	need("what", extensible(AnswerSent, AnswerUnwanted, AnswerRefused, AnswerExpired), func(o *AnswerOutcome) *string { return &o.What }).
		doc("docs/mail.md#answers-by-mail"),
	may("detail", chars(0, 1000), func(o *AnswerOutcome) *Opt[string] { return &o.Detail }).
		doc("the same for a person"),
)

// about are the answers about one of these.
func about(what string) condition[Answer] {
	return condition[Answer]{"about", func(a *Answer) string { return a.About }, []string{what}}
}

var answer = table("answer", "A mail that the intake owes a person, and what became of it. Its id follows from the mail that it answers, "+
	"or from the project and the day, so that it is one however often it is written; its first version is 1.",
	need("about", enum(AboutMail, AboutDay), func(a *Answer) *string { return &a.About }).
		doc("a mail that came in, or all of a day"),
	need("projectId", id, func(a *Answer) *string { return &a.ProjectID }),
	when(about(AboutMail), need("mail", answeredMail.kind(), func(a *Answer) *AnsweredMail { return &a.Mail })),
	when(about(AboutDay), need("day", date, func(a *Answer) *calendar.Date { return &a.Day }).
		doc("in Vienna, on which it is sent")),
	may("outcome", answerOutcome.kind(), func(a *Answer) *Opt[AnswerOutcome] { return &a.Outcome }),
)
