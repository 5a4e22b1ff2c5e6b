// Package asyncapi describes the topics of change events to those who write and read them: as an AsyncAPI 3.0 document,
// made from the same tables as the decoder (docs/producing.md).
package asyncapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsonschema"
)

// version is that of the events' description.
const version = "0.1.4"

type document struct {
	AsyncAPI           string               `json:"asyncapi"`
	Info               info                 `json:"info"`
	DefaultContentType string               `json:"defaultContentType"`
	Servers            map[string]server    `json:"servers"`
	Channels           map[string]channel   `json:"channels"`
	Operations         map[string]operation `json:"operations"`
	Components         components           `json:"components"`
}

type info struct {
	Title       string  `json:"title"`
	Version     string  `json:"version"`
	Description string  `json:"description"`
	License     license `json:"license"`
	Tags        []tag   `json:"tags"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

type server struct {
	Host        string              `json:"host"`
	Protocol    string              `json:"protocol"`
	Description string              `json:"description"`
	Variables   map[string]variable `json:"variables"`
}

type variable struct {
	Default     string `json:"default"`
	Description string `json:"description"`
}

type license struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

type channel struct {
	Address     string               `json:"address"`
	Description string               `json:"description,omitempty"`
	Messages    map[string]reference `json:"messages"`
}

type operation struct {
	Action      string    `json:"action"`
	Channel     reference `json:"channel"`
	Description string    `json:"description"`
}

type components struct {
	Messages map[string]message `json:"messages"`
	Schemas  map[string]any     `json:"schemas"`
}

type message struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Summary  string   `json:"summary"`
	Payload  any      `json:"payload"`
	Bindings bindings `json:"bindings"`
}

type bindings struct {
	Kafka kafkaBinding `json:"kafka"`
}

type kafkaBinding struct {
	Key jsonschema.Schema `json:"key"`
}

type reference struct {
	Ref string `json:"$ref"`
}

// written are the topics whose events the service itself writes.
func written(t events.Topic) bool {
	return t == events.ReceivedFeedback || t == events.Readings || t == events.Requests || t == events.Answers
}

// Document is the description, indented JSON.
func Document() ([]byte, error) {
	doc := document{
		AsyncAPI: "3.0.0",
		Info: info{
			Title: "Tallyhouse change events", Version: version,
			Description: "Every message is the complete state of one entity after a change, as JSON in UTF-8. The highest version of an " +
				"entity counts, so repeated, late and reordered messages do no harm.",
			License: license{"Apache 2.0", "https://www.apache.org/licenses/LICENSE-2.0.html"},
			Tags: []tag{
				{"ledger", "Projects and their money: written by data engineers, or by the application that owns them."},
				{"access", "Who may see what: users, memberships, keys."},
				{"intake", "How mailed invoices were read, what people ask the intake for, and what they are answered: written by the service."},
				{"service", "What clients say about the API: written by the service."},
			},
		},
		Servers: map[string]server{"kafka": {
			Host: "{broker}", Protocol: "kafka", Description: "Any of the cluster's brokers.",
			Variables: map[string]variable{"broker": {"127.0.0.1:9092", "host and port"}},
		}},
		DefaultContentType: "application/json",
		Channels:           map[string]channel{}, Operations: map[string]operation{},
		Components: components{map[string]message{}, map[string]any{}},
	}
	for _, t := range events.Topics() {
		if err := doc.add(t); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the description of events: %w", err)
	}
	return append(text, '\n'), nil
}

func (d *document) add(t events.Topic) error {
	s, err := events.Schema(t)
	if err != nil {
		return fmt.Errorf("describe events: %w", err)
	}
	for i, name := range s.Defs.Names {
		part, err := below(s.Defs.Schemas[i])
		if err != nil {
			return fmt.Errorf("describe events: the schema %s: %w", name, err)
		}
		if other, ok := d.Components.Schemas[name]; ok && !bytes.Equal(other.(json.RawMessage), part) {
			return fmt.Errorf("describe events: two schemas named %s differ", name)
		}
		d.Components.Schemas[name] = part
	}
	s.Dialect, s.ID, s.Defs = "", "", nil
	payload, err := below(s)
	if err != nil {
		return fmt.Errorf("describe events: the schema of %s: %w", t, err)
	}
	name := string(t)
	d.Components.Schemas[name] = payload
	d.Components.Messages[name] = message{
		Name: name, Title: name, Summary: "The state of an entity after a change, or its deletion.",
		Payload: reference{"#/components/schemas/" + name},
		Bindings: bindings{kafkaBinding{jsonschema.Schema{Type: "string",
			Description: "tenantId/id. Partition by Kafka's default, murmur2 of the key."}}},
	}
	d.Channels[name] = channel{Address: name, Messages: map[string]reference{"event": {"#/components/messages/" + name}}}
	o := operation{Action: "receive", Channel: reference{"#/channels/" + name}, Description: "Takes the changes of " + name + "."}
	if written(t) {
		o.Action, o.Description = "send", "Writes "+name+"."
	}
	d.Operations[o.Action+"."+name] = o
	return nil
}

// below is a schema whose references point into the document's components.
func below(s *jsonschema.Schema) (json.RawMessage, error) {
	text, err := json.Marshal(s)
	return json.RawMessage(strings.ReplaceAll(string(text), `"$ref":"#/$defs/`, `"$ref":"#/components/schemas/`)), err
}
