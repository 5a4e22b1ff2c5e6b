package clickhouse

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

func registerMetrics(registerer prometheus.Registerer, e *Engine) error {
	metrics := []prometheus.Collector{
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tallyhouse_embedded_clickhouse_up",
			Help: "1 while the embedded ClickHouse answers, 0 while it does not.",
		}, func() float64 {
			if e.Healthy() != nil {
				return 0
			}
			return 1
		}),
		prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "tallyhouse_embedded_clickhouse_restarts_total",
			Help: "How often the embedded ClickHouse was started again after it died or hung.",
		}, func() float64 { return float64(e.Restarts()) }),
	}
	for _, metric := range metrics {
		if err := registerer.Register(metric); err != nil {
			return fmt.Errorf("register the metrics of embedded clickhouse: %w", err)
		}
	}
	return nil
}
