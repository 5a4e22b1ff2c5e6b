package checks

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// program is the binary, built once, as the images have it.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tallyhouse")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "tallyhouse")
	build := exec.Command("go", "build", "-tags", "static", "-trimpath", "-o", path, "./cmd/tallyhouse")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return string(out), err
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := program(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// secrets stand for the content of the files that variables name.
func secretOf(variable string) string {
	switch variable {
	case "TALLYHOUSE_IMAP_FILE":
		return "imaps://invoices:secret@imap.example.com/INBOX?tenant=demo\n"
	case "TALLYHOUSE_MAIL_ANSWERS":
		return `{"smtp": "smtps://smtp.example.com", "from": "invoices@example.com", "projects": [{"tenant": "demo", "project": "P1",
			"responsible": "US1", "language": "de", "failure": true}]}`
	case "TALLYHOUSE_ORIGINALS_S3_FILE":
		return "https://KEY:secret@s3.example.com/bucket/prefix?region=eu-central-1\n"
	case "TALLYHOUSE_REDIS_URL_FILE":
		return "rediss://user:secret@redis.example.com:6379/0\n"
	case "TALLYHOUSE_KAFKA_TLS_CA", "TALLYHOUSE_CLICKHOUSE_TLS_CA":
		server := httptest.NewTLSServer(nil)
		defer server.Close()
		return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	case "TALLYHOUSE_CURSOR_KEY_FILE", "TALLYHOUSE_DESK_KEY_FILE":
		return strings.Repeat("0123456789abcdef", 4) + "\n"
	}
	return "secret\n"
}

// accepts has the program check a command line and the variables beside it, as a deployment gives them.
func accepts(t *testing.T, what string, args []string, env map[string]string) {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("build: %v\n%s", err, path)
	}
	check := exec.Command(path, append(args, "--check-config")...)
	check.Env = []string{}
	for name, value := range env {
		secret := strings.HasSuffix(name, "_FILE") || strings.HasPrefix(value, "/secrets/") || strings.HasPrefix(value, "/run/secrets/")
		if strings.HasPrefix(name, "TALLYHOUSE_") && secret {
			file := filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(file, []byte(secretOf(name)), 0o600); err != nil {
				t.Fatal(err)
			}
			value = file
		}
		check.Env = append(check.Env, name+"="+value)
	}
	out, err := check.CombinedOutput()
	if err != nil {
		t.Errorf("%s: tallyhouse %s: %v\n%s", what, strings.Join(args, " "), err, out)
	}
	help, err := exec.Command(path, args[0], "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for name := range env {
		if strings.HasPrefix(name, "TALLYHOUSE_") && !strings.Contains(string(help), strings.TrimSuffix(name, "_FILE")) {
			t.Errorf("%s: tallyhouse %s knows no variable %s", what, args[0], name)
		}
	}
}
