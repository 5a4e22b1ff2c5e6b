package clickhouse

import (
	"errors"
	"strings"
)

// What keeps the engine from starting, as errors.Is finds it in a *startFailure.
// A taken port is a *supervise.PortTakenError.
var (
	errUnsupportedPlatform = errors.New("no engine library for this platform")
	errNoLoader            = errors.New("this program is built without what loads the engine library")
	errNoClient            = errors.New("the npm client is not installed")
	errNoNetwork           = errors.New("the engine library cannot be fetched: no network")
	errFetch               = errors.New("the engine library cannot be fetched")
	errIntegrity           = errors.New("the fetched engine library is not the pinned one")
	errDiskFull            = errors.New("the disk is full")
	errDataDirInUse        = errors.New("the data directory is in use by another engine")
	errNotServing          = errors.New("the engine ended or fell silent before it served")
)

// startFailure is the reason why the engine did not start, with what to do about it.
type startFailure struct {
	Reason error  // one of those above
	Detail string // what was seen, may be empty
	Advice string // what to do next
	Cause  error  // the underlying error, may be nil
}

func (e *startFailure) Error() string {
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
func (e *startFailure) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Reason}
	}
	return []error{e.Reason, e.Cause}
}

// elsewhere is the advice for every failure to get or load the library.
const elsewhere = "put a clickhouse binary (26 or newer) on PATH or name a server with TALLYHOUSE_CLICKHOUSE=host:port"
