package clickhousetest_test

import (
	"testing"
	"time"

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

func TestAKilledEngineIsRestarted(t *testing.T) {
	// given an engine
	engine := clickhousetest.Start(t)
	// when it is killed
	engine.Kill()
	// then that shows at once, and it serves again
	if engine.Healthy() == nil && engine.Restarts() == 0 {
		t.Error("the engine lives")
	}
	for deadline := time.Now().Add(time.Minute); engine.Healthy() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(engine.Healthy())
		}
	}
	if restarts := engine.Restarts(); restarts != 1 {
		t.Errorf("%d restarts, 1 was due", restarts)
	}
}
