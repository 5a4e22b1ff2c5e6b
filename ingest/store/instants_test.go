package store

import (
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
)

// The whole range of events arrives as it was sent, also where nanoseconds since 1970 don't fit into 64 bits.
func TestInstantsReachTheDatabaseOverTheirWholeRange(t *testing.T) {
	t.Parallel()
	db := databasetest.Empty(t, 1)
	if err := db.Exec(t.Context(), database.Statement{SQL: "CREATE TABLE moments (i UInt32, at DateTime64(6, 'UTC')) ENGINE = Memory"}); err != nil {
		t.Fatal(err)
	}
	moments := []string{
		"1900-01-01T00:00:00Z", "1969-12-31T23:59:59.999999Z", "1970-01-01T00:00:00.000001Z", "2026-03-29T01:30:00.123456Z", "2262-04-11T23:47:17Z", "2299-12-31T22:59:59.999999Z",
	}
	var number proto.ColUInt32
	column := newInstants()
	for i, text := range moments {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		number.Append(uint32(i))
		column.Append(at)
		if got := column.Row(i); !got.Equal(at) {
			t.Errorf("%s reads back as %s", text, got)
		}
	}
	_, err := db.Insert(t.Context(), database.Statement{SQL: "INSERT INTO moments SELECT i, at FROM batch", Batch: database.Batch{{Name: "i", Data: &number}, {Name: "at", Data: column}}})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	err = db.Rows(t.Context(), database.Query{SQL: "SELECT toString(at) FROM moments ORDER BY i"}, func(scan func(...any) error) error {
		var got string
		if err := scan(&got); err != nil {
			return err
		}
		want, _ := time.Parse(time.RFC3339Nano, moments[stored])
		if w := want.Format("2006-01-02 15:04:05.000000"); got != w {
			t.Errorf("%s is stored as %s", w, got)
		}
		stored++
		return nil
	})
	if err != nil || stored != len(moments) {
		t.Errorf("%d of %d instants: %v", stored, len(moments), err)
	}
}
