package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

var date = time.Date(2026, time.May, 12, 9, 0, 0, 0, time.UTC)

// The same files give the same archive, whenever and wherever they were written and in whatever order they are named.
func TestAnArchiveIsTheSameEachTime(t *testing.T) {
	packed := func(order []string, written time.Time) []byte {
		dir := t.TempDir()
		var files []file
		for _, name := range order {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte("content of "+name), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, written, written); err != nil {
				t.Fatal(err)
			}
			files = append(files, file{"release/" + name, path, 0o644})
		}
		var out bytes.Buffer
		if err := pack(&out, files, date); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	first, second := packed([]string{"a", "b"}, date), packed([]string{"b", "a"}, date.AddDate(1, 0, 0))
	if !bytes.Equal(first, second) {
		t.Error("two archives of the same files differ")
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(unzipped)
	var names []string
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil || string(content) != "content of "+filepath.Base(header.Name) || header.Uid != 0 || header.Uname != "" ||
			!header.ModTime.Equal(date) {
			t.Errorf("%+v %q %v", header, content, err)
		}
		names = append(names, header.Name)
	}
	if strings.Join(names, " ") != "release/a release/b" {
		t.Error(names)
	}
}

// The bill of materials names every module with its version and checksum, and is the same each time.
func TestTheBillNamesEveryModule(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.8", Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "-tags", Value: "x"}},
		Deps: []*debug.Module{
			{Path: "example.com/a", Version: "v1.2.3", Sum: "h1:a"},
			{Path: "example.com/b", Version: "v0.1.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.2.0", Sum: "h1:f"}},
		},
	}
	others := []component{scriptOf("@example/c", "3.0.0")}
	first, err := billFrom(info, others, "v1.0.0", date)
	if err != nil {
		t.Fatal(err)
	}
	second, err := billFrom(info, others, "v1.0.0", date)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("two bills differ, %v", err)
	}
	var b bill
	if err := json.Unmarshal(first, &b); err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, c := range b.Components {
		named = append(named, c.Name+" "+c.Version)
	}
	if got := strings.Join(named, ", "); got != "std go1.26.8, example.com/a v1.2.3, example.com/fork v0.2.0, @example/c 3.0.0" {
		t.Error(got)
	}
	if b.Format != "CycloneDX" || b.Metadata.Component.Version != "v1.0.0" || b.Components[1].URL != "pkg:golang/example.com/a@v1.2.3" ||
		b.Components[2].Properties[0].Value != "h1:f" || b.Components[0].URL != "pkg:golang/std@1.26.8" ||
		b.Components[3].URL != "pkg:npm/%40example/c@3.0.0" || !strings.HasPrefix(b.SerialNumber, "urn:uuid:") {
		t.Errorf("%s", first)
	}
}

// The bill names whose scripts the desk and the API's reference have in them, once, and not those of the tests.
func TestTheBillNamesTheScriptsOfOthers(t *testing.T) {
	list, err := os.ReadFile("../../api/desk/vendored/packages")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob("../../api/desk/vendored/*.gz")
	if err != nil || len(kept) < 4 {
		t.Fatal(kept, err)
	}
	for _, file := range kept {
		if name := "vendored/" + strings.TrimSuffix(filepath.Base(file), ".gz"); !strings.Contains(string(list), " "+name+" ") {
			t.Errorf("%s is of no package", name)
		}
	}
	var named []string
	for _, c := range scripts(string(list)) {
		named = append(named, c.Name)
		if c.Version == "" || !strings.HasSuffix(c.URL, "@"+c.Version) {
			t.Errorf("%+v", c)
		}
	}
	if got := strings.Join(named, " "); got != "@scalar/api-reference htmx.org htmx-ext-sse pdfjs-dist" {
		t.Error(got)
	}
}

// The checksums are as sha256sum reads them.
func TestChecksumsCoverEveryFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b", "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := checksums(dir); err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	const want = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b\n" +
		"ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a\n"
	if err != nil || string(sums) != want {
		t.Errorf("%s %v", sums, err)
	}
}
