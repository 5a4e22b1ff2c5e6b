package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// terminal is a real one: what a program writes to its end is seen.
type terminal struct {
	end *os.File // the program's
	mu  sync.Mutex
	all strings.Builder
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	device, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(device.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(device.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	end, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := &terminal{end: end}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(s, device) // until the program's end is closed
	}()
	t.Cleanup(func() {
		_ = end.Close()
		<-read
		_ = device.Close()
	})
	return s
}

// Write implements io.Writer.
func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *terminal) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// Given a person at a terminal, when dev serves, then it says where everything is and what to try, and no line of a log
// comes between.
func TestDevGreetsAPerson(t *testing.T) {
	screen := newTerminal(t)
	broker, engine, smtp := free(t), free(t), free(t)
	s := &shell{in: strings.NewReader(""), out: screen.end, err: screen.end, program: "./bin/tallyhouse"}
	root, _ := rootCommand(s)
	root.SetArgs([]string{"dev", "--empty", "--data-dir", t.TempDir(), "--api-addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0",
		"--imap-addr", "127.0.0.1:0", "--desk-addr", "127.0.0.1:0", "--kafka-addr", broker, "--clickhouse-addr", engine, "--smtp-addr", smtp})
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- root.ExecuteContext(ctx) }()
	waited, cancel := context.WithTimeout(ctx, devReady)
	defer cancel()
	err := until(waited, func() error {
		select {
		case err := <-done:
			t.Fatalf("it ended: %v", err)
		default:
		}
		if !strings.Contains(screen.seen(), "./bin/tallyhouse verify") {
			return errors.New("it has not said all that it says")
		}
		return nil
	})
	stop()
	if err := errors.Join(err, <-done); err != nil {
		t.Error(err)
	}
	seen := screen.seen()
	for _, want := range []string{
		"Starting ClickHouse", "Tallyhouse runs. Ctrl-C ends it.", "API         http://127.0.0.1:", "/docs", "pk_test_", broker,
		engine,
		"smtp://" + smtp, "Try:", "/v0/projects", "desk        http://127.0.0.1:", "/signin/code/",
		"  TALLYHOUSE_CLICKHOUSE=" + engine + " ./bin/tallyhouse verify",
	} {
		if !strings.Contains(seen, want) {
			t.Errorf("it doesn't show %q:\n%s", want, seen)
		}
	}
	for _, no := range []string{"level=INFO", `"level":`, "ready api="} {
		if strings.Contains(seen, no) {
			t.Errorf("it shows %q:\n%s", no, seen)
		}
	}
}
