package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	kafkalog "tallyhouse/schemas/kafka"
)

// metrics tell an operator how the ingest is doing.
type metrics struct {
	rows       *prometheus.CounterVec
	batches    *prometheus.CounterVec
	records    *prometheus.CounterVec
	stale      *prometheus.CounterVec
	conflicts  *prometheus.CounterVec
	dead       *prometheus.CounterVec
	rerouted   *prometheus.CounterVec
	gaps       *prometheus.CounterVec
	recoveries *prometheus.CounterVec
	fencesLost *prometheus.CounterVec
	mended     *prometheus.CounterVec
	heads      *prometheus.CounterVec
	latency    *prometheus.HistogramVec
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "tallyhouse", Subsystem: "ingest", Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	m := &metrics{
		rows:    counter("rows_total", "Rows written to state tables, position rows included.", "topic"),
		batches: counter("batches_total", "Inserts that counted.", "topic"),
		records: counter("records_total", "Kafka records that the positions have passed.", "topic"),
		stale:   counter("stale_total", "Messages dropped because a newer or the same version was there.", "topic"),
		conflicts: counter("conflicts_total", "Messages dropped because their version was taken with other content: "+
			"a producer's fault.", "topic"),
		dead: counter("dead_letters_total", "Messages refused; see tallyhouse deadletters.", "topic"),
		rerouted: counter("rerouted_total", "Messages found in another partition than their key's and re-routed: a "+
			"producer doesn't hash by murmur2.", "topic"),
		gaps:       counter("gaps_total", "Times that the log began behind a position, or lost its end below it: messages were lost.", "topic"),
		recoveries: counter("recoveries_total", "Recoveries of a partition's writer: fence, positions, heads.", "topic"),
		fencesLost: counter("fences_lost_total", "Times that another writer outbid this one: rises when two "+
			"installations share a database.", "topic"),
		mended: counter("views_mended_total", "Batches that a view had missed and was given.", "view"),
		heads:  counter("heads_total", "Times that heads were caught up or loaded anew, by how.", "how"),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "tallyhouse", Subsystem: "ingest", Name: "insert_seconds",
			Help:    "Time of an insert that counted, with its views.",
			Buckets: prometheus.ExponentialBuckets(0.005, 2, 14)}, []string{"topic"}),
	}
	r.MustRegister(m.latency)
	return m
}

// begin has the counters of a topic at zero, so that the first event is an increase, unless it comes before the first scrape: see
// deploy/prometheus/rules.yml.
func (m *metrics) begin(topic string) {
	for _, c := range []*prometheus.CounterVec{m.records, m.stale, m.conflicts, m.dead, m.rerouted, m.gaps, m.recoveries, m.fencesLost} {
		c.WithLabelValues(topic)
	}
}

// observeBatch counts a batch that is stored.
func (m *metrics) observeBatch(topic string, b *batch, rows int, took time.Duration) {
	add := func(c *prometheus.CounterVec, n int) {
		if n > 0 {
			c.WithLabelValues(topic).Add(float64(n))
		}
	}
	add(m.rows, rows)
	add(m.batches, 1)
	add(m.records, b.records)
	add(m.stale, b.stale)
	add(m.conflicts, b.conflicts)
	add(m.dead, len(b.deadLetters))
	add(m.rerouted, len(b.rerouted))
	m.latency.WithLabelValues(topic).Observe(took.Seconds())
}

// partitionMetrics are read off the writers when somebody asks.
type partitionMetrics struct {
	worker                                 *Worker
	lag, age, uncommitted, position, state *prometheus.Desc
}

func newPartitionMetrics(w *Worker) *partitionMetrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tallyhouse_ingest_"+name, help, append([]string{"topic", "partition"}, labels...), nil)
	}
	return &partitionMetrics{w,
		desc("lag", "Offsets between a partition's position and the end of its log, which is asked for every 5 s."),
		desc("lag_seconds", "How long ago this worker first saw the oldest message that it has not written yet in the log; 0: it "+
			"has written all."),
		desc("uncommitted", "Offsets of a partition's log from the beginning of an open transaction on, which nobody reads until that ends; "+
			"0: there is none."),
		desc("position", "Next offset of a partition, as far as this worker knows it."),
		desc("partition_condition", "1 for what a partition's writer is doing: recovering, running, held, stopped, "+
			"refused, waiting.", "condition"),
	}
}

// Describe implements prometheus.Collector.
func (p *partitionMetrics) Describe(c chan<- *prometheus.Desc) {
	c <- p.lag
	c <- p.age
	c <- p.uncommitted
	c <- p.position
	c <- p.state
}

// Collect implements prometheus.Collector.
func (p *partitionMetrics) Collect(c chan<- prometheus.Metric) {
	for _, s := range p.worker.Status() {
		n := number(uint64(s.Partition))
		c <- prometheus.MustNewConstMetric(p.state, prometheus.GaugeValue, 1, s.Topic, n, string(s.Condition))
		if !s.Placed {
			continue
		}
		c <- prometheus.MustNewConstMetric(p.position, prometheus.GaugeValue, float64(s.Position), s.Topic, n)
		tp := kafkalog.Partition{Topic: s.Topic, Number: s.Partition}
		if offsets, age, known := p.worker.backlog.behind(tp, s.Position, time.Now()); known {
			c <- prometheus.MustNewConstMetric(p.lag, prometheus.GaugeValue, float64(offsets), s.Topic, n)
			c <- prometheus.MustNewConstMetric(p.age, prometheus.GaugeValue, age.Seconds(), s.Topic, n)
			c <- prometheus.MustNewConstMetric(p.uncommitted, prometheus.GaugeValue, float64(p.worker.backlog.uncommitted(tp)), s.Topic, n)
		}
	}
}
