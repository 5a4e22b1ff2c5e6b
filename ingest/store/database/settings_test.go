package database

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func TestTheSettingsOfAnInsertTakeEffect(t *testing.T) {
	addr, name := clickhousetest.Database(t)
	s, err := Open(Options{Addr: addr, Database: name, User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.CheckSettings(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestSettingsThatDifferAreNamed(t *testing.T) {
	as := insertSettings()
	as["readonly"] = "0"
	tests := []struct {
		name   string
		change func(map[string]string)
		want   string // "" for none
	}{
		{"all as asked for", func(map[string]string) {}, ""},
		{"one changed by a constraint", func(e map[string]string) { e["max_threads"] = "8" }, "max_threads = 8 where 1"},
		{"one unknown", func(e map[string]string) { delete(e, "deduplicate_insert_select") }, "does not know the setting deduplicate_insert_select"},
		{"a reader", func(e map[string]string) { e["readonly"] = "2" }, "only read"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			effective := maps.Clone(as)
			test.change(effective)
			err := errors.Join(differences("the server", "u", insertSettings(), effective)...)
			switch {
			case test.want == "" && err != nil:
				t.Fatal(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Fatalf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestOldReleasesAreRefused(t *testing.T) {
	for version, good := range map[string]bool{"26.1.1.1": true, "27.3": true, "25.12.1.1": false, "": false, "latest": false} {
		if err := checkVersion("here:9000", version); (err == nil) != good {
			t.Errorf("version %q: %v", version, err)
		}
	}
}
