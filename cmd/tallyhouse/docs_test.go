package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	top          = "../.." // of the project
	commandsPage = top + "/docs/commands.md"
)

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

// Every command line of the pages and of the commands' own examples is one that the binary understands.
func TestExamplesAreUnderstood(t *testing.T) {
	lines := documented(t, "tallyhouse")
	root, _ := rootCommand(&shell{})
	commands(root, func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			lines = append(lines, commandLines(line, "tallyhouse")...)
		}
	})
	if len(lines) < 50 {
		t.Errorf("found %d command lines alone", len(lines))
	}
	for _, args := range lines {
		root, _ := rootCommand(&shell{})
		cmd, rest, err := root.Find(args[1:])
		if err == nil {
			err = cmd.ParseFlags(rest)
		}
		if err == nil {
			err = cmd.ValidateArgs(cmd.Flags().Args())
		}
		if err == nil {
			err = cmd.ValidateRequiredFlags()
		}
		if err != nil {
			t.Errorf("%s: %v", strings.Join(args, " "), err)
		}
	}
}

// What the pages let be made has a rule in the Makefile.
func TestWhatPagesMakeHasARule(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(top, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	lines := documented(t, "make")
	if len(lines) < 10 {
		t.Errorf("found %d command lines alone", len(lines))
	}
	for _, args := range lines {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(args[1]) + `:`).Match(rules) {
			t.Errorf("the Makefile has no rule for %s", args[1])
		}
	}
}

// The tests, benchmarks and fuzz targets that pages let run are there.
func TestWhatPagesTestIsThere(t *testing.T) {
	lines := documented(t, "go")
	tests := 0
	for _, args := range lines {
		if len(args) < 2 || args[1] != "test" {
			continue
		}
		tests++
		functions := testFunctions(t, args[2:])
		for i, arg := range args[:len(args)-1] {
			kind, selects := map[string]string{"-run": "Test", "-bench": "Benchmark", "-fuzz": "Fuzz"}[arg]
			pattern := strings.ReplaceAll(args[i+1], `\|`, "|") // as a table of Markdown needs it
			if !selects || pattern == "^$" || pattern == "xxx" {
				continue
			}
			first, _, _ := strings.Cut(pattern, "/")
			for name := range strings.SplitSeq(first, "|") {
				if !slices.ContainsFunc(functions, func(f string) bool {
					return strings.HasPrefix(f, kind) && regexp.MustCompile(name).MatchString(f)
				}) {
					t.Errorf("%s: no %s is called %s", strings.Join(args, " "), kind, name)
				}
			}
		}
	}
	if tests < 5 {
		t.Errorf("found %d command lines alone", tests)
	}
}

// testFunctions are the functions of the test files in the packages that are among the arguments.
func testFunctions(t *testing.T, args []string) (names []string) {
	t.Helper()
	for _, arg := range args {
		if !strings.HasPrefix(arg, "./") || strings.HasSuffix(arg, "...") {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(top, arg, "*_test.go"))
		if len(files) == 0 {
			t.Errorf("there are no tests in %s", arg)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range regexp.MustCompile(`(?m)^func (\w+)\(`).FindAllStringSubmatch(string(text), -1) {
				names = append(names, found[1])
			}
		}
	}
	return names
}

// documented are the command lines of a program in the README, CONTRIBUTING and docs: those in blocks of shell, and
// those in the text that are no mere names of a command, nor have a PLACEHOLDER.
func documented(t *testing.T, program string) (lines [][]string) {
	t.Helper()
	pages, _ := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	for _, page := range append(pages, filepath.Join(top, "README.md"), filepath.Join(top, "CONTRIBUTING.md")) {
		read, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(read)
		for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(text, -1) {
			for line := range strings.Lines(strings.ReplaceAll(block[1], "\\\n", " ")) {
				lines = append(lines, commandLines(line, program)...)
			}
		}
		text = regexp.MustCompile("(?s)```.*?```").ReplaceAllString(text, "")
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
			for _, args := range commandLines(strings.Join(strings.Fields(code[1]), " "), program) {
				if program != "tallyhouse" || len(args) > 3 && !slices.ContainsFunc(args, isPlaceholder) {
					lines = append(lines, args)
				}
			}
		}
	}
	return lines
}

func isPlaceholder(arg string) bool { return regexp.MustCompile(`^[A-Z]+$|\.\.\.`).MatchString(arg) }

// commandLines finds what a line of shell runs of a program: its words, without variables before and redirections
// behind.
func commandLines(line, program string) (found [][]string) {
	line, _, _ = strings.Cut(line, " #")
	for part := range strings.SplitSeq(line, " | ") {
		var args []string
		for _, word := range regexp.MustCompile(`(?:'[^']*'|"[^"]*"|[^\s'"])+`).FindAllString(part, -1) {
			if args == nil && filepath.Base(word) != program {
				if regexp.MustCompile(`^\w+=`).MatchString(word) {
					continue // a variable
				}
				break
			}
			if word == ">" {
				break
			}
			args = append(args, strings.Trim(word, `'"`))
		}
		if len(args) > 1 {
			found = append(found, args)
		}
	}
	return found
}

func commands(cmd *cobra.Command, each func(*cobra.Command)) {
	each(cmd)
	for _, sub := range cmd.Commands() {
		commands(sub, each)
	}
}
