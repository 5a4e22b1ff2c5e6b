package message_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/mail/message/messagetest"
	"tallyhouse/ingest/sandbox"
)

// The test binary is its own sandboxed reader.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "read" {
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout, map[string]sandbox.Task{message.TaskName: message.Task}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Given mails that were made to exhaust their reader, then each is read or refused by its rules, within the sandbox's
// bounds of memory and time.
func TestHostileMailsAreReadWithinTheBounds(t *testing.T) {
	mails := messagetest.Mails("p@x.example", 2<<20)
	if len(mails) < 60 {
		t.Errorf("the corpus has %d mails, want 60", len(mails))
	}
	for _, m := range mails {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			// Time enough for a busy machine: what isn't linear takes hours.
			limits := message.Limits{Time: 2 * time.Minute}
			got, err := message.ReadSandboxed(t.Context(), m.Raw, limits, sandbox.Sandbox{Memory: 256 << 20})
			if err != nil && !errors.Is(err, message.ErrBroken) && !errors.Is(err, message.ErrTooMany) {
				t.Errorf("%d bytes: %v", len(m.Raw), err)
			}
			if len(got.Files) > 50 {
				t.Errorf("%d PDFs", len(got.Files))
			}
			for _, f := range got.Files {
				if f.Name == "" || strings.ContainsAny(f.Name, "/\\\x00\r\n") || len([]rune(f.Name)) > 200 {
					t.Errorf("a file is called %q", f.Name)
				}
			}
		})
	}
}

// The header alone is read outside of the sandbox: it is bounded by what is fetched of it.
func TestHostileHeadersAreReadWithinTheBounds(t *testing.T) {
	for _, m := range messagetest.Mails("p@x.example", 2<<20) {
		h := message.ReadHeader(m.Raw)
		if n := len(h.Addresses("Cc")); n > 50_000 {
			t.Errorf("%s: %d addresses", m.Name, n)
		}
		if n := len(h.Text("Subject")); n > 16<<10 {
			t.Errorf("%s: a subject of %d bytes", m.Name, n)
		}
	}
}

// A mail that is read in the sandbox is what it is outside of it.
func TestASandboxedReadingIsTheSame(t *testing.T) {
	withID := func(id string) []byte {
		return []byte("From: a@b.example\r\nMessage-ID: <" + id + ">\r\nContent-Type: application/pdf\r\n\r\n" + pdf)
	}
	for _, raw := range [][]byte{
		multipart("mixed", hello, attachment("Content-Type: application/pdf; name=r.pdf\n"),
			attachment("Content-Type: application/pdf; name=s.pdf\n")),
		mail("", "Hello"),
		withID("r\xe4\xff@x.example"),
		withID(strings.Repeat("\xff", 332)),
		withID(strings.Repeat("\xff", 333)),
		multipart("mixed", part("Content-Type: multipart/alternative\n", "x"), attachment("Content-Type: application/pdf; name=r.pdf\n")),
		mail("Content-Type: multipart/mixed\n", "x"),
		multipart("mixed", slices.Repeat([]string{attachment("Content-Type: application/pdf\n")}, 51)...),
	} {
		want, wantErr := message.Read(raw, message.Limits{})
		got, err := message.ReadSandboxed(t.Context(), raw, message.Limits{}, sandbox.Sandbox{})
		if fmt.Sprint(got, err) != fmt.Sprint(want, wantErr) || errors.Is(err, message.ErrTooMany) != errors.Is(wantErr, message.ErrTooMany) {
			t.Errorf("got %.200v, %v, want %.200v, %v", got, err, want, wantErr)
		}
	}
}

// What is written about mails that are read together may fill no more memory than what one mail may unpack to.
func TestWhatIsWrittenAboutManyMailsIsBounded(t *testing.T) {
	const unpacked = 1 << 20
	read := func(bytes int) error {
		answers := fmt.Sprintf(`[{"Files":[{"Name":"a.pdf","Bytes":%d}]}%s]`, bytes, strings.Repeat(",{}", 9))
		script := fmt.Sprintf("cat >/dev/null; echo '%s'; head -c %d /dev/zero", answers, bytes)
		in := sandbox.Sandbox{Command: []string{"/bin/sh", "-c", script}}
		_, err := message.ReadAllSandboxed(t.Context(), slices.Repeat([][]byte{[]byte("x")}, 10), message.Limits{Unpacked: unpacked}, in)
		return err
	}
	if err := read(4 * unpacked); !errors.Is(err, sandbox.ErrCrashed) {
		t.Errorf("got %v", err)
	}
	if err := read(unpacked); err != nil {
		t.Errorf("as much as one mail's may be: %v", err)
	}
}
