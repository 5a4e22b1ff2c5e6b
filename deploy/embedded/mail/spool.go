package mail

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver/imapmemserver"
	"github.com/emersion/go-message/textproto"
)

// spool is the directory of all mails that were accepted: files named by their arrival, which sorts them.
type spool struct {
	dir  string
	user *imapmemserver.User

	mutex sync.Mutex
	last  time.Time // no two arrivals are the same
}

const (
	nameLayout = "20060102T150405.000000000Z"
	extension  = ".eml"
	// maxHeader bounds a mail's header: IMAP reads it whenever it is asked about the mail.
	maxHeader = 1 << 20
)

// errUnreadable says that the IMAP server could not show a mail.
var errUnreadable = errors.New("the mail's header is malformed, or longer than 1 MiB")

// deliver stores a mail; it is on the disk when deliver returns.
func (s *spool) deliver(raw []byte) error {
	rest := bytes.NewReader(raw)
	buffered := bufio.NewReader(rest)
	_, err := textproto.ReadHeader(buffered)
	if header := len(raw) - rest.Len() - buffered.Buffered(); err != nil || header > maxHeader {
		return errUnreadable
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	arrived := time.Now().UTC()
	if !arrived.After(s.last) {
		arrived = s.last.Add(1)
	}
	s.last = arrived
	if err := writeDurably(s.dir, arrived.Format(nameLayout)+extension, raw); err != nil {
		return err
	}
	return s.show(raw, arrived)
}

// replay shows all mails that were stored, in the order of their arrival.
func (s *spool) replay() error {
	files, err := filepath.Glob(filepath.Join(s.dir, "*"+extension))
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		arrived, err := time.Parse(nameLayout+extension, filepath.Base(file))
		if err != nil {
			return fmt.Errorf("%s is not named by an arrival: %w", file, err)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := s.show(raw, arrived); err != nil {
			return err
		}
		s.last = arrived
	}
	return nil
}

// show gives a mail to the IMAP server.
func (s *spool) show(raw []byte, arrived time.Time) error {
	_, err := s.user.Append(inbox, literal{bytes.NewReader(raw)}, &imap.AppendOptions{Time: arrived})
	return err
}

// literal is a mail as IMAP's APPEND wants it.
type literal struct{ *bytes.Reader }

// Size is the mail's size in bytes.
func (l literal) Size() int64 { return l.Reader.Size() }

// writeDurably writes a file that is there whole or not at all, whenever process or machine die.
func writeDurably(dir, name string, content []byte) error {
	path := filepath.Join(dir, name)
	if err := writeSynced(path+".new", content); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func writeSynced(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
