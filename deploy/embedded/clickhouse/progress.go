package clickhouse

import (
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows how much of some bytes has arrived. It is not an error if it can't be drawn.
type bar struct {
	w     io.Writer
	shown *progressbar.ProgressBar
	total int64
}

func newBar(w io.Writer, what string, total int64) *bar {
	b := &bar{w: w, total: total, shown: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(w, "\n") }),
	)}
	_ = b.shown.RenderBlank()
	return b
}

// watch shows the growth of dir as progress, until stop is called.
func (b *bar) watch(dir string) (stop func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				// npm keeps the tarball twice in the end: never show the full length here.
				_ = b.shown.Set64(min(size(dir), b.total-1))
			}
		}
	}()
	return func() { close(over); <-ended }
}

// Write counts bytes that arrived.
func (b *bar) Write(arrived []byte) (int, error) {
	_ = b.shown.Add(len(arrived))
	return len(arrived), nil
}

func (b *bar) finish() { _ = b.shown.Finish() }

// close ends the bar's line where finish did not, so that an error starts a new one.
func (b *bar) close() {
	if !b.shown.IsFinished() {
		_ = b.shown.Exit()
		_, _ = io.WriteString(b.w, "\n")
	}
}

// size is the length of all files under dir. Files come and go meanwhile, so
// those that can't be read count as empty.
func size(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
