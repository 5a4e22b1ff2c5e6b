package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	neturl "net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"tallyhouse/api/desk/confirmation"
	"tallyhouse/api/desk/desktest"
	"tallyhouse/api/session"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// mailed sends an invoice and waits until its record is stored.
func (s *mailedWorld) mailed(t *testing.T, id string, pdf []byte) (found confirmation.State) {
	t.Helper()
	s.mail("office@b.example", "house@in.example", id, id, pdf)
	s.must(until(s.within(startsWithin), func() error {
		states, err := desktest.Mails(t.Context(), s.api.inbox, "demo", "house")
		if err != nil {
			return err
		}
		for _, state := range states {
			if found = state; state.Line.Reading.Mail.MessageID.V == id && state.Record.Version >= 3 {
				return nil
			}
		}
		return errors.New("its record is not stored")
	}))
	return found
}

func (s *mailedWorld) state(t *testing.T, id string) confirmation.State {
	t.Helper()
	l, err := s.api.inbox.Reading(t.Context(), "demo", id, []string{"house"})
	s.must(err)
	state, err := confirmation.StateOf(t.Context(), s.api.inbox, "demo", l)
	s.must(err)
	return state
}

// numbered is the sample invoice with a number of its own.
func numbered(number string) []byte {
	sample := pdftest.Sample()
	sample.Number = number
	return sample.PDF()
}

// steps is a publisher with something that happens before or instead of a step.
type steps struct {
	confirmation.Publisher
	before func(topic events.Topic) error
}

func (p steps) Publish(ctx context.Context, topic events.Topic, key, event []byte) error {
	if err := p.before(topic); err != nil {
		return err
	}
	return p.Publisher.Publish(ctx, topic, key, event)
}

// confirming is a service in which something happens before each message is sent.
func (s *mailedWorld) confirming(before func(topic events.Topic) error) *confirmation.Service {
	return confirmation.New(s.api.inbox, steps{confirmations{s.servers.kafka}, before}, time.Now)
}

func (s *mailedWorld) undisturbed() *confirmation.Service {
	return s.confirming(func(events.Topic) error { return nil })
}

// confirms is what somebody confirms of a state as they saw it.
func confirms(seen confirmation.State, by, number string) confirmation.Confirmation {
	values := seen.Values()
	values.Number = events.Some(number)
	return confirmation.Confirmation{Tenant: "demo", Project: "house", ID: seen.Line.ID, By: by, Version: seen.Line.Version, Values: values}
}

// Given an invoice that was read, when somebody corrects it by the keyboard, then what is wrong is said while they type, and what they
// confirm is the record's next version, in the API as on the page.
func (s *mailedWorld) correctsByKeyboard(t *testing.T) {
	l := s.mailed(t, "k1", numbered("K-1")).Line
	p, url := s.signedIn(t, "demo", "uma", "de-AT")
	p.Open(url + "/inbox/" + l.ID)
	p.Do(chromedp.Focus("#field-net"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("2.480,01"))
	p.Wait(`document.querySelector("#wrong-gross").textContent === "Netto und Steuer ergeben 14.880,01, nicht 14.880,00."`)
	p.Wait(`document.querySelector("#field-gross").getAttribute("aria-invalid") === "true"`)
	p.Check("a form with a fault")
	p.Do(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent("14.880,01"))
	p.Wait(`document.querySelector("#wrong-gross").textContent === "" && !document.querySelector("[aria-invalid]")`)
	p.Do(chromedp.KeyEvent(kb.Enter))
	p.Wait(`document.querySelector(".said")?.textContent.includes("Bestätigt von uma")`)
	p.Settled()
	p.Check("a confirmed invoice")
	hasHistory(t, p, "Die Mail kam, von office@b.example", "1 Zum Lesen vorgemerkt", "2 Wird gelesen", "3 Von Tallyhouse gelesen",
		"4 Bestätigt von uma")
	if got := desktest.Evaluate[string](p, `document.querySelector("#field-gross").value`); got != "14.880,01" {
		t.Errorf("the page shows %s", got)
	}
	want := apiRecord{"K-1", apiAmount{1240000}, apiAmount{248001}, apiAmount{1488001}, "completed", ""}
	if got := s.record(t, l.ID); got != want {
		t.Errorf("the API shows %v, want %v", got, want)
	}
	state := s.state(t, l.ID)
	tax := slices.IndexFunc(state.Line.Reading.Fields, func(f events.ReadField) bool { return f.Name == "tax" })
	if f := state.Line.Reading.Fields[tax]; f.Value.V.Rule != "entered" || f.Alternatives[0].Minor.V != 248000 {
		t.Errorf("what was read of the tax is lost: %+v", f)
	}
}

// Given an invoice whose supplier is printed as a slogan and whose number is called otherwise, when a person has said who and what they
// are, then the next one of the same tax id is of that supplier and contractor at once, and its number is read.
func (s *mailedWorld) teachesTheNextInvoice(t *testing.T) {
	sample := pdftest.Sample()
	sample.Supplier, sample.TaxID, sample.Number = "Ihr Partner am Bau", "ATU11111116", "T-1"
	sample.NumberLabel = "Kundenkonto"
	first := s.mailed(t, "t1", sample.PDF())
	if got := first.Values(); got.SupplierName.V == "Stein & Bein OG" || got.Contractor.Ok || got.Number.Ok {
		t.Fatalf("nobody has said yet that it is %v", got)
	}
	c := confirms(first, "uma", "T-1")
	c.Values.SupplierName, c.Values.TaxID, c.Values.Contractor = events.Some("Stein & Bein OG"), events.Some("ATU11111116"), events.Some("c1")
	s.must(s.undisturbed().Confirm(t.Context(), c))
	sample.Number = "T-2"
	second := s.mailed(t, "t2", sample.PDF())
	if next := second.Values(); next.SupplierName.V != "Stein & Bein OG" || next.TaxID.V != "ATU11111116" || next.Contractor.V != "c1" || next.Number.V != "T-2" {
		t.Errorf("the next invoice is of %v", next)
	}
}

// apiRecord is what the API shows of a record.
type apiRecord struct {
	Number          string
	Net, Tax, Gross apiAmount
	Intake          string
	Contractor      string
}

type apiAmount struct{ Value int64 }

func (s *mailedWorld) record(t *testing.T, id string) apiRecord {
	t.Helper()
	status, body := s.api.Ask(t.Context(), session.User{Tenant: "demo", ID: "uma"}, "/v0/records/"+id)
	if status != http.StatusOK {
		t.Fatalf("the API answers %d %s", status, body)
	}
	var r struct {
		InvoiceNumber   string
		Net, Tax, Gross apiAmount
		Intake          struct{ Status string }
		Counterparty    struct{ ContractorID string }
	}
	s.must(json.Unmarshal(body, &r))
	return apiRecord{r.InvoiceNumber, r.Net, r.Tax, r.Gross, r.Intake.Status, r.Counterparty.ContractorID}
}

// hasHistory is that the page tells these steps, each with its version and an instant before it.
func hasHistory(t *testing.T, p *desktest.Person, want ...string) {
	t.Helper()
	got := desktest.Evaluate[string](p, `[...document.querySelectorAll("table.history tbody tr")].map((row) => {
		const [when, version, what] = [...row.cells].map((cell) => cell.textContent);
		return /\d, \d\d:\d\d$/.test(when) ? (version + " " + what).trim() : "at no time";
	}).join("\n")`)
	if got != strings.Join(want, "\n") {
		t.Errorf("the history is\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

// Given a form with faults, when it is sent without a script, then each is said at its field, nothing typed is lost, and nothing is sent.
func (s *mailedWorld) saysWhatIsWrong(t *testing.T) {
	l := s.mailed(t, "k2", numbered("K-2")).Line
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + l.ID)
	p.Expect("422")
	p.Do(chromedp.Evaluate[chromedp.Void](`(() => {
		const form = document.querySelector("form.correct");
		const typed = {invoiceNumber: "<b>typed</b>", supplierName: "x".repeat(301), contractorId: "nobody",
			currency: "EURO", gross: "1,23", net: "99999999"};
		for (const [name, value] of Object.entries(typed)) form.elements[name].value = value;
		HTMLFormElement.prototype.submit.call(form);
	})()`))
	p.Wait(`document.querySelector(".problem li")`)
	p.Settled()
	want := map[string]string{"supplierName": "It may have 300 characters at most.", "contractorId": "No contractor has this id.",
		"currency": "A currency has three letters", "gross": "This is no amount like", "net": "is not plausible", "invoiceNumber": ""}
	for name, wrong := range want {
		got := desktest.Evaluate[string](p, fmt.Sprintf(`document.querySelector("#wrong-%s").textContent`, name))
		if wrong == "" && got != "" || !strings.Contains(got, wrong) {
			t.Errorf("%s: the page says %q, want %q", name, got, wrong)
		}
	}
	if got := desktest.Evaluate[string](p, `document.querySelector("#field-invoiceNumber").value`); got != "<b>typed</b>" {
		t.Errorf("what was typed has become %q", got)
	}
	p.Check("a form that came back")
	if state := s.state(t, l.ID); state.Line.Version != 3 || state.Record.Version != 3 {
		t.Errorf("version %d of the reading and %d of the record were written", state.Line.Version, state.Record.Version)
	}
}

// Given two people who see the same version, when both confirm at once, then one of them is told that the other's counts, the record has
// what the reading has, and who confirms again has the last word.
func (s *mailedWorld) letsOneOfTwoWin(t *testing.T) {
	seen := s.mailed(t, "k3", numbered("K-3"))
	first := true
	late := s.confirming(func(topic events.Topic) error {
		if topic != events.Readings || !first {
			return nil
		}
		first = false
		return s.undisturbed().Confirm(t.Context(), confirms(seen, "ada", "A"))
	})
	err := late.Confirm(t.Context(), confirms(seen, "uma", "B"))
	var overtaken *confirmation.OvertakenError
	if !errors.As(err, &overtaken) || overtaken.Newest.Line.Reading.ConfirmedBy.V != "ada" {
		t.Fatalf("who came second is told %v", err)
	}
	s.has(t, seen.Line.ID, 4, "ada", "A")
	if err := late.Confirm(t.Context(), confirms(overtaken.Newest, "uma", "B")); err != nil {
		t.Fatal(err)
	}
	s.has(t, seen.Line.ID, 5, "uma", "B")
	if err := s.undisturbed().Confirm(t.Context(), confirms(seen, "ada", "A")); !errors.As(err, &overtaken) {
		t.Errorf("who confirms an old page is told %v", err)
	}
	s.has(t, seen.Line.ID, 5, "uma", "B")
	if err := s.undisturbed().Confirm(t.Context(), confirms(seen, "uma", "B")); err != nil {
		t.Errorf("who sends the form twice is told %v", err)
	}
	s.has(t, seen.Line.ID, 5, "uma", "B")
}

// has is that reading and record agree in version, person and number.
func (s *mailedWorld) has(t *testing.T, id string, version int64, by, number string) {
	t.Helper()
	state := s.state(t, id)
	if state.Line.Version != version || state.Record.Version != version || state.Line.Reading.ConfirmedBy.V != by ||
		state.Values().Number.V != number || state.Record.Values != state.Values().Recorded() {
		t.Errorf("version %d of the reading says %q by %q, version %d of the record %q; want version %d, %q by %q", state.Line.Version,
			state.Values().Number.V, state.Line.Reading.ConfirmedBy.V, state.Record.Version, state.Record.Values.Number.V, version, number, by)
	}
}

// Given a confirmation that was broken off between reading and record, when anybody confirms, then it is finished as it was.
func (s *mailedWorld) finishesWhatWasBrokenOff(t *testing.T) {
	seen := s.mailed(t, "k4", numbered("K-4"))
	cut := s.confirming(func(topic events.Topic) error {
		if topic == events.Records {
			return errors.New("killed")
		}
		return nil
	})
	if err := cut.Confirm(t.Context(), confirms(seen, "ada", "A")); !errors.Is(err, confirmation.ErrAway) {
		t.Fatalf("the person is told %v", err)
	}
	now := s.state(t, seen.Line.ID)
	if !now.Unfinished() || now.Record.Version != 3 {
		t.Fatalf("version %d of the reading and %d of the record", now.Line.Version, now.Record.Version)
	}
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + seen.Line.ID)
	if text := p.Text(); !strings.Contains(text, "A confirmation has not reached the record yet.") {
		t.Errorf("the page says %s", text)
	}
	hasHistory(t, p, "The mail came in, from office@b.example", "1 Queued to be read", "2 Being read", "3 Read by Tallyhouse",
		"4 Confirmed by ada; it has not reached the record yet")
	p.Do(chromedp.Click("form.correct .primary"))
	p.Wait(`!document.querySelector(".problem") && location.pathname.startsWith("/inbox/")`)
	p.Settled()
	s.has(t, seen.Line.ID, 4, "ada", "A")
	if at := s.state(t, seen.Line.ID); !at.Record.At.Equal(at.Line.At) {
		t.Errorf("who finished it made another record, of %s", at.Record.At)
	}
}

// Given Kafka that takes nothing, when somebody confirms, then they are told so, keep what they typed, and nothing is half done; it
// works again as soon as Kafka does.
func (s *mailedWorld) saysThatKafkaIsAway(t *testing.T) {
	seen := s.mailed(t, "k5", numbered("K-5"))
	away := true
	s.publisher = steps{confirmations{s.servers.kafka}, func(events.Topic) error {
		if away {
			return errors.New("no broker answers")
		}
		return nil
	}}
	defer func() { s.publisher = nil }()
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + seen.Line.ID)
	p.Expect("503")
	p.Do(chromedp.Focus("#field-invoiceNumber"), chromedp.Evaluate[chromedp.Void](`document.activeElement.select()`),
		chromedp.KeyEvent("K-5a"), chromedp.KeyEvent(kb.Enter))
	p.Wait(`document.querySelector(".problem")?.textContent.includes("could not be reached")`)
	p.Settled()
	if now := s.state(t, seen.Line.ID); now.Line.Version != 3 || now.Record.Version != 3 {
		t.Errorf("version %d of the reading and %d of the record were written", now.Line.Version, now.Record.Version)
	}
	away = false
	p.Do(chromedp.Click("form.correct .primary"))
	p.Wait(`document.querySelector(".said")?.textContent.includes("Confirmed by uma")`)
	p.Settled()
	s.has(t, seen.Line.ID, 4, "uma", "K-5a")
}

// Given a record that the application takes over, before or while somebody confirms, then its version stays, and the person is told.
func (s *mailedWorld) leavesTheApplicationsAlone(t *testing.T) {
	seen := s.mailed(t, "k6", numbered("K-6"))
	decided := func(id string, version int, step string) string {
		return fmt.Sprintf(`{"topic": "ledger.records", "key": "demo/%s", "value": {"id": "%[1]s", "tenantId": "demo", "version": %d, `+
			`"op": "upsert", "at": "2026-01-05T09:00:00Z", "data": {"projectId": "house", "source": "invoice", "direction": "out", `+
			`"stepKind": "%s", "invoiceNumber": "app", `+
			`"allocations": [], "documents": [], "intake": {"channel": "email", "status": "completed"}}}}`, id, version, step)
	}
	takeOver := func(id string) { s.load(decided(id, 100, "approval")) }
	during := s.confirming(func(topic events.Topic) error {
		if topic == events.Records {
			takeOver(seen.Line.ID)
		}
		return nil
	})
	if err := during.Confirm(t.Context(), confirms(seen, "uma", "B")); !errors.Is(err, confirmation.ErrTakenOver) {
		t.Errorf("who confirms meanwhile is told %v", err)
	}
	err := s.undisturbed().Confirm(t.Context(), confirms(s.state(t, seen.Line.ID), "uma", "C"))
	if !errors.Is(err, confirmation.ErrTakenOver) {
		t.Errorf("who confirms afterwards is told %v", err)
	}
	if record := s.record(t, seen.Line.ID); record.Number != "app" {
		t.Errorf("the API shows %v", record)
	}
	s.load(decided(seen.Line.ID, 101, "rejected") + "\n" + decided(seen.Line.ID, 102, "payment"))
	p, url := s.signedIn(t, "demo", "uma", "en")
	p.Open(url + "/inbox/" + seen.Line.ID)
	if text := p.Text(); !strings.Contains(text, "The application has taken this record over") || strings.Contains(text, "Confirm\n") {
		t.Errorf("the page says %s", text)
	}
	p.Check("a record of the application")
	hasHistory(t, p, "The mail came in, from office@b.example", "1 Queued to be read", "2 Being read", "3 Read by Tallyhouse",
		"4 Confirmed by uma", "100 By the application: To be approved", "101 By the application: Rejected", "102 By the application: To be paid")
}

// Given an invoice that could not be read, when somebody fills it in, then the record is completed, with amounts and a contractor.
func (s *mailedWorld) fillsInWhatCouldNotBeRead(t *testing.T) {
	seen := s.mailed(t, "k7", []byte("%PDF-1.4 and no more"))
	l := seen.Line
	if l.Reading.Status != "failed" || seen.Record.Status != "failed" {
		t.Fatalf("its reading is %s, its record %s", l.Reading.Status, seen.Record.Status)
	}
	day, _ := calendar.ParseDate("2026-10-31")
	values := seen.Values()
	values.Number, values.Date, values.SupplierName, values.Contractor = events.Some("K-7"), events.Some(day), events.Some("Ziegel AG"),
		events.Some("c1")
	values.Currency, values.Net, values.Tax, values.Gross = events.Some("EUR"), events.Some[int64](-10000), events.Some[int64](-2000),
		events.Some[int64](-12000)
	s.must(s.undisturbed().Confirm(t.Context(), confirmation.Confirmation{Tenant: "demo", Project: "house", ID: l.ID, By: "uma",
		Version: l.Version, Values: values}))
	s.has(t, l.ID, 4, "uma", "K-7")
	want := apiRecord{"K-7", apiAmount{-10000}, apiAmount{-2000}, apiAmount{-12000}, "completed", "c1"}
	if got := s.record(t, l.ID); got != want {
		t.Errorf("the API shows %v, want %v", got, want)
	}
	if now := s.state(t, l.ID); now.Line.State != "read" || now.Line.Reading.Status != "completed" || now.Line.Reading.Reason.Ok ||
		now.Record.Received != seen.Record.Received || now.Values() != values {
		t.Errorf("its reading is %+v", now.Line)
	}
}

// Given people who may not see the mail, when they send the form, then they are answered as if there were no such mail.
func (s *mailedWorld) letsNobodyElseCorrect(t *testing.T) {
	l := s.mailed(t, "k8", numbered("K-8")).Line
	for _, who := range []struct {
		tenant, user string
		status       int
	}{{"demo", "gus", 404}, {"acme", "ada", 404}, {"demo", "uma", 303}} {
		v := s.visitor(t, who.tenant, who.user)
		send := func(token string) int {
			return v.post("/inbox/"+l.ID+"/confirmation", token, neturl.Values{"version": {"3"}, "invoiceNumber": {"stolen"}})
		}
		if got := send("of another"); got != http.StatusForbidden {
			t.Errorf("a form without %s's token is answered %d", who.user, got)
		}
		if s.state(t, l.ID).Line.Version != 3 {
			t.Errorf("%s of %s has corrected it", who.user, who.tenant)
		}
		if got := send(""); got != who.status {
			t.Errorf("%s of %s is answered %d, want %d", who.user, who.tenant, got, who.status)
		}
	}
}
