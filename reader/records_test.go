package reader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"tallyhouse/deploy/embedded/clickhouse/clickhousetest"
)

// projectsOf are references to projects without structures.
func projectsOf(ids ...string) (refs []ProjectRef) {
	for _, id := range ids {
		refs = append(refs, ProjectRef{ID: id})
	}
	return refs
}

func TestRecordsOfSeveralProjectsComeByIdWhereverTheyLie(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	exec := func(sql string) {
		t.Helper()
		if err := db.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	// Given records in several parts under ids that follow nothing; some were deleted, some moved to another project
	ids := make([]string, 60)
	var want []string
	for i := range ids {
		ids[i] = fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i), byte(i >> 8)}))[:12]
		project, rows := i%4, ""
		row := func(version, project int, deleted bool) {
			rows += fmt.Sprintf("('acme', 'P%d', '%s', %d, %t)", project, ids[i], version, deleted)
		}
		switch i % 10 {
		case 7: // deleted
			row(1, project, false)
			row(2, project, true)
			project = 3 // nobody's
		case 8: // moved
			row(1, project, false)
			row(2, project, true)
			project = (project + 1) % 4
			row(3, project, false)
		default:
			row(1, project, false)
			row(2, project, false)
		}
		if project != 3 {
			want = append(want, ids[i])
		}
		exec("INSERT INTO records (tenant, project, id, row_version, deleted) SETTINGS optimize_on_insert = 0 VALUES " + rows)
	}
	slices.Sort(want)
	var name string
	if err := db.QueryRow(ctx, "SELECT currentDatabase()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	// And a table that shows them without their projection, as one over several servers does
	exec("CREATE DATABASE " + name + "_all")
	t.Cleanup(func() { exec("DROP DATABASE " + name + "_all SYNC") })
	exec("CREATE TABLE " + name + "_all.records ENGINE = Merge(" + name + ", '^records$')")
	other, err := clickhouse.Open(&clickhouse.Options{Addr: []string{clickhousetest.Engine(t).Addr()}, Auth: clickhouse.Auth{Database: name + "_all"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	all := New(other, db, 10*time.Second)
	for name, r := range map[string]*Reader{"one server": New(db, db, 10*time.Second), "several": all} {
		for _, limit := range []int{2, 50} {
			// When a caller walks through three of the four projects
			var met []string
			for after := ""; ; {
				page, err := r.Records(ctx, RecordPage{Filter: RecordFilter{Tenant: "acme", Projects: projectsOf("P0", "P1", "P2")},
					After: after, Limit: limit, Read: RecordStatus.Part()})
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Records {
					met = append(met, page.Records[i].ID)
				}
				if !page.More {
					break
				}
				after = met[len(met)-1]
			}
			// Then each of their records is met once, by id.
			if !slices.Equal(met, want) {
				t.Errorf("%s, pages of %d: met %d, want %d: %v", name, limit, len(met), len(want), met)
			}
		}
	}
	if !all.noProjection.Load() {
		t.Error("the other table has a projection, too: what does this test see?")
	}
}

func TestAPageOverProjectsReadsLittleOfThem(t *testing.T) {
	db := database(t)
	ctx := context.Background()
	// Given many records, each project's under ids from everywhere
	err := db.Exec(ctx, `INSERT INTO records (tenant, project, id, row_version)
SELECT 'acme', 'P' || toString(number % 20), lower(hex(sipHash64(number))), 1 FROM numbers(400000)`)
	if err != nil {
		t.Fatal(err)
	}
	projects := make([]ProjectRef, 10)
	for i := range projects {
		projects[i] = ProjectRef{ID: fmt.Sprint("P", i)}
	}
	for _, after := range []string{"", "8"} {
		// When a page of half the projects is read
		var read uint64
		counting := clickhouse.Context(ctx, clickhouse.WithProgress(func(p *clickhouse.Progress) { read += p.Rows }))
		page, err := New(db, db, 10*time.Second).Records(counting, RecordPage{Filter: RecordFilter{Tenant: "acme", Projects: projects},
			After: after, Limit: 50, Read: RecordStatus.Part()})
		// Then little more is read than where the page lies in each.
		if err != nil || len(page.Records) != 50 || read == 0 || read > 40_000 {
			t.Errorf("behind %q: %d records from %d read of 400,000: %v", after, len(page.Records), read, err)
		}
	}
}
