package desktest

import (
	"context"

	"tallyhouse/api/desk"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/reader"
	"tallyhouse/schemas/events"
)

// mostMails bounds the mails that are looked at.
const mostMails = 50

// Mails are the newest mails of a project with their records, as the tables show them.
func Mails(ctx context.Context, inbox desk.Inbox, tenant, project string) (all []confirmation.State, err error) {
	page, err := inbox.Inbox(ctx, reader.InboxFilter{Tenant: tenant, Projects: []string{project}}, events.Opt[reader.InboxPlace]{}, mostMails)
	if err != nil {
		return nil, err
	}
	for _, l := range page.Lines {
		state, err := confirmation.StateOf(ctx, inbox, tenant, l)
		if err != nil {
			return nil, err
		}
		all = append(all, state)
	}
	return all, nil
}
