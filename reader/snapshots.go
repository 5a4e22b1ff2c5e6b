package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// storedSnapshot is a snapshot with the version of its row and the totals of its lines.
type storedSnapshot struct {
	analytics.Snapshot
	rowVersion uint64
	totals     analytics.Estimate
}

// A snapshot without its lines, and its lines. They travel as texts, in which an instant is its number by itself and all totals are one
// value: to take these out one by one costs the engine a fifth of the statement.
var (
	snapshotHead = columns[storedSnapshot]{
		member("id", plain, func(s *storedSnapshot) *string { return &s.ID }),
		member("row_version", plain, func(s *storedSnapshot) *uint64 { return &s.rowVersion }),
		member("month", month, func(s *storedSnapshot) *calendar.Month { return &s.Month }),
		member("version", plain, func(s *storedSnapshot) *int64 { return &s.Version }),
		member("status", plain, func(s *storedSnapshot) *string { return &s.Status }),
		member("submitted_at", optionalInstant, func(s *storedSnapshot) *events.Opt[time.Time] { return &s.SubmittedAt }),
		member("decided_at", optionalInstant, func(s *storedSnapshot) *events.Opt[time.Time] { return &s.DecidedAt }),
		member("totals", totals, func(s *storedSnapshot) *analytics.Estimate { return &s.totals }),
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

// totals are those of a snapshot, in the order in which the table has them.
func totals(into *analytics.Estimate) (any, func() error) {
	scanned := new([]analytics.Int128)
	return scanned, func() error {
		places := []*analytics.Int128{&into.Budget, &into.Committed, &into.PendingChanges, &into.Uncommitted, &into.Invoiced, &into.Paid}
		if len(*scanned) != len(places) {
			return fmt.Errorf("a snapshot has %d totals instead of %d", len(*scanned), len(places))
		}
		for i, total := range *scanned {
			*places[i] = total
		}
		return nil
	}
}

func linesOf(s *analytics.Snapshot) *[]events.SnapshotLine { return &s.Lines }

func explanationsOf(s *analytics.Snapshot) *[]events.Explanation { return &s.Explanations }

// snapshotHeadsQuery reads a project's snapshots without their lines.
func snapshotHeadsQuery(tenant, project string) Query {
	return Query{
		SQL: "SELECT " + snapshotHead.rows() + `
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}

// snapshotLines are what is read of a snapshot beside its head.
var snapshotLines = slices.Concat(snapshotID, snapshotNames, snapshotAmounts, snapshotExplanations)

// snapshotLinesQuery reads the lines of some snapshots, each in the version that its head was read in.
func snapshotLinesQuery(tenant, project string, ids []string, versions []uint64) Query {
	return Query{
		SQL: "SELECT " + snapshotLines.rows() + `
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id IN {ids:Array(String)}
  AND row_version = {versions:Array(UInt64)}[indexOf({ids:Array(String)}, id)]`,
		Args: map[string]any{"tenant": tenant, "project": project, "ids": ids, "versions": versions},
	}
}

// Snapshots returns a page of a project's snapshots, newest first, and whether others follow. No line is read for it.
func (r *Reader) Snapshots(ctx context.Context, p SnapshotPage) (page []Snapshot, more bool, err error) {
	heads, err := r.snapshotHeads(ctx, p.Tenant, p.ProjectID)
	if err != nil {
		return nil, false, fmt.Errorf("read forecast snapshots: %w", err)
	}
	official := analytics.Official(heads.snapshots)
	found := p.of(heads.snapshots, p.Limit+1)
	for _, s := range found[:min(len(found), p.Limit)] {
		page = append(page, Snapshot{Snapshot: *s, Official: official[s.Month] == s, Currency: p.Currency, Totals: heads.totals[s.ID]})
	}
	return page, len(found) > p.Limit, nil
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
	found, err := r.snapshots(ctx, tenant, project, func(heads []analytics.Snapshot) []*analytics.Snapshot {
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
// lines are of the same versions: when one changed in between, both are read again.
func (r *Reader) snapshots(ctx context.Context, tenant, project string,
	pick func(heads []analytics.Snapshot) []*analytics.Snapshot) ([]*analytics.Snapshot, error) {
	for range snapshotTries {
		heads, err := r.snapshotHeads(ctx, tenant, project)
		if err != nil {
			return nil, err
		}
		picked := pick(heads.snapshots)
		if len(picked) == 0 {
			return nil, nil
		}
		complete, err := r.readLines(ctx, tenant, project, picked, heads.versions)
		if err != nil || complete {
			return picked, err
		}
	}
	return nil, errUnsteady
}

// snapshotHeads are a project's snapshots without their lines, and by their ids what is known of their rows.
type snapshotHeads struct {
	snapshots []analytics.Snapshot
	versions  map[string]uint64
	totals    map[string]analytics.Estimate
}

func (r *Reader) snapshotHeads(ctx context.Context, tenant, project string) (snapshotHeads, error) {
	heads := snapshotHeads{versions: make(map[string]uint64), totals: make(map[string]analytics.Estimate)}
	err := snapshotHead.readRows(ctx, r, snapshotHeadsQuery(tenant, project), pageSettings, func(row *storedSnapshot, _ int) error {
		row.ProjectID = project
		heads.snapshots = append(heads.snapshots, row.Snapshot)
		heads.versions[row.ID], heads.totals[row.ID] = row.rowVersion, row.totals
		return nil
	})
	return heads, err
}

// readLines fills in the lines, and reports whether all snapshots still were as their heads say.
func (r *Reader) readLines(ctx context.Context, tenant, project string, picked []*analytics.Snapshot,
	versions map[string]uint64) (complete bool, err error) {
	byID := make(map[string]*analytics.Snapshot, len(picked))
	ids, want := make([]string, len(picked)), make([]uint64, len(picked))
	for i, s := range picked {
		byID[s.ID], ids[i], want[i] = s, s.ID, versions[s.ID]
	}
	read := 0
	query := snapshotLinesQuery(tenant, project, ids, want)
	err = snapshotLines.readRows(ctx, r, query, pageSettings, func(row *analytics.Snapshot, _ int) error {
		read++
		s := byID[row.ID]
		s.Lines, s.Explanations = row.Lines, row.Explanations
		return nil
	})
	return read == len(picked), err
}
