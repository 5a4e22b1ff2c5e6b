//go:build !race

package sandbox

// dataLimit is what the kernel lets a child have when it may use so much memory.
func dataLimit(memory int64) int64 { return memory }
