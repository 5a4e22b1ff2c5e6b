package database

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	schema "tallyhouse/schemas/clickhouse"
)

// Given a user whose profile says the contrary of all that an insert depends on, then what it is sent with counts.
func TestNoProfileChangesWhatAnInsertDependsOn(t *testing.T) {
	t.Parallel()
	settings := map[string]struct{ sent, profile string }{
		// A batch is one block of its table and one of each view, the table's first.
		"async_insert":                                         {"0", "1"},
		"max_threads":                                          {"1", ""}, // the engine's own profile has more
		"max_insert_threads":                                   {"1", "4"},
		"parallel_view_processing":                             {"0", "1"},
		"use_strict_insert_block_limits":                       {"0", "1"},
		"max_block_size":                                       {"100000000", "1000"},
		"max_insert_block_size":                                {"100000000", "1000"},
		"min_insert_block_size_rows":                           {"100000000", "1000"},
		"min_insert_block_size_rows_for_materialized_views":    {"100000000", "1000"},
		"min_insert_block_size_bytes":                          {"0", "1000"},
		"min_insert_block_size_bytes_for_materialized_views":   {"0", "1000"},
		"preferred_block_size_bytes":                           {"0", "1000"},
		"wait_for_part_commit_in_dependent_materialized_views": {"1", "0"},
		// Nothing of it is left out, merged or changed on the way.
		"deduplicate_insert":               {"disable", "enable"},
		"deduplicate_insert_select":        {"disable", "force_enable"},
		"optimize_on_insert":               {"0", "1"},
		"materialized_views_ignore_errors": {"0", "1"},
		"date_time_overflow_behavior":      {"throw", "saturate"},
		// Its conditions are what they say.
		"join_use_nulls": {"0", "1"},
		"final":          {"0", "1"},
		// It is over in time, and on the majority of the replicas.
		"receive_timeout":    {"5", "300"},
		"max_execution_time": {"7", "0"},
		"insert_quorum":      {"auto", "0"},
	}
	var profile strings.Builder
	var names []string
	for name, s := range settings {
		if s.profile != "" {
			fmt.Fprintf(&profile, "<%s>%s</%[1]s>", name, s.profile)
		}
		names = append(names, name)
	}
	effective, err := profiled(t, profile.String()).effective(t.Context(), names, 7*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range settings {
		if effective[name] != s.sent {
			t.Errorf("%s is %q, want %q", name, effective[name], s.sent)
		}
	}
	for name := range insertSettings() {
		if _, whole := schema.WholeSettings()[name]; !whole && !slices.Contains(names, name) {
			t.Errorf("nobody tries what becomes of %s", name)
		}
	}
}
