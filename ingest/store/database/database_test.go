package database

import (
	"strconv"
	"testing"
)

// What is bound arrives as it is, whatever it holds, by questions and by inserts.
func TestAnyTextCanBeBound(t *testing.T) {
	s := opened(t, 1)
	if err := s.Exec(t.Context(), Statement{SQL: "CREATE TABLE texts (n UInt32, v String) ENGINE = MergeTree ORDER BY n"}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"", "plain", `it's "quoted"`, `\`, `back\slash\n\0\'`, "tab\tnew\nline\rnul\x00bell\b\f", "🏗 ümläut", `\N`, "NULL", "{x:String}", "%s", "'; DROP TABLE texts --"} {
		p := Params{"v": Text(text)}
		var asked string
		if err := s.Row(t.Context(), Query{SQL: "SELECT {v:String}", Params: p}, &asked); err != nil || asked != text {
			t.Errorf("asked with %q, got %q, %v", text, asked, err)
		}
		if _, err := s.Insert(t.Context(), Statement{SQL: "INSERT INTO texts SELECT {n:UInt32}, {v:String}", Params: p.With(Params{"n": strconv.Itoa(i)})}); err != nil {
			t.Errorf("insert %q: %v", text, err)
			continue
		}
		var stored string
		if err := s.Row(t.Context(), Query{SQL: "SELECT v FROM texts WHERE n = {n:UInt32}", Params: Params{"n": strconv.Itoa(i)}}, &stored); err != nil || stored != text {
			t.Errorf("inserted %q, stored %q, %v", text, stored, err)
		}
	}
}
