package api

import (
	"fmt"
	"html"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"tallyhouse/api/problem"
	"tallyhouse/api/resource"
	"tallyhouse/schemas/jsontext"
)

// explain is the page of a kind of problem, as HTML, JSON or Markdown, whichever the reader likes best.
func explain(k *problem.Kind, accept string) reply {
	switch preferred(accept, "application/json", "text/html", "text/markdown", "application/problem+json") {
	case "text/html":
		return reply{status: http.StatusOK, contentType: typeHTML, body: []byte(explainHTML(k))}
	case "text/markdown":
		return reply{status: http.StatusOK, contentType: typeMarkdown, body: []byte(explainMarkdown(k))}
	}
	return reply{status: http.StatusOK, contentType: typeJSON, body: explainJSON(k)}
}

func explainJSON(k *problem.Kind) []byte {
	b := append([]byte(nil), `{"type":`...)
	b = jsontext.AppendString(b, k.Type())
	b = append(b, `,"title":`...)
	b = jsontext.AppendString(b, k.Title)
	b = append(b, `,"status":`...)
	b = resource.AppendInt(b, int64(k.Status))
	b = append(b, `,"meaning":`...)
	b = jsontext.AppendString(b, k.Meaning)
	b = append(b, `,"causes":[`...)
	for i, cause := range k.Causes {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(b, cause)
	}
	b = append(b, `],"remedy":`...)
	b = jsontext.AppendString(b, k.Remedy)
	return append(b, '}')
}

func explainMarkdown(k *problem.Kind) string {
	return fmt.Sprintf("# %s\n\n`%s`, status %d\n\n%s\n\n## What it usually comes from\n\n- %s\n\n## What to do\n\n%s\n",
		k.Title, k.Type(), k.Status, k.Meaning, strings.Join(k.Causes, "\n- "), k.Remedy)
}

func explainHTML(k *problem.Kind) string {
	causes := make([]string, len(k.Causes))
	for i, cause := range k.Causes {
		causes[i] = codeHTML(cause)
	}
	title := html.EscapeString(k.Title)
	return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title +
		"</title></head>\n<body><h1>" + title + "</h1><p><code>" + k.Type() + "</code>, status " + strconv.Itoa(k.Status) +
		"</p><p>" + codeHTML(k.Meaning) + "</p>\n<h2>What it usually comes from</h2><ul><li>" +
		strings.Join(causes, "</li>\n<li>") + "</li></ul>\n<h2>What to do</h2><p>" + codeHTML(k.Remedy) + "</p></body></html>\n"
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
			if value, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
				weight, _ = strconv.ParseFloat(value, 64)
			}
		}
	}
	return weight
}
