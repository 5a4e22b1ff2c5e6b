package events

import (
	"errors"
	"fmt"
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
