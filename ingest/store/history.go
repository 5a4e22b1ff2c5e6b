package store

import (
	"strings"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/analytics"
	"tallyhouse/ingest/store/database"
	"tallyhouse/schemas/events"
)

// Versions of mailed records and of their readings are kept for good in the table history, beside the state tables, which have
// the newest alone (docs/mail.md#what-is-kept).

// version is what the history keeps of a version.
type version struct{ status, intakeStatus, confirmedBy string }

func recordVersion(data any) version {
	r := data.(*events.Record)
	return version{status: string(analytics.StatusOf(r.StepKind)), intakeStatus: r.Intake.Status.V}
}

func readingVersion(data any) version {
	r := data.(*events.Reading)
	return version{status: r.Status, confirmedBy: r.ConfirmedBy.V}
}

// History collects the versions of a batch, in the form in which they are sent. It is used again after Reset.
type History struct {
	entity *Entity

	tenant, project, id, of, status, intakeStatus, confirmedBy proto.ColStr
	rowVersion                                                 proto.ColUInt64
	at                                                         *proto.ColDateTime64
	gone                                                       proto.ColBool
}

// NewHistory makes an empty history for versions of the entity.
func (e *Entity) NewHistory() *History {
	return &History{entity: e, at: new(proto.ColDateTime64).WithPrecision(proto.PrecisionMicro).WithLocation(time.UTC)}
}

// Reset empties the history. One whose insert failed is not used again.
func (h *History) Reset() {
	for _, c := range h.Batch() {
		c.Data.(proto.Resettable).Reset()
	}
}

// Len is how many versions there are.
func (h *History) Len() int { return h.id.Rows() }

// Add adds the version that a row brings, where a history of its entity is kept. before is the version that it goes over, 0 for
// none. When a reading is deleted or leaves its project, nothing of its earlier versions stays there: they may name people.
func (h *History) Add(r *Row, before uint64) {
	if h.entity.version == nil || !strings.HasPrefix(r.ID, events.MailedPrefix) {
		return
	}
	var v version
	if r.Data != nil {
		v = h.entity.version(r.Data)
	}
	h.add(r, r.Version, r.Data == nil, v)
	if r.Data == nil && h.entity.Topic == events.Readings {
		for earlier := uint64(1); earlier <= min(before, analytics.ApplicationsOwn-1); earlier++ {
			h.add(r, earlier, true, version{})
		}
	}
}

func (h *History) add(r *Row, number uint64, gone bool, v version) {
	h.tenant.Append(r.Tenant)
	h.project.Append(r.Project)
	h.id.Append(r.ID)
	h.rowVersion.Append(number)
	h.of.Append(h.entity.Table)
	h.at.Append(r.At)
	h.gone.Append(gone)
	h.status.Append(v.status)
	h.intakeStatus.Append(v.intakeStatus)
	h.confirmedBy.Append(v.confirmedBy)
}

// Batch is the history as the data of an insert.
func (h *History) Batch() database.Batch {
	return database.Batch{
		{Name: "tenant", Data: &h.tenant}, {Name: "project", Data: &h.project}, {Name: "id", Data: &h.id},
		{Name: "row_version", Data: &h.rowVersion}, {Name: "of", Data: &h.of}, {Name: "at", Data: h.at}, {Name: "gone", Data: &h.gone},
		{Name: "status", Data: &h.status}, {Name: "intake_status", Data: &h.intakeStatus}, {Name: "confirmed_by", Data: &h.confirmedBy},
	}
}

// InsertHistory is the statement that moves a history into its table. It is harmless at any time: what a message says of a version is true
// whoever writes it, and however often.
const InsertHistory = `INSERT INTO history (tenant, project, id, row_version, of, at, gone, status, intake_status, confirmed_by)
SELECT tenant, project, id, row_version, of, at, gone, status, intake_status, confirmed_by FROM batch`
