package database

import (
	"fmt"
	"testing"

	"github.com/ClickHouse/ch-go/proto"
)

// Given strings that a stranger may have chosen, then both clients bring them to the server as they are.
func TestTextsArriveAsTheyAre(t *testing.T) {
	s := opened(t, 1)
	for _, text := range []string{"plain", "it's", `a\b`, "line\nbreak\ttab\rreturn", `\n`, "ä €", "'); DROP TABLE x; --", "\x00", ""} {
		q := Query{SQL: "SELECT {one:String} AS one, {all:Array(String)}[1] AS first", Params: Params{"one": Text(text), "all": Texts([]string{text})}}
		var one, first string
		if err := s.Row(t.Context(), q, &one, &first); err != nil || one != text || first != text {
			t.Errorf("%q is asked for as %q and %q, %v", text, one, first, err)
		}
		var ones, firsts proto.ColStr
		got := ""
		err := s.Scan(t.Context(), q, proto.Results{{Name: "one", Data: &ones}, {Name: "first", Data: &firsts}}, func() error {
			for i := range ones.Rows() {
				got += fmt.Sprintf("%q %q", ones.Row(i), firsts.Row(i))
			}
			return nil
		})
		if want := fmt.Sprintf("%q %q", text, text); err != nil || got != want {
			t.Errorf("%q is scanned as %s, %v", text, got, err)
		}
	}
}
