package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"tallyhouse/ingest/sandbox"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "child" {
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout, tasks); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// tasks is what a child that was taken over may try. Each writes what came of it, "refused" at best.
var tasks = map[string]sandbox.Task{
	"echo": func(_ context.Context, options json.RawMessage, in io.Reader, out io.Writer) error {
		input, err := io.ReadAll(in)
		fmt.Fprintf(out, "%s %s", options, input)
		return err
	},
	"environment": func(_ context.Context, _ json.RawMessage, _ io.Reader, out io.Writer) error {
		fmt.Fprint(out, strings.Join(os.Environ(), "\n"))
		return nil
	},
	"user": func(_ context.Context, _ json.RawMessage, _ io.Reader, out io.Writer) error {
		fmt.Fprint(out, os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid())
		return nil
	},
	"limits": func(_ context.Context, _ json.RawMessage, _ io.Reader, out io.Writer) error {
		for _, resource := range []int{unix.RLIMIT_DATA, unix.RLIMIT_CPU, unix.RLIMIT_NOFILE, unix.RLIMIT_FSIZE, unix.RLIMIT_CORE} {
			var l unix.Rlimit
			if err := unix.Getrlimit(resource, &l); err != nil {
				return err
			}
			fmt.Fprint(out, l.Cur, " ", l.Max, ", ")
		}
		return nil
	},
	"connect": trying(func(addr string) error {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			c.Close()
		}
		return err
	}),
	"listen": trying(func(string) error { _, err := net.Listen("tcp", "127.0.0.1:0"); return err }),
	"unix":   trying(func(path string) error { _, err := net.Dial("unix", path); return err }),
	"socket": trying(func(family string) error {
		n, err := strconv.Atoi(family)
		if err != nil {
			return err
		}
		_, err = syscall.Socket(n, syscall.SOCK_DGRAM, 0)
		return err
	}),
	"pair":  trying(func(string) error { _, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); return err }),
	"read":  trying(func(path string) error { _, err := os.ReadFile(path); return err }),
	"list":  trying(func(path string) error { _, err := os.ReadDir(path); return err }),
	"write": trying(func(path string) error { return os.WriteFile(path, []byte("x"), 0o600) }),
	"run": trying(func(path string) error {
		c := exec.Command(path)
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(""), io.Discard, io.Discard // else it opens /dev/null
		return c.Run()
	}),
	"signal": trying(func(pid string) error {
		var n int
		_, err := fmt.Sscan(pid, &n)
		return errors.Join(err, syscall.Kill(n, 0))
	}),
	"trace": trying(func(pid string) error {
		var n int
		_, err := fmt.Sscan(pid, &n)
		return errors.Join(err, syscall.PtraceAttach(n))
	}),
	"namespace": trying(func(string) error { return syscall.Unshare(syscall.CLONE_NEWUSER) }),
	"crash":     func(context.Context, json.RawMessage, io.Reader, io.Writer) error { var p *int; *p = 1; return nil },
	"hang":      func(context.Context, json.RawMessage, io.Reader, io.Writer) error { select {} },
	"spin": func(context.Context, json.RawMessage, io.Reader, io.Writer) error {
		for n := 0; n >= 0; n++ { // for years
		}
		return nil
	},
	"eat": func(context.Context, json.RawMessage, io.Reader, io.Writer) error {
		for hoard := [][]byte{}; ; {
			b := make([]byte, 8<<20)
			for i := range b {
				b[i] = 1
			}
			hoard = append(hoard, b)
		}
	},
	"babble": func(_ context.Context, _ json.RawMessage, _ io.Reader, out io.Writer) error {
		for range 100_000 {
			fmt.Fprint(out, strings.Repeat("more and more ", 100))
		}
		return nil
	},
	"work": func(_ context.Context, _ json.RawMessage, _ io.Reader, out io.Writer) error {
		// What Go itself needs: threads, timers, collections of garbage.
		done := make(chan int)
		for i := range 50 {
			go func() {
				var all [][]byte
				for range 50 {
					all = append(all, make([]byte, 100_000))
				}
				time.Sleep(time.Millisecond)
				done <- i + len(all)
			}()
		}
		sum := 0
		for range 50 {
			sum += <-done
		}
		fmt.Fprint(out, sum)
		return nil
	},
}

func trying(try func(what string) error) sandbox.Task {
	return func(_ context.Context, options json.RawMessage, _ io.Reader, out io.Writer) error {
		var what string
		if err := json.Unmarshal(options, &what); err != nil {
			return err
		}
		switch err := try(what); {
		case err == nil:
			fmt.Fprint(out, "done")
		case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES):
			fmt.Fprint(out, "refused")
		default:
			fmt.Fprint(out, err)
		}
		return nil
	}
}

func child(t *testing.T) sandbox.Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return sandbox.Sandbox{Command: []string{self, "child"}}
}

func job(task string, options any) sandbox.Job {
	return sandbox.Job{Task: task, Options: options, Time: 10 * time.Second, MaxOutput: 1 << 16}
}

func TestAChildDoesItsJob(t *testing.T) {
	for task, want := range map[string]string{"echo": `"options" input`, "work": "3725"} {
		j := job(task, "options")
		j.Input = []byte("input")
		out, err := child(t).Run(t.Context(), j)
		if err != nil || string(out) != want {
			t.Errorf("%s: %q, %v", task, out, err)
		}
	}
}

// system are the programs of this machine, which a child may be given.
var system = []string{"/bin", "/usr", "/lib", "/lib64", "/etc/ld.so.cache"}

// Given secrets in the environment, in files, in other processes and behind the network, then a child that was taken
// over reaches none of them, whether it may start programs or not.
func TestAChildThatWasTakenOverReachesNothing(t *testing.T) {
	t.Setenv("TALLYHOUSE_IMAP", "imaps://user:secret@mail.example")
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} { // readable by other users, too
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	socket, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	bystander := exec.Command("sleep", "600")
	if os.Getuid() == 0 { // the child's own user is not what keeps it from signals
		bystander.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := bystander.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bystander.Process.Kill(); _ = bystander.Wait() }()
	for name, programs := range map[string][]string{"alone": nil, "with programs": system} {
		for _, c := range []struct{ task, what, want string }{
			{"environment", "", ""},
			{"connect", tcp.Addr().String(), "refused"},
			{"listen", "", "refused"},
			{"unix", socket.Addr().String(), "refused"},
			{"socket", fmt.Sprint(syscall.AF_INET), "refused"},
			{"socket", fmt.Sprint(syscall.AF_INET6), "refused"},
			{"socket", fmt.Sprint(syscall.AF_UNIX), "refused"},
			{"socket", fmt.Sprint(syscall.AF_NETLINK), "refused"},
			{"pair", "", "refused"},
			{"read", secret, "refused"},
			{"read", "/etc/passwd", "refused"},
			{"read", fmt.Sprintf("/proc/%d/environ", os.Getpid()), "refused"},
			{"read", "/proc/self/maps", "refused"},
			{"list", "/", "refused"},
			{"list", dir, "refused"},
			{"write", filepath.Join(dir, "new"), "refused"},
			{"write", fmt.Sprintf("/tmp/new-%d", os.Getpid()), "refused"},
			{"run", "/nowhere/near", map[string]string{"alone": "refused",
				"with programs": "fork/exec /nowhere/near: no such file or directory"}[name]},
			{"run", "/bin/true", map[string]string{"alone": "refused", "with programs": "done"}[name]},
			{"signal", fmt.Sprint(bystander.Process.Pid), "refused"},
			{"trace", fmt.Sprint(bystander.Process.Pid), "refused"},
			{"namespace", "", "refused"},
		} {
			j := job(c.task, c.what)
			j.Programs = programs
			out, err := child(t).Run(t.Context(), j)
			if err != nil || string(out) != c.want {
				t.Errorf("%s, %s %s: %q, %v, want %q", name, c.task, c.what, out, err, c.want)
			}
		}
	}
}

// Where this process may choose, the child is a user that owns nothing.
func TestAChildOfRootIsNobody(t *testing.T) {
	want := fmt.Sprint(os.Getuid(), os.Geteuid(), os.Getgid(), os.Getegid())
	if os.Getuid() == 0 {
		want = "65534 65534 65534 65534"
	}
	for _, programs := range [][]string{nil, system} {
		j := job("user", "")
		j.Programs = programs
		if out, err := child(t).Run(t.Context(), j); err != nil || string(out) != want {
			t.Errorf("it is %q, %v, want %q", out, err, want)
		}
	}
}

// Nobody lifts these limits for what a child starts: hard and soft ones are the same.
func TestAChildIsLimited(t *testing.T) {
	j := job("limits", "")
	j.Programs, j.Time = system, 10*time.Second // it may ask for its limits as programs may
	s := child(t)
	s.Memory = 256 << 20
	processor := 13 * runtime.NumCPU()
	want := fmt.Sprintf("%d %[1]d, %d %[2]d, 64 64, 0 0, 0 0, ", sandbox.DataLimit(s.Memory), processor)
	if out, err := s.Run(t.Context(), j); err != nil || string(out) != want {
		t.Errorf("limits of memory, processor, open files, written files and cores are %q, %v, want %q", out, err, want)
	}
}

func TestAChildHarmsItselfAlone(t *testing.T) {
	for task, want := range map[string]error{"crash": sandbox.ErrCrashed, "hang": sandbox.ErrTime,
		"spin": sandbox.ErrTime, "eat": sandbox.ErrMemory, "unknown": sandbox.ErrCrashed} {
		t.Run(task, func(t *testing.T) {
			s, j := child(t), job(task, "")
			s.Memory = 256 << 20
			if errors.Is(want, sandbox.ErrTime) {
				j.Time = 100 * time.Millisecond
			}
			if out, err := s.Run(t.Context(), j); !errors.Is(err, want) {
				t.Errorf("%d bytes, %v, want %v", len(out), err, want)
			}
		})
	}
	j := job("babble", "")
	j.MaxOutput = 100
	if out, err := child(t).Run(t.Context(), j); err != nil || len(out) != 100 {
		t.Errorf("%d bytes of output, %v", len(out), err)
	}
}

func TestACancelledJobIsAnError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := child(t).Run(ctx, job("hang", "")); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want canceled", err)
	}
}

func TestAMissingChildIsTheInstallationsFault(t *testing.T) {
	s := sandbox.Sandbox{Command: []string{"/no/such/program"}}
	if _, err := s.Run(t.Context(), job("echo", "")); !errors.Is(err, sandbox.ErrStart) {
		t.Errorf("error = %v, want ErrStart", err)
	}
}

func TestAChildWithoutARequestRefuses(t *testing.T) {
	for _, in := range []string{"", "no json\n", strings.Repeat("x", 1<<20), `{"Task":"echo","Memory":0}` + "\n",
		`{"Task":"none","Memory":1000000000}` + "\n"} {
		if err := sandbox.Serve(t.Context(), strings.NewReader(in), io.Discard, tasks); err == nil {
			t.Errorf("Serve(%.20q) accepted it", in)
		}
	}
}
