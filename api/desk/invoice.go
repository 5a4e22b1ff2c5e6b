package desk

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tallyhouse/analytics"
	"tallyhouse/reader"
	"tallyhouse/schemas/calendar"
	"tallyhouse/schemas/events"
)

// Originals give mails and their files back.
type Originals interface {
	// Original gives a content of a tenant by its SHA-256 in hexadecimal digits; ErrNotKept when there is none.
	Original(ctx context.Context, tenant, sha256 string) ([]byte, error)
}

// ErrNotKept says that a mail or a file is not among the originals.
var ErrNotKept = errors.New("not kept")

// mailPage is what the page of a mail or a mailed record shows.
type mailPage struct {
	mailLine
	ID          string
	Drawn       *drawnPage // nil where no page can be drawn
	Fields      []fieldRow
	Findings    []findingRow
	Repeats     []mailLine
	Documents   []documentRow
	Mail        mailRow
	HasRecord   bool
	ConfirmedBy string
	// Correction is the form; without one Uncorrectable says why.
	Correction    *correction
	Uncorrectable string
	History       []historyRow
	Actions       mailActions
}

type fieldRow struct {
	Name, Value  string // Value is "" when nothing is certain
	Sure         string
	Where, Place string // the place is "" when it can't be shown
	Printed      string
	Alternatives []string
}

type findingRow struct{ Say, Where, Place string }

type documentRow struct {
	Name, Kind, Size, Address string // Address is "" when it can't be downloaded
	Stated                    bool
}

type mailRow struct {
	From, Subject, MessageID, Verdict, Place, Address string
}

// showMail shows what was read of a mail, and why, with a form to correct it.
func showMail(v *visit) (answer, error) {
	l, m, err := v.reading()
	if err != nil {
		return nil, err
	}
	page, err := v.mailPage(l, m)
	if err != nil {
		return nil, err
	}
	if page.HasRecord {
		state, why, err := v.correctable(l)
		if err != nil {
			return nil, err
		}
		if page.History, err = v.history(state); err != nil {
			return nil, err
		}
		if page.Uncorrectable = why; why == "" {
			if page.Correction, err = v.correction(state, l.Version, form{}); err != nil {
				return nil, err
			}
		}
	}
	return view{name: "mail", title: page.Title, here: "inbox", data: page}, nil
}

// mailPage is the page without its form.
func (v *visit) mailPage(l reader.InboxLine, m mailbox) (page mailPage, err error) {
	r := &l.Reading
	page = mailPage{mailLine: v.mailLine(l, m), ID: l.ID, ConfirmedBy: r.ConfirmedBy.V,
		Drawn: v.drawn(l.ID, r), HasRecord: r.Status == events.ReadingCompleted || r.Status == events.ReadingFailed}
	if page.Actions, err = v.actions(l, m); err != nil {
		return page, err
	}
	currency, _ := analytics.FieldOf(r, "currency")
	for _, f := range r.Fields {
		page.Fields = append(page.Fields, v.fieldRow(r, f, currency.Text.V))
	}
	for _, f := range r.Findings {
		page.Findings = append(page.Findings, v.findingRow(r, f))
	}
	if page.Repeats, err = v.repeats(r, m); err != nil {
		return page, err
	}
	for i, d := range r.Documents {
		row := documentRow{Name: d.Name, Kind: v.lang.Name("documentKind", d.Kind), Size: v.size(d.Bytes), Stated: d.Stated}
		if v.desk.originals != nil {
			row.Address = fmt.Sprintf("/inbox/%s/documents/%d", url.PathEscape(l.ID), i+1)
		}
		page.Documents = append(page.Documents, row)
	}
	page.Mail = mailRow{From: r.Mail.From.V, Subject: r.Mail.Subject.V, MessageID: r.Mail.MessageID.V,
		Place: fmt.Sprintf("%s %d.%d", r.Mail.Mailbox, r.Mail.UIDValidity, r.Mail.UID)}
	if r.Mail.Verdict.Ok {
		page.Mail.Verdict = v.text("inbox.verdict", r.Mail.VerdictBy.V, r.Mail.Verdict.V)
	}
	if v.desk.originals != nil && r.Mail.SHA256.Ok {
		page.Mail.Address = "/inbox/" + url.PathEscape(l.ID) + "/mail"
	}
	return page, nil
}

func (v *visit) fieldRow(r *events.Reading, f events.ReadField, currency string) fieldRow {
	row := fieldRow{Name: v.lang.Name("field", f.Name)}
	if f.Value.Ok {
		s := f.Value.V
		row.Value, row.Sure, row.Where, row.Printed = v.stated(s, currency), v.sure(s), v.where(s), s.Printed.V
		row.Place = place(r, s.Page, s.Box)
	}
	for _, s := range f.Alternatives {
		row.Alternatives = append(row.Alternatives, v.text("inbox.alternative", v.stated(s, currency), v.sure(s), v.where(s)))
	}
	return row
}

// stated is a value in words.
func (v *visit) stated(s events.Stated, currency string) string {
	if s.Minor.Ok {
		return strings.TrimSpace(v.lang.Amount(analytics.Int(s.Minor.V), currency) + " " + currency)
	}
	if day, err := calendar.ParseDate(s.Text.V); err == nil {
		return v.lang.Date(day)
	}
	return s.Text.V
}

// sure is how certain a value is, in percent.
func (v *visit) sure(s events.Stated) string {
	basisPoints := s.ConfidenceBp.Units
	for range s.ConfidenceBp.Scale {
		basisPoints /= 10
	}
	return strconv.FormatInt(basisPoints/100, 10) + " %"
}

func (v *visit) where(s events.Stated) string {
	if s.Rule == analytics.RuleEntered {
		return v.text("inbox.entered")
	}
	return v.onPage(s.Page)
}

func (v *visit) onPage(page int64) string {
	if page == 0 {
		return v.text("inbox.inEInvoice")
	}
	return v.text("inbox.onPage", page)
}

func (v *visit) findingRow(r *events.Reading, f events.Finding) findingRow {
	row := findingRow{Say: v.lang.Name("finding", f.Rule), Place: place(r, f.Page.V, f.Box)}
	if row.Say == f.Rule { // a rule of e-invoices, which is known by its name
		if row.Say = f.Message; !strings.Contains(f.Message, f.Rule) {
			row.Say = f.Rule + ": " + f.Message
		}
	}
	var where []string
	if f.Place.Ok {
		where = append(where, v.lang.Name("field", f.Place.V))
	}
	if f.Page.Ok {
		where = append(where, v.onPage(f.Page.V))
	}
	row.Where = strings.Join(where, ", ")
	return row
}

// repeats are the earlier records that a reading may be a repetition of, as far as the person may see them.
func (v *visit) repeats(r *events.Reading, m mailbox) (all []mailLine, err error) {
	const most = 5
	for _, id := range analytics.Repeats(r) {
		if len(all) == most {
			break
		}
		l, err := v.desk.inbox.Reading(v.request.Context(), v.caller.Tenant(), id, m.ids)
		if errors.Is(err, reader.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, v.mailLine(l, m))
	}
	return all, nil
}

// size is a number of bytes in words.
func (v *visit) size(bytes int64) string {
	if bytes < 1<<20 {
		return v.text("inbox.kilobytes", (bytes+1023)>>10)
	}
	return v.text("inbox.megabytes", (bytes+1<<20-1)>>20)
}

func downloadMail(v *visit) (answer, error) {
	l, _, err := v.reading()
	if err != nil {
		return nil, err
	}
	return v.download(l.Reading.Mail.SHA256.V, "mail.eml", "message/rfc822")
}

func downloadDocument(v *visit) (answer, error) {
	l, _, err := v.reading()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(v.request.PathValue("number"))
	if err != nil || n < 1 || n > len(l.Reading.Documents) {
		return nil, errNotFound
	}
	return v.downloadOf(&l.Reading.Documents[n-1])
}

// downloadOf gives a document under the name that its sender chose, but with the ending of what it is: a program or a page may have
// the mark of a PDF, too.
func (v *visit) downloadOf(d *events.ReadDocument) (answer, error) {
	contentType, ending := "application/octet-stream", ".xml" // no browser shows it
	if d.Type == "pdf" {
		contentType, ending = "application/pdf", ".pdf"
	}
	name := d.Name
	if !strings.HasSuffix(strings.ToLower(name), ending) {
		name += ending
	}
	return v.download(d.SHA256, name, contentType)
}

// download gives an original to be saved: nothing of it is shown or run here. Which one it is, a reading that the person may
// see has said.
func (v *visit) download(sha256, name, contentType string) (answer, error) {
	if v.desk.originals == nil || sha256 == "" {
		return nil, errNotFound
	}
	content, err := v.desk.originals.Original(v.request.Context(), v.caller.Tenant(), sha256)
	if errors.Is(err, ErrNotKept) {
		return nil, errNotFound
	}
	if err != nil {
		return nil, err
	}
	return raw(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Type", contentType)
		header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
		header.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
		header.Set("Cache-Control", "private, no-store")
		header.Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content) // the browser may have left
	}), nil
}
