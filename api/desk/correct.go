package desk

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tallyhouse/analytics"
	"tallyhouse/api/desk/confirmation"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// confirmLimit bounds a confirmation as a whole. It goes on when the browser leaves.
const confirmLimit = 50 * time.Second

// offeredContractors bounds the contractors that a page offers. Others of the tenant can be entered by their id.
const offeredContractors = 200

// correction is the form by which a person corrects and confirms what was read.
type correction struct {
	Address     string // that the form is sent to
	Check       string // that it is checked at while somebody types
	Version     int64  // of the reading that the form shows
	Inputs      []input
	Contractors []choice
	Problem     string // why it was not confirmed
	Wrong       []input
	Unfinished  bool
}

// input is a field of the form.
type input struct {
	Name, Label, Kind string // the kind is text, date or amount
	Value             string // as it was typed
	Longest           int    // characters
	Hint, Printed     string // how sure it is and where it stands, and what stands there
	Place             string // where it stands, to be shown; "" when it can't be
	Now               string // what counts now, where somebody else has confirmed meanwhile
	Wrong             string
	Alternatives      []alternative
	List              bool // contractors are offered
}

// alternative is a value that can be taken for a field.
type alternative struct{ Say, Value, Place string }

// form is what somebody has typed.
type form struct {
	typed  map[string]string
	values analytics.InvoiceValues
	wrong  map[string]string // why a field can't be taken, in words
}

// field is how a field is entered.
type field struct {
	name, kind string
	longest    int
}

const longestAmount, longestDay = 30, 10 // characters

// fieldsOfForm are those of a mailed invoice, in their order.
func fieldsOfForm() []field {
	const longestID = 200
	return []field{
		{analytics.FieldNumber, "text", analytics.LongestInvoiceNumber}, {analytics.FieldDate, "date", longestDay},
		{analytics.FieldDueDate, "date", longestDay}, {analytics.FieldSupplierName, "text", analytics.LongestSupplierName},
		{analytics.FieldTaxID, "text", analytics.LongestTaxID}, {analytics.FieldContractor, "text", longestID},
		{analytics.FieldCurrency, "text", 3}, {analytics.FieldNet, "amount", longestAmount}, {analytics.FieldTax, "amount", longestAmount},
		{analytics.FieldGross, "amount", longestAmount},
	}
}

// correctable is the state of a reading whose record a person may correct; else why they can't, in words.
func (v *visit) correctable(l reader.InboxLine) (state confirmation.State, why string, err error) {
	if l.Reading.Status != events.ReadingCompleted && l.Reading.Status != events.ReadingFailed {
		return state, "", errNotFound
	}
	if state, err = confirmation.StateOf(v.request.Context(), v.desk.inbox, v.caller.Tenant(), l); err != nil {
		return state, "", err
	}
	if v.desk.confirmations == nil {
		return state, v.text("correct.off"), nil
	}
	if err := state.Check(); err != nil {
		return state, v.text(whyNot(err)), nil
	}
	return state, "", nil
}

// whyNot is the message that says why nothing was or can be confirmed.
func whyNot(err error) string {
	var overtaken *confirmation.OvertakenError
	switch {
	case errors.Is(err, confirmation.ErrTakenOver):
		return "correct.takenOver"
	case errors.Is(err, confirmation.ErrUnread):
		return "correct.unread"
	case errors.Is(err, confirmation.ErrNoVersion):
		return "correct.noVersion"
	case errors.Is(err, confirmation.ErrAway):
		return "correct.away"
	case errors.Is(err, confirmation.ErrPending):
		return "correct.pending"
	case errors.As(err, &overtaken) && overtaken.Newest.Line.Reading.ConfirmedBy.Ok:
		return "correct.overtaken"
	case errors.As(err, &overtaken):
		return "correct.readAgain"
	}
	return ""
}

// confirmMail takes the form: what is right becomes the next version of the record, else the form comes back as it was typed.
func confirmMail(v *visit) (answer, error) {
	l, m, err := v.reading()
	if err != nil {
		return nil, err
	}
	state, why, err := v.correctable(l)
	if err != nil {
		return nil, err
	}
	values, err := v.form()
	if err != nil {
		return nil, err
	}
	sent := v.entered(values)
	version, err := strconv.ParseInt(values.Get("version"), 10, 64)
	if err != nil {
		return nil, &refusedError{v.text("correct.noForm")}
	}
	if why != "" {
		return v.correctionPage(l, m, state, sent, version, why, http.StatusConflict)
	}
	if err := v.contractorExists(&sent); err != nil {
		return nil, err
	}
	if len(sent.wrong) > 0 {
		return v.correctionPage(l, m, state, sent, version, v.text("correct.wrong"), http.StatusUnprocessableEntity)
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(v.request.Context()), confirmLimit)
	defer stop()
	err = v.desk.confirmations.Confirm(ctx, confirmation.Confirmation{Tenant: v.caller.Tenant(), Project: l.ProjectID, ID: l.ID,
		By: v.session.UserID, Version: version, Values: sent.values})
	if err == nil {
		return redirect("/inbox/" + url.PathEscape(l.ID)), nil
	}
	key := whyNot(err)
	if key == "" {
		return nil, err
	}
	v.desk.log.Warn("a correction was not confirmed", "record", l.ID, "error", err)
	problem, status := v.text(key), http.StatusServiceUnavailable
	if overtaken, ok := errors.AsType[*confirmation.OvertakenError](err); ok {
		state, version, status = overtaken.Newest, overtaken.Newest.Line.Version, http.StatusConflict
		if by := state.Line.Reading.ConfirmedBy; by.Ok {
			problem = v.text("correct.overtaken", by.V)
		}
	} else if errors.Is(err, confirmation.ErrTakenOver) {
		status = http.StatusConflict
	}
	return v.correctionPage(state.Line, m, state, sent, version, problem, status)
}

// form is what the request's form sends.
func (v *visit) form() (url.Values, error) {
	if err := v.request.ParseForm(); err != nil {
		return nil, &refusedError{v.text("correct.noForm")}
	}
	return v.request.PostForm, nil
}

// correctionPage is the page of a mail with the form as somebody has typed it.
func (v *visit) correctionPage(l reader.InboxLine, m mailbox, state confirmation.State, sent form, version int64, problem string,
	status int) (answer, error) {
	page, err := v.mailPage(l, m)
	if err != nil {
		return nil, err
	}
	if page.Correction, err = v.correction(state, version, sent); err != nil {
		return nil, err
	}
	if page.History, err = v.history(state); err != nil {
		return nil, err
	}
	page.Correction.Problem = problem
	return view{name: "mail", title: page.Title, here: "inbox", data: page, status: status}, nil
}

// checkMail says what is wrong with the form as it is while somebody types.
func checkMail(v *visit) (answer, error) {
	values, err := v.form()
	if err != nil {
		return nil, err
	}
	sent := v.entered(values)
	var all []input
	for _, f := range fieldsOfForm() {
		if f.name != analytics.FieldContractor { // which is looked up when the form is sent
			all = append(all, input{Name: f.name, Wrong: sent.wrong[f.name]})
		}
	}
	return view{name: "check", data: all, part: true}, nil
}

// correction is the form for a state, with what somebody has typed or, if nobody has, with what counts.
func (v *visit) correction(state confirmation.State, version int64, sent form) (*correction, error) {
	r := &state.Line.Reading
	c := &correction{Address: "/inbox/" + url.PathEscape(state.Line.ID) + "/confirmation", Version: version, Unfinished: state.Unfinished()}
	c.Check = "/inbox/" + url.PathEscape(state.Line.ID) + "/check"
	now := v.typed(state.Values())
	for _, f := range fieldsOfForm() {
		one := input{Name: f.name, Label: v.lang.Name("field", f.name), Kind: f.kind, Value: now[f.name], Longest: f.longest,
			Wrong: sent.wrong[f.name], List: f.name == analytics.FieldContractor}
		if typed, ok := sent.typed[f.name]; ok {
			if one.Value = typed; typed != now[f.name] {
				if one.Now = now[f.name]; one.Now == "" {
					one.Now = v.text("correct.nothing")
				}
			}
		}
		for _, read := range r.Fields {
			if read.Name == f.name {
				v.hints(&one, r, read, state.Values().Currency.V)
			}
		}
		c.Inputs = append(c.Inputs, one)
		if one.Wrong != "" {
			c.Wrong = append(c.Wrong, one)
		}
	}
	offered, _, err := v.desk.inbox.Contractors(v.request.Context(), reader.ContractorPage{Tenant: v.caller.Tenant(),
		Projects: []string{state.Line.ProjectID}, Marked: []string{state.Line.ProjectID}, Limit: offeredContractors})
	if err != nil {
		return nil, err
	}
	for _, o := range offered {
		c.Contractors = append(c.Contractors, choice{Value: o.ID, Name: strings.TrimSpace(o.Name.V + " " + o.TaxID.V)})
	}
	return c, nil
}

// hints say of a field what was read: how sure it is, where it stands, and what else is possible.
func (v *visit) hints(one *input, r *events.Reading, read events.ReadField, currency string) {
	if read.Value.Ok {
		row := v.fieldRow(r, read, currency)
		one.Hint, one.Printed, one.Place = row.Sure+", "+row.Where, row.Printed, row.Place
	}
	for _, s := range read.Alternatives {
		one.Alternatives = append(one.Alternatives, alternative{Value: v.typedValue(s, currency), Place: place(r, s.Page, s.Box),
			Say: v.text("inbox.alternative", v.stated(s, currency), v.sure(s), v.where(s))})
	}
}

// typed are values as they are typed.
func (v *visit) typed(values analytics.InvoiceValues) map[string]string {
	all := map[string]string{}
	for _, f := range fieldsOfForm() {
		if s, ok := values.Field(f.name); ok {
			all[f.name] = v.typedValue(s, values.Currency.V)
		}
	}
	return all
}

func (v *visit) typedValue(s events.Stated, currency string) string {
	if s.Minor.Ok {
		return strings.ReplaceAll(v.lang.Amount(analytics.Int(s.Minor.V), currency), "\u2212", "-")
	}
	return s.Text.V
}

// entered reads a form: what stands in it, and what is wrong with it.
func (v *visit) entered(sent url.Values) form {
	f := form{typed: map[string]string{}, wrong: map[string]string{}}
	for _, one := range fieldsOfForm() {
		text := strings.TrimSpace(strings.ToValidUTF8(sent.Get(one.name), ""))
		f.typed[one.name] = text
		if utf8.RuneCountInString(text) > one.longest {
			f.wrong[one.name] = v.text("correct.tooLong", one.longest)
		} else if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\u00a0' }) {
			f.wrong[one.name] = v.text("correct.unprintable")
		}
	}
	text := func(name string) events.Opt[string] {
		return events.Opt[string]{V: f.typed[name], Ok: f.typed[name] != ""}
	}
	day := func(name string) events.Opt[calendar.Date] {
		if f.typed[name] == "" {
			return events.Opt[calendar.Date]{}
		}
		d, err := calendar.ParseDate(f.typed[name])
		if err != nil {
			f.wrong[name] = v.text("correct.noDay", calendar.MinDate, calendar.MaxDate)
		}
		return events.Some(d)
	}
	f.typed[analytics.FieldCurrency] = strings.ToUpper(f.typed[analytics.FieldCurrency])
	f.values = analytics.InvoiceValues{Number: text(analytics.FieldNumber), Date: day(analytics.FieldDate),
		DueDate: day(analytics.FieldDueDate), SupplierName: text(analytics.FieldSupplierName), TaxID: text(analytics.FieldTaxID),
		Contractor: text(analytics.FieldContractor), Currency: text(analytics.FieldCurrency)}
	if c := f.values.Currency; c.Ok && (len(c.V) != 3 || strings.Trim(c.V, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		f.wrong[analytics.FieldCurrency] = v.text("correct.noCurrency")
	}
	v.enteredAmounts(&f)
	return f
}

// enteredAmounts reads the amounts of a form. They are of one currency and add up.
func (v *visit) enteredAmounts(f *form) {
	currency, unread := f.values.Currency, false
	amount := func(name string) events.Opt[int64] {
		if f.typed[name] == "" {
			return events.Opt[int64]{}
		}
		minor, ok := v.lang.ParseMinor(f.typed[name], currency.V)
		switch {
		case !ok:
			f.wrong[name] = v.text("correct.noAmount", v.lang.Amount(analytics.Int(-123450), currency.V))
		case minor > v.desk.maxAmount || minor < -v.desk.maxAmount:
			f.wrong[name] = v.text("correct.implausible", v.lang.Amount(analytics.Int(v.desk.maxAmount), currency.V))
		}
		unread = unread || f.wrong[name] != ""
		return events.Some(minor)
	}
	values := &f.values
	values.Net, values.Tax, values.Gross = amount(analytics.FieldNet), amount(analytics.FieldTax), amount(analytics.FieldGross)
	if (values.Net.Ok || values.Tax.Ok || values.Gross.Ok) && !currency.Ok {
		f.wrong[analytics.FieldCurrency] = v.text("correct.currencyMissing")
		return
	}
	if unread {
		return
	}
	missing := func(name string, minor int64) {
		f.wrong[name] = v.text("correct.amountMissing", v.lang.Amount(analytics.Int(minor), currency.V))
	}
	switch net, tax, gross := values.Net, values.Tax, values.Gross; {
	case net.Ok && tax.Ok && gross.Ok && net.V+tax.V != gross.V:
		f.wrong[analytics.FieldGross] = v.text("correct.noSum", v.lang.Amount(analytics.Int(net.V+tax.V), currency.V),
			v.lang.Amount(analytics.Int(gross.V), currency.V))
	case net.Ok && tax.Ok && !gross.Ok:
		missing(analytics.FieldGross, net.V+tax.V)
	case net.Ok && gross.Ok && !tax.Ok:
		missing(analytics.FieldTax, gross.V-net.V)
	case tax.Ok && gross.Ok && !net.Ok:
		missing(analytics.FieldNet, gross.V-tax.V)
	}
}

// contractorExists checks that the contractor is one of the tenant's.
func (v *visit) contractorExists(f *form) error {
	id := f.values.Contractor
	if !id.Ok || f.wrong[analytics.FieldContractor] != "" {
		return nil
	}
	_, err := v.desk.inbox.ContractorName(v.request.Context(), v.caller.Tenant(), id.V)
	if errors.Is(err, reader.ErrNotFound) {
		f.wrong[analytics.FieldContractor] = v.text("correct.noContractor")
		return nil
	}
	return err
}
