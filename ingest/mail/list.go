package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
)

// Listed is a mail that became no record.
type Listed struct {
	Mailbox     string    `json:"mailbox"`
	Tenant      string    `json:"tenant"`
	UIDValidity uint32    `json:"uidValidity"`
	UID         uint32    `json:"uid"`
	Arrived     time.Time `json:"arrived"`
	From        string    `json:"from"`
	Subject     string    `json:"subject"`
	MessageID   string    `json:"messageId"`
	Size        int64     `json:"size"` // bytes
	Reason      string    `json:"reason"`
}

// Failed calls each with the mails that can't be handled as they are. The reason is found by looking at them again: nothing but the mark is kept.
func (in *Intake) Failed(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Failed, each)
}

// Ignored calls each with the mails that have no PDF.
func (in *Intake) Ignored(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Ignored, each)
}

func (in *Intake) list(ctx context.Context, mark mailbox.Mark, each func(Listed)) error {
	for _, o := range in.options.Mailboxes {
		if err := in.listBox(ctx, o, mark, each); err != nil {
			return err
		}
	}
	return nil
}

func (in *Intake) listBox(ctx context.Context, o mailbox.Options, mark mailbox.Mark, each func(Listed)) error {
	box, err := mailbox.Open(ctx, o)
	if err != nil {
		return err
	}
	defer box.Close()
	uids, err := box.Marked(ctx, mark)
	if err != nil {
		return err
	}
	return pages(ctx, box, uids, func(m mailbox.Mail) error {
		v, err := in.judge(ctx, box, o.Tenant, m)
		if errors.Is(err, mailbox.ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
		if !box.Keywords() && (v.mark == mailbox.Ignored) != (mark == mailbox.Ignored) {
			return nil // flags don't tell the two apart
		}
		if v.mark != mark {
			v.reason = fmt.Sprintf("looked at now, it would be %s: take its mark away, or start the worker again, and it is", v.fate())
		}
		h, _ := message.ReadHeader(m.Header)
		each(Listed{
			Mailbox: o.String(), Tenant: o.Tenant, UIDValidity: box.UIDValidity, UID: uint32(m.UID), Arrived: m.Arrived,
			From: h.Text("From"), Subject: h.Text("Subject"), MessageID: h.MessageID(), Size: m.Size, Reason: v.reason,
		})
		return nil
	})
}

// fate is what becomes of a mail, in words.
func (v verdict) fate() string {
	switch v.mark {
	case mailbox.Done:
		return fmt.Sprintf("read: it has %d PDFs", len(v.pdfs))
	case mailbox.Ignored:
		return "ignored: " + v.reason
	}
	return "failed: " + v.reason
}

// judge finds a mail's verdict as the worker does.
func (in *Intake) judge(ctx context.Context, box *mailbox.Session, tenant string, m mailbox.Mail) (verdict, error) {
	v, err := in.route(ctx, tenant, m)
	if err != nil || v.mark != mailbox.Done {
		return v, err
	}
	raw, err := box.Body(ctx, m, in.options.Limits.Bytes)
	if errors.Is(err, mailbox.ErrTooLarge) {
		return failed("%s", err), nil
	}
	if err != nil {
		return v, err
	}
	v, _ = in.open(v, raw)
	return v, nil
}

// pages goes through mails page by page.
func pages(ctx context.Context, box *mailbox.Session, uids []mailbox.UID, each func(mailbox.Mail) error) error {
	for len(uids) > 0 {
		page := uids[:min(len(uids), mailbox.Page)]
		uids = uids[len(page):]
		mails, err := box.Mails(ctx, page)
		if err != nil {
			return err
		}
		for _, m := range mails {
			if err := each(m); err != nil {
				return err
			}
		}
	}
	return nil
}
