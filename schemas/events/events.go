// Package events holds every change event of the ledger: the topics, the envelope that all of them share, one Go type for each
// payload, and the strict decoder that decides whether a message is taken (see docs/events.md). Whether a message is refused
// depends on that message alone.
package events

import (
	"time"

	"tallyhouse/schemas/calendar"
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
	DeadLetters        Topic = "ledger.dead-letters"
)

// Limits of every message.
const (
	MaxMessageBytes = 16 << 20         // of a value
	MaxVersion      = 1<<53 - 1        // versions and amounts stay exact in every JSON reader
	MaxAmount       = 9007199254740991 // minor units; the least is -MaxAmount
	MaxIDLength     = 200              // characters
	MaxDecimals     = 18               // digits of a decimal string
	MaxMonths       = 400 * 12         // of a rhythm or a lag: as many as the ledger's range of dates has
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

// Event is one decoded change: the envelope and the entity's complete state. Data is a pointer to the payload type of the topic
// (*Record on Records, and so on), nil when Op is Delete.
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

// Decimal is an exact decimal number: Units * 10^-Scale, without zeros at the end behind the point, so that equal numbers are equal
// values. Basis points, areas and index values use it.
type Decimal struct {
	Units int64
	Scale uint8
}

// Project is the payload of Projects.
type Project struct {
	Name              string
	WorkspaceID       Opt[string]
	Currency          string
	BudgetStructureID Opt[string]
	InboundEmail      Opt[string]
}

// AccountingCode is a code of a budget line or a record in one accounting system (spec 2.3).
type AccountingCode struct {
	System    string // extensible
	Code      string
	Name      Opt[string]
	TaxKey    Opt[string]
	Inherited bool // certified codes of a record alone
}

// BudgetNode is the payload of BudgetNodes; the entity's id is the nodeId.
type BudgetNode struct {
	StructureID     Opt[string]
	ProjectID       Opt[string] // set: the node exists only in this project
	ParentID        Opt[string]
	Level           string // extensible: budget, subBudget, costItem
	Code            string
	Name            string
	Description     Opt[string]
	Active          bool
	AccountingCodes []AccountingCode
}

// BudgetRow is the payload of BudgetRows.
type BudgetRow struct {
	ProjectID string
	Kind      string // initial, addendum
	NodeID    Opt[string]
	Amount    Amount
	Status    string // draft, approved, rejected
}

// BudgetTransfer is the payload of BudgetTransfers.
type BudgetTransfer struct {
	ProjectID  string
	FromNodeID Opt[string]
	ToNodeID   Opt[string]
	Amount     Amount
	Status     string // draft, approved, rejected
}

// UncommittedEntry is the payload of UncommittedEntries: what a person entered as still to be contracted.
type UncommittedEntry struct {
	ProjectID string
	NodeID    string
	Amount    Opt[Amount] // none: withdrawn
}

// RecordAllocation is the share of a record on one budget node.
type RecordAllocation struct {
	NodeID Opt[string]
	Net    Opt[int64] // minor units of the record's currency
}

// Document is the label of a file that belongs to a record.
type Document struct {
	Name string
	Kind string // extensible: original, approved, other
}

// Intake says how a record came in (spec 2.6).
type Intake struct {
	Channel    string      // extensible: email, app, chat, api, manual
	Status     Opt[string] // extensible: queued, processing, completed, failed
	ReceivedAt Opt[time.Time]
}

// Record is the payload of Records: an invoice or an accrual.
type Record struct {
	ProjectID        string
	Source           string // extensible: invoice, accrual
	Direction        string // extensible: in, out
	StepKind         string // setup, approval, payment, paid, rejected
	WorkflowStep     Opt[string]
	ContractorID     Opt[string]
	CounterpartyName Opt[string]
	InvoiceNumber    Opt[string]
	RecognitionDate  Opt[calendar.Date]
	DueDate          Opt[calendar.Date]
	PaidAt           Opt[time.Time]
	CashDate         Opt[calendar.Date]
	Currency         Opt[string]
	Net              Opt[int64]
	Tax              Opt[int64]
	Gross            Opt[int64]
	Allocations      []RecordAllocation
	ContractID       Opt[string]
	CertifiedCodes   Opt[[]AccountingCode] // present and empty means certified without codes
	Documents        []Document
	Intake           Intake
}

// Contractor is the payload of Contractors.
type Contractor struct {
	Name               Opt[string]
	City               Opt[string]
	Country            Opt[string]
	TaxID              Opt[string]
	RegistrationNumber Opt[string]
}

// ContractAllocation is one budget line of a base contract, in the contract's currency.
type ContractAllocation struct {
	NodeID string
	Value  int64
}

// Amendment is a change order of a contract, in the contract's currency.
type Amendment struct {
	ID     string
	NodeID Opt[string]
	Value  int64  // signed
	Status string // extensible: draft, pending, approved, rejected
	Date   Opt[calendar.Date]
	Title  Opt[string]
}

// Contract is the payload of Contracts: a contract with its change orders.
type Contract struct {
	ProjectID    string
	Name         Opt[string]
	ContractorID Opt[string]
	Status       string // extensible: setup, signed, completed, cancelled
	StartDate    Opt[calendar.Date]
	EndDate      Opt[calendar.Date]
	Currency     string
	Allocations  []ContractAllocation
	Amendments   []Amendment
}

// Claim is the payload of Claims: an expected claim.
type Claim struct {
	ProjectID     string
	ContractID    Opt[string]
	NodeID        Opt[string]
	Amount        Amount
	ProbabilityBp Decimal // 0..10000
	Status        string  // open, closed
}

// MonthValue is an amount planned for a month.
type MonthValue struct {
	Month calendar.Month
	Value int64
}

// Recurrence is the rhythm in which a budget line expects invoices.
type Recurrence struct {
	EveryMonths int
	From        calendar.Month
	To          Opt[calendar.Month]
}

// LinePlan is the payload of LinePlans: the phasing of one budget line.
type LinePlan struct {
	ProjectID    string
	NodeID       string
	StartDate    Opt[calendar.Date]
	EndDate      Opt[calendar.Date]
	Method       string // linearDays (also when none is given), linearMonths, sCurve, custom
	CustomMonths []MonthValue
	Recurring    Opt[Recurrence]
}

// SnapshotLine is a budget line frozen at a month's end; totals include descendants, minor units of the project's currency.
type SnapshotLine struct {
	NodeID               string
	ParentID             Opt[string]
	Level                string // extensible
	Code                 string
	Name                 string
	Budget               int64
	Committed            int64
	PendingChanges       int64
	Uncommitted          int64
	UncommittedDefaulted bool
	Invoiced             int64
	Paid                 int64
}

// Explanation is the reason that was given for a line's change.
type Explanation struct {
	NodeID string
	Reason string
}

// ForecastSnapshot is the payload of ForecastSnapshots.
type ForecastSnapshot struct {
	ProjectID    string
	Month        calendar.Month
	Version      int64  // of the snapshot within its month, not of the entity
	Status       string // extensible: submitted, approved, rejected
	SubmittedAt  Opt[time.Time]
	DecidedAt    Opt[time.Time]
	Lines        []SnapshotLine
	Explanations []Explanation
}

// Unit is the payload of Units; the entity's id is the unitId.
type Unit struct {
	ProjectID  string
	SiteID     string
	SiteName   string
	BuildingID string
	Label      string
	Type       string
	Floor      Opt[string]
	AreaM2     Opt[Decimal]
	Spaces     Opt[int64]
	Scope      string // scheme, currentUse
	AskingRate Opt[Amount]
}

// RentStep is the monthly rent from a date on.
type RentStep struct {
	From        calendar.Date
	MonthlyRent int64
}

// DateRange is a range of days, both ends included.
type DateRange struct {
	From calendar.Date
	To   calendar.Date
}

// Break is a right to end a lease.
type Break struct {
	Date  calendar.Date
	Party string // tenant, landlord, both
	State string // open, exercised, waived
}

// Indexation is how a lease's rent follows an index (calculations 8.3). Type says which members count.
type Indexation struct {
	Type        string // none, fixed, cpi
	RateBp      Decimal
	FirstOn     calendar.Date
	EveryMonths int
	Series      string
	BaseMonth   calendar.Month
	ThresholdBp Decimal
	LagMonths   int
	ShareBp     Decimal
	CapBp       Opt[Decimal]
	FloorBp     Opt[Decimal]
}

// Lease is the payload of Leases; the entity's id is the leaseId.
type Lease struct {
	ProjectID        string
	Category         string // extensible: main, other
	CounterpartyName Opt[string]
	Status           string // extensible: draft, signed, active, ended
	UnitIDs          []string
	Start            calendar.Date
	End              Opt[calendar.Date]
	Currency         string
	MonthlyRent      int64
	Steps            []RentStep
	RentFree         []DateRange
	Breaks           []Break
	Indexation       Opt[Indexation]
	IndexationText   Opt[string]
}

// IndexValue is the payload of IndexValues: one month of an index; the entity's id is series:month.
type IndexValue struct {
	Series string
	Month  calendar.Month
	Value  Decimal
}

// MarginStep is the margin from a date on.
type MarginStep struct {
	From     calendar.Date
	MarginBp Decimal
}

// Pricing is the price of a loan (spec 2.13).
type Pricing struct {
	ReferenceRate string
	MarginBp      Decimal
	FloorBp       Opt[Decimal]
	FloorOn       Opt[string] // extensible: reference, allIn
	FixedRateBp   Opt[Decimal]
	MarginSteps   []MarginStep
}

// Facility is the payload of Facilities; the entity's id is the facilityId.
type Facility struct {
	ProjectIDs        []string
	Lender            string
	Type              string // extensible: construction, investment, bridge, shareholder
	Currency          string
	Commitment        int64
	Revolving         bool
	Availability      DateRange
	Maturity          calendar.Date
	DayCount          string // ACT/360, ACT/365, 30/360
	Pricing           Pricing
	CommitmentFeeBp   Decimal
	InterestTreatment string // extensible: paid, capitalised
	FirstIpd          Opt[calendar.Date]
	IpdEveryMonths    Opt[int]
	Ipds              Opt[[]calendar.Date]
}

// Fixing is the payload of Fixings: the reference rate of one period.
type Fixing struct {
	FacilityID  string
	PeriodStart calendar.Date
	ReferenceBp Decimal
}

// FacilityEntry is the payload of FacilityEntries; the entity's id is the entryId.
type FacilityEntry struct {
	FacilityID string
	Kind       string // extensible: drawdown, interest, repayment
	Status     string // extensible: planned, requested, funded
	Date       calendar.Date
	Value      int64 // positive
}

// User is the payload of Users.
type User struct {
	Name   string
	Email  Opt[string]
	Active bool
}

// Scope is where a membership holds: exactly one member is set.
type Scope struct {
	ProjectID   Opt[string]
	WorkspaceID Opt[string]
	Tenant      bool
}

// Membership is the payload of Memberships.
type Membership struct {
	UserID string
	Scope  Scope
	Role   string // admin, user, guest
}

// Key is the payload of Keys: an API key. The secret itself is stored nowhere.
type Key struct {
	OwnerUserID  string
	Environment  string // test, live
	Prefix       string
	SecretSHA256 string // hex in lower case, over the secret alone
	Financial    bool
	Groups       Opt[[]string] // ceiling of field groups
	ProjectIDs   Opt[[]string] // ceiling of projects
	ExpiresAt    Opt[time.Time]
	RevokedAt    Opt[time.Time]
}

// Feedback is the payload of ReceivedFeedback.
type Feedback struct {
	Category   string // bug, missing, confusing, idea, praise
	Message    string
	Endpoint   Opt[string]
	Agent      Opt[Agent]
	RequestID  Opt[string]
	Principal  string
	ReceivedAt time.Time
}

// Agent names the program that sent feedback.
type Agent struct {
	Name  Opt[string]
	Model Opt[string]
}
