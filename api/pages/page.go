// Package pages makes what people read in a browser: the explanations of problems, the changes of the interface, and
// its reference. The first two come as JSON and Markdown too.
package pages

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Page is a page as it is sent.
type Page struct {
	Header http.Header // its content type and what else belongs to it
	Body   []byte
}

const (
	typeJSON     = "application/json"
	typeHTML     = "text/html; charset=utf-8"
	typeMarkdown = "text/markdown; charset=utf-8"
	typeScript   = "text/javascript; charset=utf-8"
)

func newPage(contentType string, body []byte) Page {
	return Page{Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

// jsonPage is a page for programs, as it is written: nothing of it will stand in HTML.
func jsonPage(value any) (Page, error) {
	var b bytes.Buffer
	written := json.NewEncoder(&b)
	written.SetEscapeHTML(false)
	if err := written.Encode(value); err != nil {
		return Page{}, fmt.Errorf("write a page: %w", err)
	}
	return newPage(typeJSON, b.Bytes()), nil
}

const style = "body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#1c1f23;background:#fff}" +
	"code,pre{font:14px/1.5 ui-monospace,monospace;background:#f2f3f5;border-radius:4px}code{padding:.1em .3em}" +
	"pre{padding:.8rem;overflow-x:auto;white-space:pre-wrap}pre code{padding:0}" +
	"@media(prefers-color-scheme:dark){body{color:#e4e6ea;background:#16181c}code,pre{background:#24272d}a{color:#8ab4f8}}"

// htmlPage is a page without scripts, whose one style sheet is in it.
func htmlPage(title, body string) Page {
	sum := sha256.Sum256([]byte(style))
	p := newPage(typeHTML, []byte("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"+
		html.EscapeString(title)+"</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><style>"+
		style+"</style></head>\n<body><h1>"+html.EscapeString(title)+"</h1>\n"+body+"</body></html>\n"))
	p.secure("style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'")
	return p
}

// secure lets the page load nothing but what the sources say, and nobody frame it.
func (p Page) secure(sources string) {
	p.Header.Set("Content-Security-Policy",
		"default-src 'none'; "+sources+"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	p.Header.Set("Referrer-Policy", "no-referrer")
}

// listHTML is a list of texts with `code`.
func listHTML(items []string) string {
	var b strings.Builder
	b.WriteString("<ul>")
	for _, item := range items {
		b.WriteString("<li>" + codeHTML(item) + "</li>\n")
	}
	b.WriteString("</ul>\n")
	return b.String()
}

// codeHTML is a text with `code` as HTML.
func codeHTML(s string) string {
	var text strings.Builder
	for i, part := range strings.Split(html.EscapeString(s), "`") {
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		text.WriteString(part)
	}
	return text.String()
}

// preferred is the media type of the offers that an Accept header likes best, the first of equals, and the first of all
// when it accepts none.
func preferred(accept string, offers ...string) string {
	best, most := offers[0], 0.0
	for _, offer := range offers {
		if q := quality(accept, offer); q > most {
			best, most = offer, q
		}
	}
	return best
}

// quality is the weight that an Accept header gives a media type, by its most specific range.
func quality(accept, offer string) float64 {
	kind, _, _ := strings.Cut(offer, "/")
	ranges := []string{"*/*", kind + "/*", offer}
	weight, specific := 0.0, -1
	for item := range strings.SplitSeq(accept, ",") {
		name, parameters, _ := strings.Cut(item, ";")
		at := slices.Index(ranges, strings.ToLower(strings.TrimSpace(name)))
		if at < specific || at < 0 {
			continue
		}
		specific, weight = at, 1
		for parameter := range strings.SplitSeq(parameters, ";") {
			if value, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(parameter)), "q="); ok {
				weight, _ = strconv.ParseFloat(value, 64)
			}
		}
	}
	return weight
}
