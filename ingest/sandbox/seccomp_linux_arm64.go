package sandbox

import "golang.org/x/sys/unix"

func auditArch() uint32 { return unix.AUDIT_ARCH_AARCH64 }

// archCalls are those of threadsAlone that only this architecture has.
func archCalls() []uintptr { return nil }
