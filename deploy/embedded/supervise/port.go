package supervise

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// PortTakenError says that another program listens on the address that an
// embedded service was told to serve on.
type PortTakenError struct {
	Service string // such as "embedded clickhouse"
	Addr    string // host:port
	Flag    string // the flag that changes it
}

func (e *PortTakenError) Error() string {
	return fmt.Sprintf("%s: the address %s is taken by another program: end that program, or choose another address with %s HOST:PORT",
		e.Service, e.Addr, e.Flag)
}

// freePorts bounds how many free ports are tried: between a look and the start
// another program may take one.
const freePorts = 5

// OnAddr runs start with the definite form of addr. With port 0, which leaves the
// choice to us, it tries another port when the chosen one was taken meanwhile.
func OnAddr[T any](service, addr, flag string, start func(addr string) (T, error)) (T, error) {
	_, port, _ := net.SplitHostPort(addr) // what is wrong with it, ListenAddr says
	for try := 1; ; try++ {
		definite, err := ListenAddr(service, addr, flag)
		if err != nil {
			var none T
			return none, err
		}
		started, err := start(definite)
		var taken *PortTakenError
		if port != "0" || try == freePorts || !errors.As(err, &taken) {
			return started, err
		}
	}
}

// ListenAddr makes addr definite: port 0 becomes a port that is free now. It
// returns a *PortTakenError when another program listens there.
func ListenAddr(service, addr, flag string) (string, error) {
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return "", &PortTakenError{Service: service, Addr: addr, Flag: flag}
	}
	if err != nil {
		return "", fmt.Errorf("%s: listen on %q: %w; choose another address with %s HOST:PORT", service, addr, err, flag)
	}
	free := listener.Addr().String()
	return free, listener.Close()
}
