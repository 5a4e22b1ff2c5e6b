package checks

import (
	"debug/elf"
	"os"
	"regexp"
	"testing"
)

// An empty image has no loader and no C library: the program that it gets names none, or it would never start.
func TestTheImagesProgramStartsOnAnEmptyImage(t *testing.T) {
	text, err := os.ReadFile("../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^\s+go build -tags static -trimpath .* \./cmd/tallyhouse`).Match(text) {
		t.Error("the Containerfile builds another program than the one checked here")
	}
	path, err := program()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, path)
	}
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			t.Error("it asks for a loader")
		}
	}
	libraries, err := file.ImportedLibraries()
	if err != nil {
		t.Fatal(err)
	}
	if len(libraries) > 0 {
		t.Errorf("it asks for %v", libraries)
	}
}
