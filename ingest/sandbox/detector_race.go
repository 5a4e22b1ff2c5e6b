//go:build race

package sandbox

// dataLimit allows for the race detector, which has several bytes of its own for each of the program, in large blocks.
func dataLimit(memory int64) int64 { return 1<<30 + 8*memory }
