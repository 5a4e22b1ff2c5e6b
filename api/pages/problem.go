package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"strconv"
	"strings"

	"tallyhouse/api/problem"
)

// Problem explains a kind of problem: what it is, what it usually comes from, what to do, and how it looks. It comes as
// HTML, JSON or Markdown, whichever the Accept header likes best.
func Problem(k *problem.Kind, accept string) (Page, error) {
	request, document := k.Example()
	var shown bytes.Buffer
	if request != "" {
		if err := json.Indent(&shown, document, "", "  "); err != nil {
			return Page{}, fmt.Errorf("show the example of %s: %w", k.Suffix, err)
		}
	}
	switch preferred(accept, "application/json", "text/html", "text/markdown", "application/problem+json") {
	case "text/html":
		return problemHTML(k, request, shown.String()), nil
	case "text/markdown":
		return problemMarkdown(k, request, shown.String()), nil
	}
	return problemJSON(k, request, document)
}

// Problems lists all kinds of problems, with the way to the explanation of each, in the same forms.
func Problems(accept string) (Page, error) {
	const title = "Problems"
	const about = "Every error is a problem document (RFC 9457), whose type is one of these."
	type summary struct {
		Type    string `json:"type"`
		Title   string `json:"title"`
		Status  int    `json:"status"`
		Meaning string `json:"meaning"`
	}
	all := []summary{}
	body, text := "<p>"+about+"</p>\n<ul>", "# "+title+"\n\n"+about+"\n\n"
	for _, k := range problem.Kinds() {
		all = append(all, summary{k.Type(), k.Title, k.Status, k.Meaning})
		page := strings.TrimPrefix(k.Type(), "/") // seen from here, whatever path the API is behind
		body += "<li><a href=\"" + page + "\">" + html.EscapeString(k.Title) + "</a> (" + strconv.Itoa(k.Status) + "): " +
			codeHTML(k.Meaning) + "</li>\n"
		text += fmt.Sprintf("- [%s](%s) (%d): %s\n", k.Title, page, k.Status, k.Meaning)
	}
	switch preferred(accept, "application/json", "text/html", "text/markdown") {
	case "text/html":
		return htmlPage(title, body+"</ul>\n"), nil
	case "text/markdown":
		return newPage(typeMarkdown, []byte(text)), nil
	}
	return jsonPage(map[string]any{"problems": all})
}

func problemJSON(k *problem.Kind, request string, document []byte) (Page, error) {
	type example struct {
		Request  string          `json:"request"`
		Response json.RawMessage `json:"response"`
	}
	explained := struct {
		Type    string   `json:"type"`
		Title   string   `json:"title"`
		Status  int      `json:"status"`
		Meaning string   `json:"meaning"`
		Causes  []string `json:"causes"`
		Remedy  string   `json:"remedy"`
		Example *example `json:"example,omitempty"`
	}{k.Type(), k.Title, k.Status, k.Meaning, k.Causes, k.Remedy, nil}
	if request != "" {
		explained.Example = &example{request, document}
	}
	return jsonPage(explained)
}

func problemMarkdown(k *problem.Kind, request, shown string) Page {
	text := fmt.Sprintf("# %s\n\n`%s`, status %d\n\n%s\n\n## What it usually comes from\n\n- %s\n\n## What to do\n\n%s\n",
		k.Title, k.Type(), k.Status, k.Meaning, strings.Join(k.Causes, "\n- "), k.Remedy)
	if request != "" {
		text += fmt.Sprintf("\n## Example\n\n`%s` is answered by\n\n```json\n%s\n```\n", request, shown)
	}
	return newPage(typeMarkdown, []byte(text))
}

func problemHTML(k *problem.Kind, request, shown string) Page {
	body := "<p><code>" + k.Type() + "</code>, status " + strconv.Itoa(k.Status) + "</p><p>" + codeHTML(k.Meaning) +
		"</p>\n<h2>What it usually comes from</h2>" + listHTML(k.Causes) + "<h2>What to do</h2><p>" + codeHTML(k.Remedy) + "</p>\n"
	if request != "" {
		body += "<h2>Example</h2><p><code>" + html.EscapeString(request) + "</code> is answered by</p>\n<pre><code>" +
			html.EscapeString(shown) + "</code></pre>"
	}
	return htmlPage(k.Title, body)
}
