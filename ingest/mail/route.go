package mail

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
)

// verdict is what is to become of a mail. It follows from the mail, the limits and the projects' addresses alone, so that whoever lists failed and ignored
// mails finds the reason again.
type verdict struct {
	mark     mailbox.Mark // Done: it gives records
	reason   string       // why not
	projects []string
	pdfs     []message.PDF
	warning  string // what could not be followed though there are PDFs
}

func failed(format string, args ...any) verdict {
	return verdict{mark: mailbox.Failed, reason: fmt.Sprintf(format, args...)}
}

// mostAddresses bounds the recipients that are looked up.
const mostAddresses = 500

// recipient is an address that a mail was sent to, and the same without what stands behind a plus.
type recipient struct{ full, plain string }

// recipients are a mail's, in the order of the fields.
func recipients(h message.Header, fields []string) []recipient {
	var all []recipient
	for _, field := range fields {
		for _, address := range h.Addresses(field) {
			full := strings.ToLower(strings.TrimSpace(address))
			at := strings.LastIndexByte(full, '@')
			if at <= 0 || strings.ContainsAny(full, "\n\r") {
				continue
			}
			plain := full
			if plus := strings.IndexByte(full[:at], '+'); plus > 0 {
				plain = full[:plus] + full[at:]
			}
			if r := (recipient{full, plain}); !slices.Contains(all, r) && len(all) < mostAddresses {
				all = append(all, r)
			}
		}
	}
	return all
}

// route finds the projects that a mail is for: of every recipient that is an intake address. An error says that the books can't be asked.
func (in *Intake) route(ctx context.Context, tenant string, m mailbox.Mail) (verdict, error) {
	if m.Size > in.options.Limits.Bytes {
		return failed("the mail has %d bytes, %d are allowed", m.Size, in.options.Limits.Bytes), nil
	}
	h, _ := message.ReadHeader(m.Header)
	if h.Empty() {
		return failed("%s: it has no header", message.ErrBroken), nil
	}
	to := recipients(h, in.options.Recipients)
	if len(to) == 0 {
		return failed("the mail names no recipient in %s", strings.Join(in.options.Recipients, ", ")), nil
	}
	var ask []string
	for _, r := range to {
		ask = append(ask, r.full, r.plain)
	}
	slices.Sort(ask)
	known, err := in.books.projects(ctx, tenant, slices.Compact(ask))
	if err != nil {
		return verdict{}, err
	}
	return choose(to, known), nil
}

// choose picks the projects of the recipients. An address of several projects is nobody's: nothing is guessed.
func choose(to []recipient, known map[string][]string) verdict {
	v := verdict{mark: mailbox.Done}
	for _, r := range to {
		address := r.full
		if len(known[address]) == 0 {
			address = r.plain
		}
		switch projects := known[address]; {
		case len(projects) > 1:
			return failed("the address %s belongs to several projects: %s", address, strings.Join(projects, ", "))
		case len(projects) == 1 && !slices.Contains(v.projects, projects[0]):
			v.projects = append(v.projects, projects[0])
		}
	}
	if len(v.projects) == 0 {
		var names []string
		for _, r := range to[:min(len(to), 5)] {
			names = append(names, r.full)
		}
		return failed("no project has an intake address among the recipients %s", strings.Join(names, ", "))
	}
	return v
}

// open completes a verdict by the mail itself.
func (in *Intake) open(v verdict, raw []byte) (verdict, message.Header) {
	mail, err := message.Read(raw, in.options.Limits.Limits)
	switch {
	case err != nil:
		return failed("%s", err), mail.Header
	case len(mail.PDFs) == 0:
		return verdict{mark: mailbox.Ignored, reason: mail.Missed}, mail.Header
	}
	v.pdfs, v.warning = mail.PDFs, mail.Missed
	return v, mail.Header
}
