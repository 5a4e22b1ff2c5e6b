package hostiletest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/hostiletest"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/pdf/pdftest"
	"tallyhouse/ingest/sandbox"
)

// The test binary is its own child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "read" {
		tasks := map[string]sandbox.Task{isolated.TaskName: isolated.Task}
		if err := sandbox.Serve(context.Background(), os.Stdin, os.Stdout, tasks); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// Given a hostile PDF, then the process that reads it comes to its end by itself: by its budget of work, a quarter of the
// usual one, within less than the usual memory and not by the clock, which is set to an hour; with the outcome that the
// file deserves. Sums that nobody sees change nothing, and a good invoice is read behind them all.
func TestHostilePDFs(t *testing.T) {
	tesseract := filepath.Join(t.TempDir(), "tesseract")
	if err := os.WriteFile(tesseract, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Dir(tesseract), filepath.Dir(filepath.Dir(tesseract))} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	all := hostiletest.PDFs()
	if len(all) < 60 {
		t.Fatalf("%d files", len(all))
	}
	for _, file := range append(all, hostiletest.PDF{Name: "a good invoice behind all of them", Data: pdftest.Sample().PDF()}) {
		t.Run(file.Name, func(t *testing.T) {
			o := isolated.Options{Options: invoice.Options{NoOCR: !file.Scan, Limits: invoice.Limits{Time: time.Hour, Operations: 5_000_000}},
				Sandbox: sandbox.Sandbox{Memory: 512 << 20}}
			o.OCR.Tesseract, o.OCR.Time = tesseract, time.Hour
			r, err := isolated.Read(t.Context(), file.Data, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Reason != file.Reason || strings.Contains(r.Detail, sandbox.ErrMemory.Error()) {
				t.Errorf("%s, want %s: %.300s", r.Reason, file.Reason, r.Detail)
			}
			if file.Reason == "" && (r.Gross == nil || r.Gross.Value != 1488000) {
				t.Errorf("gross sum %+v, want 14,880.00", r.Gross)
			}
		})
	}
}
