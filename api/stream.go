package api

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzhttp"

	"tallyhouse/api/access"
	"tallyhouse/api/export"
	"tallyhouse/api/resource"
)

// The trailers of an export that is whole.
const (
	trailerRecords = "Tallyhouse-Records"
	trailerCursor  = "Tallyhouse-Cursor"
)

// bulkPages are what an export consists of.
type bulkPages interface {
	contentType() string
	fileName() string
	// read reads the next page; done reports whether it was the last.
	read(ctx context.Context) error
	done() bool
	// open begins to write, write writes the page that was read, and end writes what only a whole export has.
	open(to io.Writer) error
	write() error
	end(cursor string) error
	// count is how many records were written, and beyond are figures of them that could not be shown.
	count() int64
	beyond() resource.Beyond
}

// stream is an export that is about to be sent, in its place among those that run.
type stream struct {
	bulk  *bulk
	pages bulkPages
	place *place
}

// turn does a part of a request's work as one request among all that are worked on.
func (s *Server) turn(ctx context.Context, caller *access.Caller, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	request, err := s.admission.enter(ctx, caller.Tenant(), caller.Principal())
	if err != nil {
		return err
	}
	defer request.finish(0)
	return do(ctx)
}

// serveStream sends an export. When something fails in between, the end mark is missing and the connection is ended, so
// that nobody takes what was sent for the whole.
func (s *Server) serveStream(w http.ResponseWriter, r *http.Request, t *stream, seen *observation, began time.Time) {
	defer t.place.leave() // also when it is aborted
	header := w.Header()
	header.Set("Content-Type", t.pages.contentType())
	header.Set("Content-Disposition", `attachment; filename="`+t.pages.fileName()+`"`)
	header.Set("Trailer", trailerRecords+", "+trailerCursor)
	if t.pages.contentType() == export.Parquet.ContentType() {
		header.Set(gzhttp.HeaderNoCompression, "1") // it is compressed itself
	}
	to := t.place.writer(w)
	err := s.send(r, t, to, seen)
	if err != nil {
		err = fmt.Errorf("an export was broken off after %d records: %w", t.pages.count(), err)
	}
	took := time.Since(began)
	s.reportBeyond(seen, t.pages.beyond())
	status := http.StatusOK
	switch {
	case r.Context().Err() != nil, errors.Is(err, errTooSlow):
		status = statusClientGone
	case err != nil:
		status = http.StatusInternalServerError
	}
	s.metrics.observe(seen.operation, status, took)
	s.logRequest(r, seen, status, int(to.written), took, err)
	if err != nil {
		panic(http.ErrAbortHandler) // how net/http is told to end the connection in the middle of an answer
	}
}

// send writes all pages and the end.
func (s *Server) send(r *http.Request, t *stream, to *steadyWriter, seen *observation) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = s.panicked(seen, value)
		}
	}()
	out := bufio.NewWriterSize(to, exportBuffer)
	if err := t.pages.open(out); err != nil {
		return err
	}
	for {
		if err := t.pages.write(); err != nil {
			return err
		}
		if t.pages.done() {
			break
		}
		if err := t.bulk.confirm(r, seen); err != nil {
			return err
		}
		if err := s.turn(r.Context(), t.bulk.call.caller, t.pages.read); err != nil {
			return err
		}
	}
	if err := errors.Join(t.pages.end(t.bulk.cursor), out.Flush()); err != nil {
		return err
	}
	header := to.to.Header()
	header.Set(trailerRecords, strconv.FormatInt(t.pages.count(), 10))
	header.Set(trailerCursor, t.bulk.cursor)
	return nil
}
