package checks

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The units run what the program accepts, and systemd finds nothing wrong with them, where it is installed.
func TestUnitsRunWhatTheProgramAccepts(t *testing.T) {
	files, _ := filepath.Glob("../systemd/*.service")
	if len(files) != 4 {
		t.Fatal(files)
	}
	metrics := map[string]bool{} // they run on one machine
	systemd, err := exec.LookPath("systemd-analyze")
	for _, file := range files {
		text, readErr := os.ReadFile(file)
		if readErr != nil {
			t.Fatal(readErr)
		}
		env := map[string]string{}
		if strings.HasSuffix(file, "-desk.service") { // what /etc/tallyhouse/desk.env has to say
			env = deskExample(t)
		}
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			switch key {
			case "ExecStart":
				accepts(t, file, strings.Fields(value)[1:], env)
			case "Environment":
				name, of, _ := strings.Cut(value, "=")
				env[name] = of
			}
		}
		if at := env["TALLYHOUSE_METRICS_ADDR"]; at == "" || metrics[at] {
			t.Errorf("%s listens for operators at %q, as another one does or by default", file, at)
		} else {
			metrics[at] = true
		}
		for _, hardening := range []string{"DynamicUser=yes", "ProtectSystem=strict", "CapabilityBoundingSet=\n", "RestartPreventExitStatus=2"} {
			if !strings.Contains(string(text), hardening) {
				t.Errorf("%s lacks %s", file, hardening)
			}
		}
		if strings.HasSuffix(file, "-ingest.service") && !strings.Contains(string(text), "\nTasksMax=") {
			t.Errorf("%s reads files of strangers, and has no limit of processes", file)
		}
		if err != nil {
			continue // what follows takes systemd
		}
		copied := filepath.Join(t.TempDir(), filepath.Base(file))
		runnable := strings.Replace(string(text), "/usr/bin/tallyhouse", "/bin/true", 1)
		if err := os.WriteFile(copied, []byte(runnable), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := run(t, systemd, "verify", copied); out != "" {
			t.Errorf("%s: %s", file, out)
		}
	}
}
