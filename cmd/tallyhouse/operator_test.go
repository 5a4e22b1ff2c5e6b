package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// Profiles are served to whoever asked for them, and to nobody else.
func TestProfilesAreServedWhenAskedFor(t *testing.T) {
	for on, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		pages := operatorFlags{pprof: on}.pages(prometheus.NewRegistry())
		for path, status := range map[string]int{"/debug/pprof/": want, "/debug/pprof/heap": want, "/metrics": http.StatusOK} {
			answer := httptest.NewRecorder()
			pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
			if answer.Code != status {
				t.Errorf("pprof %t: %s answers %d, want %d", on, path, answer.Code, status)
			}
		}
	}
}

// Health is told apart from readiness, which says what is missing.
func TestHealthIsServedBesideTheMetrics(t *testing.T) {
	alive, ready := func() error { return nil }, func() error { return errors.New("the database does not answer") }
	pages := operatorFlags{}.pagesWithHealth(prometheus.NewRegistry(), alive, ready)
	for path, want := range map[string]struct {
		status int
		body   string
	}{
		"/healthz": {http.StatusOK, "ok\n"},
		"/readyz":  {http.StatusServiceUnavailable, "the database does not answer\n"},
		"/metrics": {http.StatusOK, ""},
	} {
		answer := httptest.NewRecorder()
		pages.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		if answer.Code != want.status || answer.Body.String() != want.body {
			t.Errorf("%s answers %d %q, want %d %q", path, answer.Code, answer.Body, want.status, want.body)
		}
	}
}

// A probe ends with 0 when the process is well, and otherwise with what it says.
func TestAProbeAsks(t *testing.T) {
	ill := errors.New("a partition is stuck")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /well", health(func() error { return nil }))
	mux.HandleFunc("GET /ill", health(func() error { return ill }))
	server := httptest.NewServer(mux)
	defer server.Close()
	for target, c := range map[string]struct {
		code int
		want string
	}{
		server.URL + "/well":                            {exitDone, ""},
		server.URL + "/ill":                             {exitFailed, "503 Service Unavailable: a partition is stuck"},
		strings.Replace(server.URL, "http:", "tcp:", 1): {exitDone, ""},
		"tcp://" + free(t):                              {exitFailed, "start the server, or check the port in URL"},
		"ftp://127.0.0.1":                               {exitUsage, "URL must be like"},
	} {
		if o := tallyhouse(t, nil, "", "probe", target); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: %+v", target, o)
		}
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	o := tallyhouse(t, nil, "", "version", "--json")
	var b build
	if err := json.Unmarshal([]byte(o.out), &b); err != nil || b.Version == "" || b.Schema == 0 || !strings.HasPrefix(b.Go, "go1.") {
		t.Errorf("%+v, %v", o, err)
	}
	if o := tallyhouse(t, nil, "", "--version"); o.code != exitDone || !strings.Contains(o.out, b.Version) {
		t.Errorf("%+v", o)
	}
}

// Given a variable that no command has, when a command starts, then the log names it with the nearest one, and a check refuses it. What
// another command has, files of secrets and what Kubernetes sets for services are known.
func TestAVariableOfNoCommandIsTold(t *testing.T) {
	env := map[string]string{
		"TALLYHOUSE_KAFKA": free(t), "TALLYHOUSE_KAFKA_PASWORD": "s3cret", "TALLYHOUSE_XYZZY": "1", "PATH": "/bin",
		"TALLYHOUSE_DESK_URL": "https://desk.example.com", "TALLYHOUSE_KEY_FILE": "k",
		"TALLYHOUSE_API_SERVICE_HOST": "10.0.0.1", "TALLYHOUSE_API_SERVICE_PORT_HTTP": "80", "TALLYHOUSE_API_PORT": "tcp://10.0.0.1:80",
		"TALLYHOUSE_API_PORT_80_TCP_ADDR": "10.0.0.1",
	}
	started := tallyhouse(t, env, "", "topics")
	checked := tallyhouse(t, env, "", "topics", "--check-config")
	if started.code != exitFailed || checked.code != exitUsage {
		t.Errorf("exit codes %d and %d", started.code, checked.code)
	}
	for _, want := range []string{`"variable":"TALLYHOUSE_KAFKA_PASWORD","nearest":"TALLYHOUSE_KAFKA_PASSWORD"`,
		`"variable":"TALLYHOUSE_XYZZY","nearest":""`} {
		if !strings.Contains(started.err, want) {
			t.Errorf("the log says\n%swant %s", started.err, want)
		}
	}
	want := "tallyhouse: environment variable TALLYHOUSE_KAFKA_PASWORD is of no command: is TALLYHOUSE_KAFKA_PASSWORD meant?\n" +
		"tallyhouse: environment variable TALLYHOUSE_XYZZY is of no command\n"
	if !strings.HasPrefix(checked.err, want) || strings.Count(started.err, "is of no command") != 2 || strings.Contains(started.err, "s3cret") {
		t.Errorf("standard error says\n%swant\n%sand the log says\n%s", checked.err, want, started.err)
	}
}

// A configuration is checked without asking a server.
func TestAConfigurationIsCheckedAlone(t *testing.T) {
	if o := tallyhouse(t, nil, "", "ingest", "--check-config", "--kafka-addr", free(t)); o.code != exitDone || o.out != "" {
		t.Errorf("a good one: %+v", o)
	}
	if o := tallyhouse(t, nil, "", "api", "--check-config", "--environment", "prod"); o.code != exitUsage || !strings.Contains(o.err, `"prod"`) {
		t.Errorf("a bad one: %+v", o)
	}
	// Of every command that connects, wherever its flags are added, the connection is checked, too.
	for _, command := range []string{"adopt", "deadletters summary", "keys list --tenant t", "load x", "migrate", "topics", "verify", "mail failed"} {
		args := append(strings.Fields(command), "--check-config", "--kafka-addr", "a", "--clickhouse-tls-ca", "x")
		o := tallyhouse(t, nil, "", args...)
		if o.code != exitUsage || !strings.Contains(o.err, `has "a"`) || strings.Count(o.err, "--clickhouse-tls-ca needs") != 1 {
			t.Errorf("%s: %+v", command, o)
		}
	}
}
