package reader

import (
	"context"
	"fmt"
	"time"

	"tallyhouse/schemas/events"
)

// IntakeRequest is the newest that people asked the intake of mail for about a mail or a sender
// (docs/mail.md#what-people-ask-for).
type IntakeRequest struct {
	ID         string
	Version    int64
	Action     string
	Sender     string // "" when it is about a mail
	By         string // "" where a command asked
	At         time.Time
	Outcome    string // "" while nobody has heeded it
	Detail     string
	AnsweredAt events.Opt[time.Time]
}

var intakeRequestColumns = columns[IntakeRequest]{
	member("id", plain, func(r *IntakeRequest) *string { return &r.ID }),
	member("toInt64(row_version)", plain, func(r *IntakeRequest) *int64 { return &r.Version }),
	member("action", plain, func(r *IntakeRequest) *string { return &r.Action }),
	member("sender", plain, func(r *IntakeRequest) *string { return &r.Sender }),
	member("requested_by", plain, func(r *IntakeRequest) *string { return &r.By }),
	member("toUnixTimestamp64Micro(assumeNotNull(requested_at))", instant, func(r *IntakeRequest) *time.Time { return &r.At }),
	member("outcome", plain, func(r *IntakeRequest) *string { return &r.Outcome }),
	member("detail", plain, func(r *IntakeRequest) *string { return &r.Detail }),
	member("toUnixTimestamp64Micro(answered_at)", optionalInstant, func(r *IntakeRequest) *events.Opt[time.Time] { return &r.AnsweredAt }),
}

// intakeRequestsQuery finds the requests of some ids in some projects.
func intakeRequestsQuery(tenant string, projects, ids []string) Query {
	return Query{
		SQL: "SELECT " + intakeRequestColumns.String() + `
FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id IN {ids:Array(String)} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "ids": ids},
	}
}

// IntakeRequests returns the newest requests of some ids, mails' or senders', in some projects, by id; "" stands for mails
// that no project is known of, and for senders.
func (r *Reader) IntakeRequests(ctx context.Context, tenant string, projects, ids []string) (map[string]IntakeRequest, error) {
	all := map[string]IntakeRequest{}
	if len(ids) == 0 {
		return all, nil
	}
	err := intakeRequestColumns.read(ctx, r, intakeRequestsQuery(tenant, projects, ids), pageSettings, func(q *IntakeRequest) error {
		all[q.ID] = *q
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what people asked for: %w", err)
	}
	return all, nil
}

// allowedSendersQuery finds the senders that people allow, those first that were allowed first.
func allowedSendersQuery(tenant string, most int) Query {
	return Query{
		SQL: "SELECT " + intakeRequestColumns.String() + `
FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project = '' AND startsWith(id, 'sender:') AND NOT deleted AND action = {allow:String}
ORDER BY requested_at, id
LIMIT {most:UInt32}`,
		Args: map[string]any{"tenant": tenant, "allow": events.RequestAllow, "most": most},
	}
}

// AllowedSenders returns the senders that people allow, at most so many, those first that were allowed first.
func (r *Reader) AllowedSenders(ctx context.Context, tenant string, most int) (all []IntakeRequest, err error) {
	err = intakeRequestColumns.read(ctx, r, allowedSendersQuery(tenant, most), pageSettings, func(q *IntakeRequest) error {
		all = append(all, *q)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the senders that are allowed: %w", err)
	}
	return all, nil
}
