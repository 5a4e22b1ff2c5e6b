package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	schema "tallyhouse/schemas/clickhouse"
)

// registered are the names of the metrics that the processes have, in all their configurations.
func registered(t *testing.T) map[string]bool {
	t.Helper()
	s := newProcess(t)
	registry := prometheus.NewRegistry()
	w, err := s.openWorker(t.Context(), ingestFlags{group: "metrics", freshness: time.Second}, s.servers, schema.Target{}, registry)
	s.must(err)
	t.Cleanup(w.close)
	w.watchDeadLetters(s.servers.kafka, s.log, registry)
	mail := mailFlags{boxes: []string{"imap://u:p@127.0.0.1:1/INBOX?tls=off"}, tenant: "demo", done: "keyword", poll: time.Second,
		maxBytes: 1, maxPDFs: 1, maxAmount: 1}
	_, err = s.openMail(t.Context(), mail, "", s.servers.kafka, w.shards, registry)
	s.must(err)
	mail.answers = file(t, "answers.json", `{"smtp": "smtp://127.0.0.1:1?tls=off", "from": "a@a.example", "projects": [
		{"tenant": "demo", "project": "P1", "responsible": "US1", "language": "de", "receipt": true}]}`)
	_, err = s.openAnswers(mail, "metrics", s.servers.kafka, w.shards, registry)
	s.must(err)
	newVerifyMetrics(registry)
	flags := apiFlags{addr: "127.0.0.1:0", metricsAddr: "127.0.0.1:0", environment: "test"}
	flags.issuer.URL, flags.issuer.Audience = "http://127.0.0.1:1/", "tallyhouse"
	ctx, stop := context.WithCancel(t.Context())
	stop() // it is put together, and ends
	s.must(s.runAPI(ctx, flags, s.servers, registry, func(string) {}))

	descriptions := make(chan *prometheus.Desc)
	go func() {
		registry.Describe(descriptions)
		close(descriptions)
	}()
	names := map[string]bool{}
	for d := range descriptions {
		name := regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1]
		names[name] = true
	}
	return names
}

// Alerts and dashboards ask for metrics that the processes have, and no others.
func TestAlertsAndDashboardsAskForMetricsThatExist(t *testing.T) {
	names := registered(t)
	var files []string
	for _, pattern := range []string{"deploy/prometheus/*.yml", "deploy/grafana/dashboards/*.json", "docs/operations.md",
		"deploy/helm/tallyhouse/templates/ingest.yaml"} {
		found, err := filepath.Glob(filepath.Join(top, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		files = append(files, found...)
	}
	asked := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\btallyhouse_[a-z_]+`).FindAllString(string(text), -1) {
			asked++
			base := name
			for _, suffix := range []string{"_bucket", "_count", "_sum"} {
				base = strings.TrimSuffix(base, suffix)
			}
			if !names[name] && !names[base] {
				t.Errorf("%s asks for %s, which no process has", file, name)
			}
		}
	}
	if asked < 60 {
		t.Errorf("only %d names were found: does this test still see them?", asked)
	}
}
