package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"tallyhouse/api/pages"
)

// bill is a software bill of materials, as CycloneDX 1.6 has it.
type bill struct {
	Format       string      `json:"bomFormat"`
	Spec         string      `json:"specVersion"`
	SerialNumber string      `json:"serialNumber"`
	Version      int         `json:"version"`
	Metadata     metadata    `json:"metadata"`
	Components   []component `json:"components"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	URL        string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// billOf lists what a program is made of: as its own build information says, every module with its version and checksum, and Go; and
// other people's scripts, which lie in it as files.
func billOf(program, version string, date time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", program, err)
	}
	list, err := os.ReadFile("api/desk/vendored/packages")
	if err != nil {
		return nil, fmt.Errorf("read whose scripts the program has: %w", err)
	}
	return billFrom(info, scripts(string(list)), version, date)
}

// scripts are the packages of npm that files of the program are from: the API reference's, and those that the lines of
// api/desk/vendored/packages name.
func scripts(list string) []component {
	all := []component{scriptOf("@scalar/api-reference", pages.ScalarVersion)}
	for line := range strings.Lines(list) {
		cells := strings.Fields(line)
		if len(cells) != 5 || !strings.HasPrefix(cells[3], "vendored/") {
			continue // the others are the tests'
		}
		one := scriptOf(cells[0], cells[1])
		one.Properties = []property{{"npm:integrity", cells[4]}}
		if !slices.ContainsFunc(all, func(c component) bool { return c.Ref == one.Ref }) {
			all = append(all, one)
		}
	}
	return all
}

func scriptOf(name, version string) component {
	url := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + version
	return component{Type: "library", Ref: url, Name: name, Version: version, URL: url}
}

func billFrom(info *debug.BuildInfo, scripts []component, version string, date time.Time) ([]byte, error) {
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{
			Timestamp: date.Format(time.RFC3339),
			Component: component{Type: "application", Ref: "tallyhouse", Name: "tallyhouse", Version: version},
		},
		Components: []component{{
			Type: "library", Ref: "go-standard-library", Name: "std", Version: info.GoVersion,
			URL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
		}},
	}
	for _, s := range info.Settings {
		if s.Key == "GOOS" || s.Key == "GOARCH" || s.Key == "CGO_ENABLED" {
			of := &b.Metadata.Component
			of.Properties = append(of.Properties, property{"go:" + s.Key, s.Value})
		}
	}
	for _, module := range info.Deps {
		module = cmp.Or(module.Replace, module)
		url := "pkg:golang/" + module.Path + "@" + module.Version
		b.Components = append(b.Components, component{
			Type: "library", Ref: url, Name: module.Path, Version: module.Version, URL: url,
			Properties: []property{{"go:sum", module.Sum}},
		})
	}
	b.Components = append(b.Components, scripts...)
	unnamed, err := json.Marshal(b)
	if err != nil {
		return nil, err
	}
	b.SerialNumber = "urn:uuid:" + uuid.NewSHA1(uuid.NameSpaceOID, unnamed).String() // the same for the same content
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(b)
	return text.Bytes(), err
}
