package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// plainFault says of a flag's value that can't be what it must be, instead of how reading it failed.
func plainFault(err error) error {
	invalid, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	flag, must := invalid.GetFlag(), ""
	switch kind := flag.Value.Type(); {
	case kind == "int", kind == "int64":
		must = "a whole number"
	case kind == "duration":
		must = "a time like 90s, 15m or 6h"
	case kind == "bool":
		must = "true or false"
	case flag.Name == levelFlag:
		must = "DEBUG, INFO, WARN or ERROR"
	}
	switch {
	case must == "":
		return err
	case errors.Is(err, strconv.ErrRange):
		return fmt.Errorf("--%s is beyond what a number can be: %q", flag.Name, invalid.GetValue())
	}
	return fmt.Errorf("--%s must be %s, not %q", flag.Name, must, invalid.GetValue())
}

// none wants no argument, of a command that has no others below it.
func none(cmd *cobra.Command, given []string) error {
	if len(given) > 0 {
		return fmt.Errorf("`%s` takes no argument, but has %q", cmd.CommandPath(), given[0])
	}
	return nil
}

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
