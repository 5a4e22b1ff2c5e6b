// Package nearest finds the known name that a misspelt one most likely means.
package nearest

import "strings"

const (
	maxTypos  = 3  // more make another word
	maxLength = 60 // of a word that is compared: it may come from anybody
)

// Of is the known name that is the same but for the case of letters, or takes the fewest changes; "" when none is close.
func Of(word string, known []string) string {
	if len(word) > maxLength {
		return ""
	}
	best, fewest := "", maxTypos+1
	for _, k := range known {
		if strings.EqualFold(word, k) {
			return k
		}
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < fewest && d <= len(k)/3+1 {
			best, fewest = k, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to make b of a.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
