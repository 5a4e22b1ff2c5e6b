package api

import (
	"context"
	"encoding/binary"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/api/cursor"
	"tallyhouse/api/query"
	"tallyhouse/api/resource"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

type snapshotField = resource.Field[reader.Snapshot]

// snapshotTable is what the API shows of a month-end snapshot (docs/calculations.md#month-end-snapshots).
var snapshotTable = resource.NewTable("ForecastSnapshot", "A forecast as it was frozen at a month's end.",
	snapshotField{Name: "month", Groups: access.Amounts,
		Value: resource.Month(func(s *reader.Snapshot) calendar.Month { return s.Month })},
	snapshotField{Name: "version", Groups: access.Amounts,
		Value:       resource.Whole(func(s *reader.Snapshot) int64 { return s.Version }),
		Description: "1, or higher for a correction or resubmission."},
	snapshotField{Name: "status", Groups: access.Amounts,
		Value: resource.Text(func(s *reader.Snapshot) string { return s.Status }).OneOf("submitted", "approved", "rejected")},
	snapshotField{Name: "official", Groups: access.Amounts,
		Value:       resource.Flag(func(s *reader.Snapshot) bool { return s.Official }),
		Description: "True for the one approved version that counts for the month."},
	snapshotField{Name: "currency", Groups: access.Amounts,
		Value: resource.Currency(func(s *reader.Snapshot) string { return s.Currency })},
	snapshotField{Name: "submittedAt", Groups: access.Amounts,
		Value: resource.NullInstant(func(s *reader.Snapshot) events.Opt[time.Time] { return s.SubmittedAt })},
	snapshotField{Name: "decidedAt", Groups: access.Amounts,
		Value: resource.NullInstant(func(s *reader.Snapshot) events.Opt[time.Time] { return s.DecidedAt })},
	snapshotField{Name: "totals", Groups: access.Amounts,
		Value: resource.NullObject(snapshotTotalsTable,
			func(s *reader.Snapshot) *analytics.Estimate { return &s.Totals }),
		Description: "Over the top lines."},
	snapshotField{Name: "changesSincePrevious", Groups: access.Amounts,
		Value: resource.List(eacChangeTable, func(s *reader.Snapshot) []analytics.EACChange { return s.Changes }),
		Description: "How far the estimate of each line moved since the previous approved month. Only getForecastSnapshot " +
			"has it."},
)

var snapshotTotalsTable = resource.NewTable("SnapshotTotals", "A snapshot's totals.",
	total("budget", func(t *analytics.Estimate) analytics.Int128 { return t.Budget }),
	total("committed", func(t *analytics.Estimate) analytics.Int128 { return t.Committed }),
	total("pendingChanges", func(t *analytics.Estimate) analytics.Int128 { return t.PendingChanges }),
	total("uncommitted", func(t *analytics.Estimate) analytics.Int128 { return t.Uncommitted }),
	total("eac", (*analytics.Estimate).EAC),
	total("variance", (*analytics.Estimate).Variance),
	total("invoiced", func(t *analytics.Estimate) analytics.Int128 { return t.Invoiced }),
	total("paid", func(t *analytics.Estimate) analytics.Int128 { return t.Paid }),
	total("costToComplete", (*analytics.Estimate).CostToComplete),
)

func total(name string, get func(t *analytics.Estimate) analytics.Int128) resource.Field[analytics.Estimate] {
	return resource.Field[analytics.Estimate]{Name: name, Groups: access.Amounts, Required: true,
		Value: resource.Units(get)}
}

var eacChangeTable = resource.NewTable("EacChange",
	"How far a line's own estimate at completion moved, without those of the lines below it.",
	resource.Field[analytics.EACChange]{Name: "budgetNodeId", Groups: access.Amounts, Required: true,
		Value: resource.Text(func(c *analytics.EACChange) string { return string(c.NodeID) })},
	resource.Field[analytics.EACChange]{Name: "eacBefore", Groups: access.Amounts, Required: true,
		Value: resource.NullUnits(func(c *analytics.EACChange) events.Opt[analytics.Int128] {
			return events.Opt[analytics.Int128]{V: c.Before, Ok: c.HasBefore}
		}),
		Description: "Null when the line was not in the previous snapshot, and where it is beyond the range of amounts."},
	resource.Field[analytics.EACChange]{Name: "eacAfter", Groups: access.Amounts, Required: true,
		Value: resource.NullUnits(func(c *analytics.EACChange) events.Opt[analytics.Int128] {
			return events.Some(c.After)
		}),
		Description: beyondRange},
	resource.Field[analytics.EACChange]{Name: "eacDelta", Groups: access.Amounts, Required: true,
		Value: resource.NullUnits(func(c *analytics.EACChange) events.Opt[analytics.Int128] {
			return events.Some(c.Delta())
		}),
		Description: beyondRange},
	resource.Field[analytics.EACChange]{Name: "explained", Groups: access.Amounts, Required: true,
		Value:       resource.Flag(func(c *analytics.EACChange) bool { return c.Explained }),
		Description: "A reason was given for exactly this line. The reasons are not shown."},
)

var listForecastSnapshots = operation{
	id: "listForecastSnapshots", path: "/v0/projects/{projectId}/forecast/snapshots",
	summary:     "List forecast snapshots",
	description: "The month-end forecasts of a project, newest month first, then the highest version.",
	params:      paging,
	lists:       reader.SnapshotsTable,
	rank:        snapshotRankSize,
	returns:     list(snapshotTable.Reference()),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok {
			return nil, reader.ErrNotFound
		}
		wanted := reader.SnapshotPage{Tenant: c.caller.Tenant(), ProjectID: project.ID, Currency: project.Currency,
			Limit: c.limit()}
		if c.rank != "" {
			place, err := openSnapshotPlace(c.rank, c.after)
			if err != nil {
				return nil, err
			}
			wanted.After = events.Some(place)
		}
		var snapshots []reader.Snapshot
		var more bool
		// To a caller who sees no amounts not even the number of snapshots is shown.
		if project.Groups.Has(access.Amounts) {
			var err error
			if snapshots, more, err = c.reader.Snapshots(ctx, wanted); err != nil {
				return nil, err
			}
		}
		return writePage(s, c, page[reader.Snapshot]{items: snapshots, more: more,
			place: snapshotPlace,
			write: shown(snapshotTable.Without("changesSincePrevious"),
				func(*reader.Snapshot) access.Groups { return project.Groups })}), nil
	},
}

var getForecastSnapshot = operation{
	id: "getForecastSnapshot", path: "/v0/projects/{projectId}/forecast/snapshots/{month}",
	summary:     "Get a forecast snapshot",
	description: "The approved snapshot that counts for the month, with what changed since the previous approved month.",
	pathTypes:   map[string]query.Type{"month": query.Month()},
	returns:     snapshotTable.Reference(),
	answer: func(ctx context.Context, s *Server, c *call) (writer, error) {
		month, err := calendar.ParseAnyMonth(c.path["month"])
		if err != nil {
			return nil, err // has been checked
		}
		project, ok := c.caller.Project(c.path["projectId"])
		if !ok || !project.Groups.Has(access.Amounts) {
			return nil, reader.ErrNotFound
		}
		snapshot, err := c.reader.OfficialSnapshot(ctx, c.caller.Tenant(), project.ID, project.Currency, month)
		return writeOne(snapshotTable, project.Groups, &snapshot), err
	},
}

// A snapshot is placed by its month and version, and then by its id.
const snapshotRankSize = 4 + 8

func snapshotPlace(s *reader.Snapshot) (rank, id string) {
	month := binary.BigEndian.AppendUint32(nil, uint32(s.Month))
	return string(binary.BigEndian.AppendUint64(month, uint64(s.Version))), s.ID
}

func openSnapshotPlace(rank, id string) (reader.SnapshotPlace, error) {
	if len(rank) != snapshotRankSize {
		return reader.SnapshotPlace{}, cursor.ErrInvalid
	}
	return reader.SnapshotPlace{
		Month:   calendar.Month(binary.BigEndian.Uint32([]byte(rank[:4]))),
		Version: int64(binary.BigEndian.Uint64([]byte(rank[4:]))), ID: id,
	}, nil
}
