package nearest_test

import (
	"strings"
	"testing"

	"tallyhouse/schemas/nearest"
)

func TestTheNearestNameIsMeant(t *testing.T) {
	known := []string{"net", "netAmount", "dueDate", "currency"}
	for word, want := range map[string]string{
		"nett": "net", "NETAMOUNT": "netAmount", "netamuont": "netAmount", "due_date": "dueDate", "curency": "currency", "curreny": "currency",
		"curr": "", "supplier": "", "": "", strings.Repeat("currency", 8): "",
	} {
		if got := nearest.Of(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
