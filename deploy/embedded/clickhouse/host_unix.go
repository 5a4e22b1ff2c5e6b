//go:build linux || darwin

package clickhouse

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// killGroup ends a child and what it started.
func killGroup(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGKILL) // not an error: it has ended already
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// replaceStdin moves standard input to the file it returns first, and puts in
// its place a pipe that is open as long as the second file is.
func replaceStdin() (moved, keep *os.File, err error) {
	fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, fmt.Errorf("move the standard input: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("make a pipe for the library: %w", err)
	}
	defer read.Close()
	if err := unix.Dup2(int(read.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("replace the standard input: %w", err)
	}
	return os.NewFile(uintptr(fd), "parent"), write, nil
}
