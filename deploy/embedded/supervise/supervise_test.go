package supervise_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tallyhouse/deploy/embedded/supervise"
)

// fake is a run that a test ends or hangs.
type fake struct {
	mu     sync.Mutex
	hangs  bool
	killed bool
	done   chan struct{}
	once   sync.Once
}

func (f *fake) Ping(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hangs {
		return errors.New("silence")
	}
	return nil
}
func (f *fake) Done() <-chan struct{}      { return f.done }
func (f *fake) Err() error                 { return errors.New("it died") }
func (f *fake) Stop(context.Context) error { f.end(); return nil }
func (f *fake) Kill() {
	f.mu.Lock()
	f.killed = true
	f.mu.Unlock()
	f.end()
}
func (f *fake) end() { f.once.Do(func() { close(f.done) }) }

func (f *fake) hang(hangs bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hangs = hangs
}

func (f *fake) wasKilled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.killed
}

// service starts fakes, and fails to while broken is not empty: it takes one error per start.
func service(broken chan error) supervise.Service[*fake] {
	return supervise.Service[*fake]{
		Name: "fake",
		Log:  slog.New(slog.DiscardHandler),
		Start: func(context.Context) (*fake, error) {
			select {
			case err := <-broken:
				return nil, err
			default:
				return &fake{done: make(chan struct{})}, nil
			}
		},
		Patience: supervise.Patience{
			Interval: time.Millisecond, Timeout: time.Second, Failures: 3, Starting: time.Second,
			PauseMin: time.Millisecond, PauseMax: 4 * time.Millisecond, Settled: time.Hour,
		},
	}
}

func start(t *testing.T, s supervise.Service[*fake]) *supervise.Supervisor[*fake] {
	t.Helper()
	supervisor, err := supervise.Start(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := supervisor.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return supervisor
}

func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 10000 {
		if holds() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("still not so after 10 s: %s", what)
}

func TestARunThatDiesIsReplaced(t *testing.T) {
	s := start(t, service(nil))
	first := s.Current()
	if err := s.Healthy(); err != nil {
		t.Fatal(err)
	}
	first.end()
	await(t, "another run serves", func() bool { return s.Current() != first && s.Healthy() == nil })
	if s.Restarts() != 1 {
		t.Errorf("%d restarts, 1 was due", s.Restarts())
	}
}

func TestARunThatHangsIsKilledAndReplaced(t *testing.T) {
	s := start(t, service(nil))
	first := s.Current()
	first.hang(true)
	await(t, "another run serves", func() bool { return s.Current() != first && s.Healthy() == nil })
	if !first.wasKilled() {
		t.Error("the hung run was left alone")
	}
}

func TestARunThatFallsSilentForAMomentIsKept(t *testing.T) {
	patient := service(nil)
	patient.Patience.Failures = 1 << 30
	s := start(t, patient)
	first := s.Current()
	first.hang(true)
	await(t, "the silence is noticed", func() bool { return s.Healthy() != nil })
	first.hang(false)
	await(t, "the answer is noticed", func() bool { return s.Healthy() == nil })
	if s.Current() != first || s.Restarts() != 0 {
		t.Error("the run was replaced")
	}
}

func TestRestartsGoOnUntilOneServes(t *testing.T) {
	broken := make(chan error, 5)
	s := start(t, service(broken))
	for range 5 {
		broken <- errors.New("no room")
	}
	s.Current().end()
	await(t, "it serves again", func() bool { return s.Healthy() == nil && s.Restarts() == 1 })
	if len(broken) > 0 {
		t.Errorf("%d failures were not met", len(broken))
	}
}

func TestHealthySaysWhyItDoesNotServe(t *testing.T) {
	broken := make(chan error)
	s := start(t, service(broken))
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		for {
			select {
			case broken <- errors.New("no room"):
			case <-ended:
				return
			}
		}
	}()
	await(t, "the reason is told", func() bool {
		s.Current().end()
		err := s.Healthy()
		return err != nil && strings.Contains(err.Error(), "no room")
	})
}

func TestTheFirstStartIsNotTriedAgain(t *testing.T) {
	broken := make(chan error, 1)
	broken <- errors.New("no room")
	if _, err := supervise.Start(t.Context(), service(broken)); err == nil || err.Error() != "no room" {
		t.Fatalf("got %v", err)
	}
}

func TestStopEndsRunAndWatch(t *testing.T) {
	s := start(t, service(nil))
	run := s.Current()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-run.Done():
	default:
		t.Error("the run goes on")
	}
	if run.wasKilled() {
		t.Error("the run was killed, not stopped")
	}
	if err := s.Healthy(); !errors.Is(err, supervise.ErrStopped) {
		t.Errorf("healthy after Stop says %v", err)
	}
	if s.Restarts() != 0 {
		t.Error("a stopped run was replaced")
	}
}

func TestStopDoesNotWaitForARestart(t *testing.T) {
	slow := service(nil)
	first := true
	slow.Start = func(ctx context.Context) (*fake, error) {
		if first {
			first = false
			return &fake{done: make(chan struct{})}, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	slow.Patience.Starting = time.Hour
	s := start(t, slow)
	s.Current().end()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestAnAddressInUseIsNamed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := listener.Addr().String()
	_, err = supervise.ListenAddr("the service", addr, "--its-addr")
	var taken *supervise.PortTakenError
	if !errors.As(err, &taken) || taken.Addr != addr {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"the service", addr, "--its-addr"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	listener.Close()
	if got, err := supervise.ListenAddr("the service", addr, "--its-addr"); err != nil || got != addr {
		t.Errorf("a free address gives %q, %v", got, err)
	}
	_, err = supervise.ListenAddr("the service", "nowhere.invalid:1", "--its-addr")
	if err == nil || !strings.Contains(err.Error(), "--its-addr") {
		t.Errorf("a host that is not here gives %v", err)
	}
}

func TestAFreePortThatIsTakenMeanwhileIsReplaced(t *testing.T) {
	for _, c := range []struct {
		addr  string
		tries int
	}{{"127.0.0.1:0", 5}, {fixedFreeAddr(t), 1}} {
		// given a start that finds each port taken
		var tried []string
		_, err := supervise.OnAddr("the service", c.addr, "--its-addr", func(addr string) (int, error) {
			tried = append(tried, addr)
			return 0, &supervise.PortTakenError{Service: "the service", Addr: addr, Flag: "--its-addr"}
		})
		// then only a port of our own choice is replaced, and not for ever
		var taken *supervise.PortTakenError
		if !errors.As(err, &taken) || len(tried) != c.tries {
			t.Errorf("%s: tried %v, got %v", c.addr, tried, err)
		}
	}
	// and the first that is free is it
	tries := 0
	got, err := supervise.OnAddr("the service", "127.0.0.1:0", "--its-addr", func(addr string) (string, error) {
		if tries++; tries < 3 {
			return "", &supervise.PortTakenError{Addr: addr}
		}
		return addr, nil
	})
	if err != nil || tries != 3 || !strings.HasPrefix(got, "127.0.0.1:") {
		t.Errorf("got %q, %v after %d tries", got, err, tries)
	}
}

func fixedFreeAddr(t *testing.T) string {
	t.Helper()
	addr, err := supervise.ListenAddr("the service", "127.0.0.1:0", "--its-addr")
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func TestALockHasOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, free, err := supervise.TryLock(path)
	if err != nil || !free {
		t.Fatal(free, err)
	}
	if _, free, err := supervise.TryLock(path); err != nil || free {
		t.Fatal("a second holder", err)
	}
	unlock()
	again, free, err := supervise.TryLock(path)
	if err != nil || !free {
		t.Fatal("not free after its release", err)
	}
	again()
	if _, _, err := supervise.TryLock(filepath.Join(path, "nowhere")); err == nil {
		t.Error("no error for a file that cannot be made")
	}
}
