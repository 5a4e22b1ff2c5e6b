package reader

import (
	"context"
	"fmt"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// MailedRecord is what the table of records has of a mailed record.
type MailedRecord struct {
	Version  int64
	At       time.Time // of that version
	Gone     bool      // deleted, or moved to another project
	Status   string    // of the intake
	Received events.Opt[time.Time]
	Values   analytics.InvoiceValues
}

var mailedRecordColumns = columns[MailedRecord]{
	member("toInt64(row_version)", plain, func(r *MailedRecord) *int64 { return &r.Version }),
	member("toUnixTimestamp64Micro(at)", instant, func(r *MailedRecord) *time.Time { return &r.At }),
	member("deleted OR moved", plain, func(r *MailedRecord) *bool { return &r.Gone }),
	member("intake_status", text[string], func(r *MailedRecord) *string { return &r.Status }),
	member("toUnixTimestamp64Micro(received_at)", optionalInstant, func(r *MailedRecord) *events.Opt[time.Time] { return &r.Received }),
	member("invoice_number", nullable, func(r *MailedRecord) *events.Opt[string] { return &r.Values.Number }),
	member("toInt32(recognition_date)", day, func(r *MailedRecord) *events.Opt[calendar.Date] { return &r.Values.Date }),
	member("toInt32(due_date)", day, func(r *MailedRecord) *events.Opt[calendar.Date] { return &r.Values.DueDate }),
	member("counterparty_name", nullable, func(r *MailedRecord) *events.Opt[string] { return &r.Values.SupplierName }),
	member("contractor_id", optional, func(r *MailedRecord) *events.Opt[string] { return &r.Values.Contractor }),
	member("currency", optional, func(r *MailedRecord) *events.Opt[string] { return &r.Values.Currency }),
	member("net", nullable, func(r *MailedRecord) *events.Opt[int64] { return &r.Values.Net }),
	member("tax", nullable, func(r *MailedRecord) *events.Opt[int64] { return &r.Values.Tax }),
	member("gross", nullable, func(r *MailedRecord) *events.Opt[int64] { return &r.Values.Gross }),
}

func mailedRecordQuery(tenant, project, id string) Query {
	return Query{
		SQL: "SELECT " + mailedRecordColumns.String() + `
FROM records FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String}
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "project": project, "id": id},
	}
}

// MailedRecord returns the newest version of a record that came by mail, whatever became of it, or ErrNotFound.
func (r *Reader) MailedRecord(ctx context.Context, tenant, project, id string) (MailedRecord, error) {
	var found []MailedRecord
	err := mailedRecordColumns.read(ctx, r, mailedRecordQuery(tenant, project, id), pageSettings, func(one *MailedRecord) error {
		found = append(found, *one)
		return nil
	})
	switch {
	case err != nil:
		return MailedRecord{}, fmt.Errorf("read a mailed record: %w", err)
	case len(found) == 0:
		return MailedRecord{}, ErrNotFound
	}
	return found[0], nil
}

// MailedVersion is a version of a record that came by mail, or of its reading.
type MailedVersion struct {
	Version      int64
	OfReading    bool
	At           time.Time
	Gone         bool   // deleted, or moved to another project
	Status       string // of the record, or of the reading
	IntakeStatus string // of the record
	ConfirmedBy  string // of the reading: the user, "" when nobody did
}

var mailedVersionColumns = columns[MailedVersion]{
	member("toInt64(row_version)", plain, func(v *MailedVersion) *int64 { return &v.Version }),
	member("of = 'readings'", plain, func(v *MailedVersion) *bool { return &v.OfReading }),
	member("toUnixTimestamp64Micro(at)", instant, func(v *MailedVersion) *time.Time { return &v.At }),
	member("gone = 1", plain, func(v *MailedVersion) *bool { return &v.Gone }),
	member("status", text[string], func(v *MailedVersion) *string { return &v.Status }),
	member("intake_status", text[string], func(v *MailedVersion) *string { return &v.IntakeStatus }),
	member("confirmed_by", plain, func(v *MailedVersion) *string { return &v.ConfirmedBy }),
}

func mailedVersionsQuery(tenant, project, id string, most int) Query {
	return Query{
		SQL: "SELECT " + mailedVersionColumns.String() + `
FROM history FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id = {id:String}
ORDER BY row_version DESC, of DESC
LIMIT {most:UInt32}`,
		Args: map[string]any{"tenant": tenant, "project": project, "id": id, "most": most},
	}
}

// MailedVersions returns the newest versions of a record that came by mail and of its reading, while they were in this project, newest
// first: so many at most.
func (r *Reader) MailedVersions(ctx context.Context, tenant, project, id string, most int) ([]MailedVersion, error) {
	var all []MailedVersion
	err := mailedVersionColumns.read(ctx, r, mailedVersionsQuery(tenant, project, id, most), pageSettings, func(v *MailedVersion) error {
		all = append(all, *v)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the history of a mailed record: %w", err)
	}
	return all, nil
}

const contractorNameQuery = `SELECT name
FROM contractors FINAL
WHERE tenant = {tenant:String} AND project = '' AND id = {id:String} AND NOT deleted
LIMIT 1`

// ContractorName returns the name of one of the tenant's contractors, or ErrNotFound.
func (r *Reader) ContractorName(ctx context.Context, tenant, id string) (name events.Opt[string], err error) {
	found := false
	columns := columns[events.Opt[string]]{member("name", nullable, func(n *events.Opt[string]) *events.Opt[string] { return n })}
	err = columns.read(ctx, r, Query{SQL: contractorNameQuery, Args: map[string]any{"tenant": tenant, "id": id}}, pageSettings,
		func(n *events.Opt[string]) error {
			name, found = *n, true
			return nil
		})
	switch {
	case err != nil:
		return events.Opt[string]{}, fmt.Errorf("read a contractor: %w", err)
	case !found:
		return events.Opt[string]{}, ErrNotFound
	}
	return name, nil
}
