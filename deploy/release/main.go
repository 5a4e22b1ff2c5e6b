// Command release builds what is published: for each platform an archive with the program and its pages, a list of what the program
// is made of (CycloneDX), and the checksums of all of it. The same sources give the same bytes.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// platforms that are released.
func platforms() []string { return []string{"linux/amd64", "linux/arm64", "darwin/arm64"} }

func main() {
	version := flag.String("version", "", "version of the release, like v1.2.3")
	out := flag.String("out", "dist", "directory that the files are written to; what is in it goes")
	date := flag.Int64("date", 0, "the files' date, in seconds since 1970: that of the commit")
	flag.Parse()
	if *version == "" || *date <= 0 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := release(*version, *out, time.Unix(*date, 0).UTC()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func release(version, out string, date time.Time) error {
	if err := os.RemoveAll(out); err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	for _, platform := range platforms() {
		if err := releaseFor(platform, version, out, date); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
	}
	return checksums(out)
}

func releaseFor(platform, version, out string, date time.Time) error {
	system, machine, _ := strings.Cut(platform, "/")
	name := fmt.Sprintf("tallyhouse_%s_%s_%s", strings.TrimPrefix(version, "v"), system, machine)
	built, err := os.MkdirTemp("", "release")
	if err != nil {
		return err
	}
	defer os.RemoveAll(built)
	program := filepath.Join(built, "tallyhouse")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid= -X main.version="+version,
		"-o", program, "./cmd/tallyhouse")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+machine)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("build: %w", err)
	}
	files := []file{{name + "/tallyhouse", program, 0o755}}
	for _, pattern := range []string{
		"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md", "docs/*.eml", "docs/pictures/*.png", "deploy/systemd/*.service",
		"deploy/compose/desk.env.example", "deploy/prometheus/*.yml", "deploy/grafana/dashboards/*.json",
		"deploy/rights/clickhouse.sql", "deploy/rights/clickhouse-cluster.sql", "deploy/rights/kafka.sh",
	} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			return fmt.Errorf("there is no %s here", pattern)
		}
		for _, path := range found {
			files = append(files, file{name + "/" + filepath.ToSlash(path), path, 0o644})
		}
	}
	var packed bytes.Buffer
	if err := pack(&packed, files, date); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, name+".tar.gz"), packed.Bytes(), 0o644); err != nil {
		return err
	}
	bill, err := billOf(program, version, date)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644)
}

// checksums writes SHA256SUMS, as sha256sum --check reads it.
func checksums(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var lines []string
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return err
		}
		sum := sha256.Sum256(content)
		lines = append(lines, hex.EncodeToString(sum[:])+"  "+entry.Name()+"\n")
	}
	slices.Sort(lines)
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(strings.Join(lines, "")), 0o644)
}
