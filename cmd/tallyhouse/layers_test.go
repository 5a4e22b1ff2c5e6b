package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the folders that the packages of each folder may import, besides their own:
// docs/architecture.md#where-things-are.
var layers = map[string][]string{
	"schemas":         {},
	"analytics":       {"schemas"},
	"reader":          {"analytics", "schemas"},
	"api":             {"reader", "analytics", "schemas"},
	"ingest":          {"analytics", "schemas"},
	"deploy/embedded": {},
	"deploy/demo":     {"schemas"},
	"deploy/checks":   {},
	"deploy/release":  {"api"}, // the bill names the scripts in its pages
	"cmd":             {"api", "ingest", "schemas", "deploy/embedded", "deploy/demo"},
}

func layerOf(path string) string {
	for layer := range layers {
		if path == layer || strings.HasPrefix(path, layer+"/") {
			return layer
		}
	}
	return ""
}

// Tests, and packages of helpers for tests, may also use the embedded servers.
func forTests(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
}

func TestDependenciesPointOneWay(t *testing.T) {
	const module, root = "tallyhouse/", "../.."
	imports := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(strings.TrimPrefix(path, root+"/"))
		own := layerOf(path)
		if own == "" {
			t.Errorf("%s is in none of the folders that docs/architecture.md names", path)
			return nil
		}
		allowed := append([]string{own}, layers[own]...)
		if forTests(path) {
			allowed = append(allowed, "deploy/embedded")
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			imported, ours := strings.CutPrefix(imported, module)
			if !ours {
				continue
			}
			imports++
			if !slices.Contains(allowed, layerOf(imported)) {
				t.Errorf("%s imports %s: packages of %s may import %s", path, imported, own, strings.Join(allowed, ", "))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if imports == 0 {
		t.Error("no imports were found")
	}
}
