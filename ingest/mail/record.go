package mail

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"time"

	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The versions of a record that the intake writes. From ApplicationsOwn on they are the application's (events.md, "Intake of mail").
const (
	versionQueued     = 1
	versionProcessing = 2
	versionRead       = 3
	ApplicationsOwn   = 100
)

// identity says what makes a record the same, however often its mail is read.
type identity struct {
	tenant, project string
	mail            string // its Message-ID, or what stands for it
	index           int    // of the PDF among the mail's
	pdf             [sha256.Size]byte
}

// id is the record's id: all of the identity, hashed, each part with its length before it.
func (i identity) id() string {
	h := sha256.New()
	for _, s := range []string{i.tenant, i.project, i.mail} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(i.index))
	h.Write(n[:])
	h.Write(i.pdf[:])
	return "mail-" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:20]))
}

// mailIdentity is the mail's Message-ID, or else a hash of all of it.
func mailIdentity(h message.Header, raw []byte) string {
	if id := h.MessageID(); id != "" {
		return id
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + string(sum[:])
}

// draft is a record as far as the mail alone tells it.
type draft struct {
	tenant, project, id string
	name                string // of the PDF
	arrived             time.Time
}

func (d draft) event(version int64, status string, now time.Time) events.Event {
	r := &events.Record{
		ProjectID: d.project,
		Source:    "invoice",
		Direction: "out",
		StepKind:  "setup",
		Documents: []events.Document{{Name: d.name, Kind: "original"}},
		Intake:    events.Intake{Channel: "email", Status: events.Some(status)},
	}
	if day := calendar.ViennaDate(d.arrived); day >= calendar.MinDate && day <= calendar.MaxDate {
		r.Intake.ReceivedAt = events.Some(d.arrived)
	}
	return events.Event{
		Envelope: events.Envelope{ID: d.id, TenantID: d.tenant, Version: version, Op: events.Upsert, At: now.UTC().Truncate(time.Microsecond)},
		Data:     r,
	}
}

// complete is the event of a read invoice. What isn't within the ledger's ranges stays away.
func (d draft) complete(version int64, f reading, contractor string, now time.Time) events.Event {
	e := d.event(version, "completed", now)
	r := e.Data.(*events.Record)
	r.InvoiceNumber = text(f.number)
	r.CounterpartyName = text(f.supplier)
	r.ContractorID = text(contractor)
	r.RecognitionDate = date(f.date)
	r.DueDate = date(f.due)
	if len(f.currency) == 3 {
		r.Currency = events.Some(f.currency)
		r.Net, r.Tax, r.Gross = amount(f.net), amount(f.tax), amount(f.gross)
	}
	return e
}

func text(s string) events.Opt[string] {
	if s == "" {
		return events.Opt[string]{}
	}
	return events.Some(s)
}

func date(s string) events.Opt[calendar.Date] {
	d, err := calendar.ParseDate(s)
	if err != nil {
		return events.Opt[calendar.Date]{}
	}
	return events.Some(d)
}

func amount(n *int64) events.Opt[int64] {
	if n == nil || *n > events.MaxAmount || *n < -events.MaxAmount {
		return events.Opt[int64]{}
	}
	return events.Some(*n)
}
