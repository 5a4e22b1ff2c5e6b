package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"tallyhouse/schemas/clickhouse"
)

// version is set by the linker when a release is built: the one thing that it can set is a variable.
var version string

// build is what a binary knows of itself.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Schema   int    `json:"schema"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Schema: clickhouse.Version}
	if info, ok := debug.ReadBuildInfo(); ok {
		b.Version = cmp.Or(b.Version, info.Main.Version)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	b.Version = cmp.Or(b.Version, "devel")
	return b
}

// String is the line that `tallyhouse version` prints.
func (b build) String() string {
	return fmt.Sprintf("tallyhouse %s (schema %d, %s, %s)", b.Version, b.Schema, b.Go, b.Platform)
}

func versionCommand(s *shell) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		GroupID: groupCare,
		Short:   "Print this binary's version, and that of the schema that it needs",
		Example: "  tallyhouse version --json",
		Args:    none,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "as a JSON object")
	cmd.RunE = func(*cobra.Command, []string) error {
		if asJSON {
			return json.NewEncoder(s.out).Encode(thisBuild())
		}
		_, err := fmt.Fprintln(s.out, thisBuild())
		return err
	}
	return cmd
}
