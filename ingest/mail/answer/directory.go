package answer

import (
	"cmp"
	"context"
	"fmt"
	"net/mail"
	"slices"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/ingest/mail/tables"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// directory is what the tables say of people, projects and mails.
type directory struct {
	shards tables.Shards
}

// mostProjects bounds the projects that are looked at for one answer.
const mostProjects = 1000

const userQuery = `SELECT assumeNotNull(email) FROM users FINAL
WHERE tenant = {tenant:String} AND project = '' AND id = {user:String} AND NOT deleted AND active AND email IS NOT NULL`

// user is the address of an active user, "" without one that is fit to write to.
func (d directory) user(ctx context.Context, tenant, user string) (address string, err error) {
	params := database.Params{"tenant": database.Text(tenant), "user": database.Text(user)}
	err = d.shards.Each(ctx, userQuery, params, func(scan func(...any) error) error {
		var email string
		err := scan(&email)
		if a, wrong := mail.ParseAddress(email); wrong == nil && plain(a.Address) {
			address = a.Address
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read the responsible user: %w", err)
	}
	return address, nil
}

// What guests see of a project is too little for the inbox, so it is too little for answers.
const seenQuery = `SELECT id, name FROM projects FINAL
WHERE tenant = {tenant:String} AND NOT deleted AND NOT moved AND id IN {projects:Array(String)}
  AND ({everywhere:Bool} OR id IN {ids:Array(String)} OR has({workspaces:Array(String)}, ifNull(workspace_id, '')))
LIMIT 1000`

const membershipsQuery = `SELECT scope_tenant, ifNull(scope_project_id, ''), ifNull(scope_workspace_id, '') FROM memberships FINAL
WHERE tenant = {tenant:String} AND project = '' AND user_id = {user:String} AND NOT deleted AND role IN ('admin', 'user')
LIMIT 10000`

// seen are those of the projects that a user sees with all field groups, with their names.
func (d directory) seen(ctx context.Context, tenant, user string, projects []string) (map[string]string, error) {
	var everywhere bool
	ids, workspaces := []string{}, []string{}
	params := database.Params{"tenant": database.Text(tenant), "user": database.Text(user)}
	err := d.shards.Each(ctx, membershipsQuery, params, func(scan func(...any) error) error {
		var all bool
		var project, workspace string
		err := scan(&all, &project, &workspace)
		everywhere = everywhere || all
		if project != "" {
			ids = append(ids, project)
		}
		if workspace != "" {
			workspaces = append(workspaces, workspace)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what the responsible user may see: %w", err)
	}
	names := map[string]string{}
	projects = projects[:min(len(projects), mostProjects)]
	params = database.Params{"tenant": database.Text(tenant), "projects": database.Texts(projects), "ids": database.Texts(ids),
		"workspaces": database.Texts(workspaces), "everywhere": fmt.Sprint(everywhere)}
	err = d.shards.Each(ctx, seenQuery, params, func(scan func(...any) error) error {
		var id, name string
		err := scan(&id, &name)
		names[id] = name
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read which projects the responsible user may see: %w", err)
	}
	return names, nil
}

// read is what the table has of a mailed record, or of a mail.
type read struct {
	id, project string
	state       analytics.InboxState
	reading     events.Reading
}

const readQuery = `SELECT id, project, state, reading FROM readings FINAL
WHERE tenant = {tenant:String} AND id IN {ids:Array(String)} AND NOT deleted AND NOT moved AND reading != ''
LIMIT 1000`

// read finds readings by their ids, in any project.
func (d directory) read(ctx context.Context, tenant string, ids []string) ([]read, error) {
	var all []read
	params := database.Params{"tenant": database.Text(tenant), "ids": database.Texts(ids)}
	err := d.shards.Each(ctx, readQuery, params, func(scan func(...any) error) error {
		var r read
		var state, reading string
		if err := scan(&r.id, &r.project, &state, &reading); err != nil {
			return err
		}
		r.state = analytics.InboxState(state)
		var err error
		r.reading, err = events.ParseReading(reading)
		all = append(all, r)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what was read of a mail: %w", err)
	}
	slices.SortFunc(all, func(a, b read) int { return slices.Index(ids, a.id) - slices.Index(ids, b.id) })
	return all, nil
}

// Of a mail whose arrival isn't known counts when it was read.
const arrivedAt = `if(newest = 0, toUnixTimestamp64Micro(at), -newest)`

const cameQuery = `SELECT state, toInt64(count()) FROM readings FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND NOT moved AND state != ''
  AND ` + arrivedAt + ` >= {since:Int64} AND ` + arrivedAt + ` < {till:Int64}
GROUP BY state`

// came counts by state what arrived in a project within a time.
func (d directory) came(ctx context.Context, tenant, project string, since, till time.Time) (map[analytics.InboxState]int, error) {
	of := map[analytics.InboxState]int{}
	params := database.Params{"tenant": database.Text(tenant), "project": database.Text(project),
		"since": fmt.Sprint(since.UnixMicro()), "till": fmt.Sprint(till.UnixMicro())}
	err := d.shards.Each(ctx, cameQuery, params, func(scan func(...any) error) error {
		var state string
		var n int64
		err := scan(&state, &n)
		of[analytics.InboxState(state)] += int(n)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count what came: %w", err)
	}
	return of, nil
}

// mostOpen bounds the mails that are counted as open.
const mostOpen = 1000

// A mail without an invoice is spoken of once: mostly nothing is to do.
const openQuery = `SELECT id, ` + arrivedAt + ` AS arrived FROM readings FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted AND NOT moved
  AND state IN ('doubtful', 'duplicate', 'failed', 'quarantined', 'withoutRecord') AND reason != 'automatic'
  AND (reason != 'no-invoice' OR arrived >= {since:Int64}) AND arrived >= {oldest:Int64}
ORDER BY arrived DESC, id
LIMIT 1001`

// A record that the application has written since is in somebody's hands.
const takenQuery = `SELECT DISTINCT id FROM records
WHERE tenant = {tenant:String} AND id IN {ids:Array(String)} AND row_version >= {own:UInt64}
LIMIT 1001`

// open are the ids of those mails of a project that need somebody and arrived since the oldest, newest first, and whether
// there are more.
func (d directory) open(ctx context.Context, tenant, project string, oldest, since time.Time) (ids []string, more bool, err error) {
	type found struct {
		id      string
		arrived int64
	}
	var all []found
	params := database.Params{"tenant": database.Text(tenant), "project": database.Text(project),
		"oldest": fmt.Sprint(oldest.UnixMicro()), "since": fmt.Sprint(since.UnixMicro())}
	err = d.shards.Each(ctx, openQuery, params, func(scan func(...any) error) error {
		var f found
		err := scan(&f.id, &f.arrived)
		all = append(all, f)
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read what is open: %w", err)
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(cmp.Compare(b.arrived, a.arrived), cmp.Compare(a.id, b.id)) })
	more = len(all) > mostOpen
	for _, f := range all[:min(len(all), mostOpen)] {
		ids = append(ids, f.id)
	}
	params = database.Params{"tenant": database.Text(tenant), "ids": database.Texts(ids), "own": fmt.Sprint(analytics.ApplicationsOwn)}
	err = d.shards.Each(ctx, takenQuery, params, func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		ids = slices.DeleteFunc(ids, func(open string) bool { return open == id })
		return err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read what the application has taken over: %w", err)
	}
	return ids, more, nil
}
