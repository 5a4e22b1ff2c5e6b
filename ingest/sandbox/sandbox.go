// Package sandbox works on what strangers send in a child process that can harm nothing but itself: it has no
// environment, no network and no file system, another user where this process may choose one, and bounds of memory and
// time. What the platform enforces is said in docs/security.md#sandbox.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tallyhouse/ingest/process"
)

// Sandbox starts children. Its zero value is ready for use.
type Sandbox struct {
	// Command starts a child, which must call Serve on its standard input and output; default: this program with "read
	// --isolated".
	Command []string
	// Memory is the most that a child, and each program it starts, may use, in bytes; default 640 MiB.
	Memory int64
}

// Job is a piece of work.
type Job struct {
	Task    string // one of those given to Serve
	Options any    // for the task, as JSON
	Input   []byte
	// Time bounds the job. Starting the child is on top of it.
	Time time.Duration
	// MaxOutput bounds the output, in bytes.
	MaxOutput int
	// Programs are directories and files that the child may read and execute. Without any it sees no file system and
	// starts no program.
	Programs []string
}

// Errors of Run, wrapped.
var (
	// ErrStart: no child can be started. The installation is at fault, not the input.
	ErrStart = errors.New("no sandboxed process can be started")
	// ErrTime: the job took longer than allowed.
	ErrTime = errors.New("more time than allowed")
	// ErrMemory: the job needed more memory than allowed.
	ErrMemory = errors.New("more memory than allowed")
	// ErrCrashed: the child ended without a result.
	ErrCrashed = errors.New("the process ended without a result")
)

const (
	defaultMemory = 640 << 20
	// grace is what a child has beyond its job's time to start and to answer.
	grace = 2 * time.Second
	// maxErrors bounds what is kept of a child's standard error.
	maxErrors = 8 << 10
	// maxRequest bounds the line that precedes the input.
	maxRequest = 64 << 10
)

// request precedes the input on the child's standard input, on a line.
type request struct {
	Task     string
	Options  json.RawMessage
	Memory   int64
	Time     time.Duration
	Programs []string
}

// Run does a job in a child and returns its output. An error is one of those above, or ctx's.
func (s Sandbox) Run(ctx context.Context, j Job) ([]byte, error) {
	command := s.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program: %w: %w", err, ErrStart)
		}
		command = []string{self, "read", "--isolated"}
	}
	memory := s.Memory
	if memory == 0 {
		memory = defaultMemory
	}
	options, err := json.Marshal(j.Options)
	if err != nil {
		return nil, fmt.Errorf("encode the options of %s: %w", j.Task, err)
	}
	head, err := json.Marshal(request{Task: j.Task, Options: options, Memory: memory, Time: j.Time, Programs: j.Programs})
	if err != nil {
		return nil, fmt.Errorf("encode the request of %s: %w", j.Task, err)
	}
	bounded, cancel := context.WithTimeout(ctx, j.Time+grace)
	defer cancel()
	output, complaint, err := process.Run(bounded, process.Child{
		Command:   command,
		Stdin:     io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(j.Input)),
		MaxOutput: j.MaxOutput, MaxErrors: maxErrors,
	})
	switch {
	case errors.Is(err, process.ErrStart):
		return nil, fmt.Errorf("%w: %w", err, ErrStart)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s in a sandbox: %w", j.Task, ctx.Err())
	case bounded.Err() != nil:
		return nil, fmt.Errorf("%s: %w: ended after %s", j.Task, ErrTime, j.Time+grace)
	case err == nil:
		return output, nil
	case slices.ContainsFunc(noMemory(), func(said string) bool { return strings.Contains(complaint, said) }):
		return nil, fmt.Errorf("%s: %w: %d bytes", j.Task, ErrMemory, memory)
	}
	first, _, _ := strings.Cut(strings.TrimSpace(complaint), "\n")
	return nil, fmt.Errorf("%s: %w: %w: %s", j.Task, ErrCrashed, err, first)
}

// noMemory is what Go, the C library and the race detector say when the kernel gives no more.
func noMemory() []string {
	return []string{"out of memory", "cannot allocate memory", "ThreadSanitizer failed to allocate"}
}

// Task works on input, in the child, and writes output. It must bound what it reads; its error ends the child.
type Task func(ctx context.Context, options json.RawMessage, input io.Reader, output io.Writer) error

// requestVariable holds the request of a child that has executed itself anew, its files given up.
const requestVariable = "TALLYHOUSE_SANDBOX_REQUEST"

// Serve is the child's side. It gives up what the job needs not, irrevocably and before it reads any input, and does
// the job. On the way it may execute this program anew, with the same arguments, which must lead here again.
func Serve(ctx context.Context, stdin io.Reader, stdout io.Writer, tasks map[string]Task) error {
	line, again := os.LookupEnv(requestVariable)
	if again {
		os.Clearenv()
	} else {
		first, err := firstLine(stdin, maxRequest)
		if err != nil {
			return fmt.Errorf("read the request: %w", err)
		}
		line = string(first)
	}
	var r request
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	task, known := tasks[r.Task]
	if !known {
		return fmt.Errorf("task %q is not known", r.Task)
	}
	if err := limit(r); err != nil {
		return err
	}
	if !again {
		if err := executeWithFiles(r.Programs, line); err != nil {
			return fmt.Errorf("give up the file system: %w", err)
		}
	}
	if err := lockDown(r.Programs); err != nil {
		return err
	}
	return task(ctx, r.Options, stdin, stdout)
}

// limit bounds this process and those it starts. RLIMIT_DATA is used and not RLIMIT_AS, because Go reserves address
// space that it never fills; the collector works harder before the limit is met. The processor time is all that there
// is in the job's time: it ends a child whose parent was killed and ends it no more.
func limit(r request) error {
	if r.Memory <= 0 {
		return errors.New("a limit of memory above zero is needed")
	}
	debug.SetMemoryLimit(r.Memory / 4 * 3)
	for _, l := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"memory", unix.RLIMIT_DATA, uint64(dataLimit(r.Memory))},
		{"processor time", unix.RLIMIT_CPU, uint64((r.Time+grace)/time.Second+1) * uint64(runtime.NumCPU())},
		{"files", unix.RLIMIT_NOFILE, 64},
		{"written files", unix.RLIMIT_FSIZE, 0},
		{"core dumps", unix.RLIMIT_CORE, 0},
	} {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	return nil
}

// firstLine reads a line without taking bytes behind it.
func firstLine(r io.Reader, most int) ([]byte, error) {
	var out []byte
	var b [1]byte
	for len(out) < most {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return out, nil
		}
		out = append(out, b[0])
	}
	return nil, fmt.Errorf("longer than %d bytes", most)
}
