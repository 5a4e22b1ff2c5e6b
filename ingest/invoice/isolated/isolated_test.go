package isolated_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/isolated/isolatedtest"
	"tallyhouse/ingest/invoice/ocr"
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

func TestTesseractSeesItsInputAlone(t *testing.T) {
	isolatedtest.TesseractSeesItsInputAlone(t, sandbox.Sandbox{})
}

// Given scans as office scanners make them, in JPEG 2000 and JBIG2, and in layers of which one is the mask of another, then
// a child reads them within its sandbox.
func TestAChildReadsWhatOfficeScannersMake(t *testing.T) {
	for _, kind := range []string{"jpeg2000", "jbig2", "jbig2-symbols", "layers"} {
		t.Run(kind, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("..", "testdata", "scans", kind+".pdf"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := isolated.Read(t.Context(), data, isolated.Options{Options: invoice.Options{OCR: ocr.Options{Time: 5 * time.Minute}}})
			if err != nil || r.Status != invoice.OK {
				t.Fatalf("%s %s %s, %v", r.Status, r.Reason, r.Detail, err)
			}
			if r.Number == nil || r.Number.Value != "2026-0417" || r.Gross == nil || r.Gross.Value != 1488000 ||
				r.SupplierName == nil || r.SupplierName.Value != "Bauwerk Donau GmbH" {
				t.Errorf("number %+v, gross %+v, supplier %+v", r.Number, r.Gross, r.SupplierName)
			}
		})
	}
}

// Given a file that needs pictures of its pages, when it is read without any, then the child says so, within the time that a
// file without OCR has, and starts no program; other files are read. Where no pictures can be had it is as always.
func TestAFileThatNeedsPicturesIsLeftByALightReading(t *testing.T) {
	scan, err := os.ReadFile(filepath.Join("..", "testdata", "scans", "jbig2.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		data      []byte
		noOCR     bool
		tesseract string
		want      invoice.Reason
	}{
		{"a scan", scan, false, "/bin/sh", invoice.NeedsPictures},
		{"an invoice", pdftest.Sample().PDF(), false, "/bin/sh", ""},
		{"a scan without tesseract", scan, false, "/no/such/tesseract", invoice.OCRMissing},
		{"a scan when OCR is off", scan, true, "/bin/sh", invoice.OCROff},
	} {
		o := isolated.Options{Options: invoice.Options{Light: true, NoOCR: c.noOCR, OCR: ocr.Options{Tesseract: c.tesseract}}}
		if r, err := isolated.Read(t.Context(), c.data, o); err != nil || r.Reason != c.want {
			t.Errorf("%s: %s %s %s, %v", c.name, r.Status, r.Reason, r.Detail, err)
		}
	}
}
