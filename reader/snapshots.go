package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Snapshot is a month-end forecast as the API shows it (spec section 2.9).
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

// snapshotHeadsQuery reads a project's snapshots without their lines.
func snapshotHeadsQuery(tenant, project string) Query {
	return Query{
		SQL: `SELECT id, row_version, month, version, status, toUnixTimestamp64Micro(submitted_at), toUnixTimestamp64Micro(decided_at)
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND NOT deleted`,
		Args: map[string]any{"tenant": tenant, "project": project},
	}
}

// lineScope says which lines of a snapshot are read.
type lineScope string

const (
	allLines lineScope = "%"
	topLines lineScope = "arrayFilter((value, parent) -> parent = '', %, line_parent)" // those that totals add up
)

// snapshotLinesQuery reads the lines of some snapshots, each in the version that its head was read in.
func snapshotLinesQuery(tenant, project string, ids []string, versions []uint64, scope lineScope) Query {
	columns := []string{"id"}
	for _, name := range []string{"node", "parent", "level", "code", "name", "budget", "committed", "pending_changes", "uncommitted", "uncommitted_defaulted", "invoiced", "paid"} {
		columns = append(columns, strings.ReplaceAll(string(scope), "%", "line_"+name))
	}
	return Query{
		SQL: "SELECT " + strings.Join(columns, ", ") + `, explanation_node, explanation_reason
FROM forecast_snapshots FINAL
WHERE tenant = {tenant:String} AND project = {project:String} AND id IN {ids:Array(String)}
  AND row_version = {versions:Array(UInt64)}[indexOf({ids:Array(String)}, id)]`,
		Args: map[string]any{"tenant": tenant, "project": project, "ids": ids, "versions": versions},
	}
}

// Snapshots returns a page of a project's snapshots, newest first, and whether others follow.
func (r *Reader) Snapshots(ctx context.Context, p SnapshotPage) (shown []Snapshot, more bool, err error) {
	var official map[calendar.Month]*analytics.Snapshot
	found, err := r.snapshots(ctx, p.Tenant, p.ProjectID, topLines, func(heads []analytics.Snapshot) []*analytics.Snapshot {
		official = analytics.Official(heads)
		var page []*analytics.Snapshot
		page, more = p.of(heads)
		return page
	})
	if err != nil {
		return nil, false, fmt.Errorf("read forecast snapshots: %w", err)
	}
	for _, s := range found {
		shown = append(shown, Snapshot{Snapshot: *s, Official: official[s.Month] == s, Currency: p.Currency, Totals: s.Totals()})
	}
	return shown, more, nil
}

// of picks the page out of all snapshots.
func (p SnapshotPage) of(heads []analytics.Snapshot) (page []*analytics.Snapshot, more bool) {
	var after *analytics.Snapshot
	if place := p.After.V; p.After.Ok {
		after = &analytics.Snapshot{ID: place.ID, ForecastSnapshot: events.ForecastSnapshot{Month: place.Month, Version: place.Version}}
	}
	for i := range heads {
		if after == nil || analytics.NewestFirst(after, &heads[i]) < 0 {
			page = append(page, &heads[i])
		}
	}
	slices.SortFunc(page, analytics.NewestFirst)
	if more = len(page) > p.Limit; more {
		page = page[:p.Limit]
	}
	return page, more
}

// OfficialSnapshot returns the approved snapshot that counts for the month, with what changed since the one before, or ErrNotFound.
func (r *Reader) OfficialSnapshot(ctx context.Context, tenant, project, currency string, month calendar.Month) (Snapshot, error) {
	found, err := r.snapshots(ctx, tenant, project, allLines, func(heads []analytics.Snapshot) []*analytics.Snapshot {
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
	return Snapshot{Snapshot: *s, Official: true, Currency: currency, Totals: s.Totals(), Changes: s.ChangesSince(previous)}, nil
}

// snapshotTries bounds how often snapshots are read again because they changed between their heads and their lines.
const snapshotTries = 5

var errUnsteady = errors.New("they keep changing while they are read")

// snapshots reads the heads of all snapshots of a project, lets pick choose, and reads the lines of those. Heads and lines are of the
// same versions: when one changed in between, both are read again.
func (r *Reader) snapshots(ctx context.Context, tenant, project string, scope lineScope, pick func(heads []analytics.Snapshot) []*analytics.Snapshot) ([]*analytics.Snapshot, error) {
	for range snapshotTries {
		heads, versions, err := r.snapshotHeads(ctx, tenant, project)
		if err != nil {
			return nil, err
		}
		picked := pick(heads)
		if len(picked) == 0 {
			return nil, nil
		}
		complete, err := r.readLines(ctx, tenant, project, scope, picked, versions)
		if err != nil || complete {
			return picked, err
		}
	}
	return nil, errUnsteady
}

func (r *Reader) snapshotHeads(ctx context.Context, tenant, project string) (heads []analytics.Snapshot, versions map[string]uint64, err error) {
	versions = make(map[string]uint64)
	var s analytics.Snapshot
	var rowVersion uint64
	var month string
	var submitted, decided *int64
	err = r.each(ctx, snapshotHeadsQuery(tenant, project), pageSettings, func(scan func(...any) error) (err error) {
		if err := scan(&s.ID, &rowVersion, &month, &s.Version, &s.Status, &submitted, &decided); err != nil {
			return err
		}
		if s.Month, err = calendar.ParseMonth(month); err != nil {
			return fmt.Errorf("month of snapshot %q: %w", s.ID, err)
		}
		s.ProjectID, s.SubmittedAt, s.DecidedAt = project, instant(submitted), instant(decided)
		heads, versions[s.ID] = append(heads, s), rowVersion
		return nil
	})
	return heads, versions, err
}

// readLines fills in the lines, and tells whether all snapshots still were as their heads say.
func (r *Reader) readLines(ctx context.Context, tenant, project string, scope lineScope, picked []*analytics.Snapshot, versions map[string]uint64) (complete bool, err error) {
	byID := make(map[string]*analytics.Snapshot, len(picked))
	ids, want := make([]string, len(picked)), make([]uint64, len(picked))
	for i, s := range picked {
		byID[s.ID], ids[i], want[i] = s, s.ID, versions[s.ID]
	}
	var row snapshotRow
	read := 0
	err = r.each(ctx, snapshotLinesQuery(tenant, project, ids, want, scope), pageSettings, func(scan func(...any) error) error {
		if err := scan(row.dest()...); err != nil {
			return err
		}
		read++
		row.fill(byID[row.id])
		return nil
	})
	return read == len(picked), err
}

// snapshotRow are the lines of a snapshot as they are scanned.
type snapshotRow struct {
	id                                             string
	node, parent, level, code, name                []string
	budget, committed, pendingChanges, uncommitted []int64
	uncommittedDefaulted                           []bool
	invoiced, paid                                 []int64
	explanationNode, explanationReason             []string
}

func (r *snapshotRow) dest() []any {
	return []any{&r.id, &r.node, &r.parent, &r.level, &r.code, &r.name, &r.budget, &r.committed, &r.pendingChanges, &r.uncommitted,
		&r.uncommittedDefaulted, &r.invoiced, &r.paid, &r.explanationNode, &r.explanationReason}
}

func (r *snapshotRow) fill(s *analytics.Snapshot) {
	s.Lines = make([]events.SnapshotLine, len(r.node))
	for i := range r.node {
		s.Lines[i] = events.SnapshotLine{
			NodeID: r.node[i], ParentID: none(r.parent[i]), Level: r.level[i], Code: r.code[i], Name: r.name[i],
			Budget: r.budget[i], Committed: r.committed[i], PendingChanges: r.pendingChanges[i], Uncommitted: r.uncommitted[i],
			UncommittedDefaulted: r.uncommittedDefaulted[i], Invoiced: r.invoiced[i], Paid: r.paid[i],
		}
	}
	s.Explanations = make([]events.Explanation, len(r.explanationNode))
	for i := range r.explanationNode {
		s.Explanations[i] = events.Explanation{NodeID: r.explanationNode[i], Reason: r.explanationReason[i]}
	}
}
