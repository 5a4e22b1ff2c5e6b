package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"tallyhouse/api/export"
	"tallyhouse/schemas/jsonschema"
	"tallyhouse/schemas/jsontext"
)

// thing is the schema of objects with members of every kind.
func thing() *jsonschema.Schema {
	text := &jsonschema.Schema{Type: "string"}
	amount := jsonschema.Reference("#/", jsonschema.Definition{Name: "Amount", Schema: object("value", &jsonschema.Schema{Type: "integer"}, "currency", text)})
	s := object(
		"id", text,
		"name", text.OrNull(),
		"day", (&jsonschema.Schema{Type: "string", Format: "date"}).OrNull(),
		"at", (&jsonschema.Schema{Type: "string", Format: "date-time"}).OrNull(),
		"net", amount.OrNull(),
		"other", object("id", text.OrNull(), "count", &jsonschema.Schema{Type: "integer"}).OrNull(),
		"list", &jsonschema.Schema{Type: "array", Items: text},
		"flag", &jsonschema.Schema{Type: "boolean"},
	)
	s.Required = []string{"id"}
	return s
}

func object(members ...any) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: &jsonschema.Properties{}}
	for i := 0; i < len(members); i += 2 {
		s.Properties.Add(members[i].(string), members[i+1].(*jsonschema.Schema))
	}
	return s
}

var members = []string{"id", "name", "day", "at", "net", "other", "list", "flag"}

func columns(t require, members []string) []export.Column {
	t.Helper()
	all, err := export.Columns(thing(), members)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

type require interface {
	Helper()
	Fatal(args ...any)
}

// file writes objects and the end.
func file(t require, f export.Format, d export.Dialect, columns []export.Column, objects ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := export.NewWriter(f, d, columns, &out)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if err := w.Write([]byte(o)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(export.End{Records: int64(len(objects)), Cursor: "sealed"}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestColumnsFollowTheSchema(t *testing.T) {
	want := []export.Column{
		{"id", export.Text, true}, {"name", export.Text, false}, {"day", export.Date, false}, {"at", export.Instant, false},
		{"net.value", export.Amount, false}, {"net.currency", export.Text, false},
		{"other.id", export.Text, false}, {"other.count", export.Integer, false},
		{"list", export.JSON, false}, {"flag", export.Flag, false},
	}
	if got := columns(t, members); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if got := columns(t, []string{"net", "id"}); !reflect.DeepEqual(got, []export.Column{want[0], want[4], want[5]}) {
		t.Errorf("some members: %v", got)
	}
}

const full = `{"id":"1","name":"a,\"b\"; c\nd","day":"2026-05-12","at":"2026-05-12T09:00:00.5Z","net":{"value":-123456,"currency":"EUR"},` +
	`"other":{"id":null,"count":7},"list":["x","y"],"flag":true}`

func TestFormatsShowTheSame(t *testing.T) {
	all, empty := columns(t, members), `{"id":"2","name":"","day":null,"at":null,"net":null,"other":null,"list":[],"flag":false}`
	for _, c := range []struct {
		name    string
		format  export.Format
		dialect export.Dialect
		want    string
	}{
		{"NDJSON", export.NDJSON, export.Plain, full + "\n" + empty + "\n" + `{"end":{"records":2,"cursor":"sealed"}}` + "\n"},
		{"CSV", export.CSV, export.Plain, "id,name,day,at,net.value,net.currency,other.id,other.count,list,flag\r\n" +
			`1,"a,""b""; c` + "\n" + `d",2026-05-12,2026-05-12T09:00:00.5Z,-123456,EUR,,7,"[""x"",""y""]",true` + "\r\n" +
			`2,"",,,,,,,[],false` + "\r\n"},
		{"Excel", export.CSV, export.ExcelDE, "\uFEFFid;name;day;at;net;net.currency;other.id;other.count;list;flag\r\n" +
			`1;"a,""b""; c` + "\n" + `d";2026-05-12;2026-05-12T09:00:00.5Z;-1234,56;EUR;;7;"[""x"",""y""]";true` + "\r\n" +
			`2;"";;;;;;;[];false` + "\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := file(t, c.format, c.dialect, all, full, empty); string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestParquetHasTypesAndItsEndInTheFooter(t *testing.T) {
	empty := `{"id":"2","name":null,"day":null,"at":null,"net":null,"other":null,"list":[],"flag":false}`
	whole := file(t, export.Parquet, export.Plain, columns(t, members), full, empty)
	read, err := parquet.OpenFile(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"tallyhouse.records": "2", "tallyhouse.cursor": "sealed"} {
		if got, _ := read.Lookup(key); got != want {
			t.Errorf("%s is %q", key, got)
		}
	}
	want := `message records {
	required binary id (STRING);
	optional binary name (STRING);
	optional int32 day (DATE);
	optional int64 at (TIMESTAMP(isAdjustedToUTC=true,unit=MICROS));
	optional int64 net.value (INT(64,true));
	optional binary net.currency (STRING);
	optional binary other.id (STRING);
	optional int64 other.count (INT(64,true));
	optional binary list (JSON);
	optional boolean flag;
}`
	if got := read.Schema().String(); got != want {
		t.Errorf("the schema is %s", got)
	}
	rows := make([]parquet.Row, 3)
	n, err := read.RowGroups()[0].Rows().ReadRows(rows)
	if n != 2 || err != nil && err != io.EOF {
		t.Fatal(n, err)
	}
	show := func(row parquet.Row) (all []string) {
		for _, v := range row {
			all = append(all, v.String())
		}
		return all
	}
	if got := strings.Join(show(rows[0]), "|"); got !=
		"1|a,\"b\"; c\nd|20585|1778576400500000|-123456|EUR|<null>|7|[\"x\",\"y\"]|true" {
		t.Errorf("got %s", got)
	}
	if got := strings.Join(show(rows[1]), "|"); got != "2|<null>|<null>|<null>|<null>|<null>|<null>|<null>|[]|false" {
		t.Errorf("got %s", got)
	}
	// And a file that was broken off anywhere is none.
	for _, size := range []int{len(whole) - 1, len(whole) / 2, 10} {
		if _, err := parquet.OpenFile(bytes.NewReader(whole[:size]), int64(size)); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a file", size, len(whole))
		}
	}
}

func TestExcelShowsAmountsInWholeUnits(t *testing.T) {
	for _, c := range []struct{ value, currency, want string }{
		{"0", "EUR", "0,00"}, {"5", "EUR", "0,05"}, {"-5", "EUR", "-0,05"}, {"50", "EUR", "0,50"}, {"-12345", "CHF", "-123,45"},
		{"9007199254740991", "EUR", "90071992547409,91"}, {"123", "JPY", "123"}, {"1", "KWD", "0,001"}, {"7", "XX?", "0,07"}, {"120000", "RSD", "1200,00"},
	} {
		row := fmt.Sprintf(`{"id":"1","net":{"value":%s,"currency":%q}}`, c.value, c.currency)
		got := string(file(t, export.CSV, export.ExcelDE, columns(t, []string{"id", "net"}), row))
		if want := "\uFEFFid;net;net.currency\r\n1;" + c.want + ";" + c.currency + "\r\n"; got != want {
			t.Errorf("%s %s: %q", c.value, c.currency, got)
		}
	}
}

func TestExcelMeetsNoFormula(t *testing.T) {
	for given, want := range map[string]string{
		"=1+1": "'=1+1", "+43 1": "'+43 1", "-x": "'-x", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠1": "'＠1",
		"a=1": "a=1", "RE-1": "RE-1", "": "", " =1": " =1", `=cmd|'/C calc'!"A0"`: `'=cmd|'/C calc'!"A0"`,
	} {
		row := `{"id":` + string(jsontext.AppendString(nil, given)) + `}`
		read := func(d export.Dialect, comma rune) string {
			r := csv.NewReader(bytes.NewReader(file(t, export.CSV, d, columns(t, []string{"id"}), row)))
			r.Comma = comma
			lines, err := r.ReadAll()
			if err != nil || len(lines) != 2 {
				t.Fatalf("%q: %q, %v", given, lines, err)
			}
			return lines[1][0]
		}
		if got := read(export.ExcelDE, ';'); got != want {
			t.Errorf("%q is written as %q", given, got)
		}
		if got := read(export.Plain, ','); got != given {
			t.Errorf("outside of Excel %q is written as %q", given, got)
		}
	}
}

// TestAnyTextSurvives writes texts of all kinds, and reads them as others do.
func TestAnyTextSurvives(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id, name := rapid.String().Draw(t, "id"), rapid.String().Draw(t, "name")
		row := append(jsontext.AppendString([]byte(`{"id":`), id), `,"name":`...)
		row = append(jsontext.AppendString(row, name), '}')
		var said struct{ ID, Name string } // what JSON makes of texts that are not UTF-8
		if err := json.Unmarshal(row, &said); err != nil {
			t.Fatal(err)
		}
		two := columns(t, []string{"id", "name"})
		r := csv.NewReader(bytes.NewReader(file(t, export.CSV, export.Plain, two, string(row))))
		lines, err := r.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		line := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") } // as the reader takes them
		if lines[1][0] != line(said.ID) || lines[1][1] != line(said.Name) {
			t.Fatalf("CSV shows %q of %q", lines[1], said)
		}
		whole := file(t, export.Parquet, export.Plain, two, string(row))
		read, err := parquet.OpenFile(bytes.NewReader(whole), int64(len(whole)))
		if err != nil {
			t.Fatal(err)
		}
		rows := make([]parquet.Row, 1)
		if n, err := read.RowGroups()[0].Rows().ReadRows(rows); n != 1 {
			t.Fatal(err)
		}
		if string(rows[0][0].ByteArray()) != said.ID || string(rows[0][1].ByteArray()) != said.Name {
			t.Fatalf("Parquet shows %v of %q", rows[0], said)
		}
	})
}

func TestWhatIsNoColumnIsRefused(t *testing.T) {
	for _, object := range []string{`{"id":"1","more":1}`, `{"id":"1"`, `{"id":"1"}x`, `[]`, ``, `{"id"}`, `{"id":}`, `{"net":7,"id":"1"}`, `{`} {
		w, err := export.NewWriter(export.CSV, export.Plain, columns(t, []string{"id", "net"}), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write([]byte(object)); err == nil {
			t.Errorf("%s is taken", object)
		}
	}
}
