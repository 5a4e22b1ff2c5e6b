package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"tallyhouse/ingest/admin/keys"
	"tallyhouse/schemas/events"
)

func keysCommand(s *shell) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "keys",
		GroupID: groupCare,
		Short:   "Create, list and revoke keys of the API",
		Example: "  tallyhouse keys create --tenant demo --owner ada --environment live --financial\n" +
			"  tallyhouse keys list --tenant demo\n" +
			"  tallyhouse keys revoke 7FQKX3JWZCV2M5TN4RHAPYBD6E --tenant demo",
	}
	to := connectionFlags(cmd.PersistentFlags())
	cmd.AddCommand(createKey(s, to), listKeys(s, to), revokeKey(s, to))
	return cmd
}

func createKey(s *shell, to *connection) *cobra.Command {
	var request keys.Request
	var expires string
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create a key and print it, alone, on standard output",
		Long: "Creates a key for a user and prints it, alone, on standard output. It is shown this once: what is stored is a\n" +
			"hash of its secret. The key never gives more than its owner has.",
		Args: none,
	}
	f := cmd.Flags()
	tenantFlag(cmd, &request.Tenant)
	f.StringVar(&request.Owner, "owner", "", "id of the user for whom the key acts")
	f.StringVar(&request.Environment, "environment", "", "test or live")
	f.BoolVar(&request.Financial, "financial", false, "grant the financial field group")
	f.StringSliceVar(&request.Groups, "groups", nil, "at most these field groups (default: all that the owner has)")
	f.StringSliceVar(&request.ProjectIDs, "projects", nil, "at most these projects (default: all that the owner has)")
	f.StringVar(&expires, "expires", "", "instant in UTC from which the key is void, like 2027-01-01T00:00:00Z (default: never)")
	require(cmd, "owner", "environment")
	cmd.PreRunE = func(*cobra.Command, []string) (err error) {
		var wrong []error
		if e := request.Environment; e != "test" && e != "live" && e != "" { // a missing one is told with the others
			wrong = append(wrong, fmt.Errorf("--environment must be test or live, not %q", request.Environment))
		}
		if expires != "" {
			if request.Expires, err = time.Parse(time.RFC3339, expires); err != nil {
				wrong = append(wrong, fmt.Errorf("--expires must be an instant like 2027-01-01T00:00:00Z, not %q", expires))
			} else if !request.Expires.After(time.Now()) {
				wrong = append(wrong, fmt.Errorf("--expires must be to come: a key that expired at %s would be void from the beginning", expires))
			}
		}
		return errors.Join(wrong...)
	}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sources, closeSources, err := to.keySources()
		if err != nil {
			return err
		}
		defer closeSources()
		text, e, err := keys.Create(cmd.Context(), sources.Kafka, request)
		if invalid := (*events.Invalid)(nil); errors.As(err, &invalid) {
			return usageError{faultOfKey(invalid)}
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "key %s of user %s was created\n", e.ID, request.Owner)
		fmt.Fprintln(s.out, text)
		warnOfOwner(cmd.Context(), s.log, sources, request)
		warnOfProjects(cmd.Context(), s.log, sources, request)
		return nil
	}
	return cmd
}

// faultOfKey names a member of a key as the flag that it comes from.
func faultOfKey(e *events.Invalid) error {
	text := e.Error()
	for _, of := range []struct{ member, flag string }{
		{"tenantId", "--tenant"},
		{"data.ownerUserId", "--owner"},
		{"data.groups", "--groups"},
		{"data.projectIds", "--projects"},
		{"data.expiresAt", "--expires"},
	} {
		text = strings.ReplaceAll(text, of.member, of.flag)
	}
	return errors.New(text)
}

// lookWithin bounds how long the owner of a new key is looked for, and its projects: the key is good whatever comes of it.
const lookWithin = 10 * time.Second

// warnOfOwner says why a new key sees nothing, where that is for want of its owner.
func warnOfOwner(ctx context.Context, log *slog.Logger, sources keys.Sources, r keys.Request) {
	ctx, stop := context.WithTimeout(ctx, lookWithin)
	defer stop()
	owner, err := keys.FindOwner(ctx, sources, r.Tenant, r.Owner)
	log = log.With("tenant", r.Tenant, "user", r.Owner)
	switch {
	case err != nil:
		log.Warn("whether the key's owner exists is not known", "error", err)
	case !owner.Known:
		log.Warn("nobody knows of the key's owner, so the key is refused",
			"do", "send the user and a membership (docs/events.md#accessusers), or create a key for a user of this tenant")
	case !owner.Active:
		log.Warn("the key's owner is not active, so the key is refused", "do", "send the user with active true, or create a key for another one")
	}
}

// warnOfProjects names the projects that a new key is limited to and that nobody knows of, as where an id is misspelt.
func warnOfProjects(ctx context.Context, log *slog.Logger, sources keys.Sources, r keys.Request) {
	if len(r.ProjectIDs) == 0 {
		return
	}
	ctx, stop := context.WithTimeout(ctx, lookWithin)
	defer stop()
	unknown, err := keys.UnknownProjects(ctx, sources, r.Tenant, r.ProjectIDs)
	log = log.With("tenant", r.Tenant)
	switch {
	case err != nil:
		log.Warn("whether the key's projects exist is not known", "error", err)
	case len(unknown) > 0:
		log.Warn("nobody knows of projects that the key is limited to, so it shows nothing of them", "projects", unknown,
			"do", "send the projects (docs/events.md#ledgerprojects), or revoke the key and create one for projects of this tenant")
	}
}

func listKeys(s *shell, to *connection) *cobra.Command {
	var tenant string
	var asJSON bool
	cmd := &cobra.Command{Use: "list", Short: "List the keys of a tenant, the revoked ones too", Args: none}
	tenantFlag(cmd, &tenant)
	jsonFlag(cmd.Flags(), &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		sources, closeSources, err := to.keySources()
		if err != nil {
			return err
		}
		defer closeSources()
		all, err := keys.List(cmd.Context(), sources, tenant)
		if err != nil {
			return err
		}
		if asJSON {
			return printKeyLines(s, all)
		}
		if len(all) == 0 {
			fmt.Fprintln(s.err, "no keys of tenant", tenant)
			return nil
		}
		table := tabwriter.NewWriter(s.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(table, "ID\tBEGINS\tOWNER\tFINANCIAL\tGROUPS\tPROJECTS\tEXPIRES\tREVOKED")
		for _, k := range all {
			fmt.Fprintf(table, "%s\tpk_%s_%s\t%s\t%t\t%s\t%s\t%s\t%s\n", k.ID, k.Environment, k.Prefix, k.OwnerUserID, k.Financial,
				ceiling(k.Groups), ceiling(k.ProjectIDs), instantOr(k.ExpiresAt, "never"), instantOr(k.RevokedAt, "no"))
		}
		return table.Flush()
	}
	return cmd
}

func revokeKey(s *shell, to *connection) *cobra.Command {
	var tenant string
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Revoke a key, at once and for all",
		Args:  one("ID"),
	}
	tenantFlag(cmd, &tenant)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		sources, closeSources, err := to.keySources()
		if err != nil {
			return err
		}
		defer closeSources()
		k, err := keys.Revoke(cmd.Context(), sources, tenant, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(s.err, "key %s (pk_%s_%s...) is revoked since %s\n", k.ID, k.Environment, k.Prefix, instantOr(k.RevokedAt, ""))
		if k.Unasked != nil {
			s.log.Warn("the database was not asked whether it has a newer version of the key", "error", k.Unasked,
				"do", "revoke the key again once the database is there")
		}
		return nil
	}
	return cmd
}

func tenantFlag(cmd *cobra.Command, tenant *string) {
	cmd.Flags().StringVar(tenant, "tenant", "", "tenant to which the keys belong")
	require(cmd, "tenant")
}

// require marks flags without which the command can't run.
func require(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		cmd.Flags().Lookup(name).Usage += " (required)"
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // a flag that the command doesn't have: a mistake in the wiring
		}
	}
}

// keySources opens where keys are found.
func (c *connection) keySources() (keys.Sources, func(), error) {
	servers, err := c.open()
	if err != nil {
		return keys.Sources{}, nil, err
	}
	shards, err := servers.databases()
	if err != nil {
		servers.kafka.Close()
		return keys.Sources{}, nil, err
	}
	return keys.Sources{Kafka: servers.kafka, Shards: shards}, func() {
		closeAll(shards)
		servers.kafka.Close()
	}, nil
}

func printKeyLines(s *shell, all []keys.Known) error {
	lines := s.jsonLines()
	for _, k := range all {
		err := lines.Encode(struct {
			ID          string     `json:"id"`
			Environment string     `json:"environment"`
			Prefix      string     `json:"prefix"`
			OwnerUserID string     `json:"ownerUserId"`
			Financial   bool       `json:"financial"`
			Groups      *[]string  `json:"groups"`
			ProjectIDs  *[]string  `json:"projectIds"`
			ExpiresAt   *time.Time `json:"expiresAt"`
			RevokedAt   *time.Time `json:"revokedAt"`
		}{
			k.ID, k.Environment, k.Prefix, k.OwnerUserID, k.Financial,
			pointer(k.Groups), pointer(k.ProjectIDs), pointer(k.ExpiresAt), pointer(k.RevokedAt),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func pointer[T any](o events.Opt[T]) *T {
	if !o.Ok {
		return nil
	}
	return &o.V
}

func ceiling(o events.Opt[[]string]) string {
	switch {
	case !o.Ok:
		return "all"
	case len(o.V) == 0:
		return "none"
	}
	return strings.Join(o.V, ",")
}

func instantOr(o events.Opt[time.Time], none string) string {
	if !o.Ok {
		return none
	}
	return o.V.Format(time.RFC3339)
}
