package clickhouse

import "syscall"

// childAttributes put the child into a process group of its own, so that Ctrl-C
// at the terminal is the parent's alone to handle.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// grandchildAttributes leave the clickhouse binary in the child's group.
func grandchildAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
