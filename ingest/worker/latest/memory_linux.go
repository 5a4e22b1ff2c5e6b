package latest

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// memory is the mapping of a scratch file without a name. The mapping is as long as the memory can become, which costs
// address space alone, so nothing moves when it grows; the file's space is allocated and written before bytes reaches
// there, so a full disk is an error of grow and never a signal.
type memory struct {
	bytes   []byte // what may be used
	mapping []byte
	file    *os.File
}

func newMemory(dir string, limit int64) (*memory, error) {
	file, err := os.CreateTemp(dir, "tallyhouse-latest-*")
	if err != nil {
		return nil, fmt.Errorf("make a scratch file: %w", err)
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("unlink the scratch file: %w", err), file.Close())
	}
	mapping, err := unix.Mmap(int(file.Fd()), 0, int(limit), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map the scratch file: %w", err), file.Close())
	}
	// Heads are asked for in no order: what lies beside one need not be read with it.
	if err := unix.Madvise(mapping, unix.MADV_RANDOM); err != nil {
		return nil, errors.Join(fmt.Errorf("map the scratch file: %w", err), unix.Munmap(mapping), file.Close())
	}
	return &memory{mapping: mapping, bytes: mapping[:0], file: file}, nil
}

// grow makes so many bytes usable. Where it fails, those from before still are.
func (m *memory) grow(size int64) error {
	taken := int64(len(m.bytes))
	// The signals by which the runtime stops goroutines interrupt an allocation; what it has done so far may be lost.
	const tries = 1000
	var err error
	for range tries {
		if err = unix.Fallocate(int(m.file.Fd()), 0, taken, size-taken); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("allocate %d more bytes of the scratch file %s: %w", size-taken, m.file.Name(), err)
	}
	// Written zeros are the same zeros in larger pages: filling a table takes half the time that it takes page by page.
	zeros := make([]byte, min(size-taken, 256<<10))
	for at := taken; at < size; at += int64(len(zeros)) {
		if _, err := m.file.WriteAt(zeros[:min(int64(len(zeros)), size-at)], at); err != nil {
			return fmt.Errorf("fill %d more bytes of the scratch file: %w", size-taken, err)
		}
	}
	m.bytes = m.mapping[:size]
	return nil
}

func (m *memory) close() error {
	if m.mapping == nil {
		return nil
	}
	err := errors.Join(unix.Munmap(m.mapping), m.file.Close())
	m.bytes, m.mapping = nil, nil
	return err
}
