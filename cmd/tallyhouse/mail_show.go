package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/mail"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

func showMail(s *shell, to *connection, f *mailFlags) *cobra.Command {
	var asJSON bool
	var out, mailOut string
	cmd := &cobra.Command{
		Use:   "show RECORD",
		Short: "Show what is kept of a mailed record, and write its PDF out",
		Long: "Prints what was read of a record's documents: the fields with their confidence and place, what else was\n" +
			"possible, findings, why it failed, and the mail. The documents and the mail are those that were kept, byte by\n" +
			"byte. Files that are there are not overwritten.",
		Example: "  tallyhouse mail show mail-kjre67wdk2wvetca342pmnbxi6qsocdd --out invoice.pdf",
		Args:    one("RECORD"),
	}
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.Flags().StringVar(&out, "out", "", "write the document that the values are from to this file")
	cmd.Flags().StringVar(&mailOut, "out-mail", "", "write the mail to this file")
	open := func(ctx context.Context) (mail.Originals, error) {
		if out == "" && mailOut == "" {
			return nil, nil
		}
		return f.openOriginals(ctx)
	}
	cmd.RunE = s.withIntake(to, f, open, func(ctx context.Context, intake *mail.Intake, args []string) error {
		kept, err := intake.Show(ctx, args[0])
		if err != nil {
			return err
		}
		if asJSON {
			line, err := events.Encode(events.Readings, events.Event{Envelope: kept.Envelope, Data: kept.Reading})
			if err != nil {
				return err
			}
			fmt.Fprintf(s.out, "%s\n", line)
		} else if err := s.printKept(kept); err != nil {
			return err
		}
		if mailOut != "" {
			if err := writeOriginal(ctx, intake, kept.TenantID, kept.Mail.SHA256.V, mailOut); err != nil {
				return err
			}
		}
		if out == "" {
			return nil
		}
		document, ok := kept.Document()
		if !ok {
			return errors.New("the record has no document")
		}
		return writeOriginal(ctx, intake, kept.TenantID, document.SHA256, out)
	})
	return cmd
}

// writeOriginal writes what was kept to a file that isn't there yet.
func writeOriginal(ctx context.Context, intake *mail.Intake, tenant, sha256, path string) error {
	content, err := intake.Original(ctx, tenant, sha256)
	if err != nil {
		return err
	}
	err = writeNew(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return fmt.Errorf("write an original: %w", err)
	}
	return nil
}

// writeNew makes a file that isn't there yet, whole or not at all: half of an invoice looks like one, and stands in the way of the
// next try.
func writeNew(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// printKept prints what is kept of a record, for a person.
func (s *shell) printKept(k mail.Kept) error {
	table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
	line := func(what, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", what, untrusted.Line(fmt.Sprintf(format, args...)))
	}
	line("record", "%s version %d, project %s", k.ID, k.Version, k.ProjectID.V)
	line("status", "%s", strings.TrimSpace(k.Status+" "+k.Reason.V))
	if k.Detail.Ok {
		line("because", "%s", k.Detail.V)
	}
	m := k.Mail
	line("mail", "%s in %s, uid %d of %d, %d bytes, sha256 %s", m.MessageID.Or("without Message-ID"),
		m.Mailbox, m.UID, m.UIDValidity, m.Bytes, m.SHA256.V)
	line("from", "%s", m.From.Or("nobody"))
	if m.Verdict.Ok {
		line("vouched", "dmarc=%s by %s", m.Verdict.V, m.VerdictBy.V)
	}
	if m.Released {
		line("released", "a person had it read")
	}
	if m.ArrivedAt.Ok {
		line("arrived", "%s", m.ArrivedAt.V.Format(time.RFC3339))
	}
	for _, d := range k.Documents {
		note := ""
		if d.Stated {
			note = ", the values are from here"
		}
		line("document", "%s (%s, %s, %d bytes, sha256 %s%s)", d.Name, d.Kind, d.Type, d.Bytes, d.SHA256, note)
	}
	exponent := exponentOf(k.Fields)
	for _, f := range k.Fields {
		if f.Value.Ok {
			line(untrusted.Line(f.Name), "%s", statement(f.Value.V, exponent))
		} else {
			line(untrusted.Line(f.Name), "not certain")
		}
		for _, a := range f.Alternatives {
			line("", "or %s", statement(a, exponent))
		}
	}
	for _, found := range k.Findings {
		about := found.Rule
		if found.Place.Ok {
			about += " (" + found.Place.V + ")"
		}
		line("finding", "%s: %s", about, strings.TrimSpace(found.Message+" "+strings.Join(found.Records.V, " ")))
	}
	return table.Flush()
}

// exponentOf is the number of decimals of the amounts.
func exponentOf(all []events.ReadField) int {
	for _, f := range all {
		if f.Name == fields.Currency && f.Value.Ok {
			return fields.Exponent(f.Value.V.Text.V)
		}
	}
	return fields.Exponent("")
}

// statement is a value with the evidence for it, on a line.
func statement(v events.Stated, exponent int) string {
	value := v.Text.V
	if v.Minor.Ok {
		value = events.Decimal{Units: v.Minor.V, Scale: uint8(exponent)}.String()
	}
	at := "the e-invoice"
	if v.Page > 0 {
		at = fmt.Sprintf("page %d", v.Page)
	}
	if b := v.Box.V; v.Box.Ok {
		at += fmt.Sprintf(" at %.1f %%, %.1f %%", float64(b.Left)/100, float64(b.Top)/100)
	}
	sure := events.Decimal{Units: v.ConfidenceBp.Units, Scale: v.ConfidenceBp.Scale + 2}
	return fmt.Sprintf("%s (%s %%, %s, %s) %q", value, sure, at, v.Rule, v.Printed.V)
}
