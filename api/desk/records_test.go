package desk

import (
	"encoding/json"
	"testing"
)

// Given a record that nobody could read, then it is called by the file that it came as; by its id only where it has neither number nor file.
func TestHowARecordIsCalled(t *testing.T) {
	for of, want := range map[string]string{
		`{"id": "mail-1", "invoiceNumber": "RE 7", "documents": [{"name": "scan.pdf", "kind": "original"}]}`:                "RE 7",
		`{"id": "mail-1", "documents": [{"name": "terms.pdf", "kind": "other"}, {"name": "scan.pdf", "kind": "original"}]}`: "scan.pdf",
		`{"id": "mail-1", "documents": [{"name": "terms.pdf", "kind": "other"}]}`:                                           "mail-1",
		`{"id": "mail-1"}`: "mail-1",
	} {
		var r record
		if err := json.Unmarshal([]byte(of), &r); err != nil {
			t.Fatal(err)
		}
		if got := r.title(); got != want {
			t.Errorf("%s is called %q, want %q", of, got, want)
		}
	}
}
