package ingesttest

import (
	"tallyhouse/analytics"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/clickhouse"
)

// Sum names one sum: what a roll adds up under a key.
type Sum struct {
	Roll            clickhouse.RollID
	Tenant, Project string
	Keys            [clickhouse.MaxRollKeys]string
}

// Deltas adds contributions up, naively.
type Deltas map[Sum][clickhouse.MaxRollAmounts]int64

// Add adds a contribution, sign times.
func (d Deltas) Add(tenant, project string, c analytics.Contribution, sign int64) {
	for _, s := range c {
		of := Sum{s.Roll, tenant, project, s.Keys}
		amounts := d[of]
		for i, v := range s.Amounts {
			amounts[i] += sign * v
		}
		d[of] = amounts
	}
}

// AddTo puts what is not zero on a block's position row.
func (d Deltas) AddTo(b *store.Block) {
	for of, amounts := range d {
		if amounts == [clickhouse.MaxRollAmounts]int64{} {
			continue
		}
		var keys [][]byte
		for _, key := range of.Keys[:len(of.Roll.Roll().Keys)] {
			keys = append(keys, []byte(key))
		}
		b.AddDelta(of.Roll, []byte(of.Tenant), []byte(of.Project), keys, amounts[:])
	}
}
