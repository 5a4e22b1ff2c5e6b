package pages

import (
	"bytes"
	"embed"
	"fmt"

	"tallyhouse/api/serving"
)

// ScalarVersion is the release of Scalar that shows the OpenAPI document (docs/dependencies.md); api/pages/scalar/fetch
// takes another one in.
const ScalarVersion = "1.72.1"

//go:embed scalar/index.html scalar/start.js scalar/standalone.js.gz
var scalar embed.FS

// maxScript bounds what the script is unpacked to, in bytes.
const maxScript = 16 << 20

// What the page loads, behind its own path.
const (
	startPath  = "/start.js"
	scriptPath = "/scalar-" + ScalarVersion + ".js"
)

// OfReference reports whether the reference has a page for what follows /docs in a path.
func OfReference(path string) bool { return path == "" || path == startPath || path == scriptPath }

// Reference is the page that shows the OpenAPI document, and what it loads. It needs nothing from other servers.
type Reference struct{ script *serving.Packed }

// NewReference reads it.
func NewReference() (*Reference, error) {
	packed, err := scalar.ReadFile("scalar/standalone.js.gz")
	if err != nil {
		return nil, fmt.Errorf("read the reference: %w", err)
	}
	script, err := serving.Unpack(packed, maxScript)
	if err != nil {
		return nil, fmt.Errorf("read the reference: %w", err)
	}
	return &Reference{script}, nil
}

// Page is the page, or what it loads, for what follows /docs in a path.
func (r *Reference) Page(path, acceptEncoding string) (Page, error) {
	switch path {
	case startPath:
		return scalarFile("start.js", typeScript)
	case scriptPath:
		p := newPage(typeScript, nil)
		p.Header.Set("Cache-Control", "public, max-age=31536000, immutable") // its name has its version
		p.Body = r.script.Body(acceptEncoding, p.Header)
		return p, nil
	}
	return referencePage()
}

func scalarFile(name, contentType string) (Page, error) {
	text, err := scalar.ReadFile("scalar/" + name)
	if err != nil {
		return Page{}, fmt.Errorf("read the reference: %w", err)
	}
	return newPage(contentType, text), nil
}

// referencePage lets scripts of this service run, and none make code from text. Style sheets may stand in the page: Scalar
// writes its own into it.
func referencePage() (Page, error) {
	p, err := scalarFile("index.html", typeHTML)
	if err != nil {
		return Page{}, err
	}
	p.Body = bytes.ReplaceAll(p.Body, []byte("{version}"), []byte(ScalarVersion))
	p.secure("script-src 'self'; connect-src 'self'; img-src 'self' data:; style-src 'unsafe-inline'")
	return p, nil
}
