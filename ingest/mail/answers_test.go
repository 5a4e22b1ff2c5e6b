package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gomail "github.com/emersion/go-message/mail"
	smtpserver "github.com/emersion/go-smtp"
	"github.com/prometheus/client_golang/prometheus"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/answer"
	"tallyhouse/ingest/mail/answer/smtptest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// everybody tells the responsible user of every project, and no sender.
type everybody struct{}

func (everybody) Wanted(string, string) (responsible, senders bool) { return true, false }

func (everybody) Own() string { return "tallyhouse@own.example" }

// owed are the answers in the outbox about a mail, by id.
func (w *world) owed(messageID string) map[string]*events.Answer {
	w.t.Helper()
	all := map[string]*events.Answer{}
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Answers) {
		e, err := events.Decode(events.Answers, r.Key, r.Value)
		if err != nil {
			w.t.Fatalf("an answer was written that breaks the rules: %v", err)
		}
		if a := e.Data.(*events.Answer); a.Mail.MessageID.V == messageID {
			all[e.ID] = a
		}
	}
	return all
}

// Programs, lists and those who want no answer get none (RFC 3834).
func TestWhatNoProgramAnswers(t *testing.T) {
	for lines, want := range map[string]bool{
		"Subject: Rechnung":                      false,
		"Auto-Submitted: no":                     false,
		"Auto-Submitted: No; x=y":                false,
		"Return-Path: <office@bauwerk.example>":  false,
		"Precedence: first-class":                false,
		"Auto-Submitted: auto-generated":         true,
		"Auto-Submitted: auto-replied":           true,
		"Auto-Submitted: (no)":                   true,
		"auto-submitted:\r\n auto-notified":      true,
		"Return-Path: <>":                        true,
		"Return-Path: < >":                       true,
		"Precedence: Bulk":                       true,
		"Precedence: list":                       true,
		"Precedence: junk":                       true,
		"List-Id: <l.example>":                   true,
		"LIST-UNSUBSCRIBE: <mailto:x@l.example>": true,
		"List-Post:":                             true,
		"X-Auto-Response-Suppress: All":          true,
		"X-Autoreply: yes":                       true,
		"X-Loop: here":                           true,
		"Content-Type: multipart/report; report-type=delivery-status; boundary=B": true,
	} {
		if got := unanswerable(header(lines, "From: a@b.example")); got != want {
			t.Errorf("%q: got %v, want %v", lines, got, want)
		}
	}
}

// A sender is answered where the mailbox's own server vouches for the one address in From, and a person may read it.
func TestWhichSendersAreAnswered(t *testing.T) {
	const pass = "Authentication-Results: mx.own.example; dmarc=pass header.from=bauwerk.example"
	own := mailbox.Senders{AuthServer: "mx.own.example"}
	for _, c := range []struct {
		name    string
		senders mailbox.Senders
		h       message.Header
		want    string
	}{
		{"vouched for", own, header(pass, "From: Bauwerk <Office@Bauwerk.example>"), "office@bauwerk.example"},
		{"nobody is asked", mailbox.Senders{}, header(pass, "From: office@bauwerk.example"), ""},
		{"no verdict", own, header("From: office@bauwerk.example"), ""},
		{"another server's verdict", own, header("Authentication-Results: mx.evil.example; dmarc=pass", "From: office@bauwerk.example"), ""},
		{"a forged verdict below the server's own", own, header("Authentication-Results: mx.own.example; dmarc=fail", pass,
			"From: office@bauwerk.example"), ""},
		{"a verdict in a comment", own, header("Authentication-Results: mx.own.example; dmarc=none (dmarc=pass)", "From: office@bauwerk.example"), ""},
		{"SPF alone", own, header("Authentication-Results: mx.own.example; spf=pass; dkim=pass", "From: office@bauwerk.example"), ""},
		{"two senders", own, header(pass, "From: a@bauwerk.example, b@bauwerk.example"), ""},
		{"two fields From", own, header(pass, "From: a@bauwerk.example", "From: b@bauwerk.example"), ""},
		{"beside an address that is too long", own, header(pass, "From: "+strings.Repeat("a", 400)+"@evil.example, a@bauwerk.example"), ""},
		{"a verdict about another domain", own, header(pass, "From: a@evil.example"), ""},
		{"a header that is cut off", own, message.ReadHeader([]byte(pass + "\r\nFrom: a@bauwerk.example\r\nX-Long: ")), ""},
		{"no sender", own, header(pass, "From: Bauwerk"), ""},
		{"a daemon", own, header(pass, "From: MAILER-DAEMON@bauwerk.example"), ""},
		{"nobody reads it", own, header(pass, "From: no-reply@bauwerk.example"), ""},
		{"a list's owner", own, header(pass, "From: owner-team@bauwerk.example"), ""},
		{"a command in the address", own, header(pass, `From: "x> RCPT TO:<y"@bauwerk.example`), ""},
		{"letters that not every server takes", own, header(pass, "From: bü@bauwerk.example"), ""},
	} {
		if got := vouchedFor(c.h, c.senders); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// Whatever a header says, an answer goes to an address that is one, alone and on one line.
func FuzzWhoIsAnswered(f *testing.F) {
	for _, seed := range []string{
		"Authentication-Results: mx; dmarc=pass\r\nFrom: Bauwerk <office@bauwerk.example>\r\n\r\n",
		"Authentication-Results: mx; dmarc=pass\r\nFrom: \"a\r\n b\"@x.example\r\n\r\n", "From: =?utf-8?q?a=0D=0Ab?=@x\r\n", "From: a@[::1]\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		h := message.ReadHeader(raw)
		unanswerable(h)
		sender := vouchedFor(h, mailbox.Senders{AuthServer: "mx"})
		if sender == "" {
			return
		}
		if a, err := mail.ParseAddress(sender); err != nil || a.Address != sender || strings.ContainsAny(sender, "\r\n <>,") {
			t.Fatalf("%q is answered: %v", sender, err)
		}
	})
}

// row writes a row of a table as the stream's worker would.
func (w *world) row(table, columns, values string) {
	w.t.Helper()
	sql := "INSERT INTO " + table + " (tenant, row_version, at, " + columns + ") VALUES ('demo', 1, now64(6), " + values + ")"
	if err := w.db.Exec(w.t.Context(), database.Statement{SQL: sql}); err != nil {
		w.t.Fatal(err)
	}
}

// teller starts a sender of answers with settings; stop ends it, as does the end of the test.
func (w *world) teller(settings *answer.Settings, clock func() time.Time) (stop func()) {
	w.t.Helper()
	s, err := answer.New(answer.Options{Settings: settings, Cluster: w.cluster, Shards: []*database.Server{w.db}, Group: "tellers",
		Log: testLog(w.t), Metrics: prometheus.NewRegistry(), Clock: clock})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("the sender of answers: %v", err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

// Given a project that tells its responsible user and the senders of its mails, when mails come in while the mail server is
// away, then they become records all the same; and when it is there, each who is to be told is told once, and of nothing that
// they may not see.
func TestPeopleAreToldOfTheirMails(t *testing.T) {
	w := newWorld(t)
	w.project("P3", "annex@intake.example")
	w.row("users", "id, name, email, active", "'U1', 'Ada', 'ada@own.example', true")
	w.row("users", "id, name, email, active", "'U2', 'Bob', 'bob@own.example', true")
	w.row("memberships", "id, user_id, scope_project_id, role", "'M1', 'U1', 'P1', 'user'")
	w.row("memberships", "id, user_id, scope_project_id, role", "'M2', 'U1', 'P2', 'guest'")
	w.row("memberships", "id, user_id, scope_project_id, role", "'M3', 'U2', 'P2', 'guest'")

	// Given a mail server that is away, and knows one of the senders no more
	server := smtptest.New(t, "smtp", func(to string) error {
		if to == "gone@bauwerk.example" {
			return &smtpserver.SMTPError{Code: 550, EnhancedCode: smtpserver.EnhancedCode{5, 1, 1}, Message: "nobody of that name"}
		}
		return nil
	})
	file := filepath.Join(t.TempDir(), "answers.json")
	project := `{"tenant": "demo", "project": %q, "responsible": %q, "language": "en", "receipt": true, "failure": true, "duplicate": true, "senders": %t}`
	if err := os.WriteFile(file, fmt.Appendf(nil, `{"smtp": %q, "from": "invoices@own.example", "desk": "https://desk.example", "projects": [%s, %s, %s]}`,
		server.URL, fmt.Sprintf(project, "P1", "U1", true), fmt.Sprintf(project, "P2", "U2", false), fmt.Sprintf(project, "P3", "U1", false)), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := answer.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for partition := range 2 { // before anything else in the outbox
		topicstest.SendTooMuch(t, w.cluster, events.Answers, partition)
	}
	w.teller(settings, time.Now)

	// When mails come in: to a project whose responsible user may see too little of it, and the same invoice to another one
	box := mailboxtest.Start(t)
	o := scripted(t, box)
	o.Senders.AuthServer = "mx.own.example"
	mail := func(to, id, from string, pdf []byte, extra ...string) string {
		raw := testMail{to: to, id: id, pdfs: [][]byte{pdf}}.raw()
		return "Authentication-Results: mx.own.example; dmarc=pass\r\n" + strings.Join(extra, "") +
			strings.Replace(string(raw), "Supplier <supplier@b.example>", from, 1)
	}
	box.Deliver(mail("tower@intake.example", "first", "x@bauwerk.example", invoicePDF("1")))
	w.intake([]mailbox.Options{o}, func(in *Intake) { in.options.Answers = settings })
	w.settled(1)
	marked(t, o, mailbox.Done, 1)
	box.Deliver(mail("quartier@intake.example", "second", "office@bauwerk.example", invoicePDF("1")))
	box.Deliver(mail("quartier@intake.example", "second", "office@bauwerk.example", invoicePDF("1"))) // a copy of it
	box.Deliver(mail("quartier@intake.example", "unread", "gone@bauwerk.example", pdftest.Document{Pages: []pdftest.Page{{}}}.Bytes()))
	box.Deliver(mail("quartier@intake.example", "listed", "list@bauwerk.example", invoicePDF("2"), "List-Id: <l.bauwerk.example>\r\n"))
	box.Deliver(mail("annex@intake.example", "annex", "y@bauwerk.example", invoicePDF("3")))

	// Then all of them are read
	w.settled(5)
	marked(t, o, mailbox.Done, 6)

	// And when the mail server is there
	server.Listen()
	outcomes := func() map[string]int {
		all := map[string]int{}
		for _, r := range topicstest.Messages(t, w.cluster, events.Answers) {
			e, err := events.Decode(events.Answers, r.Key, r.Value)
			if err != nil {
				t.Fatal(err)
			}
			if a := e.Data.(*events.Answer); a.Outcome.Ok {
				all[fmt.Sprint(a.Mail.MessageID.V, " ", a.Mail.Sender.V, " ", a.Outcome.V.What)]++
			}
		}
		return all
	}
	want := map[string]int{"first  unwanted": 1, "annex  unwanted": 1, "second  sent": 1, "second office@bauwerk.example sent": 1,
		"unread  sent": 1, "unread gone@bauwerk.example refused": 1}
	eventually(t, "every answer has its outcome", func() error {
		if got := outcomes(); !maps.Equal(got, want) {
			return fmt.Errorf("there are %v, want %v", got, want)
		}
		return nil
	})

	// Then those who are to be told were told, of nothing that they may not see
	letters := map[string]string{}
	for _, l := range server.Letters() {
		r, err := gomail.CreateReader(bytes.NewReader(l.Raw))
		if err != nil {
			t.Fatal(err)
		}
		part, err := r.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part.Body)
		if err != nil {
			t.Fatal(err)
		}
		letters[l.To+" "+r.Header.Get("Subject")] = strings.ReplaceAll(string(body), "\r\n", "\n")
		if l.From != "" || r.Header.Get("Auto-Submitted") != "auto-replied" {
			t.Errorf("a letter from %q is %s", l.From, r.Header.Get("Auto-Submitted"))
		}
	}
	second := "https://desk.example/inbox/" + recordOf("second", invoicePDF("1"))
	first := identity{tenant, "P2", "first", 0, sha256.Sum256(invoicePDF("1"))}.id()
	for who, said := range map[string]string{
		"ada@own.example Possible duplicate: Rechnung": "This invoice may have come before.\n" + second + "\n",
		"ada@own.example Could not be read: Rechnung":  "invoice-1.pdf: could not be read. The file has neither text nor a picture.",
		"office@bauwerk.example Received: Rechnung":    "invoice-1.pdf: is here and will be handled.",
	} {
		if !strings.Contains(letters[who], said) {
			t.Errorf("%s is told\n%s\nwithout %q", who, letters[who], said)
		}
		if strings.Contains(letters[who], first) {
			t.Errorf("%s is told of a record that they may not see:\n%s", who, letters[who])
		}
	}
	if strings.Contains(letters["office@bauwerk.example Received: Rechnung"], "desk.example") || len(letters) != 3 || len(server.Letters()) != 3 {
		t.Errorf("the letters are %v", letters)
	}
	refused := 0
	for _, r := range topicstest.Messages(t, w.cluster, events.DeadLetters) {
		if l, err := kafka.ParseDeadLetter(r); err == nil && strings.Contains(l.Reason, "nobody of that name") {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d refused answers are among the dead letters", refused)
	}
}

// Given an outbox whose log ends with the mark of a transaction, then what is owed in it is seen to; and when the broker answers no
// more while the next answer is on its way, the sender ends within moments when it is told to.
func TestAnswersComeThroughTransactionsAndEndThoughKafkaIsSilent(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(t.TempDir(), "answers.json")
	if err := os.WriteFile(file, []byte(`{"smtp": "smtp://127.0.0.1:1?tls=off", "from": "invoices@own.example", "projects": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := answer.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	owed := func(id string) (key, value []byte) {
		e := events.Event{Data: &events.Answer{About: events.AboutMail, ProjectID: "P9", Mail: events.AnsweredMail{MessageID: events.Some(id)}},
			Envelope: events.Envelope{ID: id, TenantID: tenant, Version: 1, Op: events.Upsert, At: time.Now().UTC().Truncate(time.Microsecond)}}
		value, err := events.Encode(events.Answers, e)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(e.Key()), value
	}
	client, err := kgo.NewClient(append(slices.Clone(w.cluster.Reading), kgo.TransactionalID("t"), kgo.DefaultProduceTopic(string(events.Answers)))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if err := client.BeginTransaction(); err != nil {
		t.Fatal(err)
	}
	key, value := owed("first")
	if err := client.ProduceSync(t.Context(), &kgo.Record{Key: key, Value: value}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	kafkatest.EndTransaction(t, client, kgo.TryCommit)
	var frozen *atomic.Bool
	onceFrozen := *w
	onceFrozen.cluster, frozen = w.freezing()
	stop := onceFrozen.teller(settings, time.Now)
	eventually(t, "it has its outcome", func() error {
		for _, a := range w.owed("first") {
			if a.Outcome.Ok {
				return nil
			}
		}
		return errors.New("it hasn't")
	})

	// When the broker falls silent
	key, value = owed("second")
	if err := w.writer.WriteMessages(t.Context(), kafkago.Message{Topic: string(events.Answers), Key: key, Value: value}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	frozen.Store(true)
	time.Sleep(500 * time.Millisecond)
	endsSoon(t, stop)
}

// Given more mails than one is told of within an hour, then the responsible user gets so many answers, and those of another
// project theirs; a mail that is read again is none more.
func TestAFloodIsNotAnsweredWhole(t *testing.T) {
	w := &watch{Intake: &Intake{options: Options{Answers: everybody{}}}, box: mailbox.Options{Address: mailbox.Address{Tenant: tenant}},
		log: slog.New(slog.DiscardHandler)}
	s := &session{watch: w, box: &mailbox.Session{}}
	owed := func(uid int, project string) int {
		header := fmt.Appendf(nil, "From: x@evil.example\r\nMessage-ID: <%d>\r\n\r\n", uid)
		m := mailbox.Mail{UID: mailbox.UID(uid), Arrived: time.Now(), Header: header}
		return len(s.owed(m, outcome{decision: decision{mark: mailbox.Done, projects: []string{project}}}))
	}
	n := 0
	for i := range mostAnswers + 20 {
		n += owed(i+1, "P1")
	}
	if again := owed(1, "P1"); n != mostAnswers || again != 1 {
		t.Errorf("%d answers, and %d to the first mail again", n, again)
	}
	if owed(1000, "P2") != 1 {
		t.Error("another project's is none")
	}
}
