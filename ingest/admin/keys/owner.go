package keys

import (
	"context"
	"fmt"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Owner is what is known of the user for whom a key acts.
type Owner struct {
	version int64
	Known   bool // and not deleted
	Active  bool
}

// newer keeps the greater version; of two equal ones the first counts.
func (o *Owner) newer(other Owner) {
	if other.version > o.version {
		*o = other
	}
}

const ownerQuery = `SELECT row_version, NOT deleted, active FROM users FINAL
WHERE tenant = {tenant:String} AND project = '' AND id = {id:String}`

// FindOwner says what is known of a user. It needs the database only for one whom the log doesn't have.
func FindOwner(ctx context.Context, s Sources, tenant, id string) (Owner, error) {
	var newest Owner
	key := events.Envelope{TenantID: tenant, ID: id}.Key()
	err := s.events(ctx, events.Users, key, func(e events.Event) {
		if e.ID != id {
			return
		}
		found := Owner{version: e.Version}
		if u, ok := e.Data.(*events.User); ok {
			found.Known, found.Active = true, u.Active
		}
		newest.newer(found)
	})
	if err != nil {
		return Owner{}, fmt.Errorf("read the users: %w", err)
	}
	if newest.version > 0 {
		return newest, nil
	}
	q := database.Query{SQL: ownerQuery, Params: database.Params{"tenant": database.Text(tenant), "id": database.Text(id)}}
	err = s.rows(ctx, "users", q, func(scan func(...any) error) error {
		var found Owner
		var version uint64
		if err := scan(&version, &found.Known, &found.Active); err != nil {
			return err
		}
		found.version = int64(version)
		newest.newer(found)
		return nil
	})
	return newest, err
}
