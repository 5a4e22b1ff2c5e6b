package checks

import (
	"context"
	"log/slog"
	"math"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

const rulesFile = "../prometheus/rules.yml"

// interval is that of scrapes, and of evaluations.
const interval = time.Minute

// phases are how long after the scrapes rules are evaluated: Prometheus does the one and the other when it likes, so that the newest
// sample may be as old as the interval.
var phases = []time.Duration{0, 20 * time.Second, 59 * time.Second}

// sample is a number at an instant.
type sample struct {
	at    int64 // milliseconds
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) ST() int64                     { return 0 }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// scraped are series as Prometheus would have them, in the notation of its own tests: `up{job="a"} 1+0x10`, a sample each minute.
type scraped []storage.Series

func scrape(t *testing.T, lines []string) scraped {
	t.Helper()
	var all scraped
	for _, line := range lines {
		of, values, err := parser.NewParser(parser.Options{}).ParseSeriesDesc(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		var samples []chunks.Sample
		for i, v := range values {
			if !v.Omitted {
				samples = append(samples, sample{start.Add(time.Duration(i) * interval).UnixMilli(), v.Value})
			}
		}
		all = append(all, storage.NewListSeries(of, samples))
	}
	return all
}

// Querier implements storage.Queryable.
func (s scraped) Querier(_, _ int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		return &found{of: s, matchers: matchers, at: -1}
	}}, nil
}

// found are the series that match.
type found struct {
	of       scraped
	matchers []*labels.Matcher
	at       int
}

func (f *found) Next() bool {
	for f.at++; f.at < len(f.of); f.at++ {
		all := true
		for _, m := range f.matchers {
			all = all && m.Matches(f.of[f.at].Labels().Get(m.Name))
		}
		if all {
			return true
		}
	}
	return false
}

func (f *found) At() storage.Series              { return f.of[f.at] }
func (*found) Err() error                        { return nil }
func (*found) Warnings() annotations.Annotations { return nil }

var start = time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)

// firing are the labels of an alert's instances that fire after some minutes: those for which its expression has held at every
// evaluation since its "for" before then.
func firing(t *testing.T, rule rulefmt.Rule, series scraped, minutes int, phase time.Duration) []map[string]string {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1_000_000, Timeout: time.Minute, LookbackDelta: 5 * time.Minute,
		Parser: parser.NewParser(parser.Options{})})
	defer engine.Close()
	since := map[string]int{}
	var now promql.Vector
	for minute := 0; minute <= minutes; minute++ {
		at := start.Add(time.Duration(minute)*interval + phase)
		query, err := engine.NewInstantQuery(context.Background(), series, nil, rule.Expr, at)
		if err != nil {
			t.Fatalf("%s: %v", rule.Alert, err)
		}
		result := query.Exec(t.Context())
		if now, err = result.Vector(); err != nil {
			t.Fatalf("%s: %v", rule.Alert, err)
		}
		holds := map[string]int{}
		for _, s := range now {
			key := s.Metric.String()
			holds[key] = minute
			if before, ok := since[key]; ok {
				holds[key] = before
			}
			if math.IsNaN(s.F) {
				t.Errorf("%s is about no number: %s", rule.Alert, key)
			}
		}
		since = holds
		now = append(promql.Vector(nil), now...)
		query.Close()
	}
	var all []map[string]string
	for _, s := range now {
		if time.Duration(minutes-since[s.Metric.String()])*interval >= time.Duration(rule.For) {
			all = append(all, s.Metric.Map())
		}
	}
	return all
}

func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.ParseFile(rulesFile, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	var all []rulefmt.Rule
	for _, group := range groups.Groups {
		all = append(all, group.Rules...)
	}
	return all
}
