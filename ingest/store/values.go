package store

import (
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsontext"
)

// appendCodes writes accounting codes as the API shows them, so that a reader may pass them on.
func appendCodes(b []byte, codes []events.AccountingCode) []byte {
	b = append(b, '[')
	for i, c := range codes {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(append(b, `{"system":`...), c.System)
		b = jsontext.AppendString(append(b, `,"code":`...), c.Code)
		b = appendTextOrNull(append(b, `,"name":`...), c.Name)
		b = appendTextOrNull(append(b, `,"taxKey":`...), c.TaxKey)
		if c.Inherited {
			b = append(b, `,"inherited":true}`...)
		} else {
			b = append(b, `,"inherited":false}`...)
		}
	}
	return append(b, ']')
}

// appendDocuments writes documents as the API shows them.
func appendDocuments(b []byte, documents []events.Document) []byte {
	b = append(b, '[')
	for i, d := range documents {
		if i > 0 {
			b = append(b, ',')
		}
		b = jsontext.AppendString(append(b, `{"name":`...), d.Name)
		b = append(jsontext.AppendString(append(b, `,"kind":`...), d.Kind), '}')
	}
	return append(b, ']')
}

func appendTextOrNull(b []byte, o events.Opt[string]) []byte {
	if !o.Ok {
		return append(b, "null"...)
	}
	return jsontext.AppendString(b, o.V)
}
