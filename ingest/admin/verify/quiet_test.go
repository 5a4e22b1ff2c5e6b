package verify_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ClickHouse/ch-go/proto"

	"tallyhouse/ingest/admin/verify"
	"tallyhouse/ingest/store"
	"tallyhouse/ingest/store/database"
)

// Given a batch that comes while a project is looked at, then that is looked at again: what it changed is no drift.
func TestALookIntoWhichABatchCameIsRepeated(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 8)
	o := options()
	o.NoHold = true
	db := &before{l.DB, "FROM sums WHERE tenant = {tenant:String}", func() { l.Write(r.Draw(80, 120)...) }} // its table is read
	report, err := verify.Run(t.Context(), db, o)
	if err != nil {
		t.Fatal(err)
	}
	if report.Drift() != 0 || report.Uncompared() != 0 || db.do != nil {
		t.Fatalf("%+v", report)
	}
}

// before does something once, before a question that says so.
type before struct {
	*database.Server
	says string
	do   func()
}

func (b *before) once(sql string) {
	if do := b.do; do != nil && strings.Contains(sql, b.says) {
		b.do = nil
		do()
	}
}

func (b *before) Rows(ctx context.Context, q database.Query, each func(scan func(...any) error) error) error {
	b.once(q.SQL)
	return b.Server.Rows(ctx, q, each)
}

func (b *before) Scan(ctx context.Context, q database.Query, into proto.Results, each func() error) error {
	b.once(q.SQL)
	return b.Server.Scan(ctx, q, into, each)
}

// Given a batch that has come to its table and not yet to the view, while the sums are compared, then what the view lacks is no drift.
func TestABatchOnItsWayIsNoDrift(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 9)
	torn := false
	db := &before{l.DB, "sum(found)", func() { // the positions were looked at
		torn = true
		l.Exec("DETACH TABLE records_sums")
		l.Write(r.Draw(80, 120)...)
		l.Exec("ATTACH TABLE records_sums")
	}}
	all, err := verify.Sums(t.Context(), db, []*store.Entity{l.Entity}, options())
	if err != nil || len(all) != 1 || !torn {
		t.Fatal(all, torn, err)
	}
	for _, r := range all[0].Rolls {
		if r.Drift.Count > 0 {
			t.Errorf("%+v", r)
		}
	}
	if !all[0].Held || all[0].Uncompared > 0 {
		t.Errorf("%+v", all[0])
	}
}

// inserting is a server on which an insert of the topic runs until it was asked for so often.
type inserting struct {
	*database.Server
	asked, until int
	then         func()
}

func (b *inserting) Row(ctx context.Context, q database.Query, into ...any) error {
	if strings.Contains(q.SQL, "system.processes") {
		switch b.asked++; {
		case b.asked < b.until:
			q = database.Query{SQL: "SELECT toUInt64(1)"}
		case b.asked == b.until:
			b.then()
		}
	}
	return b.Server.Row(ctx, q, into...)
}

// Given a view that lacks a batch whose insert runs, however long, then that is nothing wrong once the view has it.
func TestAViewBehindARunningInsertIsWaitedFor(t *testing.T) {
	t.Parallel()
	l, r := filled(t, 10)
	l.Exec("DETACH TABLE records_sums")
	l.Write(r.Draw(80, 120)...)
	l.Exec("ATTACH TABLE records_sums")
	db := &inserting{Server: l.DB, until: 6, then: func() { l.TryFence() }} // which mends the view
	all, err := verify.Sums(t.Context(), db, []*store.Entity{l.Entity}, options())
	if err != nil || len(all) != 1 || len(all[0].Positions) > 0 || db.asked < db.until {
		t.Fatalf("asked %d times: %+v, %v", db.asked, all, err)
	}
}
