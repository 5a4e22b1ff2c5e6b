package clickhouse

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// RunChild is the child's side of Start, for the hidden command "engine": it
// runs one engine until that ends, or kills it when standard input ends, which
// is how a parent's death shows. Its arguments are those that Start gives to
// Options.Command:
//
//	--library FILE | --binary FILE   --listen HOST:PORT   -- ARGUMENTS of clickhouse-local
func RunChild(args []string) error {
	flags := flag.NewFlagSet("engine", flag.ContinueOnError)
	library := flags.String("library", "", "the engine as a chDB library")
	binary := flags.String("binary", "", "the engine as a clickhouse binary")
	listen := flags.String("listen", "", "where clients find the engine, host:port")
	if err := flags.Parse(args); err != nil {
		return fmt.Errorf("read the engine's arguments: %w", err)
	}
	switch {
	case (*library == "") == (*binary == ""):
		return errors.New("engine: give either --library or --binary; this command is run by tallyhouse itself")
	case *listen == "":
		return errors.New("engine: give --listen; this command is run by tallyhouse itself")
	}
	gate, err := newGate()
	if err != nil {
		return err
	}
	go func() {
		fmt.Fprintln(os.Stderr, "engine:", gate.open(*listen))
		killSelf()
	}()
	host, port, err := net.SplitHostPort(gate.engine)
	if err != nil {
		return fmt.Errorf("the engine's own address: %w", err)
	}
	arguments := append(flags.Args(), "--listen_host", host, "--tcp_port", port)
	if *library != "" {
		return runLibraryChild(*library, arguments)
	}
	return runBinaryChild(*binary, arguments)
}

func runLibraryChild(library string, args []string) error {
	// The library spins when its standard input ends, so it gets a pipe that
	// stays open; the end of the parent is watched here.
	parent, keep, err := replaceStdin()
	if err != nil {
		return err
	}
	defer keep.Close()
	go func() {
		awaitEnd(parent)
		killSelf()
	}()
	// A client that hangs up must cost the engine an error, not a signal.
	signal.Ignore(syscall.SIGPIPE)
	return runLibrary(library, append([]string{"clickhouse-local"}, args...))
}

func runBinaryChild(binary string, args []string) error {
	cmd := exec.Command(binary, append([]string{"local"}, args...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = grandchildAttributes()
	input, err := cmd.StdinPipe() // stays open
	if err != nil {
		return fmt.Errorf("make the standard input of %s: %w", binary, err)
	}
	defer input.Close()
	ended := make(chan error, 1)
	if err := startLocked(cmd, ended); err != nil {
		return fmt.Errorf("start %s: %w", binary, err)
	}
	go func() {
		awaitEnd(os.Stdin)
		cmd.Process.Kill() // has ended already, or ends now
	}()
	if err := <-ended; err != nil {
		return fmt.Errorf("run %s: %w", binary, err)
	}
	return nil
}

// awaitEnd returns when the writing end of a pipe has closed.
func awaitEnd(pipe io.Reader) {
	_, _ = io.Copy(io.Discard, pipe) // end or error: the parent is gone
}
