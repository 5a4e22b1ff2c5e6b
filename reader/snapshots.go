package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Snapshot is a month-end forecast with what is derived from it (docs/calculations.md#month-end-snapshots).
type Snapshot struct {
	analytics.Snapshot
	Official bool
	Currency string
	Totals   analytics.Estimate
	Changes  []analytics.EACChange // since the previous official one; only of a single snapshot
}

// SnapshotPlace is a place in the list of a project's snapshots.
type SnapshotPlace struct {
	Month   calendar.Month
	Version int64
	ID      string
}

// SnapshotPage says which snapshots are wanted.
type SnapshotPage struct {
	Tenant    string
	ProjectID string
	Currency  string // of the project
	After     events.Opt[SnapshotPlace]
	Limit     int
}

// storedSnapshot is a snapshot and the version of its row.
type storedSnapshot struct {
	analytics.Snapshot
	rowVersion uint64
}

// A snapshot without its lines, and its lines.
var (
	snapshotHead = columns[storedSnapshot]{
		member("id", plain, func(s *storedSnapshot) *string { return &s.ID }),
		member("row_version", plain, func(s *storedSnapshot) *uint64 { return &s.rowVersion }),
		member("month", month, func(s *storedSnapshot) *calendar.Month { return &s.Month }),
		member("version", plain, func(s *storedSnapshot) *int64 { return &s.Version }),
		member("status", plain, func(s *storedSnapshot) *string { return &s.Status }),
		member("toUnixTimestamp64Micro(submitted_at)", optionalInstant, func(s *storedSnapshot) *events.Opt[time.Time] { return &s.SubmittedAt }),
		member("toUnixTimestamp64Micro(decided_at)", optionalInstant, func(s *storedSnapshot) *events.Opt[time.Time] { return &s.DecidedAt }),
	}
	snapshotNames = columns[analytics.Snapshot]{
		elements("line_node", linesOf, func(l *events.SnapshotLine, node string) { l.NodeID = node }),
		elements("line_parent", linesOf, func(l *events.SnapshotLine, parent string) { l.ParentID = textOrNone(parent) }),
		elements("line_level", linesOf, func(l *events.SnapshotLine, level string) { l.Level = level }),
		elements("line_code", linesOf, func(l *events.SnapshotLine, code string) { l.Code = code }),
		elements("line_name", linesOf, func(l *events.SnapshotLine, name string) { l.Name = name }),
	}
	snapshotAmounts = columns[analytics.Snapshot]{
		elements("line_budget", linesOf, func(l *events.SnapshotLine, value int64) { l.Budget = value }),
		elements("line_committed", linesOf, func(l *events.SnapshotLine, value int64) { l.Committed = value }),
		elements("line_pending_changes", linesOf, func(l *events.SnapshotLine, value int64) { l.PendingChanges = value }),
		elements("line_uncommitted", linesOf, func(l *events.SnapshotLine, value int64) { l.Uncommitted = value }),
		elements("line_uncommitted_defaulted", linesOf,
			func(l *events.SnapshotLine, defaulted bool) { l.UncommittedDefaulted = defaulted }),
		elements("line_invoiced", linesOf, func(l *events.SnapshotLine, value int64) { l.Invoiced = value }),
		elements("line_paid", linesOf, func(l *events.SnapshotLine, value int64) { l.Paid = value }),
	}
	snapshotID = columns[analytics.Snapshot]{member("id", plain,
		func(s *analytics.Snapshot) *string { return &s.ID })}
	snapshotExplanations = columns[analytics.Snapshot]{
		elements("explanation_node", explanationsOf, func(e *events.Explanation, node string) { e.NodeID = node }),
		elements("explanation_reason", explanationsOf, func(e *events.Explanation, reason string) { e.Reason = reason }),
	}
)

func linesOf(s *analytics.Snapshot) *[]events.SnapshotLine { return &s.Lines }

func explanationsOf(s *analytics.Snapshot) *[]events.Explanation { return &s.Explanations }

// snapshotHeadsQuery reads a project's snapshots without their lines.
func snapshotHeadsQuery(tenant, project string) Query {
	return Query{
		SQL: "SELECT " + snapshotHead.String() + `
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}

// lineScope says which lines of a snapshot are read.
type lineScope uint8

const (
	allLines  lineScope = iota
	topTotals           // the amounts that totals add up: those of the top lines
)

// columns are what is read of the snapshots beside their heads.
func (s lineScope) columns() columns[analytics.Snapshot] {
	if s == topTotals {
		return slices.Concat(snapshotID, snapshotAmounts.wrapped("arrayFilter((value, parent) -> parent = '', %, line_parent)"))
	}
	return slices.Concat(snapshotID, snapshotNames, snapshotAmounts, snapshotExplanations)
}

// snapshotLinesQuery reads the lines of some snapshots, each in the version that its head was read in.
func snapshotLinesQuery(tenant, project string, ids []string, versions []uint64, scope lineScope) Query {
	return Query{
		SQL: "SELECT " + scope.columns().String() + `
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id IN {ids:Array(String)}
  AND row_version = {versions:Array(UInt64)}[indexOf({ids:Array(String)}, id)]`,
		Args: map[string]any{"tenant": tenant, "project": project, "ids": ids, "versions": versions},
	}
}

// Snapshots returns a page of a project's snapshots, newest first, and whether others follow. It is cut where their lines
// are many.
func (r *Reader) Snapshots(ctx context.Context, p SnapshotPage) (shown []Snapshot, more bool, err error) {
	var official map[calendar.Month]*analytics.Snapshot
	var found []*analytics.Snapshot
	has, more, err := r.page(ctx, pageSettings, p.Limit, func(ask int, settings clickhouse.Settings) (_ int, err error) {
		found, err = r.snapshots(ctx, p.Tenant, p.ProjectID, topTotals, settings,
			func(heads []analytics.Snapshot) []*analytics.Snapshot {
				official = analytics.Official(heads)
				return p.of(heads, ask)
			})
		return len(found), err
	})
	if err != nil {
		return nil, false, fmt.Errorf("read forecast snapshots: %w", err)
	}
	for _, s := range found[:has] {
		shown = append(shown, Snapshot{Snapshot: *s, Official: official[s.Month] == s, Currency: p.Currency,
			Totals: s.Totals()})
	}
	return shown, more, nil
}

// of picks the snapshots of the page out of all of them.
func (p SnapshotPage) of(heads []analytics.Snapshot, ask int) (page []*analytics.Snapshot) {
	var after *analytics.Snapshot
	if place := p.After.V; p.After.Ok {
		after = &analytics.Snapshot{ID: place.ID,
			ForecastSnapshot: events.ForecastSnapshot{Month: place.Month, Version: place.Version}}
	}
	for i := range heads {
		if after == nil || analytics.NewestFirst(after, &heads[i]) < 0 {
			page = append(page, &heads[i])
		}
	}
	slices.SortFunc(page, analytics.NewestFirst)
	return page[:min(len(page), ask)]
}

// OfficialSnapshot returns the approved snapshot that counts for the month, with what changed since the one before, or
// ErrNotFound.
func (r *Reader) OfficialSnapshot(ctx context.Context, tenant, project, currency string,
	month calendar.Month) (Snapshot, error) {
	found, err := r.snapshots(ctx, tenant, project, allLines, pageSettings, func(heads []analytics.Snapshot) []*analytics.Snapshot {
		official := analytics.Official(heads)
		if official[month] == nil {
			return nil
		}
		wanted := []*analytics.Snapshot{official[month]}
		if previous := analytics.Previous(official, month); previous != nil {
			wanted = append(wanted, previous)
		}
		return wanted
	})
	if err != nil {
		return Snapshot{}, fmt.Errorf("read a forecast snapshot: %w", err)
	}
	if len(found) == 0 {
		return Snapshot{}, ErrNotFound
	}
	var previous *analytics.Snapshot
	if len(found) > 1 {
		previous = found[1]
	}
	s := found[0]
	return Snapshot{Snapshot: *s, Official: true, Currency: currency, Totals: s.Totals(),
		Changes: s.ChangesSince(previous)}, nil
}

// snapshotTries bounds how often snapshots are read again because they changed between their heads and their lines.
const snapshotTries = 5

var errUnsteady = errors.New("they keep changing while they are read")

// snapshots reads the heads of all snapshots of a project, lets pick choose, and reads the lines of those. Heads and
// lines are of the same versions: when one changed in between, both are read again. The settings are those of the lines.
func (r *Reader) snapshots(ctx context.Context, tenant, project string, scope lineScope, settings clickhouse.Settings,
	pick func(heads []analytics.Snapshot) []*analytics.Snapshot) ([]*analytics.Snapshot, error) {
	for range snapshotTries {
		heads, versions, err := r.snapshotHeads(ctx, tenant, project)
		if err != nil {
			return nil, err
		}
		picked := pick(heads)
		if len(picked) == 0 {
			return nil, nil
		}
		complete, err := r.readLines(ctx, tenant, project, scope, settings, picked, versions)
		if err != nil || complete {
			return picked, err
		}
	}
	return nil, errUnsteady
}

func (r *Reader) snapshotHeads(ctx context.Context, tenant,
	project string) (heads []analytics.Snapshot, versions map[string]uint64, err error) {
	versions = make(map[string]uint64)
	err = snapshotHead.read(ctx, r, snapshotHeadsQuery(tenant, project), pageSettings, func(row *storedSnapshot) error {
		row.ProjectID = project
		heads, versions[row.ID] = append(heads, row.Snapshot), row.rowVersion
		return nil
	})
	return heads, versions, err
}

// readLines fills in the lines, and reports whether all snapshots still were as their heads say.
func (r *Reader) readLines(ctx context.Context, tenant, project string, scope lineScope, settings clickhouse.Settings,
	picked []*analytics.Snapshot, versions map[string]uint64) (complete bool, err error) {
	byID := make(map[string]*analytics.Snapshot, len(picked))
	ids, want := make([]string, len(picked)), make([]uint64, len(picked))
	for i, s := range picked {
		byID[s.ID], ids[i], want[i] = s, s.ID, versions[s.ID]
	}
	read := 0
	err = scope.columns().read(ctx, r, snapshotLinesQuery(tenant, project, ids, want, scope), settings,
		func(row *analytics.Snapshot) error {
			read++
			s := byID[row.ID]
			s.Lines, s.Explanations = row.Lines, row.Explanations
			return nil
		})
	return read == len(picked), err
}
