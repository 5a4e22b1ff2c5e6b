package page

import (
	"strings"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/iban"
)

// account is one that the supplier names.
type account struct {
	iban string
	at   *item
}

// maxAccounts bounds those of a document.
const maxAccounts = 50

// accounts are those on the pages but for the buyer's, from which he is debited.
func (s *sheet) accounts(buyers map[*item]bool) (all []account) {
	for _, row := range s.rows {
		for _, it := range row {
			if buyers[it] || s.buyerWord.MatchString(it.folded) {
				continue
			}
			for _, number := range iban.In(strings.ToUpper(it.text())) {
				if len(all) < maxAccounts {
					all = append(all, account{number, it})
				}
			}
		}
	}
	return all
}

// How certain the account to pay to is: where it is the only one, and where it is one of several.
const (
	onlyAccount   = 0.95
	oneOfAccounts = 0.5
)

// supplierIBAN is the one account that the supplier names. Several are possible.
func (s *sheet) supplierIBAN(buyers map[*item]bool) *fields.Text {
	all := s.accounts(buyers)
	several := false
	for _, a := range all {
		several = several || a.iban != all[0].iban
		s.couldBe(fields.SupplierIBAN, a.iban, a.at, "account", oneOfAccounts)
	}
	if len(all) == 0 || several {
		return nil
	}
	return &fields.Text{Value: all[0].iban, Evidence: s.evidence(all[0].at, "account", onlyAccount)}
}
