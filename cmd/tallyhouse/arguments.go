package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// one wants exactly one argument, by the name that the command's usage has for it.
func one(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		if len(given) != 1 {
			return fmt.Errorf("give one %s, not %d", name, len(given))
		}
		return nil
	}
}

// oneOrMore wants at least one argument, by the name that the command's usage has for it.
func oneOrMore(name string) cobra.PositionalArgs {
	return func(_ *cobra.Command, given []string) error {
		if len(given) == 0 {
			return fmt.Errorf("give at least one %s", name)
		}
		return nil
	}
}
