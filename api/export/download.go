package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Download takes an export from the API (docs/export.md).
type Download struct {
	API    string // address, with the base path
	Key    string
	Format Format
	Query  url.Values // filters, fields and dialect
	// Progress is told, again and again, how much has come: rows, of which Parquet tells none before its end, and bytes.
	Progress func(rows, bytes int64)
	// Patience is how long it waits for anything to come; by default two minutes.
	Patience time.Duration
}

func (d *Download) patience() time.Duration { return cmp.Or(d.Patience, 2*time.Minute) }

// errIncomplete says that an export was broken off.
var errIncomplete = errors.New("the export is not whole")

// ErrKey says that the API doesn't take the key.
var ErrKey = errors.New("the key is not taken")

// Total asks how many records match; false when the API does not tell, as of very many projects.
func (d *Download) Total(ctx context.Context) (records int64, ok bool) {
	ctx, stop := context.WithTimeout(ctx, d.patience())
	defer stop()
	query := url.Values{"count": {"true"}, "limit": {"1"}, "fields": {"id"}}
	for name, values := range d.Query {
		if name != "fields" && name != "dialect" {
			query[name] = values
		}
	}
	answer, err := d.get(ctx, "/v0/records", query)
	if err != nil {
		return 0, false
	}
	defer answer.Body.Close()
	var list struct {
		Page struct{ Total *int64 }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&list); err != nil || list.Page.Total == nil {
		return 0, false
	}
	return *list.Page.Total, true
}

// get asks the API. Whatever is not 200 is an error that says what the API said.
func (d *Download) get(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	address := d.API + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+d.Key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask the API: %w", err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	var said struct {
		Title, Detail string
		Errors        []struct{ Name, Reason string }
	}
	_ = json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&said) // what is no problem document says nothing
	err = fmt.Errorf("the API answers %s", answer.Status)
	switch {
	case len(said.Errors) > 0: // they say more than the detail
		var wrong []string
		for _, e := range said.Errors {
			wrong = append(wrong, e.Name+" "+e.Reason)
		}
		err = fmt.Errorf("%w: %s", err, strings.Join(wrong, "; "))
	case said.Detail != "":
		err = fmt.Errorf("%w: %s", err, said.Detail)
	case answer.StatusCode == http.StatusNotFound && query.Has("projectId"):
		err = fmt.Errorf("%w: the key sees no project %q", err, query.Get("projectId"))
	}
	if answer.StatusCode == http.StatusUnauthorized {
		err = fmt.Errorf("%w: %w", ErrKey, err)
	}
	if wait := answer.Header.Get("Retry-After"); wait != "" {
		err = fmt.Errorf("%w; try again in %s s", err, wait)
	}
	return nil, err
}

// To writes the export, and returns how many records it has. An error means that what was written is not whole.
func (d *Download) To(ctx context.Context, w io.Writer) (records int64, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := time.AfterFunc(d.patience(), func() { cancel(fmt.Errorf("nothing came for %s", d.patience())) })
	defer watch.Stop()
	answer, err := d.get(ctx, "/export/v1/records."+string(d.Format), d.Query)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	counter := rowCounter{format: d.Format}
	var bytes int64
	buffer := make([]byte, 256<<10)
	for {
		watch.Reset(d.patience())
		n, read := answer.Body.Read(buffer)
		watch.Stop() // whoever takes the export may be slow
		if _, err := w.Write(buffer[:n]); err != nil {
			return 0, fmt.Errorf("write the export: %w", err)
		}
		counter.count(buffer[:n])
		bytes += int64(n)
		if d.Progress != nil {
			d.Progress(counter.rows(), bytes)
		}
		if read == io.EOF {
			break
		}
		if read != nil {
			if cause := context.Cause(ctx); cause != nil {
				read = cause
			}
			return 0, fmt.Errorf("%w: it was broken off after %d bytes: %w", errIncomplete, bytes, read)
		}
	}
	said := answer.Trailer.Get("Tallyhouse-Records")
	records, err = strconv.ParseInt(said, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: it ends after %d bytes without saying that it is", errIncomplete, bytes)
	}
	if came := counter.rows(); d.Format != Parquet && came != records {
		return 0, fmt.Errorf("%w: %d records came of %d", errIncomplete, came, records)
	}
	return records, nil
}

// ToFile is To into a file, which is written beside its name and gets it when it is whole.
func (d *Download) ToFile(ctx context.Context, path string) (records int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return 0, fmt.Errorf("write the export beside %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	records, err = d.To(ctx, file)
	if err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	return records, err
}

// rowCounter counts the records of a file as it comes.
type rowCounter struct {
	format Format
	lines  int64
	quoted bool
}

func (c *rowCounter) count(b []byte) {
	for _, char := range b {
		switch {
		case char == '"' && c.format == CSV:
			c.quoted = !c.quoted // a doubled one changes it twice
		case char == '\n' && !c.quoted:
			c.lines++
		}
	}
}

// rows are the lines but the head of CSV or the end mark of NDJSON.
func (c *rowCounter) rows() int64 {
	if c.format == Parquet {
		return 0
	}
	return max(0, c.lines-1)
}
