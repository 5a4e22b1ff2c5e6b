package clickhouse

import (
	"context"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar shows how much of the tarball has arrived.
type bar struct {
	shown *progressbar.ProgressBar
	total int64
}

func newBar(w io.Writer, total int64) *bar {
	return &bar{total: total, shown: progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("fetching the ClickHouse engine"),
		progressbar.OptionShowBytes(true),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionOnCompletion(func() { _, _ = io.WriteString(w, "\n") }),
	)}
}

// watch takes the growth of dir for progress, until ctx ends.
func (b *bar) watch(ctx context.Context, dir string) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// npm keeps the tarball twice in the end: never show the full length here.
			_ = b.shown.Set64(min(size(dir), b.total-1)) // a bar that cannot be drawn is no failure
		}
	}
}

func (b *bar) unpacking() { b.shown.Describe("unpacking the ClickHouse engine") }

func (b *bar) finish() { _ = b.shown.Finish() }

// size is the length of all files under dir. Files come and go meanwhile, so
// what cannot be looked at counts nothing.
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
