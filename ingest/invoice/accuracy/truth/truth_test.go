package truth_test

import (
	"os"
	"path/filepath"
	"testing"

	"tallyhouse/ingest/invoice/accuracy/truth"
)

// Given a truth, then each name that the supplier goes by is right, and a VAT id is with or without its country's letters.
func TestWhoTheSupplierIs(t *testing.T) {
	text := func(s string) *string { return &s }
	hotel := truth.Truth{Supplier: text("Turmblick Betriebs GmbH"), Also: []string{"Hotel Turmblick"},
		TaxID: text("DK13585628"), TaxNumber: text("31/472/60891")}
	for name, want := range map[string]bool{"TURMBLICK Betriebs GmbH": true, "Hotel Turmblick": true, "Hotel Seeblick": false, "Tu": false} {
		if got := hotel.IsName(name); got != want {
			t.Errorf("the supplier is %q: %v, want %v", name, got, want)
		}
	}
	for id, want := range map[string]bool{"DK 13 58 56 28": true, "13585628": true, "SE13585628": false, "585628": false, "31/472/60891": true,
		"472/60891": false} {
		if got := hotel.IsTaxID(id); got != want {
			t.Errorf("the tax id is %q: %v, want %v", id, got, want)
		}
	}
	swiss := truth.Truth{TaxID: text("CHE-116.402.853 MWST")}
	for id, want := range map[string]bool{"CHE116402853": true, "CHE-116.402.853 TVA": true, "116402853": false, "CHE116402854": false} {
		if got := swiss.IsTaxID(id); got != want {
			t.Errorf("the Swiss tax id is %q: %v, want %v", id, got, want)
		}
	}
}

// Given truths in a folder, then they are read in the order of their names, and one that names no file is of the PDF beside it.
func TestTruthsOfAFolder(t *testing.T) {
	folder := t.TempDir()
	for name, says := range map[string]string{"b.json": `{"net":1240000}`, "a.json": `{"file":"other.pdf","supplierName":null}`} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(says), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	truths, err := truth.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(truths) != 2 || truths[0].File != "other.pdf" || truths[0].Supplier != nil || truths[1].File != "b.pdf" ||
		truths[1].Net == nil || *truths[1].Net != 1_240_000 {
		t.Errorf("read %+v", truths)
	}
}

// Given a folder without truths, or with one that is no JSON, then that is an error.
func TestWhatIsNoTruth(t *testing.T) {
	if _, err := truth.Read(t.TempDir()); err == nil {
		t.Error("an empty folder was read")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := truth.Read(folder); err == nil {
		t.Error("half an object was read")
	}
}
