package keys

import (
	"context"
	"fmt"
	"slices"

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

const projectsQuery = `SELECT id, row_version, NOT deleted FROM projects FINAL
WHERE tenant = {tenant:String} AND NOT moved AND id IN {ids:Array(String)}`

// UnknownProjects are those of some projects that nobody knows of. It needs the database only where the log doesn't have all of them.
func UnknownProjects(ctx context.Context, s Sources, tenant string, ids []string) ([]string, error) {
	newest := map[string]project{}
	newer := func(id string, p project) {
		if p.version > newest[id].version { // of two equal ones the first counts
			newest[id] = p
		}
	}
	err := s.events(ctx, events.Projects, tenant+"/", func(e events.Event) {
		newer(e.ID, project{e.Version, e.Op != events.Delete})
	})
	if err != nil {
		return nil, fmt.Errorf("read the projects: %w", err)
	}
	inLog := func(id string) bool { return newest[id].version > 0 }
	if others := slices.DeleteFunc(slices.Clone(ids), inLog); len(others) > 0 {
		q := database.Query{SQL: projectsQuery, Params: database.Params{"tenant": database.Text(tenant), "ids": database.Texts(others)}}
		err := s.rows(ctx, "projects", q, func(scan func(...any) error) error {
			var id string
			var version uint64
			var known bool
			err := scan(&id, &version, &known)
			newer(id, project{int64(version), known})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return newest[id].known }), nil
}

// project is what is known of one: its version, and whether it is there.
type project struct {
	version int64
	known   bool
}
