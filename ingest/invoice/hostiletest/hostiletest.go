// Package hostiletest makes PDFs that are meant to harm their reader: loops, bombs, lies about lengths, places and
// counts, faulty encryption, tricks with fonts, pictures, scripts and embedded files, and sums that nobody sees. Most
// carry the sample invoice besides.
package hostiletest

import "tallyhouse/ingest/invoice"

// PDF is a hostile file and what its reading must end in.
type PDF struct {
	Name string
	Data []byte
	// Reason is that of the failure; empty: the sample invoice is read as if nothing else were there.
	Reason invoice.Reason
	// Scan says that it is a picture, which is unpacked only where there is a tesseract.
	Scan bool
}

// PDFs makes all of them.
func PDFs() []PDF {
	var all []PDF
	for _, kind := range []func() []PDF{
		references, trees, nesting, packed, objectStreams, numbers, encryption, fonts, operators, scans, embedded, sums,
	} {
		all = append(all, kind()...)
	}
	return all
}

// both writes objects with a table, which the library reads, and without, which the reader's own parser rebuilds.
func both(name string, reason invoice.Reason, o objects) []PDF {
	return outcomes(name, reason, reason, o)
}

// outcomes is both where the parsers differ: the library costs more, or keeps what our parser reads anew.
func outcomes(name string, table, loose invoice.Reason, o objects) []PDF {
	return []PDF{
		{Name: name, Data: o.file(), Reason: table},
		{Name: name + ", without a table", Data: o.loose(""), Reason: loose},
	}
}
