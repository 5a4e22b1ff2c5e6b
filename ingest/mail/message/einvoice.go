package message

import (
	"bytes"
	"encoding/xml"
	"strings"

	"github.com/emersion/go-message/charset"
)

// eInvoices are the beginnings of the namespaces of e-invoices' root elements (docs/invoices.md#what-is-read). A root
// that is just called Invoice is many formats'.
var eInvoices = []string{
	"urn:oasis:names:specification:ubl:schema:xsd:Invoice-",
	"urn:oasis:names:specification:ubl:schema:xsd:CreditNote-",
	"urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:",
	"urn:ferd:CrossIndustryDocument:",
}

// isEInvoice goes by the root element, whatever the file is called.
func isEInvoice(data []byte) bool {
	const mostTokens = 64 // comments and the like before the root
	if head := bytes.TrimLeft(data[:min(len(data), 64)], "\xef\xbb\xbf \r\n\t"); len(head) == 0 || head[0] != '<' {
		return false
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = charset.Reader
	for range mostTokens {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if root, ok := token.(xml.StartElement); ok {
			for _, namespace := range eInvoices {
				if strings.HasPrefix(root.Name.Space, namespace) {
					return true
				}
			}
			return false
		}
	}
	return false
}
