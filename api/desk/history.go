package desk

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
)

// mostVersions is how many versions of a record the page of its mail tells, of the record and of its reading together: the newest.
const mostVersions = 400

// historyRow is a version of a record, or how it began.
type historyRow struct{ When, Version, What string }

// history tells, oldest first, how a record came in and each version that it had, by whom and when
// (docs/desk.md#correcting-an-invoice).
func (v *visit) history(state confirmation.State) ([]historyRow, error) {
	l := state.Line
	kept, err := v.desk.inbox.MailedVersions(v.request.Context(), v.caller.Tenant(), l.ProjectID, l.ID, mostVersions)
	if err != nil {
		return nil, err
	}
	at := func(t time.Time) string { return v.lang.Date(calendar.ViennaDate(t)) + ", " + calendar.ViennaClock(t) }
	var rows []historyRow
	if arrived := l.Reading.Mail.ArrivedAt; arrived.Ok {
		rows = append(rows, historyRow{When: at(arrived.V), What: v.text("history.arrived", l.Reading.Mail.From.V)})
	}
	if len(kept) == mostVersions {
		rows = append(rows, historyRow{What: v.text("history.earlier")})
	}
	for _, version := range versions(kept, state) {
		what := v.versionText(&version)
		if version.OfReading && version.Version == l.Version && state.Unfinished() && !state.Record.Gone {
			what = v.text("history.unfinished", version.ConfirmedBy)
		}
		rows = append(rows, historyRow{at(version.At), strconv.FormatInt(version.Version, 10), what})
	}
	return rows, nil
}

// versions are those of a record, each once, oldest first. What was read tells more than the record that it became. The newest are known
// from the tables, too, which have mails of before there was a history.
func versions(kept []reader.MailedVersion, state confirmation.State) []reader.MailedVersion {
	l, record := state.Line, state.Record
	all := append(kept, reader.MailedVersion{Version: l.Version, OfReading: true, At: l.At, Status: l.Reading.Status,
		ConfirmedBy: l.Reading.ConfirmedBy.V})
	if record.Gone || record.Version >= analytics.ApplicationsOwn {
		all = append(all, reader.MailedVersion{Version: record.Version, At: record.At, Gone: record.Gone})
	}
	order := func(v reader.MailedVersion) int64 {
		if v.OfReading {
			return 2 * v.Version
		}
		return 2*v.Version + 1
	}
	slices.SortStableFunc(all, func(a, b reader.MailedVersion) int { return cmp.Compare(order(a), order(b)) })
	return slices.CompactFunc(all, func(a, b reader.MailedVersion) bool { return a.Version == b.Version })
}

// versionText says what a version is, and by whom.
func (v *visit) versionText(version *reader.MailedVersion) string {
	switch {
	case version.Gone:
		return v.text("history.gone")
	case version.ConfirmedBy != "":
		return v.text("history.confirmed", version.ConfirmedBy)
	case version.OfReading:
		return v.lang.Name("intakeStatus", version.Status)
	case version.Version < analytics.ApplicationsOwn && version.IntakeStatus != "":
		return v.lang.Name("intakeStatus", version.IntakeStatus)
	case version.Status != "":
		return v.text("history.status", v.lang.Name("recordStatus", version.Status))
	}
	return v.text("history.application")
}
