// Package serving runs an HTTP server for as long as its process should.
package serving

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
)

// Until serves on the listener until the context ends, then lets requests in flight finish, for as long as grace at most.
// The error says what kept the server from serving, or that requests were cut off.
func Until(ctx context.Context, server *http.Server, listener net.Listener, grace time.Duration) error {
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
		}
		return nil
	})
	work.Go(func() error {
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if err := server.Shutdown(drain); err != nil {
			return errors.Join(fmt.Errorf("requests were still running after %s: %w", grace, err), server.Close())
		}
		return nil
	})
	return work.Wait()
}
