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
	Unmarked    Mark = iota
	Done             // all its records are in Kafka
	Ignored          // it has neither a PDF nor an e-invoice, or is an automatic reply
	Failed           // it can't be handled as it is
	Quarantined      // its sender isn't allowed to send invoices
)

// The keywords of marks, claims and attempts.
const (
	keywordPrefix = "$Tallyhouse" // of all

	keywordDone        imap.Flag = "$TallyhouseDone"
	keywordIgnored     imap.Flag = "$TallyhouseIgnored"
	keywordFailed      imap.Flag = "$TallyhouseFailed"
	keywordQuarantined imap.Flag = "$TallyhouseQuarantined"
	keywordReleased    imap.Flag = "$TallyhouseReleased"
	keywordReading               = "$TallyhouseReading" // and a slot's number
	keywordBeat        imap.Flag = "$TallyhouseBeat"    // comes and goes while a claim is renewed
	keywordTried                 = "$TallyhouseTried"   // and the number of attempts
)

// MaxAttempts is how often the reading of a mail is begun.
const MaxAttempts = 3

var keywords = map[Mark]imap.Flag{Done: keywordDone, Ignored: keywordIgnored, Failed: keywordFailed, Quarantined: keywordQuarantined}

func attempt(n int) imap.Flag { return imap.Flag(fmt.Sprint(keywordTried, n)) }

// State is what the keywords of a mail say.
type State struct{ flags []imap.Flag }

func (s State) has(flag imap.Flag) bool {
	return slices.ContainsFunc(s.flags, func(f imap.Flag) bool { return strings.EqualFold(string(f), string(flag)) })
}

// Mark is the mail's. Without keywords, ignored, failed and quarantined mails are flagged alike, which reads as Failed.
func (s State) Mark() Mark {
	for _, m := range []Mark{Done, Ignored, Quarantined, Failed} {
		if s.has(keywords[m]) {
			return m
		}
	}
	if s.has(imap.FlagFlagged) && !s.has(keywordReleased) {
		return flagged
	}
	return Unmarked
}

// flagged stands for a star, which means something only where there are no keywords.
const flagged Mark = 100

// Attempts is how often the mail's reading was begun and not ended.
func (s State) Attempts() int {
	for n := MaxAttempts; n > 0; n-- {
		if s.has(attempt(n)) {
			return n
		}
	}
	return 0
}

// Released reports whether an operator released the mail from quarantine.
func (s State) Released() bool { return s.has(keywordReleased) }

// claims are the keywords by which workers claim the mail. They change whenever a claim is renewed.
func (s State) claims() []string {
	var all []string
	for _, f := range s.flags {
		if hasPrefixFold(string(f), keywordReading) || strings.EqualFold(string(f), string(keywordBeat)) {
			all = append(all, strings.ToLower(string(f)))
		}
	}
	slices.Sort(all)
	return all
}

// Claims identifies who claims the mail, and when the claim was renewed last: the same text again means that nobody did
// anything.
func (s State) Claims() string { return strings.Join(s.claims(), " ") }

// Keywords reports whether the mailbox takes keywords (RFC 9051, PERMANENTFLAGS with \*). Where it doesn't, ignored,
// failed and quarantined mails are flagged alike (the star of mail programs), all workers read all mails, and neither
// releases nor attempts are kept.
func (s *Session) Keywords() bool { return s.keywords }

func (s *Session) markOf(m Mark) imap.Flag {
	if s.keywords {
		return keywords[m]
	}
	return imap.FlagFlagged
}

// mostFlags is how many of a mail's flags are kept: more than mean something here.
const mostFlags = 32

// stateOf keeps of the mailbox's flags what means something: anybody may give a mail any number of others.
func (s *Session) stateOf(flags []imap.Flag) State {
	var kept []imap.Flag
	for _, f := range flags {
		star := strings.EqualFold(string(f), string(imap.FlagFlagged)) && !s.keywords
		if (star || hasPrefixFold(string(f), keywordPrefix)) && len(kept) < mostFlags {
			kept = append(kept, f)
		}
	}
	return State{kept}
}

// Listed is a mail of a list.
type Listed struct {
	UID   UID
	State State
}

// listTimeouts is how many times the usual time a server has for each Page of a list: the first may need its disk.
const listTimeouts = 3

// List goes through all mails from a UID on, in the server's order; one may come twice. Which of them are open is decided by
// their keywords and not by a search: servers are known whose search for missing keywords finds nothing. A large mailbox takes
// longer: its mails are never deleted. How long is bounded by how the list comes on, not by how many mails the server says there are.
func (s *Session) List(ctx context.Context, from UID, each func(Listed)) error {
	var above imap.UIDSet
	above.AddRange(from, 0) // to the end
	told := 0
	return s.doOn(ctx, "list", listTimeouts*s.options.Timeout, func(comesOn func()) error {
		return s.fetch(s.client.Fetch(above, &imap.FetchOptions{UID: true, Flags: true}), func(m *imapclient.FetchMessageData) error {
			if told++; told%Page == 0 {
				comesOn()
			}
			mail, _, err := s.readMail(m)
			if err == nil && mail.UID >= from { // a range to the end always has the last mail in it
				each(Listed{mail.UID, mail.State})
			}
			return err
		})
	})
}

// Marked gives the mails of a mark; where the mailbox takes no keywords, those that are ignored, failed or quarantined.
func (s *Session) Marked(ctx context.Context, m Mark) (found []UID, err error) {
	err = s.List(ctx, 1, func(l Listed) {
		if mark := l.State.Mark(); mark == m || mark == flagged && m != Done && m != Unmarked {
			found = append(found, l.UID)
		}
	})
	slices.Sort(found)
	return slices.Compact(found), err
}

// Open reports whether a mail waits to be handled.
func (s State) Open() bool { return s.Mark() == Unmarked }

// SetAside reports whether a failed mail is not to be read again by itself: each attempt ended without a result.
func (s State) SetAside() bool { return s.Mark() == Failed && s.Attempts() == MaxAttempts }

// ClaimedByOther reports whether another worker said that it reads the mail.
func (s *Session) ClaimedByOther(state State) bool {
	return slices.ContainsFunc(state.claims(), func(claim string) bool {
		return hasPrefixFold(claim, keywordReading) && !strings.EqualFold(claim, string(s.claim()))
	})
}

func (s *Session) claim() imap.Flag {
	return imap.Flag(fmt.Sprint(keywordReading, s.options.Slot%Slots))
}

// Claim says that this worker reads a mail. It answers false, and withdraws, when another was there before; two that
// come at the same moment may both withdraw. Overrule claims in any case. An attempt above zero is counted with the
// claim. Where there are no keywords all workers read all mails.
func (s *Session) Claim(ctx context.Context, uid UID, tried int, overrule bool) (bool, error) {
	if !s.keywords {
		return true, nil
	}
	flags := []imap.Flag{s.claim()}
	if tried > 0 {
		flags = append(flags, attempt(tried))
	}
	var state State
	found := false
	err := s.do(ctx, "claim", s.options.Timeout, func() error {
		store := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Flags: flags}
		return s.fetch(s.client.Store(imap.UIDSetNum(uid), store, nil), func(m *imapclient.FetchMessageData) error {
			mail, _, err := s.readMail(m)
			state, found = mail.State, true
			return err
		})
	})
	if err != nil {
		return false, err
	}
	if !found {
		return false, ErrGone
	}
	mark := state.Mark()
	if mark == Done || mark == Ignored || s.ClaimedByOther(state) && !overrule {
		return false, s.Withdraw(ctx, uid)
	}
	return true, nil
}

// Renew shows other workers that the claim is alive. Each call must differ from the one before in beat.
func (s *Session) Renew(ctx context.Context, uid UID, beat bool) error {
	if !s.keywords {
		return nil
	}
	op := imap.StoreFlagsDel
	if beat {
		op = imap.StoreFlagsAdd
	}
	return s.store(ctx, op, []UID{uid}, keywordBeat)
}

// Withdraw takes the claim back.
func (s *Session) Withdraw(ctx context.Context, uid UID) error {
	if !s.keywords {
		return nil
	}
	return s.store(ctx, imap.StoreFlagsDel, []UID{uid}, s.claim())
}

// EndAttempts forgets the attempts to read a mail: it was read.
func (s *Session) EndAttempts(ctx context.Context, uid UID) error {
	if !s.keywords {
		return nil
	}
	return s.store(ctx, imap.StoreFlagsDel, []UID{uid}, attempts()...)
}

func attempts() []imap.Flag {
	var all []imap.Flag
	for n := range MaxAttempts {
		all = append(all, attempt(n+1))
	}
	return all
}

// GiveBack takes the mark off mails that became no record, so that they are handled as if they had just arrived.
func (s *Session) GiveBack(ctx context.Context, uids ...UID) error {
	if !s.keywords {
		return s.store(ctx, imap.StoreFlagsDel, uids, imap.FlagFlagged)
	}
	return s.store(ctx, imap.StoreFlagsDel, uids, append(attempts(), keywordQuarantined, keywordFailed, keywordIgnored)...)
}

// Release gives mails back as those of somebody who is allowed. Where there are no keywords, nothing keeps the latter:
// they are handled as any mail.
func (s *Session) Release(ctx context.Context, uids ...UID) error {
	if s.keywords {
		if err := s.store(ctx, imap.StoreFlagsAdd, uids, keywordReleased); err != nil {
			return err
		}
	}
	return s.GiveBack(ctx, uids...)
}

// Mark marks mails.
func (s *Session) Mark(ctx context.Context, m Mark, uids ...UID) error {
	if m != Done || s.options.DoneFolder == "" {
		return s.store(ctx, imap.StoreFlagsAdd, uids, s.markOf(m))
	}
	if err := s.Tidy(ctx, Done, uids...); err != nil { // later they can't be found any more
		return err
	}
	return s.do(ctx, "move", s.options.Timeout, func() error { return s.moveAway(imap.UIDSetNum(uids...)) })
}

// moveAway moves mails to the folder of done ones. Without MOVE, each step waits for the one before it, which the
// client's own way of doing this does not: a mail that wasn't copied would be lost. Nothing but these mails is
// expunged.
func (s *Session) moveAway(mails imap.UIDSet) error {
	if s.move {
		_, err := s.client.Move(mails, s.options.DoneFolder).Wait()
		return err
	}
	if _, err := s.client.Copy(mails, s.options.DoneFolder).Wait(); err != nil {
		return err
	}
	deleted := &imap.StoreFlags{Op: imap.StoreFlagsAdd, Silent: true, Flags: []imap.Flag{imap.FlagDeleted}}
	if err := s.client.Store(mails, deleted, nil).Close(); err != nil {
		return err
	}
	return s.client.UIDExpunge(mails).Close()
}

// Tidy takes the claim and all marks but one off mails. Failed ones keep their attempts.
func (s *Session) Tidy(ctx context.Context, but Mark, uids ...UID) error {
	if !s.keywords {
		return nil
	}
	remove := []imap.Flag{s.claim(), keywordBeat}
	for m, keyword := range keywords {
		if m != but {
			remove = append(remove, keyword)
		}
	}
	if but != Failed {
		remove = append(remove, attempts()...)
	}
	return s.store(ctx, imap.StoreFlagsDel, uids, remove...)
}

func (s *Session) store(ctx context.Context, op imap.StoreFlagsOp, uids []UID, flags ...imap.Flag) error {
	for some := range slices.Chunk(uids, Page) { // servers bound the length of a command
		err := s.do(ctx, "store flags", s.options.Timeout, func() error {
			return s.client.Store(imap.UIDSetNum(some...), &imap.StoreFlags{Op: op, Silent: true, Flags: flags}, nil).Close()
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
