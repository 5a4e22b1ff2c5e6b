package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/clickhouse"
)

func rebuildCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rebuild ROLL|TABLE|all ...",
		GroupID: groupCare,
		Short:   "Correct sums from their table",
		Long: "Makes the sums of a table hold exactly what its rows contribute: adds, project by project, what they lack or have\n" +
			"too much. Readers go on meanwhile, writers of the topic are kept out. It can be interrupted at any point; until it\n" +
			"is run again, to its end, nobody writes to the table. A roll is rebuilt together with the others of its table, and\n" +
			"all are when the server detached a part of the sums as broken.\n\n" + rollsOfTables(),
		Example: "  tallyhouse rebuild lines\n  tallyhouse rebuild all",
		Args:    oneOrMore("ROLL or TABLE, or all"),
	}
	to := connectionFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		entities, err := contributors(args)
		if err != nil {
			return err
		}
		servers, err := to.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		shards, stop, err := s.openShards(cmd.Context(), servers, "rebuild")
		if err != nil {
			return err
		}
		defer stop()
		return s.rebuild(shards, func(shard shard) ([]admin.Rebuilt, error) {
			return admin.Rebuild(cmd.Context(), shard, entities, shard.work)
		})
	}
	return cmd
}

// rollsOfTables lists the rolls that there are.
func rollsOfTables() string {
	text := "Tables and their rolls:\n"
	for _, e := range store.All() {
		var rolls []string
		for _, id := range e.Rolls() {
			rolls = append(rolls, id.Roll().Name)
		}
		if len(rolls) > 0 {
			text += fmt.Sprintf("  %-17s %s\n", e.Table, strings.Join(rolls, ", "))
		}
	}
	return strings.TrimSuffix(text, "\n")
}

// contributors are the entities whose sums are named, by a roll, a table, or all.
func contributors(names []string) (entities []*store.Entity, err error) {
	for _, name := range names {
		found := false
		for _, e := range store.All() {
			isRoll := slices.ContainsFunc(e.Rolls(), func(id clickhouse.RollID) bool { return id.Roll().Name == name })
			if !e.Contributes() || name != "all" && name != e.Table && !isRoll {
				continue
			}
			found = true
			if !slices.ContainsFunc(entities, func(other *store.Entity) bool { return other.Table == e.Table }) {
				entities = append(entities, e)
			}
		}
		if !found {
			return nil, usageError{fmt.Errorf("there is no roll or table %q. %s", name, rollsOfTables())}
		}
	}
	return entities, nil
}
