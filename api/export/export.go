// Package export writes objects of one resource as NDJSON, CSV or Parquet. Every format is made from the JSON objects that
// the API's encoder writes, so that no file shows anything else than an answer of the API does.
package export

import (
	"fmt"
	"io"

	"tallyhouse/schemas/jsontext"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	NDJSON  Format = "ndjson"
	CSV     Format = "csv"
	Parquet Format = "parquet"
)

// ContentType is the media type of the format.
func (f Format) ContentType() string {
	switch f {
	case CSV:
		return "text/csv; charset=utf-8; header=present"
	case Parquet:
		return "application/vnd.apache.parquet"
	default:
		return "application/x-ndjson"
	}
}

// Dialect is how CSV is written.
type Dialect string

// The dialects.
const (
	// Plain is RFC 4180: commas, UTF-8 without a mark, values as in JSON.
	Plain Dialect = ""
	// ExcelDE is what a German Excel opens as a table: semicolons, a byte order mark, decimal commas, and no text that it
	// would take for a formula.
	ExcelDE Dialect = "excel-de"
)

// End is what a whole file says about itself.
type End struct {
	Records int64
	Cursor  string // for the changes since; "" for none
}

// Writer writes one file. What is not ended by Close is not a whole file, and shows it: NDJSON lacks its last line,
// Parquet its footer; CSV has no mark of its own.
type Writer interface {
	// Write adds an object, as the encoder writes it.
	Write(object []byte) error
	// Close ends the file.
	Close(end End) error
}

// NewWriter begins a file of objects with these columns. Dialect is that of CSV.
func NewWriter(f Format, d Dialect, columns []Column, to io.Writer) (Writer, error) {
	switch f {
	case CSV:
		return newCSV(columns, d, to)
	case Parquet:
		return newParquet(columns, to)
	case NDJSON:
		return &ndjson{to: to}, nil
	}
	return nil, fmt.Errorf("there is no format %q", f)
}

// ndjson writes an object a line, and at the end one that has the member end alone.
type ndjson struct {
	to   io.Writer
	line []byte
}

func (n *ndjson) Write(object []byte) error {
	n.line = append(append(n.line[:0], object...), '\n')
	_, err := n.to.Write(n.line)
	return err
}

func (n *ndjson) Close(end End) error {
	n.line = append(n.line[:0], `{"end":{"records":`...)
	n.line = fmt.Appendf(n.line, "%d", end.Records)
	if end.Cursor != "" {
		n.line = jsontext.AppendString(append(n.line, `,"cursor":`...), end.Cursor)
	}
	n.line = append(n.line, "}}\n"...)
	_, err := n.to.Write(n.line)
	return err
}
