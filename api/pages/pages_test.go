package pages_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"tallyhouse/api/pages"
	"tallyhouse/api/problem"
)

func TestChangelogHasEveryVersion(t *testing.T) {
	for accept, format := range map[string]string{"text/html": "<h2>%</h2>", "text/markdown": "\n## %\n",
		"application/json": `"version":"%"`} {
		p, err := pages.Changelog(accept)
		if err != nil {
			t.Fatal(err)
		}
		before := 0
		for _, version := range []string{"0.1.4", "0.1.3", "0.1.2", "0.1.1", "0.1.0"} {
			at := strings.Index(string(p.Body), strings.ReplaceAll(format, "%", version))
			if at <= before {
				t.Errorf("%s: %s is missing or not in its place in %s", accept, version, p.Body)
			}
			before = at
		}
		if kind, _, _ := strings.Cut(p.Header.Get("Content-Type"), ";"); kind != accept {
			t.Errorf("%s comes as %s", accept, kind)
		}
	}
	if pages.Version() != "0.1.4" {
		t.Errorf("the description is of version %s", pages.Version())
	}
	p, err := pages.Changelog("")
	if err != nil || !json.Valid(p.Body) {
		t.Errorf("%v, %s", err, p.Body)
	}
}

func TestPagesLoadNothingButTheirOwnStyle(t *testing.T) {
	p, err := pages.Problem(problem.NotFound, "text/html")
	if err != nil {
		t.Fatal(err)
	}
	style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindSubmatch(p.Body)
	if style == nil {
		t.Fatalf("no style in %s", p.Body)
	}
	sum := sha256.Sum256(style[1])
	want := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
	if got := p.Header.Get("Content-Security-Policy"); got != want {
		t.Errorf("the policy is %s, want %s", got, want)
	}
}

func reference(t *testing.T) *pages.Reference {
	t.Helper()
	r, err := pages.NewReference()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheReferenceNeedsNoOtherServer(t *testing.T) {
	p, err := reference(t).Page("", "")
	if err != nil {
		t.Fatal(err)
	}
	if policy := p.Header.Get("Content-Security-Policy"); policy != "default-src 'none'; script-src 'self'; connect-src 'self'; "+
		"img-src 'self' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" {
		t.Errorf("the policy is %s", policy)
	}
	if bytes.Contains(p.Body, []byte("//")) {
		t.Errorf("the page refers to another server: %s", p.Body)
	}
	// And what it loads is there.
	for _, script := range regexp.MustCompile(`src="docs(/[^"]+)"`).FindAllSubmatch(p.Body, -1) {
		if path := string(script[1]); !pages.OfReference(path) {
			t.Errorf("%s is not served", path)
		}
	}
}

func TestTheReferenceIsTheReleaseThatIsPinned(t *testing.T) {
	pinned, err := os.ReadFile("scalar/scalar.sha256")
	if err != nil {
		t.Fatal(err)
	}
	path := "/scalar-" + pages.ScalarVersion + ".js"
	plain, err := reference(t).Page(path, "")
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(plain.Body); hex.EncodeToString(sum[:]) != strings.TrimSpace(string(pinned)) {
		t.Errorf("the script has the hash %x", sum)
	}
	packed, err := reference(t).Page(path, "br, gzip;q=0.5")
	if err != nil || packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v, %v", err, packed.Header)
	}
	unpacking, err := gzip.NewReader(bytes.NewReader(packed.Body))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(unpacking); err != nil || !bytes.Equal(text, plain.Body) {
		t.Errorf("what is sent compressed is something else: %v", err)
	}
	if refused, err := reference(t).Page(path, "gzip;q=0"); err != nil || refused.Header.Get("Content-Encoding") != "" {
		t.Errorf("%v, %v", err, refused.Header)
	}
	// It neither makes code from text, which its page forbids, nor could it.
	if regexp.MustCompile(`\bnew Function\(|[^.\w]eval\(`).Match(plain.Body) {
		t.Error("the script makes code from text")
	}
}
