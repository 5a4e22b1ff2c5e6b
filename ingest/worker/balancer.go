package worker

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go"

	kafkalog "tallyhouse/schemas/kafka"
)

// balancer spreads the partitions of all topics over the members, evenly and sticky: a member keeps what it has, up to
// its share. kafka-go's own balancers go topic by topic, which gives every topic's partition 0 to the same member.
type balancer struct {
	// owned lists what this member writes now.
	owned func() []kafkalog.Partition
}

var _ kafka.GroupBalancer = balancer{}

// ProtocolName implements kafka.GroupBalancer.
func (balancer) ProtocolName() string { return "tallyhouse-sticky" }

// UserData implements kafka.GroupBalancer: what this member owns, for the leader.
func (b balancer) UserData() ([]byte, error) {
	has := map[string][]int32{}
	for _, tp := range b.owned() {
		has[tp.Topic] = append(has[tp.Topic], tp.Number)
	}
	data, err := json.Marshal(has)
	if err != nil {
		return nil, fmt.Errorf("encode the partitions that this worker owns: %w", err)
	}
	return data, nil
}

// AssignGroups implements kafka.GroupBalancer; the leader's is called.
func (balancer) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	members = slices.Clone(members)
	slices.SortFunc(members, func(a, b kafka.GroupMember) int { return strings.Compare(a.ID, b.ID) })
	free := map[kafkalog.Partition]bool{}
	for _, p := range partitions {
		free[kafkalog.Partition{Topic: p.Topic, Number: int32(p.ID)}] = true
	}
	given := make([][]kafkalog.Partition, len(members))
	least, more := len(free)/max(1, len(members)), len(free)%max(1, len(members))
	for i, m := range members {
		for _, tp := range hadBefore(m) {
			most := least
			if more > 0 {
				most++
			}
			if free[tp] && knows(m, tp.Topic) && len(given[i]) < most {
				given[i] = append(given[i], tp)
				delete(free, tp)
				if len(given[i]) > least {
					more--
				}
			}
		}
	}
	rest := make([]kafkalog.Partition, 0, len(free))
	for tp := range free {
		rest = append(rest, tp)
	}
	know := map[string]int{}
	for _, m := range members {
		for _, topic := range m.Topics {
			know[topic]++
		}
	}
	slices.SortFunc(rest, func(a, b kafkalog.Partition) int { // what few members know goes first: the others make up for it
		return cmp.Or(cmp.Compare(know[a.Topic], know[b.Topic]), compare(a, b))
	})
	for _, tp := range rest {
		poorest := -1
		for i := range given {
			if knows(members[i], tp.Topic) && (poorest < 0 || len(given[i]) < len(given[poorest])) {
				poorest = i
			}
		}
		if poorest >= 0 {
			given[poorest] = append(given[poorest], tp)
		}
	}
	all := kafka.GroupMemberAssignments{}
	for i, m := range members {
		all[m.ID] = map[string][]int{}
		for _, tp := range given[i] {
			all[m.ID][tp.Topic] = append(all[m.ID][tp.Topic], int(tp.Number))
		}
	}
	return all
}

// knows reports whether the member subscribes to the topic: an older binary doesn't know a newer one's.
func knows(m kafka.GroupMember, topic string) bool { return slices.Contains(m.Topics, topic) }

// hadBefore is what the member said it has, in a fixed order; nothing when it can't be read.
func hadBefore(m kafka.GroupMember) []kafkalog.Partition {
	var has map[string][]int32
	if json.Unmarshal(m.UserData, &has) != nil {
		return nil
	}
	var all []kafkalog.Partition
	for topic, partitions := range has {
		for _, p := range partitions {
			all = append(all, kafkalog.Partition{Topic: topic, Number: p})
		}
	}
	slices.SortFunc(all, compare)
	return all
}

func compare(a, b kafkalog.Partition) int {
	if c := strings.Compare(a.Topic, b.Topic); c != 0 {
		return c
	}
	return int(a.Number - b.Number)
}
