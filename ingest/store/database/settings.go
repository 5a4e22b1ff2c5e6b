package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/ClickHouse/clickhouse-go/v2"

	schema "tallyhouse/schemas/clickhouse"
)

// leastVersion is the oldest release of ClickHouse whose inserts behave as the protocol needs, by its first number.
const leastVersion = 26

// insertSettings are the settings that the protocol relies on (docs/architecture.md): a batch becomes one block in the
// state table and one in each view, the state table first; nothing is deduplicated, merged on the way or ignored.
func insertSettings() map[string]string {
	const unlimited = "100000000" // rows: above rows x contributions of the largest batch
	all := map[string]string{
		"async_insert":                                         "0",
		"max_threads":                                          "1",
		"max_insert_threads":                                   "1",
		"parallel_view_processing":                             "0",
		"use_strict_insert_block_limits":                       "0",
		"max_block_size":                                       unlimited,
		"max_insert_block_size":                                unlimited,
		"min_insert_block_size_rows":                           unlimited,
		"min_insert_block_size_rows_for_materialized_views":    unlimited,
		"min_insert_block_size_bytes":                          "0",
		"min_insert_block_size_bytes_for_materialized_views":   "0",
		"preferred_block_size_bytes":                           "0",
		"wait_for_part_commit_in_dependent_materialized_views": "1",
		"deduplicate_insert":                                   "disable",
		"deduplicate_insert_select":                            "disable",
		"optimize_on_insert":                                   "0",
		"materialized_views_ignore_errors":                     "0",
		"join_use_nulls":                                       "0",
		"final":                                                "0",
		"date_time_overflow_behavior":                          "throw",
		"receive_timeout":                                      "5",
		"insert_quorum":                                        "auto", // the majority of the replicas; others have none
	}
	maps.Copy(all, schema.WholeSettings())
	return all
}

// scanSettings are those of large reads: few threads, small blocks.
func scanSettings() map[string]string {
	all := schema.WholeSettings()
	all["max_threads"], all["max_block_size"] = "2", "8192"
	return all
}

// controlSettings are those of all other statements.
func controlSettings() clickhouse.Settings {
	all := clickhouse.Settings{"join_use_nulls": 0, "final": 0, "async_insert": 0}
	for name, value := range schema.WholeSettings() {
		all[name] = value
	}
	return all
}

// settings are sent with a statement that ch-go runs: a server that does not know one refuses the statement.
func settings(of map[string]string, limit time.Duration) []ch.Setting {
	all := make([]ch.Setting, 0, len(of)+1)
	for k, v := range of {
		all = append(all, ch.Setting{Key: k, Value: v, Important: true})
	}
	return append(all, ch.Setting{Key: "max_execution_time", Value: strconv.Itoa(seconds(limit)), Important: true})
}

const effectiveSettings = `SELECT name, value FROM system.settings WHERE name IN {names:Array(String)}`

// CheckSettings finds out whether the server is new enough and whether the settings that every insert is sent with are
// taken and take effect: a profile or a constraint may refuse, change or ignore them. It reports all that is wrong at
// once.
func (s *Server) CheckSettings(ctx context.Context) error {
	var version string
	if err := s.Row(ctx, Query{SQL: "SELECT version()"}, &version); err != nil {
		if refusal := (*clickhouse.Exception)(nil); errors.As(err, &refusal) {
			return s.refusedSettings(err)
		}
		return fmt.Errorf("ask ClickHouse at %s for its version: %w", s.Addr(), err)
	}
	if err := checkVersion(s.Addr(), version); err != nil {
		return err
	}
	const limit = 10 * time.Second
	wanted := insertSettings()
	wanted["max_execution_time"] = fmt.Sprint(seconds(limit))
	effective, err := s.effective(ctx, slices.Collect(maps.Keys(wanted)), limit)
	if err != nil {
		return s.refusedSettings(err)
	}
	return errors.Join(differences(fmt.Sprintf("ClickHouse at %s", s.Addr()), s.options.User, wanted, effective)...)
}

func (s *Server) refusedSettings(err error) error {
	return fmt.Errorf("ClickHouse at %s refuses the settings that statements rely on, for user %q: %w; "+
		"give the user a profile that is not readonly and has no constraints on them", s.Addr(), s.options.User, err)
}

// differences are the settings that don't have the value that was asked for.
func differences(server, user string, wanted, effective map[string]string) (wrong []error) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch value, ok := effective[name]; {
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s does not know the setting %s: use release %d or newer", server, name, leastVersion))
		case value != wanted[name]:
			wrong = append(wrong, fmt.Errorf("%s runs with %s = %s where %s was asked for: take the constraint on it "+
				"from the profile of user %q", server, name, value, wanted[name], user))
		}
	}
	if value := effective["readonly"]; value != "0" {
		wrong = append(wrong, fmt.Errorf("%s lets user %q only read (readonly = %s): use a user that may write", server, user, value))
	}
	return wrong
}

func checkVersion(addr, version string) error {
	var first int
	if _, err := fmt.Sscanf(version, "%d.", &first); err != nil {
		return fmt.Errorf("ClickHouse at %s has version %q, which names no release: use release %d or newer", addr, version, leastVersion)
	}
	if first < leastVersion {
		return fmt.Errorf("ClickHouse at %s has version %s: use release %d or newer", addr, version, leastVersion)
	}
	return nil
}

// effective are the values of settings in a query that is sent with those of an insert.
func (s *Server) effective(ctx context.Context, names []string, limit time.Duration) (map[string]string, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+grace)
	defer stop()
	client, err := s.writers.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var name, value proto.ColStr
	found := map[string]string{}
	err = client.Do(ctx, ch.Query{
		Body:       effectiveSettings,
		Parameters: parameters(Params{"names": "['" + strings.Join(append(names, "readonly"), "','") + "']"}),
		Settings:   settings(insertSettings(), limit),
		Result:     proto.Results{{Name: "name", Data: &name}, {Name: "value", Data: &value}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range name.Rows() {
				found[name.Row(i)] = value.Row(i)
			}
			return nil
		},
	})
	return found, err
}
