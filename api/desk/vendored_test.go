package desk

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The scripts of others are those that were pinned: api/desk/vendored/packages.
func TestScriptsOfOthersAreThePinnedOnes(t *testing.T) {
	list, err := os.ReadFile("vendored/files.sha256")
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for line := range strings.Lines(string(list)) {
		want, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		archive, err := os.ReadFile(name + ".gz")
		if err != nil {
			t.Fatal(err)
		}
		body, err := unpack(archive)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the hash %x, not %s", name, sum, want)
		}
		pinned++
	}
	if pinned < 5 {
		t.Errorf("%d files are pinned", pinned)
	}
}
