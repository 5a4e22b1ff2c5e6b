package checks

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// flag is one of the configuration's reference.
type flag struct{ name, variable, meaning string }

// inFile reports whether the flag names a file, or has a value that belongs into one.
func (f flag) inFile() bool {
	return regexp.MustCompile(`file with|PEM file|\bpassword\b|\bsecret\b`).MatchString(f.meaning)
}

// reference are the flags of docs/configuration.md, by section.
func reference(t *testing.T) map[string][]flag {
	t.Helper()
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]flag{}
	section := ""
	row := regexp.MustCompile("^\\| `--([^`]+)` \\| `([^`]+)`.*? \\| (?:`[^`]*`)? ?\\| (.*) \\|$")
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = heading
		} else if cells := row.FindStringSubmatch(line); cells != nil {
			all[section] = append(all[section], flag{cells[1], cells[2], cells[3]})
		} else if strings.HasPrefix(line, "| `") {
			t.Errorf("a row that isn't understood: %s", line)
		}
	}
	return all
}

// containers are those of the chart's pods, by name.
func containers(t *testing.T, given string) map[string]core.Container {
	t.Helper()
	all := map[string]core.Container{}
	for _, object := range typed(t, rendered(t, given)) {
		var pod core.PodSpec
		switch o := object.(type) {
		case *apps.Deployment:
			pod = o.Spec.Template.Spec
		case *batch.Job:
			pod = o.Spec.Template.Spec
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			all[c.Name] = c
		}
	}
	return all
}

// says reports whether a container is given a flag, by its name or its variable, and whether by a file.
func says(c core.Container, f flag) (said, byFile bool) {
	for _, e := range c.Env {
		if e.Name == f.variable || e.Name == f.variable+"_FILE" {
			return true, strings.HasPrefix(e.Value, "/secrets/")
		}
	}
	return slices.ContainsFunc(c.Args, func(arg string) bool { return arg == "--"+f.name || strings.HasPrefix(arg, "--"+f.name+"=") }), false
}

// Whatever the reference of the configuration has for a process can be said to the chart: what is a secret or a file by a secret, all
// else by a value of its own or among the process's variables.
func TestEveryFlagCanBeSaidToTheChart(t *testing.T) {
	known := reference(t)
	given := []map[string]core.Container{containers(t, all), containers(t, onDisk)}
	for command, process := range map[string]string{
		"ingest": "ingest", "api": "api", "desk": "desk", "verify": "verify", "topics": "prepare", "migrate": "prepare",
	} {
		flags := slices.Concat(known["tallyhouse "+command], known["Connections"], known["All commands"])
		if len(known["tallyhouse "+command]) == 0 || len(known["Connections"]) == 0 {
			t.Fatalf("the reference has no flags of %s", command)
		}
		var plain, settings []string
		for _, f := range flags {
			said, byFile := says(given[0][command], f)
			if !said {
				said, byFile = says(given[1][command], f)
			}
			switch {
			case f.inFile() && !byFile:
				t.Errorf("%s: --%s can't be given by a secret", command, f.name)
			case !said:
				plain, settings = append(plain, f.variable), append(settings, f.variable+": x")
			}
		}
		needed := ""
		if process == "desk" {
			needed = `, enabled: true, url: "https://desk.example.com", keySecret: {name: desk},` +
				` oidc: {issuer: "https://id.example.com/", clientId: desk}`
		}
		c := containers(t, fmt.Sprintf("%s%s: {config: {%s}%s}\n", minimal, process, strings.Join(settings, ", "), needed))[command]
		for _, variable := range plain {
			if !slices.Contains(c.Env, core.EnvVar{Name: variable, Value: "x"}) {
				t.Errorf("%s: %s can't be said", command, variable)
			}
		}
	}
}
