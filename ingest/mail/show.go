package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/originals"
	"tallyhouse/schemas/events"
)

// errNoReading says that nothing was kept of a record.
var errNoReading = errors.New("nothing is kept of it: it did not come by mail, is not read yet, or was read by a version that kept nothing")

// Kept is what is kept of a mailed record.
type Kept struct {
	events.Envelope // of the newest reading
	*events.Reading
}

// clocks is how far the clock of a mail server may be ahead of Kafka's.
const clocks = 24 * time.Hour

// Show gives the newest reading of a record.
func (in *Intake) Show(ctx context.Context, id string) (Kept, error) {
	tenant, h, err := in.findRecord(ctx, id)
	if err != nil {
		return Kept{}, fmt.Errorf("show record %s: %w", id, err)
	}
	since := h.receivedAt
	if !since.IsZero() {
		since = since.Add(-clocks)
	}
	key := events.Envelope{TenantID: tenant, ID: id}.Key()
	var newest Kept
	err = kafka.ReadSince(ctx, in.options.Cluster, string(events.Readings), since, func(r *kgo.Record) error {
		if string(r.Key) != key {
			return nil
		}
		e, err := events.Decode(events.Readings, r.Key, r.Value)
		if err != nil {
			return nil // not what the intake wrote: anybody may write to Kafka
		}
		// Of two with the same version the first counts, as everywhere.
		if data, ok := e.Data.(*events.Reading); ok && e.Version > newest.Version {
			newest = Kept{e.Envelope, data}
		}
		return nil
	})
	switch {
	case err != nil:
		return Kept{}, fmt.Errorf("show record %s: %w", id, err)
	case newest.Reading == nil:
		return Kept{}, fmt.Errorf("show record %s: %w", id, errNoReading)
	}
	return newest, nil
}

// Document is the file that a record's values are from, else its first one.
func (k Kept) Document() (events.ReadDocument, bool) {
	for _, d := range k.Documents {
		if d.Stated {
			return d, true
		}
	}
	for _, d := range k.Documents {
		return d, true
	}
	return events.ReadDocument{}, false
}

// Original gives a mail or a file back by its SHA-256 in hexadecimal digits.
func (in *Intake) Original(ctx context.Context, tenant, sha256 string) ([]byte, error) {
	h, err := originals.ParseHash(sha256)
	if err != nil {
		return nil, err
	}
	return in.options.Originals.Get(ctx, tenant, h)
}
