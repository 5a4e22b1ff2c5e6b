package reader

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// ErrAway says that the database, or one of its shards, could not be reached or did not answer in time. It was asked for
// nothing wrong, so the same statement may succeed later.
var ErrAway = errors.New("the database is away")

// codesAway are the errors by which a server says that it cannot reach another one, on which a part of the rows is.
var codesAway = []int32{
	32,  // ATTEMPT_TO_READ_AFTER_EOF: the connection ended within an answer
	198, // DNS_ERROR
	209, // SOCKET_TIMEOUT
	210, // NETWORK_ERROR
	279, // ALL_CONNECTION_TRIES_FAILED: of all replicas of a shard
	519, // NO_AVAILABLE_REPLICA
}

// errSilent ends the context of a statement to which the server says nothing.
var errSilent = errors.New("the server said nothing any more")

// away reports whether a statement, by its context, failed because a server is away, rather than because it was refused.
func away(statement context.Context, err error) bool {
	if err != nil && errors.Is(context.Cause(statement), errSilent) {
		return true
	}
	if refused := (*clickhouse.Exception)(nil); errors.As(err, &refused) {
		return slices.Contains(codesAway, refused.Code)
	}
	var network *net.OpError // not net.Error: the end of a context's time is one, too
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, clickhouse.ErrAcquireConnTimeout) // statements that nobody waits for any more hold all connections
}
