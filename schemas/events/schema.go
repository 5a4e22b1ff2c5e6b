package events

import (
	"embed"
	"fmt"
)

//go:embed schema/*.schema.json
var schemas embed.FS

// Schema is the JSON Schema (draft 2020-12) of a topic's messages, complete in itself. It says all that a schema can say; Decode refuses
// more, see docs/events.md.
func Schema(topic Topic) ([]byte, error) {
	if !topic.Valid() {
		return nil, fmt.Errorf("schema of %s: %w", quoted(string(topic)), ErrUnknownTopic)
	}
	return schemas.ReadFile("schema/" + string(topic) + ".schema.json")
}
