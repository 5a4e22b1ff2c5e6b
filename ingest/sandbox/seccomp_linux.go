package sandbox

import (
	"errors"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data (seccomp(2)); arguments are little-endian.
const (
	offsetNumber   = 0
	offsetArch     = 4
	offsetArgument = 16
)

// threadsAlone leaves what a Go program needs that computes and talks through its open files: memory, threads, time.
// All else fails with EPERM.
func threadsAlone() error {
	f := newFilter()
	for _, number := range append(archCalls(),
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_CLOSE, unix.SYS_FCNTL, unix.SYS_FSTAT, unix.SYS_LSEEK,
		unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE, unix.SYS_MINCORE, unix.SYS_BRK,
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK,
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_MEMBARRIER,
		unix.SYS_GETTID, unix.SYS_GETPID, unix.SYS_GETUID, unix.SYS_GETEUID, unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_SET_TID_ADDRESS,
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_RESTART_SYSCALL,
		unix.SYS_TIMER_CREATE, unix.SYS_TIMER_SETTIME, unix.SYS_TIMER_DELETE, unix.SYS_SETITIMER,
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2, unix.SYS_PIPE2, unix.SYS_PPOLL,
		unix.SYS_GETRANDOM, unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
	) {
		f.on(number, unix.SECCOMP_RET_ALLOW)
	}
	f.onArgument(unix.SYS_CLONE, unix.BPF_JSET, unix.CLONE_THREAD)    // threads, not processes
	f.onArgument(unix.SYS_TGKILL, unix.BPF_JEQ, uint32(os.Getpid()))  // signals to itself
	f.on(unix.SYS_CLONE3, unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)) // whose flags can't be seen: clone is used then
	return f.install(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
}

// withoutNetwork leaves what programs need that read their input and write their output: no sockets, no look at other
// processes, none of what makes a kernel larger. What they may read is landlock's.
func withoutNetwork() error {
	f := newFilter()
	for _, number := range []uintptr{
		unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
		unix.SYS_ACCEPT, unix.SYS_ACCEPT4, unix.SYS_SENDTO, unix.SYS_SENDMSG,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_PROCESS_MADVISE,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
		unix.SYS_FSOPEN, unix.SYS_FSMOUNT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_REBOOT,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_SETTIMEOFDAY,
		unix.SYS_CLOCK_SETTIME, unix.SYS_ADJTIMEX, unix.SYS_SYSLOG, unix.SYS_QUOTACTL,
	} {
		f.on(number, unix.SECCOMP_RET_ERRNO|uint32(unix.EPERM))
	}
	return f.install(unix.SECCOMP_RET_ALLOW)
}

// filter is a program for the kernel that decides about each system call by its number.
type filter struct{ code []unix.SockFilter }

// newFilter loads the number, once the architecture is known to be this one: on others, numbers mean other calls.
func newFilter() *filter {
	f := &filter{}
	f.load(offsetArch)
	f.jump(unix.BPF_JEQ, auditArch(), 1, 0)
	f.answer(unix.SECCOMP_RET_KILL_PROCESS)
	f.load(offsetNumber)
	const x32 = 0x40000000 // on amd64, the same calls with numbers of their own
	f.jump(unix.BPF_JGE, x32, 0, 1)
	f.answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
	return f
}

func (f *filter) add(code uint16, k uint32, yes, no uint8) {
	f.code = append(f.code, unix.SockFilter{Code: code, Jt: yes, Jf: no, K: k})
}

func (f *filter) load(offset uint32) { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset, 0, 0) }

func (f *filter) jump(test uint16, k uint32, yes, no uint8) {
	f.add(unix.BPF_JMP|test|unix.BPF_K, k, yes, no)
}

func (f *filter) answer(action uint32) { f.add(unix.BPF_RET|unix.BPF_K, action, 0, 0) }

// on answers one call.
func (f *filter) on(number uintptr, action uint32) {
	f.jump(unix.BPF_JEQ, uint32(number), 0, 1)
	f.answer(action)
}

// onArgument allows one call when its first argument passes a test.
func (f *filter) onArgument(number uintptr, test uint16, k uint32) {
	f.jump(unix.BPF_JEQ, uint32(number), 0, 4)
	f.load(offsetArgument)
	f.jump(test, k, 0, 1)
	f.answer(unix.SECCOMP_RET_ALLOW)
	f.answer(unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM))
}

// install has the kernel use the filter for all threads; usual answers all other calls. A kernel without seccomp leaves
// things as they are.
func (f *filter) install(usual uint32) error {
	f.answer(usual)
	runtime.LockOSThread() // the thread that may not gain privileges installs it for the others
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(f.code)), Filter: &f.code[0]}
	const setModeFilter = 1
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, setModeFilter, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	if errno != 0 && !errors.Is(errno, unix.ENOSYS) {
		return errno
	}
	return nil
}
