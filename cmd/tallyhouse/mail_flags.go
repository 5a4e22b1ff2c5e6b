package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
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
			"auth=oauth2 or xoauth2, password-file=FILE, ca=FILE, tls=off; who may send: allow=ADDRESS or DOMAIN, dmarc=SERVER, "+
			"per-hour=N, hops=N.\n"+
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

// checkOriginals reports what is wrong with the place of originals, as far as no server has to be asked.
func (f *mailFlags) checkOriginals() error {
	if f.originalsS3 == "" {
		return nil
	}
	if err := originals.CheckBucket(f.originalsS3); err != nil {
		return fmt.Errorf("--originals-s3: %w", err)
	}
	return nil
}

// checkTesseract reports a tesseract that is named and isn't there. Where none is named it may be missing: scans are left unread then.
func checkTesseract(o invoice.Options) error {
	if o.NoOCR || o.OCR.Tesseract == "" {
		return nil
	}
	if _, err := exec.LookPath(o.OCR.Tesseract); err != nil {
		return fmt.Errorf("--tesseract: %w", err)
	}
	return nil
}

// addReading adds the flags that don't say which mailbox it is; originals is where they are by default.
func (f *mailFlags) addReading(flags *pflag.FlagSet, originals string) {
	f.addOriginals(flags, originals)
	flags.StringVar(&f.done, "mail-done", "keyword", "what marks a done mail: keyword, or folder, to which it is moved")
	flags.StringVar(&f.folder, "mail-folder", "Tallyhouse", "the folder of done mails, with --mail-done folder")
	flags.StringSliceVar(&f.recipients, "mail-recipients", mail.Recipients(),
		"header fields in which intake addresses are looked for, those of the envelope first, else in this order")
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
	if f.maxBytes <= 0 {
		wrong = append(wrong, fmt.Errorf("--mail-max-bytes must be above zero, not %d", f.maxBytes))
	}
	if f.maxPDFs <= 0 {
		wrong = append(wrong, fmt.Errorf("--mail-max-pdfs must be above zero, not %d", f.maxPDFs))
	}
	if f.poll <= 0 {
		wrong = append(wrong, fmt.Errorf("--mail-poll must be above zero, not %s", f.poll))
	}
	wrong = append(wrong, f.checkMaxAmount(), f.checkOriginals(), checkTesseract(f.reader))
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
			return nil, &serverError{
				flag: "--originals-s3", login: "KEY and SECRET in --originals-s3, and their rights to read and write there", cause: err,
			}
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

// devOriginals is where dev keeps what is mailed, in its default directory.
const devOriginals = "./.tallyhouse/originals"

const originalsHelp = "directory in which mailed PDFs and mails are kept, which all workers share; empty: they are not kept"
