package desk

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tallyhouse/api/desk/language"
	"tallyhouse/api/export"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/money"
)

// table is one that a page shows, and that can be had as CSV. The first cell of a row is its heading.
type table struct {
	Name    string // of its CSV
	Caption string
	Columns []column
	Rows    []row
	Tree    bool
	CSV     string // where its CSV is
	Note    string // instead of rows, when there are none
}

type column struct {
	Title  string
	Unit   string // of all amounts in it, "" where they differ
	Number bool
	Bars   bool // drawn, and not in the CSV
}

type row struct {
	Cells []cell
	Total bool
	// Of a tree:
	ID, Parent string
	Depth      int
	Branch     bool // there are rows below it
	Open       bool
}

// cell is a value: as people read it, and as a spreadsheet does.
type cell struct {
	Text  string
	Link  string
	Badge string // good, warn or bad
	Muted bool   // a zero, among others
	Bars  *bars
	Day   bool // a date or a month, which stays on one line

	kind  cellKind
	value string // as JSON has it
	units int    // decimals of an amount
}

type cellKind uint8

const (
	textCell cellKind = iota
	amountCell
	numberCell
	plainCell
)

// cells makes cells in a person's language.
type cells struct{ *language.Language }

func (c cells) text(s string) cell { return cell{Text: s, value: s} }

// amount is empty for null and for what may not be seen.
func (c cells) amount(a *amount) cell {
	if a == nil {
		return cell{kind: plainCell}
	}
	return cell{Text: c.Amount(a.Value, a.Currency), Muted: a.isZero(), kind: amountCell, value: a.Value.String(),
		units: money.Decimals(a.Currency)}
}

func (c cells) number(n *jsonNumber, unit string) cell {
	if n == nil {
		return cell{kind: plainCell}
	}
	text := c.Number(string(*n))
	if unit != "" {
		text += "\u202f" + unit
	}
	return cell{Text: text, kind: numberCell, value: string(*n)}
}

func (c cells) whole(n int64) cell {
	text := jsonNumber(strconv.FormatInt(n, 10))
	return c.number(&text, "")
}

// date is that of a text like 2026-10-30, or empty.
func (c cells) date(text string) cell {
	d, err := calendar.ParseAnyDate(text)
	if err != nil {
		return cell{Text: text, value: text}
	}
	return cell{Text: c.Date(d), Day: true, kind: plainCell, value: text}
}

func (c cells) month(text string) cell {
	m, err := calendar.ParseAnyMonth(text)
	if err != nil {
		return cell{Text: text, value: text}
	}
	return cell{Text: c.Month(m), Day: true, kind: plainCell, value: text}
}

// areMonths is what to tell a person who typed something else: not every browser offers months to choose from.
func (v *visit) areMonths(texts ...string) error {
	for _, text := range texts {
		if _, err := calendar.ParseAnyMonth(text); text != "" && err != nil {
			return &refusedError{v.text("table.noMonth", text)}
		}
	}
	return nil
}

// to makes a link of what the cell says: not of nothing, and not of 0.
func (c cell) to(link string) cell {
	if c.Text != "" && !c.Muted {
		c.Link = link
	}
	return c
}

func (c cell) badge(kind string) cell {
	c.Badge = kind
	return c
}

// jsonNumber is a decimal number as it is written in JSON.
type jsonNumber string

func (n *jsonNumber) UnmarshalJSON(b []byte) error {
	*n = jsonNumber(b)
	return nil
}

// csvName is the parameter that asks for the CSV of a table.
const csvName = "csv"

// offer says where the CSV of the page's tables is: the page's own address, with the table's name.
func (v *visit) offer(tables ...*table) {
	for _, t := range tables {
		address := *v.request.URL
		query := address.Query()
		query.Set(csvName, t.Name)
		address.RawQuery = query.Encode()
		t.CSV = address.RequestURI()
	}
}

// wantsCSV reports whether the visit is for the CSV of a table, which holds all lines.
func (v *visit) wantsCSV() bool { return v.request.URL.Query().Get(csvName) != "" }

// sheet is the CSV that the visit asks for; errNotFound when the page has no such table.
func (v *visit) sheet(tables []*table) (answer, error) {
	name := v.request.URL.Query().Get(csvName)
	for _, t := range tables {
		if t.Name == name {
			return t, nil
		}
	}
	return nil, errNotFound
}

func (t *table) write(v *visit, w http.ResponseWriter) error {
	var b bytes.Buffer
	s := export.NewSheet(&b, v.lang.Decimal[0])
	for _, c := range t.Columns {
		switch {
		case c.Bars:
		case c.Unit != "":
			s.Text(c.Title + " (" + c.Unit + ")")
		default:
			s.Text(c.Title)
		}
	}
	if err := s.EndLine(); err != nil {
		return err
	}
	for _, r := range t.Rows {
		for i, c := range r.Cells {
			switch {
			case t.Columns[i].Bars:
			case c.kind == amountCell:
				s.Amount([]byte(c.value), c.units)
			case c.kind == numberCell:
				s.Number(c.value)
			case c.kind == plainCell:
				s.Plain(c.value)
			default:
				s.Text(c.value)
			}
		}
		if err := s.EndLine(); err != nil {
			return err
		}
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+fileName(v.request.URL.Path, t.Name)+`.csv"`)
	w.Header().Set("Cache-Control", "private, no-store")
	_, _ = w.Write(b.Bytes()) // the browser may have left
	return nil
}

// fileName is what a download of a page is called.
func fileName(path, table string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	name := table
	if len(parts) > 1 {
		name = url.PathEscape(parts[1]) + "-" + table
	}
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
}

// Bounds of lists.
const (
	pageItems = "50"  // of a page
	csvItems  = "200" // of a page that is read for a CSV
	csvPages  = 25    // that are read for one CSV
)

// listed is a list of the API.
type listed[T any] struct {
	Data []T
	Page struct{ NextCursor *string }
}

// walk reads the page of a list that the request names by its cursor, or, for a CSV and where all of it is needed, all pages. The
// address takes a limit and a cursor.
func walk[T any](v *visit, all bool, address func(limit, cursor string) string) (items []T, next string, err error) {
	all = all || v.wantsCSV()
	limit, cursor := pageItems, v.request.URL.Query().Get("cursor")
	if all {
		limit, cursor = csvItems, ""
	}
	for range csvPages {
		var page listed[T]
		if err := v.ask(address(limit, cursor), &page); err != nil {
			return nil, "", err
		}
		items = append(items, page.Data...)
		if page.Page.NextCursor == nil {
			return items, "", nil
		}
		if cursor = *page.Page.NextCursor; !all {
			return items, cursor, nil
		}
	}
	return nil, "", &refusedError{v.text("table.tooLong", csvItems, csvPages)}
}

// nextPage is the address of the page behind this one; "" when there is none.
func (v *visit) nextPage(cursor string) string {
	if cursor == "" {
		return ""
	}
	address := *v.request.URL
	query := address.Query()
	query.Set("cursor", cursor)
	address.RawQuery = query.Encode()
	return address.RequestURI()
}
