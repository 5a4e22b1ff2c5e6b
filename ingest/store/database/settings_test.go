package database

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	schema "tallyhouse/schemas/clickhouse"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

// opened is a server with an empty database, and as many connections for inserts.
func opened(t *testing.T, inserts int) *Server {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	s, err := Open(Options{Addr: addr, Database: name, User: "default"}, inserts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestTheSettingsOfAnInsertTakeEffect(t *testing.T) {
	s := opened(t, 1)
	if err := s.CheckSettings(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// What a newer release can cut short is known here, too.
func TestEveryWayToEndEarlyIsClosed(t *testing.T) {
	s := opened(t, 1)
	err := s.Rows(t.Context(), Query{SQL: "SELECT name FROM system.settings WHERE name LIKE '%overflow_mode%'"}, func(scan func(...any) error) error {
		var name string
		err := scan(&name)
		if schema.WholeSettings()[name] != "throw" {
			t.Errorf("%s is not sent", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// profiled is an engine of its own whose users have more in their profile.
func profiled(t *testing.T, profile string) *Server {
	t.Helper()
	engine := clickhousetest.Start(t)
	s, err := Open(Options{Addr: engine.Addr(), Database: "default", User: "default"}, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Exec(t.Context(), Statement{SQL: "CREATE TABLE ten (i UInt64) ENGINE = MergeTree ORDER BY i"}); err != nil {
		t.Fatal(err)
	}
	if err := engine.RestartWith(profile); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAProfileCutsNothingShort(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		profile string
		fails   bool // rather than being cut short
	}{
		"limits and filters": {"<limit>5</limit><offset>1</offset><additional_result_filter>rowNumberInAllBlocks() = 3</additional_result_filter>" +
			"<additional_table_filters>{'ten': 'i = 3'}</additional_table_filters>", false},
		"rows to read": {"<max_rows_to_read>1</max_rows_to_read><read_overflow_mode>break</read_overflow_mode>", true},
		"result rows":  {"<max_result_rows>1</max_result_rows><result_overflow_mode>break</result_overflow_mode>", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := profiled(t, tc.profile)
			whole := func(did string, rows int, err error) {
				t.Helper()
				if rows != 10 && (!tc.fails || err == nil) || rows == 10 && err != nil {
					t.Errorf("%d rows of 10 are %s, %v", rows, did, err)
				}
			}
			n, err := s.Insert(t.Context(), Statement{SQL: "INSERT INTO ten SELECT arrayJoin([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])"})
			whole("inserted", int(n), err)
			const read = "SELECT i FROM ten"
			rows := 0
			err = s.Rows(t.Context(), Query{SQL: read}, func(func(...any) error) error { rows++; return nil })
			whole("read", rows, err)
			var column proto.ColUInt64
			scanned := 0
			err = s.Scan(t.Context(), Query{SQL: read}, proto.Results{{Name: "i", Data: &column}}, func() error { scanned += column.Rows(); return nil })
			whole("scanned", scanned, err)
		})
	}
}

func TestAProfileThatInsistsIsRefused(t *testing.T) {
	t.Parallel()
	for setting, value := range map[string]string{"limit": "1", "timeout_overflow_mode": "break", "max_insert_threads": "8"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			s := profiled(t, fmt.Sprintf("<%s>%s</%[1]s><constraints><%[1]s><readonly/></%[1]s></constraints>", setting, value))
			if err := s.CheckSettings(t.Context()); err == nil || !strings.Contains(err.Error(), setting) || !strings.Contains(err.Error(), "profile") {
				t.Errorf("a profile that insists on %s = %s: %v", setting, value, err)
			}
			if n, err := s.Insert(t.Context(), Statement{SQL: "INSERT INTO ten SELECT 1"}); err == nil {
				t.Errorf("it writes %d rows nevertheless", n)
			}
		})
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
		{"one that tears a batch", func(e map[string]string) { e["timeout_overflow_mode"] = "break" }, "timeout_overflow_mode = break where throw"},
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
