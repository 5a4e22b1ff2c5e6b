package main

import (
	"errors"
	"fmt"
	"io"
	"os"
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
	if f.Name == "help" || f.Name == "version" || f.Hidden {
		return nil
	}
	own := variablePrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
	return append([]string{own}, f.Annotations[shortVariable]...)
}

// fileSuffix makes of a flag's variable the one that names a file which holds the value, as secrets are mounted.
const fileSuffix = "_FILE"

// maxSecret bounds what is read of such a file.
const maxSecret = 64 << 10

// fromEnvironment sets the flags that weren't given on the command line from the environment: from the variable, or
// from the file that the variable with _FILE behind it names. An empty variable is none. All faults are told at once.
func fromEnvironment(flags *pflag.FlagSet, env func(string) (string, bool)) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed {
			return
		}
		for _, name := range variables(f) {
			value, err := fromVariable(name, env)
			if err == nil && value == "" {
				continue
			}
			if err == nil {
				err = flags.Set(f.Name, value)
			}
			if err != nil {
				wrong = append(wrong, fmt.Errorf("environment variable %s: %w", name, err))
			}
			return
		}
	})
	return errors.Join(wrong...)
}

// fromVariable is the value of a variable, or of the file that is named beside it; "" when there is neither.
func fromVariable(name string, env func(string) (string, bool)) (string, error) {
	value, _ := env(name)
	file, _ := env(name + fileSuffix)
	switch {
	case file == "":
		return value, nil
	case value != "":
		return "", fmt.Errorf("%s%s is set, too: leave one of them out", name, fileSuffix)
	}
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("the file of %s%s: %w", name, fileSuffix, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("the file of %s%s: %w", name, fileSuffix, err)
	case len(text) > maxSecret:
		return "", fmt.Errorf("the file of %s%s is larger than %d bytes: %s", name, fileSuffix, maxSecret, file)
	}
	if value = strings.TrimRight(string(text), "\r\n"); value == "" {
		return "", fmt.Errorf("the file of %s%s is empty: %s", name, fileSuffix, file)
	}
	return value, nil
}

// nameVariables shows the environment variables in the flags' help.
func nameVariables(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if names := variables(f); len(names) > 0 {
			f.Usage += " [" + strings.Join(names, ", ") + "]"
		}
	})
}
