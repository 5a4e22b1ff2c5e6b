package sandbox

import "golang.org/x/sys/unix"

func auditArch() uint32 { return unix.AUDIT_ARCH_X86_64 }

// archCalls are those of threadsAlone that only this architecture has.
func archCalls() []uintptr { return []uintptr{unix.SYS_ARCH_PRCTL, unix.SYS_EPOLL_WAIT, unix.SYS_POLL} }
