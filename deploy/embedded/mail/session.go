package mail

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

const delimiter = '/'

// session is one connection to the mailboxes.
type session struct {
	store   *store
	box     *box // nil while none is selected
	tracker *imapserver.SessionTracker
}

var _ interface {
	imapserver.SessionNamespace
	imapserver.SessionMove
} = (*session)(nil)

func refused(format string, args ...any) error {
	return &imap.Error{Type: imap.StatusResponseTypeNo, Text: fmt.Sprintf(format, args...)}
}

func (s *session) unknown(name string) error {
	return &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeTryCreate, Text: "there is no mailbox " + name}
}

// find gives a mailbox; the store's mutex is held.
func (s *session) find(name string) *box {
	if strings.EqualFold(name, inbox) {
		name = inbox
	}
	return s.store.boxes[name]
}

// Close ends the connection.
func (s *session) Close() error { return s.Unselect() }

// Login checks the password.
func (s *session) Login(user, password string) error {
	if user != User || password != Password {
		return imapserver.ErrAuthFailed
	}
	return nil
}

// Select opens a mailbox.
func (s *session) Select(name string, _ *imap.SelectOptions) (*imap.SelectData, error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	b := s.find(name)
	if b == nil {
		return nil, s.unknown(name)
	}
	s.box, s.tracker = b, b.tracker.NewSession()
	flags := []imap.Flag{imap.FlagSeen, imap.FlagAnswered, imap.FlagFlagged, imap.FlagDeleted, imap.FlagDraft}
	known := map[imap.Flag]bool{}
	for _, m := range b.mails {
		for _, f := range m.list() {
			if !known[lower(f)] && !strings.HasPrefix(string(f), `\`) {
				known[lower(f)], flags = true, append(flags, f)
			}
		}
	}
	return &imap.SelectData{
		Flags: flags, PermanentFlags: append(flags[:len(flags):len(flags)], imap.FlagWildcard),
		NumMessages: uint32(len(b.mails)), UIDNext: b.next, UIDValidity: b.validity,
	}, nil
}

// Unselect closes the mailbox.
func (s *session) Unselect() error {
	s.store.mutex.Lock() // an IDLE may still be at its end
	defer s.store.mutex.Unlock()
	if s.tracker != nil {
		s.tracker.Close()
	}
	s.box, s.tracker = nil, nil
	return nil
}

// Create makes a mailbox.
func (s *session) Create(name string, _ *imap.CreateOptions) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	name = strings.TrimRight(name, string(delimiter))
	const longest = 80 // of a name, escaped, in bytes: file systems have bounds
	if name == "" || strings.HasPrefix(name, ".") || len(name) > longest {
		return refused("a mailbox's name has 1 to %d bytes and begins with no dot", longest)
	}
	if s.find(name) != nil {
		return &imap.Error{Type: imap.StatusResponseTypeNo, Code: imap.ResponseCodeAlreadyExists, Text: "it exists"}
	}
	_, err := s.store.create(name)
	return err
}

// Delete, Rename: mailboxes stay.
func (s *session) Delete(string) error { return refused("mailboxes are not deleted here") }

// Rename is refused.
func (s *session) Rename(string, string, *imap.RenameOptions) error {
	return refused("mailboxes are not renamed here")
}

// Subscribe does nothing: all are shown.
func (s *session) Subscribe(string) error { return nil }

// Unsubscribe does nothing.
func (s *session) Unsubscribe(string) error { return nil }

// Namespace says that there is one.
func (s *session) Namespace() (*imap.NamespaceData, error) {
	return &imap.NamespaceData{Personal: []imap.NamespaceDescriptor{{Delim: delimiter}}}, nil
}

// List shows the mailboxes.
func (s *session) List(w *imapserver.ListWriter, ref string, patterns []string, _ *imap.ListOptions) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	for name := range s.store.boxes {
		for _, pattern := range patterns {
			if imapserver.MatchList(name, delimiter, ref, pattern) {
				if err := w.WriteList(&imap.ListData{Mailbox: name, Delim: delimiter}); err != nil {
					return err
				}
				break
			}
		}
	}
	return nil
}

// Status tells of a mailbox without opening it.
func (s *session) Status(name string, o *imap.StatusOptions) (*imap.StatusData, error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	b := s.find(name)
	if b == nil {
		return nil, s.unknown(name)
	}
	var unseen, deleted, recent uint32
	var size int64
	for _, m := range b.mails {
		size += m.size
		if !m.flags[lower(imap.FlagSeen)] {
			unseen++
		}
		if m.flags[lower(imap.FlagDeleted)] {
			deleted++
		}
	}
	all := uint32(len(b.mails))
	d := &imap.StatusData{Mailbox: name, UIDNext: b.next, UIDValidity: b.validity}
	for _, asked := range []struct {
		on   bool
		from *uint32
		to   **uint32
	}{{o.NumMessages, &all, &d.NumMessages}, {o.NumUnseen, &unseen, &d.NumUnseen}, {o.NumDeleted, &deleted, &d.NumDeleted}, {o.NumRecent, &recent, &d.NumRecent}} {
		if asked.on {
			*asked.to = asked.from
		}
	}
	if o.Size {
		d.Size = &size
	}
	return d, nil
}

// Append stores a mail.
func (s *session) Append(name string, r imap.LiteralReader, o *imap.AppendOptions) (*imap.AppendData, error) {
	if r.Size() > MaxBytes {
		return nil, refused("a mail has at most %d bytes", MaxBytes)
	}
	mail, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	b := s.find(name)
	if b == nil {
		return nil, s.unknown(name)
	}
	arrived := o.Time
	if arrived.IsZero() {
		arrived = time.Now()
	}
	m, err := b.add(mail, arrived, o.Flags)
	s.store.tell()
	if err != nil {
		return nil, err
	}
	return &imap.AppendData{UIDValidity: b.validity, UID: m.uid}, nil
}

// Poll writes what has changed.
func (s *session) Poll(w *imapserver.UpdateWriter, allowExpunge bool) error {
	s.store.mutex.Lock()
	tracker := s.tracker
	s.store.mutex.Unlock()
	if tracker == nil {
		return nil
	}
	return tracker.Poll(w, allowExpunge)
}

// Idle writes what changes, as it does.
func (s *session) Idle(w *imapserver.UpdateWriter, stop <-chan struct{}) error {
	for {
		changed := s.store.change() // before the look, so that nothing falls in between
		if err := s.Poll(w, true); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stop:
			return nil
		}
	}
}

// each calls f with the mails of a set and their sequence numbers; the mutex is held. Mails that the client wasn't told of yet are not there for it.
func (s *session) each(set imap.NumSet, f func(sequence uint32, m *stored) error) error {
	last := uint32(s.box.next) - 1
	if n := len(s.box.mails); n > 0 {
		last = uint32(s.box.mails[n-1].uid)
	}
	for i, m := range append([]*stored(nil), s.box.mails...) {
		sequence := s.tracker.EncodeSeqNum(uint32(i) + 1)
		if sequence == 0 {
			continue
		}
		in := false
		switch set := set.(type) {
		case imap.SeqSet:
			in = inRanges(ranges(set), sequence, uint32(len(s.box.mails)))
		case imap.UIDSet:
			in = inRanges(uidRanges(set), uint32(m.uid), last)
		}
		if in {
			if err := f(sequence, m); err != nil {
				return err
			}
		}
	}
	return nil
}

type numbers struct{ from, to uint32 } // 0: the last one

func ranges(set imap.SeqSet) (all []numbers) {
	for _, r := range set {
		all = append(all, numbers{r.Start, r.Stop})
	}
	return all
}

func uidRanges(set imap.UIDSet) (all []numbers) {
	for _, r := range set {
		all = append(all, numbers{uint32(r.Start), uint32(r.Stop)})
	}
	return all
}

func inRanges(all []numbers, n, last uint32) bool {
	for _, r := range all {
		if r.from == 0 {
			r.from = last
		}
		if r.to == 0 {
			r.to = last
		}
		if n >= min(r.from, r.to) && n <= max(r.from, r.to) {
			return true
		}
	}
	return false
}

// Fetch writes what was asked for.
func (s *session) Fetch(w *imapserver.FetchWriter, set imap.NumSet, o *imap.FetchOptions) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	return s.each(set, func(sequence uint32, m *stored) error { return s.fetch(w, sequence, m, o) })
}

func (s *session) fetch(w *imapserver.FetchWriter, sequence uint32, m *stored, o *imap.FetchOptions) error {
	var raw []byte
	if o.Envelope || o.BodyStructure != nil || len(o.BodySection) > 0 {
		var err error
		if raw, err = os.ReadFile(s.box.file(m, "eml")); err != nil {
			return refused("the mail's file can't be read")
		}
	}
	for _, section := range o.BodySection {
		if !section.Peek && !m.flags[lower(imap.FlagSeen)] {
			m.set(imap.FlagSeen)
			if err := s.box.saveFlags(m); err != nil {
				return err
			}
			o.Flags = true
		}
	}
	r := w.CreateMessage(sequence)
	r.WriteUID(m.uid)
	if o.Flags {
		r.WriteFlags(m.list())
	}
	if o.InternalDate {
		r.WriteInternalDate(m.arrived)
	}
	if o.RFC822Size {
		r.WriteRFC822Size(m.size)
	}
	if o.Envelope {
		r.WriteEnvelope(envelope(raw))
	}
	if o.BodyStructure != nil {
		r.WriteBodyStructure(imapserver.ExtractBodyStructure(bytes.NewReader(raw)))
	}
	for _, section := range o.BodySection {
		b := sectionOf(raw, section)
		part := r.WriteBodySection(section, int64(len(b)))
		_, err := part.Write(b)
		if closed := part.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return r.Close()
}

// Search finds by flags, UIDs, sizes and days, which is what the intake and common programs ask for.
func (s *session) Search(kind imapserver.NumKind, c *imap.SearchCriteria, _ *imap.SearchOptions) (*imap.SearchData, error) {
	if !searchable(c) {
		return nil, refused("only flags, numbers, sizes and days can be searched for here")
	}
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	matching := s.matching(c)
	var sequences imap.SeqSet
	var uids imap.UIDSet
	d := &imap.SearchData{}
	for i, m := range s.box.mails {
		sequence := s.tracker.EncodeSeqNum(uint32(i) + 1)
		if sequence == 0 || !matching(sequence, m) {
			continue
		}
		sequences.AddNum(sequence)
		uids.AddNum(m.uid)
		d.Count++
	}
	if kind == imapserver.NumKindSeq {
		d.All = sequences
	} else {
		d.All = uids
	}
	return d, nil
}

// Store changes flags.
func (s *session) Store(w *imapserver.FetchWriter, set imap.NumSet, change *imap.StoreFlags, _ *imap.StoreOptions) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	return s.each(set, func(sequence uint32, m *stored) error {
		if change.Op == imap.StoreFlagsSet {
			clear(m.flags)
		}
		for _, f := range change.Flags {
			if change.Op == imap.StoreFlagsDel {
				m.unset(f)
			} else {
				m.set(f)
			}
		}
		if err := s.box.saveFlags(m); err != nil {
			return err
		}
		s.box.tracker.QueueMessageFlags(sequence, m.uid, m.list(), s.tracker)
		s.store.tell()
		if change.Silent {
			return nil
		}
		return s.fetch(w, sequence, m, &imap.FetchOptions{Flags: true})
	})
}

// Expunge removes what a mail program marked as deleted.
func (s *session) Expunge(_ *imapserver.ExpungeWriter, uids *imap.UIDSet) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	gone := map[*stored]bool{}
	for _, m := range s.box.mails {
		if m.flags[lower(imap.FlagDeleted)] && (uids == nil || uids.Contains(m.uid)) {
			gone[m] = true
		}
	}
	defer s.store.tell()
	return s.box.remove(gone) // the client hears of it as everybody does
}

// Copy copies mails into another mailbox.
func (s *session) Copy(set imap.NumSet, name string) (*imap.CopyData, error) {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	data, _, err := s.copy(set, name)
	return data, err
}

// Move moves mails into another mailbox: they are in both for a moment, never in none.
func (s *session) Move(w *imapserver.MoveWriter, set imap.NumSet, name string) error {
	s.store.mutex.Lock()
	defer s.store.mutex.Unlock()
	data, moved, err := s.copy(set, name)
	if err != nil {
		return err
	}
	defer s.store.tell()
	if err := s.box.remove(moved); err != nil { // the client hears of it as everybody does
		return err
	}
	return w.WriteCopyData(data)
}

func (s *session) copy(set imap.NumSet, name string) (*imap.CopyData, map[*stored]bool, error) {
	to := s.find(name)
	if to == nil {
		return nil, nil, s.unknown(name)
	}
	if to == s.box {
		return nil, nil, refused("the mails are there already")
	}
	var from, into imap.UIDSet
	copied := map[*stored]bool{}
	err := s.each(set, func(_ uint32, m *stored) error {
		raw, err := os.ReadFile(s.box.file(m, "eml"))
		if err != nil {
			return err
		}
		c, err := to.add(raw, m.arrived, m.list())
		if err != nil {
			return err
		}
		from.AddNum(m.uid)
		into.AddNum(c.uid)
		copied[m] = true
		return nil
	})
	return &imap.CopyData{UIDValidity: to.validity, SourceUIDs: from, DestUIDs: into}, copied, err
}
