package sandbox

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// nobody is the user of children, and its group, where this process is root: the one that owns nothing.
const nobody = 65534

// lockDown gives up user, network and system calls, for good; the file system is given up already, by executeWithFiles.
func lockDown(programs []string) error {
	if err := becomeNobody(); err != nil {
		return fmt.Errorf("change the user: %w", err)
	}
	filter := threadsAlone
	if len(programs) > 0 {
		filter = withoutNetwork
	}
	if err := filter(); err != nil {
		return fmt.Errorf("give up system calls: %w", err)
	}
	return nil
}

// becomeNobody gives root up. A container may forbid that, or know no other user: then the process stays who it is.
func becomeNobody() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, change := range []func() error{
		func() error { return syscall.Setgroups(nil) },
		func() error { return syscall.Setresgid(nobody, nobody, nobody) },
		func() error { return syscall.Setresuid(nobody, nobody, nobody) },
	} {
		if err := change(); err != nil && !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EINVAL) {
			return err
		}
	}
	return nil
}
