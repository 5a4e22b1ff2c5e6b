package serving_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"tallyhouse/api/serving"
)

// Given a server whose handler panics, before it has answered anything and in the middle of an answer, then what wasn't answered is, what
// was begun is broken off, both are logged with their ids and counted, and the server goes on.
func TestAPanicEndsOneRequestAlone(t *testing.T) {
	var log lockedLog
	metrics := prometheus.NewRegistry()
	guard, err := serving.NewGuard("test", slog.New(slog.NewTextHandler(&log, nil)), metrics, nil)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/before":
			w.Header().Set("Content-Length", "3")
			panic("pk_live_secret was nil")
		case "/within":
			_, _ = w.Write([]byte("a first part"))
			_ = http.NewResponseController(w).Flush()
			panic(errors.New("nil"))
		case "/aborted":
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte("well"))
	})))
	defer server.Close()
	get := func(path string) (status int, body string, id string, err error) {
		answer, err := http.Get(server.URL + path)
		if err != nil {
			return 0, "", "", err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(text), answer.Header.Get(serving.RequestID), err
	}

	status, body, before, err := get("/before")
	if err != nil || status != http.StatusInternalServerError || body != "something went wrong here\n" {
		t.Errorf("a panic before the answer is answered by %d %q: %v", status, body, err)
	}
	_, _, within, err := get("/within")
	if err == nil {
		t.Error("an answer that a panic ended looks whole")
	}
	if _, _, _, err := get("/aborted"); err == nil {
		t.Error("an answer that the handler broke off looks whole")
	}
	for _, id := range []string{before, within} {
		if len(id) != 32 || !strings.Contains(log.String(), `msg="panic while answering" server=test request=`+id) {
			t.Errorf("the log tells nothing of the panic in request %q: %s", id, &log)
		}
	}
	if strings.Contains(log.String(), "pk_live_secret") {
		t.Error("the log has a key")
	}
	if got := counted(t, metrics); len(got) != 1 || got["test"] != 2 {
		t.Errorf("panics are counted as %v", got)
	}
	if status, body, _, err := get("/"); err != nil || status != http.StatusOK || body != "well" {
		t.Errorf("the next request is answered by %d %q: %v", status, body, err)
	}
}

// Given a handler that panics, then it is answered for as long as nothing has been sent that can't be taken back, and nothing that the
// handler said of its answer is said of that one.
func TestAPanicIsAnsweredUnlessAnAnswerHasBegun(t *testing.T) {
	const answer = "that broke"
	guard, err := serving.NewGuard("test", slog.New(slog.DiscardHandler), prometheus.NewRegistry(), func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, answer)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		begin func(w http.ResponseWriter)
		told  bool
	}{
		"nothing":     {func(http.ResponseWriter) {}, true},
		"its headers": {func(w http.ResponseWriter) { w.Header().Set("ETag", `"a"`); w.Header().Set("Content-Length", "3") }, true},
		"a hint":      {func(w http.ResponseWriter) { w.WriteHeader(http.StatusEarlyHints) }, true},
		"a status":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK) }, false},
		"a part":      {func(w http.ResponseWriter) { _, _ = io.WriteString(w, "a part") }, false},
		"a flush":     {func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, false},
	} {
		server := httptest.NewServer(guard.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c.begin(w)
			panic("broken")
		})))
		got, err := http.Get(server.URL)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(got.Body)
			_ = got.Body.Close()
		}
		server.Close()
		switch {
		case c.told && (err != nil || got.StatusCode != http.StatusInternalServerError || string(body) != answer || got.Header.Get("ETag") != ""):
			t.Errorf("a panic behind %s is answered by %v %q, %v", name, got, body, err)
		case !c.told && err == nil:
			t.Errorf("a panic behind %s leaves an answer that looks whole: %q", name, body)
		}
	}
}

// lockedLog is written by a server and read by a test.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// Two servers of one process have the metric together.
func TestGuardsShareTheirMetric(t *testing.T) {
	metrics := prometheus.NewRegistry()
	for _, server := range []string{"api", "desk", "desk"} {
		if _, err := serving.NewGuard(server, slog.New(slog.DiscardHandler), metrics, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := counted(t, metrics); len(got) != 2 {
		t.Errorf("the servers are counted as %v", got)
	}
}

// counted are the panics by server.
func counted(t *testing.T, metrics prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := metrics.Gather()
	if err != nil || len(families) != 1 || families[0].GetName() != "tallyhouse_http_panics_total" {
		t.Fatalf("%v: %v", families, err)
	}
	by := map[string]float64{}
	for _, m := range families[0].GetMetric() {
		by[m.GetLabel()[0].GetValue()] = m.GetCounter().GetValue()
	}
	return by
}

// Every HTTP server of the program bounds the size of headers and every wait for its clients, logs by the program's log, and has a guard
// around its handler.
func TestEveryServerIsBounded(t *testing.T) {
	bounds := []string{"Handler", "MaxHeaderBytes", "ReadHeaderTimeout", "ReadTimeout", "WriteTimeout", "IdleTimeout", "ErrorLog"}
	const root = "../.."
	servers := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		isTest := strings.HasSuffix(path, "_test.go") || strings.HasSuffix(filepath.Dir(path), "test")
		if err != nil || filepath.Ext(path) != ".go" || isTest {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		guarded := false
		var found []*ast.CompositeLit
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if isOf(n.Type, "http", "Server") {
					found = append(found, n)
				}
			case *ast.CallExpr:
				guarded = guarded || isOf(n.Fun, "serving", "NewGuard")
				if isOf(n.Fun, "http", "ListenAndServe") || isOf(n.Fun, "http", "Serve") {
					t.Errorf("%s serves without bounds", path)
				}
			}
			return true
		})
		for _, server := range found {
			servers++
			var given []string
			for _, e := range server.Elts {
				if pair, ok := e.(*ast.KeyValueExpr); ok {
					given = append(given, pair.Key.(*ast.Ident).Name)
				}
			}
			for _, bound := range bounds {
				if !slices.Contains(given, bound) {
					t.Errorf("a server in %s has no %s", path, bound)
				}
			}
			if !guarded {
				t.Errorf("a server in %s has no guard", path)
			}
		}
		return nil
	})
	if err != nil || servers < 3 {
		t.Errorf("%d servers were found: %v", servers, err)
	}
}

// isOf reports whether an expression is a name of a package.
func isOf(e ast.Expr, of, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == of && s.Sel.Name == name
}
