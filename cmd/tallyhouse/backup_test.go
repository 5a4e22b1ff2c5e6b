package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
	schema "tallyhouse/schemas/clickhouse"
)

// drill is an installation whose workers come and go.
type drill struct {
	*testing.T
	*shell
	servers servers
	env     map[string]string
	db      clickhouse.Conn // in no database
}

func newDrill(t *testing.T) *drill {
	t.Helper()
	addr, name := clickhousetest.Database(t)
	d := &drill{T: t, shell: &shell{out: io.Discard, err: io.Discard, log: slog.New(slog.DiscardHandler)}}
	d.servers = servers{kafka: topicstest.Cluster(t, 2), shards: []database.Options{{Addr: addr, Database: name, User: "default"}}}
	d.env = broker(d.servers.kafka)
	d.env["TALLYHOUSE_CLICKHOUSE"], d.env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = addr, name
	_, err := migrate.Up(t.Context(), d.servers.shards, migrate.Options{Target: schema.Target{}, Log: d.log})
	d.must(err)
	d.db, err = clickhouse.Open(&clickhouse.Options{Addr: []string{addr}})
	d.must(err)
	t.Cleanup(func() { _ = d.db.Close() })
	return d
}

func (d *drill) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

// ingest runs a worker until stop is called.
func (d *drill) ingest() (stop func()) {
	_, stop = d.startWorker()
	return stop
}

// startWorker runs a worker until stop is called.
func (d *drill) startWorker() (w *runningWorker, stop func()) {
	d.Helper()
	flags := ingestFlags{group: "tallyhouse", freshness: 20 * time.Millisecond}
	w, err := d.openWorker(d.Context(), flags, d.servers, schema.Target{}, prometheus.NewRegistry())
	d.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return w, func() {
		cancel()
		if err := <-done; err != nil {
			d.Error(err)
		}
		w.close()
	}
}

// command runs a command that must succeed.
func (d *drill) command(stdin string, args ...string) {
	d.Helper()
	if o := tallyhouse(d.T, d.env, stdin, args...); o.code != exitDone {
		d.Fatalf("%s: %+v", strings.Join(args, " "), o)
	}
}

// stored is a digest of all records.
func (d *drill) stored() (digest string) {
	d.Helper()
	var rows, sum uint64
	query := fmt.Sprintf("SELECT count(), sum(cityHash64(id, row_version)) FROM `%s`.records FINAL WHERE tenant != ''", d.servers.shards[0].Database)
	d.must(d.db.QueryRow(d.Context(), query).Scan(&rows, &sum))
	return fmt.Sprint(rows, " records, ", sum)
}

// Given a backup that is made while records come in, when it is restored in place of a database that went further, then
// `adopt` takes it over, workers catch up from Kafka, everything is there again, and verify finds no drift:
// docs/operations.md#backup-and-restore.
func TestABackupUnderLoadIsRestoredAdoptedAndCaughtUp(t *testing.T) {
	d := newDrill(t)
	sample := tallyhouse(t, nil, "", "sample", "--projects", "2", "--records", "600")
	lines := strings.SplitAfter(sample.out, "\n")
	half := len(lines) / 2
	stop := d.ingest()
	d.command(strings.Join(lines[:half], ""), "load", "--wait", "-")
	loaded := make(chan outcome, 1)
	go func() { loaded <- tallyhouse(t, d.env, strings.Join(lines[half:], ""), "load", "--wait", "-") }()
	database := d.servers.shards[0].Database
	file := database + "-backup" // among the engine's backups
	backup := d.db.Exec(t.Context(), fmt.Sprintf("BACKUP DATABASE `%s` TO File('%s')", database, file))
	if o := <-loaded; o.code != exitDone {
		t.Fatalf("%+v", o)
	}
	d.must(backup)
	before := d.stored()
	stop()

	d.must(d.db.Exec(t.Context(), fmt.Sprintf("DROP DATABASE `%s` SYNC", database)))
	d.must(d.db.Exec(t.Context(), fmt.Sprintf("RESTORE DATABASE `%s` FROM File('%s')", database, file)))
	d.command("", "adopt")
	stop = d.ingest()
	defer stop()

	caughtUp := until((&process{TB: t}).within(startsWithin), func() error {
		if now := d.stored(); now != before {
			return fmt.Errorf("stored are %s, before %s", now, before)
		}
		return nil
	})
	d.must(caughtUp)
	d.command("", "verify")
}

// Given a backup that was made while a command kept writers out, when it is restored, then `adopt` ends the hold that
// came with it: the command that had it is long over. A hold that was put up since is somebody's, and it says how to end it.
func TestABackupFromTheMiddleOfACommandIsAdopted(t *testing.T) {
	d := newDrill(t)
	sample := tallyhouse(t, nil, "", "sample", "--projects", "1", "--records", "50")
	stop := d.ingest()
	d.command(sample.out, "load", "--wait", "-")
	stop()
	release := d.hold("tallyhouse verify")
	time.Sleep(time.Second) // when a table was made is known in whole seconds
	name := d.servers.shards[0].Database
	d.must(d.db.Exec(t.Context(), fmt.Sprintf("BACKUP DATABASE `%s` TO File('%[1]s-backup')", name)))
	release()

	d.must(d.db.Exec(t.Context(), fmt.Sprintf("DROP DATABASE `%s` SYNC", name)))
	d.must(d.db.Exec(t.Context(), fmt.Sprintf("RESTORE DATABASE `%s` FROM File('%[1]s-backup')", name)))
	d.command("", "adopt")
	d.command("", "verify")

	release = d.hold("tallyhouse rebuild")
	o := tallyhouse(t, d.env, "", "adopt")
	if o.code != exitFailed || !strings.Contains(o.err, "tallyhouse rebuild on ") ||
		!strings.Contains(o.err, "tallyhouse release ledger.records") {
		t.Errorf("while a command works on the tables: %+v", o)
	}
	release()
	d.command("", "adopt")
}

// hold keeps the writers of records out, as a command does, until release is called.
func (d *drill) hold(command string) (release func()) {
	d.Helper()
	server, err := database.Open(d.servers.shards[0], 1)
	d.must(err)
	hold, err := fence.Take(d.Context(), server, "ledger.records", []int32{0, 1}, fence.NewHolder(command))
	d.must(err)
	return func() {
		d.Helper()
		d.must(hold.Release(d.Context(), server))
		d.must(server.Close())
	}
}
