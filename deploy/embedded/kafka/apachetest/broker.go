// Package apachetest runs an Apache Kafka broker for tests: one node, KRaft, in a process of its own that ends with the
// test binary. Its jars come from the script fetch beside this file.
package apachetest

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/sethvargo/go-retry"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"tallyhouse/deploy/embedded/supervise"
)

//go:embed server.properties
var settings string

//go:embed guard.sh
var guard string

const (
	serviceName = "apache kafka"
	logFile     = "broker.log"

	// What is told of a broker's log where it fails.
	toldOfLog = 8 << 10
)

// Guarded is a listener that asks for TLS and a login.
type Guarded struct {
	// PEM is the listener's private key (PKCS #8) and its certificate.
	PEM []byte
	// Mechanisms are those of SASL that it takes: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512.
	Mechanisms []string
	// Passwords are those of each user.
	Passwords map[string]string
}

// Options say what runs and where. All but Temporary and Guarded must be given.
type Options struct {
	// Jars is the folder that fetch printed.
	Jars string
	// DataDir holds the log and the broker's own files. One broker at a time uses it.
	DataDir string
	// Addr is the host:port to serve on; port 0 takes a free one.
	Addr string
	// Guarded are listeners beside Addr, on free ports.
	Guarded []Guarded
	// Temporary has DataDir removed when the broker ends, even where the test binary was killed.
	Temporary bool
}

// Broker is a running Apache Kafka.
type Broker struct {
	addr   string
	beside []string // addresses of the guarded listeners
	dir    string
	client *kgo.Client
	orders io.WriteCloser // the guard's standard input
	ended  chan struct{}
}

// Start starts a broker on what DataDir holds, and returns when it answers. The context bounds the start alone.
func Start(ctx context.Context, o Options) (*Broker, error) {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("apache kafka: create the data directory: %w", err)
	}
	return supervise.OnAddr(serviceName, o.Addr, "Options.Addr", func(addr string) (*Broker, error) {
		controller, err := supervise.ListenAddr(serviceName, "127.0.0.1:0", "")
		if err != nil {
			return nil, err
		}
		return start(ctx, o, addr, controller)
	})
}

func start(ctx context.Context, o Options, addr, controller string) (*Broker, error) {
	b := &Broker{addr: addr, dir: o.DataDir, ended: make(chan struct{})}
	place, err := b.place(o, controller)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(o.DataDir, "server.properties")
	if err := os.WriteFile(config, []byte(settings+place), 0o600); err != nil {
		return nil, fmt.Errorf("apache kafka: write the settings: %w", err)
	}
	if err := format(ctx, o, config); err != nil {
		return nil, err
	}
	if err := b.run(o, config); err != nil {
		return nil, err
	}
	if b.client, err = kgo.NewClient(kgo.SeedBrokers(addr)); err != nil {
		return nil, errors.Join(fmt.Errorf("apache kafka: make a client of %s: %w", addr, err), b.Kill())
	}
	if err := b.awaitAnswer(ctx); err != nil {
		told := b.Log()
		err = errors.Join(fmt.Errorf("apache kafka: start on %s: %w; its log ends:\n%s", addr, err, told), b.Kill())
		if strings.Contains(told, "Address already in use") {
			err = errors.Join(err, &supervise.PortTakenError{Service: serviceName, Addr: addr, Flag: "Options.Addr"})
		}
		return nil, err
	}
	return b, nil
}

// place are the settings that differ from broker to broker.
func (b *Broker) place(o Options, controller string) (string, error) {
	listeners, protocols := "", ""
	var more strings.Builder
	for i, g := range o.Guarded {
		at, err := supervise.ListenAddr(serviceName, "127.0.0.1:0", "")
		if err != nil {
			return "", err
		}
		b.beside = append(b.beside, at)
		name := fmt.Sprintf("guarded%d", i)
		store := filepath.Join(o.DataDir, name+".pem")
		if err := os.WriteFile(store, g.PEM, 0o600); err != nil {
			return "", fmt.Errorf("apache kafka: write a certificate: %w", err)
		}
		listeners += "," + name + "://" + at
		protocols += "," + name + ":SASL_SSL"
		fmt.Fprintf(&more, "listener.name.%[1]s.ssl.keystore.type=PEM\nlistener.name.%[1]s.ssl.keystore.location=%[2]s\n"+
			"listener.name.%[1]s.sasl.enabled.mechanisms=%[3]s\n", name, store, strings.Join(g.Mechanisms, ","))
		for _, m := range g.Mechanisms {
			fmt.Fprintf(&more, "listener.name.%s.%s.sasl.jaas.config=%s;\n", name, strings.ToLower(m), g.login(m))
		}
	}
	return fmt.Sprintf(`
listeners=PLAINTEXT://%[1]s,CONTROLLER://%[2]s%[4]s
advertised.listeners=PLAINTEXT://%[1]s%[4]s
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT%[5]s
controller.quorum.voters=1@%[2]s
log.dirs=%[3]s
`, b.addr, controller, logsOf(o.DataDir), listeners, protocols) + more.String(), nil
}

// login is how the broker checks a login by a mechanism. The passwords of SCRAM are in the cluster's metadata.
func (g Guarded) login(mechanism string) string {
	const modules = "org.apache.kafka.common.security."
	if mechanism != "PLAIN" {
		return modules + "scram.ScramLoginModule required"
	}
	config := modules + "plain.PlainLoginModule required"
	for user, password := range g.Passwords {
		config += fmt.Sprintf(" user_%s=%q", user, password)
	}
	return config
}

// users are the arguments of StorageTool that make the users of SCRAM.
func (o Options) users() (args []string) {
	for _, g := range o.Guarded {
		for _, mechanism := range g.Mechanisms {
			for user, password := range g.Passwords {
				if mechanism != "PLAIN" {
					args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", mechanism, user, password))
				}
			}
		}
	}
	return args
}

func logsOf(dir string) string { return filepath.Join(dir, "logs") }

// java is the command line of a class of the broker's. Tests are short: the compiler that starts quickly does.
func java(jars, class string, args ...string) []string {
	return append([]string{"java", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.apache.logging.log4j.level=WARN",
		"-cp", filepath.Join(jars, "*"), class}, args...)
}

// format gives an empty data directory a cluster's identity.
func format(ctx context.Context, o Options, config string) error {
	if _, err := os.Stat(filepath.Join(logsOf(o.DataDir), "meta.properties")); err == nil {
		return nil
	}
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[0] &= 0x7f           // else the text may begin with a dash, which StorageTool takes for a flag
	command := java(o.Jars, "kafka.tools.StorageTool", append([]string{"format",
		"--cluster-id", base64.RawURLEncoding.EncodeToString(id[:]), "--config", config}, o.users()...)...)
	if said, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("apache kafka: format %s with the jars in %s: %w: %s", o.DataDir, o.Jars, err, said)
	}
	return nil
}

func (b *Broker) run(o Options, config string) error {
	log, err := os.OpenFile(filepath.Join(o.DataDir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("apache kafka: open the log: %w", err)
	}
	defer log.Close()
	removed := ""
	if o.Temporary {
		removed = o.DataDir
	}
	cmd := exec.Command("sh", append([]string{"-c", guard, "guard.sh", removed}, java(o.Jars, "kafka.Kafka", config)...)...)
	cmd.Stdout, cmd.Stderr = log, log
	if b.orders, err = cmd.StdinPipe(); err != nil {
		return fmt.Errorf("apache kafka: make the guard's standard input: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("apache kafka: start it: %w", err)
	}
	go func() {
		_ = cmd.Wait() // a broker that was killed doesn't end well
		close(b.ended)
	}()
	return nil
}

// awaitAnswer waits until the broker names itself as one that takes work.
func (b *Broker) awaitAnswer(ctx context.Context) error {
	return retry.Do(ctx, retry.NewConstant(100*time.Millisecond), func(ctx context.Context) error {
		asked, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		r, err := kmsg.NewPtrMetadataRequest().RequestWith(asked, b.client)
		if err == nil && len(r.Brokers) == 1 {
			return nil
		}
		select {
		case <-b.ended:
			return errors.New("it ended")
		default:
			return retry.RetryableError(fmt.Errorf("it doesn't answer: %w", err))
		}
	})
}

// Addr is the host:port that clients connect to.
func (b *Broker) Addr() string { return b.addr }

// Guarded are the addresses of Options.Guarded.
func (b *Broker) Guarded() []string { return b.beside }

// Log is the end of what the broker has to complain about.
func (b *Broker) Log() string {
	file, err := os.Open(filepath.Join(b.dir, logFile))
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if end, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, end-toldOfLog), io.SeekStart)
	}
	told, _ := io.ReadAll(file)
	return string(told)
}

// Stop ends the broker in an orderly way. Its data stay unless they are temporary.
func (b *Broker) Stop(ctx context.Context) error {
	b.client.Close()
	_, _ = io.WriteString(b.orders, "stop\n") // or it has ended already
	select {
	case <-b.ended:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("apache kafka: it doesn't stop: %w", ctx.Err()), b.Kill())
	}
}

// Kill ends the broker at once, as SIGKILL does.
func (b *Broker) Kill() error {
	if b.client != nil {
		b.client.Close()
	}
	if err := b.orders.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("apache kafka: kill it: %w", err)
	}
	<-b.ended
	return nil
}
