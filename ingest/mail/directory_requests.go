package mail

import (
	"context"
	"fmt"

	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

const newestRequestQuery = `SELECT row_version FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String}`

// newestRequest is the version of the newest request of an id that the table has, 0 without one.
func (d directory) newestRequest(ctx context.Context, tenant, project, id string) (int64, error) {
	var newest uint64
	params := database.Params{"tenant": database.Text(tenant), "project": database.Text(project), "id": database.Text(id)}
	err := d.shards.Each(ctx, newestRequestQuery, params, func(scan func(...any) error) error {
		var version uint64
		err := scan(&version)
		newest = max(newest, version)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("read the newest request: %w", err)
	}
	return int64(newest), nil
}

const allowedSendersQuery = `SELECT sender FROM intake_requests FINAL
WHERE tenant = {tenant:String} AND project = '' AND startsWith(id, 'sender:') AND NOT deleted AND action = 'allow'
ORDER BY requested_at, id LIMIT {most:UInt32}`

// allowedSenders are the senders that people have allowed.
func (d directory) allowedSenders(ctx context.Context, tenant string) ([]string, error) {
	var all []string
	params := database.Params{"tenant": database.Text(tenant), "most": fmt.Sprint(events.MostAllowedSenders)}
	err := d.shards.Each(ctx, allowedSendersQuery, params, func(scan func(...any) error) error {
		var sender string
		err := scan(&sender)
		all = append(all, sender)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the senders that are allowed: %w", err)
	}
	return all, nil
}
