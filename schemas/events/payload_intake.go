package events

import "time"

// Reading is the payload of Readings: what the documents of a mailed record say, and why that is believed, or why a mail
// became no record (docs/events.md#intakereadings). Of a record its id and version are those of the record that it was
// written before.
type Reading struct {
	ProjectID   Opt[string]
	Status      string
	Reason      Opt[string]
	Detail      Opt[string]
	Mail        ReadMail
	Documents   []ReadDocument
	Fields      []ReadField
	Findings    []Finding
	ConfirmedBy Opt[string]
}

// MailedPrefix is what ids of records begin with that the intake of mail makes.
const MailedPrefix = "mail-"

// The statuses of a reading.
const (
	ReadingCompleted     = "completed"
	ReadingFailed        = "failed"
	ReadingQuarantined   = "quarantined"
	ReadingWithoutRecord = "withoutRecord"
	ReadingHandled       = "handled"
)

// ReadMail is the mail that was read.
type ReadMail struct {
	MessageID   Opt[string]
	Mailbox     string
	UIDValidity int64
	UID         int64
	ArrivedAt   Opt[time.Time]
	From        Opt[string]
	Verdict     Opt[string]
	VerdictBy   Opt[string]
	Released    bool
	SHA256      Opt[string]
	Bytes       int64
	Subject     Opt[string]
}

// ReadDocument is a file of the mail that is a document of the record.
type ReadDocument struct {
	Name   string
	Kind   string
	Type   string
	SHA256 string
	Bytes  int64
	Stated bool
}

// ReadField is what was read of one field: its value, and what else it could have been.
type ReadField struct {
	Name         string
	Value        Opt[Stated]
	Alternatives []Stated
}

// Stated is a value with the evidence for it: Text, or Minor where the field is an amount.
type Stated struct {
	Text         Opt[string]
	Minor        Opt[int64]
	ConfidenceBp Decimal
	Page         int64
	Box          Opt[Box]
	Printed      Opt[string]
	Label        Opt[string]
	Rule         string
}

// Box is a place on a page: parts in ten thousand of the page's width or height, from its left or its top.
type Box struct {
	Left, Top, Right, Bottom int64
}

// Finding is what is worth a look about a reading.
type Finding struct {
	Rule    string
	Message string
	Place   Opt[string]
	Page    Opt[int64]
	Box     Opt[Box]
	Records Opt[[]string]
}

const (
	mostUID   = 1<<32 - 1
	mostPages = 1_000_000
	wholePage = 10_000 // parts
)

var readMail = table("readMail", "the mail that was read",
	may("messageId", text, func(m *ReadMail) *Opt[string] { return &m.MessageID }),
	need("mailbox", text, func(m *ReadMail) *string { return &m.Mailbox }).
		doc("where it was when it was read"),
	need("uidValidity", integer(0, mostUID), func(m *ReadMail) *int64 { return &m.UIDValidity }),
	need("uid", integer(0, mostUID), func(m *ReadMail) *int64 { return &m.UID }),
	may("arrivedAt", instant, func(m *ReadMail) *Opt[time.Time] { return &m.ArrivedAt }),
	may("from", text, func(m *ReadMail) *Opt[string] { return &m.From }).
		doc("the addresses in From, which anybody can write"),
	may("verdict", text, func(m *ReadMail) *Opt[string] { return &m.Verdict }).
		doc("what the mailbox's own server found about the sender by DMARC, `pass` or another; null when it isn't asked"),
	may("verdictBy", text, func(m *ReadMail) *Opt[string] { return &m.VerdictBy }).
		doc("that server"),
	need("released", boolean, func(m *ReadMail) *bool { return &m.Released }).
		doc("whether a person had it read all the same"),
	may("sha256", sha256Hex, func(m *ReadMail) *Opt[string] { return &m.SHA256 }).
		doc("of the whole mail, by which it is kept; null when it became no record, for then it isn't"),
	need("bytes", integer(0, MaxAmount), func(m *ReadMail) *int64 { return &m.Bytes }),
	may("subject", text, func(m *ReadMail) *Opt[string] { return &m.Subject }),
)

var readDocument = table("readDocument", "",
	need("name", text, func(f *ReadDocument) *string { return &f.Name }),
	need("kind", extensible("original", "approved", "other"), func(f *ReadDocument) *string { return &f.Kind }).
		doc("as the record has it"),
	need("type", extensible("pdf", "xml"), func(f *ReadDocument) *string { return &f.Type }),
	need("sha256", sha256Hex, func(f *ReadDocument) *string { return &f.SHA256 }).
		doc("of the file, by which it is kept"),
	need("bytes", integer(0, MaxAmount), func(f *ReadDocument) *int64 { return &f.Bytes }),
	need("stated", boolean, func(f *ReadDocument) *bool { return &f.Stated }).
		doc("whether the values and their places are those of this document"),
)

var box = table("box", "a place on the page, in parts of 10,000 of the page as it is shown, from its left or its top",
	need("left", integer(0, wholePage), func(b *Box) *int64 { return &b.Left }),
	need("top", integer(0, wholePage), func(b *Box) *int64 { return &b.Top }),
	need("right", integer(0, wholePage), func(b *Box) *int64 { return &b.Right }),
	need("bottom", integer(0, wholePage), func(b *Box) *int64 { return &b.Bottom }),
)

var stated = table("stated", "a value and why it is believed",
	may("text", text, func(s *Stated) *Opt[string] { return &s.Text }).
		doc("the value of what is no amount; dates as `YYYY-MM-DD`"),
	may("minorUnits", minor, func(s *Stated) *Opt[int64] { return &s.Minor }).
		doc("the value of an amount"),
	need("confidenceBp", probabilityBp, func(s *Stated) *Decimal { return &s.ConfidenceBp }).
		doc("how sure it is: 10000 is certain"),
	need("page", integer(0, mostPages), func(s *Stated) *int64 { return &s.Page }).
		doc("from 1 on; 0 is the e-invoice, and of what a person entered no place"),
	may("box", box.kind(), func(s *Stated) *Opt[Box] { return &s.Box }),
	may("printed", text, func(s *Stated) *Opt[string] { return &s.Printed }).
		doc("what stands there"),
	may("label", text, func(s *Stated) *Opt[string] { return &s.Label }).
		doc("the words that announce it, in small Latin letters alone"),
	need("rule", text, func(s *Stated) *string { return &s.Rule }).
		doc("the rule that found it; `entered` where a person did"),
)

var readField = table("readField", "",
	need("name", extensible("invoiceNumber", "invoiceDate", "dueDate", "supplierName", "supplierTaxId", "supplierIban", "contractorId",
		"currency", "net", "tax", "gross"), func(f *ReadField) *string { return &f.Name }),
	may("value", stated.kind(), func(f *ReadField) *Opt[Stated] { return &f.Value }).
		doc("null when nothing is certain"),
	need("alternatives", list(stated.kind()), func(f *ReadField) *[]Stated { return &f.Alternatives }).
		doc("what else was possible, likeliest first; a few at most"),
)

var finding = table("finding", "",
	need("rule", chars(1, 100), func(f *Finding) *string { return &f.Rule }).
		doc("what it is about, in a word that stays the same over releases"),
	need("message", text, func(f *Finding) *string { return &f.Message }).
		doc("the same for a person"),
	may("place", text, func(f *Finding) *Opt[string] { return &f.Place }).
		doc("the field, or the element of an e-invoice"),
	may("page", integer(0, mostPages), func(f *Finding) *Opt[int64] { return &f.Page }),
	may("box", box.kind(), func(f *Finding) *Opt[Box] { return &f.Box }),
	may("records", list(id), func(f *Finding) *Opt[[]string] { return &f.Records }).
		doc("the earlier records of which this one may be a repetition; show each to those alone who may see it"),
)

var reading = table("reading", "What the reading of a mailed record's documents gave; its id and version are the record's, and it is "+
	"written before that version of the record. Or why a mail became no record: then its id is the mail's and its version the "+
	"microseconds since 1970 at which that was decided.",
	may("projectId", id, func(r *Reading) *Opt[string] { return &r.ProjectID }).
		doc("null for a mail that no project's address is known of"),
	need("status", enum(ReadingCompleted, ReadingFailed, ReadingQuarantined, ReadingWithoutRecord, ReadingHandled),
		func(r *Reading) *string { return &r.Status }).
		doc("`completed` and `failed` as the record's intake has it; of a mail without a record `quarantined`, `withoutRecord`, or "+
			"`handled` once it became records after all"),
	may("reason", text, func(r *Reading) *Opt[string] { return &r.Reason }).
		doc("why it failed, in a word: docs/invoices.md#why-a-file-fails; why it became no record: docs/mail.md#the-inbox"),
	may("detail", text, func(r *Reading) *Opt[string] { return &r.Detail }).
		doc("the same for a person"),
	need("mail", readMail.kind(), func(r *Reading) *ReadMail { return &r.Mail }),
	need("documents", list(readDocument.kind()), func(r *Reading) *[]ReadDocument { return &r.Documents }).
		doc("in the record's order"),
	need("fields", list(readField.kind()), func(r *Reading) *[]ReadField { return &r.Fields }).
		doc("those with a value or something possible"),
	need("findings", list(finding.kind()), func(r *Reading) *[]Finding { return &r.Findings }),
	may("confirmedBy", id, func(r *Reading) *Opt[string] { return &r.ConfirmedBy }).
		doc("the user who corrected or confirmed the fields; null where the service read them"),
)
