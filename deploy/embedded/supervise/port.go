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

// OnAddr runs start with addr, whose port 0 becomes a free one. It then
// tries another port when that one was taken meanwhile.
func OnAddr[T any](service, addr, flag string, start func(addr string) (T, error)) (T, error) {
	_, port, _ := net.SplitHostPort(addr) // ListenAddr reports an address that is wrong
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

// ListenAddr returns addr, with a port that is free now instead of port 0. It
// returns a *PortTakenError when another program listens there.
func ListenAddr(service, addr, flag string) (string, error) {
	listener, err := Listen(service, addr, flag)
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Listen listens at addr for a service within this process. It returns a
// *PortTakenError when another program listens there.
func Listen(service, addr, flag string) (net.Listener, error) {
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, &PortTakenError{Service: service, Addr: addr, Flag: flag}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: listen on %q: %w; choose another address with %s HOST:PORT", service, addr, err, flag)
	}
	return listener, nil
}
