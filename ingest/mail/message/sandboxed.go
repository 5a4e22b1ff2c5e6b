package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"tallyhouse/ingest/sandbox"
)

// TaskName is that of Task.
const TaskName = "mail"

// maxAnswer bounds what the answer holds of one mail beside its files, in bytes.
const maxAnswer = 256 << 10

// job is what the sandboxed process is told; its input are the mails, one after the other.
type job struct {
	Limits Limits
	Sizes  []int // of the mails, in bytes
}

// answer is what the sandboxed process says of a mail. The answers are on a line that precedes the files.
type answer struct {
	MessageID string
	Missed    string
	Files     []fileHead
	Broken    string // the error, when it is one of Read's
	TooMany   string
}

type fileHead struct {
	Name  string
	Bytes int
	XML   bool
}

// Result is what Read gives of one of several mails.
type Result struct {
	Mail Mail
	Err  error // one of Read's
}

// ReadSandboxed is Read in a process of its own. Besides its errors it has those of package sandbox.
func ReadSandboxed(ctx context.Context, raw []byte, limits Limits, in sandbox.Sandbox) (Mail, error) {
	read, err := ReadAllSandboxed(ctx, [][]byte{raw}, limits, in)
	if err != nil {
		return Mail{}, err
	}
	return read[0].Mail, read[0].Err
}

// ReadAllSandboxed reads mails in one process of their own. Its errors are those of package sandbox: one mail can make
// the reading of all of them fail, as do mails whose zips unpack to more than one mail's may.
func ReadAllSandboxed(ctx context.Context, mails [][]byte, limits Limits, in sandbox.Sandbox) ([]Result, error) {
	limits = limits.withDefaults()
	j := job{Limits: limits}
	for _, raw := range mails {
		j.Sizes = append(j.Sizes, len(raw))
	}
	input := mails[0] // alone it may be large, and isn't copied
	if len(mails) > 1 {
		input = bytes.Join(mails, nil)
	}
	output, err := in.Run(ctx, sandbox.Job{
		Task: TaskName, Options: j, Input: input, Time: limits.Time, MaxOutput: len(input) + len(mails)*maxAnswer + limits.Unpacked,
	})
	if err != nil {
		return nil, err
	}
	return results(output, len(mails), limits)
}

// results reads what the process wrote about so many mails.
func results(output []byte, mails int, limits Limits) ([]Result, error) {
	line, rest, _ := bytes.Cut(output, []byte{'\n'})
	var answers []answer
	err := json.Unmarshal(line, &answers)
	if err != nil {
		return nil, fmt.Errorf("%w: what it wrote about %d mails can't be read: %w", sandbox.ErrCrashed, mails, err)
	}
	if len(answers) != mails {
		return nil, fmt.Errorf("%w: what it wrote about %d mails are %d answers", sandbox.ErrCrashed, mails, len(answers))
	}
	all := make([]Result, mails)
	for i, a := range answers {
		if all[i], rest, err = a.result(rest, limits); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// result takes the answer's files from the rest of the output. A mail may have taken the process over, so what it wrote
// is held to the bounds of Read.
func (a answer) result(rest []byte, limits Limits) (Result, []byte, error) {
	switch {
	case a.Broken != "":
		return Result{Err: remote{ErrBroken, sentence(a.Broken)}}, rest, nil
	case a.TooMany != "":
		return Result{Err: remote{ErrTooMany, sentence(a.TooMany)}}, rest, nil
	}
	if len(a.MessageID) > longestID || len(a.Files) > limits.Files {
		return Result{}, nil, fmt.Errorf("%w: it wrote %d files and an id of %d bytes", sandbox.ErrCrashed, len(a.Files), len(a.MessageID))
	}
	m := Mail{MessageID: a.MessageID, Missed: sentence(a.Missed)}
	for _, head := range a.Files {
		name := cleanName(head.Name)
		if head.Bytes < 0 || head.Bytes > len(rest) || name == "" {
			return Result{}, nil, fmt.Errorf("%w: the files that it wrote are cut off", sandbox.ErrCrashed)
		}
		m.Files = append(m.Files, File{name, rest[:head.Bytes:head.Bytes], head.XML})
		rest = rest[head.Bytes:]
	}
	return Result{Mail: m}, rest, nil
}

// remote is an error of Read in the sandboxed process.
type remote struct {
	kind error
	text string
}

func (r remote) Error() string { return r.text }
func (r remote) Unwrap() error { return r.kind }

// Task reads mails, as the sandboxed process.
func Task(_ context.Context, options json.RawMessage, in io.Reader, out io.Writer) error {
	var j job
	if err := json.Unmarshal(options, &j); err != nil {
		return fmt.Errorf("decode the job: %w", err)
	}
	answers := make([]answer, len(j.Sizes))
	files := []io.Reader{}
	for i, size := range j.Sizes {
		raw := make([]byte, size)
		if _, err := io.ReadFull(in, raw); err != nil {
			return fmt.Errorf("read mail %d: %w", i+1, err)
		}
		m, err := Read(raw, j.Limits)
		answers[i] = answerOf(m, err)
		for _, f := range m.Files {
			files = append(files, bytes.NewReader(f.Data))
		}
	}
	line, err := json.Marshal(answers)
	if err != nil {
		return fmt.Errorf("encode the answers: %w", err)
	}
	_, err = io.Copy(out, io.MultiReader(bytes.NewReader(append(line, '\n')), io.MultiReader(files...)))
	return err
}

func answerOf(m Mail, err error) answer {
	a := answer{MessageID: m.MessageID, Missed: m.Missed}
	switch {
	case errors.Is(err, ErrTooMany):
		a.TooMany = err.Error()
	case err != nil:
		a.Broken = err.Error()
	}
	for _, f := range m.Files {
		a.Files = append(a.Files, fileHead{f.Name, len(f.Data), f.XML})
	}
	return a
}
