package mail

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/mail/mailbox/mailboxtest"
	"tallyhouse/schemas/events"
)

// Given ids that begin like a mail's, when one is released, then none is: nobody means the mail that a part of the text names.
func TestAReleaseTakesTheWholeID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "7", "7.", ".12", "7.12abc", "7.12.3", "7.12 ", "7,12", "+7.12", "7.-12", "7.4294967296"} {
		err := (&Intake{}).Release(t.Context(), id)

		if err == nil || !strings.Contains(err.Error(), "two numbers with a dot between them") {
			t.Errorf("%q: %v", id, err)
		}
	}
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
