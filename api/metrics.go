package api

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/access"
	"tallyhouse/api/session"
)

// metrics are the API's own.
type metrics struct {
	requests  *prometheus.HistogramVec
	beyond    *prometheus.CounterVec
	refused   *prometheus.CounterVec
	uncounted prometheus.Counter
}

func newMetrics(registerer prometheus.Registerer, follower *access.Follower, sessions *session.Verifier) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "tallyhouse_api_request_duration_seconds",
			Help:    "How long requests took, by operation (none: a path that is no operation) and status.",
			Buckets: []float64{.002, .005, .01, .02, .04, .08, .15, .3, .6, 1.2, 2.5, 5, 10, 30},
		}, []string{"operation", "status"}),
		beyond: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tallyhouse_api_figures_beyond_range_total",
			Help: "Figures that are null or left out because they are beyond the range of amounts, by operation. The log has the " +
				"first one of each response.",
		}, []string{"operation"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tallyhouse_api_requests_limited_total",
			Help: "Requests that were refused because there were too many, by limit (rate: of a key or user; login: wrong tokens " +
				"of an address).",
		}, []string{"limit"}),
		uncounted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "tallyhouse_api_rate_limit_uncounted_total",
			Help: "Requests that passed without a rate limit because Redis did not answer.",
		}),
	}
	confirmed := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tallyhouse_api_access_confirmed_timestamp_seconds",
		Help: "The instant up to which all changes of users, memberships, keys and projects are known. More than 10 s " +
			"ago: nothing is answered.",
	}, func() float64 {
		if at := follower.Confirmed(); !at.IsZero() {
			return float64(at.UnixMilli()) / 1000
		}
		return 0
	})
	if sessions != nil {
		keys := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tallyhouse_api_session_keys_timestamp_seconds",
			Help: "When the keys of the issuer of session tokens were fetched last, 0 when never. They are fetched every 5 minutes; " +
				"after 24 h without, no session token is taken.",
		}, func() float64 {
			if at := sessions.Fetched(); !at.IsZero() {
				return float64(at.UnixMilli()) / 1000
			}
			return 0
		})
		if err := registerer.Register(keys); err != nil {
			return nil, err
		}
	}
	for _, c := range []prometheus.Collector{m.requests, m.beyond, m.refused, m.uncounted, confirmed} {
		if err := registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) observe(operation string, status int, took time.Duration) {
	if operation == "" {
		operation = "none"
	}
	m.requests.WithLabelValues(operation, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) beyondRange(operation string, figures int) {
	m.beyond.WithLabelValues(operation).Add(float64(figures))
}
