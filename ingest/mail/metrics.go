package mail

import (
	"github.com/prometheus/client_golang/prometheus"
)

// metrics show an operator how the intake of mail is doing.
type metrics struct {
	mails     *prometheus.CounterVec
	records   *prometheus.CounterVec
	unread    *prometheus.CounterVec
	waits     *prometheus.CounterVec
	requests  *prometheus.CounterVec
	connects  *prometheus.CounterVec
	lost      *prometheus.CounterVec
	validity  *prometheus.CounterVec
	connected *prometheus.GaugeVec
	deferred  *prometheus.GaugeVec
	slow      *prometheus.CounterVec
	reading   prometheus.Histogram
	arrival   prometheus.Histogram
}

func newMetrics(r prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "tallyhouse", Subsystem: "mail", Name: name, Help: help}, labels)
		r.MustRegister(c)
		return c
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "tallyhouse", Subsystem: "mail", Name: name, Help: help}, labels)
		r.MustRegister(g)
		return g
	}
	histogram := func(name, help string, from float64, n int) prometheus.Histogram {
		h := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "tallyhouse", Subsystem: "mail", Name: name, Help: help,
			Buckets: prometheus.ExponentialBuckets(from, 2, n)})
		r.MustRegister(h)
		return h
	}
	return &metrics{
		mails: counter("mails_total",
			"Mails that got a mark: done, ignored (no invoice), failed or quarantined; see tallyhouse mail failed.", "mailbox", "outcome"),
		records: counter("records_total",
			"Records that mails became, by the status of their intake. A mail read again doesn't count.", "mailbox", "status"),
		unread: counter("unread_pdfs_total",
			"PDFs and e-invoices that could not be read, by reason: their records have the status failed.", "reason"),
		waits: counter("waits_total",
			"Times that a mail had to wait because something was away: kafka, clickhouse, reader or originals.", "for"),
		requests: counter("requests_total",
			"What people asked for that was heeded, by action (retry, release, allow) and outcome.", "mailbox", "action", "outcome"),
		connects:  counter("connections_total", "Connections made to mailboxes.", "mailbox"),
		lost:      counter("connections_lost_total", "Connections to mailboxes that ended by a fault.", "mailbox"),
		validity:  counter("uidvalidity_changes_total", "Times that the server gave all mails of a mailbox new UIDs.", "mailbox"),
		connected: gauge("connected", "1 while a mailbox is watched.", "mailbox"),
		deferred: gauge("deferred",
			"Mails left for later: the connection broke each time they were fetched, or the server refused to mark them.", "mailbox"),
		slow:    counter("slow_total", "Times that a mail took so long that others went first, and it was read later.", "mailbox"),
		reading: histogram("read_seconds", "Time to read one PDF or e-invoice.", 0.01, 14),
		arrival: histogram("arrival_seconds",
			"Time from a mail's arrival, which is known to the second, to Kafka's acknowledgement of its read record.", 0.25, 14),
	}
}
