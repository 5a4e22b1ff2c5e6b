// Package fields holds what is read from an invoice: each value with the
// evidence for it. It is the common term of the readers of e-invoices and pages.
package fields

import "tallyhouse/schemas/money"

// Evidence says where a value stands and why it is believed.
type Evidence struct {
	// Page counts from 1; 0 is the embedded e-invoice.
	Page int `json:"page"`
	// Text is what was read there.
	Text string `json:"text"`
	// Rule names the rule that chose the value.
	Rule string `json:"rule"`
	// Confidence is between 0 and 1; see Certain.
	Confidence float64 `json:"confidence"`
	// Box is where on the page it stands; nil where that isn't known.
	Box *Box `json:"box,omitempty"`
	// Label is the words that announce figures there, in small Latin letters alone: before them, else on their left, else above them.
	Label string `json:"label,omitempty"`
}

// Box is a place on a page, in parts of the page as it is shown: 0 is its left or its top, 1 its right or its bottom.
type Box struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// Certain is the confidence from which on a value is reported; below it the
// field stays null, for a wrong value is worse than none.
const Certain = 0.8

// Text is a value that is written: a name, a number, a date (YYYY-MM-DD), a
// currency code (ISO 4217).
type Text struct {
	Value string
	Evidence
}

// Amount is money in minor units of the invoice's currency; credit notes are
// negative.
type Amount struct {
	Value int64
	Evidence
}

// The names of the fields.
const (
	Number        = "invoiceNumber"
	Date          = "invoiceDate"
	DueDate       = "dueDate"
	SupplierName  = "supplierName"
	SupplierTaxID = "supplierTaxId"
	SupplierIBAN  = "supplierIban"
	Currency      = "currency"
	Net           = "net"
	Tax           = "tax"
	Gross         = "gross"
)

// Names are those of all fields, in the order in which they are shown.
func Names() []string {
	return []string{Number, Date, DueDate, SupplierName, SupplierTaxID, SupplierIBAN, Currency, Net, Tax, Gross}
}

// Possible is a value that a field could have, but for what is certain: another one is likelier, or none is likely
// enough. That of an amount is its minor units in digits.
type Possible struct {
	Field string `json:"field"`
	Value string `json:"value"`
	Evidence
}

// MaxPossible bounds what is kept of a field beside its value.
const MaxPossible = 5

// Finding is what is worth a look about an invoice, whether it was read or not.
type Finding struct {
	// Rule says what it is about in a word that stays the same over releases: the id of a rule of EN 16931 or of a
	// national one (BR-CO-15), else one of ours (docs/invoices.md#findings).
	Rule    string `json:"rule"`
	Message string `json:"message"`
	// Place is the name of a field, or the element of an e-invoice; "" when it is about all of it.
	Place string `json:"place,omitempty"`
	// Page counts from 1; 0 is the e-invoice, or no page in particular.
	Page int  `json:"page,omitempty"`
	Box  *Box `json:"box,omitempty"`
}

// Invoice is what is known of one invoice. A nil field is not known.
type Invoice struct {
	Number        *Text
	Date          *Text
	DueDate       *Text
	SupplierName  *Text
	SupplierTaxID *Text
	SupplierIBAN  *Text // the account to pay to, without spaces
	Currency      *Text
	Net           *Amount
	Tax           *Amount
	Gross         *Amount
	// Possible is what else could be; the likeliest of each field first.
	Possible []Possible
}

// Exponent is the number of decimals of a currency's minor unit (ISO 4217).
func Exponent(currency string) int { return money.Decimals(currency) }
