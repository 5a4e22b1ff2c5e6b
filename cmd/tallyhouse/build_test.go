package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/isolated/isolatedtest"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/sandbox"
)

// Given the program as "make build" builds it, without C, then its isolated reader reads a mailed invoice, with the
// programs of a scan's reader and without, and leaves these programs nothing but their input: such a build can't restrict
// all its threads at once.
func TestTheBuiltProgramReadsInvoicesIsolated(t *testing.T) {
	program := filepath.Join(t.TempDir(), "tallyhouse")
	build := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	built := sandbox.Sandbox{Command: []string{program, "read", "--isolated"}}
	for name, noOCR := range map[string]bool{"without programs": true, "with programs": false} {
		t.Run(name, func(t *testing.T) {
			o := isolated.Options{Options: invoice.Options{NoOCR: noOCR}, Sandbox: built}
			r, err := isolated.Read(t.Context(), pdftest.Sample().PDF(), o)
			if err != nil || r.Status != invoice.OK || r.Gross == nil || r.Gross.Value != 1488000 {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
	t.Run("taken over", func(t *testing.T) { isolatedtest.TesseractSeesItsInputAlone(t, built) })
}
