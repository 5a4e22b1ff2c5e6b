// Package process runs child processes that read what strangers send: their
// output is bounded, and all that they have started ends with them.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"syscall"
	"time"
)

// ErrStart is wrapped by Run when the child could not be started at all.
var ErrStart = errors.New("process cannot be started")

// Child describes a process to run.
type Child struct {
	Command []string
	// Env is its whole environment: nothing of this process is handed down,
	// which holds passwords.
	Env   []string
	Stdin io.Reader
	// MaxOutput and MaxErrors bound what is kept of standard output and standard
	// error, in bytes; the rest is dropped.
	MaxOutput, MaxErrors int
}

// Run runs a child to its end and returns what it wrote. The child and its
// process group are killed when ctx is done; what is left of the group when the
// child has ended is killed then.
func Run(ctx context.Context, c Child) (output []byte, errorText string, err error) {
	cmd := exec.CommandContext(ctx, c.Command[0], c.Command[1:]...)
	cmd.Env = append([]string{}, c.Env...) // nil would be this process's own
	cmd.Stdin = c.Stdin
	stdout, stderr := &bounded{limit: c.MaxOutput}, &bounded{limit: c.MaxErrors}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	killGroup := func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Cancel = killGroup
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return nil, "", fmt.Errorf("starting %s: %w: %w", c.Command[0], err, ErrStart)
	}
	err = cmd.Wait()
	// The group is usually empty by now, and cannot be killed.
	_ = killGroup()
	if err != nil {
		err = fmt.Errorf("running %s: %w", c.Command[0], err)
	}
	return stdout.kept.Bytes(), stderr.kept.String(), err
}

// bounded keeps the first limit bytes written to it. It must not have the
// buffer's ReadFrom, by which io.Copy would go around the limit.
type bounded struct {
	kept  bytes.Buffer
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.limit - b.kept.Len(); room > 0 {
		b.kept.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}
