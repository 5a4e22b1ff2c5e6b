package mail

import (
	"fmt"
	"testing"
	"time"
	"unicode"

	"tallyhouse/ingest/invoice/known"
	"tallyhouse/ingest/mail/tables"
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
	var rows []*store.Row
	for _, c := range all {
		data := &events.Contractor{Name: events.Some(c.name)}
		if c.taxID != "" {
			data.TaxID = events.Some(c.taxID)
		}
		rows = append(rows, &store.Row{Tenant: tenant, ID: c.id, Version: 1, At: time.Now(), Data: data})
	}
	insert(t, db, events.Contractors, rows...)
	return directory{[]*database.Server{db}}
}

// insert puts rows into the table of their topic.
func insert(t *testing.T, db *database.Server, topic events.Topic, rows ...*store.Row) {
	t.Helper()
	e := store.Of(topic)
	block := e.NewBlock()
	for _, row := range rows {
		block.Append(row)
	}
	block.AppendPosition(0, uint64(len(rows)), -1, time.Now())
	block.Sort()
	_, err := db.Insert(t.Context(), database.Statement{
		SQL: e.Insert("1"), Params: database.Params{"partition": "0", "first": "0"}, Batch: block.Batch(),
	})
	if err != nil {
		t.Fatal(err)
	}
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

// nasty are names and ids that are written in more than one way, or whose case isn't letter by letter.
func nasty() []string {
	all := []string{
		"", "Müller & Söhne", "Mu\u0308ller", "MU\u0308LLER", "A\u030angstro\u0308m", "Nguye\u0302\u0303n", "q\u0307", // NFD
		"\uff21\uff34\uff35\uff11", "\uff4d\uff55\uff4c\uff4c\uff45\uff52", // full width
		"ΟΔΟΣ", "Οδος", "ΟΔΟΣ Α.Ε.", "ΑΣ-ΒΣ", "Σ", "ΑΣ\u0301", "ΐ", "ᾳ", "a\u0345", // Greek
		"İstanbul", "I\u0307stanbul", "ISPARTA", "ıi", // Turkish
		"Straße", "STRASSE", "STRAẞE", "ŉ", "ǰ", "և", "ﬁnanz", "ﬀ", "ﬃ", "Ǆ", "ǅ", "ǆ", // special casing, ligatures
		"٣٤", "४२", "Ⅷ", "②", "½", "x²", "𝟘", "𐐀", // figures and letters elsewhere
		"क\u093c", "क़", "가", "\u1100\u1161", "a\u200db", "a\u00adb", "\U0001f3d7 Bau", "株式会社",
	}
	for c := range rune(0x2000) { // the alphabets of Europe and its neighbours, as far as Go knows them
		if unicode.IsGraphic(c) && c != 'ƛ' && c != 'ɤ' { // which have capitals since Unicode 16, and not yet in Go
			all = append(all, string(c), "a"+string(c)+"\u0301")
		}
	}
	return all
}

// Given names and ids in whatever letters, then the keys that the database makes of them are those of package known.
func TestTheDatabaseMakesTheKeysThatSuppliersAreLookedUpBy(t *testing.T) {
	db := databasetest.Migrated(t, 1)
	all := nasty()
	for what, key := range map[string]struct {
		sql string
		of  func(string) string
	}{"name": {nameKey, known.NameKey}, "tax id": {taxKey, known.TaxKey}} {
		q := database.Query{SQL: "SELECT " + key.sql + " FROM (SELECT arrayJoin({all:Array(String)}) AS name, name AS tax_id)",
			Params: database.Params{"all": database.Texts(all)}, Limit: tables.QueryTime}
		var made []string
		err := db.Rows(t.Context(), q, func(scan func(...any) error) error {
			var s string
			err := scan(&s)
			made = append(made, s)
			return err
		})
		if err != nil || len(made) != len(all) {
			t.Fatalf("%d keys of %d, %v", len(made), len(all), err)
		}
		for i, s := range all {
			if want := key.of(s); made[i] != want {
				t.Errorf("the %s %+q: the database makes %+q, the invoice is looked up by %+q", what, s, made[i], want)
			}
		}
	}
}

// Given a contractor whose name has its marks beside its letters, as some programs write them, then an invoice that has them in one finds
// it, and the other way round; likewise a supplier that a person has confirmed.
func TestASupplierIsFoundHoweverItsMarksAreWritten(t *testing.T) {
	d := directoryOf(t, tenant, contractor{"C1", "Mu\u0308ller Bau", ""}, contractor{"C2", "Söhne Bau", ""}, contractor{"C3", "Muller Bau", ""})
	for name, want := range map[string]string{"Müller Bau": "C1", "So\u0308hne Bau": "C2", "MULLER Bau": "C3"} {
		if got, err := d.contractor(t.Context(), tenant, "", name); err != nil || got != want {
			t.Errorf("%+q is %q, %v, want %q", name, got, err, want)
		}
		printed := known.Printed{Names: []string{known.NameKey(name)}}
		if got, err := d.known(t.Context(), tenant, "", printed); err != nil || len(got) != 1 || got[0].Contractor != want {
			t.Errorf("%+q is known as %v, %v, want %q", name, got, err, want)
		}
	}
	insert(t, d.shards[0], events.Readings, &store.Row{Tenant: tenant, Project: "p1", ID: "r1", Version: 1, At: time.Now(),
		Data: readingOfSupplier("Gru\u0308n Bau", "A\u0308 7", "C9", "uma")})
	for what, printed := range map[string]known.Printed{
		"name": {Names: []string{known.NameKey("Grün Bau")}}, "tax id": {TaxIDs: []string{known.TaxKey("ä7")}},
	} {
		if got, err := d.known(t.Context(), tenant, "", printed); err != nil || len(got) != 1 || got[0].Contractor != "C9" {
			t.Errorf("by %s who was confirmed is known as %v, %v", what, got, err)
		}
	}
}
