package desk

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tallyhouse/analytics"
	"tallyhouse/api/access"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Inbox is what was read of mails (reader.Reader). It is asked for the projects that a person may see, and no others.
type Inbox interface {
	Inbox(ctx context.Context, f reader.InboxFilter, after events.Opt[reader.InboxPlace], limit int) (reader.InboxPage, error)
	InboxCounts(ctx context.Context, tenant string, projects []string) (reader.InboxCounts, error)
	Reading(ctx context.Context, tenant, id string, projects []string) (reader.InboxLine, error)
	InboxStandings(ctx context.Context) (reader.InboxStandings, error)
	InboxStanding(ctx context.Context, at reader.InboxStandings, tenant string) (string, error)
	MailedRecord(ctx context.Context, tenant, project, id string) (reader.MailedRecord, error)
	MailedVersions(ctx context.Context, tenant, project, id string, most int) ([]reader.MailedVersion, error)
	ContractorName(ctx context.Context, tenant, id string) (events.Opt[string], error)
	Contractors(ctx context.Context, p reader.ContractorPage) (page []reader.Contractor, more bool, err error)
	IntakeRequests(ctx context.Context, tenant string, projects, ids []string) (map[string]reader.IntakeRequest, error)
	AllowedSenders(ctx context.Context, tenant string, most int) ([]reader.IntakeRequest, error)
}

// mailsOfPage is how many mails a page of the inbox has.
const mailsOfPage = 50

// longestSearch bounds what is searched for, in bytes.
const longestSearch = 200

// mails are the screens of what was mailed.
func (d *Desk) mails() []route {
	if d.inbox == nil {
		return nil
	}
	return []route{
		{"GET /inbox", showInbox, asksPage},
		{"GET /inbox/events", followInbox, asksPage},
		{"GET /inbox/{id}", showMail, asksPage},
		{"POST /inbox/{id}/check", checkMail, asksNone},
		{"POST /inbox/{id}/confirmation", confirmMail, asksPage},
		{"GET /inbox/{id}/mail", downloadMail, asksFile},
		{"GET /inbox/{id}/documents/{number}", downloadDocument, asksFile},
	}
}

// mailbox is what somebody may see of the inbox: the projects in which they have every field group, as users and
// administrators do. An administrator of the tenant sees mails that no project is known of, too.
type mailbox struct {
	ids   []string
	names map[string]string
}

func (v *visit) mailbox() mailbox {
	m := mailbox{names: map[string]string{}}
	for _, p := range v.caller.Projects() {
		if p.Groups.Has(access.All) {
			m.ids, m.names[p.ID] = append(m.ids, p.ID), p.Name
		}
	}
	if v.caller.Administers() {
		m.ids = append(m.ids, "")
	}
	return m
}

// inboxPage is what the page of the inbox shows.
type inboxPage struct {
	Lines    []mailLine
	States   []choice
	Projects []choice
	Asked    inboxQuestion
	Self     string // address
	Older    string // address; "" when nothing older matches
	Senders  string // address of the senders whom people allow; "" for who may not see them
	Follow   string // address of what tells when the inbox has changed; "" when the page doesn't follow it
}

// choice is one of several that a page can be narrowed to.
type choice struct {
	Value, Name string
	Count       string // "" when it isn't counted
	Address     string
	Chosen      bool
}

// mailLine is a mail or a mailed record in the inbox, in words.
type mailLine struct {
	Address, Title  string
	State, Say      string
	Arrived, Sender string
	Project         string
	Gross           *amount
	Asked           string // what was asked for and waits, or could not be done
}

// inboxQuestion is what is asked of the inbox, as its form has it.
type inboxQuestion struct {
	State, Project, Sender, Text, From, To string
	after                                  string
}

func (v *visit) inboxQuestion() inboxQuestion {
	values := v.request.URL.Query()
	get := func(name string) string {
		text := strings.TrimSpace(values.Get(name))
		return strings.ToValidUTF8(text[:min(len(text), longestSearch)], "")
	}
	return inboxQuestion{State: get("state"), Project: values.Get("project"), Sender: get("sender"), Text: get("q"), From: get("from"),
		To: get("to"), after: values.Get("after")}
}

// address is that of the page that answers the question, from behind a place.
func (q inboxQuestion) address(after string) string {
	return target("/inbox", nil, "state", q.State, "project", q.Project, "sender", q.Sender, "q", q.Text, "from", q.From, "to", q.To,
		"after", after)
}

// of is the question of a state.
func (q inboxQuestion) of(state string) inboxQuestion {
	q.State = state
	return q
}

// filter is the question for the reader. A project that the person may not see is one that does not exist.
func (q inboxQuestion) filter(v *visit, m mailbox) (reader.InboxFilter, error) {
	f := reader.InboxFilter{Tenant: v.caller.Tenant(), Projects: m.ids, State: analytics.InboxState(q.State), Sender: q.Sender, Text: q.Text}
	if q.Project != "" {
		if _, ok := m.names[q.Project]; !ok {
			return f, errNotFound
		}
		f.Projects = []string{q.Project}
	}
	for _, day := range []struct {
		text string
		into *events.Opt[time.Time]
		more calendar.Date
	}{{q.From, &f.From, 0}, {q.To, &f.To, 1}} {
		if day.text == "" {
			continue
		}
		d, err := calendar.ParseDate(day.text)
		if err != nil {
			return f, &refusedError{v.text("inbox.noDay", day.text)}
		}
		*day.into = events.Some((d + day.more).ViennaStart())
	}
	f.Gross = v.lang.ParseMinors(q.Text)
	return f, nil
}

// place is where a page begins, as its address has it: newest.id.
func (q inboxQuestion) place() (events.Opt[reader.InboxPlace], error) {
	if q.after == "" {
		return events.Opt[reader.InboxPlace]{}, nil
	}
	newest, id, ok := strings.Cut(q.after, ".")
	n, err := strconv.ParseInt(newest, 10, 64)
	if !ok || err != nil {
		return events.Opt[reader.InboxPlace]{}, errNotFound
	}
	return events.Some(reader.InboxPlace{Newest: n, ID: id}), nil
}

// showInbox lists what came in, newest first.
func showInbox(v *visit) (answer, error) {
	m, asked := v.mailbox(), v.inboxQuestion()
	filter, err := asked.filter(v, m)
	if err != nil {
		return nil, err
	}
	after, err := asked.place()
	if err != nil {
		return nil, err
	}
	ctx := v.request.Context()
	standing, err := v.desk.lookForNews(ctx, v.caller.Tenant()) // before the list: what comes meanwhile is told of
	if err != nil {
		return nil, err
	}
	var found reader.InboxPage
	var counts reader.InboxCounts
	err = reader.Together(func() (err error) {
		found, err = v.desk.inbox.Inbox(ctx, filter, after, mailsOfPage)
		return err
	}, func() (err error) {
		counts, err = v.desk.inbox.InboxCounts(ctx, filter.Tenant, filter.Projects)
		return err
	})
	if err != nil {
		return nil, err
	}
	page := inboxPage{Asked: asked, Self: asked.address("")}
	if !after.Ok && len(m.ids) > 0 { // who sees no mails learns of none
		page.Follow = target("/inbox/events", nil, "since", standing)
	}
	if found.Next.Ok {
		page.Older = asked.address(strconv.FormatInt(found.Next.V.Newest, 10) + "." + found.Next.V.ID)
	}
	page.States, page.Projects = v.states(asked, counts), m.choices(asked.Project)
	if v.desk.publisher != nil && v.caller.Administers() {
		page.Senders = "/inbox/senders"
	}
	asks, err := v.asked(found.Lines, m)
	if err != nil {
		return nil, err
	}
	for _, l := range found.Lines {
		line := v.mailLine(l, m)
		if q, ok := asks[l.ID]; ok {
			line.Asked = v.sayWaits(q)
		}
		page.Lines = append(page.Lines, line)
	}
	return view{name: "inbox", title: v.text("inbox.title"), here: "inbox", data: page}, nil
}

// states are the states of mails to choose from, with how many there are of each.
func (v *visit) states(asked inboxQuestion, counts reader.InboxCounts) []choice {
	all := []choice{{Name: v.text("inbox.all"), Address: asked.of("").address(""), Chosen: asked.State == ""}}
	for _, state := range analytics.InboxStates() {
		count := strconv.Itoa(counts.Of[state])
		if !counts.All {
			count += "+"
		}
		all = append(all, choice{Value: string(state), Name: v.lang.Name("inboxState", string(state)), Count: count,
			Address: asked.of(string(state)).address(""), Chosen: asked.State == string(state)})
	}
	return all
}

// choices are the projects to choose from.
func (m mailbox) choices(chosen string) (all []choice) {
	for _, id := range m.ids {
		if id != "" {
			all = append(all, choice{Value: id, Name: m.names[id], Chosen: id == chosen})
		}
	}
	return all
}

func (v *visit) mailLine(l reader.InboxLine, m mailbox) mailLine {
	r := &l.Reading
	out := mailLine{
		Address: "/inbox/" + url.PathEscape(l.ID), State: string(l.State), Say: v.say(l), Sender: r.Mail.From.V,
		Arrived: v.arrived(r), Project: m.names[l.ProjectID],
	}
	number, _ := analytics.FieldOf(r, "invoiceNumber")
	supplier, _ := analytics.FieldOf(r, "supplierName")
	out.Title = strings.TrimSpace(supplier.Text.V + " " + number.Text.V)
	if out.Title == "" {
		out.Title = r.Mail.Subject.Or(v.text("inbox.noSubject"))
	}
	gross, hasGross := analytics.FieldOf(r, "gross")
	currency, hasCurrency := analytics.FieldOf(r, "currency")
	if hasGross && hasCurrency {
		out.Gross = minor(gross.Minor.V, currency.Text.V)
	}
	return out
}

// arrived is when a mail came, by the clocks of Vienna.
func (v *visit) arrived(r *events.Reading) string {
	if !r.Mail.ArrivedAt.Ok {
		return v.text("inbox.noArrival")
	}
	return v.lang.Date(calendar.ViennaDate(r.Mail.ArrivedAt.V))
}

// say is what is the matter with a mail, and what to do.
func (v *visit) say(l reader.InboxLine) string {
	r := &l.Reading
	switch l.State {
	case analytics.InboxDuplicate:
		return v.text("inbox.sayDuplicate", len(analytics.Repeats(r)))
	case analytics.InboxDoubtful:
		var missing []string
		for _, name := range analytics.Missing(r) {
			missing = append(missing, v.lang.Name("field", name))
		}
		if len(missing) > 0 {
			return v.text("inbox.sayMissing", strings.Join(missing, ", "))
		}
		return v.text("inbox.sayDoubtful")
	case analytics.InboxRead:
		if r.ConfirmedBy.Ok {
			return v.text("inbox.sayConfirmed", r.ConfirmedBy.V)
		}
		return v.text("inbox.sayRead")
	}
	if why := v.lang.Name("inboxReason", r.Reason.V); why != r.Reason.V {
		return why
	}
	if r.Detail.Ok {
		return r.Detail.V
	}
	return v.text("inbox.sayUnknown")
}

// reading is the one that the request's path names, where the person may see it.
func (v *visit) reading() (reader.InboxLine, mailbox, error) {
	m := v.mailbox()
	l, err := v.desk.inbox.Reading(v.request.Context(), v.caller.Tenant(), v.request.PathValue("id"), m.ids)
	if errors.Is(err, reader.ErrNotFound) {
		err = errNotFound
	}
	return l, m, err
}
