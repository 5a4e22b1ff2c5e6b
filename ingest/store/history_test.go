package store_test

import (
	"testing"

	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// A history that is used again has nothing of the batch before: neither rows nor, of other entities, anything at all.
func TestAHistoryIsUsedAgain(t *testing.T) {
	for _, e := range store.All() {
		h := e.NewHistory()
		h.Add(&store.Row{Tenant: "demo", ID: events.MailedPrefix + "1", Version: 3}, 0)
		want := 0
		if e.Topic == events.Records || e.Topic == events.Readings {
			want = 1
		}
		if h.Len() != want {
			t.Errorf("%d versions of %s are kept, not %d", h.Len(), e.Table, want)
		}
		h.Reset()
		for _, c := range h.Batch() {
			if c.Data.Rows() != 0 || h.Len() != 0 {
				t.Errorf("%s of %s has %d rows after a reset", c.Name, e.Table, c.Data.Rows())
			}
		}
	}
}
