package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
)

const inbox = "INBOX"

// store is a directory with a folder in it for each mailbox.
type store struct {
	dir     string
	mutex   sync.Mutex // of all that follows, the boxes' contents too
	boxes   map[string]*box
	changed chan struct{} // closed, and another made, when anything changes
}

// change gives a channel that is closed at the next change.
func (s *store) change() <-chan struct{} {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.changed
}

// tell wakes all who wait for a change; the mutex is held.
func (s *store) tell() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// box is a mailbox: the mails as files UID.eml, whose modification time is their arrival, their flags in UID.flags, one a line, and in the file uids the UIDVALIDITY
// and the next UID.
type box struct {
	dir      string
	validity uint32
	next     imap.UID
	mails    []*stored // by UID
	tracker  *imapserver.MailboxTracker
}

// stored is a mail.
type stored struct {
	uid     imap.UID
	size    int64
	arrived time.Time
	flags   map[imap.Flag]bool // in lower case
	names   map[imap.Flag]imap.Flag
}

func openStore(dir string) (*store, error) {
	s := &store{dir: dir, boxes: map[string]*box{}, changed: make(chan struct{})}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name, err := url.PathUnescape(e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		if s.boxes[name], err = openBox(filepath.Join(dir, e.Name())); err != nil {
			return nil, fmt.Errorf("open mailbox %s: %w", name, err)
		}
	}
	if s.boxes[inbox] == nil {
		_, err = s.create(inbox)
	}
	return s, err
}

// create makes a mailbox. The mutex is held, or nobody else knows the store.
func (s *store) create(name string) (*box, error) {
	b := &box{dir: filepath.Join(s.dir, url.PathEscape(name)), validity: uint32(time.Now().Unix()), next: 1, tracker: imapserver.NewMailboxTracker(0)}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, err
	}
	if err := b.saveUIDs(); err != nil {
		return nil, err
	}
	s.boxes[name] = b
	return b, nil
}

func openBox(dir string) (*box, error) {
	b := &box{dir: dir}
	content, err := os.ReadFile(filepath.Join(dir, "uids"))
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Sscan(string(content), &b.validity, &b.next); err != nil {
		return nil, fmt.Errorf("read the file uids: %w", err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.eml"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		m, err := openStored(file)
		if err != nil {
			return nil, err
		}
		b.mails = append(b.mails, m)
		b.next = max(b.next, m.uid+1)
	}
	slices.SortFunc(b.mails, func(x, y *stored) int { return int(int64(x.uid) - int64(y.uid)) })
	b.tracker = imapserver.NewMailboxTracker(uint32(len(b.mails)))
	return b, nil
}

func openStored(file string) (*stored, error) {
	base := strings.TrimSuffix(filepath.Base(file), ".eml")
	uid, err := strconv.ParseUint(base, 10, 32)
	if err != nil {
		return nil, fmt.Errorf("%s is not named by a UID: %w", file, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	m := &stored{uid: imap.UID(uid), size: info.Size(), arrived: info.ModTime(), flags: map[imap.Flag]bool{}, names: map[imap.Flag]imap.Flag{}}
	flags, err := os.ReadFile(strings.TrimSuffix(file, ".eml") + ".flags")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(flags)) {
		m.set(imap.Flag(strings.TrimSpace(line)))
	}
	return m, nil
}

// deliver stores a mail in the inbox.
func (s *store) deliver(mail []byte, arrived time.Time) (imap.UID, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	b := s.boxes[inbox]
	m, err := b.add(mail, arrived, nil)
	s.tell()
	if err != nil {
		return 0, err
	}
	return m.uid, nil
}

// add stores a mail, whole or not at all.
func (b *box) add(mail []byte, arrived time.Time, flags []imap.Flag) (*stored, error) {
	m := &stored{uid: b.next, size: int64(len(mail)), arrived: arrived, flags: map[imap.Flag]bool{}, names: map[imap.Flag]imap.Flag{}}
	for _, f := range flags {
		m.set(f)
	}
	b.next++
	if err := b.saveUIDs(); err != nil {
		return nil, err
	}
	if len(flags) > 0 {
		if err := b.saveFlags(m); err != nil {
			return nil, err
		}
	}
	if err := replaceFile(b.file(m, "eml"), mail, arrived); err != nil {
		return nil, err
	}
	b.mails = append(b.mails, m)
	b.tracker.QueueNumMessages(uint32(len(b.mails)))
	return m, nil
}

// remove takes mails out of the mailbox.
func (b *box) remove(gone map[*stored]bool) error {
	for i := len(b.mails) - 1; i >= 0; i-- {
		m := b.mails[i]
		if !gone[m] {
			continue
		}
		if err := os.Remove(b.file(m, "eml")); err != nil {
			return err
		}
		_ = os.Remove(b.file(m, "flags")) // there may be none, and without its mail it says nothing
		b.mails = slices.Delete(b.mails, i, i+1)
		b.tracker.QueueExpunge(uint32(i) + 1)
	}
	return nil
}

func (b *box) file(m *stored, kind string) string {
	return filepath.Join(b.dir, fmt.Sprintf("%d.%s", m.uid, kind))
}

func (b *box) saveUIDs() error {
	return replaceFile(filepath.Join(b.dir, "uids"), fmt.Appendf(nil, "%d %d\n", b.validity, b.next), time.Now())
}

func (b *box) saveFlags(m *stored) error {
	var lines strings.Builder
	for _, f := range m.list() {
		lines.WriteString(string(f) + "\n")
	}
	return replaceFile(b.file(m, "flags"), []byte(lines.String()), time.Now())
}

// replaceFile writes a file that is there whole or not at all, whenever the process dies.
func replaceFile(name string, content []byte, modified time.Time) error {
	if err := os.WriteFile(name+".new", content, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(name+".new", modified, modified); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func lower(f imap.Flag) imap.Flag { return imap.Flag(strings.ToLower(string(f))) }

func (m *stored) set(f imap.Flag) {
	if f != "" {
		m.flags[lower(f)], m.names[lower(f)] = true, f
	}
}

func (m *stored) unset(f imap.Flag) { delete(m.flags, lower(f)) }

// list are the flags as they were written, sorted.
func (m *stored) list() []imap.Flag {
	all := []imap.Flag{}
	for _, f := range slices.Sorted(maps.Keys(m.flags)) {
		all = append(all, m.names[f])
	}
	return all
}
