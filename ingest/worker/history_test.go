package worker

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"tallyhouse/schemas/events"
)

// mailed builds messages of readings of a mailed record.
func mailed(id string, version int, change map[string]any) message {
	data := map[string]any{
		"projectId": "P1", "status": "completed", "documents": []any{}, "fields": []any{}, "findings": []any{},
		"mail": map[string]any{"mailbox": "imap://mail.example/INBOX", "uidValidity": 1, "uid": 1, "released": false, "bytes": 5},
	}
	maps.Copy(data, change)
	return event(events.Readings, id, version, data)
}

// hasHistory compares what the history has of an id: project, table, version, the second of its instant, and what is said of it.
func (w *world) hasHistory(id string, want ...string) {
	w.t.Helper()
	got := w.texts(`SELECT arrayStringConcat(arrayFilter(s -> s != '', [project, of, toString(row_version),
	concat('at ', toString(toSecond(at))), if(gone = 1, 'gone', ''), status, intake_status, confirmed_by]), ' ')
FROM history FINAL WHERE tenant = 'demo' AND id = '` + id + "' ORDER BY row_version, of, project")
	if !slices.Equal(got, want) {
		w.t.Errorf("the history of %s is\n%s\nwant\n%s", id, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Given versions of a mailed record and of its reading, when they come in one batch, in several, again, too late, or with
// other content, then the history has each that counted, once; of other records there is none.
func TestEveryVersionOfAMailedRecordIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	w.start("a")
	take := func(messages ...message) {
		t.Helper()
		w.produce(messages...)
		m.take(messages...)
		w.awaitAllWritten()
		w.check(m)
	}
	intake := func(status string) map[string]any {
		return map[string]any{"intake": map[string]any{"channel": "email", "status": status}}
	}
	one := []message{record("mail-1", 1, intake("queued")), record("mail-1", 2, intake("processing")),
		mailed("mail-1", 3, nil), record("mail-1", 3, intake("completed")), record("R1", 1, nil)}
	take(one...)
	take(one...)
	take(mailed("mail-1", 4, map[string]any{"confirmedBy": "uma"}), record("mail-1", 4, intake("completed")))
	take(record("mail-1", 101, map[string]any{"stepKind": "approval"}), record("mail-1", 100, nil),
		record("mail-1", 101, map[string]any{"stepKind": "paid"}))
	take(record("mail-1", 102, map[string]any{"projectId": "P2", "stepKind": "rejected"}))
	take(event(events.Records, "mail-1", 103, nil))
	w.hasHistory("mail-1",
		"P1 records 1 at 1 setup queued",
		"P1 records 2 at 2 setup processing",
		"P1 readings 3 at 3 completed",
		"P1 records 3 at 3 setup completed",
		"P1 readings 4 at 4 completed uma",
		"P1 records 4 at 4 setup completed",
		"P1 records 101 at 41 approvalPending",
		"P1 records 102 at 42 gone",
		"P2 records 102 at 42 rejected",
		"P2 records 103 at 43 gone")
	w.hasHistory("R1")

	t.Run("a reading that is deleted leaves nothing of whom it names", func(t *testing.T) {
		take(event(events.Readings, "mail-1", 5, nil))
		// As a writer does that was late, or reads another log.
		w.exec("INSERT INTO history (tenant, project, id, row_version, of, confirmed_by) VALUES ('demo', 'P1', 'mail-1', 4, 'readings', 'uma')")
		w.exec("OPTIMIZE TABLE history FINAL")
		if got := w.texts("SELECT confirmed_by FROM history WHERE confirmed_by != ''"); len(got) > 0 {
			t.Errorf("it names %q", got)
		}
	})
}

// Given a history that can't be written, when a batch comes, then nothing of it counts before it can be.
func TestABatchWaitsForItsHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := newModel()
	w.exec("RENAME TABLE history TO elsewhere")
	a := w.start("a")
	messages := []message{record("mail-1", 1, nil), record("mail-1", 2, nil)}
	w.produce(messages...)
	m.take(messages...)
	w.await("a batch that fails", func() bool {
		return slices.ContainsFunc(a.Status(), func(s Status) bool { return strings.Contains(s.Reason, "keep the history") })
	})
	if n := w.count("SELECT count() FROM records WHERE tenant != ''"); n > 0 {
		t.Errorf("%d rows count", n)
	}
	w.exec("RENAME TABLE elsewhere TO history")
	w.awaitAllWritten()
	w.check(m)
	w.hasHistory("mail-1", "P1 records 1 at 1 setup", "P1 records 2 at 2 setup")
}
