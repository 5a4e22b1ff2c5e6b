// Package answer sends what people are to be told of mailed invoices (docs/mail.md#answers-by-mail). The intake writes to the
// topic intake.answers what is owed; a sender takes it from there, composes it from what the tables have at that moment, hands
// it to a mail server, and writes what became of it as the answer's next version. Whatever is away here, the intake goes on.
package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"tallyhouse/schemas/calendar"
)

// Settings say which projects tell whom, in whose name and by which server.
type Settings struct {
	server   Server
	from     mail.Address
	desk     string // "" without one
	projects map[place]project
}

// place is a project of a tenant.
type place struct{ tenant, project string }

// project is what one project wants.
type project struct {
	Tenant      string `json:"tenant"`
	Project     string `json:"project"`
	Responsible string `json:"responsible"` // a user's id
	Language    string `json:"language"`
	Receipt     bool   `json:"receipt"`
	Failure     bool   `json:"failure"`
	Duplicate   bool   `json:"duplicate"`
	Senders     bool   `json:"senders"`
	Digest      string `json:"digest"` // a time of the day in Vienna, like 07:00; "": none
}

// maxSettings bounds the file, in bytes.
const maxSettings = 4 << 20

// Read reads a file of settings. Its error names all that is wrong with them.
func Read(file string) (*Settings, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil {
		return nil, err
	}
	if len(content) > maxSettings {
		return nil, fmt.Errorf("%s has more than %d bytes", file, maxSettings)
	}
	s, err := parse(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

func parse(content []byte) (*Settings, error) {
	var said struct {
		SMTP     string    `json:"smtp"`
		From     string    `json:"from"`
		Desk     string    `json:"desk"`
		Projects []project `json:"projects"`
	}
	d := json.NewDecoder(bytes.NewReader(content))
	d.DisallowUnknownFields()
	if err := d.Decode(&said); err != nil {
		return nil, fmt.Errorf("it must be a JSON object as docs/mail.md#answers-by-mail has it: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("there is more behind the object")
	}
	s := &Settings{desk: strings.TrimRight(said.Desk, "/"), projects: map[place]project{}}
	var wrong []error
	var err error
	if s.server, err = parseServer(said.SMTP); err != nil {
		wrong = append(wrong, err)
	}
	if from, err := mail.ParseAddress(said.From); err != nil || !plain(from.Address) {
		wrong = append(wrong, fmt.Errorf("from must be an address like Tallyhouse <invoices@example.com>, not %q", said.From))
	} else {
		s.from = *from
	}
	if u, err := url.Parse(said.Desk); said.Desk != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		wrong = append(wrong, fmt.Errorf("desk must be the desk's address like https://desk.example.com, not %q", said.Desk))
	}
	for i, p := range said.Projects {
		at := place{p.Tenant, p.Project}
		if _, twice := s.projects[at]; twice {
			wrong = append(wrong, fmt.Errorf("projects[%d]: tenant %s, project %s is there twice", i, p.Tenant, p.Project))
		}
		if err := p.check(); err != nil {
			wrong = append(wrong, fmt.Errorf("projects[%d]: %w", i, err))
		}
		s.projects[at] = p
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	return s, nil
}

// clock is how settings write a time of the day.
const clock = "15:04"

// digestOn is the instant of a day from which on its digest is due.
func (p project) digestOn(d calendar.Date) time.Time {
	at, _ := time.Parse(clock, p.Digest) // it was checked
	return d.ViennaAt(at.Hour(), at.Minute())
}

func (p project) check() error {
	var wrong []error
	if p.Tenant == "" || p.Project == "" {
		wrong = append(wrong, errors.New("tenant and project must be given"))
	}
	if !slices.Contains(languages, p.Language) {
		wrong = append(wrong, fmt.Errorf("language must be one of %s, not %q", strings.Join(languages, ", "), p.Language))
	}
	if _, err := time.Parse(clock, p.Digest); p.Digest != "" && (err != nil || len(p.Digest) != len(clock)) {
		wrong = append(wrong, fmt.Errorf("digest must be a time of the day in Vienna like 07:00, not %q", p.Digest))
	}
	if p.Responsible == "" && (p.Digest != "" || p.Duplicate || !p.Senders && (p.Receipt || p.Failure)) {
		wrong = append(wrong, errors.New("responsible must be the id of the user who is told"))
	}
	return errors.Join(wrong...)
}

// Wanted reports whether a project's responsible user is told of mails, and whether their senders are.
func (s *Settings) Wanted(tenant, project string) (responsible, senders bool) {
	p := s.projects[place{tenant, project}]
	return p.Responsible != "" && (p.Receipt || p.Failure || p.Duplicate), p.Senders && (p.Receipt || p.Failure)
}

// Own is the address that answers come from.
func (s *Settings) Own() string { return s.from.Address }

// plain reports whether an address is one that every server takes, and nothing but an address.
func plain(address string) bool {
	at := strings.LastIndexByte(address, '@')
	return at > 0 && at < len(address)-1 && len(address) <= 320 &&
		!strings.ContainsFunc(address, func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"<>,;:\()[]`, c) })
}
