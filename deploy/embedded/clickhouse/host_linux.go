package clickhouse

import "syscall"

// childAttributes put the child into a process group of its own, so that Ctrl-C
// at the terminal is the parent's alone to handle, and end it with its parent.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// grandchildAttributes leave the clickhouse binary in the child's group.
func grandchildAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
