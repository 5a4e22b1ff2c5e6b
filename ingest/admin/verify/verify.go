// Package verify finds out whether the sums hold exactly what they should: it recomputes every one from the rows of
// its table. Where writers are busy it keeps them out meanwhile; then it mends, as a writer would, a view that missed
// the last batch. It changes nothing else.
package verify

import (
	"context"
	"errors"
	"fmt"

	"tallyhouse/ingest/admin"
	"tallyhouse/ingest/store"
)

// Options say how to look.
type Options struct {
	admin.Options
	NoHold bool // never keep writers out: what they change meanwhile is not compared
	Most   int  // findings listed per roll and kind of warning, the others counted; 0 is 100
}

func (o Options) most() int {
	if o.Most == 0 {
		return 100
	}
	return o.Most
}

// Database is what is looked at.
type Database interface {
	admin.Database
	Addr() string
}

// Report is what was found in one database.
type Report struct {
	Database string    `json:"database"`
	Address  string    `json:"address"`
	Topics   []Topic   `json:"topics"`
	Warnings []Warning `json:"warnings"`
}

// Topic is what was found in the table of one topic, and in its sums.
type Topic struct {
	Topic      string     `json:"topic"`
	Table      string     `json:"table"`
	Held       bool       `json:"held"` // writers were kept out for a part of it
	Rows       uint64     `json:"rows"`
	Positions  []Position `json:"positions"`  // that are wrong
	Slices     int        `json:"slices"`     // of the key that were compared
	Uncompared int        `json:"uncompared"` // of the key that could not be: writers were busy there
	Rolls      []Roll     `json:"rolls"`      // all of them
	Stray      Findings   `json:"stray"`      // position rows in sums that hold anything but a position
}

// Position is a partition's position where the view and its table disagree.
type Position struct {
	Partition int32  `json:"partition"`
	Table     uint64 `json:"table"`
	View      string `json:"view"`
	Torn      bool   `json:"torn"` // the view missed the last batch alone: the next recovery mends it
}

// Roll is what was found in one roll.
type Roll struct {
	Roll  string   `json:"roll"`
	Drift Findings `json:"drift"`
}

// Findings are what is wrong, the first of them listed.
type Findings struct {
	Count uint64    `json:"count"`
	First []Finding `json:"first,omitempty"`
}

// Finding is one sum that is not what it should be.
type Finding struct {
	Key  map[string]string `json:"key"`
	Want string            `json:"want"`
	Have string            `json:"have"`
}

func (f *Findings) add(most int, key map[string]string, want, have string) {
	f.Count++
	if len(f.First) < most {
		f.First = append(f.First, Finding{Key: key, Want: want, Have: have})
	}
}

// Drift counts what is wrong: sums and positions.
func (r *Report) Drift() (n uint64) {
	for _, t := range r.Topics {
		n += uint64(len(t.Positions)) + t.Stray.Count
		for _, roll := range t.Rolls {
			n += roll.Drift.Count
		}
	}
	return n
}

// Uncompared counts the slices that could not be compared.
func (r *Report) Uncompared() (n int) {
	for _, t := range r.Topics {
		n += t.Uncompared
	}
	return n
}

// Run looks at all tables of a database and their sums, and for what is worth a warning. One of several shards has not all
// that its entities refer to: Together looks for that.
func Run(ctx context.Context, db Database, o Options) (*Report, error) {
	r := &Report{Database: db.Name(), Address: db.Addr()}
	var err error
	if r.Topics, err = Sums(ctx, db, store.All(), o); err != nil {
		return nil, err
	}
	if r.Warnings, err = ask(ctx, db, o.most(), ofIngest()); err != nil {
		return nil, err
	}
	if o.Shards > 1 {
		return r, nil
	}
	more, err := ofEntities(ctx, db, o.most())
	if err != nil {
		return nil, err
	}
	r.Warnings = append(r.Warnings, more...)
	return r, nil
}

// Together looks for what makes no sense beside the rest, in a database whose tables show the rows of all shards.
func Together(ctx context.Context, db Database, o Options) (*Report, error) {
	warnings, err := ofEntities(ctx, db, o.most())
	if err != nil {
		return nil, err
	}
	return &Report{Database: db.Name(), Address: db.Addr(), Topics: []Topic{}, Warnings: warnings}, nil
}

// Sums looks at the tables of some entities and their sums; at none where an entity contributes nothing.
func Sums(ctx context.Context, db Database, entities []*store.Entity, o Options) (all []Topic, err error) {
	if o.Progress == nil {
		o.Progress = func(admin.Progress) {}
	}
	for _, e := range entities {
		if !e.Contributes() {
			continue
		}
		v := &verifier{db: db, entity: e, options: o, found: Topic{Topic: string(e.Topic), Table: e.Table}}
		if err := v.run(ctx); err != nil {
			return nil, fmt.Errorf("verify %s: %w", e.Topic, err)
		}
		all = append(all, v.found)
	}
	return all, nil
}

// verifier looks at one topic.
type verifier struct {
	db      Database
	entity  *store.Entity
	options Options
	held    *admin.Session // nil while writers may write
	found   Topic
}

func (v *verifier) run(ctx context.Context) (err error) {
	defer func() {
		if v.held != nil {
			err = errors.Join(err, v.held.End(ctx))
		}
	}()
	if err := v.positions(ctx); err != nil {
		return err
	}
	if err := v.sums(ctx); err != nil {
		return err
	}
	return v.stray(ctx)
}

// hold keeps the topic's writers out from here on, unless Options.NoHold. It reports whether it does.
func (v *verifier) hold(ctx context.Context) (bool, error) {
	if v.options.NoHold || v.held != nil {
		return v.held != nil, nil
	}
	v.options.Log.Info("the topic is written to all the time: its writers are kept out while it is compared", "topic", v.entity.Topic)
	s, err := admin.Begin(ctx, v.db, v.entity, v.options.Options)
	if err != nil {
		return false, err
	}
	v.held, v.found.Held = s, s != nil
	return s != nil, nil
}
