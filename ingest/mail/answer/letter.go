package answer

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"
	"time"

	"github.com/emersion/go-message/mail"

	"tallyhouse/analytics"
	"tallyhouse/ingest/untrusted"
)

// languages are those that there are texts in.
var languages = []string{"de", "en"}

//go:embed texts
var files embed.FS

// texts are the templates, by language.
type texts map[string]*template.Template

func readTexts() (texts, error) {
	all := texts{}
	for _, language := range languages {
		t, err := template.New(language).Option("missingkey=error").ParseFS(files, "texts/"+language+".tmpl")
		if err != nil {
			return nil, err
		}
		all[language] = t
	}
	return all, nil
}

// Bounds of what strangers wrote, in characters, and of lines.
const (
	longestSubject = 150
	longestFile    = 100
	mostLines      = 50
)

// letter is what one person is told of one mail. Of what a stranger wrote it has the subject and the files' names alone.
type letter struct {
	Sender  bool // to the mail's sender, who is told of no project and of no other record
	Project string
	Subject string
	Arrived string
	Lines   []line
	More    int // lines that are left out

	to        string
	id        string // of the answer
	inReplyTo string // Message-ID
	language  string
	at        time.Time
}

// line is what became of one file.
type line struct {
	File    string
	State   analytics.InboxState
	Reason  string
	Link    string
	Earlier []string // links, or ids, of records that the reader may see
}

// kind is the weightiest thing that a letter says.
func (l *letter) kind() string {
	kind := "receipt"
	for _, one := range l.Lines {
		switch {
		case one.State == analytics.InboxFailed:
			return "failure"
		case one.State == analytics.InboxDuplicate:
			kind = "duplicate"
		}
	}
	return kind
}

// reason is a cause in words, for a person.
func (t texts) reason(language, word string) (string, error) {
	name := "reason " + word
	if t[language].Lookup(name) == nil {
		name = "reason"
	}
	return t.say(language, name, nil)
}

func (t texts) say(language, name string, data any) (string, error) {
	var b strings.Builder
	err := t[language].ExecuteTemplate(&b, name, data)
	return b.String(), err
}

// identifier is a Message-ID that can be repeated as it is.
var identifier = regexp.MustCompile(`^[A-Za-z0-9!#$%&'*+/=?^_{|}~.-]{1,300}@[A-Za-z0-9.-]{1,255}$`)

// written is the letter as a mail from an address.
func (l *letter) written(t texts, from mail.Address) ([]byte, error) {
	var err error
	l.Subject = untrusted.Cut(untrusted.Line(l.Subject), longestSubject)
	if l.Subject == "" {
		if l.Subject, err = t.say(l.language, "no subject", nil); err != nil {
			return nil, err
		}
	}
	l.Project = untrusted.Cut(untrusted.Line(l.Project), longestSubject)
	l.More = max(0, len(l.Lines)-mostLines)
	kind := l.kind()
	l.Lines = l.Lines[:len(l.Lines)-l.More]
	for i := range l.Lines {
		l.Lines[i].File = untrusted.Cut(untrusted.Line(l.Lines[i].File), longestFile)
	}
	subject, err := t.say(l.language, "subject "+kind, l)
	if err != nil {
		return nil, err
	}
	body, err := t.say(l.language, "mail", l)
	if err != nil {
		return nil, err
	}
	return l.mail(from, subject, body, "auto-replied")
}

// mail puts a header before a body.
func (l *letter) mail(from mail.Address, subject, body, how string) ([]byte, error) {
	var h mail.Header
	h.SetAddressList("From", []*mail.Address{&from})
	h.SetAddressList("To", []*mail.Address{{Address: l.to}})
	h.SetSubject(untrusted.Line(subject))
	h.SetDate(l.at.UTC())
	h.SetMessageID(l.id + from.Address[strings.LastIndexByte(from.Address, '@'):])
	if identifier.MatchString(l.inReplyTo) {
		h.SetMsgIDList("In-Reply-To", []string{l.inReplyTo})
		h.SetMsgIDList("References", []string{l.inReplyTo})
	}
	h.Set("Auto-Submitted", how)
	h.Set("X-Auto-Response-Suppress", "All")
	h.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
	h.Set("Content-Language", l.language)
	h.Set("Content-Transfer-Encoding", "quoted-printable")
	var b bytes.Buffer
	w, err := mail.CreateSingleInlineWriter(&b, h)
	if err != nil {
		return nil, fmt.Errorf("write an answer: %w", err)
	}
	if _, err := io.WriteString(w, strings.ReplaceAll(body, "\n", "\r\n")); err != nil {
		return nil, fmt.Errorf("write an answer: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("write an answer: %w", err)
	}
	return b.Bytes(), nil
}
