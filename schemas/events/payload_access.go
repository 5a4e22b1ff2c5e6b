package events

import (
	"time"

	"tallyhouse/schemas/jsonschema"
)

// User is the payload of Users.
type User struct {
	Name   string
	Email  Opt[string]
	Active bool
}

var user = table("user", "A person.",
	need("name", text, func(u *User) *string { return &u.Name }),
	may("email", text, func(u *User) *Opt[string] { return &u.Email }),
	need("active", boolean, func(u *User) *bool { return &u.Active }).
		doc("an inactive user may do nothing"),
)

// Scope is where a membership holds: exactly one member is set.
type Scope struct {
	ProjectID   Opt[string]
	WorkspaceID Opt[string]
	Tenant      bool
}

var scope = table("scope", "where the membership holds: exactly one of the members is given",
	may("projectId", id, func(s *Scope) *Opt[string] { return &s.ProjectID }),
	may("workspaceId", id, func(s *Scope) *Opt[string] { return &s.WorkspaceID }),
	optional(need("tenant", always, func(s *Scope) *bool { return &s.Tenant }), func(s *Scope) bool { return s.Tenant }).
		doc("can only be true"),
).exactlyOne().checked(func(d *decoder, s *Scope) {
	if !s.ProjectID.Ok && !s.WorkspaceID.Ok && !s.Tenant {
		d.failAt("tenant", "can only be true; for less name a projectId or workspaceId")
	}
})

// always is a boolean that can only be true; reading leaves that to a check of the object, which can say more.
var always = kind[bool]{read: readBool, write: writeBool, schema: &jsonschema.Schema{Const: true}}

// Membership is the payload of Memberships.
type Membership struct {
	UserID string
	Scope  Scope
	Role   string
}

var membership = table("membership", "What a user may do, and where. The strongest role on a project counts.",
	need("userId", id, func(m *Membership) *string { return &m.UserID }),
	need("scope", scope.kind(), func(m *Membership) *Scope { return &m.Scope }),
	need("role", enum("admin", "user", "guest"), func(m *Membership) *string { return &m.Role }),
)

// Key is the payload of Keys. The secret itself is stored nowhere.
type Key struct {
	OwnerUserID  string
	Environment  string
	Prefix       string
	SecretSHA256 string // in lower case
	Financial    bool
	Groups       Opt[[]string]
	ProjectIDs   Opt[[]string]
	ExpiresAt    Opt[time.Time]
	RevokedAt    Opt[time.Time]
}

// keyPrefix has no underscore: pk_<env>_<prefix>_<secret> is cut there.
var keyPrefix = without(chars(1, 100), barred{"_", "an underscore"}).named("keyPrefix", "1 to 100 characters without an underscore")

var fieldGroup = enum("core", "amounts", "budget", "payment", "documents", "accounting", "tax", "financial", "bank")

var key = table("key", "An API key. Its secret is stored nowhere.",
	need("ownerUserId", id, func(k *Key) *string { return &k.OwnerUserID }).
		doc("the user for whom it acts"),
	need("environment", enum("test", "live"), func(k *Key) *string { return &k.Environment }),
	need("prefix", keyPrefix, func(k *Key) *string { return &k.Prefix }),
	need("secretSha256", sha256Hex, func(k *Key) *string { return &k.SecretSHA256 }).
		doc("of the secret alone"),
	need("financial", boolean, func(k *Key) *bool { return &k.Financial }).
		doc("whether it may see loans"),
	may("groups", list(fieldGroup), func(k *Key) *Opt[[]string] { return &k.Groups }).
		doc("the field groups it is limited to; an empty list leaves none"),
	may("projectIds", list(id), func(k *Key) *Opt[[]string] { return &k.ProjectIDs }).
		doc("the projects it is limited to; an empty list leaves none"),
	may("expiresAt", instant, func(k *Key) *Opt[time.Time] { return &k.ExpiresAt }),
	may("revokedAt", instant, func(k *Key) *Opt[time.Time] { return &k.RevokedAt }),
)

// Feedback is the payload of ReceivedFeedback.
type Feedback struct {
	Category   string
	Message    string
	Endpoint   Opt[string]
	Agent      Opt[Agent]
	RequestID  Opt[string]
	Principal  string
	ReceivedAt time.Time
}

// Agent names the program that sent feedback.
type Agent struct {
	Name  Opt[string]
	Model Opt[string]
}

var agent = table("agent", "the program that sent the feedback",
	may("name", chars(0, 200), func(a *Agent) *Opt[string] { return &a.Name }),
	may("model", chars(0, 200), func(a *Agent) *Opt[string] { return &a.Model }),
)

var feedback = table("feedback", "Feedback that the API received and wrote.",
	need("category", enum("bug", "missing", "confusing", "idea", "praise"), func(f *Feedback) *string { return &f.Category }),
	need("message", chars(1, 4000), func(f *Feedback) *string { return &f.Message }),
	may("endpoint", chars(0, 200), func(f *Feedback) *Opt[string] { return &f.Endpoint }),
	may("agent", agent.kind(), func(f *Feedback) *Opt[Agent] { return &f.Agent }),
	may("requestId", chars(0, 200), func(f *Feedback) *Opt[string] { return &f.RequestID }),
	need("principal", text, func(f *Feedback) *string { return &f.Principal }),
	need("receivedAt", instant, func(f *Feedback) *time.Time { return &f.ReceivedAt }),
)
