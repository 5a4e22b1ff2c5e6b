package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// file is a file of an archive: its name there, where it is here, and its mode.
type file struct {
	name, path string
	mode       int64
}

// pack writes an archive in which nothing tells who made it, where or when: names in order, one date, no owner.
func pack(w io.Writer, files []file, date time.Time) (err error) {
	files = slices.SortedFunc(slices.Values(files), func(a, b file) int { return strings.Compare(a.name, b.name) })
	compressed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	archive := tar.NewWriter(compressed)
	defer func() { err = errors.Join(err, archive.Close(), compressed.Close()) }()
	for _, f := range files {
		content, err := os.ReadFile(f.path)
		if err != nil {
			return fmt.Errorf("pack: %w", err)
		}
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(content)), ModTime: date, Format: tar.FormatUSTAR,
		}
		if err := archive.WriteHeader(header); err != nil {
			return fmt.Errorf("pack %s: %w", f.path, err)
		}
		if _, err := archive.Write(content); err != nil {
			return fmt.Errorf("pack %s: %w", f.path, err)
		}
	}
	return nil
}
