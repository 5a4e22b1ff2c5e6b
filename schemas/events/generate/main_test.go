package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const project = "../../.."

func TestGeneratedFilesAreUpToDate(t *testing.T) {
	files, err := generated(project)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if text, err := os.ReadFile(filepath.Join(project, name)); err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s is stale (%v): run make generate", name, err)
		}
	}
	schemas, err := os.ReadDir(filepath.Join(project, schemaFolder))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range schemas {
		if name := filepath.Join(schemaFolder, file.Name()); files[name] == nil {
			t.Errorf("%s is the schema of no topic: remove it", name)
		}
	}
}

func TestAPageWithoutThePlaceForATableIsRefused(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(project, documentation))
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{"\n## Values\n", "\n### ledger.records\n", "<!-- values -->", "<!-- end -->"} {
		if _, err := withTables(string(bytes.Replace(page, []byte(gone), nil, 1))); err == nil {
			t.Errorf("a page without %q is taken", gone)
		}
	}
}
