package store

import (
	"tallyhouse/schemas/events"
	"tallyhouse/schemas/jsontext"
)

// appendCodes writes accounting codes with all their members, as the API shows them: null and false are written, too, unlike
// in an event.
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

func appendTextOrNull(b []byte, o events.Opt[string]) []byte {
	if !o.Ok {
		return append(b, "null"...)
	}
	return jsontext.AppendString(b, o.V)
}
