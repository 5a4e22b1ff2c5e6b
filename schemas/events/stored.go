package events

import "fmt"

// Lists that the ingest stores as the JSON array of an event, and a reader reads by the event's own tables.
var (
	storedCodes     = list(certifiedCode.kind())
	storedDocuments = list(document.kind())
)

// AppendDocuments writes the documents of a record as they are stored. It asks for no memory but b's.
func AppendDocuments(b []byte, r *Record) []byte { return storedDocuments.write(b, &r.Documents) }

// AppendReading writes a whole reading as it is stored.
func AppendReading(b []byte, r *Reading) []byte { return reading.write(b, r) }

// ParseReading reads a stored reading. Its texts share memory with text.
func ParseReading(text string) (Reading, error) {
	var r Reading
	d := &decoder{text: text}
	reading.open().read(d, &r)
	if d.err == nil && d.at < len(text) {
		d.notJSON("the end")
	}
	if d.err != nil {
		return Reading{}, fmt.Errorf("read a stored reading: %w", d.err)
	}
	return r, nil
}

// ParseCodes reads stored accounting codes, of a budget node or a record. A text that is empty has none. The codes
// share memory with it.
func ParseCodes(text string) ([]AccountingCode, error) {
	return parse("accounting codes", storedCodes, text)
}

// ParseDocuments reads the stored documents of a record. A text that is empty has none. The documents share memory
// with it.
func ParseDocuments(text string) ([]Document, error) {
	return parse("documents", storedDocuments, text)
}

func parse[E any](what string, list kind[[]E], text string) (all []E, err error) {
	if text == "" {
		return nil, nil
	}
	d := &decoder{text: text}
	list.read(d, &all)
	if d.err == nil && d.at < len(text) {
		d.notJSON("the end")
	}
	if d.err != nil {
		return nil, fmt.Errorf("read stored %s: %w", what, d.err)
	}
	return all, nil
}
