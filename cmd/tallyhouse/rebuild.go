package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/worker/fence"
)

func rebuildCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "rebuild VIEW",
		GroupID: groupCare,
		Short:   "Correct a roll-up from its table",
		Long: "Makes a roll-up hold exactly what a recomputation gives: adds, range by range, what it lacks or has too much. Readers go on meanwhile,\n" +
			"writers of the topic are kept out. It can be interrupted at any point and run again.",
		Example: "  tallyhouse rebuild record_sums",
		Args:    cobra.ExactArgs(1),
	}
	to := connectionFlags(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		shards, stop, err := s.currentDatabases(cmd.Context(), to)
		if err != nil {
			return err
		}
		defer stop()
		o := admin.Options{Holder: fence.NewHolder("tallyhouse rebuild"), Log: s.log, Progress: s.progress()}
		for _, shard := range shards {
			r, err := admin.Rebuild(cmd.Context(), shard, args[0], o)
			if err != nil {
				return fmt.Errorf("rebuild %s at %s: %w", args[0], shard.Addr(), err)
			}
			fmt.Fprintf(s.out, "%s at %s: %d of %d ranges were corrected\n", r.View, shard.Addr(), r.Corrected, r.Ranges)
		}
		return nil
	}
	return cmd
}
