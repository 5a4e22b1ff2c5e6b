package worker

import (
	"errors"
	"log/slog"
	"slices"
	"testing"

	kafkalog "tallyhouse/schemas/kafka"
)

// Given positions that Kafka didn't take, when they are committed again and nothing has come meanwhile, then they are sent
// again: else the lag of a partition on which nothing happens would be wrong until the next message.
func TestPositionsThatKafkaDidNotTakeAreCommittedAgain(t *testing.T) {
	t.Parallel()
	st := newState(scenarioPartition, noObserver)
	st.change(func(s *Status) { s.Condition, s.Position = Running, 7 })
	w := &Worker{log: slog.New(slog.DiscardHandler), writers: map[kafkalog.Partition]*runningWriter{
		scenarioPartition: {writer: &writer{state: st}},
	}}
	var sent []int64 // the position of each try, -1 for none
	var answer error
	commit := func(offsets map[string]map[int]int64) error {
		position, ok := offsets[scenarioPartition.Topic][int(scenarioPartition.Number)]
		if !ok {
			position = -1
		}
		sent = append(sent, position)
		return answer
	}
	committed := map[kafkalog.Partition]uint64{}

	answer = errors.New("the coordinator is away")
	w.commitOffsets(commit, committed)
	answer = nil
	w.commitOffsets(commit, committed)
	w.commitOffsets(commit, committed)

	if want := []int64{7, 7, -1}; !slices.Equal(sent, want) {
		t.Errorf("committed %v, want %v", sent, want)
	}
}
