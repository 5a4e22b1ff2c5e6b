// Package fields holds what is read from an invoice: each value with the
// evidence for it. It is the common term of the readers of e-invoices and pages.
package fields

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

// Invoice is what is known of one invoice. A nil field is not known.
type Invoice struct {
	Number        *Text
	Date          *Text
	DueDate       *Text
	SupplierName  *Text
	SupplierTaxID *Text
	Currency      *Text
	Net           *Amount
	Tax           *Amount
	Gross         *Amount
}

// Exponent is the number of decimals of a currency's minor unit (ISO 4217).
func Exponent(currency string) int {
	switch currency {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF",
		"XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	}
	return 2
}
