package clickhouse

import (
	"bytes"
	_ "embed"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"text/template"
)

//go:embed engine.xml.tmpl
var configTemplate string

// listenQuery opens the port, and its second part keeps the engine running until
// it is killed. Of the queries that never end this one sleeps, others burn a core;
// a kill takes effect at the end of one sleep.
const (
	idleQuery   = "SELECT sum(sleepEachRow(0.2)) FROM system.numbers"
	listenQuery = "SYSTEM START LISTEN TCP; " + idleQuery + " SETTINGS max_block_size = 1, max_threads = 1"
)

// commandLine writes the engine's configuration and returns the child's command
// line: Options.Command, which program to run and where it is reached, and the
// arguments of clickhouse-local.
func commandLine(o Options, addr string, p program) ([]string, error) {
	config, err := writeConfig(o)
	if err != nil {
		return nil, err
	}
	line := append([]string{}, o.Command...)
	line = append(line, p.flag, p.path, "--listen", addr, "--")
	return append(line,
		"--path", filepath.Join(o.DataDir, "data"),
		"--config-file", config,
		"--logger.log", filepath.Join(o.DataDir, "engine.log"),
		"--log-level", "warning",
		"--query", listenQuery,
	), nil
}

// writeConfig writes engine.xml into the data directory and returns its path.
func writeConfig(o Options) (string, error) {
	parsed, err := template.New("engine.xml").Funcs(template.FuncMap{"xml": escapeXML}).Parse(configTemplate)
	if err != nil {
		return "", fmt.Errorf("embedded clickhouse: parse the configuration template: %w", err)
	}
	path := filepath.Join(o.DataDir, "engine.xml")
	var text bytes.Buffer
	err = parsed.Execute(&text, struct {
		Path            string
		Memory, Cache   int64
		Threads, Merges int
	}{
		Path:    path,
		Memory:  o.MemoryLimit,
		Cache:   o.MemoryLimit / 16,
		Threads: o.Threads,
		Merges:  backgroundThreads(runtime.NumCPU()),
	})
	if err != nil {
		return "", fmt.Errorf("embedded clickhouse: fill the configuration template: %w", err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return "", diskError("write the configuration", path, err)
	}
	return path, nil
}

// backgroundThreads keeps merges modest: half the cores, at least 2, at most 8.
func backgroundThreads(cores int) int { return min(max(cores/2, 2), 8) }

func escapeXML(text string) (string, error) {
	var escaped bytes.Buffer
	err := xml.EscapeText(&escaped, []byte(text))
	return escaped.String(), err
}
