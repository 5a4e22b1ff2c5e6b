package mail

import (
	"context"
	"encoding/json"
	"fmt"

	"tallyhouse/ingest/mail/message"
)

// Which files of a mail state one invoice shows only when they are read, and not always the same of them can be read: time runs out,
// tesseract is installed. So it is noted beside the originals, before anything is sent of a record, of which record each file is part.

// part is a record's identity, as far as that of the mail isn't it already.
type part struct {
	Index int
	File  []byte
}

// recordOfFile is what a file's record is noted under. It is one for all projects of the mail.
func recordOfFile(own identity, tenant string) string {
	return thing("record of a file", own.in(tenant, ""))
}

// recall finds of which records the files of a mail became part before.
func (in *Intake) recall(ctx context.Context, tenant, mail string, files []message.File) ([]readFile, error) {
	all := make([]readFile, len(files))
	for i, own := range identities(mail, files) {
		noted, err := in.options.Originals.Noted(ctx, tenant, recordOfFile(own, tenant))
		if err != nil {
			return nil, err
		}
		all[i] = readFile{File: files[i], own: own}
		if noted != nil {
			all[i].of = in.partOf(own, noted)
		}
	}
	return all, nil
}

// grouped is group, and notes the records that it finds. Where another worker has noted something else meanwhile, that counts.
func (in *Intake) grouped(ctx context.Context, tenant string, files []readFile) (invoices []found, supporting []readFile, err error) {
	for range len(files) + 1 { // each time but the last another worker's record of a file is learnt
		invoices, supporting = group(files)
		agreed, err := in.agree(ctx, tenant, files, invoices)
		if err != nil || agreed {
			return invoices, supporting, err
		}
	}
	return nil, nil, fmt.Errorf("which of %d files are one invoice is noted differently each time", len(files))
}

// agree notes of which record each file is part, and reports whether nothing else was noted before. Of an invoice the leading file is
// noted first: whoever reads more of the mail, or less, contends for it.
func (in *Intake) agree(ctx context.Context, tenant string, files []readFile, invoices []found) (bool, error) {
	agreed := true
	for _, f := range invoices {
		for _, i := range f.files {
			if files[i].of == f.record {
				continue
			}
			noted, err := json.Marshal(part{f.record.index, f.record.file[:]})
			if err != nil {
				return false, err
			}
			if noted, err = in.options.Originals.First(ctx, tenant, recordOfFile(files[i].own, tenant), noted); err != nil {
				return false, err
			}
			if files[i].of = in.partOf(files[i].own, noted); files[i].of != f.record {
				agreed = false
				break
			}
		}
	}
	return agreed, nil
}

// partOf reads what was noted of a file.
func (in *Intake) partOf(own identity, noted []byte) identity {
	var p part
	if err := json.Unmarshal(noted, &p); err != nil || len(p.File) != len(own.file) {
		in.options.Log.Error("of which record a file is part can't be read; it is a record of its own", "error", err)
		return own
	}
	return identity{mail: own.mail, index: p.Index, file: [len(own.file)]byte(p.File)}
}
