package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/explain"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/mail/message"
	"tallyhouse/ingest/sandbox"
)

func readCommand(s *shell) *cobra.Command {
	var opts invoice.Options
	var sandboxed, drawn bool
	cmd := &cobra.Command{
		Use:     "read FILE...",
		GroupID: groupCare,
		Short:   "Read invoices, PDF or e-invoice XML, and print their fields",
		Long: "Prints one JSON line per file: its status, the reason when it could not be read, the fields (amounts in minor\n" +
			"units, credit notes negative, null where not certain) and the evidence of each. A file that is no invoice is an\n" +
			"answer, not a failure of the command.",
		Example: "  tallyhouse read invoice.pdf\n  tallyhouse read --explain invoice.pdf > invoice.svg\n" +
			"  tallyhouse read --no-xml --own-company 'Muster Bau GmbH' --own-vat-id ATU12345675 inbox/*.pdf",
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.NoXML, "no-xml", false, "read the pages alone, not the embedded e-invoice")
	flags.BoolVar(&opts.NoOCR, "no-ocr", false, "leave scans unread")
	flags.StringVar(&opts.OCR.Tesseract, "tesseract", "", "path of tesseract, for scans; default: found in PATH")
	flags.StringVar(&opts.OCR.Languages, "ocr-languages", "", "tesseract's languages, such as deu+eng; default: these, and the page's own")
	flags.StringSliceVar(&opts.Own.Names, "own-company", nil, "name of the receiving company, never taken for the supplier; repeatable")
	flags.StringSliceVar(&opts.Own.VATIDs, "own-vat-id", nil, "VAT id of the receiving company; repeatable")
	flags.IntVar(&opts.Limits.Pages, "max-pages", 100, "most pages of a file; a file with more fails")
	flags.DurationVar(&opts.Limits.Time, "timeout", 10*time.Second, "most time for a file, OCR apart")
	flags.BoolVar(&sandboxed, "isolated", false, "do one job from standard input in a sandbox, as the mail intake starts this program")
	flags.BoolVar(&drawn, "explain", false, "draw what was read of one file, and where it stands on the pages, as an SVG")
	cmd.Args = func(_ *cobra.Command, args []string) error {
		switch {
		case sandboxed && len(args) > 0:
			return errors.New("--isolated reads standard input and takes no files")
		case drawn && len(args) != 1:
			return errors.New("--explain draws one file")
		case !sandboxed && len(args) == 0:
			return errors.New("name at least one file")
		}
		return nil
	}
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkReading(opts) }
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if sandboxed {
			return sandbox.Serve(cmd.Context(), s.in, s.out, map[string]sandbox.Task{
				isolated.TaskName: isolated.Task, message.TaskName: message.Task,
			})
		}
		opts.OCR.Data = os.Getenv(tesseractData)
		reader, err := invoice.NewReader()
		if err != nil {
			return err
		}
		if drawn {
			return explainFile(cmd.Context(), s.out, reader, args[0], opts)
		}
		return readFiles(cmd.Context(), s.out, reader, args, opts)
	}
	return cmd
}

// checkReading reports all that is wrong with how files are to be read.
func checkReading(opts invoice.Options) error {
	wrong := []error{checkTesseract(opts)}
	if opts.Limits.Pages <= 0 {
		wrong = append(wrong, fmt.Errorf("--max-pages must be above zero, not %d", opts.Limits.Pages))
	}
	if opts.Limits.Time <= 0 {
		wrong = append(wrong, fmt.Errorf("--timeout must be above zero, not %s", opts.Limits.Time))
	}
	return errors.Join(wrong...)
}

// explainFile draws what is read of a file, and where it stands.
func explainFile(ctx context.Context, out io.Writer, reader *invoice.Reader, name string, o invoice.Options) error {
	data, err := readBounded(name, invoice.DefaultBytes)
	if err != nil {
		return err
	}
	result, pages := reader.Explain(ctx, data, o)
	return explain.SVG(out, result, pages)
}

// readFiles prints what is read of each file. One that can't be opened stops no other.
func readFiles(ctx context.Context, out io.Writer, reader *invoice.Reader, names []string, o invoice.Options) error {
	var faults []error
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return errors.Join(append(faults, fmt.Errorf("reading %s: %w", name, err))...)
		}
		data, err := readBounded(name, invoice.DefaultBytes)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		result := reader.Read(ctx, data, o)
		result.File = name
		line, err := result.JSON()
		if err != nil {
			faults = append(faults, err)
			continue
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	return errors.Join(faults...)
}

// readBounded reads a file, at most one byte more than limit: enough to tell
// that it is too large.
func readBounded(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("opening invoice: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading invoice: %w", err)
	}
	return data, nil
}
