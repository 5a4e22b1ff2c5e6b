package keys

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Known is the current state of a key.
type Known struct {
	ID      string
	Version int64
	events.Key
	deleted bool
}

// Sources are where keys are found: the log has the newest, the tables those that the log doesn't keep any more.
type Sources struct {
	Kafka  kafka.Cluster
	Shards []*database.Server
}

// List returns the keys of a tenant, the revoked ones too, by owner and id.
func List(ctx context.Context, s Sources, tenant string) ([]Known, error) {
	newest, err := s.log(ctx, tenant)
	if err != nil {
		return nil, err
	}
	if err := s.tables(ctx, tenant, newest); err != nil {
		return nil, err
	}
	var all []Known
	for _, k := range newest {
		if !k.deleted {
			all = append(all, k)
		}
	}
	slices.SortFunc(all, func(a, b Known) int {
		return cmp.Or(cmp.Compare(a.OwnerUserID, b.OwnerUserID), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// errUnasked says that the log has nothing left to do about a key, and that the database, which may have a newer version, could not be
// asked.
var errUnasked = errors.New("it is revoked or deleted as far as Kafka's log tells, which may keep an older version than the greatest")

// find needs the database for a key alone that the log doesn't have: a key can be revoked while the database is away. Of one that
// seems to need nothing any more it is asked as well: the log may keep an older version than the greatest. With errUnasked comes
// what the log has.
func (s Sources) find(ctx context.Context, tenant, id string) (Known, error) {
	newest, err := s.log(ctx, tenant)
	if err != nil {
		return Known{}, err
	}
	k, inLog := newest[id]
	if !inLog || k.deleted || k.RevokedAt.Ok {
		switch err := s.tables(ctx, tenant, newest); {
		case err != nil && inLog:
			return k, fmt.Errorf("%w, and %w", errUnasked, err)
		case err != nil:
			return Known{}, fmt.Errorf("it is not in Kafka's log, and %w", err)
		}
	}
	k, ok := newest[id]
	if !ok || k.deleted {
		return Known{}, fmt.Errorf("tenant %s: %w", tenant, ErrNotFound)
	}
	return k, nil
}

// log reads the newest state of each of the tenant's keys that Kafka's log has.
func (s Sources) log(ctx context.Context, tenant string) (map[string]Known, error) {
	newest := map[string]Known{}
	err := s.events(ctx, events.Keys, tenant+"/", func(e events.Event) {
		k := Known{ID: e.ID, Version: e.Version, deleted: e.Op == events.Delete}
		if !k.deleted {
			k.Key = *e.Data.(*events.Key)
		}
		add(newest, k)
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys: %w", err)
	}
	return newest, nil
}

// events reads the events of a topic whose messages' keys begin so. What can't be decoded is none.
func (s Sources) events(ctx context.Context, topic events.Topic, prefix string, each func(events.Event)) error {
	return kafka.Read(ctx, s.Kafka, string(topic), func(r *kgo.Record) error {
		if !bytes.HasPrefix(r.Key, []byte(prefix)) {
			return nil
		}
		e, err := events.Decode(topic, r.Key, r.Value)
		if invalid := (*events.Invalid)(nil); errors.As(err, &invalid) || errors.Is(err, events.ErrTombstone) {
			return nil
		}
		if err == nil {
			each(e)
		}
		return err
	})
}

// add keeps the greater version; of two equal ones the first counts.
func add(newest map[string]Known, k Known) {
	if known, ok := newest[k.ID]; !ok || k.Version > known.Version {
		newest[k.ID] = k
	}
}

const tableQuery = `SELECT id, row_version, deleted, owner_user_id, environment, prefix, secret_sha256, financial,
	has_groups, groups, has_project_ids, project_ids, toUnixTimestamp64Micro(expires_at), toUnixTimestamp64Micro(revoked_at)
FROM keys FINAL
WHERE tenant = {tenant:String} AND project = ''`

// tables adds what the state table knows.
func (s Sources) tables(ctx context.Context, tenant string, newest map[string]Known) error {
	q := database.Query{SQL: tableQuery, Params: database.Params{"tenant": database.Text(tenant)}}
	return s.rows(ctx, "keys", q, func(scan func(...any) error) error {
		var k Known
		var rowVersion uint64
		var expires, revoked *int64
		err := scan(&k.ID, &rowVersion, &k.deleted, &k.OwnerUserID, &k.Environment, &k.Prefix, &k.SecretSHA256, &k.Financial,
			&k.Groups.Ok, &k.Groups.V, &k.ProjectIDs.Ok, &k.ProjectIDs.V, &expires, &revoked)
		if err != nil {
			return err
		}
		k.Version = int64(rowVersion)
		k.ExpiresAt, k.RevokedAt = instant(expires), instant(revoked)
		add(newest, k)
		return nil
	})
}

// rows asks every shard.
func (s Sources) rows(ctx context.Context, what string, q database.Query, each func(scan func(...any) error) error) error {
	for _, shard := range s.Shards {
		found, err := shard.Exists(ctx)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("read the %s from ClickHouse at %s: database %s does not exist; run `tallyhouse "+
				"migrate`, or name another with --clickhouse-database", what, shard.Addr(), shard.Name())
		}
		if err := shard.Rows(ctx, q, each); err != nil {
			return fmt.Errorf("read the %s from ClickHouse at %s: %w", what, shard.Addr(), err)
		}
	}
	return nil
}

// instant is read in microseconds: the driver's own conversion counts nanoseconds, which 64 bits hold only until 2262.
func instant(micros *int64) events.Opt[time.Time] {
	if micros == nil {
		return events.Opt[time.Time]{}
	}
	return events.Some(time.UnixMicro(*micros).UTC())
}
