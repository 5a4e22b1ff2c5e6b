package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	landlock "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// itself is what a restricted process needs to execute this program once more: its file, and the system's loader and
// libraries where it is linked dynamically.
func itself() []string {
	return []string{"/proc/self/exe", "/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"}
}

// executeWithFiles executes this program anew with a request, in a process that may read and execute the given files
// and directories beside its own, connect to nothing and signal nobody outside. It returns only with an error, or when the kernel has
// no landlock. Landlock restricts a thread and what it executes: not every build of a Go program can restrict all its
// threads, but an executed program begins as one.
func executeWithFiles(files []string, request string) error {
	rules, supported, err := newRuleset()
	if err != nil || !supported {
		return err
	}
	for _, path := range append(itself(), files...) {
		if err := rules.allow(path); err != nil {
			return err
		}
	}
	runtime.LockOSThread() // for good: without an error, the thread is not this program's any more
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if err := landlock.LandlockRestrictSelf(rules.fd, 0); err != nil {
		return fmt.Errorf("restrict a thread: %w", err)
	}
	err = syscall.Exec("/proc/self/exe", os.Args, []string{requestVariable + "=" + request})
	return fmt.Errorf("execute this program anew: %w", err)
}

// ruleset is landlock's list of what stays allowed.
type ruleset struct{ fd int }

// newRuleset returns a list that allows nothing of all that the kernel's landlock knows. A kernel, or a container,
// may have none.
func newRuleset() (r ruleset, supported bool, err error) {
	version, err := landlock.LandlockGetABIVersion()
	if err != nil {
		return ruleset{}, false, nil
	}
	attr := landlock.RulesetAttr{HandledAccessFS: landlock.AccessFSRefer - 1}
	for _, added := range []struct {
		version int
		files   uint64
		network uint64
		scoped  uint64
	}{
		{version: 2, files: landlock.AccessFSRefer},
		{version: 3, files: landlock.AccessFSTruncate},
		{version: 4, network: landlock.AccessNetBindTCP | landlock.AccessNetConnectTCP},
		{version: 5, files: landlock.AccessFSIoctlDev},
		{version: 6, scoped: landlock.ScopeAbstractUnixSocket | landlock.ScopeSignal},
	} {
		if version >= added.version {
			attr.HandledAccessFS |= added.files
			attr.HandledAccessNet |= added.network
			attr.Scoped |= added.scoped
		}
	}
	fd, err := landlock.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return ruleset{}, false, fmt.Errorf("create a landlock ruleset: %w", err)
	}
	return ruleset{fd: fd}, true, nil
}

// allow adds a file, or a directory with all below it, to read and execute. What can't be opened stays closed.
func (r ruleset) allow(path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	rights := uint64(landlock.AccessFSExecute | landlock.AccessFSReadFile)
	if stat.Mode&unix.S_IFMT == unix.S_IFDIR {
		rights |= landlock.AccessFSReadDir
	}
	attr := landlock.PathBeneathAttr{AllowedAccess: rights, ParentFd: fd}
	if err := landlock.LandlockAddPathBeneathRule(r.fd, &attr, 0); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	return nil
}
