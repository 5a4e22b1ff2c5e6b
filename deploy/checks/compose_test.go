package checks

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

func composed(t *testing.T) *types.Project {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "docker-compose.yml")
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	project, err := loader.LoadWithContext(context.Background(), types.ConfigDetails{
		WorkingDir: dir, ConfigFiles: []types.ConfigFile{{Filename: file, Content: content}},
	}, func(o *loader.Options) { o.SetProjectName("tallyhouse", true); o.Profiles = []string{"*"} })
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// The file for Docker Compose is one by Compose's own rules; each service is restricted and watched, and runs what the
// program accepts.
func TestComposeRunsWhatTheProgramAccepts(t *testing.T) {
	project := composed(t)
	ours := 0
	for name, s := range project.Services {
		if !regexp.MustCompile(`^\S+:(v?\d+\.\d+\S*|latest|ocr)$`).MatchString(s.Image) {
			t.Errorf("%s: the image %s has no version", name, s.Image)
		}
		if !s.ReadOnly || s.User == "" || strings.HasPrefix(s.User, "0") || !slices.Contains(s.CapDrop, "ALL") {
			t.Errorf("%s is not restricted: read-only %t, user %q, dropped %v", name, s.ReadOnly, s.User, s.CapDrop)
		}
		if s.Deploy == nil || s.Deploy.Resources.Limits == nil || s.Deploy.Resources.Limits.MemoryBytes == 0 {
			t.Errorf("%s has no limit of memory", name)
		}
		if reads := slices.Contains(s.Command, "ingest"); reads && (s.Deploy == nil || s.Deploy.Resources.Limits.Pids == 0) {
			t.Errorf("%s reads files of strangers, and has no limit of processes", name)
		}
		once := slices.Contains([]string{"migrate", "topics", "tools"}, name)
		if (s.HealthCheck == nil) != once {
			t.Errorf("%s: health check %v", name, s.HealthCheck)
		}
		for _, p := range s.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s publishes %s to the network", name, p.Published)
			}
		}
		env := map[string]string{}
		for variable, value := range s.Environment {
			if value == nil {
				t.Errorf("%s takes %s from the shell", name, variable)
				continue
			}
			env[variable] = *value
			if strings.HasSuffix(variable, "PASSWORD") {
				t.Errorf("%s has a secret in %s", name, variable)
			}
			if strings.HasSuffix(variable, "_FILE") && strings.HasPrefix(*value, "/run/secrets/") {
				secret := strings.TrimPrefix(*value, "/run/secrets/")
				if !slices.ContainsFunc(s.Secrets, func(of types.ServiceSecretConfig) bool { return of.Source == secret }) {
					t.Errorf("%s has no secret %s", name, secret)
				}
			}
		}
		if !strings.HasPrefix(s.Image, "tallyhouse:") {
			continue
		}
		ours++
		if s.Build == nil || !stages(t)[s.Build.Target] {
			t.Errorf("%s is built from no stage of the Containerfile", name)
		}
		if name == "desk" {
			maps.Copy(env, deskExample(t))
		}
		if name != "tools" {
			accepts(t, name, s.Command, env)
		}
		if s.HealthCheck != nil {
			accepts(t, name+"'s health check", s.HealthCheck.Test[2:], nil)
		}
	}
	if ours < 8 {
		t.Errorf("only %d services are Tallyhouse's", ours)
	}
	for name, file := range project.Configs {
		if _, err := os.Stat(file.File); err != nil {
			t.Errorf("configuration %s: %v", name, err)
		}
	}
	script, err := os.ReadFile("../compose/secrets.sh")
	if err != nil {
		t.Fatal(err)
	}
	for name := range project.Secrets {
		if !strings.Contains(string(script), "\nsecret "+name+" ") {
			t.Errorf("secrets.sh doesn't make %s", name)
		}
	}
}

// deskExample are the variables of the file that people copy to say where the desk's people sign in, with the one that is commented out.
func deskExample(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../compose/desk.env.example")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "#"), "=")
		if ok && strings.HasPrefix(name, "TALLYHOUSE_") {
			env[name] = value
		}
	}
	return env
}

// stages are the targets of the Containerfile.
func stages(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, from := range regexp.MustCompile(`(?m)^FROM (?:--platform=\S+ )?(\S+) AS (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		if from[1] != "scratch" && !regexp.MustCompile(`:\d+\.\d+`).MatchString(from[1]) {
			t.Errorf("the image %s has no version", from[1])
		}
		all[from[2]] = true
	}
	return all
}

// The secrets are made once, and stay.
func TestSecretsAreMadeOnce(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("../compose/secrets.sh")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "secrets.sh")
	if err := os.WriteFile(path, script, 0o700); err != nil {
		t.Fatal(err)
	}
	var before string
	for range 2 {
		run(t, path)
		made, err := os.ReadFile(filepath.Join(dir, "secrets", "clickhouse_password"))
		if err != nil || len(made) != 49 || before != "" && string(made) != before {
			t.Errorf("%q, %v; before %q", made, err, before)
		}
		before = string(made)
	}
}
