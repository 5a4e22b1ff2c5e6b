package store

import (
	"strings"
	"time"

	"tallyhouse/schemas/events"
)

func users() *Entity {
	type user = events.User
	return &Entity{
		Topic: events.Users,
		Table: "users",
		Columns: []Column{
			textColumn("name", func(u *user) string { return u.Name }),
			textOrNull("email", func(u *user) events.Opt[string] { return u.Email }),
			boolColumn("active", func(u *user) bool { return u.Active }),
		},
		project: noProject,
	}
}

func memberships() *Entity {
	type membership = events.Membership
	return &Entity{
		Topic: events.Memberships,
		Table: "memberships",
		Columns: []Column{
			textColumn("user_id", func(m *membership) string { return m.UserID }),
			textOrNull("scope_project_id", func(m *membership) events.Opt[string] { return m.Scope.ProjectID }),
			textOrNull("scope_workspace_id", func(m *membership) events.Opt[string] { return m.Scope.WorkspaceID }),
			boolColumn("scope_tenant", func(m *membership) bool { return m.Scope.Tenant }),
			textColumn("role", func(m *membership) string { return m.Role }),
		},
		project: noProject,
	}
}

func keys() *Entity {
	type key = events.Key
	return &Entity{
		Topic: events.Keys,
		Table: "keys",
		Columns: []Column{
			textColumn("owner_user_id", func(k *key) string { return k.OwnerUserID }),
			textColumn("environment", func(k *key) string { return k.Environment }),
			textColumn("prefix", func(k *key) string { return k.Prefix }),
			textColumn("secret_sha256", func(k *key) string { return strings.ToLower(k.SecretSHA256) }),
			boolColumn("financial", func(k *key) bool { return k.Financial }),
			boolColumn("has_groups", func(k *key) bool { return k.Groups.Ok }),
			textsColumn("groups", func(k *key) []string { return k.Groups.V }, itself),
			boolColumn("has_project_ids", func(k *key) bool { return k.ProjectIDs.Ok }),
			textsColumn("project_ids", func(k *key) []string { return k.ProjectIDs.V }, itself),
			instantOrNull("expires_at", func(k *key) events.Opt[time.Time] { return k.ExpiresAt }),
			instantOrNull("revoked_at", func(k *key) events.Opt[time.Time] { return k.RevokedAt }),
		},
		project: noProject,
	}
}
