package latest

import (
	"errors"
	"fmt"
	"math"
	"os"
)

// ErrFull is returned by what would need more memory than the options allow. It left everything as it was.
var ErrFull = errors.New("the limit of the memory is reached")

// ErrClosed is returned by what is added after Close.
var ErrClosed = errors.New("closed")

// Options say where the memory lies and how much of it there may be. The zero value is good.
type Options struct {
	// Dir is where the scratch file is made; os.TempDir if empty. The file has no name, so it vanishes with the process. A
	// file system that copies on write (btrfs, ZFS) cannot promise the space that it allocated: there, and if its disk
	// fails, the process may end by a signal. Only Linux uses a file: elsewhere the memory is the Go heap's.
	Dir string
	// Limit is the most that may be taken, in bytes; 32 GiB if 0, and at most.
	Limit int64
}

const (
	// Places in the memory are told in units, so that 32 bits are enough for one.
	unit     = 8
	maxBytes = unit << 32

	firstStep, lastStep = 64 << 10, 4 << 20 // how much is taken at a time
	growth              = 16                // at least one part in so many
)

func (o Options) limit() (int64, error) {
	most := min(maxBytes, int64(math.MaxInt)/4)
	switch {
	case o.Limit == 0:
		return most, nil
	case o.Limit < 0 || o.Limit > most:
		return 0, fmt.Errorf("a limit of %d bytes is not between 0 and %d", o.Limit, most)
	}
	return o.Limit, nil
}

func (o Options) dir() string {
	if o.Dir == "" {
		return os.TempDir()
	}
	return o.Dir
}

// arena hands out flat memory from its beginning to its end. It takes none back: that is for its users, who know the
// sizes.
type arena struct {
	*memory
	limit int64
	used  int64
}

func newArena(o Options) (*arena, error) {
	limit, err := o.limit()
	if err != nil {
		return nil, err
	}
	m, err := newMemory(o.dir(), limit)
	if err != nil {
		return nil, err
	}
	a := &arena{memory: m, limit: limit}
	a.reset()
	return a, nil
}

// reset gives everything back at once. Place 0 is nobody's, so that 0 can mean none.
func (a *arena) reset() { a.used = unit }

// take hands out n bytes that begin at a multiple of align. They hold anything. After an error nothing is taken.
func (a *arena) take(n, align int64) (at int64, err error) {
	at = (a.used + align - 1) / align * align
	if n < 0 || n > a.limit || at > a.limit-n {
		return 0, ErrFull
	}
	if end, taken := at+n, int64(len(a.bytes)); end > taken {
		step := min(max(taken/growth, firstStep), lastStep)
		size := (max(end, taken+step) + firstStep - 1) / firstStep * firstStep
		if err := a.grow(min(size, a.limit)); err != nil {
			return 0, err
		}
	}
	a.used = at + n
	return at, nil
}

// taken is how much memory is held, handed out or not.
func (a *arena) taken() int64 { return int64(len(a.bytes)) }
