package main

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/sr"

	"tallyhouse/ingest/admin/registry"
	"tallyhouse/schemas/events"
)

func schemasCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "schemas",
		GroupID: groupData,
		Short:   "Publish the JSON Schemas of the topics at a schema registry",
		Example: "  tallyhouse schemas publish --registry http://registry:8081 --dry-run",
	}
	cmd.AddCommand(publishSchemas(s))
	return cmd
}

// registryFlags say where a schema registry is. The password is never printed.
type registryFlags struct {
	url, user, password string
}

func (f *registryFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.url, "registry", "http://127.0.0.1:8081", "URL of the schema registry, which speaks Confluent's protocol")
	flags.StringVar(&f.user, "registry-user", "", "user at the registry")
	flags.StringVar(&f.password, "registry-password", "", "password at the registry; better given as the variable")
}

// check reports all that is wrong with the flags.
func (f *registryFlags) check() error {
	var wrong []error
	if u, err := url.Parse(f.url); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		wrong = append(wrong, usageError{errors.New("--registry must be a URL like https://registry:8081, without user and password")})
	}
	switch {
	case f.user == "" && f.password != "":
		wrong = append(wrong, usageError{errors.New("--registry-password needs --registry-user")})
	case f.user != "" && f.password == "":
		wrong = append(wrong, usageError{errors.New("--registry-user needs --registry-password (or the variable TALLYHOUSE_REGISTRY_PASSWORD)")})
	}
	return errors.Join(wrong...)
}

func (f *registryFlags) open() (*sr.Client, error) {
	options := []sr.ClientOpt{sr.URLs(f.url), sr.UserAgent("tallyhouse")}
	if f.user != "" {
		options = append(options, sr.BasicAuth(f.user, f.password))
	}
	c, err := sr.NewClient(options...)
	if err != nil {
		return nil, usageError{fmt.Errorf("--registry: %w", err)}
	}
	return c, nil
}

func publishSchemas(s *shell) *cobra.Command {
	var at registryFlags
	o := registry.Options{Compatibility: sr.CompatBackward}
	cmd := &cobra.Command{
		Use:   "publish",
		Short: "Publish each topic's schema as the subject TOPIC-value",
		Long: "Publishes the JSON Schema of each topic as a version of the subject TOPIC-value, unless the subject has it already.\n" +
			"All are checked for compatibility first: when the registry refuses one, none is published.",
		Example: "  tallyhouse schemas publish --registry http://registry:8081 --dry-run",
		Args:    none,
	}
	at.add(cmd.Flags())
	cmd.Flags().TextVar(&o.Compatibility, "compatibility", o.Compatibility,
		"what the subjects are set to: NONE, BACKWARD, FORWARD, FULL, or one of them with _TRANSITIVE")
	cmd.Flags().BoolVar(&o.Dry, "dry-run", false, "publish nothing, and say what would be")
	cmd.PreRunE = func(*cobra.Command, []string) error { return at.check() }
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := at.open()
		if err != nil {
			return err
		}
		all, err := registry.Publish(cmd.Context(), c, events.Topics(), o)
		for _, p := range all {
			what := "is there"
			switch {
			case p.New && o.Dry:
				what = "would be published"
			case p.New:
				what = "published"
			}
			fmt.Fprintf(s.out, "%-40s  %-18s", p.Subject, what)
			if p.Version > 0 {
				fmt.Fprintf(s.out, "  version %d", p.Version)
			}
			fmt.Fprintln(s.out)
		}
		if err != nil {
			return &serverError{flag: "--registry", login: "--registry-user, --registry-password, and the user's rights",
				cause: fmt.Errorf("publish schemas at %s: %w", at.url, err)}
		}
		return nil
	}
	return cmd
}
