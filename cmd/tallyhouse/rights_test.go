package main

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Given users of ClickHouse and of Kafka who may do what deploy/rights lets the user of each process do and nothing else, then each
// process does all that it has to do, a worker ends what another user's worker left behind, and who only reads can't write:
// docs/security.md#rights.
func TestTheRightsSuffice(t *testing.T) {
	engine := clickhousetest.Start(t)
	users := grantsOfRoles(t)
	users["another_worker"] = users["tallyhouse_worker"]
	if err := engine.RestartWithUsers(users); err != nil {
		t.Fatal(err)
	}
	kafkaAddr := brokerWithACLs(t)
	d := &usersDrill{drill: &drill{T: t, shell: &shell{out: io.Discard, err: io.Discard, log: slog.New(slog.DiscardHandler)}},
		kafka: kafkaAddr, shards: []string{engine.Addr()}}

	d.run("tallyhouse_operator", "", "topics", "--partitions", "2")
	d.run("tallyhouse_operator", "", "migrate")
	d.servers = d.serversFor("tallyhouse_worker", "tallyhouse_worker")
	_, stop := d.startWorker()
	defer func() { stop() }()
	lines := d.load()
	d.run("tallyhouse_operator", "", "keys", "list", "--tenant", "demo")

	d.readsAll()

	// What the desk sends; nobody could read the value, so none is a change.
	desk := confirmations{d.serversFor("tallyhouse_desk", "tallyhouse_reader").kafka}
	for _, topic := range []events.Topic{events.Records, events.Readings, events.Requests} {
		d.must(desk.Publish(t.Context(), topic, []byte("demo/x"), []byte("{}")))
	}
	if err := desk.Publish(t.Context(), events.Keys, []byte("demo/x"), []byte("{}")); err == nil {
		t.Error("the desk makes keys")
	}

	// The next worker runs as another user, while an insert of the first one hangs.
	stop()
	stop = func() {}
	hanging := insertThatHangs(t, engine.Addr(), "tallyhouse_worker", "tallyhouse/ledger.records/0/hangs")
	d.servers = d.serversFor("tallyhouse_worker", "another_worker")
	_, stop = d.startWorker()
	d.run("tallyhouse_producer", strings.ReplaceAll(lines, `"version":1,`, `"version":100,`), "load", "--wait", "-")
	if err := <-hanging; err == nil || !strings.Contains(err.Error(), "cancelled") && !strings.Contains(err.Error(), "killed") {
		t.Errorf("the insert that hung ended with %v", err)
	}

	d.run("tallyhouse_operator", "", "verify")
	d.run("tallyhouse_operator", "", "rebuild", "all")
	d.run("tallyhouse_operator", "", "adopt")
	d.run("tallyhouse_operator", "", "topics", "resize")
	d.run("tallyhouse_operator", "", "verify")

	// What may not be done is told with what allows it.
	for what, args := range map[string][]string{"deploy/rights/clickhouse.sql": {"migrate"}, "docs/security.md#rights": {"topics", "--partitions", "2"}} {
		env := maps.Clone(d.env)
		env["TALLYHOUSE_CLICKHOUSE_USER"], env["TALLYHOUSE_KAFKA_USER"] = "tallyhouse_reader", "tallyhouse_reader"
		if o := tallyhouse(t, env, "", args...); o.code != exitFailed || !strings.Contains(o.err, what) {
			t.Errorf("%v says %+v", args, o)
		}
	}
	reader, err := clickhouse.Open(&clickhouse.Options{Addr: []string{engine.Addr()}, Auth: clickhouse.Auth{Username: "tallyhouse_reader"}})
	d.must(err)
	t.Cleanup(func() { _ = reader.Close() })
	if err := reader.Exec(t.Context(), "INSERT INTO tallyhouse.records (id) VALUES ('x')"); err == nil || !strings.Contains(err.Error(), "INSERT") {
		t.Errorf("who reads writes: %v", err)
	}
	// And who reads sees the parts of tables: without that right everything is answered, at a higher cost.
	var parts uint64
	err = reader.QueryRow(t.Context(), "SELECT count() FROM system.parts WHERE database = 'tallyhouse' AND table = 'records' AND active").Scan(&parts)
	if err != nil || parts == 0 {
		t.Errorf("who reads sees %d parts: %v", parts, err)
	}
}

// Given two shards and users who may do there what deploy/rights lets them do with several servers, then the tables over all shards are
// made, and made anew, a worker writes to both shards, and the API reads them through either: docs/operations.md#shards. Statements ON
// CLUSTER are not among this, which the embedded engine doesn't run.
func TestTheRightsSufficeOnACluster(t *testing.T) {
	users := grantsOfRoles(t, "clickhouse-cluster.sql")
	var shards []string
	for _, shard := range clickhousetest.StartCluster(t, "main", 2) {
		if err := shard.RestartWithUsers(users); err != nil {
			t.Fatal(err)
		}
		shards = append(shards, shard.Addr())
	}
	kafkaAddr := brokerWithACLs(t)
	d := &usersDrill{drill: &drill{T: t, shell: &shell{out: io.Discard, err: io.Discard, log: slog.New(slog.DiscardHandler)}},
		kafka: kafkaAddr, shards: shards}

	d.run("tallyhouse_operator", "", "topics", "--partitions", "2")
	for range 2 {
		d.run("tallyhouse_operator", "", "migrate", "--cluster", "main", "--no-replicas")
	}
	d.servers = d.serversFor("tallyhouse_worker", "tallyhouse_worker")
	_, stop := d.startWorker()
	defer stop()
	d.load()

	d.readsAll()
	d.run("tallyhouse_operator", "", "verify")
	d.run("tallyhouse_operator", "", "rebuild", "all")
}

// usersDrill is a drill in which each process has a user of its own.
type usersDrill struct {
	*drill
	kafka  string
	shards []string
}

// run runs a command as a user.
func (d *usersDrill) run(user, stdin string, args ...string) {
	d.Helper()
	d.env = map[string]string{
		"TALLYHOUSE_KAFKA": d.kafka, "TALLYHOUSE_KAFKA_USER": user, "TALLYHOUSE_KAFKA_PASSWORD": passwordOfAll,
		"TALLYHOUSE_CLICKHOUSE": strings.Join(d.shards, ","), "TALLYHOUSE_CLICKHOUSE_USER": user,
	}
	if user == "tallyhouse_producer" { // it waits until what it sent is stored
		d.env["TALLYHOUSE_CLICKHOUSE_USER"] = "tallyhouse_reader"
	}
	d.command(stdin, args...)
}

// serversFor are the servers as two users have them.
func (d *usersDrill) serversFor(kafkaUser, clickhouseUser string) servers {
	d.Helper()
	cluster, err := kafka.Connect(kafka.Access{Addrs: []string{d.kafka}, User: kafkaUser, Password: passwordOfAll, SASL: "PLAIN"})
	d.must(err)
	d.Cleanup(cluster.Close)
	of := servers{kafka: cluster}
	for _, addr := range d.shards {
		of.shards = append(of.shards, database.Options{Addr: addr, Database: "tallyhouse", User: clickhouseUser})
	}
	return of
}

// load loads a sample, and returns its lines.
func (d *usersDrill) load() string {
	d.Helper()
	sample := tallyhouse(d.T, nil, "", "sample", "--projects", "2", "--records", "200")
	lines := sample.out + sampleKey{key: sampleAdmin, owner: "ada", financial: true}.line()
	d.run("tallyhouse_producer", lines, "load", "--wait", "-")
	return lines
}

// readsAll checks that an API that may only read answers.
func (d *usersDrill) readsAll() {
	d.Helper()
	api := &process{TB: d.T, shell: d.shell, servers: d.serversFor("tallyhouse_reader", "tallyhouse_reader")}
	url := api.api("")
	d.eventually("the API is ready", func() error { return ready(url) })
	for _, path := range []string{"/projects", "/records?limit=5", "/contracts", "/projects/pr-0001/budget", "/projects/pr-0001/cashflow",
		"/projects/pr-0001/facilities"} {
		if status, body := api.get(url+"/v0"+path, sampleAdmin); status != http.StatusOK {
			d.Errorf("%s: %d %v", path, status, body)
		}
	}
}

// grantsOfRoles are the GRANT statements of each role, without the role: those of clickhouse.sql, and of more files.
func grantsOfRoles(t *testing.T, more ...string) map[string][]string {
	t.Helper()
	roles, made := map[string][]string{}, 0
	for _, name := range append([]string{"clickhouse.sql"}, more...) {
		text, err := os.ReadFile("../../deploy/rights/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(GRANT [^;]+) TO (\w+);$`).FindAllStringSubmatch(string(text), -1) {
			roles[m[2]] = append(roles[m[2]], m[1])
		}
		made += strings.Count(string(text), "CREATE ROLE")
	}
	if len(roles) != made {
		t.Fatalf("%d roles are created, %d have grants", made, len(roles))
	}
	return roles
}

const passwordOfAll = "right"

// brokerWithACLs is a broker whose users may do what deploy/rights/kafka.sh, which is run, lets them do.
func brokerWithACLs(t *testing.T) (addr string) {
	t.Helper()
	acls := map[string][]kfake.ACL{}
	script := exec.CommandContext(t.Context(), "sh", "../../deploy/rights/kafka.sh")
	script.Env = append(os.Environ(), "ACLS=echo")
	rules, err := script.Output()
	if err != nil {
		t.Fatal(err)
	}
	form := regexp.MustCompile(`^--add --allow-principal User:(\w+) --operation (\w+) --(topic|group) (\S+) --resource-pattern-type prefixed\n$`)
	for rule := range strings.Lines(string(rules)) {
		m := form.FindStringSubmatch(rule)
		if m == nil {
			t.Fatalf("%q is no rule that this test knows", rule)
		}
		operation, err := kmsg.ParseACLOperation(m[2])
		if err != nil {
			t.Fatal(err)
		}
		resource, err := kmsg.ParseACLResourceType(m[3])
		if err != nil {
			t.Fatal(err)
		}
		acls[m[1]] = append(acls[m[1]], kfake.ACL{Resource: resource, Name: m[4], Pattern: kmsg.ACLResourcePatternTypePrefixed,
			Operation: operation, Allow: true})
	}
	options := []kfake.Opt{kfake.NumBrokers(1), kfake.EnableSASL(), kfake.EnableACLs()}
	for user, all := range acls {
		options = append(options, kfake.User("PLAIN", user, passwordOfAll, all...))
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.ListenAddrs()[0]
}

// insertThatHangs writes nothing for longer than any test waits, and says how it ended.
func insertThatHangs(t *testing.T, addr, user, id string) (ended <-chan error) {
	t.Helper()
	conn, err := clickhouse.Open(&clickhouse.Options{Addr: []string{addr}, Auth: clickhouse.Auth{Username: user}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	done := make(chan error, 1)
	go func() {
		done <- conn.Exec(clickhouse.Context(t.Context(), clickhouse.WithQueryID(id)),
			"INSERT INTO tallyhouse.records (tenant, project, id) SELECT '', '', toString(sleepEachRow(1)) FROM numbers(3000) "+
				"SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0")
	}()
	var running uint64
	err = until((&process{TB: t}).within(startsWithin), func() error {
		err := conn.QueryRow(t.Context(), "SELECT count() FROM system.processes WHERE query_id = {id:String}", clickhouse.Named("id", id)).Scan(&running)
		if err == nil && running == 0 {
			err = fmt.Errorf("%s does not run yet", id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return done
}
