package reader

import (
	"fmt"

	"github.com/go-faster/jx"

	"tallyhouse/schemas/events"
)

// parseCodes reads accounting codes as the ingest stores them: a JSON array as in the event.
func parseCodes(text string) ([]events.AccountingCode, error) {
	if text == "" || text == "[]" {
		return nil, nil
	}
	var codes []events.AccountingCode
	d := jx.DecodeStr(text)
	err := d.Arr(func(d *jx.Decoder) error {
		var c events.AccountingCode
		err := d.Obj(func(d *jx.Decoder, member string) (err error) {
			switch member {
			case "system":
				c.System, err = d.Str()
			case "code":
				c.Code, err = d.Str()
			case "name":
				c.Name, err = nullableText(d)
			case "taxKey":
				c.TaxKey, err = nullableText(d)
			case "inherited":
				if d.Next() == jx.Null {
					return d.Null()
				}
				c.Inherited, err = d.Bool()
			default:
				err = d.Skip()
			}
			return err
		})
		codes = append(codes, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read stored accounting codes: %w", err)
	}
	return codes, nil
}

// parseDocuments reads the labels of a record's documents as the ingest stores them.
func parseDocuments(text string) ([]events.Document, error) {
	if text == "" || text == "[]" {
		return nil, nil
	}
	var documents []events.Document
	d := jx.DecodeStr(text)
	err := d.Arr(func(d *jx.Decoder) error {
		var doc events.Document
		err := d.Obj(func(d *jx.Decoder, member string) (err error) {
			switch member {
			case "name":
				doc.Name, err = d.Str()
			case "kind":
				doc.Kind, err = d.Str()
			default:
				err = d.Skip()
			}
			return err
		})
		documents = append(documents, doc)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read stored documents: %w", err)
	}
	return documents, nil
}

func nullableText(d *jx.Decoder) (events.Opt[string], error) {
	if d.Next() == jx.Null {
		return events.Opt[string]{}, d.Null()
	}
	s, err := d.Str()
	return events.Opt[string]{V: s, Ok: err == nil}, err
}
