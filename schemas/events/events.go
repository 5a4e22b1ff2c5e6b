// Package events has every change event of the ledger: the topics, the envelope that all of them share, one Go type for
// each payload, and the strict decoder that decides whether a message is taken (docs/events.md). Whether a message is
// refused depends on that message alone.
//
// Below each payload type stands its table of members. Reading, writing, the content hash, the JSON Schema and the
// tables of docs/events.md all come from it, so a new member is a field of the type and an entry at the end of the
// table.
package events

import (
	"time"
)

// Topic is the name of a Kafka topic.
type Topic string

// The topics. Each but the last carries the changes of one kind of entity.
const (
	Projects           Topic = "ledger.projects"
	BudgetNodes        Topic = "ledger.budget-nodes"
	BudgetRows         Topic = "ledger.budget-rows"
	BudgetTransfers    Topic = "ledger.budget-transfers"
	UncommittedEntries Topic = "ledger.uncommitted-entries"
	Records            Topic = "ledger.records"
	Contractors        Topic = "ledger.contractors"
	Contracts          Topic = "ledger.contracts"
	Claims             Topic = "ledger.claims"
	LinePlans          Topic = "ledger.line-plans"
	ForecastSnapshots  Topic = "ledger.forecast-snapshots"
	Units              Topic = "ledger.units"
	Leases             Topic = "ledger.leases"
	IndexValues        Topic = "ledger.index-values"
	Facilities         Topic = "ledger.facilities"
	Fixings            Topic = "ledger.fixings"
	FacilityEntries    Topic = "ledger.facility-entries"
	Users              Topic = "access.users"
	Memberships        Topic = "access.memberships"
	Keys               Topic = "access.keys"
	ReceivedFeedback   Topic = "service.feedback"
	Readings           Topic = "intake.readings"
	Requests           Topic = "intake.requests"
	Answers            Topic = "intake.answers"
	DeadLetters        Topic = "ledger.dead-letters"
)

// Limits of every message.
const (
	MaxMessageBytes = 16 << 20         // of a value
	MaxVersion      = 1<<53 - 1        // versions and amounts stay exact in every JSON reader
	MaxAmount       = 9007199254740991 // minor units; the least is -MaxAmount
	MaxIDLength     = 200              // characters
	MaxDecimals     = 18               // digits of a decimal string
	maxMonths       = 400 * 12         // of a rhythm or a lag: as many as the ledger's range of dates has
)

// Op says what happened to the entity.
type Op uint8

// The operations of an envelope.
const (
	Upsert Op = iota + 1
	Delete
)

// Envelope is what all change events share.
type Envelope struct {
	ID       string
	TenantID string
	Version  int64 // 1..MaxVersion, rises with every change of the entity
	Op       Op
	At       time.Time
}

// Event is one decoded change: the envelope and the entity's complete state. Data is a pointer to the payload type of
// the topic (*Record on Records, and so on), nil when Op is Delete.
type Event struct {
	Envelope
	Data any
}

// Opt is a member that may be null or absent.
type Opt[T any] struct {
	V  T
	Ok bool
}

// Some is a present value.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, Ok: true} }

// Or is the value, or instead when there is none.
func (o Opt[T]) Or(instead T) T {
	if o.Ok {
		return o.V
	}
	return instead
}

// Amount is money in minor units of its currency (ISO 4217, three letters).
type Amount struct {
	Value    int64
	Currency string
}

// Decimal is an exact decimal number: Units * 10^-Scale, without trailing zeros after the point, so that equal numbers
// are equal values. Basis points, areas and index values use it.
type Decimal struct {
	Units int64
	Scale uint8
}
