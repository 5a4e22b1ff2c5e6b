package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/sethvargo/go-retry"

	"tallyhouse/deploy/embedded/supervise"
)

// process is one run of the child; it implements supervise.Run.
type process struct {
	addr   string
	pid    int
	life   io.Closer // the child ends when this end of its standard input closes
	output *tail
	conn   driver.Conn
	done   chan struct{}
	err    error // set before done is closed
}

var _ supervise.Run = (*process)(nil)

// startProcess starts the child and returns when it answers a query.
func startProcess(ctx context.Context, line []string, addr, dataDir string) (*process, error) {
	if _, err := supervise.ListenAddr(serviceName, addr, addrFlag); err != nil {
		return nil, err
	}
	p := &process{addr: addr, output: &tail{limit: 4 << 10}, done: make(chan struct{})}
	if err := p.spawn(line); err != nil {
		return nil, &startFailure{Reason: errNotServing, Cause: err, Advice: "check that " + line[0] + " is an executable file"}
	}
	conn, err := clickhouse.Open(&clickhouse.Options{
		Addr: []string{addr}, DialTimeout: 5 * time.Second, MaxOpenConns: 2, MaxIdleConns: 1,
	})
	if err != nil {
		p.end()
		return nil, fmt.Errorf("embedded clickhouse: connect to %s: %w", addr, err)
	}
	p.conn = conn
	if err := p.awaitAnswer(ctx); err != nil {
		p.end()
		return nil, p.startError(dataDir, err)
	}
	return p, nil
}

// spawn starts the child and watches for its end.
func (p *process) spawn(line []string) error {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Stdout, cmd.Stderr = p.output, p.output
	cmd.SysProcAttr = childAttributes()
	cmd.Env = append(os.Environ(), "TZ=UTC") // clickhouse-local ignores the configuration's timezone
	cmd.WaitDelay = time.Second
	life, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("make the child's standard input: %w", err)
	}
	ended := make(chan error, 1)
	if err := startLocked(cmd, ended); err != nil {
		return err
	}
	p.life, p.pid = life, cmd.Process.Pid
	go func() {
		p.err = errors.New("the engine ended")
		if err := <-ended; err != nil {
			p.err = fmt.Errorf("the engine ended: %w", err)
		}
		close(p.done)
	}()
	return nil
}

// startLocked starts cmd and sends to ended when it has ended. The goroutine
// that waits holds its thread: Linux sends the parent-death signal when the
// thread that started a child ends, not only when the process does.
func startLocked(cmd *exec.Cmd, ended chan<- error) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended <- cmd.Wait()
		}
	}()
	return <-started
}

// awaitAnswer returns when the child answers, and fails when the child or ctx ends before that.
func (p *process) awaitAnswer(ctx context.Context) error {
	pauses := retry.WithCappedDuration(100*time.Millisecond, retry.NewExponential(5*time.Millisecond))
	var last error
	err := retry.Do(ctx, pauses, func(ctx context.Context) error {
		asking, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		last = p.Ping(asking)
		select {
		case <-p.done:
			return p.err
		default:
			return retry.RetryableError(last)
		}
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%w; last answer: %w", err, last)
	}
	return err
}

// startError finds the reason in what the child wrote.
func (p *process) startError(dataDir string, err error) error {
	output := p.output.String()
	switch {
	case strings.Contains(output, "address already in use"):
		return &supervise.PortTakenError{Service: serviceName, Addr: p.addr, Flag: addrFlag}
	case strings.Contains(output, "Cannot lock file"), strings.Contains(output, "Another server instance in same directory"):
		return &startFailure{Reason: errDataDirInUse, Detail: dataDir, Cause: err,
			Advice: "end the other engine, or choose another directory with --data-dir DIR"}
	case strings.Contains(output, "No space left on device"):
		return &startFailure{Reason: errDiskFull, Detail: dataDir, Cause: err,
			Advice: "free space there, or choose another directory with --data-dir DIR"}
	}
	return &startFailure{Reason: errNotServing, Detail: lastLines(output), Cause: err,
		Advice: "see engine.log in " + dataDir + ", or " + elsewhere}
}

// Ping runs a query.
func (p *process) Ping(ctx context.Context) error {
	var one uint8
	if err := p.conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return fmt.Errorf("ask %s for SELECT 1: %w", p.addr, err)
	}
	return nil
}

// Done is closed when the child has ended.
func (p *process) Done() <-chan struct{} { return p.done }

// Err is how the child ended.
func (p *process) Err() error {
	if output := lastLines(p.output.String()); output != "" {
		return fmt.Errorf("%w: %s", p.err, output)
	}
	return p.err
}

// Stop kills the query that keeps the engine running, so that it closes its
// tables and ends by itself.
func (p *process) Stop(ctx context.Context) error {
	defer p.end()
	err := p.killIdleQuery(ctx)
	if err == nil {
		p.conn.Close() // the engine waits for its clients to leave
		select {
		case <-p.done:
			return nil
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	select {
	case <-p.done: // it had ended by itself
		return nil
	default:
		return fmt.Errorf("killed, because it did not end by itself: %w", err)
	}
}

// killIdleQuery waits for the idle query and kills it: the engine listens a moment
// before it runs that query.
func (p *process) killIdleQuery(ctx context.Context) error {
	err := retry.Constant(ctx, 20*time.Millisecond, func(ctx context.Context) error {
		var running uint64
		count := "SELECT count() FROM system.processes WHERE startsWith(query, ?)"
		if err := p.conn.QueryRow(ctx, count, idleQuery).Scan(&running); err != nil {
			return fmt.Errorf("look for the engine's idle query: %w", err)
		}
		if running == 0 {
			return retry.RetryableError(errors.New("the engine does not run its idle query"))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := p.conn.Exec(ctx, "KILL QUERY WHERE startsWith(query, ?) ASYNC", idleQuery); err != nil {
		return fmt.Errorf("kill the engine's idle query: %w", err)
	}
	return nil
}

// Kill ends the child and whatever it started with SIGKILL.
func (p *process) Kill() {
	select {
	case <-p.done: // the process id may be another's by now
	default:
		killGroup(p.pid)
	}
}

// end kills the child if it still runs, and closes what the run has open.
func (p *process) end() {
	p.Kill()
	<-p.done
	p.life.Close()
	if p.conn != nil {
		p.conn.Close()
	}
}

// tail keeps the last bytes that were written to it.
type tail struct {
	mu    sync.Mutex
	limit int
	bytes []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes = append(t.bytes, b...)
	if extra := len(t.bytes) - t.limit; extra > 0 {
		t.bytes = append([]byte(nil), t.bytes[extra:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.bytes)
}

// lastLines joins the last three lines of output into one.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " | ")
}
