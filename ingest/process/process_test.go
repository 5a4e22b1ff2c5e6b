package process_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/process"
)

func shell(script string) process.Child {
	return process.Child{Command: []string{"/bin/sh", "-c", script}, MaxOutput: 100, MaxErrors: 10}
}

func TestAChildReadsItsInputAndItsOutputIsBounded(t *testing.T) {
	c := shell("cat; head -c 100000 /dev/zero >&2; echo $EXTRA")
	c.Stdin, c.Env = strings.NewReader("invoice "), []string{"EXTRA=more"}
	out, errorText, err := process.Run(t.Context(), c)
	if err != nil || string(out) != "invoice more\n" || len(errorText) != 10 {
		t.Errorf("output %q, %d bytes of errors, %v", out, len(errorText), err)
	}
}

// The environment holds passwords: a child has what it is given alone.
func TestAChildInheritsNoEnvironment(t *testing.T) {
	t.Setenv("TALLYHOUSE_IMAP", "imaps://user:secret@mail.example")
	for _, env := range [][]string{nil, {"EXTRA=more"}} {
		c := shell("exec env")
		c.Env, c.MaxOutput = env, 1000
		out, _, err := process.Run(t.Context(), c)
		if err != nil || strings.Contains(string(out), "secret") || strings.Contains(string(out), "HOME=") {
			t.Errorf("environment %q, %v", out, err)
		}
	}
}

// Given a child that has started another, which holds the pipes open, when the
// time is over, then both are killed and Run returns.
func TestTheWholeGroupEndsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	out, _, err := process.Run(ctx, shell("sleep 300 & echo started; sleep 300"))
	if err == nil || ctx.Err() == nil || string(out) != "started\n" {
		t.Errorf("output %q, %v", out, err)
	}
}

func TestFailuresAreToldApart(t *testing.T) {
	if _, errorText, err := process.Run(t.Context(), shell("echo no >&2; exit 3")); err == nil || errors.Is(err, process.ErrStart) || errorText != "no\n" {
		t.Errorf("%q, %v, want the exit's error", errorText, err)
	}
	if _, _, err := process.Run(t.Context(), process.Child{Command: []string{"/no/such/program"}}); !errors.Is(err, process.ErrStart) {
		t.Errorf("error = %v, want ErrStart", err)
	}
}
