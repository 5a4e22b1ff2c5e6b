package mailbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
)

// Mark is what became of a mail.
type Mark uint8

// The marks. Done mails are moved where Options name a folder; all others stay where they are.
const (
	Done    Mark = iota + 1 // all its records are in Kafka
	Ignored                 // it has no PDF
	Failed                  // it can't be handled as it is
)

// The keywords of marks and claims.
const (
	keywordDone    imap.Flag = "$TallyhouseDone"
	keywordIgnored imap.Flag = "$TallyhouseIgnored"
	keywordFailed  imap.Flag = "$TallyhouseFailed"
	keywordReading           = "$TallyhouseReading" // and a slot's number
)

func (m Mark) keyword() imap.Flag {
	switch m {
	case Done:
		return keywordDone
	case Ignored:
		return keywordIgnored
	}
	return keywordFailed
}

// Keywords tells whether the mailbox takes keywords. Where it doesn't, ignored and failed mails are flagged alike (the star of mail programs).
func (s *Session) Keywords() bool { return s.keywords }

func (s *Session) markOf(m Mark) imap.Flag {
	if s.keywords {
		return m.keyword()
	}
	return imap.FlagFlagged
}

// Unhandled gives the mails from a UID on that have no mark, and, when asked for, those that failed before.
func (s *Session) Unhandled(ctx context.Context, from UID, failedToo bool) ([]UID, error) {
	without := []imap.Flag{s.markOf(Ignored)}
	if s.keywords {
		without = append(without, keywordDone)
		if !failedToo {
			without = append(without, keywordFailed)
		}
	}
	return s.search(ctx, from, &imap.SearchCriteria{NotFlag: without})
}

// Marked gives the mails of a mark; where the mailbox takes no keywords, those that are ignored or failed.
func (s *Session) Marked(ctx context.Context, m Mark) ([]UID, error) {
	return s.search(ctx, 1, &imap.SearchCriteria{Flag: []imap.Flag{s.markOf(m)}})
}

// search gives the UIDs from one on, in their order.
func (s *Session) search(ctx context.Context, from UID, criteria *imap.SearchCriteria) ([]UID, error) {
	var above imap.UIDSet
	above.AddRange(from, 0) // to the end
	criteria.UID = append(criteria.UID, above)
	var found []UID
	err := s.do(ctx, "search", s.options.Patience, func() error {
		data, err := s.client.UIDSearch(criteria, nil).Wait()
		if err != nil {
			return err
		}
		found = data.AllUIDs()
		return nil
	})
	// A range to the end always has the last mail in it, even when that is before its beginning.
	found = slices.DeleteFunc(found, func(uid UID) bool { return uid < from })
	slices.Sort(found)
	return slices.Compact(found), err
}

// ClaimedByOther tells whether another worker said that it reads the mail.
func (s *Session) ClaimedByOther(m Mail) bool { return s.foreignClaim(m.keywords) }

// FailedBefore tells whether a mail has the mark of failed ones already.
func (s *Session) FailedBefore(m Mail) bool {
	return slices.ContainsFunc(m.keywords, func(f imap.Flag) bool { return strings.EqualFold(string(f), string(s.markOf(Failed))) })
}

func (s *Session) foreignClaim(flags []imap.Flag) bool {
	return slices.ContainsFunc(flags, func(f imap.Flag) bool {
		return hasPrefixFold(string(f), keywordReading) && !strings.EqualFold(string(f), string(s.claim()))
	})
}

func (s *Session) claim() imap.Flag {
	return imap.Flag(fmt.Sprint(keywordReading, s.options.Slot%Slots))
}

// Claim says that this worker reads a mail. It answers false, and withdraws, when another was there before; two that come at the same moment may both
// withdraw. Overrule claims in any case. Where there are no keywords all workers read all mails.
func (s *Session) Claim(ctx context.Context, uid UID, overrule bool) (bool, error) {
	if !s.keywords {
		return true, nil
	}
	var flags []imap.Flag
	found := false
	err := s.do(ctx, "claim", s.options.Patience, func() error {
		store := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Flags: []imap.Flag{s.claim()}}
		return s.fetch(s.client.Store(imap.UIDSetNum(uid), store, nil), func(m *imapclient.FetchMessageData) error {
			mail, err := s.readMail(m)
			flags, found = mail.keywords, true
			return err
		})
	})
	if err != nil {
		return false, err
	}
	if !found {
		return false, ErrGone
	}
	if s.handled(flags) || s.foreignClaim(flags) && !overrule {
		return false, s.withdraw(ctx, uid)
	}
	return true, nil
}

func (s *Session) handled(flags []imap.Flag) bool {
	return slices.ContainsFunc(flags, func(f imap.Flag) bool {
		return strings.EqualFold(string(f), string(keywordDone)) || strings.EqualFold(string(f), string(keywordIgnored))
	})
}

func (s *Session) withdraw(ctx context.Context, uid UID) error {
	if !s.keywords {
		return nil
	}
	return s.store(ctx, uid, imap.StoreFlagsDel, s.claim())
}

// Mark marks a mail.
func (s *Session) Mark(ctx context.Context, uid UID, m Mark) error {
	if m != Done || s.options.DoneFolder == "" {
		return s.store(ctx, uid, imap.StoreFlagsAdd, s.markOf(m))
	}
	if err := s.Tidy(ctx, uid, Done); err != nil { // later it can't be found any more
		return err
	}
	return s.do(ctx, "move", s.options.Patience, func() error {
		_, err := s.client.Move(imap.UIDSetNum(uid), s.options.DoneFolder).Wait()
		return err
	})
}

// Tidy takes the claim and all marks but one off a mail.
func (s *Session) Tidy(ctx context.Context, uid UID, but Mark) error {
	if !s.keywords {
		return nil
	}
	remove := []imap.Flag{s.claim()}
	for _, m := range []Mark{Done, Ignored, Failed} {
		if m != but {
			remove = append(remove, m.keyword())
		}
	}
	return s.store(ctx, uid, imap.StoreFlagsDel, remove...)
}

func (s *Session) store(ctx context.Context, uid UID, op imap.StoreFlagsOp, flags ...imap.Flag) error {
	return s.do(ctx, "store flags", s.options.Patience, func() error {
		return s.client.Store(imap.UIDSetNum(uid), &imap.StoreFlags{Op: op, Silent: true, Flags: flags}, nil).Close()
	})
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
