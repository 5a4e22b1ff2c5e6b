package desk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzhttp"

	"tallyhouse/api/serving"
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
		packed, err := serving.Unpack(archive, maxAsset)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(packed.Plain); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has the hash %x, not %s", name, sum, want)
		}
		pinned++
	}
	if pinned < 5 {
		t.Errorf("%d files are pinned", pinned)
	}
}

// Given the scripts of others, which anybody may ask for, then each is sent as it is kept: packed, or as it is and not packed anew.
func TestScriptsOfOthersAreSentAsTheyAreKept(t *testing.T) {
	files, err := loadAssets()
	if err != nil {
		t.Fatal(err)
	}
	archived := 0
	for address, file := range files.files {
		if file.packed == nil {
			continue
		}
		archived++
		for accept, header := range map[string]string{"gzip": "Content-Encoding", "zstd": gzhttp.HeaderNoCompression} {
			r := httptest.NewRequest(http.MethodGet, address, nil)
			r.Header.Set("Accept-Encoding", accept)
			w := httptest.NewRecorder()
			files.ServeHTTP(w, r)
			if w.Header().Get(header) == "" || (accept == "zstd") != bytes.Equal(w.Body.Bytes(), file.body) {
				t.Errorf("%s for %s: %d bytes, headers %v", address, accept, w.Body.Len(), w.Header())
			}
		}
	}
	if archived < 5 {
		t.Errorf("%d files are archived", archived)
	}
}
