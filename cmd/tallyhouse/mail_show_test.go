package main

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/smtp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	embeddedmail "tallyhouse/deploy/embedded/mail"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// Given the same invoice in two mails, when their records are shown, then each says what was read and from where, the second that
// it may be the first one again, and the PDF comes out as it was mailed.
func TestWhatIsKeptOfAMailIsShown(t *testing.T) {
	s := newProcess(t)
	dir := t.TempDir()
	server, err := embeddedmail.Start(embeddedmail.Options{DataDir: filepath.Join(dir, "mail"), IMAP: "127.0.0.1:0", SMTP: "127.0.0.1:0", Log: s.log})
	s.must(err)
	t.Cleanup(func() { s.must(server.Stop(s.within(startsWithin))) })
	flags := mailFlagsOf(t, "--imap", server.URL(), "--mail-tenant", "demo", "--originals-dir", filepath.Join(dir, "originals"))
	intake, err := s.openMail(t.Context(), *flags, "test", s.servers.kafka, s.worker.shards, prometheus.NewRegistry())
	s.must(err)
	s.background("intake", intake.Run)
	s.load(`{"topic": "ledger.projects", "key": "demo/P1", "value": {"id": "P1", "tenantId": "demo", "version": 1, "op": "upsert", ` +
		`"at": "2026-01-05T09:00:00Z", "data": {"name": "House", "currency": "EUR", "inboundEmail": "house@in.example"}}}`)

	pdf := pdftest.Sample().PDF()
	var records []string
	for _, id := range []string{"first", "second"} {
		s.must(smtp.SendMail(server.SMTP(), nil, "office@b.example", []string{"house@in.example"}, mailWith(id, pdf)))
		s.must(until(s.within(startsWithin), func() error {
			all := topicstest.Messages(t, s.servers.kafka, events.Readings)
			for _, r := range all {
				if _, id, _ := strings.Cut(string(r.Key), "/"); len(all) > len(records) && !strings.Contains(strings.Join(records, " "), id) {
					records = append(records, id)
					return nil
				}
			}
			return errors.New("no reading has come")
		}))
	}
	env := broker(s.servers.kafka)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = s.servers.shards[0].Addr, s.servers.shards[0].Database
	env["TALLYHOUSE_IMAP"], env["TALLYHOUSE_ORIGINALS_DIR"] = server.URL(), filepath.Join(dir, "originals")

	out, mailOut := filepath.Join(dir, "out.pdf"), filepath.Join(dir, "out.eml")
	var shown outcome
	s.must(until(s.within(startsWithin), func() error { // once the worker has brought the record into the table
		if shown = tallyhouse(t, env, "", "mail", "show", records[1]); shown.code != exitDone {
			return errors.New(shown.err)
		}
		return nil
	}))
	for _, want := range []string{"version 3, project P1", "second in ", "office@b.example", "14880.00 (98.00 %, page 1 at ", `"14.880,00 €"`,
		"duplicate-content: the very same file has been mailed before " + records[0]} {
		if !strings.Contains(shown.out, want) {
			t.Errorf("%q is missing in\n%s", want, shown.out)
		}
	}
	// And the lists of what became no record say that there is nothing.
	for _, list := range []string{"failed", "ignored", "quarantined", "waiting"} {
		if o := tallyhouse(t, env, "", "mail", list); o.code != exitDone || o.out != "" || o.err != "no "+list+" mails\n" {
			t.Errorf("mail %s: %+v", list, o)
		}
	}
	first := tallyhouse(t, env, "", "mail", "show", records[0], "--json", "--out", out, "--out-mail", mailOut)
	e, err := events.Decode(events.Readings, []byte("demo/"+records[0]), []byte(strings.TrimSpace(first.out)))
	if err != nil || first.code != exitDone || len(e.Data.(*events.Reading).Findings) != 0 {
		t.Errorf("%+v, %v", first, err)
	}
	for path, want := range map[string][]byte{out: pdf, mailOut: mailWith("first", pdf)} {
		if got, err := os.ReadFile(path); err != nil || !bytes.HasSuffix(got, want) {
			t.Errorf("%s has %d bytes, %v", path, len(got), err)
		}
	}
	if again := tallyhouse(t, env, "", "mail", "show", records[0], "--out", out); again.code != exitFailed || !strings.Contains(again.err, "exists") {
		t.Errorf("a file that was there: %+v", again)
	}
	if none := tallyhouse(t, env, "", "mail", "show", "mail-none"); none.code != exitFailed || !strings.Contains(none.err, "no such record") {
		t.Errorf("an unknown record: %+v", none)
	}
}

func mailWith(id string, pdf []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "From: office@b.example\r\nTo: house@in.example\r\nMessage-ID: <%s>\r\nDate: %s\r\nMIME-Version: 1.0\r\n"+
		"Content-Type: application/pdf; name=invoice.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n", id, time.Unix(0, 0).UTC().Format(time.RFC1123Z))
	for encoded := base64.StdEncoding.EncodeToString(pdf); encoded != ""; {
		n := min(76, len(encoded))
		b.WriteString(encoded[:n] + "\r\n")
		encoded = encoded[n:]
	}
	return b.Bytes()
}

// Given a disk that takes a part of a file alone, then nothing of it stays, and the next try succeeds; a file that was there is left as
// it is.
func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "invoice.pdf")
	full := errors.New("no space left")
	err := writeNew(path, func(w io.Writer) error {
		_, err := io.WriteString(w, "%PDF-1.7 half of")
		return errors.Join(err, full)
	})
	if _, there := os.Stat(path); !errors.Is(err, full) || !errors.Is(there, fs.ErrNotExist) {
		t.Errorf("%v, and of the file: %v", err, there)
	}
	for i, want := range []error{nil, fs.ErrExist} {
		err := writeNew(path, func(w io.Writer) error {
			_, err := fmt.Fprint(w, i)
			return err
		})
		if content, _ := os.ReadFile(path); !errors.Is(err, want) || string(content) != "0" {
			t.Errorf("try %d: %v, the file has %q", i, err, content)
		}
	}
}
