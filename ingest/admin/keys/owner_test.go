package keys_test

import (
	"context"
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
