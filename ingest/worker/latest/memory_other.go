//go:build !linux

package latest

import "slices"

// memory is a slice of the Go heap, without pointers, which the collector holds but doesn't scan. It moves when it
// grows.
type memory struct{ bytes []byte }

func newMemory(string, int64) (*memory, error) { return &memory{}, nil }

// grow makes so many bytes usable.
func (m *memory) grow(size int64) error {
	m.bytes = slices.Grow(m.bytes, int(size)-len(m.bytes))[:size]
	return nil
}

func (m *memory) close() error {
	m.bytes = nil
	return nil
}
