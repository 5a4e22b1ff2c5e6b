package clickhousetest_test

import (
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) { clickhousetest.Main(m) }

func TestEachDatabaseIsItsOwn(t *testing.T) {
	addr, first := clickhousetest.Database(t)
	again, second := clickhousetest.Database(t)
	if addr != again {
		t.Fatalf("two engines, %s and %s, where one was due", addr, again)
	}
	if first == second {
		t.Fatalf("both databases are named %s", first)
	}
	if err := clickhousetest.Engine(t).Healthy(); err != nil {
		t.Fatal(err)
	}
}
