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
