package main

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"tallyhouse/api/export"
)

func exportCommand(s *shell) *cobra.Command {
	var api, key, format, dialect, project, output string
	var fields, filters []string
	cmd := &cobra.Command{
		Use:     "export",
		GroupID: groupCare,
		Short:   "Take all records that match from the API, as NDJSON, CSV or Parquet",
		Long: "Takes all records that match from the API, with what the key may see in every project. The file is written\n" +
			"beside its name and gets it when it is whole; without --output it goes to standard output, and the exit code\n" +
			"says whether it is whole. Give the key as the variable TALLYHOUSE_KEY, so that it is in no list of processes.",
		Example: "  tallyhouse export --format csv --dialect excel-de --output records.csv\n" +
			"  tallyhouse export --project P1 --filter status=paymentPending,paid --fields id,net,dueDate\n" +
			"  tallyhouse export --api https://ledger.example.com --format parquet --output records.parquet",
		Args: none,
	}
	f := cmd.Flags()
	f.StringVar(&api, "api", "http://127.0.0.1:8080", "address of the API, with its base path")
	f.StringVar(&key, "key", "", "API key, pk_...")
	f.StringVar(&format, "format", string(export.NDJSON), "ndjson, csv or parquet")
	f.StringVar(&dialect, "dialect", "", "of CSV: excel-de for a German Excel")
	f.StringVar(&project, "project", "", "id of the one project (default: all that the key sees)")
	f.StringSliceVar(&fields, "fields", nil, "only these members of each record, and id (default: all that the key sees)")
	f.StringArrayVar(&filters, "filter", nil, "filter of listRecords, NAME=VALUE, like status=paid; repeatable")
	f.StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		query, err := exportQuery(dialect, project, fields, filters)
		at, wrongAddress := url.Parse(api)
		switch {
		case err != nil:
			return usageError{err}
		case wrongAddress != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https":
			return usageError{fmt.Errorf("--api must be a URL like https://ledger.example.com, not %q", api)}
		case key == "":
			return usageError{errors.New("--key or the variable TALLYHOUSE_KEY must be given")}
		case !slices.Contains([]export.Format{export.NDJSON, export.CSV, export.Parquet}, export.Format(format)):
			return usageError{fmt.Errorf("--format must be ndjson, csv or parquet, not %q", format)}
		case dialect != "" && export.Format(format) != export.CSV:
			return usageError{fmt.Errorf("--dialect is of CSV: leave it out, or give --format %s", export.CSV)}
		}
		d := &export.Download{API: strings.TrimSuffix(api, "/"), Key: key, Format: export.Format(format), Query: query}
		bar := s.exportBar(cmd, d)
		began := time.Now()
		var records int64
		if output == "" {
			records, err = d.To(cmd.Context(), s.out)
		} else {
			records, err = d.ToFile(cmd.Context(), output)
		}
		if bar != nil {
			_ = bar.Clear() // a bar that can't be drawn is no failure
		}
		if err != nil {
			return &serverError{flag: "--api", login: "--key, and whether it is of this environment (test or live)", cause: err}
		}
		took := time.Since(began).Seconds()
		fmt.Fprintf(s.err, "%d records in %.1f s, %.0f/s\n", records, took, float64(records)/max(took, 0.001))
		return nil
	}
	return cmd
}

// exportQuery are the parameters of the export.
func exportQuery(dialect, project string, fields, filters []string) (url.Values, error) {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("dialect", dialect)
	set("projectId", project)
	set("fields", strings.Join(fields, ","))
	for _, filter := range filters {
		name, value, ok := strings.Cut(filter, "=")
		if !ok || name == "" || value == "" {
			return nil, fmt.Errorf("--filter must be NAME=VALUE, not %q", filter)
		}
		if query.Has(name) {
			return nil, fmt.Errorf("--filter %s is given twice", name)
		}
		query.Set(name, value)
	}
	return query, nil
}

// exportBar shows on a terminal how far the export is: rows and their rate; of Parquet, which tells its rows at its end
// alone, bytes.
func (s *shell) exportBar(cmd *cobra.Command, d *export.Download) *progressbar.ProgressBar {
	if !isTerminal(s.err) {
		return nil
	}
	total, options := int64(-1), []progressbar.Option{progressbar.OptionSetWriter(s.err), progressbar.OptionSetDescription("export"),
		progressbar.OptionShowCount(), progressbar.OptionShowIts(), progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(100 * time.Millisecond), progressbar.OptionClearOnFinish()}
	rows := d.Format != export.Parquet
	if rows {
		options = append(options, progressbar.OptionSetItsString("rows"))
		if n, ok := d.Total(cmd.Context()); ok {
			total = max(n, 1)
		}
	} else {
		options = append(options, progressbar.OptionShowBytes(true))
	}
	bar := progressbar.NewOptions64(total, options...)
	d.Progress = func(n, bytes int64) {
		if !rows {
			n = bytes
		}
		if total > 0 {
			n = min(n, total)
		}
		_ = bar.Set64(n)
	}
	return bar
}
