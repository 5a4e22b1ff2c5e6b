package reader

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tallyhouse/schemas/events"
)

// versionStep is what a version counts in row_version: version * 1024 + restatement.
const versionStep = 1024

// head are the columns that every state table begins with.
type head struct {
	tenant, project, id string
	rowVersion          uint64
	deleted             bool
	at                  int64 // microseconds: see instant
}

const headColumns = "tenant, project, id, row_version, deleted, toUnixTimestamp64Micro(at)"

func (h *head) dest() []any {
	return []any{&h.tenant, &h.project, &h.id, &h.rowVersion, &h.deleted, &h.at}
}

// position reads a position row: the partition and its next offset. ok is false for the row of an entity.
func (h *head) position() (partition int32, next int64, ok bool, err error) {
	if h.tenant != "" {
		return 0, 0, false, nil
	}
	number, err := strconv.ParseInt(strings.TrimPrefix(h.project, "#"), 10, 32)
	if err != nil {
		return 0, 0, true, fmt.Errorf("the position row of %q names no partition", h.project)
	}
	return int32(number), int64(h.rowVersion), true, nil
}

func (h *head) event(data any) events.Event {
	e := events.Event{Envelope: events.Envelope{ID: h.id, TenantID: h.tenant, Version: int64(h.rowVersion / versionStep), Op: events.Upsert, At: time.UnixMicro(h.at).UTC()}, Data: data}
	if h.deleted {
		e.Op, e.Data = events.Delete, nil
	}
	return e
}

// stateTable says how the entities of a topic are read from their table: the columns beside the head, where they are scanned to,
// and the payload made of them.
type stateTable struct {
	name    string
	columns string
	scanner func() (dest []any, payload func() any)
}

// accessTables are the tables of the entities that decide about access.
var accessTables = map[events.Topic]stateTable{
	events.Projects: {"projects", "name, workspace_id, currency, budget_structure_id, inbound_email", func() ([]any, func() any) {
		var name, currency string
		var workspace, structure, email *string
		return []any{&name, &workspace, &currency, &structure, &email}, func() any {
			return &events.Project{Name: name, WorkspaceID: opt(workspace), Currency: currency, BudgetStructureID: opt(structure), InboundEmail: opt(email)}
		}
	}},
	events.Users: {"users", "name, email, active", func() ([]any, func() any) {
		var name string
		var email *string
		var active bool
		return []any{&name, &email, &active}, func() any {
			return &events.User{Name: name, Email: opt(email), Active: active}
		}
	}},
	events.Memberships: {"memberships", "user_id, scope_project_id, scope_workspace_id, scope_tenant, role", func() ([]any, func() any) {
		var user, role string
		var project, workspace *string
		var tenant bool
		return []any{&user, &project, &workspace, &tenant, &role}, func() any {
			return &events.Membership{UserID: user, Scope: events.Scope{ProjectID: opt(project), WorkspaceID: opt(workspace), Tenant: tenant}, Role: role}
		}
	}},
	events.Keys: {"keys", "owner_user_id, environment, prefix, secret_sha256, financial, has_groups, groups, has_project_ids, project_ids, toUnixTimestamp64Micro(expires_at), toUnixTimestamp64Micro(revoked_at)", func() ([]any, func() any) {
		var owner, environment, prefix, sum string
		var financial, hasGroups, hasProjects bool
		var groups, projects []string
		var expires, revoked *int64
		return []any{&owner, &environment, &prefix, &sum, &financial, &hasGroups, &groups, &hasProjects, &projects, &expires, &revoked}, func() any {
			return &events.Key{
				OwnerUserID: owner, Environment: environment, Prefix: prefix, SecretSHA256: sum, Financial: financial,
				Groups:     events.Opt[[]string]{V: groups, Ok: hasGroups},
				ProjectIDs: events.Opt[[]string]{V: projects, Ok: hasProjects},
				ExpiresAt:  instant(expires), RevokedAt: instant(revoked),
			}
		}
	}},
}

// LoadAccess hands every stored entity of the topic to apply, deleted ones too, and returns how far each partition of the topic has
// been stored: its next offset. Both are one snapshot.
func (r *Reader) LoadAccess(ctx context.Context, topic events.Topic, apply func(events.Event)) (map[int32]int64, error) {
	table, ok := accessTables[topic]
	if !ok {
		return nil, fmt.Errorf("load %s: it has nothing to do with access", topic)
	}
	positions := make(map[int32]int64)
	query := Query{SQL: "SELECT " + headColumns + ", " + table.columns + "\nFROM " + table.name + " FINAL"}
	var h head
	columns, payload := table.scanner()
	dest := append(h.dest(), columns...)
	err := r.each(ctx, query, nil, func(scan func(...any) error) error {
		if err := scan(dest...); err != nil {
			return err
		}
		partition, next, isPosition, err := h.position()
		switch {
		case err != nil:
			return err
		case isPosition:
			positions[partition] = next
		default:
			apply(h.event(payload()))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", table.name, err)
	}
	return positions, nil
}

// opt is the value of a nullable column.
func opt[T any](p *T) events.Opt[T] {
	if p == nil {
		return events.Opt[T]{}
	}
	return events.Some(*p)
}

// instant is the value of a nullable column of instants, which are read in microseconds: the driver's own conversion counts
// nanoseconds, which 64 bits hold only until 2262.
func instant(micros *int64) events.Opt[time.Time] {
	if micros == nil {
		return events.Opt[time.Time]{}
	}
	return events.Some(time.UnixMicro(*micros).UTC())
}
