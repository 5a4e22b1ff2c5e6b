package events

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// ErrTombstone is what Decode returns for a null message value. Log compaction leaves such messages after deletes; the
// caller decides, from what it knows of the entity, whether this is one.
var ErrTombstone = errors.New("a null value is no change event: it has no version; send a delete instead")

// ErrUnknownTopic is what Decode, Encode and Schema return for a topic that carries no entity.
var ErrUnknownTopic = errors.New("not a topic of change events; see docs/events.md for the topics")

// Invalid is the refusal of a message: one rule that one member breaks.
type Invalid struct {
	// Member is a path from the message's top, like data.allocations[2].net; "key" for the message's key, "" for the
	// message as a whole.
	Member string
	// Rule is the rest of the sentence that begins with the member.
	Rule string
}

// Error is one sentence on one line, with at most a few hundred characters of the message.
func (e *Invalid) Error() string {
	if e.Member == "" {
		return "the message " + e.Rule
	}
	return e.Member + " " + e.Rule
}

// within puts the name or index of the enclosing member in front of the path.
func (e *Invalid) within(name string) {
	if e.Member != "" && e.Member[0] != '[' {
		name += "."
	}
	e.Member = name + e.Member
}

const longestEcho = 60 // characters of a delivered value in a message

// clip shortens a delivered value.
func clip(s string) string {
	if utf8.RuneCountInString(s[:min(len(s), longestEcho*utf8.UTFMax)]) <= longestEcho {
		return s
	}
	end := 0
	for range longestEcho {
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
	}
	return s[:end] + "…"
}

// quoted is a delivered value as it can be shown: short, on one line.
func quoted(s string) string { return fmt.Sprintf("%q", clip(s)) }

// plainName is a delivered member name as it can be shown in a path.
func plainName(name string) string {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '$' {
			return quoted(name)
		}
	}
	if name == "" {
		return `""`
	}
	return clip(name)
}

// nearest is the known name that a misspelt one most likely means; "" when none is close.
func nearest(name string, known []string) string {
	best, least := "", 3 // more than two edits make another word
	for _, k := range known {
		if strings.EqualFold(k, name) {
			return k
		}
		if d := editDistance(clip(name), k); d < least && d*2 <= len(k) {
			best, least = k, d
		}
	}
	return best
}

// editDistance is how many letters must be inserted, deleted, changed or swapped with their neighbour to turn a into b.
func editDistance(a, b string) int {
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
