package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const configurationIntro = `# Configuration

Every flag of every command, its variable, and what it is when neither is given. ` + "`make generate`" + ` writes this page from the
commands themselves; what they are for is in [commands.md](commands.md).

- A flag wins over its variable. An empty variable is none.
- Behind every variable may stand ` + "`_FILE`" + `, like ` + "`TALLYHOUSE_KAFKA_PASSWORD_FILE=/run/secrets/kafka`" + `: the file's content is the value,
  without the line's end. Secrets (passwords, ` + "`TALLYHOUSE_IMAP`, `TALLYHOUSE_ORIGINALS_S3`, `TALLYHOUSE_REDIS_URL`, `TALLYHOUSE_KEY`" + `) belong into such files. A
  variable and its file together are a fault.
- A variable that begins with ` + "`TALLYHOUSE_`" + ` and is of no command does nothing. The log warns of it at start, with the name that is nearest;
  ` + "`--check-config`" + ` refuses it.
- A flag that can be given repeatedly takes its values from the variable separated by commas.
- All faults of variables and of the flags of connections are told at once, of ` + "`ingest`, `api`, `desk` and `dev`" + ` those of every flag; the exit
  code is 2.
`

// configuration is the page, as the commands are.
func configuration() string {
	var page strings.Builder
	page.WriteString(configurationIntro)
	root, _ := rootCommand(&shell{})
	shared := connectionNames()
	writeFlags(&page, "All commands", func(each func(*pflag.Flag)) { root.PersistentFlags().VisitAll(each) })
	connections := pflag.NewFlagSet("", pflag.ContinueOnError)
	connectionFlags(connections)
	nameVariables(connections)
	writeFlags(&page, "Connections", func(each func(*pflag.Flag)) { connections.VisitAll(each) })
	commands(root, func(cmd *cobra.Command) {
		if cmd == root || cmd.Hidden || cmd.Name() == "help" {
			return
		}
		writeFlags(&page, cmd.CommandPath(), func(each func(*pflag.Flag)) {
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if root.PersistentFlags().Lookup(f.Name) == nil && (!shared[f.Usage] || cmd.Name() == "dev" && strings.HasSuffix(f.Name, "-addr")) {
					each(f)
				}
			})
		})
	})
	return page.String()
}

// connectionNames are the flags that all commands share, known by their text: dev has others of these names.
func connectionNames() map[string]bool {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	connectionFlags(flags)
	nameVariables(flags)
	shared := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { shared[f.Usage] = true })
	return shared
}

func writeFlags(page *strings.Builder, title string, of func(each func(*pflag.Flag))) {
	var rows []string
	cell := func(text string) string { return strings.ReplaceAll(strings.ReplaceAll(text, "|", `\|`), "\n", " ") }
	of(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		variable := "`" + strings.Join(variables(f), "`, `") + "`"
		value := strings.Trim(f.DefValue, "[]") // of a list, which is given without them
		if value != "" {
			value = "`" + value + "`"
		}
		meaning := regexp.MustCompile(` \[TALLYHOUSE_[^\]]*\]$`).ReplaceAllString(f.Usage, "")
		rows = append(rows, fmt.Sprintf("| `--%s` | %s | %s | %s |\n", f.Name, variable, cell(value), cell(meaning)))
	})
	if len(rows) > 0 {
		fmt.Fprintf(page, "\n## %s\n\n| flag | variable | default | meaning |\n|---|---|---|---|\n%s", title, strings.Join(rows, ""))
	}
}

// The page on the configuration is what the commands' flags are.
func TestTheConfigurationIsWrittenDown(t *testing.T) {
	path, want := filepath.Join(top, "docs", "configuration.md"), configuration()
	if *updateExamples {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s is not what the flags are: run `make generate` (%v)", path, err)
	}
}

// No flag's variable is the file of another one's.
func TestNoVariableIsAnothersFile(t *testing.T) {
	root, _ := rootCommand(&shell{})
	commands(root, func(cmd *cobra.Command) {
		names := map[string]bool{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			for _, name := range variables(f) {
				names[name] = true
			}
		})
		for name := range names {
			if names[name+fileSuffix] {
				t.Errorf("%s: %s%s is a flag's own variable", cmd.CommandPath(), name, fileSuffix)
			}
		}
	})
}
