// Package paymentcode reads what a QR code on an invoice asks to be paid: the European GiroCode (EPC069-12), the Swiss QR
// bill (SIX, Implementation Guidelines QR-bill) and Slovenia's UPN QR.
package paymentcode

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tallyhouse/ingest/invoice/iban"
)

// Payment is what a code asks for. What it leaves open is empty.
type Payment struct {
	Scheme    string // as people call it
	Payee     string
	IBAN      string
	Amount    int64 // in cents or Rappen; 0 leaves it to the payer
	Currency  string
	Reference string
	Due       string // YYYY-MM-DD
}

// What Parse fails with.
var (
	// errOther: the code is none for payments.
	errOther = errors.New("no code of a payment")
	// ErrFaulty: it is, and breaks its rules.
	ErrFaulty = errors.New("a faulty code of a payment")
)

// maxText is the longest text of a code: what the largest QR bill holds.
const maxText = 1000

// Parse reads the text of a code.
func Parse(text string) (Payment, error) {
	if len(text) > maxText || !utf8.ValidString(text) {
		return Payment{}, errOther
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	var p Payment
	var err error
	switch strings.TrimSpace(lines[0]) {
	case "BCD":
		p, err = girocode(lines)
	case "SPC":
		p, err = swiss(lines)
	case "UPNQR":
		p, err = upn(lines)
	default:
		return Payment{}, errOther
	}
	if err != nil {
		return Payment{}, fmt.Errorf("%w: %w", ErrFaulty, err)
	}
	return p, nil
}

// line is one of a code's lines without its margins, empty behind the last.
func line(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[i])
}

func girocode(lines []string) (Payment, error) {
	version := line(lines, 1)
	transfer := line(lines, 3)
	p := Payment{Scheme: "GiroCode", Payee: line(lines, 5), IBAN: account(line(lines, 6)), Currency: "EUR", Reference: account(line(lines, 9))}
	switch {
	case version != "001" && version != "002":
		return p, fmt.Errorf("version %q", version)
	case transfer != "SCT" && transfer != "INST":
		return p, fmt.Errorf("transfer %q", transfer)
	case p.Payee == "" || utf8.RuneCountInString(p.Payee) > 70:
		return p, errors.New("the payee's name is missing or longer than 70 characters")
	case !iban.Valid(p.IBAN):
		return p, fmt.Errorf("the IBAN %s is wrong", p.IBAN)
	case p.Reference != "" && !validReference(p.Reference):
		return p, fmt.Errorf("the reference %s is wrong", p.Reference)
	}
	if sum := line(lines, 7); sum != "" {
		figures, euros := strings.CutPrefix(sum, "EUR")
		var ok bool
		if p.Amount, ok = cents(figures); !euros || !ok {
			return p, fmt.Errorf("amount %q", sum)
		}
	}
	return p, nil
}

func swiss(lines []string) (Payment, error) {
	p := Payment{Scheme: "QR bill", IBAN: account(line(lines, 3)), Payee: line(lines, 5),
		Currency: line(lines, 19), Reference: account(line(lines, 28))}
	switch {
	case !strings.HasPrefix(line(lines, 1), "02"):
		return p, fmt.Errorf("version %q", line(lines, 1))
	case line(lines, 30) != "EPD":
		return p, errors.New("its trailer EPD is missing")
	case !iban.Valid(p.IBAN) || p.IBAN[:2] != "CH" && p.IBAN[:2] != "LI":
		return p, fmt.Errorf("the IBAN %s is wrong", p.IBAN)
	case p.Payee == "" || utf8.RuneCountInString(p.Payee) > 70:
		return p, errors.New("the payee's name is missing or longer than 70 characters")
	case p.Currency != "CHF" && p.Currency != "EUR":
		return p, fmt.Errorf("currency %q", p.Currency)
	}
	// Accounts of their own kind, by the bank's number, have a reference of 27 figures, and no others have.
	kind, own := line(lines, 27), p.IBAN[4:9] >= "30000" && p.IBAN[4:9] <= "31999"
	switch {
	case own != (kind == "QRR"):
		return p, fmt.Errorf("a reference of the kind %s with the IBAN %s", kind, p.IBAN)
	case kind == "QRR" && !validFigures(p.Reference):
		return p, fmt.Errorf("the reference %s is wrong", p.Reference)
	case kind == "SCOR" && !validReference(p.Reference):
		return p, fmt.Errorf("the reference %s is wrong", p.Reference)
	case kind == "NON" && p.Reference != "", kind != "QRR" && kind != "SCOR" && kind != "NON":
		return p, fmt.Errorf("a reference of the kind %q", kind)
	}
	if sum := line(lines, 18); sum != "" {
		var ok bool
		if p.Amount, ok = cents(sum); !ok {
			return p, fmt.Errorf("amount %q", sum)
		}
	}
	return p, nil
}

// upnLines are those before the line that counts their characters.
const upnLines = 19

func upn(lines []string) (Payment, error) {
	p := Payment{Scheme: "UPN QR", IBAN: account(line(lines, 14)), Reference: account(line(lines, 15)), Payee: line(lines, 16),
		Currency: "EUR"}
	count := 0
	for i := range min(upnLines, len(lines)) {
		count += utf8.RuneCountInString(lines[i]) + 1
	}
	amount, err := strconv.ParseUint(line(lines, 8), 10, 40)
	switch {
	case len(lines) <= upnLines || line(lines, upnLines) != fmt.Sprintf("%03d", count):
		return p, errors.New("its check sum is wrong")
	case err != nil || len(line(lines, 8)) != 11:
		return p, fmt.Errorf("amount %q", line(lines, 8))
	case !iban.Valid(p.IBAN):
		return p, fmt.Errorf("the IBAN %s is wrong", p.IBAN)
	case p.Payee == "":
		return p, errors.New("the payee's name is missing")
	case strings.HasPrefix(p.Reference, "RF") && !validReference(p.Reference):
		return p, fmt.Errorf("the reference %s is wrong", p.Reference)
	}
	p.Amount = int64(amount)
	if due := line(lines, 13); due != "" {
		day, err := time.Parse("02.01.2006", due)
		if err != nil {
			return p, fmt.Errorf("day of payment %q", due)
		}
		p.Due = day.Format(time.DateOnly)
	}
	return p, nil
}

// cents reads an amount with a point before at most two decimals, and no separators.
func cents(s string) (int64, bool) {
	whole, part, pointed := strings.Cut(s, ".")
	if whole == "" || len(whole) > 9 || len(part) > 2 || pointed && part == "" || !figures(whole+part) {
		return 0, false
	}
	v, err := strconv.ParseInt(whole+(part + "00")[:2], 10, 64)
	return v, err == nil
}

func figures(s string) bool { return strings.Trim(s, "0123456789") == "" }

// account is an IBAN or a reference without spaces, in capitals.
func account(s string) string { return strings.ToUpper(strings.ReplaceAll(s, " ", "")) }

// validReference checks the digits of a creditor reference (ISO 11649): "RF18…".
func validReference(s string) bool {
	return len(s) >= 5 && len(s) <= 25 && strings.HasPrefix(s, "RF") && iban.Checked(s)
}

// validFigures checks the last figure of a Swiss reference (modulo 10, recursive).
func validFigures(s string) bool {
	if len(s) != 27 || !figures(s) {
		return false
	}
	carry := 0
	for _, c := range s[:26] {
		carry = [10]int{0, 9, 4, 6, 8, 2, 7, 1, 3, 5}[(carry+int(c-'0'))%10]
	}
	return (10-carry)%10 == int(s[26]-'0')
}
