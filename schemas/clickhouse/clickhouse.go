// Package clickhouse holds what writer and reader both know of the database: the migrations as SQL files, in the order
// of their numbers, the rolls, and the parts that all stored rows share. A migration that has been released is frozen
// text, its hash pinned by a test; what changes gets a file of its own.
package clickhouse

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

//go:embed *.sql
var files embed.FS

// Version is the number of the newest migration.
const Version = 16

// Target says what kind of installation the statements are for.
type Target struct {
	Cluster    string // name of the ClickHouse cluster, as remote_servers lists it; "" for one server
	Replicated bool   // the cluster's shards have replicas: engines are Replicated and statements run ON CLUSTER, which takes a Keeper
	Durable    bool   // write through to the disk on every insert: everywhere but under dev
}

// Migration is one step of the schema.
type Migration struct {
	Version    int
	Name       string
	Statements []string
	SHA256     string // of the file, hex, to notice a released migration that was edited
}

var (
	fileName     = regexp.MustCompile(`^(\d{4})_([a-z0-9_]+)\.sql$`)
	statementEnd = regexp.MustCompile(`;[ \t]*(\n|$)`)
)

// Migrations returns the schema's steps in order. The first, version 0, is what migrating itself stands on: its
// statements are run before every migration and do nothing where they were run before.
func Migrations(t Target) ([]Migration, error) {
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	var steps []Migration
	for i, name := range names {
		m := fileName.FindStringSubmatch(name)
		if m == nil {
			return nil, fmt.Errorf("migration %s: want a name like 0001_what_it_does.sql", name)
		}
		version, err := strconv.Atoi(m[1])
		if err != nil || version != i {
			return nil, fmt.Errorf("migration %s: want number %04d", name, i)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration %s: %w", name, err)
		}
		statements, err := t.statements(name, string(text))
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		steps = append(steps, Migration{Version: version, Name: m[2], Statements: statements, SHA256: hex.EncodeToString(sum[:])})
	}
	return steps, nil
}

func (t Target) statements(name, text string) ([]string, error) {
	parsed, err := template.New(name).Funcs(template.FuncMap{
		"onCluster": t.OnCluster, "engine": t.engine, "durable": t.durable,
	}).Parse(text)
	if err != nil {
		return nil, fmt.Errorf("parse migration %s: %w", name, err)
	}
	var b strings.Builder
	if err := parsed.Execute(&b, nil); err != nil {
		return nil, fmt.Errorf("fill migration %s: %w", name, err)
	}
	var out []string
	for _, s := range statementEnd.Split(b.String(), -1) {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out, nil
}

// OnCluster is the clause that makes a statement run on every server, "" where there is only one or each is given by
// itself.
func (t Target) OnCluster() string {
	if !t.Replicated {
		return ""
	}
	return "ON CLUSTER " + Quote(t.Cluster)
}

func (t Target) engine(name string, args ...string) string {
	if t.Replicated {
		name = "Replicated" + name
		args = append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, args...)
	}
	return name + "(" + strings.Join(args, ", ") + ")"
}

// durable are the settings that bring an insert to the disk before it counts: a position is a maximum and would not
// show an earlier part that a power loss took.
func (t Target) durable() string {
	if !t.Durable {
		return "fsync_after_insert = 0"
	}
	return strings.Join(DurableSettings(), ", ")
}

// DurableSettings are the settings of a table whose rows survive a power loss from the moment on that their insert
// counts.
func DurableSettings() []string {
	return []string{"fsync_after_insert = 1", "fsync_part_directory = 1", "min_rows_to_fsync_after_merge = 1"}
}

// Quote writes an identifier so that it is one, whatever it contains.
func Quote(identifier string) string {
	return "`" + strings.NewReplacer(`\`, `\\`, "`", "\\`").Replace(identifier) + "`"
}
