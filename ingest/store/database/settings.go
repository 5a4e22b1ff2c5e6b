package database

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// LeastVersion is the oldest release of ClickHouse whose inserts behave as the protocol needs, by its first number.
const LeastVersion = 26

const effectiveSettings = `SELECT name, value FROM system.settings WHERE name IN {names:Array(String)}`

// CheckSettings finds out whether the server is new enough and whether the settings that every insert is sent with are taken and take
// effect: a profile or a constraint may refuse, change or ignore them. It reports all that is wrong at once.
func (s *Server) CheckSettings(ctx context.Context) error {
	var version string
	if err := s.Row(ctx, Query{SQL: "SELECT version()"}, &version); err != nil {
		return fmt.Errorf("ask ClickHouse at %s for its version: %w", s.Addr(), err)
	}
	if err := checkVersion(s.Addr(), version); err != nil {
		return err
	}
	const limit = 10 * time.Second
	wanted := insertSettings()
	wanted["max_execution_time"] = fmt.Sprint(seconds(limit))
	effective, err := s.effective(ctx, slices.Collect(maps.Keys(wanted)), limit)
	if err != nil {
		return fmt.Errorf("ClickHouse at %s refuses the settings that inserts rely on, for user %q: %w; give the "+
			"user a profile that is not readonly and has no constraints on them",
			s.Addr(), s.options.User, err)
	}
	return errors.Join(differences(fmt.Sprintf("ClickHouse at %s", s.Addr()), s.options.User, wanted, effective)...)
}

// differences are the settings that don't have the value that was asked for.
func differences(server, user string, wanted, effective map[string]string) (wrong []error) {
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		switch value, ok := effective[name]; {
		case !ok:
			wrong = append(wrong, fmt.Errorf("%s does not know the setting %s: use release %d or newer", server, name, LeastVersion))
		case value != wanted[name]:
			wrong = append(wrong, fmt.Errorf("%s runs with %s = %s where %s was asked for: take the constraint on it "+
				"from the profile of user %q", server, name, value, wanted[name], user))
		}
	}
	if value := effective["readonly"]; value != "0" {
		wrong = append(wrong, fmt.Errorf("%s lets user %q only read (readonly = %s): use a user that may write", server, user, value))
	}
	return wrong
}

func checkVersion(addr, version string) error {
	var first int
	if _, err := fmt.Sscanf(version, "%d.", &first); err != nil {
		return fmt.Errorf("ClickHouse at %s has version %q, which names no release: use release %d or newer", addr, version, LeastVersion)
	}
	if first < LeastVersion {
		return fmt.Errorf("ClickHouse at %s has version %s: use release %d or newer", addr, version, LeastVersion)
	}
	return nil
}

// effective are the values of settings in a query that is sent with those of an insert.
func (s *Server) effective(ctx context.Context, names []string, limit time.Duration) (map[string]string, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), limit+grace)
	defer stop()
	client, err := s.writers.dial(ctx)
	if err != nil {
		return nil, err
	}
	defer client.Close()
	var name, value proto.ColStr
	found := map[string]string{}
	err = client.Do(ctx, ch.Query{
		Body:       effectiveSettings,
		Parameters: parameters(Params{"names": "['" + strings.Join(append(names, "readonly"), "','") + "']"}),
		Settings:   settings(limit),
		Result:     proto.Results{{Name: "name", Data: &name}, {Name: "value", Data: &value}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range name.Rows() {
				found[name.Row(i)] = value.Row(i)
			}
			return nil
		},
	})
	return found, err
}
