package worker

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/segmentio/kafka-go"
	"pgregory.net/rapid"

	kafkalog "tallyhouse/schemas/kafka"
)

func TestBalancerIsEvenAndSticky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var partitions []kafka.Partition
		for topic := range rapid.IntRange(1, 6).Draw(t, "topics") {
			for p := range rapid.IntRange(1, 8).Draw(t, "partitions") {
				partitions = append(partitions, kafka.Partition{Topic: fmt.Sprint("t", topic), ID: p})
			}
		}
		members := drawMembers(t, partitions)

		given := balancer{}.AssignGroups(members, partitions)

		times := map[kafkalog.Partition]int{}
		fewest, most := len(partitions), 0
		kept := 0
		for _, m := range members {
			n := 0
			before := hadBefore(m)
			for topic, ps := range given[m.ID] {
				for _, p := range ps {
					tp := kafkalog.Partition{Topic: topic, Number: int32(p)}
					times[tp]++
					n++
					if slices.Contains(before, tp) {
						kept++
					}
				}
			}
			fewest, most = min(fewest, n), max(most, n)
		}
		for _, p := range partitions {
			if n := times[kafkalog.Partition{Topic: p.Topic, Number: int32(p.ID)}]; n != 1 {
				t.Fatalf("%s/%d is given %d times", p.Topic, p.ID, n)
			}
		}
		if most-fewest > 1 {
			t.Fatalf("uneven: %d to %d partitions", fewest, most)
		}
		again := slices.Clone(members)
		for i, m := range again {
			again[i].UserData = userData(given[m.ID])
		}
		if second := (balancer{}).AssignGroups(again, partitions); fmt.Sprint(second) != fmt.Sprint(sorted(given)) && !sameSets(second, given) {
			t.Fatalf("a rebalance without change moved partitions: %v, then %v", given, second)
		}
	})
}

func TestBalancerGivesPartitionZeroOfTopicsToDifferentMembers(t *testing.T) {
	var partitions []kafka.Partition
	for topic := range 4 {
		partitions = append(partitions, kafka.Partition{Topic: fmt.Sprint("t", topic)})
	}
	topics := []string{"t0", "t1", "t2", "t3"}
	given := balancer{}.AssignGroups([]kafka.GroupMember{{ID: "a", Topics: topics}, {ID: "b", Topics: topics}}, partitions)
	if len(given["a"]) != 2 || len(given["b"]) != 2 {
		t.Errorf("four topics of one partition, two members: %v", given)
	}
}

// Given a member of an older release, which doesn't know a topic, then the topic is left to the others, and the older
// one has its share of what it knows.
func TestBalancerLeavesATopicToThoseWhoKnowIt(t *testing.T) {
	var partitions []kafka.Partition
	for p := range 4 {
		partitions = append(partitions, kafka.Partition{Topic: "known", ID: p}, kafka.Partition{Topic: "new", ID: p})
	}
	older := kafka.GroupMember{ID: "a", Topics: []string{"known"}, UserData: userData(map[string][]int{"new": {0, 1}})}
	given := balancer{}.AssignGroups([]kafka.GroupMember{older, {ID: "b", Topics: []string{"known", "new"}}}, partitions)
	if len(given["a"]["new"]) != 0 || len(given["b"]["new"]) != 4 {
		t.Errorf("the new topic goes to %v", given)
	}
	if len(given["a"]["known"])+len(given["b"]["known"]) != 4 || len(given["a"]["known"]) < 3 {
		t.Errorf("the known topic goes to %v", given)
	}
}

func drawMembers(t *rapid.T, partitions []kafka.Partition) []kafka.GroupMember {
	members := make([]kafka.GroupMember, rapid.IntRange(1, 5).Draw(t, "members"))
	for i := range members {
		members[i].ID = fmt.Sprint("m", i)
		for _, p := range partitions {
			if !slices.Contains(members[i].Topics, p.Topic) {
				members[i].Topics = append(members[i].Topics, p.Topic)
			}
		}
		has := map[string][]int{}
		for _, p := range partitions { // several may say that they have the same: zombies do
			if rapid.IntRange(0, 3).Draw(t, "has") == 0 {
				has[p.Topic] = append(has[p.Topic], p.ID)
			}
		}
		members[i].UserData = userData(has)
	}
	return members
}

func userData(has map[string][]int) []byte {
	data, _ := json.Marshal(has)
	return data
}

func sorted(g kafka.GroupMemberAssignments) kafka.GroupMemberAssignments {
	for _, topics := range g {
		for _, ps := range topics {
			slices.Sort(ps)
		}
	}
	return g
}

func sameSets(a, b kafka.GroupMemberAssignments) bool {
	return fmt.Sprint(sorted(a)) == fmt.Sprint(sorted(b))
}
