package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tallyhouse/ingest/invoice"
	"tallyhouse/ingest/invoice/isolated"
	"tallyhouse/ingest/invoice/ocr"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/mail"
	"tallyhouse/ingest/mail/answer"
	"tallyhouse/ingest/mail/mailbox"
	"tallyhouse/ingest/originals"
	"tallyhouse/ingest/store/database"
	"tallyhouse/ingest/untrusted"
	"tallyhouse/schemas/events"
)

// mailFlags say which mailboxes there are and how their mails are taken.
type mailFlags struct {
	boxes      []string
	tenant     string
	done       string
	folder     string
	recipients []string
	poll       time.Duration
	maxBytes   int64
	maxPDFs    int
	noXML      bool
	maxAmount  int64
	reader     invoice.Options

	originalsDir, originalsS3 string
	answers                   string // file
}

// minorUnits are those of a whole unit of a currency.
const minorUnits = 100

// add adds the flags; boxes and tenant are the mailboxes' defaults.
func (f *mailFlags) add(flags *pflag.FlagSet, boxes []string, tenant string) {
	flags.StringSliceVar(&f.boxes, "imap", boxes,
		"mailbox that invoices are sent to, imaps://user:password@host/Mailbox?tenant=ID, repeatable; imap:// is STARTTLS; more parameters:\n"+
			"auth=xoauth2, password-file=FILE, ca=FILE, tls=off; who may send: allow=ADDRESS or DOMAIN, dmarc=SERVER, per-hour=N, hops=N.\n"+
			"Better given as the variable: it holds a password")
	flags.StringVar(&f.tenant, "mail-tenant", tenant, "tenant of the mailboxes that don't name one")
	f.addReading(flags, devOriginals)
}

// addAnswers adds the flag that says who is told of mails.
func (f *mailFlags) addAnswers(flags *pflag.FlagSet) {
	flags.StringVar(&f.answers, "mail-answers", "",
		"JSON file that says which projects tell whom of mailed invoices, and by which mail server; empty: nobody is told")
}

// readAnswers reads who is told of mails, nil: nobody.
func (f *mailFlags) readAnswers() (*answer.Settings, error) {
	if f.answers == "" {
		return nil, nil
	}
	settings, err := answer.Read(f.answers)
	if err != nil {
		return nil, fmt.Errorf("--mail-answers: %w", err)
	}
	return settings, nil
}

// openAnswers makes the sender of answers, nil when nobody is told.
func (s *shell) openAnswers(f mailFlags, group string, cluster kafka.Cluster, shards []*database.Server,
	metrics prometheus.Registerer,
) (*answer.Sender, error) {
	settings, err := f.readAnswers()
	if err != nil || settings == nil {
		return nil, err
	}
	return answer.New(answer.Options{Settings: settings, Cluster: cluster, Shards: shards, Group: group + "-answers",
		Log: s.log, Metrics: metrics, Clock: time.Now})
}

// addOriginals adds the flags that say where originals are; dir is where by default.
func (f *mailFlags) addOriginals(flags *pflag.FlagSet, dir string) {
	flags.StringVar(&f.originalsDir, "originals-dir", dir, originalsHelp)
	flags.StringVar(&f.originalsS3, "originals-s3", "", "keep them in a bucket of an S3 server instead, "+
		"https://KEY:SECRET@host/bucket/prefix?region=R;\n"+
		"without KEY as the environment or the machine says (AWS_ACCESS_KEY_ID). Better given as the variable: it holds a secret")
}

func (f *mailFlags) addMaxAmount(flags *pflag.FlagSet) {
	flags.Int64Var(&f.maxAmount, "mail-max-amount", mail.DefaultMaxAmount/minorUnits,
		"largest amount of an invoice that is taken as certain, in whole units of its currency")
}

func (f *mailFlags) checkMaxAmount() error {
	if f.maxAmount <= 0 || f.maxAmount > events.MaxAmount/minorUnits {
		return fmt.Errorf("--mail-max-amount must be above zero and at most %d", int64(events.MaxAmount/minorUnits))
	}
	return nil
}

// addReading adds the flags that don't say which mailbox it is; originals is where they are by default.
func (f *mailFlags) addReading(flags *pflag.FlagSet, originals string) {
	f.addOriginals(flags, originals)
	flags.StringVar(&f.done, "mail-done", "keyword", "what marks a done mail: keyword, or folder, to which it is moved")
	flags.StringVar(&f.folder, "mail-folder", "Tallyhouse", "the folder of done mails, with --mail-done folder")
	flags.StringSliceVar(&f.recipients, "mail-recipients", mail.Recipients(),
		"header fields in which intake addresses are looked for, in this order")
	flags.DurationVar(&f.poll, "mail-poll", 15*time.Second, "how often a mailbox is asked for new mail that can't tell of it (no IDLE)")
	flags.Int64Var(&f.maxBytes, "mail-max-bytes", 50<<20, "largest mail that is read")
	flags.IntVar(&f.maxPDFs, "mail-max-pdfs", 50, "most PDFs and e-invoices of a mail; one with more fails")
	flags.BoolVar(&f.noXML, "mail-no-xml", false, "leave out e-invoices that are XML alone")
	f.addMaxAmount(flags)
	flags.StringSliceVar(&f.reader.Own.Names, "own-company", nil, "name of the receiving company, never taken for the supplier; repeatable")
	flags.StringSliceVar(&f.reader.Own.VATIDs, "own-vat-id", nil, "VAT id of the receiving company; repeatable")
	flags.BoolVar(&f.reader.NoOCR, "no-ocr", false, "leave scans unread")
	flags.StringVar(&f.reader.OCR.Tesseract, "tesseract", "", "path of tesseract, for scans; default: found in PATH")
	flags.StringVar(&f.reader.OCR.Languages, "ocr-languages", "", "tesseract's languages, such as deu+eng; default: these, and the page's own")
}

// options checks the flags; its error names all that is wrong. worker distinguishes this process from others that share
// a mailbox.
func (f *mailFlags) options(worker string) (mail.Options, error) {
	o := mail.Options{
		Recipients: f.recipients,
		Reader:     isolated.Options{Options: f.reader},
	}
	o.Limits.NoXML = f.noXML
	o.Limits.Bytes, o.Limits.Files, o.MaxAmount = f.maxBytes, f.maxPDFs, f.maxAmount*minorUnits
	o.Reader.OCR.Data = os.Getenv(tesseractData)
	var wrong []error
	folder := ""
	switch {
	case f.done == "folder" && f.folder == "":
		wrong = append(wrong, errors.New("--mail-folder must not be empty"))
	case f.done == "folder":
		folder = f.folder
	case f.done != "keyword":
		wrong = append(wrong, fmt.Errorf("--mail-done must be keyword or folder, not %q", f.done))
	}
	if f.maxBytes <= 0 || f.maxPDFs <= 0 || f.poll <= 0 {
		wrong = append(wrong, errors.New("--mail-max-bytes, --mail-max-pdfs and --mail-poll must be above zero"))
	}
	wrong = append(wrong, f.checkMaxAmount())
	if settings, err := f.readAnswers(); err != nil {
		wrong = append(wrong, err)
	} else if settings != nil {
		o.Answers = settings
	}
	for i, text := range f.boxes {
		a, err := mailbox.ParseAddress(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--imap, number %d: %w", i+1, err))
			continue
		}
		if a.Tenant == "" {
			a.Tenant = f.tenant
		}
		if a.Tenant == "" || strings.Contains(a.Tenant, "/") {
			wrong = append(wrong, fmt.Errorf("--imap %s needs a tenant without a slash: --mail-tenant ID, or ?tenant=ID in its URL", a))
		}
		o.Mailboxes = append(o.Mailboxes, mailbox.Options{Address: a, DoneFolder: folder, Slot: slot(worker), Poll: f.poll})
	}
	if err := errors.Join(wrong...); err != nil {
		return mail.Options{}, usageError{err}
	}
	return o, nil
}

// slot is a worker's own among those that share a mailbox, the same after a restart, so that it goes on with what it
// had begun.
func slot(worker string) int {
	host, _ := os.Hostname() // without one the worker's own part alone tells them apart
	h := fnv.New32a()
	fmt.Fprintf(h, "%s\x00%s", host, worker)
	return int(h.Sum32() % mailbox.Slots)
}

// openOriginals opens the place of mailed PDFs and mails, nil where they are not kept.
func (f *mailFlags) openOriginals(ctx context.Context) (mail.Originals, error) {
	switch {
	case f.originalsS3 != "":
		bucket, err := originals.OpenBucket(ctx, f.originalsS3)
		if err != nil {
			return nil, &serverError{"--originals-s3", "KEY and SECRET in --originals-s3, and their rights to read and write there", err}
		}
		return bucket, nil
	case f.originalsDir != "":
		return originals.OpenDirectory(ctx, f.originalsDir)
	}
	return nil, nil
}

// openMail makes the intake of mail, nil when there is no mailbox.
func (s *shell) openMail(
	ctx context.Context, f mailFlags, worker string, cluster kafka.Cluster, shards []*database.Server, metrics prometheus.Registerer,
) (*mail.Intake, error) {
	o, err := f.options(worker)
	if err != nil || len(o.Mailboxes) == 0 {
		return nil, err
	}
	if o.Originals, err = f.openOriginals(ctx); err != nil {
		return nil, err
	}
	if o.Originals == nil {
		s.log.Warn("mails and their PDFs are not kept, and invoices that come twice are not found (--originals-dir)")
	}
	if !f.reader.NoOCR {
		s.tellOCR(ctx, o.Reader.OCR)
	}
	o.Cluster, o.Shards, o.Log, o.Metrics = cluster, shards, s.log, metrics
	return mail.New(o)
}

// tellOCR tells what keeps scans from being read, or from being read well.
func (s *shell) tellOCR(ctx context.Context, o ocr.Options) {
	lacking, err := ocr.Lacking(ctx, o)
	switch {
	case errors.Is(err, ocr.ErrMissing):
		s.log.Warn("scanned invoices are not read: there is no tesseract (--tesseract)")
	case err != nil:
		s.log.Warn("scanned invoices may not be read", "error", err)
	case len(lacking) > 0 && o.Languages == "":
		s.log.Warn("scanned invoices in some languages are read worse: tesseract has no data of them", "languages", strings.Join(lacking, ", "))
	}
}

// tesseractData is the variable by which tesseract finds its language data. Sandboxed, it is told by a flag.
const tesseractData = "TESSDATA_PREFIX"

// devMailbox is the mailbox of dev, which the commands look at unless told otherwise.
const devMailbox = "imap://demo:demo@127.0.0.1:1143/INBOX"

// devOriginals is where dev keeps what is mailed, in its default directory.
const devOriginals = "./.tallyhouse/originals"

const originalsHelp = "directory in which mailed PDFs and mails are kept, which all workers share; empty: they are not kept"

func mailCommand(s *shell) *cobra.Command {
	var f mailFlags
	cmd := &cobra.Command{
		Use:     "mail",
		GroupID: groupCare,
		Short:   "Look after mails that became no record, read a record's invoice again, show what is kept of it",
		Example: "  tallyhouse mail failed\n  tallyhouse mail ignored --json\n  tallyhouse mail release 1767225600.17\n" +
			"  tallyhouse mail retry mail-kjre67wdk2wvetca342pmnbxi6qsocdd",
	}
	f.add(cmd.PersistentFlags(), []string{devMailbox}, devTenant)
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(
		listMails(s, to, &f, "failed", "List the mails that can't be handled, with the reason",
			"Lists the mails that can't be handled as they are: to an address of no project, too large, broken. They stay where they are. When an\n"+
				"intake address is added, and when a worker starts, they are looked at again.", (*mail.Intake).Failed),
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
	cmd := &cobra.Command{Use: name, Short: short, Long: long, Args: cobra.NoArgs}
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.RunE = s.withIntake(to, f, noOriginals, func(ctx context.Context, intake *mail.Intake, _ []string) error {
		if asJSON {
			lines := s.jsonLines()
			var written error
			err := list(intake, ctx, func(m mail.Listed) { written = errors.Join(written, lines.Encode(m)) })
			return errors.Join(err, written)
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "MAILBOX\tMAIL\tARRIVED\tFROM\tSUBJECT\tREASON")
		listed := 0
		err := list(intake, ctx, func(m mail.Listed) {
			listed++
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n",
				m.Mailbox, m.ID, m.Arrived.Format(time.RFC3339), oneLine(m.From), oneLine(m.Subject), untrusted.Line(m.Reason))
		})
		if err != nil && listed == 0 {
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
		Args: cobra.NoArgs,
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
		Example: "  tallyhouse mail release 1767225600.17",
		Args:    cobra.ExactArgs(1),
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
			"record's next version. It does so as long as the application has not taken the record over, and never puts a\n" +
			"failed reading over a completed one. It prints the record's id, version and status; when it still can't be read,\n" +
			"it ends with 1.",
		Example: "  tallyhouse mail retry mail-kjre67wdk2wvetca342pmnbxi6qsocdd",
		Args:    cobra.ExactArgs(1),
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
