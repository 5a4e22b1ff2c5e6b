// Package redistest starts real Redis servers for tests.
package redistest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sethvargo/go-retry"
)

// answersWithin bounds a hung test. It asserts nothing.
const answersWithin = 30 * time.Second

// Server is a Redis server of one test, on a socket of its own.
type Server struct {
	t       testing.TB
	socket  string
	program *exec.Cmd
}

// New starts a server that keeps nothing on disk, and ends it with the test. It fails where Redis isn't installed:
// .ci/install does that.
func New(t testing.TB) *Server {
	t.Helper()
	dir, err := os.MkdirTemp("", "redis-") // the directories of tests have names too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{t: t, socket: filepath.Join(dir, "socket")}
	s.Start()
	t.Cleanup(s.Kill)
	return s
}

// URL is where the server is found, running or not.
func (s *Server) URL() string { return "unix://" + s.socket }

// Client is a client for what a test looks at by itself.
func (s *Server) Client() *redis.Client {
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: s.socket})
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Start starts the server, once more and empty when it was killed.
func (s *Server) Start() {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("Redis is not installed: run .ci/install, or apt-get install redis-server")
	}
	s.program = exec.Command(path, "--port", "0", "--unixsocket", s.socket, "--save", "", "--appendonly", "no")
	if err := s.program.Start(); err != nil {
		s.t.Fatal(err)
	}
	client := s.Client()
	pauses := retry.WithMaxDuration(answersWithin, retry.NewConstant(5*time.Millisecond))
	err = retry.Do(s.t.Context(), pauses, func(ctx context.Context) error { return retry.RetryableError(client.Ping(ctx).Err()) })
	if err != nil {
		s.t.Fatalf("redis-server does not answer: %v", err)
	}
}

// Kill ends the server, if it runs.
func (s *Server) Kill() {
	if s.program == nil {
		return
	}
	_ = s.program.Process.Kill()
	_ = s.program.Wait() // it was killed
	s.program = nil
}

// Freeze lets the server take connections and answer nothing, until Thaw.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw lets a frozen server go on.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(what syscall.Signal) {
	s.t.Helper()
	if err := s.program.Process.Signal(what); err != nil {
		s.t.Fatal(err)
	}
}
