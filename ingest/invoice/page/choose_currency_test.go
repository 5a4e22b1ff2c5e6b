package page

import (
	"strings"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/typed"
)

// Given an invoice with words that look like the codes of currencies, then its
// currency is the one beside amounts and labels, else that of the supplier's country.
func TestACodeCountsBesideAnAmountOrALabelOnly(t *testing.T) {
	cases := []struct{ name, item, net, total, note, want string }{
		{"pens", "BALLPOINT PEN", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"drawings", "CAD 3D-Modell", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"drawings, counted", "2 CAD stations", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"a model, counted", "2 CAD 3D-Modell", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"drawings in a format", "Drawings in CAD", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"a trial", "TRY OUT", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"a programming language", "PHP 8 developer", "1,000.00", "Total  1,200.00", "", "GBP"},
		{"drawings in dollars", "CAD 3D-Modell", "$1,000.00", "Total  $1,200.00", "", "USD"},
		{"drawings, total in euros", "CAD drawings", "€ 1,000.00", "Total  € 1,200.00", "", "EUR"},
		{"a pallet", "EUR pallets", "1,000.00", "Total  1,200.00", "", "GBP"},

		{"behind the total", "Masonry", "1,000.00", "Total  1,200.00 CAD", "", "CAD"},
		{"before the total", "Masonry", "1,000.00", "Total  CAD 1,200.00", "", "CAD"},
		{"in the total's label", "Masonry", "1,000.00", "Total CAD  1,200.00", "", "CAD"},
		{"in brackets", "Masonry", "1,000.00", "Total (PEN)  1,200.00", "", "PEN"},
		{"between label and total", "Masonry", "1,000.00", "Total  TRY  1,200.00", "", "TRY"},
		{"in a sentence", "Masonry", "1,000.00", "Total  1,200.00", "All prices in EUR.", "EUR"},
		{"a label", "Masonry", "1,000.00", "Total  1,200.00", "Currency: CAD", "CAD"},
		{"dollars of a country", "Masonry", "$1,000.00", "Total  $1,200.00", "Currency  CAD", "CAD"},
		{"dollars, of which a label says more", "Masonry", "$1,000.00", "Total  $1,200.00", "Amount (CAD)", "CAD"},
	}
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines := []string{"Harrow & Lane Ltd", "12 High Street", "London EC1A 1BB", "VAT Reg No GB980780684", "", "Bill to:",
				"Northern Homes plc", "5 Mill Lane", "Leeds LS1 4AP", "", "Invoice", "", "Invoice No.     2026-0417",
				"Invoice date    17 April 2026", "", "Description                  Quantity  Amount",
				c.item + strings.Repeat(" ", 29-len(c.item)) + "1         " + c.net, "", "        Subtotal  " + c.net,
				"        VAT 20%   200.00", "        " + c.total, "", c.note}
			_, got, _ := reader.Read(typed.Document(strings.Join(lines, "\n")), Own{})
			if got.Currency == nil || got.Currency.Value != c.want {
				t.Errorf("currency %+v, want %s", got.Currency, c.want)
			}
			if got.Gross == nil || got.Gross.Value != 120000 {
				t.Errorf("gross %+v, want 120000", got.Gross)
			}
		})
	}
}

// Given an invoice that prints no currency, then it is that of the supplier's country, which his VAT id or his accounts tell,
// unless these disagree. Of one account it is certain that it is his, of several each may be.
func TestTheCurrencyOfTheSuppliersCountry(t *testing.T) {
	cases := []struct{ name, id, buyer, foot, want, accounts string }{
		{"nothing tells it", "", "", "", "-", ""},
		{"a VAT id", "VAT Reg No GB980780684", "", "", "GBP", ""},
		{"a Spanish tax id", "CIF B58378431", "", "", "EUR", ""},
		{"a number called so in one country", "CVR-nr. 28641931", "", "", "DKK", ""},
		{"an account", "", "", "IBAN CH93 0076 2011 6238 5295 7", "CHF", "CH9300762011623852957"},
		{"an account with wrong check digits", "", "", "IBAN CH92 0076 2011 6238 5295 7", "-", ""},
		{"a VAT id and an account", "VAT Reg No GB980780684", "", "IBAN GB82 WEST 1234 5698 7654 32", "GBP", "GB82WEST12345698765432"},
		{"a VAT id and an account elsewhere", "VAT Reg No GB980780684", "", "IBAN AT61 1904 3002 3457 3201", "-", "AT611904300234573201"},
		{"accounts in two countries", "", "", "IBAN AT61 1904 3002 3457 3201, IBAN CH93 0076 2011 6238 5295 7", "-",
			"AT611904300234573201? CH9300762011623852957?"},
		{"accounts in two countries of one currency", "", "", "IBAN AT61 1904 3002 3457 3201, IBAN DE89 3704 0044 0532 0130 00", "EUR",
			"AT611904300234573201? DE89370400440532013000?"},
		{"the buyer's account", "", "IBAN AT61 1904 3002 3457 3201", "", "-", ""},
		{"a telephone number", "Tel. +386 1 234 56 78", "", "", "-", ""},
		{"a telephone number and a domain", "Tel. +386 1 234 56 78", "", "office@harrow.si", "EUR", ""},
		{"a telephone number and a domain of everybody", "Tel. +386 1 234 56 78", "", "office@harrow.com", "-", ""},
		{"a telephone number and a domain elsewhere", "Tel. +386 1 234 56 78", "", "office@harrow.ch", "-", ""},
		{"a British telephone number and domain", "Tel. +442012345678", "", "www.harrow.co.uk", "GBP", ""},
		{"two telephone numbers", "Tel. +36 1 234 5678", "", "Fax +36 1 234 5679", "-", ""},
		{"the buyer's telephone number", "", "Tel. +386 1 234 56 78", "office@harrow.si", "-", ""},
		{"an account, and a domain elsewhere", "", "", "office@harrow.si, IBAN CH93 0076 2011 6238 5295 7", "CHF", "CH9300762011623852957"},
		{"an American address", "12 Main Street, Austin, Texas 78701", "", "", "-", ""},
		{"an American address and tax number", "12 Main Street, Austin, TX 78701", "", "EIN: 12-3456789", "USD", ""},
		{"a British address", "12 High Street, London EC1A 1BB", "", "", "-", ""},
		{"a British address and VAT number", "12 High Street, London EC1A 1BB", "", "VAT registration no. 652 3062 62", "GBP", ""},
		{"a British address and another number", "12 High Street, London EC1A 1BB", "", "VAT registration no. 65230626", "-", ""},
		{"an Irish address and a number as in Britain", "12 High Street, Dublin D02 X285", "", "VAT registration no. 652 3062 62", "-", ""},
		{"no state", "12 Main Street, Austin, Tejas 78701", "", "EIN: 12-3456789", "-", ""},
		{"a rate that one country alone has", "", "", "MwSt 8,1 %", "-", ""},
		{"a telephone number and such a rate", "Tel. +41 44 123 45 67", "", "MwSt 8,1 %", "CHF", ""},
		{"a telephone number and such a percentage of something else", "Tel. +41 44 123 45 67", "", "Discount 8.1 %", "-", ""},
		{"a telephone number and the name that the tax has there", "Tel. +386 1 234 56 78", "", "DDV", "EUR", ""},
		{"a telephone number and the name that the tax has elsewhere", "Tel. +386 1 234 56 78", "", "ÁFA", "-", ""},
		{"crowns, the tax and letters of Denmark", "", "", "Beløbet er på kr. 1.200, uden moms", "DKK", ""},
		{"crowns, the tax and letters of Sweden", "", "", "Summan är på kr 1.200, utan moms", "SEK", ""},
		{"crowns and the tax of Norway", "", "", "Beløpet er på kr 1.200, uten mva", "NOK", ""},
		{"crowns, and nothing that tells whose", "", "", "Beløpet er på kr 1.200", "-", ""},
		{"an account as it is called in Sweden alone", "", "", "Bankgiro: 5311-2207", "SEK", ""},
		{"two of them in columns", "", "", "Bankgiro  5311-2207  Plusgiro  48 11 20-3", "SEK", ""},
		{"an account in Sweden, and a British VAT id", "VAT Reg No GB980780684", "", "Bankgiro 5311-2207", "-", ""},
		{"a credit at a bank", "", "", "Bank giro credit 5311-2207", "-", ""},
		{"the account that is debited", "", "", "Debited from your account AT61 1904 3002 3457 3201", "-", ""},
	}
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			lines := []string{"Harrow & Lane Ltd", "12 High Street", "London", c.id, "", "Bill to:",
				"Northern Homes plc", "5 Mill Lane", "Leeds", c.buyer, "", "Invoice", "", "Invoice No.     2026-0417",
				"Invoice date    17 April 2026", "", "Description                  Quantity  Amount",
				"Masonry                      1         1,000.00", "", "        Subtotal  1,000.00",
				"        VAT 20%   200.00", "        Total     1,200.00", "", c.foot}
			_, f, _ := reader.Read(typed.Document(strings.Join(lines, "\n")), Own{})
			got := "-"
			if f.Currency != nil {
				got = f.Currency.Value
			}
			if got != c.want {
				t.Errorf("currency %s, want %s", got, c.want)
			}
			var accounts []string
			if f.SupplierIBAN != nil && f.SupplierIBAN.Confidence >= fields.Certain {
				accounts = append(accounts, f.SupplierIBAN.Value)
			}
			for _, p := range f.Possible {
				if p.Field == fields.SupplierIBAN {
					accounts = append(accounts, p.Value+"?")
				}
			}
			if got := strings.Join(accounts, " "); got != c.accounts {
				t.Errorf("accounts %s, want %s", got, c.accounts)
			}
		})
	}
}
