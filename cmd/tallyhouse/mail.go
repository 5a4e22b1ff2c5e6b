package main

import (
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"

	"tallyhouse/ingest/mail"
	"tallyhouse/ingest/untrusted"
)

// devMailbox is the mailbox of dev, which the commands look at unless told otherwise.
const devMailbox = "imap://demo:demo@127.0.0.1:1143/INBOX"

func mailCommand(s *shell) *cobra.Command {
	var f mailFlags
	cmd := &cobra.Command{
		Use:     "mail",
		GroupID: groupCare,
		Short:   "Look after mails that became no record, read a record's invoice again, show what is kept of it",
		Example: "  tallyhouse mail failed\n  tallyhouse mail ignored --json\n  tallyhouse mail release k7q2mzda.1767225600.17\n" +
			"  tallyhouse mail retry mail-kjre67wdk2wvetca342pmnbxi6qsocdd",
	}
	f.add(cmd.PersistentFlags(), []string{devMailbox}, devTenant)
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(
		listMails(s, to, &f, "failed", "List the mails that can't be handled, with the reason",
			"Lists the mails that can't be handled as they are: to an address of no project, too large, broken. They stay\n"+
				"where they are. When an intake address is added, and when a worker starts, those to an address of no project\n"+
				"are looked at again.", (*mail.Intake).Failed),
		listMails(s, to, &f, "ignored", "List the mails without an invoice, with what they have instead",
			"Lists the mails to intake addresses that have neither a PDF nor an e-invoice, or are automatic replies. They\n"+
				"stay where they are and become no record.",
			(*mail.Intake).Ignored),
		listMails(s, to, &f, "quarantined", "List the mails whose senders are not allowed to send invoices",
			"Lists the mails whose senders the mailbox's URL doesn't allow, or that are over their senders' limit, with the\n"+
				"reason. They stay where they are until they are released.", (*mail.Intake).Quarantined),
		listMails(s, to, &f, "waiting", "List the mails that nothing is decided about yet",
			"Lists the mails that are not read yet, with the reason: they have just come, a worker reads them, reading them\n"+
				"broke off, or the connection breaks at them.", (*mail.Intake).Waiting),
		releaseMail(s, to, &f),
		loginMail(s, &f),
		retryMail(s, to, &f),
		showMail(s, to, &f),
	)
	return cmd
}

func listMails(
	s *shell, to *connection, f *mailFlags, name, short, long string,
	list func(*mail.Intake, context.Context, func(mail.Listed)) error,
) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: name, Short: short, Long: long, Args: none}
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.RunE = s.withIntake(to, f, noOriginals, func(ctx context.Context, intake *mail.Intake, _ []string) error {
		if asJSON {
			lines := s.jsonLines()
			var written error
			err := list(intake, ctx, func(m mail.Listed) { written = errors.Join(written, lines.Encode(m)) })
			return errors.Join(err, written)
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		listed := 0
		err := list(intake, ctx, func(m mail.Listed) {
			if listed++; listed == 1 {
				fmt.Fprintln(table, "MAILBOX\tMAIL\tARRIVED\tFROM\tSUBJECT\tREASON")
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n",
				m.Mailbox, m.ID, m.Arrived.Format(time.RFC3339), oneLine(m.From), oneLine(m.Subject), untrusted.Line(m.Reason))
		})
		if listed == 0 {
			if err == nil {
				fmt.Fprintln(s.err, "no", name, "mails")
			}
			return err
		}
		return errors.Join(err, table.Flush())
	})
	return cmd
}

func loginMail(s *shell, f *mailFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "login",
		Short: "Allow the access to a mailbox of Google or Microsoft",
		Long: "For each mailbox whose URL says auth=oauth2: prints a page to open in a browser and the code to enter there,\n" +
			"waits until that is done, and keeps the refresh token in the URL's refresh-token-file.",
		Args: none,
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o, err := f.options("")
		if err != nil {
			return err
		}
		for _, box := range o.Mailboxes {
			err := box.Login(cmd.Context(), func(page, code string) {
				fmt.Fprintf(s.out, "%s: open %s and enter %s\n", box.Address, page, code)
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

func releaseMail(s *shell, to *connection, f *mailFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "release MAIL",
		Short: "Have a quarantined or failed mail read as one of an allowed sender",
		Long: "Takes a mail out of quarantine, or gives one that failed or was set aside another chance. The worker reads it\n" +
			"at once, as if its sender were allowed. MAIL is what the lists show.",
		Example: "  tallyhouse mail release k7q2mzda.1767225600.17",
		Args: cobra.MatchAll(one("MAIL"), func(_ *cobra.Command, args []string) error {
			return mail.CheckID(args[0])
		}),
	}
	cmd.RunE = s.withIntake(to, f, noOriginals, func(ctx context.Context, intake *mail.Intake, args []string) error {
		return intake.Release(ctx, args[0])
	})
	return cmd
}

func retryMail(s *shell, to *connection, f *mailFlags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "retry RECORD",
		Short: "Read a record's invoice again and write what it says as the next version",
		Long: "Reads the PDF or e-invoice of a record again, with this version and this machine's tesseract, and writes the\n" +
			"record's next version, as long as neither the application has taken the record over nor a person has confirmed\n" +
			"it, and never a failed reading over a completed one. It prints the record's id, version and status; when it\n" +
			"still can't be read, it ends with 1.",
		Example: "  tallyhouse mail retry mail-kjre67wdk2wvetca342pmnbxi6qsocdd",
		Args:    one("RECORD"),
	}
	cmd.RunE = s.withIntake(to, f, f.openOriginals, func(ctx context.Context, intake *mail.Intake, args []string) error {
		again, err := intake.Retry(ctx, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s version %d %s\n", again.ID, again.Version, again.Status)
		if again.Reason != "" {
			return fmt.Errorf("the invoice of %s still can't be read: %s", again.ID, again.Reason)
		}
		return nil
	})
	return cmd
}

// noOriginals is for the commands that need none.
func noOriginals(context.Context) (mail.Originals, error) { return nil, nil }

// withIntake is the work of a command that has an intake which looks, releases and retries, and takes nothing in.
func (s *shell) withIntake(
	to *connection, f *mailFlags, originals func(context.Context) (mail.Originals, error),
	work func(ctx context.Context, intake *mail.Intake, args []string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		o, err := f.options("")
		servers, err2 := to.open()
		if err := errors.Join(err, err2); err != nil {
			return err
		}
		defer servers.kafka.Close()
		shards, err := servers.databases()
		if err != nil {
			return err
		}
		defer closeAll(shards)
		if o.Originals, err = originals(cmd.Context()); err != nil {
			return err
		}
		o.Cluster, o.Shards, o.Log, o.Metrics = servers.kafka, shards, s.log, prometheus.NewRegistry()
		intake, err := mail.New(o)
		if err != nil {
			return usageError{err}
		}
		return work(cmd.Context(), intake, args)
	}
}

// oneLine makes what a stranger wrote fit into a table.
func oneLine(s string) string {
	const most = 60 // characters
	return untrusted.Cut(untrusted.Line(s), most)
}
