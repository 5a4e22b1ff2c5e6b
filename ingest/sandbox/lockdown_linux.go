package sandbox

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// nobody is the user of children, and its group, where this process is root: the one that owns nothing.
const nobody = 65534

// lockDown gives up user, file system, network and system calls, for good.
func lockDown(programs []string) error {
	if err := becomeNobody(); err != nil {
		return fmt.Errorf("change the user: %w", err)
	}
	programs = slices.DeleteFunc(slices.Clone(programs), func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
	var rules []landlock.Rule
	for _, path := range programs {
		rules = append(rules, rule(path))
	}
	// ENOTSUP: this build of the program can't restrict all its threads at once (docs/security.md#sandbox). Without
	// programs the system calls' filter leaves no way to a file either.
	if err := landlock.V6.BestEffort().Restrict(rules...); err != nil && !errors.Is(err, syscall.ENOTSUP) {
		return fmt.Errorf("give up the file system: %w", err)
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

func rule(path string) landlock.Rule {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return landlock.RODirs(path)
	}
	return landlock.ROFiles(path)
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
