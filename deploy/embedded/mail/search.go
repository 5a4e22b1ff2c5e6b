package mail

import (
	"bufio"
	"bytes"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapserver"
	"github.com/emersion/go-message/textproto"
)

// searchable tells whether criteria ask for nothing that is in the mails themselves.
func searchable(c *imap.SearchCriteria) bool {
	if len(c.Header)+len(c.Body)+len(c.Text) > 0 || !c.SentSince.IsZero() || !c.SentBefore.IsZero() {
		return false
	}
	for i := range c.Not {
		if !searchable(&c.Not[i]) {
			return false
		}
	}
	for i := range c.Or {
		if !searchable(&c.Or[i][0]) || !searchable(&c.Or[i][1]) {
			return false
		}
	}
	return true
}

// matching makes a test of criteria; the mutex is held.
func (s *session) matching(c *imap.SearchCriteria) func(sequence uint32, m *stored) bool {
	all := uint32(len(s.box.mails))
	var last uint32
	if all > 0 {
		last = uint32(s.box.mails[all-1].uid)
	}
	var match func(c *imap.SearchCriteria, sequence uint32, m *stored) bool
	match = func(c *imap.SearchCriteria, sequence uint32, m *stored) bool {
		for _, set := range c.SeqNum {
			if !inRanges(ranges(set), sequence, all) {
				return false
			}
		}
		for _, set := range c.UID {
			if !inRanges(uidRanges(set), uint32(m.uid), last) {
				return false
			}
		}
		for _, f := range c.Flag {
			if !m.flags[lower(f)] {
				return false
			}
		}
		for _, f := range c.NotFlag {
			if m.flags[lower(f)] {
				return false
			}
		}
		day := time.Date(m.arrived.Year(), m.arrived.Month(), m.arrived.Day(), 0, 0, 0, 0, time.UTC)
		if !c.Since.IsZero() && day.Before(c.Since) || !c.Before.IsZero() && !day.Before(c.Before) {
			return false
		}
		if c.Larger != 0 && m.size <= c.Larger || c.Smaller != 0 && m.size >= c.Smaller {
			return false
		}
		for i := range c.Not {
			if match(&c.Not[i], sequence, m) {
				return false
			}
		}
		for i := range c.Or {
			if !match(&c.Or[i][0], sequence, m) && !match(&c.Or[i][1], sequence, m) {
				return false
			}
		}
		return true
	}
	return func(sequence uint32, m *stored) bool { return match(c, sequence, m) }
}

// sectionOf gives a part of a mail. The whole and its header are given as they are, byte by byte; only parts are parsed.
func sectionOf(raw []byte, section *imap.FetchItemBodySection) []byte {
	plain := len(section.Part) == 0 && len(section.HeaderFields) == 0 && len(section.HeaderFieldsNot) == 0
	var b []byte
	switch {
	case plain && section.Specifier == imap.PartSpecifierNone:
		b = raw
	case plain && section.Specifier == imap.PartSpecifierHeader:
		b = raw[:bodyAt(raw)]
	case plain && section.Specifier == imap.PartSpecifierText:
		b = raw[bodyAt(raw):]
	default:
		return imapserver.ExtractBodySection(bytes.NewReader(raw), section)
	}
	if p := section.Partial; p != nil {
		from := min(max(p.Offset, 0), int64(len(b)))
		b = b[from:min(from+max(p.Size, 0), int64(len(b)))]
	}
	return b
}

// bodyAt is where the header and its blank line end.
func bodyAt(raw []byte) int {
	for _, blank := range []string{"\r\n\r\n", "\n\n"} {
		if i := bytes.Index(raw, []byte(blank)); i >= 0 {
			return i + len(blank)
		}
	}
	return len(raw)
}

func envelope(raw []byte) *imap.Envelope {
	h, err := textproto.ReadHeader(bufio.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return &imap.Envelope{}
	}
	return imapserver.ExtractEnvelope(h)
}
