// Package registry publishes the JSON Schemas of topics at a schema registry that speaks Confluent's protocol, so that
// producers and tools find them where they look for schemas. Tallyhouse itself needs no registry.
package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/sr"

	"tallyhouse/schemas/events"
)

// Options say how to publish.
type Options struct {
	Compatibility sr.CompatibilityLevel // that each subject is set to
	Dry           bool                  // ask and check alone
}

// Published is what became of the schema of a topic.
type Published struct {
	Subject string
	Version int // 0: it isn't published, because of a dry run
	New     bool
}

// Subject is where the registry keeps the schema of a topic's values.
func Subject(topic events.Topic) string { return string(topic) + "-value" }

// Publish brings the schemas of the topics to the registry, all or none: each is checked against the subject's newest
// version first, by the rule that the subject has. One that is there already makes no new version. When the registry fails
// midway, what was published stays; to repeat it does no harm.
func Publish(ctx context.Context, c *sr.Client, topics []events.Topic, o Options) ([]Published, error) {
	schemas := make([]sr.Schema, len(topics))
	all := make([]Published, len(topics))
	var refused []error
	for i, topic := range topics {
		schema, err := events.Schema(topic)
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(schema)
		if err != nil {
			return nil, fmt.Errorf("write the schema of %s: %w", topic, err)
		}
		schemas[i] = sr.Schema{Schema: string(text), Type: sr.TypeJSON}
		if all[i], err = look(ctx, c, Subject(topic), schemas[i]); err != nil {
			err = fmt.Errorf("subject %s: %w", Subject(topic), err)
			if !errors.Is(err, ErrIncompatible) {
				return nil, err // nor would it answer for the others
			}
			refused = append(refused, err)
		}
	}
	if err := errors.Join(refused...); err != nil {
		return nil, err
	}
	if o.Dry {
		return all, nil
	}
	for i := range all {
		if err := all[i].publish(ctx, c, schemas[i], o.Compatibility); err != nil {
			return all[:i], fmt.Errorf("subject %s: %w", all[i].Subject, err)
		}
	}
	return all, nil
}

// ErrIncompatible says that the registry doesn't take a schema after those that the subject has.
var ErrIncompatible = errors.New("the schema is not compatible with the newest version")

// look finds the schema in its subject, or else checks whether it may become the next version.
func look(ctx context.Context, c *sr.Client, subject string, schema sr.Schema) (Published, error) {
	p := Published{Subject: subject}
	found, err := c.LookupSchema(ctx, subject, schema)
	switch failed := (*sr.ResponseError)(nil); {
	case err == nil:
		p.Version = found.Version
		return p, nil
	case errors.As(err, &failed) && failed.ErrorCode == sr.ErrSubjectNotFound.Code:
		p.New = true
		return p, nil
	case !errors.As(err, &failed) || failed.ErrorCode != sr.ErrSchemaNotFound.Code:
		return p, fmt.Errorf("look for the schema: %w", err)
	}
	p.New = true
	const newest = -1
	is, err := c.CheckCompatibility(sr.WithParams(ctx, sr.Verbose), subject, newest, schema)
	if err != nil {
		return p, fmt.Errorf("check the schema: %w", err)
	}
	if !is.Is {
		return p, fmt.Errorf("%w: %s", ErrIncompatible, strings.Join(is.Messages, "; "))
	}
	return p, nil
}

func (p *Published) publish(ctx context.Context, c *sr.Client, schema sr.Schema, level sr.CompatibilityLevel) error {
	if p.New {
		made, err := c.CreateSchema(ctx, p.Subject, schema)
		if err != nil {
			return fmt.Errorf("publish the schema: %w", err)
		}
		p.Version = made.Version
	}
	if have := c.Compatibility(ctx, p.Subject)[0]; have.Err == nil && have.Level == level {
		return nil // others are told by setting it
	}
	if err := c.SetCompatibility(ctx, sr.SetCompatibility{Level: level}, p.Subject)[0].Err; err != nil {
		return fmt.Errorf("set its compatibility: %w", err)
	}
	return nil
}
