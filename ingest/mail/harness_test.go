package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net"
	"net/smtp"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	embeddedmail "tallyhouse/deploy/embedded/mail"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/sandbox"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker"
	"tallyhouse/ingest/worker/latest"
	"tallyhouse/schemas/clickhouse/schematest"
	"tallyhouse/schemas/events"
)

// The test binary is also the engine, the isolated reader and a worker that can be killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "read" {
		if err := behave(os.Args[2:], os.Stdin); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout,
			map[string]sandbox.Task{isolated.TaskName: isolated.Task, message.TaskName: message.Task}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if os.Getenv(intakeChild) != "" {
		runIntakeChild()
		return
	}
	clickhousetest.Main(m)
}

const (
	tenant = "demo"
	// testTimeout is how long a test waits for what takes moments on a quiet machine.
	testTimeout = 2 * time.Minute
)

// world is a database, a broker, a worker of the stream and a mail server, all real.
type world struct {
	t         testing.TB
	broker    kafkatest.Broker
	brokerDir string
	cluster   kafka.Cluster
	where     database.Options
	db        *database.Server
	server    *embeddedmail.Server
	writer    *kafkago.Writer
	version   int64
	originals string // directory
}

func newWorld(t testing.TB) *world {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	w := &world{t: t, brokerDir: t.TempDir(), originals: t.TempDir(), where: database.Options{Addr: addr, Database: name, User: "default"}}
	w.broker = kafkatest.StartIn(t, w.brokerDir, "127.0.0.1:0")
	w.cluster = topicstest.On(t, w.broker, 2)
	w.db = openDatabase(t, w.where)
	schematest.Make(t, func(statement string) error { return w.db.Exec(t.Context(), database.Statement{SQL: statement}) })
	w.startStream()
	w.server = startMail(t, t.TempDir())
	w.writer = kafka.NewWriter(w.cluster, kafka.WriterOptions{})
	t.Cleanup(func() { _ = w.writer.Close() })
	w.project("P1", "Quartier@Intake.example")
	w.project("P2", "tower@intake.example")
	w.contractor("C1", "Bauwerk Donau GmbH", "ATU 123-45675")
	return w
}

func openDatabase(t testing.TB, where database.Options) *database.Server {
	t.Helper()
	db, err := database.Open(where, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func startMail(t testing.TB, dir string) *embeddedmail.Server {
	t.Helper()
	server, err := embeddedmail.Start(embeddedmail.Options{DataDir: dir, IMAP: "127.0.0.1:0", SMTP: "127.0.0.1:0", Log: testLog(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.Background()) })
	return server
}

// startStream runs a worker that brings the records into the table.
func (w *world) startStream() {
	w.t.Helper()
	ingest, err := worker.New(worker.Options{
		Cluster: w.cluster, Servers: []worker.Database{w.db}, Heads: latest.Options{Dir: w.t.TempDir()}, Group: "tallyhouse",
		Entities: []*store.Entity{ // each topic more costs every test a part of a second
			store.Of(events.Projects), store.Of(events.Contractors), store.Of(events.Records),
			store.Of(events.Readings), store.Of(events.Requests),
		},
		Freshness: 50 * time.Millisecond, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ingest.Run(ctx) }()
	w.t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			w.t.Errorf("the stream's worker: %v", err)
		}
	})
}

func testLog(t testing.TB) *slog.Logger {
	if !testing.Verbose() {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("test", t.Name())
}

func (w *world) send(topic events.Topic, id string, data any) {
	w.t.Helper()
	w.version++
	e := events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: w.version, Op: events.Upsert,
		At: time.Now().UTC().Truncate(time.Microsecond)}, Data: data}
	w.sendEvent(topic, e)
}

func (w *world) sendEvent(topic events.Topic, e events.Event) {
	w.t.Helper()
	value, err := events.Encode(topic, e)
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.writer.WriteMessages(w.t.Context(), kafkago.Message{Topic: string(topic), Key: []byte(e.Key()), Value: value}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) project(id, address string) {
	w.t.Helper()
	w.send(events.Projects, id, &events.Project{Name: id, Currency: "EUR", InboundEmail: events.Some(address)})
	b := directory{[]*database.Server{w.db}}
	eventually(w.t, "the project is in the table", func() error {
		known, err := b.projects(context.Background(), tenant, []string{strings.ToLower(address)})
		if err == nil && !slices.Contains(known[inASCII(address)], id) {
			err = fmt.Errorf("only %v", known)
		}
		return err
	})
}

// freezing is the world's broker behind connections that lose what is sent once they are told to, as a network does.
func (w *world) freezing() (kafka.Cluster, *atomic.Bool) {
	w.t.Helper()
	c, err := kafka.Connect(kafka.Access{Addrs: w.cluster.Addrs})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(c.Close)
	frozen := new(atomic.Bool)
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		return freezingConn{conn, frozen}, err
	}
	c.Transport.Dial, c.Reading = dial, append(c.Reading, kgo.Dialer(dial))
	return c, frozen
}

// endsSoon ends something, and says so when that hangs.
func endsSoon(t *testing.T, end func()) {
	t.Helper()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end()
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("it doesn't end")
	}
}

type freezingConn struct {
	net.Conn
	frozen *atomic.Bool
}

func (c freezingConn) Write(b []byte) (int, error) {
	if c.frozen.Load() {
		return len(b), nil
	}
	return c.Conn.Write(b)
}

func (w *world) contractor(id, name, taxID string) {
	w.t.Helper()
	c := &events.Contractor{Name: events.Some(name)}
	if taxID != "" {
		c.TaxID = events.Some(taxID)
	}
	w.send(events.Contractors, id, c)
	eventually(w.t, "the contractor is in the table", func() error {
		var n uint64
		err := w.db.Row(context.Background(),
			database.Query{SQL: "SELECT count() FROM contractors WHERE id = {id:String}", Params: database.Params{"id": id}}, &n)
		if err == nil && n == 0 {
			err = fmt.Errorf("it isn't")
		}
		return err
	})
}

// intake starts an intake and stops it at the end of the test. It gives the metrics.
func (w *world) intake(boxes []mailbox.Options, change ...func(*Intake)) *running {
	w.t.Helper()
	registry := prometheus.NewRegistry()
	in, err := New(Options{
		Originals: w.store(), Mailboxes: boxes, Cluster: w.cluster, Shards: []*database.Server{w.db}, Log: testLog(w.t), Metrics: registry,
		Parallel: 2,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	in.timings.backOffFirst = 10 * time.Millisecond
	in.timings.backOffMost = 50 * time.Millisecond
	in.timings.addresses = 300 * time.Millisecond // to ask costs the server more than all else of a small test
	in.timings.attempts = 50 * time.Millisecond
	for _, c := range change {
		c(in)
	}
	ctx, stop := context.WithCancel(context.Background())
	r := &running{Intake: in, t: w.t, stop: stop, done: make(chan error, 1)}
	go func() { r.done <- in.Run(ctx); close(r.done) }()
	w.t.Cleanup(r.end)
	return r
}

// store is where the world's originals are.
func (w *world) store() *originals.Store {
	w.t.Helper()
	s, err := originals.OpenDirectory(context.Background(), w.originals)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

type running struct {
	*Intake
	t    testing.TB
	stop func()
	done chan error
}

func (r *running) end() {
	r.stop()
	if err, open := <-r.done; open && err != nil {
		r.t.Errorf("the intake ended: %v", err)
	}
}

// mails is how many mails got a mark.
func (r *running) mails(outcome string) int {
	n := 0
	for _, m := range r.options.Mailboxes {
		n += count(r.metrics.mails.WithLabelValues(m.String(), outcome))
	}
	return n
}

// count is a counter's value.
func count(c prometheus.Counter) int {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		return -1
	}
	return int(m.GetCounter().GetValue())
}

func address(t testing.TB, url string) mailbox.Address {
	t.Helper()
	a, err := mailbox.ParseAddress(url)
	if err != nil {
		t.Fatal(err)
	}
	a.Tenant = tenant
	return a
}

// box is the mailbox of the world's server.
func (w *world) box() mailbox.Options {
	return mailbox.Options{Address: address(w.t, w.server.URL())}
}

// deliver sends a mail as any program would.
func (w *world) deliver(raw []byte, to ...string) {
	w.t.Helper()
	if err := smtp.SendMail(w.server.SMTP(), nil, "supplier@b.example", to, raw); err != nil {
		w.t.Fatal(err)
	}
}

// testMail is a mail with PDFs, called invoice-1.pdf and so on, and other files.
type testMail struct {
	to    string
	id    string // Message-ID
	pdfs  [][]byte
	files []testFile
	text  string
}

type testFile struct {
	name    string
	content []byte
}

func (m testMail) raw() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: Supplier <supplier@b.example>\r\nTo: %s\r\nSubject: Rechnung\r\n", m.to)
	if m.id != "" {
		fmt.Fprintf(&b, "Message-ID: <%s>\r\n", m.id)
	}
	fmt.Fprintf(&b,
		"MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: text/plain\r\n\r\nAnbei. %s\r\n", m.text)
	var files []testFile
	for i, pdf := range m.pdfs {
		files = append(files, testFile{fmt.Sprintf("invoice-%d.pdf", i+1), pdf})
	}
	for _, f := range append(files, m.files...) {
		fmt.Fprintf(&b, "--B\r\nContent-Type: application/octet-stream; name=\"%s\"\r\nContent-Transfer-Encoding: base64\r\n\r\n", f.name)
		encoded := base64.StdEncoding.EncodeToString(f.content)
		for len(encoded) > 76 {
			b.WriteString(encoded[:76] + "\r\n")
			encoded = encoded[76:]
		}
		b.WriteString(encoded + "\r\n")
	}
	b.WriteString("--B--\r\n")
	return b.Bytes()
}

// invoicePDF is a PDF of an invoice with a number.
func invoicePDF(number string) []byte {
	v := pdftest.Sample()
	v.Number = number
	return pdftest.Document{Pages: []pdftest.Page{v.Page()}}.Bytes()
}

// invoiceCII and invoiceUBL are the same invoice as invoicePDF, as XML.
func invoiceCII(number string) []byte {
	v := pdftest.SampleCII()
	v.Number = number
	return pdftest.CII(v)
}

func invoiceUBL(number string) []byte {
	return fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<ubl:Invoice xmlns:ubl="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"
 xmlns:cac="urn:oasis:names:specification:ubl:schema:xsd:CommonAggregateComponents-2"
 xmlns:cbc="urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">
<cbc:CustomizationID>urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0</cbc:CustomizationID>
<cbc:ID>%s</cbc:ID><cbc:IssueDate>2026-04-17</cbc:IssueDate><cbc:DueDate>2026-05-17</cbc:DueDate>
<cbc:InvoiceTypeCode>380</cbc:InvoiceTypeCode><cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>
<cac:AccountingSupplierParty><cac:Party><cac:PartyTaxScheme><cbc:CompanyID>ATU12345675</cbc:CompanyID>
<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:PartyTaxScheme>
<cac:PartyLegalEntity><cbc:RegistrationName>Bauwerk Donau GmbH</cbc:RegistrationName></cac:PartyLegalEntity>
</cac:Party></cac:AccountingSupplierParty>
<cac:TaxTotal><cbc:TaxAmount currencyID="EUR">2480.00</cbc:TaxAmount><cac:TaxSubtotal>
<cbc:TaxableAmount currencyID="EUR">12400.00</cbc:TaxableAmount><cbc:TaxAmount currencyID="EUR">2480.00</cbc:TaxAmount>
<cac:TaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>20</cbc:Percent></cac:TaxCategory></cac:TaxSubtotal></cac:TaxTotal>
<cac:LegalMonetaryTotal><cbc:LineExtensionAmount currencyID="EUR">12400.00</cbc:LineExtensionAmount>
<cbc:TaxExclusiveAmount currencyID="EUR">12400.00</cbc:TaxExclusiveAmount>
<cbc:TaxInclusiveAmount currencyID="EUR">14880.00</cbc:TaxInclusiveAmount>
<cbc:PayableAmount currencyID="EUR">14880.00</cbc:PayableAmount></cac:LegalMonetaryTotal>
<cac:InvoiceLine><cbc:LineExtensionAmount currencyID="EUR">12400.00</cbc:LineExtensionAmount>
<cac:Price><cbc:PriceAmount currencyID="EUR">12400.00</cbc:PriceAmount></cac:Price></cac:InvoiceLine>
</ubl:Invoice>
`, number)
}

// sent are the record events in Kafka, by id, each version's distinct contents.
type sent map[string][]events.Event

func (w *world) sent() sent {
	w.t.Helper()
	all := sent{}
	for _, r := range topicstest.Messages(w.t, w.cluster, events.Records) {
		e, err := events.Decode(events.Records, r.Key, r.Value)
		if err != nil {
			w.t.Fatalf("an event was sent that breaks the rules: %v", err)
		}
		all[e.ID] = append(all[e.ID], e)
	}
	return all
}

// last is the newest version of a record.
func (s sent) last(id string) (e events.Event, r *events.Record) {
	for _, c := range s[id] {
		if c.Version > e.Version {
			e = c
		}
	}
	return e, e.Data.(*events.Record)
}

// consistent tells of versions that were sent with different contents.
func (s sent) consistent() error {
	for id, all := range s {
		hashes := map[int64]uint64{}
		for _, e := range all {
			if h, known := hashes[e.Version]; known && h != e.ContentHash() {
				return fmt.Errorf("record %s version %d was sent with two contents", id, e.Version)
			}
			hashes[e.Version] = e.ContentHash()
		}
	}
	return nil
}

// stored are the records of mails in the table.
func (w *world) stored() map[string]recordState {
	w.t.Helper()
	all := map[string]recordState{}
	b := directory{[]*database.Server{w.db}}
	if err := b.states(context.Background(), "channel = 'email'", database.Params{"tenant": tenant},
		func(h recordState) { all[h.id] = h }); err != nil {
		w.t.Fatal(err)
	}
	return all
}

// settled waits until so many records of mails are in the table, each read.
func (w *world) settled(records int) map[string]recordState {
	w.t.Helper()
	var all map[string]recordState
	eventually(w.t, fmt.Sprintf("%d records are read", records), func() error {
		all = w.stored()
		if len(all) < records {
			return fmt.Errorf("%d are there", len(all))
		}
		for _, h := range all {
			if h.version < versionRead {
				return fmt.Errorf("record %s has version %d", h.id, h.version)
			}
		}
		return nil
	})
	if len(all) != records {
		w.t.Fatalf("%d records where there should be %d", len(all), records)
	}
	return all
}

func eventually(t testing.TB, what string, ask func() error) {
	t.Helper()
	patiently(t, testTimeout, what, ask)
}

// patiently is eventually, with a bound of its own.
func patiently(t testing.TB, bound time.Duration, what string, ask func() error) {
	t.Helper()
	for began := time.Now(); ; {
		err := ask()
		waited := time.Since(began)
		if err == nil {
			return
		}
		if waited > bound {
			t.Fatalf("after %s it still is not so that %s: %v", bound, what, err)
		}
		time.Sleep(max(20*time.Millisecond, waited/5)) // to ask costs more than what is asked for
	}
}

// marked waits until a mailbox has so many mails of a mark.
func marked(t testing.TB, o mailbox.Options, mark mailbox.Mark, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d mails have mark %d", n, mark), func() error {
		box, err := mailbox.Open(context.Background(), o)
		if err != nil {
			return err
		}
		defer box.Close()
		found, err := box.Marked(context.Background(), mark)
		if err == nil && len(found) != n {
			err = fmt.Errorf("%d have", len(found))
		}
		return err
	})
}

// recordOf is the record of a mail's only PDF in project P1.
func recordOf(messageID string, pdf []byte) string {
	return identity{tenant, "P1", messageID, 0, sha256.Sum256(pdf)}.id()
}
