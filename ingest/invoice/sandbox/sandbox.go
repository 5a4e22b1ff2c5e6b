// Package sandbox reads a PDF in a child process, so that a hostile file can
// crash, hang or eat nothing but that child: it has a memory limit, and its
// process group, tesseract included, is killed when its time is over.
package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/process"
)

// Options configure Run. The zero value of a field stands for its default.
type Options struct {
	invoice.Options
	// Command starts the child; default: this program with "read --isolated".
	// It must call Child on its standard input and output.
	Command []string
	// Memory is the most the child may use, in bytes; default 512 MiB. Each
	// process it starts, such as tesseract, has the same limit.
	Memory int64
}

const (
	defaultMemory = 512 << 20
	// grace is what the child has beyond its own limits to start and to answer.
	grace = 2 * time.Second
	// maxAnswer bounds what the child may write.
	maxAnswer = 1 << 20
	// maxErrors bounds what is kept of the child's complaints.
	maxErrors = 8 << 10
	// maxRequest bounds the options' part of what the child reads.
	maxRequest = 64 << 10
)

// ErrStart is wrapped by Run when the child cannot be started at all: the
// installation is at fault, not the file.
var ErrStart = errors.New("sandboxed reader cannot be started")

// request precedes the file's bytes on the child's standard input, on a line.
type request struct {
	Options invoice.Options
	Memory  int64
}

// Run reads data in a child process. A file that crashes, hangs or exhausts
// the child gives a failed result; an error means that no child could be
// started or ctx is done.
func Run(ctx context.Context, data []byte, o Options) (invoice.Result, error) {
	if o.Memory == 0 {
		o.Memory = defaultMemory
	}
	command := o.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return invoice.Result{}, fmt.Errorf("finding this program: %w: %w", err, ErrStart)
		}
		command = []string{self, "read", "--isolated"}
	}
	head, err := json.Marshal(request{Options: o.Options, Memory: o.Memory})
	if err != nil {
		return invoice.Result{}, fmt.Errorf("encoding options: %w", err)
	}
	limit := timeLimit(o.Options)
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, errorText, err := process.Run(bounded, process.Child{
		Command:   command,
		Stdin:     io.MultiReader(bytes.NewReader(append(head, '\n')), bytes.NewReader(data)),
		MaxOutput: maxAnswer, MaxErrors: maxErrors,
	})
	switch {
	case errors.Is(err, process.ErrStart):
		return invoice.Result{}, fmt.Errorf("%w: %w", err, ErrStart)
	case ctx.Err() != nil:
		return invoice.Result{}, fmt.Errorf("reading in the sandbox: %w", ctx.Err())
	case bounded.Err() != nil:
		return failed(invoice.Timeout, fmt.Sprintf("the reader was ended after %s", limit)), nil
	}
	result, parseErr := invoice.ParseJSON(bytes.TrimSpace(answer))
	if parseErr == nil {
		return result, nil
	}
	said, _, _ := strings.Cut(strings.TrimSpace(errorText), "\n")
	if err == nil {
		err = parseErr
	}
	if strings.Contains(errorText, "out of memory") || strings.Contains(errorText, "cannot allocate memory") {
		return failed(invoice.TooMuchWork, fmt.Sprintf("the reader needs more than %d bytes of memory", o.Memory)), nil
	}
	return failed(invoice.Crashed, fmt.Sprintf("the reader ended without a result: %v: %s", err, said)), nil
}

func failed(reason invoice.Reason, detail string) invoice.Result {
	return invoice.Result{Status: invoice.Failed, Reason: reason, Detail: detail}
}

func timeLimit(o invoice.Options) time.Duration {
	limit := o.Limits.Time
	if limit == 0 {
		limit = invoice.DefaultTime
	}
	if !o.NoOCR {
		if o.OCR.Time != 0 {
			limit += o.OCR.Time
		} else {
			limit += ocr.DefaultTime
		}
	}
	return limit + grace
}

// Child is the side of the sandboxed process: it limits itself, reads the options
// and the file from stdin and writes the result to stdout as one line.
func Child(ctx context.Context, stdin io.Reader, stdout io.Writer) error {
	line, err := firstLine(stdin, maxRequest)
	if err != nil {
		return fmt.Errorf("reading options: %w", err)
	}
	var req request
	if err := json.Unmarshal(line, &req); err != nil {
		return fmt.Errorf("decoding options: %w", err)
	}
	if err := limitMemory(req.Memory); err != nil {
		return fmt.Errorf("limiting memory to %d bytes: %w", req.Memory, err)
	}
	limit := req.Options.Limits.Bytes
	if limit == 0 {
		limit = invoice.DefaultBytes
	}
	// One byte more than allowed lets Read tell that the file is too large.
	data, err := io.ReadAll(io.LimitReader(stdin, limit+1))
	if err != nil {
		return fmt.Errorf("reading file: %w", err)
	}
	out, err := invoice.Read(ctx, data, req.Options).JSON()
	if err != nil {
		return err
	}
	if _, err := stdout.Write(append(out, '\n')); err != nil {
		return fmt.Errorf("writing result: %w", err)
	}
	return nil
}

// limitMemory bounds what this process and those it starts may map for data;
// the collector works harder before the limit is met. RLIMIT_DATA is used and
// not RLIMIT_AS, because Go reserves address space that it never fills.
func limitMemory(bytes int64) error {
	if bytes <= 0 {
		return errors.New("a limit above zero is needed")
	}
	debug.SetMemoryLimit(bytes / 4 * 3)
	return unix.Setrlimit(unix.RLIMIT_DATA, &unix.Rlimit{Cur: uint64(bytes), Max: uint64(bytes)})
}

// firstLine reads a line without taking bytes behind it.
func firstLine(r io.Reader, limit int) ([]byte, error) {
	var out []byte
	var b [1]byte
	for len(out) < limit {
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return nil, err
		}
		if b[0] == '\n' {
			return out, nil
		}
		out = append(out, b[0])
	}
	return nil, fmt.Errorf("longer than %d bytes", limit)
}
