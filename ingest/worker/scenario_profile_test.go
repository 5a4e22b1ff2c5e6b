package worker

import (
	"fmt"
	"strings"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/deploy/embedded/kafka/kafkatest"
	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// Given a user whose profile changes what statements mean, then all of it goes on as it should: an insert that tears, its mend, moves,
// heads that are loaded, a rebuild.
func TestScenarioAProfileThatChangesWhatStatementsMean(t *testing.T) {
	t.Parallel()
	engine := clickhousetest.Start(t)
	var profile strings.Builder
	for setting, value := range map[string]string{
		"extremes": "1", "output_format_native_encode_types_in_binary_format": "1", "aggregate_functions_null_for_empty": "1",
		"empty_result_for_aggregation_by_empty_set": "1", "enable_analyzer": "0", "prefer_column_name_to_alias": "1",
		"data_type_default_nullable": "1", "group_by_use_nulls": "1", "transform_null_in": "1", "join_use_nulls": "1", "final": "1",
	} {
		fmt.Fprintf(&profile, "<%s>%s</%[1]s>", setting, value)
	}
	if err := engine.RestartWith(profile.String()); err != nil {
		t.Fatal(err)
	}
	s := newScenarioOn(t, engine.Addr(), "default", kafkatest.Start(t).Addr())
	s.writeThroughTroubles()
	s.check(s.model)
	s.exec("INSERT INTO sums (tenant, project, keys, amount2) SELECT tenant, project, keys, 1000 FROM sums WHERE roll = 'lines'")
	if _, err := admin.Rebuild(t.Context(), s.db, []*store.Entity{store.Of(events.Records)}, s.adminOptions()); err != nil {
		t.Fatal(err)
	}
	s.check(s.model)
}

// writeThroughTroubles tears an insert, moves an entity and has another member take over, in several partitions.
func (s *scenario) writeThroughTroubles() {
	s.t.Helper()
	messages := someRecords(8)
	s.exec("INSERT INTO bomb VALUES ('records')")
	s.send(messages[:6]...)
	a := s.join("a")
	failed := a.db.failure()
	a.assign(0, 1, 2)
	s.awaitEvent("the insert fails", failed)
	s.exec("TRUNCATE TABLE bomb")
	s.awaitAll(6)
	for p, n := range map[int32]int{1: 3, 2: 2} {
		for _, id := range ids(p, n) {
			s.send(record(id, 1, nil))
		}
		s.await("another partition is written", func() bool { return s.reached(p, uint64(n)) })
	}
	s.send(messages[6], record(ids(0, 7)[6], 2, map[string]any{"projectId": "P2"}))
	s.awaitAll(8)
	a.crash()
	b := s.join("b")
	b.assign(0, 1, 2)
	s.send(versions(8, 3)...)
	s.awaitAll(16)
}
