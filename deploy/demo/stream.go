package demo

import (
	"fmt"
	"io"
	"time"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsontext"
)

// Time passes in ticks: one for each record, or a million where the records are fewer. No version can be due further
// ahead than the horizon; with so many records that a hundred days are more ticks than that, all distances shrink in
// proportion.
const (
	leastTicks   = 1_000_000
	horizon      = 1 << 16
	longestStory = 100 * day
	flushAt      = 64 << 10 // bytes
)

// stream writes the lines. It goes through the records in the order in which they come in; later versions wait on a
// timing wheel, and scheduled changes are written when they are due.
type stream struct {
	*world
	out     io.Writer
	buf     []byte
	lines   int64
	begun   int64
	record  record
	builder recordBuilder
	each    int64 // ticks from one record to the next
	ticks   int64 // in all the years
	event   events.Event
	heads   [horizon]int32 // of the timing wheel, by tick modulo horizon: the first that waits, 0 for none
	waiting []waiting      // [0] is unused
	free    int32
	pending int // how many wait
	prefix  map[events.Topic]string
}

// waiting is a record whose next version is due at some tick.
type waiting struct {
	record  int64
	version int
	next    int32
}

func newStream(w *world, out io.Writer) *stream {
	s := &stream{
		world: w, out: out, buf: make([]byte, 0, flushAt+16<<10), waiting: make([]waiting, 1),
		prefix: map[events.Topic]string{}, each: max(1, leastTicks/w.Records),
	}
	s.ticks = s.each * w.Records
	tenant := jsontext.AppendString(nil, w.Tenant)
	for _, t := range Topics() {
		s.prefix[t] = `{"topic":"` + string(t) + `","key":` + string(tenant[:len(tenant)-1]) + "/"
	}
	s.event.TenantID = w.Tenant
	return s
}

func (s *stream) run() error {
	if s.writes(events.Records) {
		for tick := int64(0); tick < s.ticks || s.pending > 0; tick++ {
			if err := s.tick(tick); err != nil {
				return err
			}
		}
	}
	if err := s.writeScheduled(s.end); err != nil {
		return err
	}
	if err := s.flush(); err != nil {
		return err
	}
	s.report()
	return nil
}

// tick writes what is due and begins the next record.
func (s *stream) tick(tick int64) error {
	if err := s.writeScheduled(s.start + (s.end-s.start)*tick/s.ticks); err != nil {
		return err
	}
	next := s.heads[tick&(horizon-1)]
	s.heads[tick&(horizon-1)] = 0
	for next != 0 {
		due := s.waiting[next]
		s.waiting[next].next, s.free = s.free, next
		s.pending--
		next = due.next
		s.draw(due.record, &s.record)
		if err := s.writeVersion(tick, due.version); err != nil {
			return err
		}
	}
	if tick >= s.ticks || tick%s.each != 0 {
		return nil
	}
	s.draw(tick/s.each, &s.record)
	s.begun++
	if s.record.at[0] > s.record.created {
		s.wait(tick, 0)
		return nil
	}
	return s.writeVersion(tick, 0)
}

// wait puts the current record on the timing wheel until its v-th version is due, at the next tick at the earliest.
func (s *stream) wait(tick int64, v int) {
	after := (s.record.at[v] - s.record.created) * s.ticks / (s.end - s.start)
	if most := longestStory * s.ticks / (s.end - s.start); most >= horizon {
		after = after * (horizon - 1) / most
	}
	due := max(tick+1, s.record.number*s.each+min(after, horizon-1)) & (horizon - 1)
	slot := s.free
	if slot == 0 {
		slot = int32(len(s.waiting))
		s.waiting = append(s.waiting, waiting{})
	} else {
		s.free = s.waiting[slot].next
	}
	s.waiting[slot] = waiting{s.record.number, v, s.heads[due]}
	s.heads[due] = slot
	s.pending++
}

// writeVersion writes a version of the current record, and puts the next one on the timing wheel.
func (s *stream) writeVersion(tick int64, v int) error {
	r := &s.record
	var data any
	if r.steps[v] != deleted {
		data = s.builder.build(r, v)
	}
	if err := s.write(events.Records, recordID(s.Seed, r.number), int64(v)+1, r.at[v], data); err != nil {
		return err
	}
	if v+1 < r.versions {
		s.wait(tick, v+1)
	}
	return nil
}

// recordID is unique for the number and shows nothing of it: its 60 bits are scrambled one to one.
func recordID(seed uint64, number int64) string {
	const letters = "0123456789abcdefghjkmnpqrstvwxyz"
	const bits60 = 1<<60 - 1
	x := uint64(number)
	for round := range uint64(3) {
		x = (x ^ scatter(seed+round)) & bits60
		x = x * 0xd1342543de82ef95 & bits60
		x ^= x >> 31
	}
	id := [16]byte{'r', 'e', 'c', '_'}
	for i := 4; i < len(id); i++ {
		id[i] = letters[x&31]
		x >>= 5
	}
	return string(id[:])
}

// writeScheduled writes the changes that are scheduled up to an instant.
func (s *stream) writeScheduled(until int64) error {
	for len(s.schedule.list) > 0 && s.schedule.list[0].at <= until {
		c := s.schedule.list[0]
		s.schedule.list[0], s.schedule.list = change{}, s.schedule.list[1:]
		var data any
		if c.data != nil {
			data = c.data()
		}
		if err := s.write(c.topic, c.id, c.version, c.at, data); err != nil {
			return err
		}
	}
	return nil
}

// write writes one line. Ids are plain ASCII here and need no escaping.
func (s *stream) write(t events.Topic, id string, version, at int64, data any) error {
	s.event.ID, s.event.Version, s.event.At = id, version, time.Unix(at, 0).UTC()
	s.event.Data, s.event.Op = data, events.Upsert
	if data == nil {
		s.event.Op = events.Delete
	}
	s.buf = append(s.buf, s.prefix[t]...)
	s.buf = append(s.buf, id...)
	s.buf = append(s.buf, `","value":`...)
	var err error
	if s.buf, err = events.Append(s.buf, t, s.event); err != nil {
		return fmt.Errorf("%s %s: %w", t, id, err)
	}
	s.buf = append(s.buf, '}', '\n')
	if s.lines++; s.lines%progressEvery == 0 {
		s.report()
	}
	if len(s.buf) < flushAt {
		return nil
	}
	return s.flush()
}

func (s *stream) flush() error {
	_, err := s.out.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

func (s *stream) report() {
	if s.Progress != nil {
		s.Progress(Progress{Counted: s.counted, Records: s.begun, Lines: s.lines})
	}
}
