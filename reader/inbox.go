package reader

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/analytics"
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/money"
)

// InboxFilter says which readings are meant (docs/mail.md#the-inbox). What is not given does not restrict.
type InboxFilter struct {
	Tenant   string
	Projects []string // those that the person may see; "" stands for mails that no project is known of
	State    analytics.InboxState
	Sender   string                // a part of it
	From, To events.Opt[time.Time] // of the arrival; To is behind the last
	Text     string                // a part of the number or the supplier's name,
	Gross    map[int]int64         // or the gross in minor units, by how many decimals its currency has
}

// InboxPlace is where a reading stands in the inbox: newest first.
type InboxPlace struct {
	Newest int64 // microseconds from the mail's arrival to 1970
	ID     string
}

func (p InboxPlace) before(q InboxPlace) int {
	if p.Newest != q.Newest {
		return int(min(1, max(-1, p.Newest-q.Newest)))
	}
	return strings.Compare(p.ID, q.ID)
}

// InboxLine is a reading with where it stands.
type InboxLine struct {
	InboxPlace
	ProjectID string // "" when no project is known
	Version   int64
	At        time.Time // when it was read or decided
	State     analytics.InboxState
	Reading   events.Reading
}

// InboxPage is a part of the inbox. Next is where the next one begins; a page may be short, even empty, although others
// follow.
type InboxPage struct {
	Lines []InboxLine
	Next  events.Opt[InboxPlace]
}

// Bounds of what a page looks through: readings of the tenant, in windows, the first of so many pages, each wider than the one before.
const (
	firstInbox   = 8
	widenInbox   = 8
	deepestInbox = 1 << 18
	countedInbox = 10_000
)

var (
	inboxColumns = columns[InboxLine]{
		member("newest", plain, func(l *InboxLine) *int64 { return &l.Newest }),
		member("id", plain, func(l *InboxLine) *string { return &l.ID }),
		member("project", plain, func(l *InboxLine) *string { return &l.ProjectID }),
		member("toInt64(row_version)", plain, func(l *InboxLine) *int64 { return &l.Version }),
		member("toUnixTimestamp64Micro(at)", instant, func(l *InboxLine) *time.Time { return &l.At }),
		member("state", text[analytics.InboxState], func(l *InboxLine) *analytics.InboxState { return &l.State }),
		member("reading", parsed(events.ParseReading), func(l *InboxLine) *events.Reading { return &l.Reading }),
	}
)

// conditions are the filter's as SQL, on columns that the table and its projection by_arrival have.
func (f *InboxFilter) conditions() *conditions {
	c := &conditions{args: map[string]any{"tenant": f.Tenant, "projects": f.Projects}}
	c.add("tenant = {tenant:String}")
	c.add("project IN {projects:Array(String)}")
	if f.State == "" {
		c.add("state != ''")
	} else {
		c.where("state = {state:String}", "state", string(f.State))
	}
	if f.Sender != "" {
		c.where("positionCaseInsensitiveUTF8(sender, {sender:String}) > 0", "sender", f.Sender)
	}
	if f.From.Ok {
		c.where("newest <= {from:Int64}", "from", -f.From.V.UnixMicro())
	}
	if f.To.Ok {
		c.where("newest > {to:Int64}", "to", -f.To.V.UnixMicro())
	}
	text := "positionCaseInsensitiveUTF8(number, {text:String}) > 0 OR positionCaseInsensitiveUTF8(supplier, {text:String}) > 0"
	var any []string
	if f.Text != "" {
		any = append(any, text)
		c.args["text"] = f.Text
	}
	if len(f.Gross) > 0 {
		any = append(any, f.grossIs(c))
	}
	if len(any) > 0 {
		c.add("(" + strings.Join(any, " OR ") + ")")
	}
	return c
}

// grossIs is the condition that the gross is the amount, by the decimals of its currency.
func (f *InboxFilter) grossIs(c *conditions) string {
	unusual := money.Unusual()
	codes := slices.Sorted(maps.Keys(unusual))
	decimals := make([]int64, len(codes))
	for i, code := range codes {
		decimals[i] = int64(unusual[code])
	}
	var of, minors []int64
	for _, n := range slices.Sorted(maps.Keys(f.Gross)) {
		of, minors = append(of, int64(n)), append(minors, f.Gross[n])
	}
	c.args["currencies"], c.args["decimals"], c.args["usual"] = codes, decimals, int64(money.Decimals(""))
	c.args["grossOf"], c.args["gross"] = of, minors
	return `(transform(toString(currency), {currencies:Array(String)}, {decimals:Array(Int64)}, {usual:Int64}), gross)` +
		` IN arrayZip({grossOf:Array(Int64)}, {gross:Array(Int64)})`
}

// inboxWindowQuery looks through so many rows from behind a place, of whatever version: the first of those that match, and in each
// row whether there are that many, the last place that was looked at, and how many there were. Where none matches there is
// one row, with the empty text as its id.
func (f *InboxFilter) inboxWindowQuery(from string, after events.Opt[InboxPlace], window, most int) Query {
	c := f.conditions()
	behind := ""
	if after.Ok {
		behind = " AND newest >= {newest:Int64} AND (newest, id) > ({newest:Int64}, {after:String})"
		c.args["newest"], c.args["after"] = after.V.Newest, after.V.ID
	}
	c.args["window"] = window
	return Query{Args: c.args, SQL: fmt.Sprintf(`SELECT match.1, match.2, match.3, length(matches) = %[1]d, last.1, last.2, looked
FROM (
  SELECT groupArraySortedIf(%[1]d)((newest, id, project), %[2]s) AS matches, max((newest, id)) AS last, toInt64(count()) AS looked
  FROM (
    SELECT *
    FROM %[3]s
    WHERE tenant = {tenant:String}%[4]s
    ORDER BY tenant, newest, id
    LIMIT {window:UInt32}
  )
)
LEFT ARRAY JOIN arrayDistinct(matches) AS match
ORDER BY match`, most, strings.Join(c.sql, " AND "), from, behind)}
}

// inboxLinesQuery reads those of the places that match as they are now. The readings are large: only granules with one of the places
// are read whole, which FINAL would not spare.
func (f *InboxFilter) inboxLinesQuery(places []InboxLine) Query {
	c := f.conditions()
	projects, ids := make([]string, len(places)), make([]string, len(places))
	for i, p := range places {
		projects[i], ids[i] = p.ProjectID, p.ID
	}
	c.args["of"], c.args["ids"] = projects, ids
	c.add("NOT deleted")
	return Query{Args: c.args, SQL: "SELECT " + inboxColumns.String() + `
FROM (
  SELECT *
  FROM readings
  PREWHERE tenant = {tenant:String} AND (project, id) IN arrayZip({of:Array(String)}, {ids:Array(String)})
  ORDER BY row_version DESC
  LIMIT 1 BY project, id
)
WHERE ` + strings.Join(c.sql, " AND ")}
}

// Inbox returns a page of what came in, newest first, from behind a place. It looks through so many readings at most,
// whatever the filter.
func (r *Reader) Inbox(ctx context.Context, f InboxFilter, after events.Opt[InboxPlace], limit int) (InboxPage, error) {
	var page InboxPage
	if len(f.Projects) == 0 {
		return page, nil
	}
	if f.To.Ok && !after.Ok {
		after = events.Some(InboxPlace{Newest: -f.To.V.UnixMicro()})
	}
	for window, looked := firstInbox*(limit+1), 0; ; window *= widenInbox {
		most := limit + 1 - len(page.Lines)
		found, err := r.inboxWindow(ctx, &f, after, window, most)
		if err != nil {
			return InboxPage{}, fmt.Errorf("read the inbox: %w", err)
		}
		lines, err := r.inboxLines(ctx, &f, found.places)
		if err != nil {
			return InboxPage{}, fmt.Errorf("read the inbox: %w", err)
		}
		page.Lines = append(page.Lines, lines...)
		if len(page.Lines) > limit {
			page.Lines = page.Lines[:limit]
			page.Next = events.Some(page.Lines[limit-1].InboxPlace)
			return page, nil
		}
		looked += found.looked
		ended := found.looked < window || f.From.Ok && found.last.Newest > -f.From.V.UnixMicro()
		next := found.last
		if found.full { // others that match may follow in the window
			ended, next = false, found.places[len(found.places)-1].InboxPlace
		}
		if ended {
			return page, nil
		}
		if after = events.Some(next); looked >= deepestInbox {
			page.Next = after
			return page, nil
		}
	}
}

// ordered reads from what is in the order of arrivals: the projection of the table or, on servers that don't show it, the
// table itself.
func (r *Reader) ordered(ctx context.Context, read func(from string) error) error {
	if !r.noProjection.Load() {
		err := read("mergeTreeProjection(currentDatabase(), 'readings', 'by_arrival')")
		if refused := (*clickhouse.Exception)(nil); ctx.Err() != nil || !errors.As(err, &refused) {
			return err
		}
	}
	err := read("readings")
	if err == nil {
		r.noProjection.Store(true)
	}
	return err
}

// inboxWindow is what was found in a window: the first places that match, as many as were asked for.
type inboxWindow struct {
	places []InboxLine
	full   bool       // that many rows match; a place is there once, whatever versions it has
	last   InboxPlace // that was looked at
	looked int
}

func (r *Reader) inboxWindow(ctx context.Context, f *InboxFilter, after events.Opt[InboxPlace], window, most int) (
	found inboxWindow, err error) {
	err = r.ordered(ctx, func(from string) error {
		found = inboxWindow{}
		return r.each(ctx, f.inboxWindowQuery(from, after, window, most), pageSettings, func(scan func(...any) error) error {
			var l InboxLine
			var looked int64
			err := scan(&l.Newest, &l.ID, &l.ProjectID, &found.full, &found.last.Newest, &found.last.ID, &looked)
			if found.looked = int(looked); l.ID != "" {
				found.places = append(found.places, l)
			}
			return err
		})
	})
	return found, err
}

func (r *Reader) inboxLines(ctx context.Context, f *InboxFilter, places []InboxLine) (lines []InboxLine, err error) {
	if len(places) == 0 {
		return nil, nil
	}
	err = inboxColumns.read(ctx, r, f.inboxLinesQuery(places), pageSettings, func(l *InboxLine) error {
		lines = append(lines, *l)
		return nil
	})
	slices.SortFunc(lines, func(a, b InboxLine) int { return a.before(b.InboxPlace) })
	return lines, err
}

// InboxCounts are how many readings are in each state, of the newest that the tenant has; All says whether these are all.
type InboxCounts struct {
	Of  map[analytics.InboxState]int
	All bool
}

// inboxCountsQuery counts readings by state, each by its newest version.
func inboxCountsQuery(from, tenant string, projects []string) Query {
	return Query{
		SQL: `SELECT newest_state, toInt64(count()), toInt64(any(looked))
FROM (
  SELECT argMax(state, row_version) AS newest_state, argMax(deleted, row_version) AS gone, any(rows) AS looked
  FROM (
    SELECT project, id, row_version, state, deleted, count() OVER () AS rows
    FROM (
      SELECT project, id, row_version, state, deleted
      FROM ` + from + `
      WHERE tenant = {tenant:String}
      ORDER BY tenant, newest, id
      LIMIT {limit:UInt32}
    )
  )
  WHERE project IN {projects:Array(String)}
  GROUP BY project, id
)
WHERE NOT gone AND newest_state != ''
GROUP BY newest_state`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "limit": countedInbox},
	}
}

// InboxCounts counts by state what the person may see of the tenant's newest readings.
func (r *Reader) InboxCounts(ctx context.Context, tenant string, projects []string) (InboxCounts, error) {
	counts := InboxCounts{All: true}
	err := r.ordered(ctx, func(from string) error {
		counts.Of = map[analytics.InboxState]int{}
		return r.each(ctx, inboxCountsQuery(from, tenant, projects), pageSettings, func(scan func(...any) error) error {
			var state string
			var n, looked int64
			if err := scan(&state, &n, &looked); err != nil {
				return err
			}
			counts.Of[analytics.InboxState(state)] = int(n)
			counts.All = looked < countedInbox
			return nil
		})
	})
	if err != nil {
		return InboxCounts{}, fmt.Errorf("count the inbox: %w", err)
	}
	return counts, nil
}

// inboxLineQuery finds one reading in some projects.
func inboxLineQuery(tenant, id string, projects []string) Query {
	return Query{
		SQL: "SELECT " + inboxColumns.String() + `
FROM readings FINAL
WHERE tenant = {tenant:String} AND project IN {projects:Array(String)} AND id = {id:String} AND NOT deleted AND state != ''
LIMIT 1`,
		Args: map[string]any{"tenant": tenant, "projects": projects, "id": id},
	}
}

// Reading returns the newest reading of this id in one of the projects, or ErrNotFound.
func (r *Reader) Reading(ctx context.Context, tenant, id string, projects []string) (InboxLine, error) {
	var found []InboxLine
	err := inboxColumns.read(ctx, r, inboxLineQuery(tenant, id, projects), pageSettings, func(l *InboxLine) error {
		found = append(found, *l)
		return nil
	})
	switch {
	case err != nil:
		return InboxLine{}, fmt.Errorf("read a reading: %w", err)
	case len(found) == 0:
		return InboxLine{}, ErrNotFound
	}
	return found[0], nil
}

// InboxStandings are how far the inboxes of all tenants have come. They are for InboxStanding alone: a tenant must not see
// how much others are mailed.
type InboxStandings struct{ readings, requests string }

// InboxStandings reads how far the inboxes have come now.
func (r *Reader) InboxStandings(ctx context.Context) (InboxStandings, error) {
	at, err := r.positions(ctx, "readings", "intake_requests")
	if err != nil {
		return InboxStandings{}, fmt.Errorf("read how far the inbox has come: %w", err)
	}
	return InboxStandings{readings: at["readings"].String(), requests: at["intake_requests"].String()}, nil
}

// InboxStanding names how far a tenant's inbox has come, as of the standings, read just now: it is another one after every
// change of it, and of it alone. Nothing is read when nobody's has changed.
func (r *Reader) InboxStanding(ctx context.Context, at InboxStandings, tenant string) (string, error) {
	sum := sha256.New()
	for _, part := range [][2]string{{"readings", at.readings}, {"intake_requests", at.requests}} {
		own, err := r.ownState(ctx, part[0], part[1], tenant)
		if err != nil {
			return "", fmt.Errorf("read how far a tenant's inbox has come: %w", err)
		}
		fmt.Fprintf(sum, "%q ", own) // never fails
	}
	return hex.EncodeToString(sum.Sum(nil)[:standingSize]), nil
}

// standingSize is how many bytes of its digest name a standing.
const standingSize = 12
