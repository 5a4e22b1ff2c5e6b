// Package isolatedtest tests what a program leaves to hostile files in the processes that read them.
package isolatedtest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/sandbox"
)

// takenOver is a tesseract that tells all it can see and tries to write and to kill, as one does that a picture has taken
// over.
const takenOver = `#!/bin/sh
read magic
read data < "$4/eng"
echo "input $magic, $data" >&2
env >&2
for file in SECRET /etc/passwd /proc/$PPID/environ /proc/WORKER/environ; do
  while read line; do echo "leaked $line" >&2; done < $file
done
for file in DIR/*; do [ -e "$file" ] && echo "leaked $file" >&2; done
echo x > DIR/new && echo "leaked a file" >&2
kill -0 WORKER && echo "leaked a process" >&2
exit 1
`

// TesseractSeesItsInputAlone tests, given a scan and a tesseract that was taken over, that the children of a sandbox leave
// it the picture and the language data, and neither environment, files nor processes, though every user of the machine
// may read and write them.
func TesseractSeesItsInputAlone(t *testing.T, s sandbox.Sandbox) {
	t.Helper()
	t.Setenv("TALLYHOUSE_IMAP", "imaps://user:secret@mail.example")
	dir := t.TempDir()
	script := strings.NewReplacer("SECRET", dir+"/secret", "DIR", dir, "WORKER", strconv.Itoa(os.Getpid())).Replace(takenOver)
	for name, content := range map[string]string{"data/eng": "language data", "secret": "secret", "bin/tesseract": script} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	o := isolated.Options{Sandbox: s, Options: invoice.Options{
		OCR: ocr.Options{Tesseract: filepath.Join(dir, "bin", "tesseract"), Data: filepath.Join(dir, "data")},
	}}
	picture := pdftest.Picture{Width: 8, Height: 8, Gray: make([]byte, 64)}
	scan := pdftest.Document{Pages: []pdftest.Page{{Picture: &picture}}}.Bytes()
	r, err := isolated.Read(t.Context(), scan, o)
	if err != nil || r.Reason != invoice.OCRFailed || !strings.Contains(r.Detail, "input P5, language data") {
		t.Fatalf("%s %s %q, %v", r.Status, r.Reason, r.Detail, err)
	}
	for _, secret := range []string{"secret@", "leaked", "HOME="} {
		if strings.Contains(r.Detail, secret) {
			t.Errorf("it sees %q: %s", secret, r.Detail)
		}
	}
}
