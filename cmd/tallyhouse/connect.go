package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/spf13/pflag"

	"tallyhouse/ingest/admin/migrate"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
)

// connection is where a command finds Kafka and ClickHouse. Passwords stay in it: it is never printed.
type connection struct {
	kafka      kafkaFlags
	clickhouse clickhouseFlags
}

type kafkaFlags struct {
	addr, user, password, sasl, ca string
	tls                            bool
}

type clickhouseFlags struct {
	addr, database, user, password, ca string
	tls                                bool
}

const defaultClickHouse = "127.0.0.1:9000"

// connectionFlags adds the flags that say what to connect to, the same for every command.
func connectionFlags(flags *pflag.FlagSet) *connection {
	c := &connection{}
	addressFlag(flags, &c.kafka.addr, "kafka-addr", "127.0.0.1:9092", variablePrefix+"KAFKA", "Kafka brokers, host:port,...")
	addressFlag(flags, &c.clickhouse.addr, "clickhouse-addr", defaultClickHouse, variablePrefix+"CLICKHOUSE",
		"ClickHouse servers, native protocol, host:port,...: one of each shard")
	c.credentialFlags(flags)
	return c
}

// credentialFlags adds the flags beside the addresses.
func (c *connection) credentialFlags(flags *pflag.FlagSet) {
	k, h := &c.kafka, &c.clickhouse
	flags.BoolVar(&k.tls, "kafka-tls", false, "connect to Kafka by TLS")
	flags.StringVar(&k.ca, "kafka-tls-ca", "", "PEM file with the authorities of Kafka's certificate instead of the system's")
	flags.StringVar(&k.user, "kafka-user", "", "user at Kafka, for SASL")
	flags.StringVar(&k.password, "kafka-password", "", "password at Kafka; better given as the variable")
	flags.StringVar(&k.sasl, "kafka-sasl", "", "SASL mechanism: "+strings.Join(kafka.Mechanisms(), ", ")+" (with a user: PLAIN)")
	flags.BoolVar(&h.tls, "clickhouse-tls", false, "connect to ClickHouse by TLS")
	flags.StringVar(&h.ca, "clickhouse-tls-ca", "", "PEM file with the authorities of ClickHouse's certificate instead of the system's")
	flags.StringVar(&h.user, "clickhouse-user", "default", "user at ClickHouse")
	flags.StringVar(&h.password, "clickhouse-password", "", "password at ClickHouse; better given as the variable")
	flags.StringVar(&h.database, "clickhouse-database", "tallyhouse", "name of the database")
}

func addressFlag(flags *pflag.FlagSet, value *string, name, def, short, usage string) {
	flags.StringVar(value, name, def, usage)
	flags.Lookup(name).Annotations = map[string][]string{shortVariable: {short}}
}

// connectionFaults reports all that is wrong with what a command was given by connectionFlags.
func connectionFaults(flags *pflag.FlagSet) error {
	if at := flags.Lookup("kafka-addr"); at == nil || at.Annotations[shortVariable] == nil {
		return nil // it connects to nothing, or, as dev, to what it is to start
	}
	text := func(name string) string { return flags.Lookup(name).Value.String() }
	on := func(name string) bool { return text(name) == "true" }
	given := connection{
		kafkaFlags{
			addr: text("kafka-addr"), user: text("kafka-user"), password: text("kafka-password"), sasl: text("kafka-sasl"),
			tls: on("kafka-tls"), ca: text("kafka-tls-ca"),
		},
		clickhouseFlags{
			addr: text("clickhouse-addr"), database: text("clickhouse-database"), user: text("clickhouse-user"),
			password: text("clickhouse-password"), tls: on("clickhouse-tls"), ca: text("clickhouse-tls-ca"),
		},
	}
	return given.check()
}

// listens annotates the flags that say where the program listens.
const listens = "tallyhouse_listens"

// listenFlag adds a flag that says where the program listens.
func listenFlag(flags *pflag.FlagSet, addr *string, name, def, usage string) {
	flags.StringVar(addr, name, def, usage)
	flags.Lookup(name).Annotations = map[string][]string{listens: nil}
}

// listenFaults reports all flags that name no address at which one can listen.
func listenFaults(flags *pflag.FlagSet) error {
	var wrong []error
	flags.VisitAll(func(f *pflag.Flag) {
		addr := f.Value.String()
		if _, is := f.Annotations[listens]; !is || addr == f.DefValue {
			return
		}
		_, port, err := net.SplitHostPort(addr)
		if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
			wrong = append(wrong, usageError{fmt.Errorf("--%s must be host:port, not %q", f.Name, addr)})
		}
	})
	return errors.Join(wrong...)
}

// servers are the two systems, found and checked.
type servers struct {
	kafka  kafka.Cluster
	shards []database.Options // one ClickHouse server of each shard
}

// check reports all that is wrong with what was given.
func (c *connection) check() error {
	servers, err := c.open()
	if err == nil {
		servers.kafka.Close()
	}
	return err
}

// open checks everything that was given, and reports all that is wrong at once. It doesn't dial.
func (c *connection) open() (servers, error) {
	kafka, err := c.kafka.open()
	shards, err2 := c.clickhouse.open()
	if err := errors.Join(err, err2); err != nil {
		return servers{}, usageError{err}
	}
	return servers{kafka: kafka, shards: shards}, nil
}

func (f *kafkaFlags) open() (kafka.Cluster, error) {
	addrs, err := addresses("--kafka-addr", f.addr)
	wrong := []error{err}
	config, err := tlsConfig("kafka", f.tls, f.ca)
	wrong = append(wrong, err)
	sasl := f.sasl
	if sasl == "" && f.user != "" {
		sasl = "PLAIN"
	}
	switch {
	case sasl != "" && !slices.Contains(kafka.Mechanisms(), sasl):
		wrong = append(wrong, fmt.Errorf("--kafka-sasl must be one of %s, not %q", strings.Join(kafka.Mechanisms(), ", "), sasl))
	case sasl != "" && f.user == "":
		wrong = append(wrong, errors.New("--kafka-sasl needs --kafka-user"))
	case f.user == "" && f.password != "":
		wrong = append(wrong, errors.New("--kafka-password needs --kafka-user"))
	case f.user != "" && f.password == "":
		wrong = append(wrong, errors.New("--kafka-user needs --kafka-password (or the variable TALLYHOUSE_KAFKA_PASSWORD)"))
	}
	if err := errors.Join(wrong...); err != nil {
		return kafka.Cluster{}, err
	}
	return kafka.Connect(kafka.Access{Addrs: addrs, TLS: config, SASL: sasl, User: f.user, Password: f.password})
}

func (f *clickhouseFlags) open() ([]database.Options, error) {
	addrs, err := addresses("--clickhouse-addr", f.addr)
	wrong := []error{err}
	config, err := tlsConfig("clickhouse", f.tls, f.ca)
	wrong = append(wrong, err)
	for _, given := range []struct{ flag, value string }{{"--clickhouse-database", f.database}, {"--clickhouse-user", f.user}} {
		if given.value == "" {
			wrong = append(wrong, fmt.Errorf("%s must not be empty", given.flag))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return nil, err
	}
	var shards []database.Options
	for _, addr := range addrs {
		shards = append(shards, database.Options{Addr: addr, Database: f.database, User: f.user, Password: f.password, TLS: config})
	}
	return shards, nil
}

// reading are the options of clickhouse-go for whoever only reads, through any of the servers: of several shards each
// shows the rows of all.
func (s servers) reading() *clickhouse.Options {
	first := s.shards[0]
	name := first.Database
	if len(s.shards) > 1 {
		name = migrate.AllShards(name)
	}
	o := &clickhouse.Options{
		Auth:        clickhouse.Auth{Database: name, Username: first.User, Password: first.Password},
		TLS:         first.TLS,
		DialTimeout: 5 * time.Second,
	}
	for _, shard := range s.shards {
		o.Addr = append(o.Addr, shard.Addr)
	}
	return o
}

// databases opens a connection pool to each shard.
func (s servers) databases() ([]*database.Server, error) {
	const writers = 1 // these commands write nothing in bulk
	var all []*database.Server
	for _, o := range s.shards {
		server, err := database.Open(o, writers)
		if err != nil {
			closeAll(all)
			return nil, err
		}
		all = append(all, server)
	}
	return all, nil
}

func closeAll(servers []*database.Server) {
	for _, s := range servers {
		_ = s.Close() // nothing is under way any more
	}
}

// addresses splits host:port,... and checks each.
func addresses(flag, list string) ([]string, error) {
	var all []string
	var wrong []error
	for addr := range strings.SplitSeq(list, ",") {
		addr = strings.TrimSpace(addr)
		host, port, err := net.SplitHostPort(addr)
		number, portErr := strconv.ParseUint(port, 10, 16)
		if err != nil || host == "" || portErr != nil || number == 0 {
			wrong = append(wrong, fmt.Errorf("%s must be host:port,..., but has %q", flag, addr))
		}
		all = append(all, addr)
	}
	return all, errors.Join(wrong...)
}

// tlsConfig is nil for plain connections.
func tlsConfig(system string, on bool, ca string) (*tls.Config, error) {
	switch {
	case !on && ca != "":
		return nil, fmt.Errorf("--%s-tls-ca needs --%[1]s-tls", system)
	case !on:
		return nil, nil
	case ca == "":
		return &tls.Config{MinVersion: tls.VersionTLS12}, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("--%s-tls-ca: %w", system, err)
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--%s-tls-ca: %s holds no PEM certificate", system, ca)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: authorities}, nil
}
