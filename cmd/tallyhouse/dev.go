package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/sethvargo/go-retry"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tallyhouse/deploy/demo"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
	schema "tallyhouse/schemas/clickhouse"
)

const (
	devTenant   = "demo"
	devUser     = "dev-admin"
	stopTimeout = 30 * time.Second // of an embedded engine
	devReady    = 3 * time.Minute  // for everything to serve, sample data apart
)

// dev is the whole system on one machine.
type dev struct {
	*shell
	dataDir   string
	kafkaAddr string
	dbAddr    string
	imapAddr  string
	smtpAddr  string
	smtp      string // where the embedded mail server takes mails; "" when there is none
	empty     bool
	api       apiFlags
	deskAddr  string
	ingest    ingestFlags
	mail      mailFlags
	external  *connection
}

func devCommand(s *shell) *cobra.Command {
	d := &dev{shell: s, external: &connection{}}
	cmd := &cobra.Command{
		Use:     "dev",
		GroupID: groupRun,
		Short:   "Run everything on this machine: database, broker, mail server, worker, API and desk, with sample data",
		Long: "Runs everything on this machine and says, as soon as all of it serves, where it is: on a terminal in a few lines\n" +
			"for a person, with what to try next; elsewhere in one line, with the API's address, a key of an admin of\n" +
			"tenant demo, and a link that signs a browser in at the desk, once. Data stay in the data directory; the sample\n" +
			"is loaded once. Ctrl-C drains and ends. On a terminal it logs warnings alone, unless --log-level says otherwise.\n\n" +
			"Mail to a project's intake address is taken in at the SMTP address; its PDFs become records.\n\n" +
			"TALLYHOUSE_KAFKA, TALLYHOUSE_CLICKHOUSE and TALLYHOUSE_IMAP name real servers that replace the embedded ones.",
		Example: "  tallyhouse dev\n  tallyhouse dev --empty --data-dir ./empty --api-addr 127.0.0.1:8081",
		Args:    none,

		Annotations: map[string]string{quietOnTerminal: "yes"},
	}
	f := cmd.Flags()
	f.StringVar(&d.dataDir, "data-dir", "./.tallyhouse", "directory of everything that is kept")
	listenFlag(f, &d.kafkaAddr, "kafka-addr", "127.0.0.1:9092", "where the embedded broker listens, host:port")
	listenFlag(f, &d.dbAddr, "clickhouse-addr", defaultClickHouse, "where the embedded ClickHouse listens, native protocol, host:port")
	listenFlag(f, &d.imapAddr, "imap-addr", "127.0.0.1:1143", "where the embedded mail server listens, host:port")
	listenFlag(f, &d.smtpAddr, "smtp-addr", "127.0.0.1:1025", "where mail is taken in, host:port")
	f.BoolVar(&d.empty, "empty", false, "no sample data")
	d.api.add(f)
	listenFlag(f, &d.deskAddr, "desk-addr", "", deskAddrUsage+" (default "+defaultDeskAddr+", or a free port where that is taken)")
	d.ingest.add(f)
	d.mail.addReading(f, "")
	f.Lookup("originals-dir").Usage = "directory in which mailed PDFs and mails are kept (default: originals in --data-dir)"
	d.external.credentialFlags(f)
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error { return errors.Join(d.replaced(cmd.Flags()), d.check()) }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) }
	return cmd
}

// check reports all that is wrong with the flags, before anything is started.
func (d *dev) check() error {
	d.addresses()
	_, err := d.mail.options(d.dataDir)
	return errors.Join(d.external.check(), d.api.check(), d.ingest.check(), err)
}

// replaced reports the flags that say where embedded servers listen whose place others take.
func (d *dev) replaced(flags *pflag.FlagSet) error {
	var wrong []error
	variables := map[string]string{"kafka-addr": "KAFKA", "clickhouse-addr": "CLICKHOUSE", "imap-addr": "IMAP", "smtp-addr": "IMAP"}
	for flag, variable := range variables {
		if d.env[variablePrefix+variable] != "" && flags.Changed(flag) {
			wrong = append(wrong, fmt.Errorf("--%s says where the embedded server listens, and %s%s names one that replaces it: "+
				"leave one of them out", flag, variablePrefix, variable))
		}
	}
	return errors.Join(wrong...)
}

// notYetKnown stands for the address of an embedded server until it has one.
const notYetKnown = "127.0.0.1:1"

// addresses takes over where the servers are that replace the embedded ones.
func (d *dev) addresses() {
	given := func(variable, other string) string {
		return cmp.Or(d.env[variablePrefix+variable], other)
	}
	d.external.kafka.addr = given("KAFKA", notYetKnown)
	d.external.clickhouse.addr = given("CLICKHOUSE", notYetKnown)
	d.mail.tenant = devTenant
	if boxes := given("IMAP", ""); boxes != "" {
		d.mail.boxes = strings.Split(boxes, ",")
	}
}

func (d *dev) run(ctx context.Context) (err error) {
	if err := os.MkdirAll(d.dataDir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	if d.mail.originalsDir == "" {
		d.mail.originalsDir = filepath.Join(d.dataDir, "originals")
	}
	registry := newRegistry()
	began := time.Now()
	if isTerminal(d.out) {
		fmt.Fprintln(d.err, "Starting ClickHouse, Kafka, the mail server, the worker and the API ...")
	}
	embedded, err := d.startEngines(ctx, registry)
	defer func() { err = errors.Join(err, embedded.stop()) }()
	if err != nil {
		return err
	}
	servers, err := d.external.open()
	if err != nil {
		return err
	}
	defer servers.kafka.Close()
	target := schema.Target{Durable: !embedded.database}
	prepare, preparing := errgroup.WithContext(ctx)
	prepare.Go(func() error {
		_, err := kafka.Ensure(preparing, servers.kafka, kafka.TopicSpec{})
		return err
	})
	prepare.Go(func() error {
		_, err := migrate.Up(preparing, servers.shards, migrate.Options{Target: target, Log: d.log})
		return err
	})
	if err := prepare.Wait(); err != nil {
		return err
	}
	d.log.Info("engines serve", "took", time.Since(began).Round(time.Millisecond))
	return d.serve(ctx, servers, target, registry)
}

// serve runs worker and API, until the context ends or one of them fails.
func (d *dev) serve(ctx context.Context, servers servers, target schema.Target, registry *prometheus.Registry) error {
	w, err := d.openWorker(ctx, d.ingest, servers, target, registry)
	if err != nil {
		return err
	}
	defer w.close()
	key, err := d.admin(ctx, servers.kafka)
	if err != nil {
		return err
	}
	intake, err := d.openMail(ctx, d.mail, d.dataDir, servers.kafka, w.shards, registry)
	if err != nil {
		return err
	}
	answering, err := d.openAPI(d.api, servers, registry)
	if err != nil {
		return err
	}
	defer answering.close()
	desk, err := d.openDesk(ctx, servers, answering)
	if err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	addr := make(chan string, 1)
	work.Go(func() error { return w.Run(ctx) })
	work.Go(func() error { return intake.Run(ctx) })
	work.Go(func() error { return answering.run(ctx, func(a string) { addr <- a }) })
	work.Go(func() error { return desk.run(ctx) })
	work.Go(func() error {
		err := d.ready(ctx, w, servers, key, desk, addr)
		if err != nil && ctx.Err() != nil {
			return nil // it was asked to end
		}
		return err
	})
	return work.Wait()
}

// ready waits until all of it serves, brings the sample in, and says so.
func (d *dev) ready(ctx context.Context, w *runningWorker, servers servers, key string, desk *devDesk, addr <-chan string) error {
	waiting, stop := context.WithTimeout(ctx, devReady)
	defer stop()
	if err := until(waiting, w.Ready); err != nil {
		return fmt.Errorf("the worker does not get ready: %w", err)
	}
	var url string
	select {
	case a := <-addr:
		url = "http://" + a + d.api.basePath
	case <-waiting.Done():
		return errors.New("the API does not get ready: see the log above")
	}
	if err := until(waiting, func() error { return answers(waiting, url, key) }); err != nil {
		return fmt.Errorf("the key does not answer: %w", err)
	}
	if err := d.loadSample(ctx, servers, w.shards); err != nil {
		return err
	}
	d.greet(url, key, desk.link())
	return nil
}

// greet says that all of it serves: to a person on a terminal, else in the one line that programs wait for, and the desk's link
// in the log.
func (d *dev) greet(url, key, desk string) {
	if !isTerminal(d.out) {
		d.log.Info("the desk signs a browser in by this link, once", "link", desk)
		fmt.Fprintf(d.out, "ready api=%s key=%s\n", url, key)
		return
	}
	mail := "(your own, TALLYHOUSE_IMAP)"
	if d.smtp != "" {
		mail = "smtp://" + d.smtp + "   invoices as PDF, to a project's intake address"
	}
	fmt.Fprintf(d.out, "\nTallyhouse runs. Ctrl-C ends it.\n\n"+
		"  API         %s   reference: %[1]s/docs\n"+
		"  key         %s   an admin of tenant %s\n"+
		"  desk        %s   signs a browser in, once\n"+
		"  mail        %s\n"+
		"  Kafka       %s\n"+
		"  ClickHouse  %s   database %s\n"+
		"  metrics     http://%s/metrics\n"+
		"  data        %s\n\n"+
		"Try:\n\n"+
		"  export KEY=%[2]s\n"+
		"  curl -s -H \"Authorization: Bearer $KEY\" %[1]s/v0/projects\n",
		url, key, devTenant, desk, mail, d.external.kafka.addr, d.external.clickhouse.addr, d.external.clickhouse.database,
		d.api.metricsAddr, d.dataDir)
	if d.smtp != "" && !d.empty {
		fmt.Fprintf(d.out, "  curl -s smtp://%s --mail-from rechnung@bauwerk-donau.example \\\n"+
			"    --mail-rcpt quartier-lindenhof@demo.invoices.example --upload-file docs/sample-invoice.eml\n", d.smtp)
	}
	verify := cmp.Or(d.program, "tallyhouse") + " verify"
	if at := d.external.clickhouse.addr; at != defaultClickHouse {
		verify = variablePrefix + "CLICKHOUSE=" + at + " " + verify
	}
	fmt.Fprintf(d.out, "  %s\n\n", verify)
}

// until asks again and again until there is no error, or the context ends; then it returns the last one.
func until(ctx context.Context, ask func() error) error {
	var last error
	err := retry.Constant(ctx, 20*time.Millisecond, func(context.Context) error {
		last = ask()
		return retry.RetryableError(last)
	})
	return cmp.Or(last, err)
}

func answers(ctx context.Context, url, key string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v0/projects", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s/v0/projects answers %s", url, answer.Status)
	}
	return nil
}

// loadSample brings the sample in, once in the life of the data directory.
func (d *dev) loadSample(ctx context.Context, servers servers, shards []*database.Server) error {
	done := filepath.Join(d.dataDir, "sample-loaded")
	if _, err := os.Stat(done); d.empty || err == nil {
		return nil
	}
	lines, written := io.Pipe()
	go func() {
		written.CloseWithError(demo.Write(written, demo.Options{Tenant: devTenant, Topics: store.Topics()}))
	}()
	l := &load.Load{Entities: store.All(), Stdin: lines, Progress: load.NewProgress(d.err, isTerminal(d.err)), Log: d.log}
	defer l.Close()
	found, err := l.Check(ctx, []string{"-"})
	if err != nil {
		return fmt.Errorf("make the sample: %w", err)
	}
	sent, err := l.Send(ctx, servers.kafka, found)
	if err != nil {
		return fmt.Errorf("load the sample: %w", err)
	}
	if err := l.Wait(ctx, shards, sent, load.DefaultStallTimeout); err != nil {
		return fmt.Errorf("load the sample: %w", err)
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		return fmt.Errorf("note that the sample is loaded: %w", err)
	}
	return nil
}
