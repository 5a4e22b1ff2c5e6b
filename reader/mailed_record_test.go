package reader

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Given versions of a record, of its reading, of the same id in another project and at another tenant, some of them written
// twice, then each of its own is there once, newest first, as many as are wanted; and what is gone goes before what was there.
func TestVersionsOfAMailedRecord(t *testing.T) {
	db := database(t)
	for _, statement := range []string{
		`INSERT INTO history (tenant, project, id, row_version, of, gone, status, intake_status, confirmed_by) VALUES
('acme', 'P1', 'mail-1', 3, 'records', 0, 'setup', 'completed', ''), ('acme', 'P1', 'mail-1', 3, 'readings', 0, 'completed', '', ''),
('acme', 'P1', 'mail-1', 4, 'readings', 0, 'completed', '', 'uma'), ('acme', 'P1', 'mail-1', 100, 'records', 1, '', '', ''),
('acme', 'P2', 'mail-1', 100, 'records', 0, 'paid', '', ''), ('other', 'P1', 'mail-1', 5, 'records', 0, 'paid', '', ''),
('acme', 'P1', 'mail-2', 7, 'records', 0, 'paid', '', '')`,
		`INSERT INTO history (tenant, project, id, row_version, of, gone, status) VALUES
('acme', 'P1', 'mail-1', 3, 'readings', 0, 'completed'), ('acme', 'P1', 'mail-1', 100, 'records', 0, 'paid')`,
	} {
		if err := db.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	r := New(db, db, 30*time.Second)
	all := []string{"100 record gone", "4 reading completed uma", "3 record setup completed", "3 reading completed"}
	for most := 1; most <= 5; most++ {
		found, err := r.MailedVersions(t.Context(), "acme", "P1", "mail-1", most)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range found {
			line := fmt.Sprint(v.Version, " record")
			if v.OfReading {
				line = fmt.Sprint(v.Version, " reading")
			}
			if v.Gone {
				line += " gone"
			}
			for _, s := range []string{v.Status, v.IntakeStatus, v.ConfirmedBy} {
				if s != "" {
					line += " " + s
				}
			}
			got = append(got, line)
		}
		if want := all[:min(most, len(all))]; !slices.Equal(got, want) {
			t.Errorf("the newest %d are %q, want %q", most, got, want)
		}
	}
}
