package desk

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"strings"

	"tallyhouse/api/desk/language"
)

//go:embed templates
var templateFiles embed.FS

// templates are the pages, in each language. A page is templates/<name>.html, which defines main; templates/layout.html is around
// it, and templates/parts.html is for all, as is templates/actions.html.
type templates struct {
	byLanguage map[*language.Language]map[string]*template.Template
}

func loadTemplates(languages *language.Languages, files *assets) (*templates, error) {
	names, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("find the desk's pages: %w", err)
	}
	all := &templates{byLanguage: map[*language.Language]map[string]*template.Template{}}
	for _, l := range languages.All() {
		shared, err := template.New("").Funcs(functions(l, files)).Option("missingkey=error").
			ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/actions.html")
		if err != nil {
			return nil, fmt.Errorf("read the desk's layout: %w", err)
		}
		pages := map[string]*template.Template{}
		for _, file := range names {
			name := strings.TrimSuffix(strings.TrimPrefix(file, "templates/"), ".html")
			if name == "layout" || name == "parts" || name == "actions" {
				continue
			}
			page, err := shared.Clone()
			if err == nil {
				page, err = page.ParseFS(templateFiles, file)
			}
			if err != nil {
				return nil, fmt.Errorf("read the desk's page %s: %w", name, err)
			}
			pages[name] = page
		}
		all.byLanguage[l] = pages
	}
	return all, nil
}

// functions are what templates call, in a language.
func functions(l *language.Language, files *assets) template.FuncMap {
	return template.FuncMap{
		"t":       l.Text,
		"name":    l.Name,
		"asset":   files.address,
		"whole":   func(a *amount) string { return l.Whole(a.Value, a.Currency) },
		"amount":  func(a *amount) string { return l.Amount(a.Value, a.Currency) },
		"path":    func(of string, segments ...string) string { return target(of, segments) },
		"percent": func(thousandths int) string { return percent(thousandths, 1) },
	}
}

// page is what the layout knows of a page.
type page struct {
	Language *language.Language
	Title    string
	Person   string // "" of nobody
	Token    string // of the session's forms
	Here     string // the part of the desk: projects, inbox
	Inbox    bool   // whether there is one
	Project  *project
	Tab      string // of a project's page: budget, cashflow, ...
	Data     any
}

// render writes a page; block is layout for a whole page, main for its content alone.
func (t *templates) render(name, block string, p page) ([]byte, error) {
	found, ok := t.byLanguage[p.Language][name]
	if !ok {
		return nil, fmt.Errorf("there is no page %s", name)
	}
	var b bytes.Buffer
	if err := found.ExecuteTemplate(&b, block, p); err != nil {
		return nil, fmt.Errorf("write the page %s: %w", name, err)
	}
	return b.Bytes(), nil
}
