package database

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// A connection that names a database which does not exist ends the embedded engine. So whoever isn't sure asks first,
// through a connection that names one which always exists.
func without(o Options) (*Server, error) {
	o.Database = "system"
	return Open(o, 1)
}

const exists = `SELECT count() > 0 FROM system.databases WHERE name = {name:String}`

// Exists reports whether the server has the database.
func (s *Server) Exists(ctx context.Context) (found bool, err error) {
	asking, err := without(s.options)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, asking.Close()) }()
	if err := asking.Row(ctx, Query{SQL: exists, Params: Params{"name": s.options.Database}}, &found); err != nil {
		return false, fmt.Errorf("ask ClickHouse at %s whether it has database %s: %w", s.Addr(), s.Name(), err)
	}
	return found, nil
}

// Create makes the database if the server doesn't have it. onCluster is the clause that makes it on other servers too,
// or "".
func Create(ctx context.Context, o Options, onCluster string) (err error) {
	asking, err := without(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, asking.Close()) }()
	quoted := "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(o.Database) + "`"
	if err := asking.Exec(ctx, Statement{SQL: "CREATE DATABASE IF NOT EXISTS " + quoted + " " + onCluster}); err != nil {
		return fmt.Errorf("create database %s at %s: %w", o.Database, o.Addr, err)
	}
	return nil
}
