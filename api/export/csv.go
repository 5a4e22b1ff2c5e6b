package export

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"tallyhouse/schemas/money"
)

// csvWriter writes RFC 4180, or a dialect of it.
type csvWriter struct {
	to        io.Writer
	columns   []Column
	cells     *cells
	excel     bool
	separator byte
	form      money.Form // of amounts in whole units
	line      []byte
}

// byteOrderMark tells Excel that a file is UTF-8.
const byteOrderMark = "\uFEFF"

func newCSV(columns []Column, d Dialect, to io.Writer) (*csvWriter, error) {
	c := &csvWriter{to: to, columns: columns, cells: newCells(columns), separator: ','}
	switch d {
	case Plain:
	case ExcelDE:
		c.excel, c.separator, c.form = true, ';', money.Form{Minus: "-", Point: ","}
		c.line = append(c.line, byteOrderMark...)
	default:
		return nil, fmt.Errorf("there is no dialect %q of CSV", d)
	}
	for i, column := range columns {
		name := column.Name
		if c.excel && column.Kind == Amount { // in whole units, so not what net.value is elsewhere
			name = strings.TrimSuffix(name, ".value")
		}
		c.separate(i)
		c.append([]byte(name), false)
	}
	return c, c.end()
}

func (c *csvWriter) Write(object []byte) error {
	if err := c.cells.take(object); err != nil {
		return err
	}
	c.line = c.line[:0]
	for i, value := range c.cells.values {
		c.separate(i)
		if value == nil {
			continue
		}
		switch kind := c.columns[i].Kind; {
		case kind == Text || kind == Date || kind == Instant:
			plain, err := text(value)
			if err != nil {
				return err
			}
			c.append(plain, kind == Text)
		case kind == Amount && c.excel:
			code, err := text(c.cells.values[i+1])
			if err != nil {
				return err
			}
			c.line = c.form.AppendMinor(c.line, string(value), money.Decimals(string(code)))
		default:
			c.append(value, false)
		}
	}
	return c.end()
}

func (c *csvWriter) Close(End) error { return nil }

func (c *csvWriter) separate(column int) {
	if column > 0 {
		c.line = append(c.line, c.separator)
	}
}

func (c *csvWriter) end() error {
	c.line = append(c.line, "\r\n"...)
	_, err := c.to.Write(c.line)
	return err
}

// append writes a cell. Texts of others come from invoices that anybody may send, so they must not become formulas.
func (c *csvWriter) append(value []byte, ofOthers bool) {
	escape := c.excel && ofOthers && startsFormula(value)
	if !escape && len(value) > 0 && bytes.IndexByte(value, c.separator) < 0 && !bytes.ContainsAny(value, "\"\r\n") && value[0] != ' ' {
		c.line = append(c.line, value...)
		return
	}
	c.line = append(c.line, '"')
	if escape {
		c.line = append(c.line, '\'')
	}
	for _, b := range value {
		if b == '"' {
			c.line = append(c.line, '"')
		}
		c.line = append(c.line, b)
	}
	c.line = append(c.line, '"')
}

// startsFormula reports whether a spreadsheet may take the text for a formula: it begins like one, in plain or in wide
// characters, or with what a spreadsheet passes over.
func startsFormula(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	if bytes.IndexByte([]byte("=+-@\t\r\n"), text[0]) >= 0 {
		return true
	}
	for _, wide := range []string{"＝", "＋", "－", "＠"} {
		if bytes.HasPrefix(text, []byte(wide)) {
			return true
		}
	}
	return false
}
