// Command accuracy measures the reading of invoices: without an argument on
// invoices that package layouts draws, else on a folder of PDFs with
// their true values beside them (NAME.pdf and NAME.json), once with the embedded
// e-invoices and once from the pages alone.
//
//	go run ./ingest/invoice/accuracy
//	go run ./ingest/invoice/accuracy FOLDER
//
// Package truth says what a truth file holds.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/accuracy/truth"
)

func main() {
	wrong := flag.Bool("wrong", false, "list what is wrong or missing")
	scans := flag.Bool("ocr", false, "read scans, too")
	families := flag.Int("families", 500, "without a folder: read drawn invoices of N families, known and unseen each")
	letters := flag.Int("letters", 0, "without a folder: read N drawn letters that nobody has seen, and no families")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: accuracy [--wrong] [--ocr] [--families N | --letters N | FOLDER]")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 1 {
		flag.Usage()
		os.Exit(2)
	}
	run := func() error { return measure(flag.Arg(0), *wrong, *scans) }
	switch {
	case flag.NArg() > 0:
	case *letters > 0:
		run = func() error { return measureLetters(os.Stdout, *letters, *wrong) }
	default:
		run = func() error { return measureFamilies(os.Stdout, *families, *wrong) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

func measure(folder string, list, scans bool) error {
	truths, err := truth.Read(folder)
	if err != nil {
		return err
	}
	reader, err := invoice.NewReader()
	if err != nil {
		return err
	}
	for _, mode := range []struct {
		name  string
		noXML bool
	}{{"With e-invoices (files that hold one)", false}, {"Pages alone", true}} {
		tally := newTally(mode.noXML)
		var times []time.Duration
		for i, t := range truths {
			data, err := os.ReadFile(filepath.Join(folder, t.File))
			if err != nil {
				return fmt.Errorf("reading invoice: %w", err)
			}
			start := time.Now()
			r := reader.Read(context.Background(), data, invoice.Options{NoXML: mode.noXML, NoOCR: !scans})
			times = append(times, time.Since(start))
			tally.add(t, r)
			if (i+1)%50 == 0 {
				fmt.Fprintf(os.Stderr, "%d of %d files\n", i+1, len(truths))
			}
		}
		slices.Sort(times)
		fmt.Printf("\n%s\n", mode.name)
		tally.print(os.Stdout)
		tally.printCalibration(os.Stdout)
		if len(times) > 0 {
			fmt.Printf("time per file: median %s, longest %s, %d files\n",
				times[len(times)/2].Round(100*time.Microsecond), times[len(times)-1].Round(time.Millisecond),
				len(times))
		}
		if list {
			for _, miss := range tally.misses {
				fmt.Println("  ", miss)
			}
		}
	}
	return nil
}
