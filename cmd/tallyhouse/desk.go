package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"tallyhouse/api/desk"
	"tallyhouse/api/desk/signin"
	"tallyhouse/api/session"
	"tallyhouse/ingest/mail"
	"tallyhouse/ingest/originals"
)

const (
	defaultDeskAddr = "127.0.0.1:8090"
	deskAddrUsage   = "where the desk listens, host:port"
)

// deskFlags are what the desk needs to know beside the API and its servers.
type deskFlags struct {
	addr    string
	url     string
	keyFile string
	client  signin.Client
	mail    mailFlags // where originals are, and the largest amount of an invoice
}

func (f *deskFlags) add(flags *pflag.FlagSet) {
	listenFlag(flags, &f.addr, "desk-addr", defaultDeskAddr, deskAddrUsage)
	flags.StringVar(&f.url, "desk-url", "http://"+defaultDeskAddr,
		"the desk's address in browsers, like https://desk.example.com; http:// only on this machine")
	flags.StringVar(&f.keyFile, "desk-key-file", "", "file with the keys that seal sessions, 32 bytes in hex each, one a line, the first "+
		"seals (default: drawn at the start, so sessions end with the process)")
	f.mail.addOriginals(flags, "")
	f.mail.addMaxAmount(flags)
	flags.StringVar(&f.client.Issuer, "oidc-issuer", "", "OpenID Connect provider that signs people in, as in its tokens' iss")
	flags.StringVar(&f.client.ID, "oidc-client-id", "", "the desk's client id at the provider")
	flags.StringVar(&f.client.Secret, "oidc-client-secret", "", "the desk's secret at the provider (default: a public client)")
}

// options are those of the desk, but for the API.
func (f *deskFlags) options() (o desk.Options, err error) {
	o = desk.Options{URL: f.url, Client: f.client}
	if f.keyFile != "" {
		text, err := os.ReadFile(f.keyFile)
		if err != nil {
			return o, fmt.Errorf("--desk-key-file: %w", err)
		}
		if o.Keys, err = signin.ParseKeys(string(text)); err != nil {
			return o, fmt.Errorf("--desk-key-file: %w", err)
		}
	}
	return o, nil
}

func (f *deskFlags) check() error {
	o, err := f.options()
	return errors.Join(err, f.mail.checkMaxAmount(), f.mail.checkOriginals(), o.Validate())
}

func deskCommand(s *shell) *cobra.Command {
	var f deskFlags
	answering := apiFlags{environment: "test"} // no keys are taken
	cmd := &cobra.Command{
		Use:     "desk",
		GroupID: groupRun,
		Short:   "Run the web application for people who look at figures",
		Long: "Runs the desk: pages in German and English for people who sign in at your OpenID Connect provider. They see there what the\n" +
			"API shows them. It reads ClickHouse and Kafka as the API does, and needs no API beside it.",
		Example: "  tallyhouse desk --desk-url https://desk.example.com --oidc-issuer https://id.example.com/ --oidc-client-id tallyhouse-desk",
		Args:    none,
	}
	f.add(cmd.Flags())
	answering.addAnswering(cmd.Flags())
	from := connectionFlags(cmd.Flags())
	cmd.PreRunE = func(*cobra.Command, []string) error { return errors.Join(answering.check(), f.check()) }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		servers, err := from.open()
		if err != nil {
			return err
		}
		defer servers.kafka.Close()
		s.collectLess(answeringMemory)
		registry := newRegistry()
		return s.runDesk(cmd.Context(), f, answering, servers, registry)
	}
	return cmd
}

// runDesk runs the desk with the API's operations behind it, and serves the registry's metrics, until the context ends.
func (s *shell) runDesk(ctx context.Context, f deskFlags, answering apiFlags, servers servers, registry *prometheus.Registry) error {
	a, err := s.openAPI(answering, servers, registry)
	if err != nil {
		return err
	}
	defer a.close()
	o, err := f.options()
	if err != nil {
		return usageError{err}
	}
	o.API, o.Sources, o.Inbox, o.Log, o.Metrics = a.Server, a.sources, a.inbox, s.log, registry
	o.Publisher, o.MaxAmount = confirmations{servers.kafka}, f.mail.maxAmount*minorUnits
	if o.Originals, err = f.mail.deskOriginals(ctx); err != nil {
		return err
	}
	d, err := desk.New(o)
	if err != nil {
		return usageError{err}
	}
	listener, err := listen("--desk-addr", f.addr)
	if err != nil {
		return err
	}
	metrics, err := listen("--metrics-addr", answering.metricsAddr)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	work, ctx := errgroup.WithContext(ctx)
	work.Go(func() error { a.Follow(ctx); return nil })
	work.Go(func() error { return d.Run(ctx, listener) })
	alive := func() error { return nil }
	work.Go(func() error {
		return serve(ctx, metrics, s.log, registry, answering.operator.pagesWithHealth(registry, alive, a.Ready))
	})
	work.Go(func() error {
		if a.awaitReady(ctx) == nil {
			fmt.Fprintf(s.out, "ready desk=%s\n", f.url)
		}
		return nil
	})
	return work.Wait()
}

// devDesk is the desk of dev, whose admin signs in by codes that work once.
type devDesk struct {
	*desk.Desk
	listener net.Listener
	url      string
	codes    *signin.Codes
}

// openDesk lets the desk listen. Its run closes the listener.
func (d *dev) openDesk(ctx context.Context, servers servers, a *openAPI) (*devDesk, error) {
	kept, err := d.mail.deskOriginals(ctx)
	if err != nil {
		return nil, err
	}
	listener, err := d.listenForDesk()
	if err != nil {
		return nil, err
	}
	opened := &devDesk{listener: listener, url: "http://" + addressHere(listener)}
	opened.codes = signin.NewCodes(session.User{Tenant: devTenant, ID: devUser}, func(code string) {
		if isTerminal(d.out) {
			fmt.Fprintln(d.err, "The desk's link has been used. For another browser: "+opened.linkOf(code))
			return
		}
		d.log.Info("the desk's link has been used; this is the next one", "link", opened.linkOf(code))
	})
	opened.Desk, err = desk.New(desk.Options{API: a.Server, Sources: a.sources, Inbox: a.inbox,
		Originals: kept, URL: opened.url, Codes: opened.codes,
		Publisher: confirmations{servers.kafka}, MaxAmount: d.mail.maxAmount * minorUnits, Log: d.log, Metrics: a.registry})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return opened, nil
}

// deskOriginals are the originals as the desk asks for them, nil where they are not kept.
func (f *mailFlags) deskOriginals(ctx context.Context) (desk.Originals, error) {
	store, err := f.openOriginals(ctx)
	if err != nil || store == nil {
		return nil, err
	}
	return keptOriginals{store}, nil
}

// keptOriginals gives originals to the desk.
type keptOriginals struct{ store mail.Originals }

// Original implements desk.Originals.
func (k keptOriginals) Original(ctx context.Context, tenant, sha256 string) ([]byte, error) {
	h, err := originals.ParseHash(sha256)
	if err != nil {
		return nil, err
	}
	content, err := k.store.Get(ctx, tenant, h)
	if errors.Is(err, originals.ErrNotFound) {
		return nil, fmt.Errorf("%w: %w", desk.ErrNotKept, err)
	}
	return content, err
}

// listenForDesk takes the address that was asked for. Where none was, another dev on this machine may have the usual one.
func (d *dev) listenForDesk() (net.Listener, error) {
	if d.deskAddr != "" {
		return listen("--desk-addr", d.deskAddr)
	}
	if listener, err := net.Listen("tcp", defaultDeskAddr); err == nil {
		return listener, nil
	}
	return listen("--desk-addr", "127.0.0.1:0")
}

func (d *devDesk) run(ctx context.Context) error { return d.Run(ctx, d.listener) }

// link signs a browser in, once.
func (d *devDesk) link() string { return d.linkOf(d.codes.Code()) }

func (d *devDesk) linkOf(code string) string { return d.url + desk.CodePath + code }

// addressHere is where a browser on this machine finds a listener.
func addressHere(listener net.Listener) string {
	at, ok := listener.Addr().(*net.TCPAddr)
	if !ok || at.IP.IsLoopback() {
		return listener.Addr().String()
	}
	return fmt.Sprintf("localhost:%d", at.Port)
}
