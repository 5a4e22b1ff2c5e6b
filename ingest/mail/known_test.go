package mail

import (
	"fmt"
	"slices"
	"testing"

	"tallyhouse/analytics"
	"tallyhouse/ingest/invoice/known"
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

// Given contractors, and readings of which a person has confirmed one, then those are known that are printed, what a person has said
// first; what nobody confirmed teaches nothing, and another tenant learns nothing.
func TestSuppliersAreKnownToTheirTenantAlone(t *testing.T) {
	w := newWorld(t)
	w.contractor("C2", "Ziegel Nord OG", "ATU11111116")
	w.send(events.Readings, "r1", readingOfSupplier("Stein & Bein OG", "ATU 9876 5432", "C9", "uma"))
	w.send(events.Readings, "r2", readingOfSupplier("Nobody KG", "ATU 9876 5432", "C8", ""))
	d := directory{[]*database.Server{w.db}}
	printed := known.Printed{TaxIDs: []string{"ATU98765432"}, Names: []string{"ziegelnordog", "nobodykg"}}
	want := []known.Supplier{{Contractor: "C9", Name: "Stein & Bein OG", TaxID: "ATU 9876 5432", Confirmed: true},
		{Contractor: "C2", Name: "Ziegel Nord OG", TaxID: "ATU11111116"}}
	var got []known.Supplier
	eventually(t, "both are known", func() (err error) {
		if got, err = d.known(t.Context(), tenant, printed); err == nil && len(got) < len(want) {
			err = fmt.Errorf("known are %v", got)
		}
		return err
	})
	if !slices.Equal(got, want) {
		t.Errorf("known are %v, want %v", got, want)
	}
	if got, err := d.known(t.Context(), "other", printed); err != nil || len(got) != 0 {
		t.Errorf("another tenant knows %v, %v", got, err)
	}
}
