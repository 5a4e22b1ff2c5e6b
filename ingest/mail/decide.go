package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/untrusted"
)

// decision is what is to become of a mail. It follows from the mail, the options, the projects' addresses and the
// senders that people allowed, so that whoever lists the mails that became no record finds the reason again.
type decision struct {
	mark     mailbox.Mark // Done: it gives records
	reason   string       // why not
	word     string       // the same in one word
	projects []string
	files    []message.File // that may be invoices
	warning  string         // what could not be followed though there are files
}

// The reasons in one word (docs/mail.md#the-inbox).
const (
	reasonTooLarge        = "too-large"
	reasonBroken          = "broken"
	reasonAutomatic       = "automatic"
	reasonNoRecipient     = "no-recipient"
	reasonNoProject       = "no-project"
	reasonSeveralProjects = "several-projects"
	reasonNoInvoice       = "no-invoice"
	reasonSender          = "sender-not-allowed"
	reasonQuota           = "too-many-mails"
	reasonNeverEnded      = "never-ended"
	reasonRefused         = "refused"
)

func failed(word, format string, args ...any) decision {
	return because(mailbox.Failed, word, format, args...)
}

func ignored(word, format string, args ...any) decision {
	return because(mailbox.Ignored, word, format, args...)
}

func quarantined(word, format string, args ...any) decision {
	return because(mailbox.Quarantined, word, format, args...)
}

// of is the decision about a mail of these projects.
func (d decision) of(projects []string) decision {
	d.projects = projects
	return d
}

// longestReason bounds a reason, in characters: addresses and types in it are the mail's own.
const longestReason = 1000

func because(mark mailbox.Mark, word, format string, args ...any) decision {
	return decision{mark: mark, word: word, reason: untrusted.Cut(untrusted.Line(fmt.Sprintf(format, args...)), longestReason)}
}

// maxRecipients bounds the recipients of a mail that are looked up.
const maxRecipients = 100

// recipient is an address that a mail was sent to, and the same without what stands behind a plus.
type recipient struct{ full, plain string }

// visible are the fields that a sender writes; all others are those of the envelope, which the mailbox's own server
// writes.
var visible = []string{"to", "cc", "resent-to", "resent-cc"}

func isVisible(field string) bool { return slices.Contains(visible, strings.ToLower(field)) }

// recipients are a mail's, those of the envelope first: no number of others that the sender writes hides them. Fields of the envelope
// count where the mailbox's own server wrote them: a sender can write them, too, but not above the server's trace.
func recipients(h, trusted message.Header, fields []string) []recipient {
	var all []recipient
	fields = slices.Clone(fields)
	slices.SortStableFunc(fields, func(a, b string) int {
		switch {
		case isVisible(a) == isVisible(b):
			return 0
		case isVisible(b):
			return -1
		}
		return 1
	})
	for _, field := range fields {
		from := trusted
		if isVisible(field) {
			from = h
		}
		for _, address := range from.Addresses(field) {
			full := strings.ToLower(strings.TrimSpace(address))
			at := strings.LastIndexByte(full, '@')
			if at <= 0 || strings.ContainsAny(full, "\n\r") {
				continue
			}
			plain := full
			if plus := strings.IndexByte(full[:at], '+'); plus > 0 {
				plain = full[:plus] + full[at:]
			}
			if r := (recipient{full, plain}); !slices.Contains(all, r) && len(all) < maxRecipients {
				all = append(all, r)
			}
		}
	}
	return all
}

// decide decides about mails as far as their headers tell; Done is what is left to be read. An error says that the
// directory or the originals can't be asked.
func (in *Intake) decide(ctx context.Context, o mailbox.Options, mails []mailbox.Mail, wait patience) ([]decision, error) {
	var allowed []string
	err := wait(ctx, "clickhouse", func() (err error) {
		allowed, err = in.allowedSenders(ctx, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	o.Senders.Allowed = allowed
	decisions := make([]decision, len(mails))
	to := make([][]recipient, len(mails))
	var reading errgroup.Group
	reading.SetLimit(in.options.Parallel)
	for i, m := range mails {
		reading.Go(func() error {
			to[i], decisions[i] = in.readHeader(o, m)
			return nil
		})
	}
	_ = reading.Wait() // none fails
	var ask []string
	for _, all := range to {
		for _, r := range all {
			ask = append(append(ask, spellings(r.full)...), spellings(r.plain)...)
		}
	}
	if len(ask) == 0 {
		return decisions, nil
	}
	slices.Sort(ask)
	ask = slices.Compact(ask)
	var known map[string][]string
	err = wait(ctx, "clickhouse", func() (err error) {
		known, err = in.directory.projects(ctx, o.Tenant, ask)
		return err
	})
	if err != nil {
		return nil, err
	}
	chosen := make([]decision, len(mails))
	for i, all := range to {
		if len(all) > 0 {
			chosen[i] = choose(all, known)
		}
	}
	if err := in.belong(ctx, o.Tenant, mails, chosen, wait); err != nil {
		return nil, err
	}
	for i, d := range chosen {
		switch {
		case d.mark == mailbox.Unmarked: // it names nobody
		case decisions[i].mark == mailbox.Done, decisions[i].mark == mailbox.Quarantined && d.mark != mailbox.Done:
			decisions[i] = d // an unknown address says more than a sender who isn't allowed
		case d.mark == mailbox.Done:
			decisions[i].projects = d.projects
		}
	}
	return decisions, nil
}

// readHeader gives a mail's recipients, and what its header decides already.
func (in *Intake) readHeader(o mailbox.Options, m mailbox.Mail) ([]recipient, decision) {
	h := message.ReadHeader(m.Header)
	to := recipients(h, trusted(h, o.Senders), in.options.Recipients)
	if m.Size > in.options.Limits.Bytes {
		return to, failed(reasonTooLarge, "the mail has %d bytes, %d are allowed", m.Size, in.options.Limits.Bytes)
	}
	if h.Empty() {
		return nil, failed(reasonBroken, "%s: it has no header", message.ErrBroken)
	}
	if reason := automatic(h); reason != "" {
		return to, ignored(reasonAutomatic, "%s", reason)
	}
	if len(to) == 0 {
		return nil, failed(reasonNoRecipient, "the mail names no recipient in %s", strings.Join(in.options.Recipients, ", "))
	}
	if !m.State.Released() {
		if reason := disallowed(h, o.Senders); reason != "" {
			return to, quarantined(reasonSender, "%s", reason)
		}
	}
	return to, decision{mark: mailbox.Done}
}

// choose picks the projects of the recipients, known by their address in ASCII. An address of several projects is nobody's: nothing is
// guessed.
func choose(to []recipient, known map[string][]string) decision {
	d := decision{mark: mailbox.Done}
	for _, r := range to {
		address := r.full
		if len(known[inASCII(address)]) == 0 {
			address = r.plain
		}
		switch projects := known[inASCII(address)]; {
		case len(projects) > 1:
			return failed(reasonSeveralProjects, "the address %s belongs to several projects: %s", address, strings.Join(projects, ", "))
		case len(projects) == 1 && !slices.Contains(d.projects, projects[0]):
			d.projects = append(d.projects, projects[0])
		}
	}
	if len(d.projects) == 0 {
		var names []string
		for _, r := range to[:min(len(to), 5)] {
			names = append(names, r.full)
		}
		return failed(reasonNoProject, "no project has an intake address among the recipients %s", strings.Join(names, ", "))
	}
	return d
}

// opened completes a decision by what was read of the mail; err is one of package message.
func (d decision) opened(m message.Mail, err error) decision {
	switch {
	case errors.Is(err, message.ErrTooMany), errors.Is(err, mailbox.ErrTooLarge):
		return failed(reasonTooLarge, "%s", err).of(d.projects)
	case err != nil:
		return failed(reasonBroken, "%s", err).of(d.projects)
	case len(m.Files) == 0:
		return ignored(reasonNoInvoice, "%s", m.Missed).of(d.projects)
	}
	d.files, d.warning = m.Files, m.Missed
	return d
}
