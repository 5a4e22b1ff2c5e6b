package answer

import "github.com/prometheus/client_golang/prometheus"

// metrics show an operator whether people are told.
type metrics struct {
	answers *prometheus.CounterVec
	waits   *prometheus.CounterVec
	owed    prometheus.Gauge
	oldest  prometheus.Gauge
}

func newMetrics(r prometheus.Registerer) *metrics {
	name := func(name, help string) prometheus.Opts {
		return prometheus.Opts{Namespace: "tallyhouse", Subsystem: "answers", Name: name, Help: help}
	}
	m := &metrics{
		answers: prometheus.NewCounterVec(prometheus.CounterOpts(name("total",
			"Answers by mail that are done with, by outcome: sent, unwanted, refused or expired.")), []string{"outcome"}),
		waits: prometheus.NewCounterVec(prometheus.CounterOpts(name("waits_total",
			"Times that answers had to wait because something was away: smtp, clickhouse or kafka.")), []string{"for"}),
		owed: prometheus.NewGauge(prometheus.GaugeOpts(name("owed", "Answers that this worker has yet to send."))),
		oldest: prometheus.NewGauge(prometheus.GaugeOpts(name("oldest_seconds",
			"How long the oldest answer that this worker has yet to send has been owed; 0 without one."))),
	}
	r.MustRegister(m.answers, m.waits, m.owed, m.oldest)
	return m
}
