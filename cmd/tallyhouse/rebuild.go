package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/worker/fence"
	"tallyhouse/schemas/clickhouse"
)

func rebuildCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rebuild ROLL|TABLE|all ...",
		GroupID: groupCare,
		Short:   "Correct sums from their table",
		Long: "Makes the sums of a table hold exactly what its rows contribute: adds, project by project, what they lack or have too much. Readers\n" +
			"go on meanwhile, writers of the topic are kept out. It can be interrupted at any point; until it is run again, to its end,\n" +
			"nobody writes to the table. A roll is rebuilt together with the others of its table, and all are when the server detached a\n" +
			"part of the sums as broken.\n\n" + rollsOfTables(),
		Example: "  tallyhouse rebuild lines\n  tallyhouse rebuild all",
		Args:    cobra.MinimumNArgs(1),
	}
	to := connectionFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		entities, err := contributors(args)
		if err != nil {
			return err
		}
		shards, stop, err := s.currentDatabases(cmd.Context(), to)
		if err != nil {
			return err
		}
		defer stop()
		s.limitMemory(recomputeMemory)
		o := admin.Options{Holder: fence.NewHolder("tallyhouse rebuild"), Shards: len(shards), Log: s.log, Progress: s.progress()}
		for i, shard := range shards {
			o.Shard = i
			all, err := admin.Rebuild(cmd.Context(), shard, entities, o)
			for _, r := range all {
				fmt.Fprintf(s.out, "%s at %s: %d sums were corrected\n", r.Table, shard.Addr(), r.Corrected)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", shard.Addr(), err)
			}
		}
		return nil
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
			return nil, fmt.Errorf("there is no roll or table %q. %s", name, rollsOfTables())
		}
	}
	return entities, nil
}
