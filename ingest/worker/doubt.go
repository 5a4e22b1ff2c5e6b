package worker

import (
	"errors"
	"slices"
	"time"

	"tallyhouse/ingest/worker/fence"
	"tallyhouse/ingest/worker/position"
)

// lostFence records that another writer outbid the fence of this member in good standing.
func (w *writer) lostFence(now time.Time) { w.doubt.lost = append(w.doubt.lost, now) }

// doubt is the one back-off of a writer, for all that can go wrong.
type doubt struct {
	repeated int         // in a row, without progress
	lost     []time.Time // when the fence was outbid, within the last minute
	sent     uint64      // offsets whose dead letters and re-routed messages Kafka has
	life     string      // of the stream whose offsets these are
}

// of begins anew with what was sent where the stream began a new life: its topic may be another one, with other messages there.
func (d *doubt) of(life string) {
	if d.life != life {
		d.life, d.sent = life, 0
	}
}

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
