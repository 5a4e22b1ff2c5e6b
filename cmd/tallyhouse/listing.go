package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"tallyhouse/schemas/events"
)

// listing is how the messages of a topic are printed: as a table, or as one JSON object per line.
type listing[M any] struct {
	topic  events.Topic
	what   string         // what the messages are
	header string         // of the table
	row    func(M) string // of the table, a line
	object func(M) any    // what --json prints
	asJSON bool
}

func (l *listing[M]) flag(flags *pflag.FlagSet) { jsonFlag(flags, &l.asJSON) }

// print prints the messages as they come. read calls its argument with each, and returns how many messages of the topic
// are something else.
func (l *listing[M]) print(s *shell, read func(each func(M) error) (foreign int, err error)) error {
	lines, count := s.jsonLines(), 0
	foreign, err := read(func(m M) error {
		if l.asJSON {
			return lines.Encode(l.object(m))
		}
		if count++; count == 1 {
			fmt.Fprintln(s.out, l.header)
		}
		_, err := fmt.Fprintln(s.out, l.row(m))
		return err
	})
	if err != nil {
		return fmt.Errorf("list %s: %w", l.what, err)
	}
	if foreign > 0 {
		s.log.Warn("messages in the topic that are no "+l.what, "topic", l.topic, "messages", foreign)
	}
	if count == 0 && !l.asJSON {
		fmt.Fprintln(s.err, "no", l.what)
	}
	return nil
}

func jsonFlag(flags *pflag.FlagSet, asJSON *bool) {
	flags.BoolVar(asJSON, "json", false, "one JSON object per line")
}

// jsonLines writes one JSON object per line to standard output.
func (s *shell) jsonLines() *json.Encoder {
	lines := json.NewEncoder(s.out)
	lines.SetEscapeHTML(false)
	return lines
}
