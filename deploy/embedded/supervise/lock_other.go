//go:build !unix

package supervise

import (
	"fmt"
	"os"
)

// TryLock creates the lock file at path and removes it again; here a process
// that is killed leaves it behind, and it has to be removed by hand.
func TryLock(path string) (unlock func(), free bool, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o644)
	if os.IsExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("create the lock file: %w", err)
	}
	return func() { file.Close(); os.Remove(path) }, true, nil
}
