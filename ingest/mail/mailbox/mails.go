package mailbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"

	"tallyhouse/ingest/mail/message"
)

// Mail is what is known of a mail before its body is read.
type Mail struct {
	UID     UID
	Size    int64     // bytes, as the server says
	Arrived time.Time // at the mailbox (INTERNALDATE)
	Header  []byte    // at most headerBytes of it
	State   State
}

// headerBytes is how much of a mail's header is read before its body.
const headerBytes = 64 << 10

// Page is how many mails are asked for at a time.
const Page = 100

// ErrTooLarge says that a mail is larger than allowed.
var ErrTooLarge = errors.New("the mail is larger than allowed")

// ErrGone says that there is no such mail any more.
var ErrGone = errors.New("the mail is not there any more")

// Mails gives the mails of one page; those that are gone are missing. The order is the UIDs'.
func (s *Session) Mails(ctx context.Context, uids []UID) ([]Mail, error) {
	if len(uids) > Page {
		return nil, fmt.Errorf("%d mails were asked for at a time, %d are allowed", len(uids), Page)
	}
	header := &imap.FetchItemBodySection{
		Specifier: imap.PartSpecifierHeader, Peek: true, Partial: &imap.SectionPartial{Size: headerBytes},
	}
	options := &imap.FetchOptions{
		UID: true, Flags: true, RFC822Size: true, InternalDate: true, BodySection: []*imap.FetchItemBodySection{header},
	}
	var all []Mail
	err := s.untilWhole(uids, func(uids []UID) (bare []UID, err error) {
		err = s.do(ctx, "fetch headers", s.options.Timeout+time.Duration(len(uids))*time.Second, func() error {
			return s.fetch(s.client.Fetch(imap.UIDSetNum(uids...), options), func(m *imapclient.FetchMessageData) error {
				mail, whole, err := s.readMail(m)
				switch {
				case err != nil || !slices.Contains(uids, mail.UID):
				case whole:
					all = append(all, mail)
				default:
					bare = append(bare, mail.UID)
				}
				return err
			})
		})
		return bare, err
	})
	slices.SortFunc(all, func(a, b Mail) int { return int(int64(a.UID) - int64(b.UID)) })
	return all, err
}

// mostAsked is how often a server is asked for what it leaves out.
const mostAsked = 3

// untilWhole fetches mails, and again those of which something else was told: a server tells of flags that others change whenever
// it likes, and the client takes what comes first for the answer.
func (s *Session) untilWhole(uids []UID, fetch func([]UID) (bare []UID, err error)) error {
	for range mostAsked {
		bare, err := fetch(uids)
		if err != nil || len(bare) == 0 {
			return err
		}
		uids = bare
	}
	return fmt.Errorf("the server leaves out of its answers what it is asked for, first of mail %d", uids[0])
}

// readMail reads what is told of a mail; whole says that its header is.
func (s *Session) readMail(m *imapclient.FetchMessageData) (mail Mail, whole bool, err error) {
	for item := m.Next(); item != nil; item = m.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			mail.UID = item.UID
		case imapclient.FetchItemDataFlags:
			mail.State = s.stateOf(item.Flags)
		case imapclient.FetchItemDataRFC822Size:
			mail.Size = item.Size
		case imapclient.FetchItemDataInternalDate:
			mail.Arrived = item.Time.UTC()
		case imapclient.FetchItemDataBodySection:
			if mail.Header, err = s.literal(item.Literal, headerBytes); err != nil {
				return mail, false, err
			}
			whole = true
		}
	}
	return mail, whole, nil
}

// slowest is the least speed at which a server must send a mail, in bytes per second.
const slowest = 32 << 10

// Body reads a whole mail, at most limit bytes of it. The mail isn't marked as seen.
func (s *Session) Body(ctx context.Context, m Mail, limit int64) ([]byte, error) {
	found, err := s.bodies(ctx, []Mail{m}, min(m.Size, limit), limit)
	if err != nil {
		return nil, err
	}
	body, ok := found[m.UID]
	switch {
	case !ok:
		return nil, ErrGone
	case int64(len(body)) > limit:
		return nil, fmt.Errorf("%w: over %d bytes", ErrTooLarge, limit)
	}
	return body, nil
}

// Bodies reads whole small mails, by UID; those that are gone are missing, and those that turn out to be larger than
// limit are nil.
func (s *Session) Bodies(ctx context.Context, mails []Mail, limit int64) (map[UID][]byte, error) {
	var size int64
	for _, m := range mails {
		size += min(m.Size, limit)
	}
	found, err := s.bodies(ctx, mails, size, limit)
	for uid, body := range found {
		if int64(len(body)) > limit {
			found[uid] = nil
		}
	}
	return found, err
}

// bodies reads mails, and again those that the server cut short: it may have been in trouble for a moment, and half a mail would be
// failed for good. A mail that is cut short each time is taken as it is: some are sent so, and some servers tell wrong sizes.
func (s *Session) bodies(ctx context.Context, mails []Mail, size, limit int64) (map[UID][]byte, error) {
	found, err := s.bodiesOnce(ctx, mails, size, limit)
	for try := 1; try < mostAsked && err == nil; try++ {
		cut := slices.DeleteFunc(slices.Clone(mails), func(m Mail) bool { return !s.cutShort(m, found[m.UID], limit) })
		if len(cut) == 0 {
			break
		}
		select {
		case <-time.After(time.Duration(try) * s.options.Timeout / cutPauses):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		var again map[UID][]byte
		again, err = s.bodiesOnce(ctx, cut, size, limit)
		for uid, body := range again {
			if len(body) > len(found[uid]) {
				found[uid] = body
			}
		}
	}
	if err == nil && slices.ContainsFunc(mails, func(m Mail) bool { return s.cutShort(m, found[m.UID], limit) }) {
		s.sizesOff.Store(true)
	}
	return found, err
}

// cutPauses is how many of the first pauses, before a mail is asked for again that was cut short, make the usual time limit.
const cutPauses = 10

// cutShort reports whether the server gave less of a mail than it said there is, and what it gave lacks its end, or may lack it. Both are
// needed: servers count the ends of lines as one byte or two, or tell the size of what they store (Exchange), and programs send mails
// without an end. Once a server has kept to less than it said, its sizes alone say nothing.
func (s *Session) cutShort(m Mail, body []byte, limit int64) bool {
	given := int64(len(body))
	if body == nil || given > limit || m.Size <= given {
		return false
	}
	bare := int64(bytes.Count(body, []byte("\n")) - bytes.Count(body, []byte("\r\n")))
	if m.Size <= given+bare {
		return false
	}
	ending := message.EndingOf(m.Header, body)
	return ending == message.LacksEnd || ending == message.MayLackIt && !s.sizesOff.Load()
}

func (s *Session) bodiesOnce(ctx context.Context, mails []Mail, size, limit int64) (map[UID][]byte, error) {
	uids := make([]UID, len(mails))
	for i, m := range mails {
		uids[i] = m.UID
	}
	// One byte more than allowed shows that it is too large, whatever size the server told before.
	whole := &imap.FetchItemBodySection{Peek: true, Partial: &imap.SectionPartial{Size: limit + 1}}
	options := &imap.FetchOptions{UID: true, BodySection: []*imap.FetchItemBodySection{whole}}
	found := map[UID][]byte{}
	err := s.untilWhole(uids, func(uids []UID) (bare []UID, err error) {
		err = s.do(ctx, "fetch mails", s.options.Timeout+time.Duration(size/slowest)*time.Second, func() error {
			s.conn.expect(max(limit+1, headerBytes))
			defer s.conn.expect(headerBytes)
			return s.fetch(s.client.Fetch(imap.UIDSetNum(uids...), options), func(m *imapclient.FetchMessageData) error {
				uid, body, err := s.readBody(m, whole, limit+1)
				switch {
				case err != nil || !slices.Contains(uids, uid):
				case body != nil:
					found[uid] = body
				default:
					bare = append(bare, uid)
				}
				return err
			})
		})
		return bare, err
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

func (s *Session) readBody(m *imapclient.FetchMessageData, section *imap.FetchItemBodySection, limit int64) (uid UID,
	body []byte, err error) {
	for item := m.Next(); item != nil; item = m.Next() {
		switch item := item.(type) {
		case imapclient.FetchItemDataUID:
			uid = item.UID
		case imapclient.FetchItemDataBodySection:
			if !item.MatchCommand(section) {
				continue
			}
			if body, err = s.literal(item.Literal, limit); err != nil {
				return uid, nil, err
			}
			if body == nil { // an empty one
				body = []byte{}
			}
		}
	}
	return uid, body, nil
}

// fetch reads all that a command gives. After an error the connection is closed. Then nothing may be taken from the
// command any more: the client goes on by itself as soon as a literal ends in an error, and both would read the
// connection.
func (s *Session) fetch(command *imapclient.FetchCommand, each func(*imapclient.FetchMessageData) error) error {
	for m := command.Next(); m != nil; m = command.Next() {
		if err := each(m); err != nil {
			go s.client.Close() // it waits for the client, which may wait for us
			return err
		}
	}
	return command.Close()
}

// literal reads a literal of at most limit bytes: the client would take any length that a server names.
func (s *Session) literal(l imap.LiteralReader, limit int64) ([]byte, error) {
	if l == nil {
		return nil, nil
	}
	if l.Size() > limit {
		go s.client.Close()
		_, _ = io.Copy(io.Discard, l) // until it breaks: the client stands still before
		return nil, fmt.Errorf("the server sends %d bytes where it was asked for %d", l.Size(), limit)
	}
	b := make([]byte, l.Size())
	if _, err := io.ReadFull(l, b); err != nil {
		return nil, fmt.Errorf("the server broke off: %w", err)
	}
	return b, nil
}
