// Package words holds the words of invoices, a file per language, and compiles
// them into patterns. docs/invoices.md#languages says how a language is added.
package words

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

//go:embed *.txt
var files embed.FS

// Words are the lists of all languages.
type Words struct {
	languages map[string]lists
	used      map[string]bool // sections that something was compiled from
	faults    []error
}

// lists are the entries of one language by section.
type lists map[string][]string

// Load reads the files of all languages.
func Load() (*Words, error) { return load(files) }

func load(from fs.FS) (*Words, error) {
	names, err := fs.Glob(from, "*.txt")
	if err != nil {
		return nil, fmt.Errorf("listing word files: %w", err)
	}
	w := &Words{languages: map[string]lists{}, used: map[string]bool{}}
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("reading word file: %w", err)
		}
		if w.languages[strings.TrimSuffix(name, ".txt")], err = parse(string(text)); err != nil {
			return nil, fmt.Errorf("word file %s: %w", name, err)
		}
	}
	return w, nil
}

// parse reads a file: "[section]" and entries, a line each; "# " begins a comment.
func parse(text string) (lists, error) {
	out := lists{}
	section, number := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == "#" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			section = line[1 : len(line)-1]
			if out[section] != nil {
				return nil, fmt.Errorf("line %d: a second section %q", number, section)
			}
			out[section] = []string{}
		case section == "":
			return nil, fmt.Errorf("line %d: entry %q stands before any section", number, line)
		default:
			out[section] = append(out[section], line)
		}
	}
	return out, nil
}

// Languages returns the names of the languages' files, in order. "any" holds
// what is the same in all.
func (w *Words) Languages() []string {
	var out []string
	for name := range w.languages {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Entries returns the entries of a section in all languages, each once.
func (w *Words) Entries(section string) []string {
	var out []string
	for _, language := range w.Languages() {
		for _, entry := range w.In(language, section) {
			if !slices.Contains(out, entry) {
				out = append(out, entry)
			}
		}
	}
	if len(out) == 0 {
		w.faults = append(w.faults, fmt.Errorf("no language has a section %q", section))
	}
	return out
}

// In returns the entries of a section in one language.
func (w *Words) In(language, section string) []string {
	w.used[section] = true
	return w.languages[language][section]
}

var (
	placeholder = regexp.MustCompile(`<([=*]?)([a-z ]+)(\*?)>`)
	onlyLists   = regexp.MustCompile(`^<[^>|]+>(?:\|<[^>|]+>)*$`)
)

// Compile compiles a regular expression in which "<section>" stands for the
// entries of a section in all languages. In "<*section>" they may end a longer
// word, in "<section*>" begin one, and "<=section>" takes them without regard to
// where words begin and end. Of several matches at one place the longest counts.
// Compile never returns nil; what is wrong is kept for Err.
func (w *Words) Compile(template string) *Pattern {
	if onlyLists.MatchString(template) {
		var choices []choice
		for _, m := range placeholder.FindAllStringSubmatch(template, -1) {
			for _, expression := range w.expand(m[2], m[1], m[3]) {
				choices = append(choices, w.choice(expression))
			}
		}
		return newPattern(choices, nil)
	}
	expression := placeholder.ReplaceAllStringFunc(template, func(found string) string {
		m := placeholder.FindStringSubmatch(found)
		return "(?:" + strings.Join(w.expand(m[2], m[1], m[3]), "|") + ")"
	})
	return w.pattern(expression, expression != template)
}

// Any compiles a pattern that only reports whether one of the entries of a
// section occurs. Where the match begins and ends does not count, which is faster
// for entries that may be part of longer words.
func (w *Words) Any(section string) *Pattern {
	var choices []choice
	for _, expression := range w.expand(section, anyPlace, "") {
		choices = append(choices, w.choice(expression))
	}
	return newPattern(choices, nil)
}

// AnyIn is Any for the entries of one language.
func (w *Words) AnyIn(language, section string) *Pattern {
	var choices []choice
	for _, entry := range w.In(language, section) {
		expression, err := expand(entry, anyPlace, "")
		if err != nil {
			w.Fault(fmt.Errorf("entry %q in section %q: %w", entry, section, err))
		}
		choices = append(choices, w.choice(expression))
	}
	return newPattern(choices, nil)
}

// CompileEach compiles every entry of a section on its own, in the order of the
// languages. N captures; of several matches at one place the first counts.
func (w *Words) CompileEach(section string) []*Pattern {
	var out []*Pattern
	for _, expression := range w.expand(section, "", "") {
		out = append(out, w.pattern(expression, false))
	}
	return out
}

// expand returns an expression for each entry of a section.
func (w *Words) expand(section, before, after string) []string {
	var out []string
	for _, entry := range w.Entries(section) {
		expression, err := expand(entry, before, after)
		if err != nil {
			w.Fault(fmt.Errorf("entry %q in section %q: %w", entry, section, err))
		}
		out = append(out, expression)
	}
	return out
}

// pattern makes a pattern of one expression; what is wrong with it is kept for Err.
func (w *Words) pattern(expression string, longest bool) *Pattern {
	c, tree, err := compile(expression, longest)
	if err != nil {
		w.Fault(err)
		return newPattern(nil, nil)
	}
	var parts []choice
	if longest {
		parts = partsOf(tree)
	}
	return newPattern([]choice{c}, parts)
}

// choice makes one of several choices of an expression; what is wrong with it is kept for Err.
func (w *Words) choice(expression string) choice {
	c, _, err := compile(expression, true)
	if err != nil {
		w.Fault(err)
	}
	return c
}

// Fault keeps a fault for Err that the user of the lists has found in them.
func (w *Words) Fault(err error) { w.faults = append(w.faults, err) }

// Err returns what was wrong with the files and with what was compiled,
// sections that nothing was compiled from among it.
func (w *Words) Err() error {
	faults := slices.Clone(w.faults)
	for _, language := range w.Languages() {
		for section := range w.languages[language] {
			if !w.used[section] {
				faults = append(faults, fmt.Errorf("language %s: unknown section %q", language, section))
			}
		}
	}
	return errors.Join(faults...)
}
