package isolated_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/sandbox"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "read" {
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout,
			map[string]sandbox.Task{isolated.TaskName: isolated.Task}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func options() isolated.Options {
	return isolated.Options{Options: invoice.Options{NoOCR: true}}
}

func TestAChildReadsTheFile(t *testing.T) {
	o := options()
	o.Own.Names = []string{"Somebody else"}
	r, err := isolated.Read(t.Context(), pdftest.Sample().PDF(), o)
	if err != nil || r.Status != invoice.OK || r.Gross == nil || r.Gross.Value != 1488000 || r.Gross.Rule == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestOptionsReachTheChild(t *testing.T) {
	o := options()
	o.Limits.Bytes = 100
	r, err := isolated.Read(t.Context(), pdftest.Sample().PDF(), o)
	if err != nil || r.Reason != invoice.TooLarge {
		t.Errorf("%s %s, %v", r.Status, r.Reason, err)
	}
}

func TestABadChildFailsOnlyItsFile(t *testing.T) {
	for script, want := range map[string]invoice.Reason{
		"echo no >&2; exit 1":                    invoice.Crashed,
		"echo no json":                           invoice.Crashed,
		"sleep 300 & sleep 300":                  invoice.Timeout,
		"echo runtime: out of memory >&2; false": invoice.TooMuchWork,
	} {
		t.Run(string(want), func(t *testing.T) {
			o := options()
			o.Sandbox.Command = []string{"/bin/sh", "-c", script}
			o.Limits.Time = time.Millisecond
			r, err := isolated.Read(t.Context(), pdftest.Sample().PDF(), o)
			if err != nil || r.Status != invoice.Failed || r.Reason != want || r.Detail == "" {
				t.Errorf("%s %s %q, %v, want %s", r.Status, r.Reason, r.Detail, err, want)
			}
		})
	}
}

func TestAMissingChildIsTheInstallationsFault(t *testing.T) {
	o := options()
	o.Sandbox.Command = []string{"/no/such/program"}
	if _, err := isolated.Read(t.Context(), nil, o); !errors.Is(err, sandbox.ErrStart) {
		t.Errorf("error = %v, want ErrStart", err)
	}
}

// fakeTesseract tells all that it can see, as one does that a picture has taken over.
const fakeTesseract = `#!/bin/sh
read magic
read data < "$4/eng"
echo "input $magic, $data" >&2
env >&2
for file in SECRET /etc/passwd /proc/$PPID/environ; do
  while read line; do echo "leaked $line" >&2; done < $file
done
echo x > NEW && echo "leaked a file" >&2
exit 1
`

// Given a scan and a tesseract that was taken over, then it sees the picture and the language data, and neither
// environment nor files.
func TestTesseractSeesItsInputAndItsDataAlone(t *testing.T) {
	t.Setenv("TALLYHOUSE_IMAP", "imaps://user:secret@mail.example")
	dir := t.TempDir()
	script := strings.NewReplacer("SECRET", dir+"/secret", "NEW", dir+"/new").Replace(fakeTesseract)
	for name, content := range map[string]string{"data/eng": "language data", "secret": "secret", "tesseract": script} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} { // for other users, too
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	o := options()
	o.NoOCR, o.OCR.Tesseract, o.OCR.Data = false, filepath.Join(dir, "tesseract"), filepath.Join(dir, "data")
	picture := pdftest.Picture{Width: 8, Height: 8, Gray: make([]byte, 64)}
	r, err := isolated.Read(t.Context(), pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes(), o)
	if err != nil || r.Reason != invoice.OCRFailed || !strings.Contains(r.Detail, "input P5, language data") {
		t.Fatalf("%s %s %q, %v", r.Status, r.Reason, r.Detail, err)
	}
	for _, secret := range []string{"secret@", "leaked", "HOME="} {
		if strings.Contains(r.Detail, secret) {
			t.Errorf("it sees %q: %s", secret, r.Detail)
		}
	}
}
