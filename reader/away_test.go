package reader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func TestWhatSaysThatAServerIsAway(t *testing.T) {
	code := func(code int32) error { return &clickhouse.Exception{Code: code} }
	dial := func(cause error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: cause} }
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"the connection is refused":              {dial(syscall.ECONNREFUSED), true},
		"its address has no name":                {dial(&net.DNSError{Err: "no such host"}), true},
		"it ends the connection":                 {io.EOF, true},
		"it ends it within an answer":            {io.ErrUnexpectedEOF, true},
		"it does not answer in time":             {&net.OpError{Op: "read", Err: errors.New("i/o timeout")}, true},
		"others wait for it on every connection": {clickhouse.ErrAcquireConnTimeout, true},
		"no replica of a shard is there":         {code(279), true},
		"none of a shard may be asked":           {code(519), true},
		"a shard has no address":                 {code(198), true},
		"a shard does not answer in time":        {code(209), true},
		"a shard's connection broke":             {code(210), true},
		"a shard ended within its answer":        {code(32), true},
		"a table is not there":                   {code(60), false},
		"the statement took too long":            {code(159), false},
		"the statement was ended":                {code(394), false},
		"the result is too large":                {code(codeResultLimit), false},
		"the request's time is over":             {context.DeadlineExceeded, false},
		"its client has left":                    {context.Canceled, false},
		"the result is another one":              {errors.New("converting String to *int64 is unsupported"), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := away(t.Context(), fmt.Errorf("read the records: %w", c.err)); got != c.want {
				t.Errorf("away: %t, want %t", got, c.want)
			}
		})
	}
}
