package main

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// reference is how comments and pages name a place in docs/: docs/calculations.md#budget, or (calculations.md#budget)
// in another page.
var reference = regexp.MustCompile(`\b([A-Za-z-]+\.md)(?:#([\p{L}\p{N}_-]+))?`)

// anchors are the names of a page's headings as they are linked to: in lower case, without punctuation, joined by
// hyphens.
func anchors(page string) []string {
	var all []string
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading[1]))
		all = append(all, name)
	}
	return all
}

// comments are the comments of a Go file.
func comments(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var s scanner.Scanner
	files := token.NewFileSet()
	s.Init(files.AddFile(path, files.Base(), len(source)), source, nil, scanner.ScanComments)
	var all strings.Builder
	for {
		_, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return all.String()
		case token.COMMENT:
			all.WriteString(text + "\n")
		}
	}
}

// What a comment or a page says about a place in docs/ leads there, and rules are not named by the numbers of pages
// that are not in the project.
func TestReferencesIntoTheDocsLeadSomewhere(t *testing.T) {
	const root = "../.."
	pages := map[string][]string{}
	texts := map[string]string{}
	docs, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(docs) == 0 {
		t.Fatal("no pages", err)
	}
	others, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(others, docs...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(path)] = anchors(string(text))
		texts[path] = string(text)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".go" {
			texts[path] = comments(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	outside := regexp.MustCompile(`\b(spec|specification|calculations)( section)? \d+(\.\d+)?`)
	for path, text := range texts {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			page, anchor := m[1], m[2]
			known, ok := pages[page]
			switch {
			case !ok && strings.HasSuffix(path, ".go"):
				t.Errorf("%s names %s, which is not in docs", path, page)
			case ok && anchor != "":
				checked++
				if !slices.Contains(known, anchor) {
					t.Errorf("%s refers to %s, which has no such heading", path, m[0])
				}
			}
		}
		if strings.HasSuffix(path, ".go") {
			for _, m := range outside.FindAllString(text, -1) {
				t.Errorf("%s refers to %q: name a heading of docs/, like docs/calculations.md#budget", path, m)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d references were found: does this test still see them?", checked)
	}
}
