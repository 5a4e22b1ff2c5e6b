package worker

import (
	"errors"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

// lostFence records that another writer outbid the fence of this member in good standing.
func (w *writer) lostFence(now time.Time) { w.doubt.lost = append(w.doubt.lost, now) }

// doubt is the one back-off of a writer, for all that can go wrong.
type doubt struct {
	repeated  int         // in a row, without progress
	lost      []time.Time // when the fence was outbid, within the last minute
	sent      uint64      // offsets whose dead letters and re-routed messages Kafka has
	sentEpoch int32       // no message of these has a newer leader epoch,
	readEpoch int32       // and none that was read
	unsent    uint64      // up to here batches stay small: Kafka didn't take in time what there was to send
	life      string      // of the stream whose offsets these are
}

// of begins anew with what was sent where the stream began a new life: its topic may be another one, with other messages there.
func (d *doubt) of(life string) {
	if d.life != life {
		d.life, d.sent, d.sentEpoch, d.readEpoch, d.unsent = life, 0, 0, 0, 0
	}
}

// reads looks at a message that may have been read before. One of a newer epoch has taken the place of another, in a log that lost its end
// there before it was written: nothing is sent of it, nor of what comes behind it.
func (d *doubt) reads(r *kgo.Record) {
	if uint64(r.Offset) < d.sent && r.LeaderEpoch > d.sentEpoch {
		d.sent = uint64(r.Offset)
	}
	d.readEpoch = max(d.readEpoch, r.LeaderEpoch)
}

// hasSent records that Kafka has what there is to send up to an offset.
func (d *doubt) hasSent(next uint64) { d.sent, d.sentEpoch = next, d.readEpoch }

const (
	heldWait         = time.Second
	inconsistentWait = 30 * time.Second
	minWait          = 100 * time.Millisecond // after a doubt that repeats, doubled up to maxWait
	maxWait          = 10 * time.Second
)

// progressed ends the doubts.
func (d *doubt) progressed() { d.repeated = 0 }

// pause is how long to wait before the partition recovers again: not at all after a first doubt, then longer each time.
// Where somebody holds or has to act it is a look now and then. Somebody who outbids this writer again and again is
// given way to longer and longer: two installations that write to one database are safe, but nobody's intention.
func (d *doubt) pause(err error, now time.Time) time.Duration {
	var held *fence.Held
	var inconsistent *position.Inconsistent
	var refusal *position.Refusal
	switch {
	case errors.As(err, &held):
		return heldWait
	case errors.As(err, &inconsistent), errors.As(err, &refusal):
		return inconsistentWait
	}
	d.repeated++
	d.lost = slices.DeleteFunc(d.lost, func(t time.Time) bool { return now.Sub(t) > time.Minute })
	wait := time.Duration(0)
	if d.repeated > 1 {
		wait = min(minWait<<min(d.repeated-2, 16), maxWait)
	}
	if len(d.lost) >= 3 {
		wait = max(wait, min(time.Second<<min(len(d.lost)-3, 5), inconsistentWait))
	}
	return wait
}
