package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/smtp"
	"os"
	"strings"
	"testing"
	"time"
)

// Given `tallyhouse dev` as the README starts it, when its sample mail is sent by SMTP, then the API shows the invoice
// as a record that was read.
func TestDevTakesAMailedInvoiceIn(t *testing.T) {
	mail, err := os.ReadFile("../../docs/sample-invoice.eml")
	if err != nil {
		t.Fatal(err)
	}
	const to = "quartier-lindenhof@demo.invoices.example"
	broker, engine, smtpAddr := free(t), free(t), free(t)
	api, key := startDev(t, "--kafka-addr", broker, "--clickhouse-addr", engine, "--smtp-addr", smtpAddr)
	const project = `{"topic":"ledger.projects","key":"demo/P1","value":{"id":"P1","tenantId":"demo","version":1,"op":"upsert",` +
		`"at":"2026-01-01T00:00:00Z","data":{"name":"Quartier","currency":"EUR","inboundEmail":"` + to + `"}}}` + "\n"
	env := map[string]string{"TALLYHOUSE_KAFKA": broker, "TALLYHOUSE_CLICKHOUSE": engine}
	loaded := tallyhouse(t, env, project, "load", "--wait", "-")
	if loaded.code != 0 {
		t.Fatal(loaded.err)
	}

	if err := smtp.SendMail(smtpAddr, nil, "rechnung@bauwerk-donau.example", []string{to}, mail); err != nil {
		t.Fatal(err)
	}

	s := &process{TB: t}
	var body any
	deadline := time.Now().Add(startsWithin)
	for time.Now().Before(deadline) {
		var status int
		status, body = s.get(api+"/v0/records?projectId=P1&channel=email&fields=status,invoiceNumber,dueDate,net,tax,gross,intake", key)
		if status == 200 && strings.Contains(fmt.Sprint(body), "status:completed") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	shown := fmt.Sprint(body)
	for _, want := range []string{
		"status:setup", "invoiceNumber:2026-0417", "dueDate:2026-05-17", "channel:email",
		"net:map[currency:EUR value:1240000]", "tax:map[currency:EUR value:248000]", "gross:map[currency:EUR value:1488000]",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the record doesn't show %s: %s", want, shown)
		}
	}
}

// startDev runs dev without sample data until the test is over and returns what its first line says.
func startDev(t *testing.T, args ...string) (api, key string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	if testing.Verbose() {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	// Another dev may have the desk's usual address: programs that know no desk start several beside each other.
	if taken, err := net.Listen("tcp", defaultDeskAddr); err == nil {
		t.Cleanup(func() { _ = taken.Close() })
	}
	read, write := io.Pipe()
	cmd := devCommand(&shell{in: strings.NewReader(""), out: write, err: io.Discard, log: log})
	cmd.SetArgs(append([]string{
		"--empty", "--data-dir", t.TempDir(),
		"--api-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--imap-addr", "127.0.0.1:0",
	}, args...))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := cmd.ExecuteContext(ctx)
		write.CloseWithError(fmt.Errorf("dev ended: %w", err))
		done <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("dev ended: %v", err)
		}
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if _, err := fmt.Sscanf(line, "ready api=%s key=%s\n", &api, &key); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return api, key
}
