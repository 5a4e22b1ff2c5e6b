package api_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
	"tallyhouse/schemas/events"
)

const (
	budgetNodes     = 2_000
	budgetContracts = 400 // with five lines each
)

// budgetWorld has one project with so many records on a structure of 2,000 nodes, half of them linked to contracts, and
// the rows that the views make of it. Records are there to be scanned by comparison, as far as their sums need.
func budgetWorld(b *testing.B, records int) *world {
	b.Helper()
	w := newWorld(b)
	w.user("U", adminKey, "admin")
	w.project("P1", events.Project{BudgetStructureID: some("S1")})
	w.seen(adminKey, "P1")
	patient := w.patient()
	exec := func(sql string, args ...any) {
		b.Helper()
		w.must(patient.Exec(context.Background(), fmt.Sprintf(sql, args...)))
	}
	// The views are filled by statements of their own: the rows have no contributions.
	exec(`INSERT INTO budget_nodes (tenant, project, id, row_version, structure_id, parent_id, level, code, name, active, accounting_codes)
SELECT '%s', '', 'node-' || number, 1, 'S1', if(number < 20, NULL, 'node-' || if(number < 200, number %% 20, 20 + number %% 180)),
  if(number < 20, 'budget', if(number < 200, 'subBudget', 'costItem')), leftPad(toString(number), 7, '0'), 'Budget line ' || number, true, if(number < 20, '[{"system":"datev","code":"0700-00"}]', '[]')
FROM numbers(%d)`, tenant, budgetNodes)
	exec(`INSERT INTO budget_nodes (tenant, project, row_version) VALUES ('', '#0', 1)`)
	const one = `'%s' AS tenant, 'P1' AS project, lower(hex(sipHash64(number))) AS id, number %% 1800 AS line, 'node-' || toString(200 + line) AS node,
  if(intDiv(number, 9000) %% 2 = 0, 'contract-' || leftPad(toString(intDiv(line, 5)), 4, '0'), '') AS contract, ['setup', 'approvalPending', 'paymentPending', 'paid', 'paid'][intDiv(number, 1800) %% 5 + 1] AS status`
	const slice = 100_000
	for from := 0; from < records; from += slice {
		count := min(slice, records-from)
		exec(`INSERT INTO records (tenant, project, id, row_version, source, direction, status, currency, net, tax, gross, allocation_node, allocation_net, contract_id, certified_codes, documents, channel)
SELECT tenant, project, id, 1, 'invoice', 'out', status, 'EUR', number, 0, number, [node], [toInt64(number)], contract, '[]', '[]', 'manual'
FROM (SELECT number, `+one+` FROM numbers(%d, %d)) SETTINGS optimize_on_insert = 0`, tenant, from, count)
	}
	exec(`INSERT INTO sums (tenant, project, keys, amount1, amount4, amount2, amount3)
SELECT tenant, project, concat('lines\0', contract, '\0', node, '\0EUR\0', status, '\0'), count(), count(), sum(number), sum(number)
FROM (SELECT number, `+one+` FROM numbers(%d)) GROUP BY tenant, project, contract, node, status`, tenant, records)
	exec(`INSERT INTO sums (tenant, project, keys, amount2)
SELECT '%s', 'P1', concat('budget\0\0node-', number, '\0EUR\0\0'), 1000000 FROM numbers(200, %d)`, tenant, budgetNodes-200)
	exec(`INSERT INTO sums (tenant, project, keys, amount1, amount2, amount3)
SELECT '%s', 'P1', concat('contracts\0contract-', leftPad(toString(intDiv(number, 5)), 4, '0'), '\0node-', toString(200 + number %% 1800), '\0EUR\0signed\0',
  leftPad(toString(number %% 5 + 1), 5, '0')), 1, 5000, 5000
FROM numbers(%d)`, tenant, 5*budgetContracts)
	exec(`INSERT INTO contracts (tenant, project, id, row_version, name, contractor_id, status, currency, allocation_node, allocation_value)
SELECT '%s', 'P1', 'contract-' || leftPad(toString(number), 4, '0'), 1, 'Contract ' || number, 'contractor-' || number, 'signed', 'EUR',
  arrayMap(k -> 'node-' || toString(200 + (number * 5 + k) %% 1800), range(5)), arrayMap(k -> toInt64(5000), range(5))
FROM numbers(%d)`, tenant, budgetContracts)
	exec(`INSERT INTO contractors (tenant, id, row_version, name) SELECT '%s', 'contractor-' || number, 1, 'Contractor ' || number || ' GmbH' FROM numbers(%d)`, tenant, budgetContracts)
	exec(`INSERT INTO contractors (tenant, project, row_version) VALUES ('', '#0', 1)`)
	for _, table := range []string{"records", "sums", "contracts"} {
		exec("OPTIMIZE TABLE %s FINAL", table) // merges going on meanwhile would be measured with it
	}
	return w
}

// patient is a connection for statements that take longer than those of the API may.
func (w *world) patient() clickhouse.Conn {
	w.Helper()
	db, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{clickhousetest.Engine(w).Addr()}, Auth: clickhouse.Auth{Database: w.database},
		ReadTimeout: 5 * time.Minute,
		Compression: &clickhouse.Compression{Method: clickhouse.CompressionLZ4},
	})
	w.must(err)
	w.Cleanup(func() { db.Close() })
	return db
}

// asked sends a request for a page or an object.
func (w *world) asked(client *http.Client, path string) func() {
	return func() {
		request, err := http.NewRequest(http.MethodGet, w.url+path, nil)
		w.must(err)
		request.Header.Set("Authorization", "Bearer "+adminKey)
		answer, err := client.Do(request)
		w.must(err)
		_, err = io.Copy(io.Discard, answer.Body)
		w.must(err)
		if answer.Body.Close(); answer.StatusCode != 200 {
			w.Fatal(answer.Status)
		}
	}
}

// written is a statement of the reader, as its tests have written it down.
func (w *world) written(name string) string {
	w.Helper()
	text, err := os.ReadFile("../reader/testdata/" + name + ".sql")
	w.must(err)
	return string(text)
}

// bare sends a statement by the bare client and reads its rows.
func (w *world) bare(sql string, args ...any) func() {
	db := w.patient()
	return func() {
		ctx := clickhouse.Context(context.Background(), clickhouse.WithSettings(clickhouse.Settings{"max_threads": 1}))
		rows, err := db.Query(ctx, sql,
			append(args, clickhouse.Named("tenant", tenant), clickhouse.Named("project", "P1"))...)
		w.must(err)
		for rows.Next() {
		}
		w.must(rows.Err())
		w.must(rows.Close())
	}
}

// BenchmarkBudget compares a budget of 2,000 nodes with the bare statement over the sums.
func BenchmarkBudget(b *testing.B) {
	for _, records := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(records), func(b *testing.B) {
			w := budgetWorld(b, records)
			client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
			compare(b, w.bare(w.written("budget"), clickhouse.Named("rolls", []string{"budget", "claims", "contracts", "transfers"})), w.asked(client, "/v0/projects/P1/budget"))
		})
	}
}

// BenchmarkContracts compares a page of 50 contracts with its own main statement.
func BenchmarkContracts(b *testing.B) {
	w := budgetWorld(b, 10_000)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	main := w.bare(w.written("contracts"), clickhouse.Named("projects", []string{"P1"}), clickhouse.Named("after", ""),
		clickhouse.Named("limit", 51))
	b.Run("page-of-50", func(b *testing.B) { compare(b, main, w.asked(client, "/v0/contracts?limit=50")) })
}
