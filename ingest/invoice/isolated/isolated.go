// Package isolated reads invoices in a sandbox: a hostile file can crash, hang or
// eat nothing but the process that reads it, tesseract included.
package isolated

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/sandbox"
)

// Options configure Read.
type Options struct {
	invoice.Options
	Sandbox sandbox.Sandbox
}

// TaskName is that of Task.
const TaskName = "invoice"

// maxAnswer bounds a result, in bytes.
const maxAnswer = 1 << 20

// Read reads data in a child process. A file that crashes, hangs or exhausts the
// child gives a failed result; an error means that no child could be started or
// ctx is done.
func Read(ctx context.Context, data []byte, o Options) (invoice.Result, error) {
	var programs []string
	if !o.NoOCR {
		// The child has no PATH to look in.
		path, err := exec.LookPath(tesseract(o.OCR))
		switch {
		case err != nil:
			o.Light = false // there are no pictures to be had
		case !o.Light:
			o.OCR.Tesseract, programs = path, programsOf(path, o.OCR.Data)
		}
	}
	answer, err := o.Sandbox.Run(ctx, sandbox.Job{
		Task: TaskName, Options: o.Options, Input: data, Time: timeLimit(o.Options), MaxOutput: maxAnswer, Programs: programs,
	})
	switch {
	case ctx.Err() != nil, errors.Is(err, sandbox.ErrStart):
		return invoice.Result{}, err
	case errors.Is(err, sandbox.ErrTime):
		return invoice.Failure(invoice.Timeout, err), nil
	case errors.Is(err, sandbox.ErrMemory):
		return invoice.Failure(invoice.TooMuchWork, err), nil
	case err != nil:
		return invoice.Failure(invoice.Crashed, err), nil
	}
	result, err := invoice.ParseJSON(bytes.TrimSpace(answer))
	if err != nil {
		return invoice.Failure(invoice.Crashed, fmt.Errorf("what the process wrote is no result: %w", err)), nil
	}
	return result, nil
}

func tesseract(o ocr.Options) string {
	if o.Tesseract == "" {
		return "tesseract"
	}
	return o.Tesseract
}

// programsOf are the files that tesseract at a path needs: itself, the system's
// libraries and its language data, by its own installation or the given one.
func programsOf(path, data string) []string {
	programs := []string{path, "/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache"}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		programs = append(programs, real)
		if dir := filepath.Dir(real); filepath.Base(dir) == "bin" {
			programs = append(programs, dir, filepath.Join(dir, "..", "lib"), filepath.Join(dir, "..", "share"))
		}
	}
	if data != "" {
		programs = append(programs, data)
	}
	return programs
}

func timeLimit(o invoice.Options) time.Duration {
	limit := o.Limits.Time
	if limit == 0 {
		limit = invoice.DefaultTime
	}
	if o.NoOCR || o.Light {
		return limit
	}
	if o.OCR.Time != 0 {
		return limit + o.OCR.Time
	}
	return limit + ocr.DefaultTime
}

// Task reads an invoice, as the child: its options are invoice.Options, its input
// the file, its output the result as a line of JSON.
func Task(ctx context.Context, options json.RawMessage, in io.Reader, out io.Writer) error {
	var o invoice.Options
	if err := json.Unmarshal(options, &o); err != nil {
		return fmt.Errorf("decoding options: %w", err)
	}
	limit := o.Limits.Bytes
	if limit == 0 {
		limit = invoice.DefaultBytes
	}
	// One byte more than allowed lets Read tell that the file is too large.
	data, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return fmt.Errorf("reading file: %w", err)
	}
	reader, err := prepared()
	if err != nil {
		return err
	}
	line, err := reader.Read(ctx, data, o).JSON()
	if err != nil {
		return err
	}
	_, err = io.Copy(out, strings.NewReader(string(line)+"\n"))
	return err
}

// prepared is a reader that was made without collecting memory meanwhile: nearly all that it allocates is kept, and each file has
// a process of its own that begins with this.
func prepared() (*invoice.Reader, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	return invoice.NewReader()
}
