package drawn

import (
	"os"

	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sys/unix"
)

// memory is PDFium's. It is reserved at once and taken bit by bit where it is: Go's own would be copied to grow, and end the
// process where a sandbox grants no more. PDFium leaves out pictures that it finds no room for.
type memory struct {
	reserved []byte // without access until it is taken
	taken    int
	heap     []byte // instead, where not even what PDFium begins with can be taken
}

// room is what WebAssembly asks for memory.
func room(_, most uint64) experimental.LinearMemory {
	reserved, err := unix.Mmap(-1, 0, int(most), unix.PROT_NONE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		reserved = nil
	}
	return &memory{reserved: reserved}
}

// Reallocate makes the memory larger, nil where that can't be. Bytes that were taken stay where they are.
func (m *memory) Reallocate(size uint64) []byte {
	if m.heap == nil && m.take(size) {
		return m.reserved[:size:size]
	}
	if m.heap == nil && m.taken == 0 {
		m.heap = make([]byte, size)
		return m.heap
	}
	return nil
}

func (m *memory) take(size uint64) bool {
	if size > uint64(len(m.reserved)) {
		return false
	}
	page := os.Getpagesize()
	most := min((int(size)+page-1)/page*page, len(m.reserved))
	if most <= m.taken {
		return true
	}
	if unix.Mprotect(m.reserved[m.taken:most], unix.PROT_READ|unix.PROT_WRITE) != nil {
		return false
	}
	m.taken = most
	return true
}

// Free gives all back.
func (m *memory) Free() {
	if m.reserved != nil {
		_ = unix.Munmap(m.reserved) // it is a mapping as it was made
		m.reserved = nil
	}
}
