package mail

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"tallyhouse/ingest/mail/derived"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// The versions of a record that the intake writes. From analytics.ApplicationsOwn on they are the application's
// (docs/mail.md#for-operators).
const (
	versionQueued     = 1
	versionProcessing = 2
	versionRead       = 3
)

// identity says what makes a record the same, however often its mail is read.
type identity struct {
	tenant, project string
	mail            string // its Message-ID, or what stands for it
	index           int    // of the file among the mail's of its kind, PDFs or e-invoices
	file            [sha256.Size]byte
}

// id is the record's id, which all of the identity makes.
func (i identity) id() string {
	file := append(binary.BigEndian.AppendUint64(nil, uint64(i.index)), i.file[:]...)
	return derived.ID(events.MailedPrefix, file, i.tenant, i.project, i.mail)
}

// identities are those of a mail's files, without tenant and project.
func identities(mail string, files []message.File) []identity {
	all := make([]identity, len(files))
	of := map[bool]int{} // how many of each kind there were
	for i, f := range files {
		all[i] = identity{mail: mail, index: of[f.XML], file: sha256.Sum256(f.Data)}
		of[f.XML]++
	}
	return all
}

// in is the id of the record in a project.
func (i identity) in(tenant, project string) string {
	i.tenant, i.project = tenant, project
	return i.id()
}

// mailIdentity is a mail's Message-ID, or else a hash of all of it.
func mailIdentity(messageID string, raw []byte) string {
	if messageID != "" {
		return messageID
	}
	sum := sha256.Sum256(raw)
	return "sha256:" + string(sum[:])
}

// draft is a record as far as the mail alone says it.
type draft struct {
	tenant, project, id string
	documents           []document
	source              source
	arrived             time.Time
	maxAmount           int64 // minor units; a reading with more than that in it isn't certain
}

func (d draft) event(version int64, status string, now time.Time) events.Event {
	r := &events.Record{
		ProjectID: d.project,
		Source:    "invoice",
		Direction: "out",
		StepKind:  "setup",
		Intake:    events.Intake{Channel: "email", Status: events.Some(status)},
	}
	for _, doc := range d.documents {
		r.Documents = append(r.Documents, doc.Document)
	}
	if day := calendar.ViennaDate(d.arrived); day >= calendar.MinDate && day <= calendar.MaxDate {
		r.Intake.ReceivedAt = events.Some(d.arrived)
	}
	return events.Event{
		Envelope: events.Envelope{ID: d.id, TenantID: d.tenant, Version: version, Op: events.Upsert, At: now.UTC().Truncate(time.Microsecond)},
		Data:     r,
	}
}

// complete is the event of a read invoice, whose texts package invoice has bounded. Values beyond the ledger's ranges are
// left out, as are amounts that no invoice is plausible with.
func (d draft) complete(version int64, f reading, now time.Time) events.Event {
	e := d.event(version, "completed", now)
	r := e.Data.(*events.Record)
	r.InvoiceNumber = text(f.number)
	r.CounterpartyName = text(f.supplier)
	r.ContractorID = text(f.contractor)
	r.RecognitionDate = date(f.date)
	r.DueDate = date(f.due)
	if r.Currency = text(f.currency); r.Currency.Ok && d.plausible(f) {
		r.Net, r.Tax, r.Gross = amount(f.net), amount(f.tax), amount(f.gross)
	}
	return e
}

// plausible reports whether the amounts of a reading may be an invoice's. They stand or fall together, and with them the
// gross that net and tax add up to: they are read from one sum.
func (d draft) plausible(f reading) bool {
	for _, n := range []*int64{f.net, f.tax, f.gross} {
		if n != nil && (*n > d.maxAmount || *n < -d.maxAmount) {
			return false
		}
	}
	if f.net == nil || f.tax == nil {
		return true
	}
	sum := *f.net + *f.tax
	return sum <= d.maxAmount && sum >= -d.maxAmount
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
	if n == nil {
		return events.Opt[int64]{}
	}
	return events.Some(*n)
}
