package worker

import (
	"context"
	"time"

	kafkalog "tallyhouse/schemas/kafka"
)

// Step is a named point of the protocol, in the order in which a partition passes them.
type Step string

// The steps of a recovery and of a batch.
const (
	StepMember      Step = "member"       // before the worker's place in the group is asked
	StepFence       Step = "fence"        // before a new fence is put up
	StepKill        Step = "kill"         // before older inserts are killed
	StepIdentity    Step = "identity"     // before cluster, topic and server are compared
	StepPositions   Step = "positions"    // before the positions are read
	StepMend        Step = "mend"         // before a view is mended
	StepLog         Step = "log"          // before the positions are compared with the log
	StepHeads       Step = "heads"        // before the heads are loaded or caught up
	StepRead        Step = "read"         // before reading begins
	StepCut         Step = "cut"          // before a batch is cut
	StepSend        Step = "send"         // before dead letters and re-routed messages are sent
	StepInsert      Step = "insert"       // before the insert
	StepInserted    Step = "inserted"     // after the insert, before its outcome is checked
	StepHeadsUpdate Step = "heads-update" // before the heads are committed
	StepCommit      Step = "commit"       // before Kafka's offset is committed
)

// observer is called at every step of every partition. The worker's own does nothing; tests pause, kill and tear there.
type observer func(kafkalog.Partition, Step)

func noObserver(kafkalog.Partition, Step) {}

// sleeper lets time pass between two attempts at a partition, and reports progress meanwhile. Tests count the pauses
// that are asked for, and end them when they like.
type sleeper func(ctx context.Context, tp kafkalog.Partition, d time.Duration, progress func())

// sleepAlive sleeps. A long pause is alive all the time.
func sleepAlive(ctx context.Context, _ kafkalog.Partition, d time.Duration, progress func()) {
	for d > 0 && ctx.Err() == nil {
		part := min(d, livenessTimeout/4)
		sleep(ctx, part)
		progress()
		d -= part
	}
}
