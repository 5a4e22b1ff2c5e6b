package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/model/rulefmt"
)

const operationsPage = "../../docs/operations.md"

// cases are, for each alert, what Prometheus has scraped when it fires and when it doesn't.
var cases = map[string][]struct {
	when    string
	series  []string
	minutes int
	want    map[string]string // labels of the only instance that fires; nil: none
}{
	"TallyhouseProcessDown": {
		{"a worker is down for three minutes", []string{`up{job="tallyhouse-ingest",instance="a"} 1 0 0 0 0`}, 4,
			map[string]string{"__name__": "up", "job": "tallyhouse-ingest", "instance": "a"}},
		{"it restarts", []string{`up{job="tallyhouse-ingest",instance="a"} 1 0 1 1 1`}, 4, nil},
		{"another program is down", []string{`up{job="node"} 0x4`}, 4, nil},
	},
	"TallyhouseNoWorker": {
		{"no worker has a partition", []string{`up 1x10`}, 10, map[string]string{}},
		{"one has", []string{`tallyhouse_ingest_partition_condition{topic="t",partition="0",condition="running"} 1x10`}, 10, nil},
	},
	"TallyhouseLagMessages": {
		{"partitions lie behind together", []string{
			`tallyhouse_ingest_lag{topic="t",partition="0",instance="a"} 60000x30`,
			`tallyhouse_ingest_lag{topic="t",partition="1",instance="b"} 50000x30`,
			`tallyhouse_ingest_lag{topic="u",partition="1",instance="b"} 50000x30`,
		}, 30, map[string]string{"topic": "t"}},
		{"a load is written within a quarter of an hour", []string{
			`tallyhouse_ingest_lag{topic="t",partition="0",instance="a"} 300000-20000x15 0x15`,
		}, 30, nil},
	},
	"TallyhouseLagSeconds": {
		{"a change waits", []string{`tallyhouse_ingest_lag_seconds{topic="t",partition="0",instance="a"} 0+60x10`}, 10,
			map[string]string{"topic": "t"}},
		{"changes come and are written", []string{`tallyhouse_ingest_lag_seconds{topic="t",partition="0",instance="a"} 0 60 5 0 90 0 0`},
			6, nil},
	},
	"TallyhouseNoProgress": {
		{"a partition stands still before its log's end", []string{
			`tallyhouse_ingest_lag{topic="t",partition="0"} 7x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100x10`,
		}, 10, map[string]string{"topic": "t", "partition": "0"}},
		{"it moves, though always behind", []string{
			`tallyhouse_ingest_lag{topic="t",partition="0"} 7x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100+5x10`,
		}, 10, nil},
		{"it stands at the end", []string{
			`tallyhouse_ingest_lag{topic="t",partition="0"} 0x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100x10`,
		}, 10, nil},
	},
	"TallyhouseOpenTransaction": {
		{"a producer died within its transaction", []string{
			`tallyhouse_ingest_uncommitted{topic="t",partition="0"} 7x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100x10`,
		}, 10, map[string]string{"topic": "t", "partition": "0"}},
		{"one transaction follows the other", []string{
			`tallyhouse_ingest_uncommitted{topic="t",partition="0"} 7x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100+5x10`,
		}, 10, nil},
		{"there is none", []string{
			`tallyhouse_ingest_uncommitted{topic="t",partition="0"} 0x10`, `tallyhouse_ingest_position{topic="t",partition="0"} 100x10`,
		}, 10, nil},
	},
	"TallyhousePartitionStopped": {
		{"tables are inconsistent", []string{`tallyhouse_ingest_partition_condition{topic="t",partition="0",condition="stopped"} 1x5`}, 5,
			map[string]string{"topic": "t", "partition": "0", "condition": "stopped"}},
		{"all run", []string{`tallyhouse_ingest_partition_condition{topic="t",partition="0",condition="running"} 1x5`}, 5, nil},
	},
	"TallyhousePartitionWaiting": {
		{"the database is away", []string{`tallyhouse_ingest_partition_condition{topic="t",partition="0",condition="waiting"} 1x15`}, 15,
			map[string]string{"topic": "t", "partition": "0", "condition": "waiting"}},
		{"a server restarts", []string{`tallyhouse_ingest_partition_condition{topic="t",partition="0",condition="waiting"} 1x2 stale`}, 15, nil},
	},
	"TallyhouseDeadLetters": {
		{"messages are refused", []string{`tallyhouse_ingest_dead_letters_waiting{topic="t"} 0 1 1 2`}, 3,
			map[string]string{"topic": "t"}},
		{"they were healed", []string{`tallyhouse_ingest_dead_letters_waiting{topic="t"} 2 1 0x5`}, 5, nil},
	},
	"TallyhouseDeadLettersOld": {
		{"nobody sees to them", []string{`tallyhouse_ingest_dead_letters_waiting_seconds{topic="t"} 86300+60x10`}, 10,
			map[string]string{"topic": "t"}},
		{"they are of today", []string{`tallyhouse_ingest_dead_letters_waiting_seconds{topic="t"} 60+60x30`}, 30, nil},
	},
	"TallyhouseGap": {
		{"messages were lost", []string{`tallyhouse_ingest_gaps_total{topic="t"} 0 0 1 1`}, 3, map[string]string{"topic": "t"}},
		{"the first scrape of a worker has it", []string{`tallyhouse_ingest_gaps_total{topic="t"} _ _ 1 1`}, 3, map[string]string{"topic": "t"}},
		{"none were", []string{`tallyhouse_ingest_gaps_total{topic="t"} 0x3`}, 3, nil},
		{"long ago", []string{`tallyhouse_ingest_gaps_total{topic="t"} 1x70`}, 70, nil},
	},
	"TallyhouseConflicts": {
		{"a version has two contents", []string{`tallyhouse_ingest_conflicts_total{topic="t"} 0 0 1 1`}, 3, map[string]string{"topic": "t"}},
		{"the first scrape of a worker has it", []string{`tallyhouse_ingest_conflicts_total{topic="t"} _ _ 1 1`}, 3,
			map[string]string{"topic": "t"}},
		{"none has", []string{`tallyhouse_ingest_conflicts_total{topic="t"} 0x3`}, 3, nil},
		{"long ago", []string{`tallyhouse_ingest_conflicts_total{topic="t"} 4x30`}, 30, nil},
	},
	"TallyhouseRerouted": {
		{"a producer hashes otherwise", []string{`tallyhouse_ingest_rerouted_total{topic="t"} 0+3x90`}, 90, map[string]string{"topic": "t"}},
		{"it did before the first scrape", []string{`tallyhouse_ingest_rerouted_total{topic="t"} _ 3+3x90`}, 90, map[string]string{"topic": "t"}},
		{"partitions were added", []string{`tallyhouse_ingest_rerouted_total{topic="t"} 0 500x90`}, 90, nil},
	},
	"TallyhouseFencesLost": {
		{"two installations fight", []string{`tallyhouse_ingest_fences_lost_total{topic="t"} 0+3x10`}, 10, map[string]string{"topic": "t"}},
		{"they fought before the first scrape", []string{`tallyhouse_ingest_fences_lost_total{topic="t"} _ _ 12 12`}, 3,
			map[string]string{"topic": "t"}},
		{"a rebalance", []string{`tallyhouse_ingest_fences_lost_total{topic="t"} 0 0 4 4 4`}, 4, nil},
		{"a worker begins in one", []string{`tallyhouse_ingest_fences_lost_total{topic="t"} _ 4 4 4`}, 3, nil},
		{"long ago", []string{`tallyhouse_ingest_fences_lost_total{topic="t"} 40x30`}, 30, nil},
	},
	"TallyhouseSlowInserts": {
		{"inserts take twenty seconds", []string{
			`tallyhouse_ingest_insert_seconds_bucket{topic="t",le="10.24"} 0x30`,
			`tallyhouse_ingest_insert_seconds_bucket{topic="t",le="20.48"} 0+6x30`,
			`tallyhouse_ingest_insert_seconds_bucket{topic="t",le="+Inf"} 0+6x30`,
		}, 30, map[string]string{}},
		{"they are quick", []string{
			`tallyhouse_ingest_insert_seconds_bucket{topic="t",le="0.01"} 0+600x30`,
			`tallyhouse_ingest_insert_seconds_bucket{topic="t",le="+Inf"} 0+600x30`,
		}, 30, nil},
	},
	"TallyhouseDrift": {
		{"sums differ", []string{`tallyhouse_verify_drift 0 0 2`}, 2, map[string]string{}},
		{"none does", []string{`tallyhouse_verify_drift 0x2`}, 2, nil},
	},
	"TallyhouseNotVerified": {
		{"nobody verifies", []string{`up 1x1500`}, 1500, map[string]string{}},
		{"it never comes to its end", []string{`tallyhouse_verify_completed_timestamp_seconds 0x1500`}, 1500, map[string]string{}},
		{"it does, each hour", []string{fmt.Sprintf(`tallyhouse_verify_completed_timestamp_seconds %d+60x1500`, start.Unix()-3600)}, 1500, nil},
	},
	"TallyhouseMailboxAway": {
		{"no worker reaches it", []string{`tallyhouse_mail_connected{mailbox="m",instance="a"} 1 0x14`,
			`tallyhouse_mail_connected{mailbox="m",instance="b"} 0x15`}, 15, map[string]string{"mailbox": "m"}},
		{"another worker has it", []string{`tallyhouse_mail_connected{mailbox="m",instance="a"} 1 0x14`,
			`tallyhouse_mail_connected{mailbox="m",instance="b"} 1x15`}, 15, nil},
	},
	"TallyhouseMailUnread": {
		{"the first mail fails", []string{`tallyhouse_mail_mails_total{mailbox="m",outcome="failed"} _ _ 1 1`}, 3,
			map[string]string{"mailbox": "m", "outcome": "failed"}},
		{"one more fails", []string{`tallyhouse_mail_mails_total{mailbox="m",outcome="failed"} 5x70 6 6`}, 71,
			map[string]string{"mailbox": "m", "outcome": "failed"}},
		{"they are read", []string{`tallyhouse_mail_mails_total{mailbox="m",outcome="done"} 0+1x70`,
			`tallyhouse_mail_mails_total{mailbox="m",outcome="failed"} 5x70`}, 70, nil},
	},
	"TallyhouseMailSlow": {
		{"mails wait for an hour", []string{
			`tallyhouse_mail_arrival_seconds_bucket{le="512"} 0x90`, `tallyhouse_mail_arrival_seconds_bucket{le="1024"} 0x90`,
			`tallyhouse_mail_arrival_seconds_bucket{le="+Inf"} 0+1x90`,
		}, 90, map[string]string{}},
		{"they are read at once", []string{
			`tallyhouse_mail_arrival_seconds_bucket{le="8"} 0+1x90`, `tallyhouse_mail_arrival_seconds_bucket{le="+Inf"} 0+1x90`,
		}, 90, nil},
	},
	"TallyhouseAnswersOwed": {
		{"the mail server is away", []string{`tallyhouse_answers_oldest_seconds{instance="a"} 0+60x90`, `tallyhouse_answers_oldest_seconds{instance="b"} 0x90`},
			90, map[string]string{}},
		{"they are sent", []string{`tallyhouse_answers_oldest_seconds{instance="a"} 5x90`}, 90, nil},
	},
	"TallyhouseAnswersRefused": {
		{"the first is refused", []string{`tallyhouse_answers_total{outcome="refused"} _ _ 1 1`}, 3, map[string]string{"outcome": "refused"}},
		{"one more expires", []string{`tallyhouse_answers_total{outcome="expired"} 5x70 6 6`}, 71, map[string]string{"outcome": "expired"}},
		{"they are sent", []string{`tallyhouse_answers_total{outcome="sent"} 0+1x70`, `tallyhouse_answers_total{outcome="refused"} 5x70`}, 70, nil},
	},
	"TallyhouseAccessNotConfirmed": {
		{"Kafka is away", []string{fmt.Sprintf(`tallyhouse_api_access_confirmed_timestamp_seconds{instance="a"} %dx5`, start.Unix())}, 5,
			map[string]string{"instance": "a"}},
		{"access was never read", []string{`tallyhouse_api_access_confirmed_timestamp_seconds{instance="a"} 0x5`}, 5,
			map[string]string{"instance": "a"}},
		{"it is confirmed all the time",
			[]string{fmt.Sprintf(`tallyhouse_api_access_confirmed_timestamp_seconds{instance="a"} %d+60x5`, start.Unix()-1)}, 5, nil},
		{"the API's clock is ahead by a second",
			[]string{fmt.Sprintf(`tallyhouse_api_access_confirmed_timestamp_seconds{instance="a"} %d+60x5`, start.Unix()+1)}, 5, nil},
		{"its process is gone", []string{fmt.Sprintf(`tallyhouse_api_access_confirmed_timestamp_seconds{instance="a"} %d _x9`, start.Unix()-1)}, 9, nil},
	},
	"TallyhouseSessionKeysOld": {
		{"the issuer is away", []string{fmt.Sprintf(`tallyhouse_api_session_keys_timestamp_seconds{instance="a"} %dx80`, start.Unix())}, 80,
			map[string]string{"instance": "a"}},
		{"keys are fetched",
			[]string{fmt.Sprintf(`tallyhouse_api_session_keys_timestamp_seconds{instance="a"} %d+60x80`, start.Unix()-300)}, 80, nil},
	},
	"TallyhouseErrors": {
		{"two of a hundred requests fail", []string{
			`tallyhouse_api_request_duration_seconds_count{operation="getBudget",status="200"} 0+98x15`,
			`tallyhouse_api_request_duration_seconds_count{operation="getBudget",status="503"} 0+2x15`,
		}, 15, map[string]string{}},
		{"all have since the process began", []string{
			`tallyhouse_api_request_duration_seconds_count{operation="getBudget",status="503"} _ 2+2x15`,
		}, 15, map[string]string{}},
		{"clients ask for what is not there", []string{
			`tallyhouse_api_request_duration_seconds_count{operation="getBudget",status="200"} 0+98x15`,
			`tallyhouse_api_request_duration_seconds_count{operation="getBudget",status="404"} 0+60x15`,
		}, 15, nil},
	},
	"TallyhouseLatency": {
		{"budgets take long", []string{
			`tallyhouse_api_request_duration_seconds_bucket{operation="getBudget",le="2.5"} 0+5x20`,
			`tallyhouse_api_request_duration_seconds_bucket{operation="getBudget",le="5"} 0+60x20`,
			`tallyhouse_api_request_duration_seconds_bucket{operation="getBudget",le="+Inf"} 0+60x20`,
		}, 20, map[string]string{}},
		{"exports alone do", []string{
			`tallyhouse_api_request_duration_seconds_bucket{operation="exportRecords.csv",le="2.5"} 0+5x20`,
			`tallyhouse_api_request_duration_seconds_bucket{operation="exportRecords.csv",le="+Inf"} 0+60x20`,
			`tallyhouse_api_request_duration_seconds_bucket{operation="getBudget",le="2.5"} 0+60x20`,
			`tallyhouse_api_request_duration_seconds_bucket{operation="getBudget",le="+Inf"} 0+60x20`,
		}, 20, nil},
	},
	"TallyhousePanics": {
		{"one more", []string{`tallyhouse_http_panics_total{server="desk"} 0x10 1x20`}, 12, map[string]string{"server": "desk"}},
		{"the first one of a process that has just begun", []string{`tallyhouse_http_panics_total{server="api"} _ _ 1`}, 2,
			map[string]string{"server": "api"}},
		{"long ago", []string{`tallyhouse_http_panics_total{server="desk"} 1x30`}, 30, nil},
	},
	"TallyhouseRateLimitUncounted": {
		{"Redis is away", []string{`tallyhouse_api_rate_limit_uncounted_total 0+5x30`}, 30, map[string]string{}},
		{"it was before the first scrape", []string{`tallyhouse_api_rate_limit_uncounted_total _ 5+5x30`}, 30, map[string]string{}},
		{"it counts", []string{`tallyhouse_api_rate_limit_uncounted_total 0x30`}, 30, nil},
	},
	"TallyhouseFiguresBeyondRange": {
		{"the first figure", []string{`tallyhouse_api_figures_beyond_range_total{operation="getBudget"} _ _ 1`}, 2,
			map[string]string{"operation": "getBudget"}},
		{"long ago", []string{`tallyhouse_api_figures_beyond_range_total{operation="getBudget"} 1x30`}, 30, nil},
	},
}

// Each alert fires when what it is named after is so, and not when something harmless looks like it.
func TestAlertsFire(t *testing.T) {
	all := rules(t)
	known := map[string]rulefmt.Rule{}
	for _, rule := range all {
		known[rule.Alert] = rule
		if fires, quiet := count(rule.Alert); fires == 0 || quiet == 0 {
			t.Errorf("%s: %d cases in which it fires, %d in which it doesn't", rule.Alert, fires, quiet)
		}
	}
	for name, of := range cases {
		rule, ok := known[name]
		if !ok {
			t.Errorf("there is no alert %s", name)
			continue
		}
		for _, c := range of {
			t.Run(name+"/"+c.when, func(t *testing.T) {
				var want []map[string]string
				if c.want != nil {
					want = append(want, c.want)
				}
				for _, phase := range phases {
					got := firing(t, rule, scrape(t, c.series), c.minutes, phase)
					if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
						t.Errorf("evaluated %v after the scrapes, fires for %v, want %v", phase, got, want)
					}
				}
			})
		}
	}
}

// An age is asked at the time of the sample that tells the instant, in alerts and on dashboards: at the time of evaluation it would grow with
// the interval of scrapes.
func TestAgesAreThoseOfTheSample(t *testing.T) {
	boards, err := filepath.Glob("../grafana/dashboards/*.json")
	if err != nil || len(boards) == 0 {
		t.Fatalf("%d dashboards: %v", len(boards), err)
	}
	for _, board := range boards {
		text, err := os.ReadFile(board)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "time()") {
			t.Errorf("%s asks for time()", board)
		}
	}
	for _, rule := range rules(t) {
		if strings.Contains(rule.Expr, "time()") {
			t.Errorf("%s asks for time()", rule.Alert)
		}
	}
}

func count(alert string) (fires, quiet int) {
	for _, c := range cases[alert] {
		if c.want != nil {
			fires++
		} else {
			quiet++
		}
	}
	return fires, quiet
}

// Each alert says how bad it is, names what it is about, and leads to the entry of the runbook that says what to do.
func TestAlertsHaveARunbook(t *testing.T) {
	text, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, rule := range rules(t) {
		if s := rule.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s has severity %q", rule.Alert, s)
		}
		if !strings.HasSuffix(rule.Annotations["summary"], ".") {
			t.Errorf("%s has no summary", rule.Alert)
		}
		want := "docs/operations.md#" + strings.ToLower(rule.Alert)
		if got := rule.Annotations["runbook"]; got != want {
			t.Errorf("%s leads to %s, not %s", rule.Alert, got, want)
		}
		_, entry, ok := strings.Cut(page, "\n### "+rule.Alert+"\n")
		if entry, _, _ = strings.Cut(entry, "\n#"); !ok || len(strings.Fields(entry)) < 20 {
			t.Errorf("%s has no entry for %s", operationsPage, rule.Alert)
		}
	}
}
