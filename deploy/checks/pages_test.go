package checks

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/strvals"
	"sigs.k8s.io/yaml"
)

// shown are the command lines of docs/operations.md that contain a text.
func shown(t *testing.T, text string) (lines []string) {
	t.Helper()
	page, err := os.ReadFile(operationsPage)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		for line := range strings.Lines(block[1]) {
			if strings.Contains(line, text) {
				lines = append(lines, strings.TrimSpace(line))
			}
		}
	}
	if len(lines) == 0 {
		t.Fatalf("the page has no %s", text)
	}
	return lines
}

// The page's commands for Compose name services and profiles that the file has.
func TestThePagesComposeCommandsNameWhatThereIs(t *testing.T) {
	project := composed(t)
	profiles := []string{}
	for _, s := range project.Services {
		profiles = append(profiles, s.Profiles...)
	}
	for _, line := range shown(t, "docker compose") {
		for _, run := range regexp.MustCompile(`docker compose run((?: -\S+)*) (\S+)`).FindAllStringSubmatch(line, -1) {
			if _, there := project.Services[run[2]]; !there {
				t.Errorf("%s: there is no service %s", line, run[2])
			}
		}
		for _, named := range regexp.MustCompile(`--profile (\S+)`).FindAllStringSubmatch(line, -1) {
			if !slices.Contains(profiles, named[1]) {
				t.Errorf("%s: there is no profile %s", line, named[1])
			}
		}
	}
}

// The page's installation by Helm renders with the values that it sets, all of which the chart knows.
func TestThePagesHelmCommandRenders(t *testing.T) {
	known := loaded(t).Values
	for _, line := range shown(t, "helm upgrade") {
		if chart := filepath.Join("..", "..", strings.Fields(line)[4]); chart != filepath.Clean("../../deploy/helm/tallyhouse") {
			t.Errorf("%s: the chart is not in %s", line, chart)
		}
		given := map[string]any{}
		for _, set := range regexp.MustCompile(`--set (\S+)`).FindAllStringSubmatch(line, -1) {
			if err := strvals.ParseInto(set[1], given); err != nil {
				t.Fatal(err)
			}
			var at any = known
			path, _, _ := strings.Cut(set[1], "=")
			for name := range strings.SplitSeq(path, ".") {
				members, _ := at.(map[string]any)
				var there bool
				if at, there = members[name]; !there {
					t.Errorf("the chart has no value %s", path)
				}
			}
		}
		text, err := yaml.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		if len(typed(t, rendered(t, string(text)))) == 0 {
			t.Errorf("%s renders nothing", line)
		}
	}
}
