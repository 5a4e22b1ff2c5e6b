package registry_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/sr"

	"tallyhouse/ingest/admin/registry"
	"tallyhouse/ingest/admin/registry/registrytest"
	"tallyhouse/schemas/events"
)

func client(t *testing.T, r *registrytest.Registry) *sr.Client {
	t.Helper()
	c, err := sr.NewClient(sr.URLs(r.URL))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Given an empty registry, when schemas are published, then each topic's subject has one version and its compatibility, a
// dry run before has left nothing, and repeating it changes nothing.
func TestSchemasArePublishedOnce(t *testing.T) {
	r := registrytest.Start(t)
	o := registry.Options{Compatibility: sr.CompatBackward}
	dry, err := registry.Publish(t.Context(), client(t, r), events.Topics(), registry.Options{Dry: true})
	if err != nil || len(dry) != len(events.Topics()) || !dry[0].New || dry[0].Version != 0 || r.Writes() != 0 {
		t.Fatalf("dry: %v, %v, %d writes", dry, err, r.Writes())
	}
	all, err := registry.Publish(t.Context(), client(t, r), events.Topics(), o)
	if err != nil || len(all) != len(events.Topics()) {
		t.Fatalf("%v, %v", all, err)
	}
	for i, topic := range events.Topics() {
		schema, versions, level := r.Subject(string(topic) + "-value")
		if !strings.Contains(schema, `"urn:tallyhouse:events:`+string(topic)+`"`) || versions != 1 || level != "BACKWARD" {
			t.Errorf("%s: %d versions, %s, %.200s", topic, versions, level, schema)
		}
		if want := (registry.Published{Subject: registry.Subject(topic), Version: 1, New: true}); all[i] != want {
			t.Errorf("%+v, not %+v", all[i], want)
		}
	}
	written := r.Writes()
	again, err := registry.Publish(t.Context(), client(t, r), events.Topics(), o)
	if err != nil || again[0].New || again[0].Version != 1 || r.Writes() != written {
		t.Errorf("again: %v, %v, %d writes more", again, err, r.Writes()-written)
	}
	o.Compatibility = sr.CompatFull
	if _, err := registry.Publish(t.Context(), client(t, r), events.Topics()[:1], o); err != nil {
		t.Error(err)
	}
	if _, versions, level := r.Subject(registry.Subject(events.Topics()[0])); versions != 1 || level != "FULL" {
		t.Errorf("another compatibility: %d versions, %s", versions, level)
	}
}

// Given a subject with an older schema, then a compatible one is its next version; where the registry says that one of
// several is not, none is published.
func TestIncompatibleSchemasAreNotPublished(t *testing.T) {
	r := registrytest.Start(t)
	o := registry.Options{Compatibility: sr.CompatBackward}
	for _, topic := range []events.Topic{events.Records, events.Contracts} {
		r.Put(registry.Subject(topic), `{"type":"object"}`)
	}
	r.Refuse(registry.Subject(events.Contracts), "a property was removed")
	_, err := registry.Publish(t.Context(), client(t, r), events.Topics(), o)
	if !errors.Is(err, registry.ErrIncompatible) || r.Writes() != 0 ||
		!strings.Contains(err.Error(), "subject ledger.contracts-value: ") || !strings.Contains(err.Error(), "a property was removed") {
		t.Fatalf("%v, %d writes", err, r.Writes())
	}
	all, err := registry.Publish(t.Context(), client(t, r), []events.Topic{events.Records}, o)
	if err != nil || all[0] != (registry.Published{Subject: "ledger.records-value", Version: 2, New: true}) {
		t.Errorf("%v, %v", all, err)
	}
}

func TestARegistryThatRefusesIsToldOf(t *testing.T) {
	r := registrytest.Start(t)
	r.User, r.Password = "producer", "right"
	_, err := registry.Publish(t.Context(), client(t, r), []events.Topic{events.Records}, registry.Options{Compatibility: sr.CompatBackward})
	if err == nil || !strings.Contains(err.Error(), "subject ledger.records-value: look for the schema: Unauthorized") {
		t.Error(err)
	}
}
