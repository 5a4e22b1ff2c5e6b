package store

import (
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// readBack makes the images that a result with the block's rows would give.
func readBack(b *Block) *Images {
	m := b.entity.NewImages()
	m.tenant, m.project, m.id, m.rowVersion, m.deleted = *b.tenant, *b.project, *b.id, *b.rowVersion, *b.deleted
	for i, c := range b.entity.Columns {
		m.fields[c.Name] = b.image[i].column().(proto.Column)
	}
	m.after = b.after
	return m
}

// What is read back from a row contributes what the payload did that it was made of.
func TestARowTellsWhatItContributes(t *testing.T) {
	for _, e := range All() {
		if !e.Contributes() {
			continue
		}
		t.Run(e.Table, func(t *testing.T) {
			several := 0
			rapid.Check(t, func(t *rapid.T) {
				drawn := eventstest.DrawUpsert(t, e.Topic)
				event, err := events.Decode(e.Topic, drawn.Key(), drawn.Value())
				if err != nil {
					t.Fatal(err)
				}
				want, err := e.Contributions(event.ID, event.Data)
				if err != nil {
					return // refused: it is never stored
				}
				b := e.NewBlock()
				b.Append(Row{Tenant: event.TenantID, Project: e.Project(event.ID, event.Data), ID: event.ID, Data: event.Data, After: want})
				b.Append(Row{Tenant: event.TenantID, ID: event.ID, Deleted: true})
				m := readBack(b)
				if got := m.Stored(0); !got.Equal(want) {
					t.Fatalf("stored %v, want %v", got, want)
				}
				got, err := m.Computed(0)
				if err != nil || !got.Equal(want) {
					t.Fatalf("computed %v, %v, want %v", got, err, want)
				}
				if gone, err := m.Computed(1); err != nil || len(gone.Sums) > 0 {
					t.Fatalf("a deleted one contributes %v, %v", gone, err)
				}
				if len(want.Sums) > len(e.Shape.Sums) {
					several++
				}
			})
			if several == 0 && e.Table == "records" {
				t.Fatal("no record with several allocations was drawn")
			}
		})
	}
}
