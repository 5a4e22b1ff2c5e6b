// Package databasetest gives a test a database of its own on the real engine.
package databasetest

import (
	"context"
	"testing"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/clickhouse/schematest"
)

// Empty is a database without tables, with as many connections for inserts.
func Empty(t testing.TB, inserts int) *database.Server {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	server, err := database.Open(database.Options{Addr: addr, Database: name, User: "default"}, inserts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server
}

// Migrated is a database with all tables and views.
func Migrated(t testing.TB, inserts int) *database.Server {
	t.Helper()
	server := Empty(t, inserts)
	schematest.Make(t, func(sql string) error { return server.Exec(context.Background(), database.Statement{SQL: sql}) })
	return server
}
