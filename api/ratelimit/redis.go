package ratelimit

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	// redisPause is how long nothing is asked after a failure, so that a dead server costs few requests that time.
	redisPause = time.Second
	// redisConnections bounds the questions that are under way.
	redisConnections = 32
)

// ErrUnavailable says that the store could not be asked.
var ErrUnavailable = errors.New("the store of the rate limit does not answer")

//go:embed take.lua
var takeScript string

// Redis counts in a Redis server, for several instances of the API together, by the server's own clock. It is one key a
// key, that goes by itself when its events have left the window. While the server cannot be asked, Take fails with
// ErrUnavailable, at once but for one try a second.
type Redis struct {
	client  *redis.Client
	script  *redis.Script
	policy  Policy
	prefix  string
	timeout time.Duration

	mu     sync.Mutex
	failed error     // of the last try
	until  time.Time // nothing is asked before
}

// NewRedis makes a store on the server of a URL like redis://user:password@host:6379/0, or rediss:// for TLS. Keys begin
// with the prefix. The timeout bounds each question: a request waits for it. It does not connect yet. Close ends its
// connections.
func NewRedis(url, prefix string, policy Policy, timeout time.Duration) (*Redis, error) {
	options, err := redis.ParseURL(url)
	if err != nil || !strings.Contains(url, "://") {
		// The library's error may repeat the URL, and a password with it.
		return nil, errors.New("the URL of Redis must be like redis://user:password@host:6379/0, or rediss:// for TLS")
	}
	options.DialTimeout, options.ReadTimeout, options.WriteTimeout = timeout, timeout, timeout
	options.PoolSize, options.PoolTimeout = redisConnections, timeout
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // what was not answered may have been counted
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &Redis{client: redis.NewClient(options), script: redis.NewScript(takeScript), policy: policy, prefix: prefix,
		timeout: timeout}, nil
}

// Close ends the connections.
func (r *Redis) Close() error { return r.client.Close() }

// Take asks for one event of the key. It fails with ErrUnavailable when the server does not answer soon.
func (r *Redis) Take(ctx context.Context, key string) (Decision, error) {
	if err := r.pausing(); err != nil {
		return Decision{}, err
	}
	asking, stop := context.WithTimeout(ctx, r.timeout)
	defer stop()
	answer, err := r.script.Run(asking, r.client, []string{r.prefix + key}, r.policy.Events, r.policy.Window.Microseconds()).Int64Slice()
	if err == nil && len(answer) != 3 {
		err = fmt.Errorf("the script answers %v", answer)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if ctx.Err() == nil { // that a client left says nothing of the server
		r.note(err)
	}
	if err != nil {
		return Decision{}, err
	}
	return Decision{Accepted: answer[0] == 1, Remaining: int(answer[1]), Next: time.Duration(answer[2]) * time.Microsecond}, nil
}

// pausing is the last failure while nothing is to be asked.
func (r *Redis) pausing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil {
		return nil
	}
	now := time.Now()
	if now.Before(r.until) {
		return r.failed
	}
	r.until = now.Add(redisPause) // this one tries; the others go on without
	return nil
}

func (r *Redis) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed, r.until = err, time.Now().Add(redisPause)
}
