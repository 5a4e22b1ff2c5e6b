package drawn

import "testing"

// Given memory of a most, then it grows where it is, keeps what it holds, and is refused beyond.
func TestMemoryGrowsWhereItIs(t *testing.T) {
	m := room(0, 1<<20)
	defer m.Free()
	first := m.Reallocate(100)
	first[99] = 7
	grown := m.Reallocate(1 << 20)
	if len(grown) != 1<<20 || &grown[0] != &first[0] || grown[99] != 7 || grown[1<<20-1] != 0 {
		t.Errorf("%d bytes, not where they were or not as they were", len(grown))
	}
	if more := m.Reallocate(1<<20 + 1); more != nil {
		t.Errorf("%d bytes beyond the most", len(more))
	}
}

// Where nothing can be reserved PDFium begins in Go's memory, and has no more than that.
func TestMemoryThatCannotBeReserved(t *testing.T) {
	m := room(0, 1<<62)
	defer m.Free()
	if first := m.Reallocate(100); len(first) != 100 {
		t.Errorf("%d bytes to begin with", len(first))
	}
	if more := m.Reallocate(200); more != nil {
		t.Errorf("%d bytes more", len(more))
	}
}
