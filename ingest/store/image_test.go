package store

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
	"pgregory.net/rapid"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// readBack decodes a block as it is sent, as the images that a result with its rows would give.
func readBack(t interface{ Fatal(...any) }, b *Block) *Images {
	m := b.entity.NewImages()
	for _, result := range m.Results() {
		for _, sent := range b.columns {
			if sent.Name != result.Name && "image_"+sent.Name != result.Name && (sent.Name != "tenant" || result.Name != "of") {
				continue
			}
			var buffer proto.Buffer
			sent.Data.EncodeColumn(&buffer)
			column := result.Data.(proto.Column)
			rest := proto.NewReader(bytes.NewReader(buffer.Buf))
			if err := column.DecodeColumn(rest, b.Rows()); err != nil {
				t.Fatal(sent.Name, err)
			}
			if _, err := rest.ReadByte(); err == nil {
				t.Fatal(sent.Name, " has more bytes than rows")
			}
		}
	}
	return m
}

// What is read back from a row contributes what the payload did that it was made of, to the rolls of its table.
func TestARowTellsWhatItContributes(t *testing.T) {
	for _, e := range All() {
		if !e.Contributes() {
			continue
		}
		t.Run(e.Table, func(t *testing.T) {
			several := 0
			rapid.Check(t, func(t *rapid.T) {
				for range 10 {
					drawn := eventstest.DrawUpsert(t, e.Topic)
					event, err := events.Decode(e.Topic, drawn.Key(), drawn.Value())
					if err != nil {
						t.Fatal(err)
					}
					want, err := e.Contribution(nil, event.ID, event.Data)
					if err != nil {
						continue // refused: it is never stored
					}
					if readBackContributes(t, e, event, want); len(want) > 4 {
						several++
					}
				}
			})
			if several == 0 && e.Table == "records" {
				t.Fatal("no record with several allocations was drawn")
			}
		})
	}
}

func readBackContributes(t *rapid.T, e *Entity, event events.Event, want analytics.Contribution) {
	b := e.NewBlock()
	b.Append(&Row{Tenant: "t", Project: e.Project(event.ID, event.Data), ID: event.ID, Data: event.Data})
	b.Append(&Row{Tenant: "u", ID: event.ID, Deleted: true})
	b.Sort()
	m := readBack(t, b)
	got, err := m.Contribution(nil, 0)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("contributes %v, %v, want %v", got, err, want)
	}
	if gone, err := m.Contribution(nil, 1); err != nil || len(gone) > 0 {
		t.Fatalf("a deleted one contributes %v, %v", gone, err)
	}
	if slices.ContainsFunc(got, func(s analytics.Summand) bool { return !slices.Contains(e.Rolls(), s.Roll) }) {
		t.Fatalf("%v are not all of the table's rolls", got)
	}
}
