package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const commandsPage = "../../docs/commands.md"

func readPage(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(commandsPage)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page on the commands has every command and every flag, each flag under its command or under what all share.
func TestCommandsPageIsComplete(t *testing.T) {
	page := readPage(t)
	sections := map[string]string{}
	for _, part := range regexp.MustCompile(`(?m)^##+ `).Split(page, -1)[1:] {
		title, text, _ := strings.Cut(part, "\n")
		sections[title] = text
	}
	shared := sections["What all commands share"]
	root, _ := rootCommand(&shell{})
	commands(root, func(cmd *cobra.Command) {
		if cmd.Hidden || cmd == root || cmd.Name() == "help" {
			return
		}
		section, ok := sections[cmd.CommandPath()]
		if !ok {
			t.Errorf("%s has no section %q", commandsPage, cmd.CommandPath())
			return
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && f.Name != "help" && !strings.Contains(section+shared, "`--"+f.Name+"`") {
				t.Errorf("%s: section %q lacks --%s", commandsPage, cmd.CommandPath(), f.Name)
			}
		})
	})
}

// Every command line of the page, and of the commands' own examples, is one that the binary understands.
func TestExamplesAreUnderstood(t *testing.T) {
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readPage(t), -1) {
		lines = append(lines, strings.Split(block[1], "\n")...)
	}
	root, _ := rootCommand(&shell{})
	commands(root, func(cmd *cobra.Command) { lines = append(lines, strings.Split(cmd.Example, "\n")...) })
	understood := 0
	for _, line := range lines {
		for part := range strings.SplitSeq(line, "|") {
			args := strings.Fields(part)
			if len(args) == 0 || args[0] != "tallyhouse" {
				continue
			}
			root, _ := rootCommand(&shell{})
			cmd, rest, err := root.Find(args[1:])
			if err == nil {
				before, _, _ := strings.Cut(strings.Join(rest, " "), " >")
				err = cmd.ParseFlags(strings.Fields(before))
			}
			if err == nil {
				err = cmd.ValidateArgs(cmd.Flags().Args())
			}
			if err == nil {
				err = cmd.ValidateRequiredFlags()
			}
			if err != nil {
				t.Errorf("%s: %v", strings.TrimSpace(part), err)
			}
			understood++
		}
	}
	if understood < 10 {
		t.Errorf("found %d command lines alone", understood)
	}
}

func commands(cmd *cobra.Command, each func(*cobra.Command)) {
	each(cmd)
	for _, sub := range cmd.Commands() {
		commands(sub, each)
	}
}
