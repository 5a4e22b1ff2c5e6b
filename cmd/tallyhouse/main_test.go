package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/ingest/ingesttest"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

// outcome is what a command line left behind.
type outcome struct {
	code     int
	out, err string
}

func tallyhouse(t *testing.T, env map[string]string, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	s := &shell{in: strings.NewReader(stdin), out: &out, err: &errs, env: env}
	code := run(s, args)
	return outcome{code, out.String(), errs.String()}
}

func broker(c kafka.Cluster) map[string]string {
	return map[string]string{"TALLYHOUSE_KAFKA": c.Addrs[0]}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFaultsOfTheCommandLine(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		args []string
		want []string // all of them on standard error
	}{
		"unknown command":    {args: []string{"lod"}, want: []string{`unknown command "lod"`, "tallyhouse --help"}},
		"unknown subcommand": {args: []string{"keys", "make"}, want: []string{`unknown command "make"`, "tallyhouse keys --help"}},
		"unknown flag":       {args: []string{"load", "--nope", "x"}, want: []string{"unknown flag: --nope"}},
		"no file":            {args: []string{"load"}, want: []string{"give at least one FILE"}},
		"no topic":           {args: []string{"release"}, want: []string{"give one TOPIC, not 0"}},
		"two mails":          {args: []string{"mail", "release", "1.2", "1.3"}, want: []string{"give one MAIL, not 2"}},
		"fewer than none": {
			args: []string{"topics", "--partitions", "-1"}, want: []string{"--partitions and --replicas must not be negative, but are -1 and 0"},
		},
		"findings": {
			args: []string{"verify", "--most", "-1", "--every", "-1h"}, want: []string{"--most must not be", "--every must not be"},
		},
		"no API": {args: []string{"export", "--key", "pk_x", "--api", "localhost:8080"}, want: []string{"--api must be a URL like"}},
		"bounds of a reading": {
			args: []string{"read", "--max-pages", "0", "--timeout", "-1s", "--tesseract", "no-program", "x.pdf"},
			want: []string{"--max-pages must be above zero, not 0", "--timeout must be above zero, not -1s", "--tesseract: "},
		},
		"missing flags": {args: []string{"keys", "create"}, want: []string{`"environment", "owner", "tenant"`}},
		"bad variable": {
			env: map[string]string{"TALLYHOUSE_PARTITIONS": "many"}, args: []string{"topics"},
			want: []string{"TALLYHOUSE_PARTITIONS", `"many"`},
		},
		"bad log format": {args: []string{"topics", "--log-format", "xml"}, want: []string{`text, json or auto, not "xml"`}},
		"all that is wrong": {
			args: []string{
				"topics", "--kafka-addr", "a,b:0,:1,c:70000", "--kafka-sasl", "MD5",
				"--clickhouse-tls-ca", "x", "--clickhouse-addr", "one:two",
			},
			want: []string{
				`has "a"`, `has "b:0"`, `has ":1"`, `has "c:70000"`, `not "MD5"`,
				"--clickhouse-tls-ca needs --clickhouse-tls", `has "one:two"`,
			},
		},
		"a registry that is none": {
			env:  map[string]string{"TALLYHOUSE_REGISTRY_PASSWORD": "hidden"},
			args: []string{"schemas", "publish", "--registry", "registry:8081"},
			want: []string{"--registry must be a URL", "--registry-password needs --registry-user"},
		},
		"user without password": {
			args: []string{"topics", "--kafka-user", "u"}, want: []string{"--kafka-user needs --kafka-password"},
		},
		"password without user": {
			env: map[string]string{"TALLYHOUSE_KAFKA_PASSWORD": "hidden"}, args: []string{"topics"},
			want: []string{"--kafka-password needs --kafka-user"},
		},
		"no such CA": {
			args: []string{"topics", "--kafka-tls", "--kafka-tls-ca", "there-is-none.pem"},
			want: []string{"--kafka-tls-ca", "no such file"},
		},
		"expiry": {
			args: []string{"keys", "create", "--tenant", "t", "--owner", "o", "--environment", "test", "--expires", "soon"},
			want: []string{`--expires must be an instant like 2027-01-01T00:00:00Z, not "soon"`},
		},
		"an expiry that has passed": {
			args: []string{"keys", "create", "--tenant", "t", "--owner", "o", "--environment", "test", "--expires", "2020-01-01T00:00:00Z"},
			want: []string{`--expires must be to come: a key that expired at 2020-01-01T00:00:00Z would be void`},
		},
		"an expiry beyond all days": {
			args: []string{"keys", "create", "--tenant", "t", "--owner", "o", "--environment", "test", "--expires", "9999-01-01T00:00:00Z"},
			want: []string{`: --expires must be an instant`},
		},
		"a tenant with a slash": {
			args: []string{"keys", "create", "--tenant", "t/u", "--owner", "o", "--environment", "test"}, want: []string{`--tenant must not contain`},
		},
		"a probe without time": {args: []string{"probe", "--timeout", "0s", "tcp://127.0.0.1:1"}, want: []string{"--timeout must be above zero"}},
		"a mail that can't be": {
			args: []string{"mail", "release", "7,12"}, want: []string{"two numbers, with dots between them", `not "7,12"`},
		},
		"no topic to release": {
			args: []string{"release", "ledger.record"}, want: []string{`"ledger.record" is no topic that this version stores`},
		},
		"addresses to listen at": {
			args: []string{"verify", "--every", "1h", "--metrics-addr", "nowhere", "--clickhouse-addr", "none"},
			want: []string{`--metrics-addr must be host:port, not "nowhere"`, `has "none"`},
		},
		"no such port of the mail server": {
			args: []string{"mailserver", "--imap-addr", ":70000", "--smtp-addr", ":smtp"}, want: []string{`not ":70000"`, `not ":smtp"`},
		},
		"an address of a server that another replaces": {
			env:  map[string]string{"TALLYHOUSE_KAFKA": "kafka:9092", "TALLYHOUSE_CLICKHOUSE": "db:9000"},
			args: []string{"dev", "--kafka-addr", "127.0.0.1:9192", "--clickhouse-addr", "127.0.0.1:9100", "--api-addr", "x"},
			want: []string{"TALLYHOUSE_KAFKA names one that replaces it", "TALLYHOUSE_CLICKHOUSE names", `--api-addr must be host:port, not "x"`},
		},
		"a key's environment": {
			args: []string{"keys", "create", "--tenant", "t", "--owner", "o", "--environment", "prod", "--expires", "soon"},
			want: []string{`--environment must be test or live, not "prod"`, `not "soon"`},
		},
		"no replicas of no cluster": {args: []string{"migrate", "--no-replicas"}, want: []string{"--no-replicas needs --cluster"}},
		"nothing to rebuild":        {args: []string{"rebuild", "nope"}, want: []string{`there is no roll or table "nope"`}},
		"check and wait":            {args: []string{"load", "--check", "--wait", "x"}, want: []string{"--check sends nothing that --wait could wait for"}},
		"an argument too many":      {args: []string{"verify", "all"}, want: []string{"`tallyhouse verify` takes no argument, but has \"all\""}},
		"no number":                 {args: []string{"api", "--rate-limit", "many"}, want: []string{`--rate-limit must be a whole number, not "many"`}},
		"too large a number": {
			args: []string{"ingest", "--mail-max-bytes", "99999999999999999999"}, want: []string{`--mail-max-bytes is beyond what a number can be`},
		},
		"no time":   {args: []string{"verify", "--every", "daily"}, want: []string{`--every must be a time like 90s, 15m or 6h, not "daily"`}},
		"no switch": {args: []string{"api", "--pprof=on"}, want: []string{`--pprof must be true or false, not "on"`}},
		"no level":  {args: []string{"topics", "--log-level", "loud"}, want: []string{`--log-level must be DEBUG, INFO, WARN or ERROR, not "loud"`}},
		"a variable that is no number": {
			env: map[string]string{"TALLYHOUSE_RATE_LIMIT": "many"}, args: []string{"api"},
			want: []string{`environment variable TALLYHOUSE_RATE_LIMIT: --rate-limit must be a whole number, not "many"`},
		},
		"a rule of no topic": {
			args: []string{"deadletters", "replay", "--rule", "x"}, want: []string{"--topic and --rule go together: one of them is missing"},
		},
		"a rule with a correction": {
			args: []string{"deadletters", "replay", "--topic", "t", "--rule", "x", "--file", "y"},
			want: []string{"--file and --force are for the KEY of one dead letter"},
		},
		"a dialect of no CSV": {
			args: []string{"export", "--key", "pk_x", "--dialect", "excel-de"}, want: []string{"--dialect is of CSV: leave it out, or give --format csv"},
		},
		"answers that are no JSON": {
			args: []string{"ingest", "--check-config", "--mail-answers", "main_test.go"},
			want: []string{"--mail-answers: main_test.go: it must be a JSON object as docs/mail.md#answers-by-mail has it"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tallyhouse(t, c.env, "", c.args...)
			if o.code != exitUsage {
				t.Errorf("exit code %d", o.code)
			}
			for _, want := range c.want {
				if !strings.Contains(o.err, want) {
					t.Errorf("standard error says\n%swant %s", o.err, want)
				}
			}
			if strings.Contains(o.err, "hidden") || o.out != "" {
				t.Errorf("said too much: %q %q", o.out, o.err)
			}
		})
	}
}

// What is wrong here is told, and nothing that only follows from it.
func TestTheFirstFailureIsTold(t *testing.T) {
	env := map[string]string{"TALLYHOUSE_KAFKA": free(t), "TALLYHOUSE_CLICKHOUSE": free(t)}
	for name, c := range map[string]struct {
		args []string
		want string
		not  string
	}{
		"a server that is away isn't one without the database": {
			args: []string{"release", "ledger.records"}, want: "refused", not: "there is no database",
		},
		"a file that is missing needs no server": {
			args: []string{"deadletters", "replay", "ledger.records/2/4711", "--file", "there-is-none"}, want: "no such file", not: "ClickHouse",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := tallyhouse(t, env, "", c.args...)
			if o.code != exitFailed || !strings.Contains(o.err, c.want) || strings.Contains(o.err, c.not) {
				t.Errorf("%+v", o)
			}
		})
	}
}

func TestFlagsWinOverVariables(t *testing.T) {
	c := topicstest.Empty(t)
	nobody := "127.0.0.1:1"
	for name, run := range map[string]struct {
		env  map[string]string
		args []string
	}{
		"short variable":    {map[string]string{"TALLYHOUSE_KAFKA": c.Addrs[0]}, nil},
		"long before short": {map[string]string{"TALLYHOUSE_KAFKA": nobody, "TALLYHOUSE_KAFKA_ADDR": c.Addrs[0]}, nil},
		"flag before variables": {
			map[string]string{"TALLYHOUSE_KAFKA": nobody, "TALLYHOUSE_KAFKA_ADDR": nobody}, []string{"--kafka-addr", c.Addrs[0]},
		},
		"an empty variable counts": {
			map[string]string{"TALLYHOUSE_KAFKA": c.Addrs[0], "TALLYHOUSE_KAFKA_ADDR": "", "TALLYHOUSE_KAFKA_TLS": ""}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if o := tallyhouse(t, run.env, "", append([]string{"topics"}, run.args...)...); o.code != exitDone {
				t.Errorf("exit code %d: %s", o.code, o.err)
			}
		})
	}
}

// Every flag of every command shows its variable, and every command says what it is for.
func TestHelpIsComplete(t *testing.T) {
	root, _ := rootCommand(&shell{out: os.Stdout, err: os.Stderr})
	commands(root, func(cmd *cobra.Command) {
		if cmd.Short == "" {
			t.Errorf("%s has no short help", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			own := "TALLYHOUSE_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
			if !f.Hidden && f.Name != "help" && strings.Count(f.Usage, own+"]")+strings.Count(f.Usage, own+",") != 1 {
				t.Errorf("%s --%s: %s", cmd.CommandPath(), f.Name, f.Usage)
			}
		})
	})
}

func TestTopicsCreatesAndChecks(t *testing.T) {
	env := broker(topicstest.Empty(t))
	first := tallyhouse(t, env, "", "topics", "--partitions", "2")
	if first.code != exitDone || !strings.Contains(first.out, "ledger.records") || !strings.Contains(first.out, "created") {
		t.Errorf("at first %+v", first)
	}
	again := tallyhouse(t, env, "", "topics")
	if again.code != exitDone || strings.Contains(again.out, "created") || !strings.Contains(again.out, "2 partitions") {
		t.Errorf("again %+v", again)
	}
	if o := tallyhouse(t, env, "", "topics", "--partitions", "3"); o.code != exitFailed || !strings.Contains(o.err, "topics resize") {
		t.Errorf("with other partitions %+v", o)
	}
}

// A topic that forgets is a failure, unless that is meant; one of dead letters may.
func TestATopicThatForgetsIsAFailure(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	forget := func(topic events.Topic) {
		t.Helper()
		r, err := c.Client().AlterConfigs(t.Context(), &kafkago.AlterConfigsRequest{Resources: []kafkago.AlterConfigRequestResource{{
			ResourceType: kafkago.ResourceTypeTopic, ResourceName: string(topic),
			Configs: []kafkago.AlterConfigRequestConfig{{Name: "retention.ms", Value: "86400000"}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.Errors {
			if err != nil {
				t.Fatal(err)
			}
		}
		visible := until((&process{TB: t}).within(startsWithin), func() error {
			o := tallyhouse(t, broker(c), "", "topics", "--allow-retention")
			if want := string(topic) + ": retention.ms is 86400000"; !strings.Contains(o.err, want) {
				return fmt.Errorf("%s doesn't forget yet: %+v", topic, o)
			}
			return nil
		})
		if visible != nil {
			t.Fatal(visible)
		}
	}
	forget(events.DeadLetters)
	if o := tallyhouse(t, broker(c), "", "topics"); o.code != exitDone {
		t.Errorf("dead letters forget: %+v", o)
	}
	forget(events.Records)
	o := tallyhouse(t, broker(c), "", "topics")
	if o.code != exitFailed || !strings.Contains(o.err, "topics that forget messages: ledger.records; set retention.ms") {
		t.Errorf("records forget: %+v", o)
	}
	if o := tallyhouse(t, broker(c), "", "topics", "--allow-retention"); o.code != exitDone {
		t.Errorf("that is meant: %+v", o)
	}
}

const (
	goodLine = `{"topic":"ledger.contractors","key":"demo/C1","value":{"id":"C1","tenantId":"demo","version":1,` +
		`"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"Bau"}}}`
	badLine = `{"topic":"ledger.contractors","key":"demo/C1","value":{"id":"C1","tenantId":"demo","version":2,` +
		`"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"nmae":"Bau"}}}`
)

func TestLoadSendsAllOrNothing(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	bad := file(t, "bad.ndjson", goodLine+"\n"+badLine+"\n")
	o := tallyhouse(t, broker(c), "", "load", bad)
	want := "tallyhouse: " + bad + ":2: data.nmae is not a member of ledger.contractors (did you mean name?)\n"
	if o.code != exitFailed || !strings.Contains(o.err, want) {
		t.Errorf("a bad file: %d %s", o.code, o.err)
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 0 {
		t.Errorf("%d messages of a bad file were sent", len(sent))
	}
	if o := tallyhouse(t, nil, goodLine, "load", "--check", "-"); o.code != exitDone || !strings.Contains(o.err, "1 messages are good") {
		t.Errorf("a check: %+v", o)
	}
	o = tallyhouse(t, broker(c), goodLine, "load", "-")
	if o.code != exitDone || !strings.Contains(o.err, "1 messages sent") || o.out != "" {
		t.Errorf("a good file: %+v", o)
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 1 {
		t.Errorf("%d messages were sent", len(sent))
	}
}

// Given a database that can't be asked, or isn't there, then load --wait sends nothing: it could not tell what became of it.
func TestLoadThatWaitsAsksTheDatabaseFirst(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	for database, want := range map[string]string{
		"127.0.0.1:1":                   "--clickhouse-addr",
		clickhousetest.Engine(t).Addr(): "has no database missing",
	} {
		env := broker(c)
		env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = database, "missing"
		o := tallyhouse(t, env, goodLine, "load", "--wait", "-")
		if o.code != exitFailed || !strings.Contains(o.err, "nothing was sent") || !strings.Contains(o.err, want) {
			t.Errorf("%d %s", o.code, o.err)
		}
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 0 {
		t.Errorf("%d messages were sent", len(sent))
	}
}

func TestADeadLetterIsListedShownAndReplayed(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	ledger := ingesttest.New(t, events.Contractors, 2)
	env := broker(c)
	env["TALLYHOUSE_CLICKHOUSE"], env["TALLYHOUSE_CLICKHOUSE_DATABASE"] = ledger.Where.Addr, ledger.Where.Database
	empty := tallyhouse(t, env, "", "deadletters", "list")
	if empty.code != exitDone || empty.out != "" || !strings.Contains(empty.err, "no dead letters") {
		t.Errorf("list of none: %+v", empty)
	}
	value := `{"id":"C1","tenantId":"demo","version":2,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"nmae":"Bau <b>"}}`
	l := kafka.DeadLetter{
		Topic: "ledger.contractors", Partition: 1, Offset: 7, Key: []byte("demo/C1"),
		Reason: "data.nmae is not a member", Value: []byte(value),
	}
	if _, _, err := kafka.Send(context.Background(), c, l.Message()); err != nil {
		t.Fatal(err)
	}
	listed := tallyhouse(t, env, "", "deadletters", "list")
	if !strings.Contains(listed.out, "ledger.contractors/1/7 ") || !strings.Contains(listed.out, "data.nmae is not a member") {
		t.Errorf("list: %+v", listed)
	}
	const object = `{"key":"ledger.contractors/1/7","topic":"ledger.contractors","reason":"data.nmae is not a member","at":`
	if o := tallyhouse(t, env, "", "deadletters", "list", "--json"); !strings.HasPrefix(o.out, object) {
		t.Errorf("list --json: %+v", o)
	}
	shown := tallyhouse(t, env, "", "deadletters", "show", "ledger.contractors/1/7")
	if shown.out != value || !strings.Contains(shown.err, "data.nmae is not a member") {
		t.Errorf("show: %+v", shown)
	}
	const rule = `{"topic":"ledger.contractors","rule":"data.nmae is not a member","letters":1,"healed":0,"first":`
	if o := tallyhouse(t, env, "", "deadletters", "summary", "--json"); !strings.HasPrefix(o.out, rule) {
		t.Errorf("summary --json: %+v", o)
	}
	summary := tallyhouse(t, env, "", "deadletters", "summary")
	if !strings.Contains(summary.out, "LETTERS") || !strings.Contains(summary.out, "ledger.contractors/1/7") {
		t.Errorf("summary: %+v", summary)
	}
	byRule := func(rule string, more ...string) outcome {
		return tallyhouse(t, env, "", append([]string{"deadletters", "replay", "--topic", "ledger.contractors", "--rule", rule}, more...)...)
	}
	if o := byRule("data.nmae is not a member", "--dry-run"); o.code != exitFailed ||
		!strings.Contains(o.err, "0 messages would be sent, 1 not") || !strings.Contains(o.err, "refused again") {
		t.Errorf("replay by rule: %+v", o)
	}
	if o := byRule("is odd"); o.code != exitFailed || !strings.Contains(o.err, "no dead letter of ledger.contractors broke this rule") {
		t.Errorf("replay by a rule that nothing broke: %+v", o)
	}
	for _, wrong := range [][]string{{}, {"--rule", "is odd"}, {"ledger.contractors/1/7", "--dry-run"},
		{"ledger.contractors/1/7", "--rule", "is odd", "--topic", "t"}, {"--rule", "is odd", "--topic", "t", "--file", "f"}} {
		if o := tallyhouse(t, env, "", append([]string{"deadletters", "replay"}, wrong...)...); o.code != exitUsage {
			t.Errorf("replay %v: %+v", wrong, o)
		}
	}
	unchanged := tallyhouse(t, env, "", "deadletters", "replay", "ledger.contractors/1/7")
	if unchanged.code != exitFailed || !strings.Contains(unchanged.err, "refused again") {
		t.Errorf("replay as it was: %+v", unchanged)
	}
	corrected := file(t, "corrected.json", strings.Replace(shown.out, "nmae", "name", 1))
	replayed := tallyhouse(t, env, "", "deadletters", "replay", "ledger.contractors/1/7", "--file", corrected)
	if replayed.code != exitDone || !strings.Contains(replayed.err, "sent to ledger.contractors") {
		t.Errorf("replay corrected: %+v", replayed)
	}
	sent := topicstest.Messages(t, c, events.Contractors)
	if len(sent) != 1 || !strings.Contains(string(sent[0].Value), `"name":"Bau <b>"`) {
		t.Errorf("sent %v", sent)
	}
	// When a later version of the entity was ingested, all say so, and replays leave it out unless they are told otherwise.
	later, err := events.Decode(events.Contractors, []byte("demo/C1"), []byte(strings.Replace(string(sent[0].Value), `"version":2`, `"version":3`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	ledger.Write(later)
	for _, ask := range [][]string{{"list"}, {"list", "--json"}, {"summary"}, {"show", "ledger.contractors/1/7"}} {
		if o := tallyhouse(t, env, "", append([]string{"deadletters"}, ask...)...); o.code != exitDone ||
			!regexp.MustCompile(`Z  healed  |"state":"healed"|\n +1 +1  0|state:     healed`).MatchString(o.out+o.err) {
			t.Errorf("%v of a healed letter: %+v", ask, o)
		}
	}
	if o := byRule("data.nmae is not a member"); o.code != exitDone || !strings.Contains(o.err, "1 were healed and are left out") {
		t.Errorf("replay by rule what is healed: %+v", o)
	}
	one := []string{"deadletters", "replay", "ledger.contractors/1/7", "--file", corrected}
	if o := tallyhouse(t, env, "", one...); o.code != exitFailed || !strings.Contains(o.err, "was healed") {
		t.Errorf("replay what is healed: %+v", o)
	}
	if o := tallyhouse(t, env, "", append(one, "--healed")...); o.code != exitDone {
		t.Errorf("replay what is healed all the same: %+v", o)
	}
	// And where ClickHouse can't be asked, it isn't known, and nothing is replayed.
	away := broker(c)
	away["TALLYHOUSE_CLICKHOUSE"] = "127.0.0.1:1"
	if o := tallyhouse(t, away, "", "deadletters", "list"); o.code != exitDone || !strings.Contains(o.out, "Z  unknown  ") ||
		!strings.Contains(o.err, "ClickHouse can't be asked") {
		t.Errorf("list without ClickHouse: %+v", o)
	}
	if o := tallyhouse(t, away, "", "deadletters", "summary", "--json"); o.code != exitDone || !strings.Contains(o.out, `"healed":null`) {
		t.Errorf("summary without ClickHouse: %+v", o)
	}
	if o := tallyhouse(t, away, "", one...); o.code != exitFailed || !strings.Contains(o.err, "--healed") {
		t.Errorf("replay without ClickHouse: %+v", o)
	}
	none := tallyhouse(t, env, "", "deadletters", "show", "ledger.contractors/0/0")
	if none.code != exitFailed || !strings.Contains(none.err, "no such dead letter") {
		t.Errorf("show of none: %+v", none)
	}
}

func TestKeysCreatePrintsTheKeyAlone(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	o := tallyhouse(t, broker(c), "", "keys", "create", "--tenant", "demo", "--owner", "U1", "--environment", "live",
		"--projects", "P1,P2", "--expires", "2199-01-01T00:00:00Z")
	if o.code != exitDone || !strings.HasPrefix(o.out, "pk_live_") || strings.Count(o.out, "\n") != 1 {
		t.Fatalf("%+v", o)
	}
	sent := topicstest.Messages(t, c, events.Keys)
	if len(sent) != 1 || !strings.Contains(string(sent[0].Value), `"projectIds":["P1","P2"]`) {
		t.Fatalf("sent %v", sent)
	}
	id := strings.TrimPrefix(string(sent[0].Key), "demo/")
	revoked := tallyhouse(t, broker(c), "", "keys", "revoke", id, "--tenant", "demo")
	if revoked.code != exitDone || !strings.Contains(revoked.err, "is revoked since") {
		t.Errorf("revoke: %+v", revoked)
	}
	refused := tallyhouse(t, broker(c), "", "keys", "create", "--tenant", "demo", "--owner", "U1", "--environment", "prod")
	if refused.code != exitUsage || !strings.Contains(refused.err, `--environment must be test or live, not "prod"`) {
		t.Errorf("an unknown environment: %+v", refused)
	}
	refused = tallyhouse(t, broker(c), "", "keys", "create", "--tenant", "demo", "--owner", "U1", "--environment", "test", "--groups", "core,all")
	if refused.code != exitUsage || !strings.HasPrefix(refused.err, "tallyhouse: --groups[1] must be one of core, amounts") {
		t.Errorf("an unknown field group: %+v", refused)
	}
}

// Given an owner whom nobody knows, who is not active, who is, or cannot be looked for, then the key is made, and what keeps the API
// from taking it is told with what to do.
func TestKeysCreateWarnsOfAnOwnerWhoIsNotThere(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	ledger := ingesttest.New(t, events.Users, 2)
	stored, away := broker(c), broker(c)
	stored["TALLYHOUSE_CLICKHOUSE"], stored["TALLYHOUSE_CLICKHOUSE_DATABASE"] = ledger.Where.Addr, ledger.Where.Database
	away["TALLYHOUSE_CLICKHOUSE"] = "127.0.0.1:1"
	for id, active := range map[string]string{"ada": "true", "bob": "false"} {
		value := `{"id":"` + id + `","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z",` +
			`"data":{"name":"N","active":` + active + `}}`
		m := kafkago.Message{Topic: string(events.Users), Key: []byte("demo/" + id), Value: []byte(value)}
		if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		owner string
		env   map[string]string
		want  []string
	}{
		{"nobody", stored, []string{"nobody knows of the key's owner", "user=nobody", "send the user and a membership"}},
		{"bob", stored, []string{"is not active", "user=bob", "send the user with active true"}},
		{"nobody", away, []string{"is not known", "user=nobody", "127.0.0.1:1"}},
		{"ada", away, nil},
	} {
		o := tallyhouse(t, test.env, "",
			"keys", "create", "--log-format", "text", "--tenant", "demo", "--owner", test.owner, "--environment", "live")
		if o.code != exitDone || !strings.HasPrefix(o.out, "pk_live_") || strings.Contains(o.err, "WARN") != (test.want != nil) {
			t.Errorf("%s: %+v", test.owner, o)
		}
		for _, part := range test.want {
			if !strings.Contains(o.err, part) {
				t.Errorf("%s: %q lacks %q", test.owner, o.err, part)
			}
		}
	}
	// And a tenant without keys is told of as such.
	if o := tallyhouse(t, stored, "", "keys", "list", "--tenant", "none"); o.code != exitDone || o.out != "" || o.err != "no keys of tenant none\n" {
		t.Errorf("%+v", o)
	}
}

// Given projects that the log has, the database has, or nobody does, then a key that is limited to them is made, and those that nobody
// knows of are named.
func TestKeysCreateWarnsOfProjectsThatAreNotThere(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	ledger := ingesttest.New(t, events.Users, 2)
	stored, away := broker(c), broker(c)
	stored["TALLYHOUSE_CLICKHOUSE"], stored["TALLYHOUSE_CLICKHOUSE_DATABASE"] = ledger.Where.Addr, ledger.Where.Database
	away["TALLYHOUSE_CLICKHOUSE"] = "127.0.0.1:1"
	for topic, value := range map[events.Topic]string{
		events.Users:    `{"id":"x","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"N","active":true}}`,
		events.Projects: `{"id":"x","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"N","currency":"EUR"}}`,
	} {
		m := kafkago.Message{Topic: string(topic), Key: []byte("demo/x"), Value: []byte(value)}
		if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		projects string
		env      map[string]string
		want     []string
	}{
		{"x", away, nil},
		{"", away, nil},
		{"x,misspelt", stored, []string{"nobody knows of projects", "projects=[misspelt]"}},
		{"x,misspelt", away, []string{"is not known", "127.0.0.1:1"}},
	} {
		o := tallyhouse(t, test.env, "", "keys", "create", "--log-format", "text", "--tenant", "demo", "--owner", "x", "--environment", "live",
			"--projects", test.projects)
		if o.code != exitDone || !strings.HasPrefix(o.out, "pk_live_") || strings.Contains(o.err, "WARN") != (test.want != nil) {
			t.Errorf("%s: %+v", test.projects, o)
		}
		for _, part := range test.want {
			if !strings.Contains(o.err, part) {
				t.Errorf("%s: %q lacks %q", test.projects, o.err, part)
			}
		}
	}
}

// Neither the help nor a failure shows a password.
func TestPasswordsAreNeverShown(t *testing.T) {
	env := map[string]string{
		"TALLYHOUSE_KAFKA": "127.0.0.1:1", "TALLYHOUSE_KAFKA_USER": "u", "TALLYHOUSE_KAFKA_PASSWORD": "s3cret-kafka",
		"TALLYHOUSE_CLICKHOUSE": "127.0.0.1:1", "TALLYHOUSE_CLICKHOUSE_PASSWORD": "s3cret-clickhouse", "TALLYHOUSE_LOG_LEVEL": "DEBUG",
	}
	for _, args := range [][]string{{"load", "--help"}, {"topics"}, {"keys", "list", "--tenant", "demo"}} {
		o := tallyhouse(t, env, "", args...)
		if strings.Contains(o.out+o.err, "s3cret") {
			t.Errorf("%v shows a password: %s%s", args, o.out, o.err)
		}
	}
}
