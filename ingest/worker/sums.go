package worker

import "tallyhouse/schemas/clickhouse"

type amounts = [clickhouse.MaxRollAmounts]int64

// sums adds up what a batch changes, sum by sum.
type sums struct{ of map[string]*amounts }

func newSums() *sums { return &sums{of: map[string]*amounts{}} }

// add adds an amount's sign times to the sum of a key.
func (s *sums) add(key []byte, of *amounts, sign int64) {
	sum := s.of[string(key)]
	if sum == nil {
		sum = &amounts{}
		s.of[string(key)] = sum
	}
	for i, v := range of {
		sum[i] += sign * v
	}
}

func (s *sums) len() int { return len(s.of) }

// each visits the sums that are not zero.
func (s *sums) each(visit func(key []byte, of *amounts)) {
	for key, of := range s.of {
		if *of != (amounts{}) {
			visit([]byte(key), of)
		}
	}
}

func (s *sums) reset() { clear(s.of) }
