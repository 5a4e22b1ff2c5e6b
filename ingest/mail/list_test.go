package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/schemas/events"
)

// Given ids that begin like a mail's, when one is released, then none is: nobody means the mail that a part of the text names.
func TestAReleaseTakesTheWholeID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "7", "7.", ".12", "7.12abc", "7.12.3", "7.12 ", "7,12", "+7.12", "7.-12", "7.4294967296",
		"k7q2mzd.7.12", "k7q2mzdaa.7.12", "K7Q2MZDA.7.12", "k7q2mzda.7", "k7q2mzda..7.12", "k7q2mzda.7.12\n", " k7q2mzda.7.12", "k7q2mzda"} {
		err := (&Intake{}).Release(t.Context(), id)

		if err == nil || !strings.Contains(err.Error(), "two numbers, with dots between them") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// Given mailboxes of two tenants with mails of the same UIDVALIDITY and UID, when one is released as the list names it, then it is that
// one and no other; numbers alone are refused while several mailboxes have them, and taken when one has.
func TestAReleaseTakesTheMailboxThatTheListNames(t *testing.T) {
	t.Parallel()
	a, b := mailboxtest.Start(t), mailboxtest.Start(t)
	boxA, boxB := scripted(t, a), scripted(t, b)
	boxA.Tenant = "other"
	for i, s := range []*mailboxtest.Server{a, b, b} {
		s.Deliver(string(testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i)}.raw()))
	}
	for _, o := range []mailbox.Options{boxA, boxB} {
		box, err := mailbox.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Mark(t.Context(), mailbox.Quarantined, 1, 2); err != nil {
			t.Fatal(err)
		}
		box.Close()
	}
	silent, err := kafka.Connect(kafka.Access{Addrs: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	in, err := New(Options{Mailboxes: []mailbox.Options{boxA, boxB}, Cluster: silent, Log: testLog(t), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	flags := func(want string) {
		t.Helper()
		if got := fmt.Sprint(a.Flags(), b.Flags()); got != want {
			t.Errorf("the flags are %s, want %s", got, want)
		}
	}
	release := func(id string) error {
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second) // Kafka is away
		defer stop()
		return in.Release(ctx, id)
	}
	const q, r = "[$TallyhouseQuarantined]", "[$TallyhouseReleased]"
	nameA, nameB := boxName(boxA), boxName(boxB)

	err = release("1.1")
	for _, part := range []string{"2 mailboxes", boxA.String() + " of tenant other (" + nameA + ".1.1)",
		boxB.String() + " of tenant demo (" + nameB + ".1.1)"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("without %q: %v", part, err)
		}
	}
	if err := release("aaaaaaaa.1.1"); !errors.Is(err, errOtherMailbox) {
		t.Errorf("in a mailbox that isn't given: %v", err)
	}
	if err := release(nameA + ".1.2"); !errors.Is(err, errNotListed) {
		t.Errorf("a mail that only the other mailbox has: %v", err)
	}
	flags(fmt.Sprintf("[%s] [%s %s]", q, q, q))
	if err := release(nameB + ".1.1"); err != nil {
		t.Error(err)
	}
	flags(fmt.Sprintf("[%s] [%s %s]", q, r, q))
	if err := release("1.1"); err == nil || !strings.Contains(err.Error(), "2 mailboxes") { // an old list may mean either
		t.Errorf("once one is released: %v", err)
	}
	if err := release("1.2"); err != nil {
		t.Error(err)
	}
	flags(fmt.Sprintf("[%s] [%s %s]", q, r, r))
}

// Given pages of mails of one second, when the one that a record or a request is about is on the first page, then no header behind that
// page is fetched.
func TestNothingIsFetchedBehindTheMailThatIsLookedFor(t *testing.T) {
	s := mailboxtest.Start(t)
	o := scripted(t, s)
	at := time.Now().UTC().Truncate(time.Second)
	pdf := invoicePDF("1")
	for i := range 2*mailbox.Page + 1 {
		m := testMail{to: "quartier@intake.example", id: fmt.Sprint("m", i)}
		if i == 1 {
			m.pdfs = [][]byte{pdf}
		}
		s.DeliverAt(at, string(m.raw()))
	}
	in, err := New(Options{Mailboxes: []mailbox.Options{o}, Log: testLog(t), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	fetched := func(what func()) (headers int) {
		before := len(s.Log())
		what()
		for _, command := range s.Log()[before:] {
			if strings.HasPrefix(command, "UID FETCH") && strings.Contains(command, "HEADER") {
				headers++
			}
		}
		return headers
	}
	if n := fetched(func() {
		found, err := in.findMail(t.Context(), tenant, recordState{project: "P1", id: recordOf("m1", pdf), receivedAt: at}, "m1")
		if err != nil || found.source.evidence.UID != 2 {
			t.Errorf("found is mail %d, %v", found.source.evidence.UID, err)
		}
	}); n != 1 {
		t.Errorf("to find a record's mail headers were fetched %d times", n)
	}
	box, err := mailbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	w := &watch{Intake: in, box: o}
	if n := fetched(func() {
		mails, err := box.Mails(t.Context(), []mailbox.UID{2})
		if err != nil || len(mails) != 1 {
			t.Fatalf("the mail is %v, %v", mails, err)
		}
		id := unrecorded(tenant, "P1", mails[0].Header)
		e := events.Event{Envelope: events.Envelope{TenantID: tenant, ID: id}}
		m, err := w.asked(t.Context(), box, e, &events.Request{ProjectID: events.Some("P1")}) // the server has given it another UID since
		if err != nil || m.UID != 2 {
			t.Errorf("asked about is mail %d, %v", m.UID, err)
		}
	}); n != 2 { // the first is the test's
		t.Errorf("to find the mail of a request headers were fetched %d times", n-1)
	}
}

// A mailbox that is given twice, its server in other letters, would give each of its mails two workers and one id.
func TestAMailboxIsGivenOnce(t *testing.T) {
	var once mailbox.Options
	once.Tenant, once.Host, once.User, once.Mailbox = "demo", "mail.example:993", "invoices", "INBOX"
	again := once
	again.Host = "Mail.Example:993"
	_, err := New(Options{Mailboxes: []mailbox.Options{once, again}, Log: testLog(t), Metrics: prometheus.NewRegistry()})
	if err == nil || !strings.Contains(err.Error(), "given twice") {
		t.Error(err)
	}
}
