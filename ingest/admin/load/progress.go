package load

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// NewProgress shows how far a load is: a bar on a terminal, a line every few seconds elsewhere.
func NewProgress(w io.Writer, terminal bool) Progress {
	if terminal {
		return &bar{w: w}
	}
	return &ticker{w: w}
}

type bar struct {
	w     io.Writer
	shown *progressbar.ProgressBar
}

// Stage implements Progress.
func (b *bar) Stage(name string, total int64, unit Unit) {
	if b.shown != nil {
		b.End()
	}
	b.shown = progressbar.NewOptions64(max(total, 1),
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(name),
		progressbar.OptionShowBytes(unit == Bytes),
		progressbar.OptionShowCount(),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
}

// Done implements Progress.
func (b *bar) Done(units int64) { _ = b.shown.Set64(min(units, b.shown.GetMax64())) } // a bar that can't be drawn is no failure

// End implements Progress.
func (b *bar) End() { _ = b.shown.Clear() }

const every = 5 * time.Second // between two lines of plain progress

type ticker struct {
	w     io.Writer
	name  string
	total int64
	unit  Unit
	last  time.Time
}

// Stage implements Progress.
func (t *ticker) Stage(name string, total int64, unit Unit) {
	t.name, t.total, t.unit, t.last = name, total, unit, time.Now()
}

// Done implements Progress.
func (t *ticker) Done(units int64) {
	if now := time.Now(); now.Sub(t.last) >= every {
		t.last = now
		fmt.Fprintf(t.w, "%s: %d of %d %s\n", t.name, units, t.total, t.unit)
	}
}

// End implements Progress.
func (t *ticker) End() {}
