package mail

import (
	"fmt"
	"testing"
	"time"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/events"
)

// contractor is one of a table: its id, name and tax id, "" without.
type contractor struct{ id, name, taxID string }

// directoryOf is that of a database with contractors of a tenant.
func directoryOf(t *testing.T, tenant string, all ...contractor) directory {
	t.Helper()
	db := databasetest.Migrated(t, 1)
	e := store.Of(events.Contractors)
	block := e.NewBlock()
	for _, c := range all {
		data := &events.Contractor{Name: events.Some(c.name)}
		if c.taxID != "" {
			data.TaxID = events.Some(c.taxID)
		}
		block.Append(&store.Row{Tenant: tenant, ID: c.id, Version: 1, At: time.Now(), Data: data})
	}
	block.AppendPosition(0, uint64(len(all)), -1, time.Now())
	block.Sort()
	_, err := db.Insert(t.Context(), database.Statement{
		SQL: e.Insert("1"), Params: database.Params{"partition": "0", "first": "0"}, Batch: block.Batch(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return directory{[]*database.Server{db}}
}

// Given contractors of one name, of which some have another VAT id of the country than the invoice, then the supplier is the one that is
// left, in whatever order they are found, and nobody where several are left, or are too many to tell.
func TestAContractorWithAnotherVATIDIsNotTheOneOfTheName(t *testing.T) {
	const name, printed = "Bau GmbH", "ATU12345675"
	var others, many []contractor
	for i := range 10 {
		others = append(others, contractor{fmt.Sprint("X", i), name, fmt.Sprint("ATU2000000", i)})
	}
	for i := range mostOfName {
		many = append(many, contractor{fmt.Sprint("X", i), name, fmt.Sprintf("ATU3%07d", i)})
	}
	for when, c := range map[string]struct {
		all  []contractor
		want string
	}{
		"one has another id, two have none":        {[]contractor{{"A", name, "ATU22222222"}, {"C", name, ""}, {"D", name, ""}}, ""},
		"one has another id behind two of none":    {[]contractor{{"C", name, ""}, {"D", name, ""}, {"X", name, "ATU22222222"}}, ""},
		"one has no id, behind others with one":    {append(others[:len(others):len(others)], contractor{"Z", name, ""}), "Z"},
		"one has no id, before others with one":    {append(others[:len(others):len(others)], contractor{"A", name, ""}), "A"},
		"one has the id of another country":        {[]contractor{{"A", name, "ATU22222222"}, {"B", name, "DE136695976"}}, "B"},
		"all have another id":                      {others, ""},
		"one has no id, behind more than are read": {append(many[:len(many):len(many)], contractor{"Z", name, ""}), ""},
	} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			got, err := directoryOf(t, tenant, c.all...).contractor(t.Context(), tenant, printed, name)
			if err != nil || got != c.want {
				t.Errorf("it is %q, %v, want %q", got, err, c.want)
			}
		})
	}
}
