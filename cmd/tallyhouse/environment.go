package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

const (
	variablePrefix = "TALLYHOUSE_"
	// shortVariable annotates a flag with a second, shorter variable.
	shortVariable = "tallyhouse_short_variable"
)

// variables are the names of a flag's environment variables, the one that wins first.
func variables(f *pflag.Flag) []string {
	if f.Name == "help" || f.Hidden {
		return nil
	}
	own := variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	return append([]string{own}, f.Annotations[shortVariable]...)
}

// fromEnvironment sets the flags that weren't given on the command line from the environment. An empty variable is
// none.
func fromEnvironment(flags *pflag.FlagSet, env func(string) (string, bool)) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		for _, name := range variables(f) {
			value, ok := env(name)
			if !ok || value == "" {
				continue
			}
			if err := flags.Set(f.Name, value); err != nil {
				wrong = append(wrong, fmt.Errorf("environment variable %s: %w", name, err))
			}
			return
		}
	})
	return errors.Join(wrong...)
}

// nameVariables shows the environment variables in the flags' help.
func nameVariables(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if names := variables(f); len(names) > 0 {
			f.Usage += " [" + strings.Join(names, ", ") + "]"
		}
	})
}
