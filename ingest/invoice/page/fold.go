package page

import (
	"strings"

	"tallyhouse/ingest/invoice/page/words"
)

// fold is words.Fold: a byte for each character, as the patterns want it.
func fold(s []rune) string { return words.Fold(s) }

// foldText is fold for comparison: one space between words, none around.
func foldText(s string) string {
	return strings.Join(strings.Fields(fold([]rune(s))), " ")
}

// Key is the comparable form of a name or number: its letters and digits.
func Key(s string) string { return compact(foldText(s)) }
