package keys_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"tallyhouse/ingest/admin/keys"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/store/database/databasetest"
	"tallyhouse/schemas/events"
)

// userEvent is a version of a user who is active, inactive, or deleted.
func userEvent(tenant, id string, version int64, state string) events.Event {
	e := events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: version, Op: events.Upsert,
		At: time.Now().UTC().Truncate(time.Microsecond)}, Data: &events.User{Name: id, Active: state == "active"}}
	if state == "deleted" {
		e.Op, e.Data = events.Delete, nil
	}
	return e
}

// Given users in the log alone, in the table alone and in both, then the newest state of the owner of a key is told, and nobody else's.
func TestTheOwnerOfAKeyIsFoundInLogAndTable(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	for _, e := range []events.Event{
		userEvent("demo", "log", 1, "active"), userEvent("demo", "left", 2, "inactive"), userEvent("demo", "left", 1, "active"),
		userEvent("demo", "gone", 1, "active"), userEvent("demo", "gone", 2, "deleted"), userEvent("demo", "logger", 1, "active"),
		userEvent("demo2", "elsewhere", 1, "active"),
	} {
		sendEvent(t, c, events.Users, e)
	}
	server := databasetest.Migrated(t, 1)
	insert(t, server, events.Users, userEvent("demo", "left", 1, "active"), userEvent("demo", "table", 3, "active"),
		userEvent("demo", "tableLeft", 3, "inactive"), userEvent("demo", "tableGone", 3, "deleted"), userEvent("demo2", "elsewhere2", 1, "active"))
	sources := keys.Sources{Kafka: c, Shards: []*database.Server{server}}
	for id, want := range map[string]struct{ known, active bool }{
		"log": {true, true}, "left": {true, false}, "gone": {}, "table": {true, true}, "tableLeft": {true, false}, "tableGone": {},
		"elsewhere": {}, "elsewhere2": {}, "logge": {}, "nobody": {},
	} {
		got, err := keys.FindOwner(context.Background(), sources, "demo", id)
		if err != nil || got.Known != want.known || got.Active != want.active {
			t.Errorf("%s is %+v, %v, want %+v", id, got, err, want)
		}
	}
	// And who is in the log is found without a database.
	if got, err := keys.FindOwner(context.Background(), keys.Sources{Kafka: c}, "demo", "log"); err != nil || !got.Active {
		t.Errorf("without a database: %+v, %v", got, err)
	}
}

// Given projects in the log alone, in the table alone and in both, then those are unknown of which the newest state is that they are
// deleted, or that nobody has.
func TestProjectsThatNobodyKnowsOfAreTold(t *testing.T) {
	project := func(tenant, id string, version int64, deleted bool) events.Event {
		e := events.Event{Envelope: events.Envelope{ID: id, TenantID: tenant, Version: version, Op: events.Upsert,
			At: time.Now().UTC().Truncate(time.Microsecond)}, Data: &events.Project{Name: id, Currency: "EUR"}}
		if deleted {
			e.Op, e.Data = events.Delete, nil
		}
		return e
	}
	c := topicstest.Cluster(t, 2)
	for _, e := range []events.Event{
		project("demo", "log", 1, false), project("demo", "gone", 2, true), project("demo", "gone", 1, false), project("demo2", "elsewhere", 1, false),
	} {
		sendEvent(t, c, events.Projects, e)
	}
	server := databasetest.Migrated(t, 1)
	insert(t, server, events.Projects, project("demo", "gone", 1, false), project("demo", "table", 3, false), project("demo", "tableGone", 3, true),
		project("demo2", "elsewhere2", 1, false))
	all := []string{"log", "gone", "table", "tableGone", "elsewhere", "elsewhere2", "lo", "nobody"}
	got, err := keys.UnknownProjects(t.Context(), keys.Sources{Kafka: c, Shards: []*database.Server{server}}, "demo", all)
	if want := []string{"gone", "tableGone", "elsewhere", "elsewhere2", "lo", "nobody"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("unknown are %v, %v, want %v", got, err, want)
	}
	// And those that are in the log are found without a database.
	if got, err := keys.UnknownProjects(t.Context(), keys.Sources{Kafka: c}, "demo", []string{"log"}); err != nil || len(got) != 0 {
		t.Errorf("without a database: %v, %v", got, err)
	}
}
