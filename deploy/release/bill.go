package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
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

// billOf lists what a program is made of, as its own build information says: every module with its version and checksum, and Go.
func billOf(program, version string, date time.Time) ([]byte, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("read what %s is made of: %w", program, err)
	}
	return billFrom(info, version, date)
}

func billFrom(info *debug.BuildInfo, version string, date time.Time) ([]byte, error) {
	b := bill{
		Format: "CycloneDX", Spec: "1.6", Version: 1,
		Metadata: metadata{
			Timestamp: date.Format(time.RFC3339),
			Component: component{Type: "application", Ref: "tallyhouse", Name: "tallyhouse", Version: version},
		},
		Components: []component{{Type: "library", Ref: "go-standard-library", Name: "std", Version: info.GoVersion}},
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
