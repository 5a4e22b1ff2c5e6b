package desk

import (
	"encoding/json"
	"log/slog"
	"testing"

	"tallyhouse/api/desk/language"
)

// Given a contract without a name, as the API writes it, when contracts are listed, then it is called by its id, which leads to
// its page.
func TestAContractWithoutANameIsCalledByItsID(t *testing.T) {
	languages, err := language.Load()
	if err != nil {
		t.Fatal(err)
	}
	v := &visit{desk: &Desk{log: slog.New(slog.DiscardHandler)}, lang: languages.Of("en")}
	var contracts []contract
	if err := json.Unmarshal([]byte(`[{"id": "C1", "name": null}, {"id": "C2", "name": "Shell"}]`), &contracts); err != nil {
		t.Fatal(err)
	}

	rows := v.contractsTable(&project{ID: "P"}, contracts).Rows

	for i, want := range []cell{{Text: "C1", Link: "/projects/P/contracts/C1"}, {Text: "Shell", Link: "/projects/P/contracts/C2"}} {
		if got := rows[i].Cells[0]; got.Text != want.Text || got.Link != want.Link {
			t.Errorf("contract %d is called %q and leads to %q, want %q and %q", i, got.Text, got.Link, want.Text, want.Link)
		}
	}
}
