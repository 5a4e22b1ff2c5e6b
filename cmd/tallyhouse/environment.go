package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tallyhouse/schemas/nearest"
)

// environment are the variables that a command was given.
type environment map[string]string

// environmentOf is the environment as the system lists it, NAME=value.
func environmentOf(list []string) environment {
	e := environment{}
	for _, variable := range list {
		name, value, _ := strings.Cut(variable, "=")
		e[name] = value
	}
	return e
}

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
func fromEnvironment(flags *pflag.FlagSet, env environment) error {
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
				err = plainFault(flags.Set(f.Name, value))
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
func fromVariable(name string, env environment) (string, error) {
	value, file := env[name], env[name+fileSuffix]
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

// unknownVariable is a variable that looks like one of a flag and is of no command; nearest is what may have been meant, or "".
type unknownVariable struct{ name, nearest string }

func (u unknownVariable) fault() error {
	if u.nearest == "" {
		return fmt.Errorf("environment variable %s is of no command", u.name)
	}
	return fmt.Errorf("environment variable %s is of no command: is %s meant?", u.name, u.nearest)
}

// serviceVariable matches what Kubernetes sets for a service whose name begins with tallyhouse.
const serviceVariable = `_(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$`

// unknown are the variables that no flag of any command has: an environment may be shared by several.
func (e environment) unknown(root *cobra.Command) (all []unknownVariable) {
	ofService := regexp.MustCompile(serviceVariable)
	known := knownVariables(root)
	for _, name := range slices.Sorted(maps.Keys(e)) {
		if strings.HasPrefix(name, variablePrefix) && !slices.Contains(known, name) && !ofService.MatchString(name) {
			all = append(all, unknownVariable{name, nearest.Of(name, known)})
		}
	}
	return all
}

// knownVariables are the variables of the flags of a command and those below it, and of their files.
func knownVariables(cmd *cobra.Command) (all []string) {
	add := func(f *pflag.Flag) {
		for _, name := range variables(f) {
			all = append(all, name, name+fileSuffix)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(add)
	cmd.PersistentFlags().VisitAll(add)
	for _, sub := range cmd.Commands() {
		all = append(all, knownVariables(sub)...)
	}
	return all
}

// nameVariables shows the environment variables in the flags' help.
func nameVariables(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if names := variables(f); len(names) > 0 {
			f.Usage += " [" + strings.Join(names, ", ") + "]"
		}
	})
}
