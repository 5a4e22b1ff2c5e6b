package export

import (
	"io"

	"tallyhouse/schemas/money"
)

// Sheet writes a table for people's spreadsheets: with a byte order mark, the separator and decimal sign of their language, and texts
// that cannot become formulas.
type Sheet struct {
	csv   csvWriter
	cells int // of the line
}

// NewSheet begins a table. The separator is ; where the decimal sign is a comma.
func NewSheet(to io.Writer, decimal byte) *Sheet {
	s := &Sheet{csv: csvWriter{to: to, excel: true, separator: ',', form: money.Form{Minus: "-", Point: string(decimal)}}}
	if decimal == ',' {
		s.csv.separator = ';'
	}
	s.csv.line = append(s.csv.line, byteOrderMark...)
	return s
}

// Text writes a cell with a text of anybody's.
func (s *Sheet) Text(text string) {
	s.next()
	if text != "" {
		s.csv.append([]byte(text), true)
	}
}

// Amount writes a cell with minor units as whole ones.
func (s *Sheet) Amount(minor []byte, decimals int) {
	s.next()
	s.csv.line = s.csv.form.AppendMinor(s.csv.line, string(minor), decimals)
}

// Number writes a cell with a decimal number as JSON has it.
func (s *Sheet) Number(text string) {
	s.next()
	s.csv.line = append(s.csv.line, s.csv.form.Number(text)...)
}

// Plain writes a cell with a text of our own, like a date.
func (s *Sheet) Plain(text string) {
	s.next()
	if text != "" {
		s.csv.append([]byte(text), false)
	}
}

func (s *Sheet) next() {
	s.csv.separate(s.cells)
	s.cells++
}

// EndLine ends the line of cells.
func (s *Sheet) EndLine() error {
	err := s.csv.end()
	s.csv.line, s.cells = s.csv.line[:0], 0
	return err
}
