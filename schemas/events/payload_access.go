package events

import (
	"math/bits"
	"strings"
	"time"
)

var user = table(
	need("name", text, func(u *User) *string { return &u.Name }),
	may("email", text, func(u *User) *Opt[string] { return &u.Email }),
	need("active", boolean, func(u *User) *bool { return &u.Active }),
)

var scope = table(
	may("projectId", id, func(s *Scope) *Opt[string] { return &s.ProjectID }),
	may("workspaceId", id, func(s *Scope) *Opt[string] { return &s.WorkspaceID }),
	optional(need("tenant", boolean, func(s *Scope) *bool { return &s.Tenant }), func(s *Scope) bool { return s.Tenant }),
).checked(func(d *decoder, s *Scope, given uint64) {
	switch {
	case bits.OnesCount64(given) != 1:
		d.fail("must have exactly one of projectId, workspaceId and tenant")
	case !s.ProjectID.Ok && !s.WorkspaceID.Ok && !s.Tenant:
		d.failAt("tenant", "can only be true; for less name a projectId or workspaceId")
	}
})

var membership = table(
	need("userId", id, func(m *Membership) *string { return &m.UserID }),
	need("scope", scope.kind(), func(m *Membership) *Scope { return &m.Scope }),
	need("role", enum("admin", "user", "guest"), func(m *Membership) *string { return &m.Role }),
)

var fieldGroup = enum("core", "amounts", "budget", "payment", "documents", "accounting", "tax", "financial", "bank")

// keyPrefix has no underscore: pk_<env>_<prefix>_<secret> is cut there.
var keyPrefix = kind[string]{write: writeText, read: func(d *decoder, v *string) {
	chars(1, 100).read(d, v)
	if strings.Contains(*v, "_") {
		d.fail("must not contain an underscore, but is %s", quoted(*v))
	}
}}

var key = table(
	need("ownerUserId", id, func(k *Key) *string { return &k.OwnerUserID }),
	need("environment", enum("test", "live"), func(k *Key) *string { return &k.Environment }),
	need("prefix", keyPrefix, func(k *Key) *string { return &k.Prefix }),
	need("secretSha256", sha256Hex, func(k *Key) *string { return &k.SecretSHA256 }),
	need("financial", boolean, func(k *Key) *bool { return &k.Financial }),
	may("groups", list(fieldGroup), func(k *Key) *Opt[[]string] { return &k.Groups }),
	may("projectIds", list(id), func(k *Key) *Opt[[]string] { return &k.ProjectIDs }),
	may("expiresAt", instant, func(k *Key) *Opt[time.Time] { return &k.ExpiresAt }),
	may("revokedAt", instant, func(k *Key) *Opt[time.Time] { return &k.RevokedAt }),
)

var agent = table(
	may("name", chars(0, 200), func(a *Agent) *Opt[string] { return &a.Name }),
	may("model", chars(0, 200), func(a *Agent) *Opt[string] { return &a.Model }),
)

// feedback has the bounds of the API that writes it (calculations 10).
var feedback = table(
	need("category", enum("bug", "missing", "confusing", "idea", "praise"), func(f *Feedback) *string { return &f.Category }),
	need("message", chars(1, 4000), func(f *Feedback) *string { return &f.Message }),
	may("endpoint", chars(0, 200), func(f *Feedback) *Opt[string] { return &f.Endpoint }),
	may("agent", agent.kind(), func(f *Feedback) *Opt[Agent] { return &f.Agent }),
	may("requestId", chars(0, 200), func(f *Feedback) *Opt[string] { return &f.RequestID }),
	need("principal", text, func(f *Feedback) *string { return &f.Principal }),
	need("receivedAt", instant, func(f *Feedback) *time.Time { return &f.ReceivedAt }),
)
