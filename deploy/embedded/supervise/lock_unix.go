//go:build unix

package supervise

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// TryLock takes the lock file at path, and creates it where there is none; free
// is false when another process holds it. The lock ends with its process.
func TryLock(path string) (unlock func(), free bool, err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock file: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return func() { file.Close() }, true, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, false, nil
	}
	return nil, false, fmt.Errorf("lock %s: %w", path, err)
}
