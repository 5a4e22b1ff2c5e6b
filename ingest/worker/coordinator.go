package worker

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/worker/fence"
)

// Database is what the protocol needs of the server that holds a shard.
type Database interface {
	fence.Database
	Insert(ctx context.Context, st database.Statement) (written uint64, err error)
	// Scan reads a large result block by block.
	Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error
}

var _ Database = (*database.Server)(nil)

// assignment is what a recovery gives a partition's writer, besides its fence: its position, and the records from there
// on. It is valid for as long as every insert made under it succeeded. (Kafka's own assignment is a hint, see
// membership.)
type assignment struct {
	generation int32
	server     string // serverUUID()
	life       string
	partitions int // of the topic, by which keys are hashed
	position   uint64
	epoch      int32 // the leader epoch of the message before the position, -1 where it isn't known
	buffer     *buffer
	gap        bool   // the log begins behind the position: a batch of the position row alone crosses over
	start      uint64 // of the log
	end        int64  // of its committed part
}

// request asks a coordinator to recover one partition. Until it is answered the writer waits, and the coordinator may
// change what it has.
type request struct {
	w       *writer
	answer  chan answer
	stopped <-chan struct{} // closed when the writer has to end
}

func (r request) isStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

type answer struct {
	assignment *assignment
	err        error
}

// reply answers once; later answers are dropped.
func (r request) reply(a *assignment, err error) {
	select {
	case r.answer <- answer{a, err}:
	default:
	}
}

// coordinator recovers the partitions of one topic that are kept on one server. Those that are in doubt at the same
// moment are recovered together: a fence for many costs what one costs.
type coordinator struct {
	name       string // of the worker, random
	entity     *store.Entity
	db         Database
	shard      int
	servers    []Database // of all shards
	log        *slog.Logger
	admin      *kgo.Client // for questions about the log
	source     *source
	membership *membership
	metrics    *metrics
	observe    observer
	requests   chan request
	permits    chan *batch // to let a batch be large, each with the memory of one that was, nil while there is none
	idle       *time.Timer // frees that memory
	beat       *beat
	scan       *headScan // the last one that began
}

// largeBatches is how many large batches of one topic there are at a time, from cutting to their insert: more would
// only wait for the server's cores, and take memory meanwhile.
const largeBatches = 2

// keepLarge is how long the memory of a large batch waits for the next: a partition that lies behind makes one after the
// other.
const keepLarge = 5 * time.Second

func newCoordinator(c coordinator) *coordinator {
	c.requests = make(chan request)
	c.permits = make(chan *batch, largeBatches)
	for range largeBatches {
		c.permits <- nil
	}
	c.idle = time.AfterFunc(keepLarge, c.freeLarge)
	c.beat = new(beat)
	return &c
}

// takePermitBack takes a permit back, and the memory of the large batch with it.
func (c *coordinator) takePermitBack(b *batch) {
	c.permits <- b
	c.idle.Reset(keepLarge)
}

// freeLarge frees the memory of large batches that nobody has.
func (c *coordinator) freeLarge() {
	for range largeBatches {
		select {
		case <-c.permits:
			c.permits <- nil
		default:
			return
		}
	}
}

// recoverPartition queues a partition's recovery and waits for its outcome.
func (c *coordinator) recoverPartition(ctx context.Context, w *writer) (*assignment, error) {
	r := request{w: w, answer: make(chan answer, 1), stopped: ctx.Done()}
	requests := c.requests
	look := time.NewTicker(poll)
	defer look.Stop()
	for {
		select {
		case requests <- r:
			requests = nil
		case a := <-r.answer:
			return a.assignment, a.err
		case <-look.C:
			if c.beat.alive() { // it works on others, or waits within a bound
				w.state.progress()
			}
		case <-ctx.Done():
			if requests == nil { // the coordinator has the writer's heads until it answers
				if late := <-r.answer; late.assignment != nil {
					late.assignment.buffer.close()
				}
			}
			return nil, ctx.Err()
		}
	}
}

// gather is how long a coordinator waits for further partitions that are in doubt for the same reason.
const gather = 5 * time.Millisecond

// run recovers until the context ends.
func (c *coordinator) run(ctx context.Context) {
	for {
		var together []request
		select {
		case r := <-c.requests:
			together = append(together, r)
		case <-ctx.Done():
			return
		}
		for more := time.After(gather); more != nil; {
			select {
			case r := <-c.requests:
				together = append(together, r)
			case <-more:
				more = nil
			}
		}
		c.recover(ctx, together)
	}
}

// untilAllStopped returns a context that ends when every writer that asked has to end: nobody waits for the answers then.
func untilAllStopped(ctx context.Context, requests []request) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		defer stop()
		for _, r := range requests {
			select {
			case <-r.stopped:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, stop
}

// beat says when somebody last completed a step, or until when a bounded one may take.
type beat struct{ until atomic.Int64 }

func (b *beat) now() { b.within(0) }

// within announces a step that may take that long.
func (b *beat) within(d time.Duration) {
	b.until.Store(time.Now().Add(d + livenessTimeout).UnixNano())
}

func (b *beat) alive() bool {
	until := b.until.Load()
	return until == 0 || time.Now().UnixNano() < until
}

// beating is a database whose every statement is a beat: each has a bound, and however many a phase of a recovery needs,
// it is alive.
type beating struct {
	Database
	beat *beat
}

// Rows implements Database.
func (b beating) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	b.beat.now()
	return b.Database.Rows(ctx, q, each)
}

// Exec implements Database.
func (b beating) Exec(ctx context.Context, st database.Statement) error {
	b.beat.now()
	return b.Database.Exec(ctx, st)
}

// Insert implements Database.
func (b beating) Insert(ctx context.Context, st database.Statement) (uint64, error) {
	b.beat.now()
	return b.Database.Insert(ctx, st)
}

// Scan implements Database.
func (b beating) Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error {
	b.beat.within(q.Limit)
	return b.Database.Scan(ctx, q, into, func() error {
		err := each()
		b.beat.within(q.Limit)
		return err
	})
}
