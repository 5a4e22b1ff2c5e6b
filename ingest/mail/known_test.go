package mail

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/invoice/known"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// readingOfSupplier is what was read of a mail, as far as it names the supplier; by says who confirmed it, "" nobody.
func readingOfSupplier(name, taxID, contractor, by string) *events.Reading {
	field := func(name, value string) events.ReadField {
		return events.ReadField{Name: name, Value: events.Some(events.Stated{Text: events.Some(value), Rule: "entered"})}
	}
	r := &events.Reading{
		ProjectID: events.Some("p1"), Status: events.ReadingCompleted, Mail: events.ReadMail{Mailbox: "m"},
		Fields: []events.ReadField{field(analytics.FieldSupplierName, name), field(analytics.FieldTaxID, taxID), field(analytics.FieldContractor, contractor)},
	}
	if by != "" {
		r.ConfirmedBy = events.Some(by)
	}
	return r
}

// Given contractors, and readings of which a person has confirmed some, then those are known that are printed or were mailed from the
// same domain, what a person has said first; what nobody confirmed teaches nothing, a domain that nobody vouched for is none, and
// another tenant learns nothing.
func TestSuppliersAreKnownToTheirTenantAlone(t *testing.T) {
	w := newWorld(t)
	const account, other = "AT611904300234573201", "DE89370400440532013000"
	w.contractor("C2", "Ziegel Nord OG", "ATU11111116")
	w.send(events.Readings, "r1", readingOfSupplier("Stein & Bein OG", "ATU 9876 5432", "C9", "uma"))
	w.send(events.Readings, "r2", readingOfSupplier("Nobody KG", "ATU 9876 5432", "C8", ""))
	mailed := func(id, name, by, verdict string) {
		r := readingOfSupplier(name, "", "C7", by)
		r.Mail.From, r.Mail.Verdict = events.Some("Office@Bau.example"), events.Some(verdict)
		r.Fields = append(r.Fields, events.ReadField{Name: analytics.FieldIBAN,
			Alternatives: []events.Stated{{Text: events.Some(other)}, {Text: events.Some(account)}}})
		w.send(events.Readings, id, r)
	}
	mailed("r3", "Bau GmbH", "uma", "pass")
	mailed("r4", "Lug & Trug", "uma", "fail")
	mailed("r5", "Nobody KG", "", "pass")
	mailed("r6", "Bau GmbH", "uma", "pass")
	d := directory{[]*database.Server{w.db}}
	stein := known.Supplier{Contractor: "C9", Name: "Stein & Bein OG", TaxID: "ATU 9876 5432", Confirmed: true}
	bau := known.Supplier{Contractor: "C7", Name: "Bau GmbH", Domain: "bau.example", Confirmed: true}
	paid := known.Supplier{Contractor: "C7", Name: "Bau GmbH", IBAN: account, Confirmed: true}
	trug := known.Supplier{Contractor: "C7", Name: "Lug & Trug", IBAN: account, Confirmed: true}
	ziegel := known.Supplier{Contractor: "C2", Name: "Ziegel Nord OG", TaxID: "ATU11111116"}
	byName := known.Printed{TaxIDs: []string{"ATU98765432"}, Names: []string{"ziegelnordog", "nobodykg"}}
	byAccount := known.Printed{IBANs: []string{account}}
	for _, c := range []struct {
		when, domain string
		printed      known.Printed
		want         []known.Supplier
	}{
		{"by tax id and name", "", byName, []known.Supplier{stein, ziegel}},
		{"by account", "", byAccount, []known.Supplier{paid, trug}},
		{"by name and domain", "bau.example", byName, []known.Supplier{stein, ziegel, bau}},
		{"by name and another domain", "mail.example", byName, []known.Supplier{stein, ziegel}},
	} {
		var got []known.Supplier
		eventually(t, c.when+" they are known", func() (err error) {
			if got, err = d.known(t.Context(), tenant, c.domain, c.printed); err == nil && len(got) < len(c.want) {
				err = fmt.Errorf("known are %v", got)
			}
			return err
		})
		for _, s := range c.want {
			if !slices.Contains(got, s) || len(got) != len(c.want) {
				t.Errorf("%s known are %v, want %v", c.when, got, c.want)
			}
		}
		if contractor := slices.IndexFunc(got, func(s known.Supplier) bool { return !s.Confirmed }); contractor >= 0 && contractor != len(got)-1 {
			t.Errorf("%s a contractor comes before whom a person has confirmed: %v", c.when, got)
		}
		if got, err := d.known(t.Context(), "other", c.domain, c.printed); err != nil || len(got) != 0 {
			t.Errorf("another tenant knows %v, %v", got, err)
		}
	}
}

// Given a reading that was confirmed under one name and then under another, then it teaches the later one alone.
func TestTheLastConfirmationTeaches(t *testing.T) {
	w := newWorld(t)
	d := directory{[]*database.Server{w.db}}
	printed := known.Printed{Names: []string{"vorhergmbh", "nachhergmbh"}}
	for _, name := range []string{"Vorher GmbH", "Nachher GmbH"} {
		w.send(events.Readings, "r1", readingOfSupplier(name, "", "C9", "uma"))
		eventually(t, name+" is known alone", func() error {
			got, err := d.known(t.Context(), tenant, "", printed)
			if err == nil && (len(got) != 1 || got[0].Name != name) {
				err = fmt.Errorf("known are %v", got)
			}
			return err
		})
	}
}

// Given readings of a supplier that people have confirmed, then the values of the newest say where they stood, and where a person
// corrected what the page was certain of; what was typed, what nobody confirmed and another tenant's say nothing.
func TestConfirmedValuesSayWhereTheyStood(t *testing.T) {
	w := newWorld(t)
	d := directory{[]*database.Server{w.db}}
	read := func(value string, bp int64) events.Stated {
		return events.Stated{Text: events.Some(value), ConfidenceBp: events.Decimal{Units: bp}, Page: 2, Box: events.Some(events.Box{Left: 1000, Top: 2000, Right: 3000, Bottom: 4000}),
			Label: events.Some("kennung"), Rule: "by its place"}
	}
	send := func(id, supplier, taxID, by string, number events.ReadField) {
		r := readingOfSupplier(supplier, taxID, "", by)
		number.Name = analytics.FieldNumber
		r.Fields = append(r.Fields, number)
		w.send(events.Readings, id, r)
	}
	send("r1", "Bau GmbH", "ATU 1", "uma", events.ReadField{Value: events.Some(read("7", 5000)), Alternatives: []events.Stated{read("8", 9000)}})
	send("r2", "Bau GmbH", "ATU 2", "uma", events.ReadField{Value: events.Some(read("7", 9000)), Alternatives: []events.Stated{read("8", 5000)}})
	send("r3", "Stein OG", "ATU 2", "", events.ReadField{Value: events.Some(read("7", 9000))})
	send("r4", "Nobody KG", "ATU 3", "uma", events.ReadField{Value: events.Some(events.Stated{Text: events.Some("7"), Rule: analytics.RuleEntered})})
	kept := read("7", 9000)
	kept.Rule = known.RuleCorrected
	send("r5", "Holz AG", "ATU 4", "uma", events.ReadField{Value: events.Some(kept)})
	for n := range maxLayouts + 2 {
		send(fmt.Sprint("many", n), "Viel GmbH", "ATU 5", "uma", events.ReadField{Value: events.Some(read("7", 9000))})
	}
	const corrected, plain = "invoiceNumber 2 {0.1 0.2 0.3 0.4} kennung true", "invoiceNumber 2 {0.1 0.2 0.3 0.4} kennung false"
	for _, c := range []struct{ when, tenant, taxID, name, want string }{
		{"by tax id", tenant, "ATU-1", "", corrected}, {"by another one", tenant, "atu2", "", plain},
		{"by name", tenant, "", "BAU GmbH", corrected + "; " + plain}, {"of what nobody confirmed", tenant, "", "Stein OG", ""},
		{"of what was typed", tenant, "ATU3", "Nobody KG", ""}, {"of what outdid the page before", tenant, "ATU4", "", corrected},
		{"of many", tenant, "ATU5", "", strings.Repeat(plain+"; ", maxLayouts-1) + plain},
		{"of nobody", tenant, "", "", ""}, {"of another tenant", "other", "ATU1", "Bau GmbH", ""},
	} {
		eventually(t, c.when, func() error {
			layouts, err := d.layouts(t.Context(), c.tenant, c.taxID, c.name)
			var all []string
			for _, l := range layouts {
				for _, s := range l {
					all = append(all, fmt.Sprint(s.Field, " ", s.Page, " ", s.Box, " ", s.Label, " ", s.Corrected))
				}
			}
			slices.Sort(all)
			slices.Reverse(all)
			if got := strings.Join(all, "; "); err == nil && got != c.want {
				err = fmt.Errorf("they stood at %q, want %q", got, c.want)
			}
			return err
		})
	}
}

// Given mailed records in projects of any ids, which are opaque, then each is found by its own id.
func TestARecordIsFoundInWhateverProjectItIs(t *testing.T) {
	w := newWorld(t)
	d := directory{[]*database.Server{w.db}}
	for i, project := range []string{"P", "#7", "#"} {
		id := fmt.Sprint(events.MailedPrefix, i)
		w.sendEvent(events.Records, draft{tenant: tenant, project: project, id: id}.event(versionRead, "completed", time.Now()))
		patiently(t, time.Minute, "the record is found", func() error {
			found, err := d.record(t.Context(), tenant, id)
			if err == nil && found.project != project {
				return fmt.Errorf("it is in %q", found.project)
			}
			return err
		})
	}
}

// Given a record whose id another tenant has given to one of its own, then it is found as that of the tenant whose mailed record it is; where
// both are mailed records, neither is taken.
func TestARecordIsThatOfTheTenantWhoseMailItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := &Intake{directory: directory{[]*database.Server{w.db}}}
	for _, of := range []string{"other", tenant} {
		in.options.Mailboxes = append(in.options.Mailboxes, mailbox.Options{Address: mailbox.Address{Tenant: of}})
	}
	give := func(id, of, channel string) {
		e := draft{tenant: of, project: "P1", id: id}.event(versionRead, "completed", time.Now())
		e.Data.(*events.Record).Intake.Channel = channel
		w.sendEvent(events.Records, e)
		eventually(t, "the record is there", func() error {
			_, err := in.directory.record(t.Context(), of, id)
			return err
		})
	}
	const mailed, both = events.MailedPrefix + "1", events.MailedPrefix + "2"
	give(mailed, "other", "manual")
	give(mailed, tenant, "email")
	give(both, "other", "email")
	give(both, tenant, "email")
	if of, h, err := in.findRecord(t.Context(), mailed); of != tenant || h.channel != "email" || err != nil {
		t.Errorf("it is found as that of %q, %+v, %v", of, h, err)
	}
	if of, _, err := in.findRecord(t.Context(), both); !errors.Is(err, errSeveralTenants) {
		t.Errorf("it is found as that of %q, %v", of, err)
	}
}
