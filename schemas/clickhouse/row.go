package clickhouse

import (
	"strconv"
	"strings"
)

// Of every state table the rows of tenant '' are position rows, one for each partition that was written: project names
// the partition, row_version is the position, the next offset that the table expects of it, batch_first where the last
// batch began, and key_hash, as there is no key, the leader epoch of the last message (StoredEpoch). No entity has the
// tenant ''. In a table whose entities contribute to sums the row's delta holds what the batch changed in them; the view
// moves it into sums, where a row of tenant '' holds the view's own position.

// PositionProject is the project of a partition's position row in a state table.
func PositionProject(partition int32) string { return "#" + strconv.Itoa(int(partition)) }

// PositionPartition is the partition that a position row of a state table names.
func PositionPartition(project string) (partition int32, ok bool) {
	number, found := strings.CutPrefix(project, "#")
	n, err := strconv.ParseInt(number, 10, 32)
	return int32(n), found && err == nil
}

// StoredEpoch is a leader epoch as a position row has it: 0 for -1, an epoch that isn't known, as of rows that have none.
func StoredEpoch(epoch int32) uint32 { return uint32(epoch + 1) }

// LeaderEpoch is the leader epoch that a position row has.
func LeaderEpoch(stored uint32) int32 { return int32(stored) - 1 }

// ViewPositionProject is the project of the row in sums that says how far the view of a state table has come in a
// partition.
func ViewPositionProject(table string, partition int32) string {
	return ViewPositionPrefix(table) + strconv.Itoa(int(partition))
}

// ViewPositionPrefix begins the projects of all rows in sums that say how far the view of a state table has come.
func ViewPositionPrefix(table string) string { return "#" + table + "/" }

// Trigger is the name of the materialised view that moves a state table's deltas into sums.
func Trigger(table string) string { return table + "_sums" }
