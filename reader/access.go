package reader

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/schemas/events"
)

// stored is a row of a state table: what every table begins with, and the entity's payload.
type stored[P any] struct {
	position
	id      string
	deleted bool
	at      time.Time
	payload P
}

// storedColumns are the columns of a table whose payload has these.
func storedColumns[P any](payload columns[P]) columns[stored[P]] {
	type row = stored[P]
	return slices.Concat(positionColumns(func(r *row) *position { return &r.position }), columns[row]{
		member("id", plain, func(r *row) *string { return &r.id }),
		member("deleted", plain, func(r *row) *bool { return &r.deleted }),
		member("toUnixTimestamp64Micro(at)", instant, func(r *row) *time.Time { return &r.at }),
	}, inside(func(r *row) *P { return &r.payload }, payload))
}

// event is the last event of the row's entity.
func (r *stored[P]) event() events.Event {
	e := events.Event{Envelope: events.Envelope{ID: r.id, TenantID: r.tenant, Version: int64(r.rowVersion), Op: events.Delete, At: r.at}}
	if !r.deleted {
		payload := r.payload
		e.Op, e.Data = events.Upsert, &payload
	}
	return e
}

// The payloads of the entities that decide about access.
var (
	projectColumns = columns[events.Project]{
		member("name", plain, func(p *events.Project) *string { return &p.Name }),
		member("workspace_id", nullable, func(p *events.Project) *events.Opt[string] { return &p.WorkspaceID }),
		member("currency", plain, func(p *events.Project) *string { return &p.Currency }),
		member("budget_structure_id", nullable, func(p *events.Project) *events.Opt[string] { return &p.BudgetStructureID }),
		member("inbound_email", nullable, func(p *events.Project) *events.Opt[string] { return &p.InboundEmail }),
	}
	userColumns = columns[events.User]{
		member("name", plain, func(u *events.User) *string { return &u.Name }),
		member("email", nullable, func(u *events.User) *events.Opt[string] { return &u.Email }),
		member("active", plain, func(u *events.User) *bool { return &u.Active }),
	}
	membershipColumns = columns[events.Membership]{
		member("user_id", plain, func(m *events.Membership) *string { return &m.UserID }),
		member("scope_project_id", nullable, func(m *events.Membership) *events.Opt[string] { return &m.Scope.ProjectID }),
		member("scope_workspace_id", nullable, func(m *events.Membership) *events.Opt[string] { return &m.Scope.WorkspaceID }),
		member("scope_tenant", plain, func(m *events.Membership) *bool { return &m.Scope.Tenant }),
		member("role", plain, func(m *events.Membership) *string { return &m.Role }),
	}
	keyColumns = columns[events.Key]{
		member("owner_user_id", plain, func(k *events.Key) *string { return &k.OwnerUserID }),
		member("environment", plain, func(k *events.Key) *string { return &k.Environment }),
		member("prefix", plain, func(k *events.Key) *string { return &k.Prefix }),
		member("secret_sha256", plain, func(k *events.Key) *string { return &k.SecretSHA256 }),
		member("financial", plain, func(k *events.Key) *bool { return &k.Financial }),
		member("has_groups", plain, func(k *events.Key) *bool { return &k.Groups.Ok }),
		member("groups", plain, func(k *events.Key) *[]string { return &k.Groups.V }),
		member("has_project_ids", plain, func(k *events.Key) *bool { return &k.ProjectIDs.Ok }),
		member("project_ids", plain, func(k *events.Key) *[]string { return &k.ProjectIDs.V }),
		member("toUnixTimestamp64Micro(expires_at)", optionalInstant, func(k *events.Key) *events.Opt[time.Time] { return &k.ExpiresAt }),
		member("toUnixTimestamp64Micro(revoked_at)", optionalInstant, func(k *events.Key) *events.Opt[time.Time] { return &k.RevokedAt }),
	}
)

// LoadAccess hands every stored entity of the topic to apply, deleted ones too, and returns how far each partition of
// the topic has been stored: its next offset. Both are one snapshot.
func (r *Reader) LoadAccess(ctx context.Context, topic events.Topic,
	apply func(events.Event)) (map[int32]int64, error) {
	switch topic {
	case events.Projects:
		return loadStored(ctx, r, "projects", projectColumns, apply)
	case events.Users:
		return loadStored(ctx, r, "users", userColumns, apply)
	case events.Memberships:
		return loadStored(ctx, r, "memberships", membershipColumns, apply)
	case events.Keys:
		return loadStored(ctx, r, "keys", keyColumns, apply)
	}
	return nil, fmt.Errorf("load %s: its entities don't decide about access", topic)
}

// LastGap returns when messages of the topic were last found to be lost to what is stored; the zero time when never.
func (r *Reader) LastGap(ctx context.Context, topic events.Topic) (time.Time, error) {
	var found time.Time
	err := r.each(ctx, gapQuery(topic), nil, func(scan func(...any) error) error { return scan(&found) })
	if err != nil {
		return time.Time{}, fmt.Errorf("read gaps: %w", err)
	}
	return found, nil
}

// gapQuery finds the last gap of a topic.
func gapQuery(topic events.Topic) Query {
	return Query{
		SQL:  "SELECT found_at\nFROM gaps FINAL\nWHERE topic = {topic:String}\nORDER BY found_at DESC\nLIMIT 1",
		Args: map[string]any{"topic": string(topic)},
	}
}

// loadStored is LoadAccess for one table.
func loadStored[P any](ctx context.Context, r *Reader, table string, payload columns[P],
	apply func(events.Event)) (map[int32]int64, error) {
	at := make(positions)
	columns := storedColumns(payload)
	query := Query{SQL: "SELECT " + columns.String() + "\nFROM " + table + " FINAL"}
	settings := clickhouse.Settings{"max_result_bytes": maxAccessBytes}
	err := columns.read(ctx, r, query, settings, func(row *stored[P]) error {
		if !at.note(&row.position) {
			apply(row.event())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", table, err)
	}
	return at.byPartition()
}
