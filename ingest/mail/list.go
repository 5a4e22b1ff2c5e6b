package mail

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tallyhouse/ingest/mail/derived"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/sandbox"
)

// Listed is a mail that became no record.
type Listed struct {
	Mailbox     string    `json:"mailbox"`
	Tenant      string    `json:"tenant"`
	ID          string    `json:"id"` // for Release
	UIDValidity uint32    `json:"uidValidity"`
	UID         uint32    `json:"uid"`
	Arrived     time.Time `json:"arrived"`
	From        string    `json:"from"`
	Subject     string    `json:"subject"`
	MessageID   string    `json:"messageId"`
	Size        int64     `json:"size"` // bytes
	Reason      string    `json:"reason"`
}

// Failed calls each with the mails that can't be handled as they are. The reason is found by reading them again:
// nothing but the mark is kept.
func (in *Intake) Failed(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Failed, each)
}

// Ignored calls each with the mails that hold no invoice.
func (in *Intake) Ignored(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Ignored, each)
}

// Quarantined calls each with the mails whose senders are not allowed to send invoices.
func (in *Intake) Quarantined(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Quarantined, each)
}

// Waiting calls each with the mails that nothing is decided about yet.
func (in *Intake) Waiting(ctx context.Context, each func(Listed)) error {
	return in.list(ctx, mailbox.Unmarked, each)
}

// errNotListed says that no mailbox has a mail to release.
var errNotListed = errors.New("no such mail is failed, ignored or quarantined")

// errOtherMailbox says that an id names a mailbox that the command doesn't look at.
var errOtherMailbox = errors.New("it is in none of these mailboxes: give the command the one it is in (--imap)")

// errNotKept says that a release from quarantine would be forgotten.
var errNotKept = errors.New("the mailbox takes no keywords, so the release can't be kept: " +
	"allow its sender in the mailbox's URL, start the worker with it, and release the mail then")

// Release gives a mail back that is failed, ignored or quarantined: the worker reads it as one of an allowed sender, at
// once when it can be told by Kafka. It is named as Listed does; without its mailbox as long as only one has such a mail.
func (in *Intake) Release(ctx context.Context, id string) error {
	named, err := parseID(id)
	if err != nil {
		return fmt.Errorf("release: %w", err)
	}
	o, err := in.mailboxOf(ctx, named)
	if err != nil {
		return fmt.Errorf("release mail %s: %w", id, err)
	}
	found, err := in.releaseFrom(ctx, o, named)
	if err != nil {
		return fmt.Errorf("release mail %s: %w", id, err)
	}
	if !found {
		return fmt.Errorf("release mail %s: %w", id, errNotListed)
	}
	return nil
}

// mailID names a mail among those of all mailboxes: what UIDVALIDITY and UID name is another mail in each, and another tenant's
// it may be.
type mailID struct {
	box      string // boxName; "" in ids of versions that didn't name the mailbox
	validity uint32
	uid      mailbox.UID
}

func (id mailID) String() string { return fmt.Sprintf("%s.%d.%d", id.box, id.validity, id.uid) }

// boxNameLetters are few enough to type, and as many as tell any mailboxes of one configuration apart.
const boxNameLetters = 8

// boxName is a mailbox's in ids of mails. It follows from server, user and folder alone, so it is every worker's and command's.
func boxName(o mailbox.Options) string {
	return derived.ID("", nil, o.User, strings.ToLower(o.Host), o.Mailbox)[:boxNameLetters]
}

var mailIDs = regexp.MustCompile(fmt.Sprintf(`^(?:([a-z2-7]{%d})\.)?([0-9]+)\.([0-9]+)$`, boxNameLetters))

// CheckID says of what can't be a mail's id, as Listed has it, that it can't.
func CheckID(id string) error {
	_, err := parseID(id)
	return err
}

func parseID(id string) (mailID, error) {
	parts := mailIDs.FindStringSubmatch(id)
	if parts == nil {
		return mailID{}, errNoID(id)
	}
	v, wrong := strconv.ParseUint(parts[2], 10, 32)
	u, wrongUID := strconv.ParseUint(parts[3], 10, 32)
	if wrong != nil || wrongUID != nil {
		return mailID{}, errNoID(id)
	}
	return mailID{parts[1], uint32(v), mailbox.UID(u)}, nil
}

func errNoID(id string) error {
	return fmt.Errorf("the id of a mail is the %d letters of its mailbox and two numbers, with dots between them, "+
		"as the lists show it, not %q", boxNameLetters, id)
}

// mailboxOf is the one mailbox that a mail is in. Where the id doesn't name it, all are asked, and whether the mail is open or done makes
// no difference: whoever has an old list means one that waited then.
func (in *Intake) mailboxOf(ctx context.Context, id mailID) (mailbox.Options, error) {
	var boxes []mailbox.Options
	for _, o := range in.options.Mailboxes {
		if id.box == "" || id.box == boxName(o) {
			boxes = append(boxes, o)
		}
	}
	if len(boxes) == 0 {
		return mailbox.Options{}, errOtherMailbox
	}
	if len(boxes) == 1 {
		return boxes[0], nil
	}
	var having []mailbox.Options
	var names []string
	for _, o := range boxes {
		has, err := hasMail(ctx, o, id)
		if err != nil {
			return mailbox.Options{}, fmt.Errorf("whose mail it is can't be told: %w", err)
		}
		if has {
			having = append(having, o)
			names = append(names, fmt.Sprintf("%s of tenant %s (%s)", o.Address, o.Tenant, mailID{boxName(o), id.validity, id.uid}))
		}
	}
	switch len(having) {
	case 0:
		return mailbox.Options{}, errNotListed
	case 1:
		return having[0], nil
	}
	return mailbox.Options{}, fmt.Errorf("%d mailboxes have such a mail, so name it as the lists do: %s",
		len(having), strings.Join(names, ", "))
}

func hasMail(ctx context.Context, o mailbox.Options, id mailID) (has bool, err error) {
	err = withMail(ctx, o, id, func(*mailbox.Session, mailbox.Mail) error {
		has = true
		return nil
	})
	return has, err
}

func (in *Intake) releaseFrom(ctx context.Context, o mailbox.Options, id mailID) (found bool, err error) {
	err = withMail(ctx, o, id, func(box *mailbox.Session, m mailbox.Mail) error {
		if m.State.Open() || m.State.Mark() == mailbox.Done {
			return nil
		}
		if err := in.release(ctx, box, o, m); err != nil {
			return err
		}
		found = true
		if err := in.tellReleased(ctx, o, id.validity, m); err != nil {
			in.options.Log.Warn("the worker can't be told of the release, so it takes minutes to see it", "error", err)
		}
		return nil
	})
	return found, err
}

// withMail does something with a mail, if the mailbox has it.
func withMail(ctx context.Context, o mailbox.Options, id mailID, do func(*mailbox.Session, mailbox.Mail) error) error {
	box, err := mailbox.Open(ctx, o)
	if err != nil {
		return err
	}
	defer box.Close()
	if box.UIDValidity != id.validity {
		return nil
	}
	mails, err := box.Mails(ctx, []mailbox.UID{id.uid})
	if err != nil || len(mails) == 0 {
		return err
	}
	return do(box, mails[0])
}

// release gives a mail back as one of an allowed sender, unless that would be forgotten.
func (in *Intake) release(ctx context.Context, box *mailbox.Session, o mailbox.Options, m mailbox.Mail) error {
	if !box.Keywords() {
		d, err := in.decide(ctx, o, []mailbox.Mail{m}, once)
		if err != nil {
			return err
		}
		if d[0].mark == mailbox.Quarantined {
			return errNotKept
		}
	}
	return box.Release(ctx, m.UID)
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
	for m, err := range pages(ctx, box, uids) {
		d := decision{reason: waitsFor(m.State)}
		if err == nil && mark != mailbox.Unmarked {
			d, err = in.decideWhole(ctx, box, o, m)
		}
		if errors.Is(err, mailbox.ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		switch {
		case d.mark == mark:
		case box.Keywords():
			d.reason = d.otherwise(mark)
		case d.mark == mailbox.Done && mark == mailbox.Failed:
			d.reason = "it is flagged, by a person or by a worker that could not take it then; " + d.otherwise(mark)
		default: // the star doesn't say which mark it is: another list has the mail
			continue
		}
		h := message.ReadHeader(m.Header)
		each(Listed{
			Mailbox: o.String(), Tenant: o.Tenant, ID: mailID{boxName(o), box.UIDValidity, m.UID}.String(),
			UIDValidity: box.UIDValidity, UID: uint32(m.UID), Arrived: m.Arrived, Size: m.Size,
			From: h.Text("From"), Subject: h.Text("Subject"), MessageID: h.MessageID(), Reason: d.reason,
		})
	}
	return nil
}

// waitsFor says, for a person, why nothing is decided about a mail yet.
func waitsFor(s mailbox.State) string {
	switch n := s.Attempts(); {
	case n > 0:
		return fmt.Sprintf("reading it was begun %d times and has not ended; after %d times it fails", n, mailbox.MaxAttempts)
	case s.Claims() != "":
		return "a worker reads it, or died of late while it did"
	}
	return "no worker has read it yet; a mail at which the connection breaks is left alone for a quarter of an hour"
}

// otherwise is the reason of a mail that has one mark and would get another one now.
func (d decision) otherwise(mark mailbox.Mark) string {
	if mark == mailbox.Quarantined && d.mark == mailbox.Done {
		return "its sender had sent more mails within an hour than are allowed"
	}
	return fmt.Sprintf("read now, it would be %s: tallyhouse mail release has it read", d)
}

// String is what becomes of a mail, in words.
func (d decision) String() string {
	if d.mark == mailbox.Done {
		return fmt.Sprintf("done: it has %d PDFs and e-invoices", len(d.files))
	}
	return outcomes[d.mark] + ": " + d.reason
}

// decideWhole decides about a mail as the worker does.
func (in *Intake) decideWhole(ctx context.Context, box *mailbox.Session, o mailbox.Options, m mailbox.Mail) (decision, error) {
	if m.State.SetAside() {
		return failed(reasonNeverEnded, "%s", reasonSetAside), nil
	}
	decisions, err := in.decide(ctx, o, []mailbox.Mail{m}, once)
	if err != nil {
		return decision{}, err
	}
	if decisions[0].mark != mailbox.Done {
		return decisions[0], nil
	}
	raw, err := box.Body(ctx, m, in.options.Limits.Bytes)
	if errors.Is(err, mailbox.ErrTooLarge) {
		return failed(reasonTooLarge, "%s", err), nil
	}
	if err != nil {
		return decision{}, err
	}
	mail, err := message.ReadSandboxed(ctx, raw, in.options.Limits.Limits, in.options.Reader.Sandbox)
	if errors.Is(err, sandbox.ErrStart) || ctx.Err() != nil {
		return decision{}, err
	}
	return decisions[0].opened(mail, err), nil
}

// pages goes through mails, which are fetched page by page, until an error or as long as somebody wants more.
func pages(ctx context.Context, box *mailbox.Session, uids []mailbox.UID) iter.Seq2[mailbox.Mail, error] {
	return func(yield func(mailbox.Mail, error) bool) {
		for page := range slices.Chunk(uids, mailbox.Page) {
			mails, err := box.Mails(ctx, page)
			if err != nil {
				yield(mailbox.Mail{}, err)
				return
			}
			for _, m := range mails {
				if !yield(m, nil) {
					return
				}
			}
		}
	}
}
