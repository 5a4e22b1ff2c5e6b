// Package supervise keeps one embedded service alive: it pings it, kills a run
// that hangs, and starts the next one after a growing pause.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sethvargo/go-retry"
)

// ErrStopped is what Healthy returns after Stop.
var ErrStopped = errors.New("stopped")

// Run is one run of a service, from its start to its end.
type Run interface {
	// Ping checks that the run answers; ctx bounds the wait for it.
	Ping(ctx context.Context) error
	// Done is closed when the run has ended, whatever ended it.
	Done() <-chan struct{}
	// Err is the reason why the run ended; it is called after Done is closed.
	Err() error
	// Stop ends the run gently, and by force when ctx ends before that, which is
	// an error.
	Stop(ctx context.Context) error
	// Kill ends the run by force. It may return before the run has ended.
	Kill()
}

// Service is what to supervise: how it is started and how patiently it is watched.
type Service[R Run] struct {
	// Name is the service's name in logs and errors.
	Name string
	// Start begins a run and returns when it serves; ctx bounds the start alone.
	Start    func(ctx context.Context) (R, error)
	Log      *slog.Logger
	Patience Patience
}

// Patience decides when a service counts as hung and how soon it is started again.
type Patience struct {
	// Every Interval the run is pinged, for at most Timeout; Failures pings in
	// a row without an answer mean that it hangs.
	Interval, Timeout time.Duration
	Failures          int
	// Starting bounds a restart.
	Starting time.Duration
	// The pause before a restart is PauseMin, doubled by each try until a run
	// has lasted for Settled, up to PauseMax.
	PauseMin, PauseMax, Settled time.Duration
}

// Usual is the patience with services on the same machine, which may be busy.
func Usual() Patience {
	return Patience{
		Interval: 2 * time.Second, Timeout: 10 * time.Second, Failures: 3,
		Starting: 2 * time.Minute,
		PauseMin: 100 * time.Millisecond, PauseMax: 10 * time.Second, Settled: time.Minute,
	}
}

// Supervisor watches the runs of one service. All methods may be called from
// several goroutines.
type Supervisor[R Run] struct {
	service  Service[R]
	cancel   context.CancelFunc
	ended    chan struct{}
	restarts atomic.Int64

	mu   sync.Mutex
	run  R
	down error // why the service does not serve; nil while it does
}

// Start begins the service's first run and watches it from then on. An error of
// that first start is returned as it is: only what has served once is restarted.
func Start[R Run](ctx context.Context, service Service[R]) (*Supervisor[R], error) {
	run, err := service.Start(ctx)
	if err != nil {
		return nil, err
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &Supervisor[R]{service: service, cancel: cancel, ended: make(chan struct{}), run: run}
	go s.supervise(watching)
	return s, nil
}

// Current is the latest run: the one that serves, or the one that ended last.
func (s *Supervisor[R]) Current() R {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run
}

// Healthy returns nil while the service serves, and otherwise the reason why it does not.
func (s *Supervisor[R]) Healthy() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.down != nil {
		return fmt.Errorf("%s: %w", s.service.Name, s.down)
	}
	select {
	case <-s.run.Done(): // not noticed by the watch yet
		return fmt.Errorf("%s: ended, to be restarted", s.service.Name)
	default:
		return nil
	}
}

// Restarts counts the runs that replaced one that died or hung.
func (s *Supervisor[R]) Restarts() int { return int(s.restarts.Load()) }

// Stop ends the watch and then the run, gently until ctx ends. A second call
// does nothing.
func (s *Supervisor[R]) Stop(ctx context.Context) error {
	s.cancel()
	<-s.ended
	s.mu.Lock()
	stopped := errors.Is(s.down, ErrStopped)
	s.down = ErrStopped
	run := s.run
	s.mu.Unlock()
	if stopped {
		return nil
	}
	if err := run.Stop(ctx); err != nil {
		return fmt.Errorf("stop %s: %w", s.service.Name, err)
	}
	return nil
}

// supervise watches the runs, one after the other, until ctx ends.
func (s *Supervisor[R]) supervise(ctx context.Context) {
	defer close(s.ended)
	patience := s.service.Patience
	pauses := patience.pauses()
	var reason error
	var lasted time.Duration
	next := retry.BackoffFunc(func() (time.Duration, bool) {
		if lasted >= patience.Settled {
			pauses = patience.pauses()
		}
		pause, stop := pauses.Next()
		s.service.Log.Warn("restarting "+s.service.Name, "reason", reason, "pause", pause)
		return pause, stop
	})
	started := true // by Start
	_ = retry.Do(ctx, next, func(ctx context.Context) error {
		lasted = 0
		if !started {
			reason = s.restart(ctx)
		}
		if started || reason == nil {
			began := time.Now()
			reason = s.watch(ctx)
			started, lasted = false, time.Since(began)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.setDown(reason)
		return retry.RetryableError(reason)
	})
}

// pauses are those before each try to restart.
func (p Patience) pauses() retry.Backoff {
	return retry.WithCappedDuration(p.PauseMax, retry.NewExponential(p.PauseMin))
}

// watch returns when the current run has ended, or was killed because it hung,
// with the reason; or when ctx ends.
func (s *Supervisor[R]) watch(ctx context.Context) error {
	run := s.Current()
	tick := time.NewTicker(s.service.Patience.Interval)
	defer tick.Stop()
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-run.Done():
			return run.Err()
		case <-tick.C:
		}
		asking, cancel := context.WithTimeout(ctx, s.service.Patience.Timeout)
		err := run.Ping(asking)
		cancel()
		switch {
		case err == nil:
			if failures > 0 {
				s.setDown(nil)
			}
			failures = 0
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			failures++
			s.setDown(fmt.Errorf("no answer (%d of %d): %w", failures, s.service.Patience.Failures, err))
		}
		if failures >= s.service.Patience.Failures {
			run.Kill()
			select {
			case <-run.Done():
				return fmt.Errorf("hung: %w", err)
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// restart starts the next run.
func (s *Supervisor[R]) restart(ctx context.Context) error {
	starting, cancel := context.WithTimeout(ctx, s.service.Patience.Starting)
	defer cancel()
	run, err := s.service.Start(starting)
	if err != nil {
		return fmt.Errorf("start again: %w", err)
	}
	s.mu.Lock()
	s.run, s.down = run, nil
	s.mu.Unlock()
	s.restarts.Add(1)
	s.service.Log.Info(s.service.Name+" serves again", "restarts", s.Restarts())
	return nil
}

func (s *Supervisor[R]) setDown(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = reason
}
