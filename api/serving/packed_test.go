package serving_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"testing"

	"github.com/klauspost/compress/gzhttp"

	"tallyhouse/api/serving"
)

// packed is a text as gzip compresses it.
func packed(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Given a packed file, when it is asked for with any encodings, then whoever takes gzip gets it so, all others as it is, and nobody makes
// the server pack or unpack it, or hold it once more.
func TestAPackedFileCostsNothingToBeSent(t *testing.T) {
	text := bytes.Repeat([]byte("a text\n"), 100_000)
	file, err := serving.Unpack(packed(t, text), len(text))
	if err != nil {
		t.Fatal(err)
	}
	for accept, zipped := range map[string]bool{"": false, "gzip": true, "br, GZIP;q=0.5": true, "zstd, gzip ; q=0": false, "gzip;q=0.0": false,
		"gzip;q=x": false, "zstd": false, "x-gzip": false, "identity": false, "deflate,gzip, br": true} {
		header := http.Header{}
		body := file.Body(accept, header)
		switch got := header.Get("Content-Encoding"); {
		case zipped && got != "gzip", !zipped && (got != "" || header.Get(gzhttp.HeaderNoCompression) == ""):
			t.Errorf("%q: the headers are %v", accept, header)
		}
		if zipped {
			unpacking, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(unpacking); err != nil {
				t.Fatal(err)
			}
		}
		if !bytes.Equal(body, text) {
			t.Errorf("%q: it is another text", accept)
		}
		if again := file.Body(accept, header); &again[0] != &file.Body(accept, header)[0] {
			t.Errorf("%q: each request has a copy", accept)
		}
	}
}

func TestWhatUnpacksToTooMuchIsRefused(t *testing.T) {
	text := make([]byte, 1000)
	for name, archive := range map[string][]byte{"too much": packed(t, make([]byte, 1001)), "cut off": packed(t, text)[:20], "no gzip": text} {
		if _, err := serving.Unpack(archive, len(text)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
