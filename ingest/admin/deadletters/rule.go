package deadletters

import (
	"context"
	"strings"
	"time"

	"tallyhouse/ingest/kafka"
)

// Rule is the reason of a dead letter without what is that message's own: quoted values, numbers and places in lists. So
// messages that break the same rule have the same.
func Rule(reason string) string {
	var rule strings.Builder
	for i := 0; i < len(reason); {
		n := 1
		switch c := reason[i]; {
		case c == '"':
			n = quotation(reason[i:])
			rule.WriteString(`"..."`)
		case isDigit(c) && !(i > 0 && isWord(reason[i-1])):
			for n < len(reason)-i && (isWord(reason[i+n]) || reason[i+n] == '.' && i+n+1 < len(reason) && isDigit(reason[i+n+1])) {
				n++
			}
			rule.WriteByte('#')
		default:
			rule.WriteByte(c)
		}
		i += n
	}
	return rule.String()
}

// quotation is how long the quoted text is with which s begins; all of s when its end is missing.
func quotation(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWord(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// Broken is a rule, and what broke it.
type Broken struct {
	Topic       string
	Rule        string
	Letters     int
	Healed      int       // of these; without tables to ask, none
	First, Last time.Time // when the first and the last of them were refused
	Example     string    // the key of the newest
}

// Summary counts the dead letters by topic and rule, in the order in which each rule was first broken. It returns also
// how many messages in the topic are no dead letters.
func Summary(ctx context.Context, c kafka.Cluster, tables Tables) (all []Broken, foreign int, err error) {
	type rule struct{ topic, text string }
	at := map[rule]int{}
	foreign, err = List(ctx, c, tables, func(l Letter) error {
		this := rule{l.Topic, Rule(l.Reason)}
		i, ok := at[this]
		if !ok {
			i = len(all)
			at[this] = i
			all = append(all, Broken{Topic: this.topic, Rule: this.text, First: l.At, Last: l.At})
		}
		b := &all[i]
		b.Letters++
		if l.State == Healed {
			b.Healed++
		}
		if l.At.Before(b.First) {
			b.First = l.At
		}
		if !l.At.Before(b.Last) {
			b.Last, b.Example = l.At, l.ID()
		}
		return nil
	})
	return all, foreign, err
}
