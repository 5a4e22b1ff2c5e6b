// Package typed sets pages of text as a typewriter does: characters of one width, two or more spaces between cells. The
// sample pages of the reader, in testdata of package page, are written so.
package typed

import (
	"strings"

	"tallyhouse/ingest/invoice/text"
)

// Document is a document of one page.
func Document(lines string) text.Document {
	const width, height, left = 5.5, 12, 40
	var set []text.Word
	row := 0
	for line := range strings.Lines(lines) {
		row++
		column := 0
		for _, word := range strings.Split(strings.TrimRight(line, "\n"), " ") {
			n := len([]rune(word))
			if n > 0 {
				x := left + width*float64(column)
				set = append(set, text.Word{Text: word, X0: x, X1: x + width*float64(n), Y: float64(60 + height*row), Size: 10})
			}
			column += n + 1
		}
	}
	return text.Document{Pages: []text.Page{text.FromWords(1, 595, 842, set)}}
}
