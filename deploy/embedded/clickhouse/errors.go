package clickhouse

import (
	"errors"
	"strings"
)

// What keeps the engine from starting, as errors.Is finds it in a *StartError.
// A taken port is a *supervise.PortTakenError.
var (
	ErrUnsupportedPlatform = errors.New("no engine library for this platform")
	ErrNoLoader            = errors.New("this program is built without what loads the engine library")
	ErrNoClient            = errors.New("the npm client is not installed")
	ErrNoNetwork           = errors.New("the engine library cannot be fetched: no network")
	ErrFetch               = errors.New("the engine library cannot be fetched")
	ErrIntegrity           = errors.New("the fetched engine library is not the pinned one")
	ErrDiskFull            = errors.New("the disk is full")
	ErrDataDirInUse        = errors.New("the data directory is in use by another engine")
	ErrNotServing          = errors.New("the engine ended or fell silent before it served")
)

// StartError is the reason why the engine did not start, with what to do about it.
type StartError struct {
	Reason error  // one of this package's Err values
	Detail string // what was seen, may be empty
	Advice string // what to do next
	Cause  error  // the underlying error, may be nil
}

func (e *StartError) Error() string {
	text := []string{"embedded clickhouse: " + e.Reason.Error()}
	if e.Detail != "" {
		text = append(text, e.Detail)
	}
	if e.Cause != nil {
		text = append(text, e.Cause.Error())
	}
	return strings.Join(text, ": ") + "; " + e.Advice
}

// Unwrap gives errors.Is and errors.As both the reason and the cause.
func (e *StartError) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// elsewhere is the advice for every failure to get or load the library.
const elsewhere = "put a clickhouse binary (26 or newer) on PATH or name a server with TALLYHOUSE_CLICKHOUSE=host:port"
