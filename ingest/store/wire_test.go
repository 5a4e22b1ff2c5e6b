package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"pgregory.net/rapid"

	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// every is a payload with a member for each kind of column.
type every struct {
	text          string
	flag          bool
	number        int64
	textOrNull    events.Opt[string]
	numberOrNull  events.Opt[int64]
	dateOrNull    events.Opt[calendar.Date]
	instantOrNull events.Opt[time.Time]
	list          []element
	json          string
	date          calendar.Date
}

type element struct {
	text       string
	number     int64
	flag       bool
	textOrNull events.Opt[string]
	dateOrNull events.Opt[calendar.Date]
	date       calendar.Date
}

// everyKind is an entity that a table of the test holds.
func everyKind() *Entity {
	list := func(e *every) []element { return e.list }
	return &Entity{
		Table: "every_kind",
		Columns: []Column{
			textColumn("text", func(e *every) string { return e.text }),
			boolColumn("flag", func(e *every) bool { return e.flag }),
			integerColumn("number", func(e *every) int64 { return e.number }),
			textOrNull("text_or_null", func(e *every) events.Opt[string] { return e.textOrNull }),
			integerOrNull("number_or_null", func(e *every) events.Opt[int64] { return e.numberOrNull }),
			dateOrNull("date_or_null", func(e *every) events.Opt[calendar.Date] { return e.dateOrNull }),
			instantOrNull("instant_or_null", func(e *every) events.Opt[time.Time] { return e.instantOrNull }),
			textsColumn("texts", list, func(e *element) string { return e.text }),
			integersColumn("numbers", list, func(e *element) int64 { return e.number }),
			boolsColumn("flags", list, func(e *element) bool { return e.flag }),
			textsOrNull("texts_or_null", list, func(e *element) events.Opt[string] { return e.textOrNull }),
			datesOrNull("dates_or_null", list, func(e *element) events.Opt[calendar.Date] { return e.dateOrNull }),
			jsonColumn("json", func(b []byte, e *every) []byte { return append(b, e.json...) }),
			dateColumn("date", func(e *every) calendar.Date { return e.date }),
			datesColumn("dates", list, func(e *element) calendar.Date { return e.date }),
		},
		project: noProject,
	}
}

func TestEveryKindOfColumnIsTriedOut(t *testing.T) {
	tried := map[*columnKind]bool{uint32Kind: true, uint64Kind: true, instantKind: true} // which all tables have
	for _, c := range everyKind().Columns {
		tried[c.kind] = true
	}
	for _, e := range All() {
		for _, c := range e.Columns {
			if !tried[c.kind] {
				t.Errorf("%s.%s is of kind %s", e.Table, c.Name, c.kind.name)
			}
		}
	}
}

// optional draws a value that may be missing.
func optional[T any](t *rapid.T, name string, of *rapid.Generator[T]) events.Opt[T] {
	if rapid.IntRange(0, 2).Draw(t, "no "+name) == 0 {
		return events.Opt[T]{}
	}
	return events.Some(of.Draw(t, name))
}

func drawEvery(t *rapid.T) *every {
	short := rapid.OneOf(rapid.Just(""), rapid.String(), rapid.SampledFrom([]string{"it's", `\N`, "ä€🏗", "\x00\n"}))
	// As long as lengths of one, two and three bytes say.
	long := rapid.Map(rapid.SampledFrom([]int{0, 1, 126, 127, 128, 129, 16383, 16384, 20000}), func(n int) string { return strings.Repeat("x", n) })
	text := rapid.OneOf(short, long)
	number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64())
	date := rapid.Map(rapid.Int32Range(int32(calendar.NewDate(1900, 1, 1)), int32(calendar.NewDate(2299, 12, 31))), func(d int32) calendar.Date { return calendar.Date(d) })
	instant := rapid.Map(rapid.Int64Range(-2_208_988_800_000_000, 10_413_791_999_999_999), time.UnixMicro)
	e := &every{
		text: text.Draw(t, "text"), flag: rapid.Bool().Draw(t, "flag"), number: number.Draw(t, "number"), textOrNull: optional(t, "text", text),
		numberOrNull: optional(t, "number", number), dateOrNull: optional(t, "date", date), instantOrNull: optional(t, "instant", instant), json: long.Draw(t, "json"),
		date: date.Draw(t, "date"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "elements") {
		e.list = append(e.list, element{
			text: short.Draw(t, "text"), number: number.Draw(t, "number"), flag: rapid.Bool().Draw(t, "flag"), textOrNull: optional(t, "text", short),
			dateOrNull: optional(t, "date", date), date: date.Draw(t, "date"),
		})
	}
	return e
}

// orNull is what JSON says of a value that may be missing.
func orNull[T any](o events.Opt[T], as func(T) any) any {
	if !o.Ok {
		return nil
	}
	return as(o.V)
}

func onDay(d calendar.Date) any { return d.String() }

// said is a payload as the table must say it, column by column.
func (e *every) said() []any {
	plain := func(s string) any { return s }
	number := func(n int64) any { return n }
	instant := func(at time.Time) any { return at.UTC().Format("2006-01-02 15:04:05.000000") }
	texts, numbers, flags, maybeTexts, maybeDates, dates := []string{}, []int64{}, []bool{}, []any{}, []any{}, []any{}
	for _, i := range e.list {
		texts, numbers, flags = append(texts, i.text), append(numbers, i.number), append(flags, i.flag)
		maybeTexts, maybeDates = append(maybeTexts, orNull(i.textOrNull, plain)), append(maybeDates, orNull(i.dateOrNull, onDay))
		dates = append(dates, onDay(i.date))
	}
	return []any{
		e.text, e.flag, e.number, orNull(e.textOrNull, plain), orNull(e.numberOrNull, number), orNull(e.dateOrNull, onDay), orNull(e.instantOrNull, instant),
		texts, numbers, flags, maybeTexts, maybeDates, e.json, onDay(e.date), dates,
	}
}

// Given rows of every kind of column in any order, some of which a later one replaces, then the table holds what was
// given, and the block is in the order of the table's key.
func TestABlockArrivesAsItWasGiven(t *testing.T) {
	t.Parallel()
	e := everyKind()
	db := databasetest.Empty(t, 1)
	var columns, names []string
	for _, c := range e.Columns {
		columns, names = append(columns, c.Name+" "+string(c.kind.name)), append(names, c.Name)
	}
	create := "CREATE TABLE every_kind (tenant String, project String, id String, row_version UInt64, deleted Bool, at DateTime64(6), " + strings.Join(columns, ", ") +
		", src_partition UInt32, src_offset UInt64, batch_first UInt64, key_hash UInt32, content_hash UInt64, moved Bool) ENGINE = MergeTree ORDER BY (tenant, project, id)"
	if err := db.Exec(t.Context(), database.Statement{SQL: create}); err != nil {
		t.Fatal(err)
	}
	block, checks := e.NewBlock(), uint64(0)
	rapid.Check(t, func(t *rapid.T) {
		checks++
		block.Reset()
		want, latest := map[string]string{}, map[string]uint32{}
		for n := range uint64(rapid.IntRange(1, 10).Draw(t, "rows")) {
			row := Row{
				Tenant: rapid.SampledFrom([]string{"a", strings.Repeat("t", 200)}).Draw(t, "tenant"), Project: rapid.SampledFrom([]string{"", "P"}).Draw(t, "project"),
				ID: rapid.SampledFrom([]string{"1", "22", "1234567890", "1234567899", "3" + strings.Repeat("0", 119)}).Draw(t, "id"), Version: n + 1, Deleted: rapid.Bool().Draw(t, "deleted"), At: time.UnixMicro(int64(n)),
				SrcOffset: n << 40, KeyHash: uint32(n) << 20, ContentHash: n << 50, Moved: rapid.Bool().Draw(t, "moved"),
			}
			payload := &every{}
			if rapid.IntRange(0, 4).Draw(t, "without") > 0 {
				payload = drawEvery(t)
				row.Data = payload
			}
			key := fmt.Sprintf("%s|%s|%s", row.Tenant, row.Project, row.ID)
			if before, ok := latest[key]; ok {
				block.Drop(before)
			}
			latest[key] = block.Append(&row)
			want[key] = inJSON(t, append([]any{row.Version, row.Deleted, row.At.UTC().Format("2006-01-02 15:04:05.000000"), row.SrcOffset, row.KeyHash, row.ContentHash, row.Moved}, payload.said()...))
		}
		block.Sort()
		if block.Rows() != len(want) {
			t.Fatalf("%d rows, want %d", block.Rows(), len(want))
		}
		inOrder(t, block)
		params := database.Params{"partition": "3", "first": fmt.Sprint(checks)}
		if n, err := db.Insert(context.Background(), database.Statement{SQL: e.Insert("1"), Batch: block.Batch(), Params: params}); err != nil || n != uint64(len(want)) {
			t.Fatalf("%d rows written, %v", n, err)
		}
		got := map[string]string{}
		read := "SELECT concat(tenant, '|', project, '|', id), formatRowNoNewline('JSONCompactEachRow', row_version, deleted, at, src_offset, key_hash, content_hash, moved, " +
			strings.Join(names, ", ") + ") FROM every_kind WHERE batch_first = {first:UInt64} AND src_partition = 3"
		err := db.Rows(context.Background(), database.Query{SQL: read, Params: params}, func(scan func(...any) error) error {
			var key, row string
			err := scan(&key, &row)
			var values []any
			d := json.NewDecoder(strings.NewReader(row))
			d.UseNumber()
			if err == nil {
				err = d.Decode(&values)
			}
			got[key] = inJSON(t, values)
			return err
		})
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d rows are there, want %d, %v", len(got), len(want), err)
		}
		for key := range want {
			if got[key] != want[key] {
				t.Fatalf("%s is stored as\n%s\ngiven was\n%s", key, got[key], want[key])
			}
		}
	})
}

func inJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inOrder decodes the keys as they are sent.
func inOrder(t *rapid.T, b *Block) {
	var key [3]proto.ColStr
	for i, w := range []*wire{b.tenant, b.project, b.id} {
		var buffer proto.Buffer
		w.EncodeColumn(&buffer)
		if err := key[i].DecodeColumn(proto.NewReader(bytes.NewReader(buffer.Buf)), b.Rows()); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < b.Rows(); i++ {
		if cmp.Or(cmp.Compare(key[0].Row(i-1), key[0].Row(i)), cmp.Compare(key[1].Row(i-1), key[1].Row(i)), cmp.Compare(key[2].Row(i-1), key[2].Row(i))) > 0 {
			t.Fatalf("row %d stands before row %d", i-1, i)
		}
	}
}

// A block is used again and again: nothing of a batch stays in it.
func TestABlockThatWasResetIsAsGoodAsNew(t *testing.T) {
	e := Of(events.Records)
	fill := func(b *Block, seed, rows int) []byte {
		for i := range rows {
			r := &events.Record{Source: fmt.Sprint(seed, i), InvoiceNumber: events.Some(strings.Repeat("n", i)), Allocations: make([]events.RecordAllocation, i%3)}
			b.Append(&Row{Tenant: "t", ID: fmt.Sprint("id", seed, rows-i), Data: r, Version: uint64(i)})
		}
		b.Drop(0)
		b.AppendPosition(int32(seed), uint64(rows+1), -1, time.Unix(1, 0))
		for i := range rows {
			b.AddDelta(0, []byte("t"), []byte("P"), [][]byte{[]byte("C"), fmt.Append(nil, "node", i), nil, nil}, []int64{int64(i), 1, 2, 3})
		}
		b.Sort()
		var sent proto.Buffer
		for _, c := range b.Batch() {
			c.Data.EncodeColumn(&sent)
		}
		return sent.Buf
	}
	used := e.NewBlock()
	fill(used, 1, 40)
	used.Reset()
	if used.Rows() != 0 || used.Bytes() != 0 || used.Deltas() != 0 {
		t.Fatalf("%d rows, %d bytes, %d deltas are left", used.Rows(), used.Bytes(), used.Deltas())
	}
	if !slices.Equal(fill(used, 2, 10), fill(e.NewBlock(), 2, 10)) {
		t.Error("a block that was used before sends something else")
	}
}
