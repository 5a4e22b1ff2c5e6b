package events

import (
	"encoding/json"
	"fmt"
)

// asyncAPI is an AsyncAPI 3.0 document, as far as it says anything here.
type asyncAPI struct {
	AsyncAPI           string                    `json:"asyncapi"`
	Info               asyncInfo                 `json:"info"`
	DefaultContentType string                    `json:"defaultContentType"`
	Channels           map[string]asyncChannel   `json:"channels"`
	Operations         map[string]asyncOperation `json:"operations"`
}

type asyncInfo struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type asyncChannel struct {
	Address  string                  `json:"address"`
	Messages map[string]asyncMessage `json:"messages"`
	Bindings asyncBindings           `json:"bindings"`
}

type asyncMessage struct {
	Name     string        `json:"name"`
	Title    string        `json:"title"`
	Summary  string        `json:"summary"`
	Payload  asyncPayload  `json:"payload"`
	Bindings asyncBindings `json:"bindings"`
}

type asyncPayload struct {
	Format string `json:"schemaFormat"`
	Schema any    `json:"schema"`
}

type asyncBindings struct {
	Kafka map[string]any `json:"kafka"`
}

type asyncOperation struct {
	Action  string         `json:"action"`
	Channel asyncReference `json:"channel"`
	Summary string         `json:"summary"`
}

type asyncReference struct {
	Ref string `json:"$ref"`
}

const bindingVersion = "0.5.0" // of AsyncAPI's bindings for Kafka

// AsyncAPI is the AsyncAPI document of all topics that applications send changes to: each with its JSON Schema, and how
// messages are keyed.
func AsyncAPI() ([]byte, error) {
	document := asyncAPI{
		AsyncAPI: "3.0.0",
		Info: asyncInfo{
			Title: "Tallyhouse change events", Version: "0",
			Description: "What applications tell Tallyhouse, on Kafka: each message is the complete state of one entity after a change. " +
				"The highest version of an entity counts, so repetitions do no harm. Rules that a schema can't say are in docs/events.md.",
		},
		DefaultContentType: "application/json",
		Channels:           map[string]asyncChannel{},
		Operations:         map[string]asyncOperation{},
	}
	for _, topic := range Topics() {
		if topic == ReceivedFeedback || topic == Readings {
			continue // Tallyhouse's own
		}
		schema, err := Schema(topic)
		if err != nil {
			return nil, err
		}
		name := string(topic)
		document.Channels[name] = asyncChannel{
			Address: name,
			Messages: map[string]asyncMessage{"change": {
				Name: name, Title: "Change on " + name, Summary: "The complete state of an entity, or that it was deleted",
				Payload: asyncPayload{Format: "application/schema+json;version=draft-2020-12", Schema: schema},
				Bindings: asyncBindings{Kafka: map[string]any{
					"bindingVersion": bindingVersion,
					"key":            map[string]any{"type": "string", "description": "tenantId/id; partition by murmur2, Kafka's default"},
				}},
			}},
			Bindings: asyncBindings{Kafka: map[string]any{
				"bindingVersion":     bindingVersion,
				"topic":              name,
				"topicConfiguration": map[string]any{"cleanup.policy": []string{"delete"}, "retention.ms": -1, "retention.bytes": -1},
			}},
		}
		document.Operations[name] = asyncOperation{
			Action: "receive", Channel: asyncReference{"#/channels/" + name}, Summary: "Tallyhouse takes changes of " + name,
		}
	}
	text, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the AsyncAPI document: %w", err)
	}
	return append(text, '\n'), nil
}
