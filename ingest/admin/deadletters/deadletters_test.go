package deadletters_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"tallyhouse/ingest/admin/deadletters"
	"tallyhouse/ingest/admin/load"
	"tallyhouse/ingest/kafka"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

var at = time.Date(2026, 3, 1, 10, 15, 0, 123456789, time.UTC)

func send(t *testing.T, c kafka.Cluster, messages ...kafkago.Message) {
	t.Helper()
	for _, m := range messages {
		if _, _, err := kafka.Send(context.Background(), c, m); err != nil {
			t.Fatal(err)
		}
	}
}

func list(t *testing.T, c kafka.Cluster) (all []kafka.DeadLetter, foreign int) {
	t.Helper()
	foreign, err := deadletters.List(context.Background(), c, nil, func(l deadletters.Letter) error {
		all = append(all, l.DeadLetter)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, foreign
}

func letter(value string) kafka.DeadLetter {
	l := kafka.DeadLetter{
		Topic: "ledger.contractors", Partition: 2, Offset: 4711, Key: []byte("demo/C1"),
		Reason: "data.nmae is not a member", At: at,
	}
	if value != "" {
		l.Value = []byte(value)
	}
	return l
}

const (
	misspelt  = `{"id":"C1","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"nmae":"Bau"}}`
	corrected = `{"id":"C1","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"Bau"}}`
	another   = `{"id":"C2","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"Bau"}}`
)

func TestLettersComeBackAsTheyWere(t *testing.T) {
	c := topicstest.Cluster(t, 3)
	for name, l := range map[string]kafka.DeadLetter{
		"text":        letter("\xffno JSON\x00"),
		"null value":  {Topic: "ledger.records", Partition: 1, Offset: 1, Key: []byte("demo/R1"), Reason: "a null value", At: at},
		"empty key":   {Topic: "ledger.records", Partition: 1, Offset: 2, Reason: "no key", At: at, Value: []byte("{}")},
		"empty value": {Topic: "ledger.records", Partition: 1, Offset: 3, Key: []byte("k"), Reason: "no JSON", At: at, Value: []byte{}},
		"16 MiB": {Topic: "ledger.records", Partition: 1, Offset: 4, Key: []byte("k"), Reason: "too long", At: at,
			Value: bytes.Repeat([]byte("x"), events.MaxMessageBytes+1)},
	} {
		t.Run(name, func(t *testing.T) {
			send(t, c, l.Message())
			got, err := deadletters.Find(context.Background(), c, nil, l.ID())
			if err != nil {
				t.Fatal(err)
			}
			if got.Topic != l.Topic || got.Partition != l.Partition || got.Offset != l.Offset ||
				string(got.Key) != string(l.Key) || got.Reason != l.Reason || !got.At.Equal(l.At) {
				t.Errorf("came back as %+v", got)
			}
			if !bytes.Equal(got.Value, l.Value) || (got.Value == nil) != (l.Value == nil) || !got.Whole() || got.Size() != int64(len(l.Value)) {
				t.Errorf("the value came back with %d bytes, nil %t, whole %t", len(got.Value), got.Value == nil, got.Whole())
			}
		})
	}
}

func TestALetterOfATooLargeMessageSaysWhatItLacks(t *testing.T) {
	c := topicstest.Cluster(t, 1)
	l := letter(strings.Repeat("abc", 7<<20))
	l.Key = bytes.Repeat([]byte("k"), 1<<20)
	send(t, c, l.Message())
	got, err := deadletters.Find(context.Background(), c, nil, l.ID())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(l.Value)
	if got.Whole() || got.SHA256 != hex.EncodeToString(sum[:]) || got.Size() != 21<<20 || !bytes.Equal(got.Value, l.Value[:1<<20]) {
		t.Errorf("whole %t, sha256 %s, size %d, %d bytes of value", got.Whole(), got.SHA256, got.Size(), len(got.Value))
	}
	if !strings.Contains(got.Reason, "the whole message is in ledger.contractors partition 2 at offset 4711") {
		t.Errorf("the reason is %s", got.Reason)
	}
}

// Given a letter that holds the beginning of a message alone, which by itself would be taken, then it is replayed only whole: something
// else would be sent than what was refused.
func TestAPartOfAMessageIsNotReplayed(t *testing.T) {
	c := topicstest.Cluster(t, 1)
	stored := load.StoredBy(store.All())
	l := letter(corrected + strings.Repeat(" ", 18<<20))
	send(t, c, l.Message())
	got, err := deadletters.Find(t.Context(), c, nil, l.ID())
	if err != nil || got.Whole() {
		t.Fatal(got.Whole(), err)
	}
	_, _, err = deadletters.Replay(t.Context(), c, stored, got.DeadLetter, nil, false)
	if err == nil || !strings.Contains(err.Error(), "holds 1048576 of") || !strings.Contains(err.Error(), "--file") {
		t.Errorf("replayed in part: %v", err)
	}
	if _, _, err = deadletters.Replay(t.Context(), c, stored, got.DeadLetter, []byte(corrected), false); err != nil {
		t.Error(err)
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != 1 {
		t.Errorf("%d messages were sent", len(sent))
	}
}

func TestListTellsEachLetterOnce(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	if all, foreign := list(t, c); len(all) != 0 || foreign != 0 {
		t.Errorf("an empty topic has %d letters, %d others", len(all), foreign)
	}
	first, second := letter(misspelt), letter("oops")
	second.Offset++
	send(t, c, first.Message(), second.Message(), first.Message(),
		kafkago.Message{Topic: string(events.DeadLetters), Key: []byte("somebody's"), Value: []byte("own")})
	all, foreign := list(t, c)
	if len(all) != 2 || foreign != 1 {
		t.Errorf("%d letters, %d others", len(all), foreign)
	}
	if _, err := deadletters.Find(context.Background(), c, nil, "ledger.records/0/1"); !errors.Is(err, deadletters.ErrNotFound) {
		t.Errorf("a letter that isn't there: %v", err)
	}
}

// Given a dead letter of a topic that was made anew since, when another message is refused at the same place, then both
// are listed, and it is the newer one that is found.
func TestLettersOfATopicMadeAnewDoNotHideBehindOlderOnes(t *testing.T) {
	c := topicstest.Cluster(t, 2)
	older, newer := letter("refused in the older topic"), letter("refused in the newer one")
	newer.At = at.AddDate(0, 1, 0)
	send(t, c, older.Message(), newer.Message(), newer.Message())
	all, _ := list(t, c)
	if len(all) != 2 || string(all[0].Value) != string(older.Value) || string(all[1].Value) != string(newer.Value) {
		t.Errorf("listed %+v", all)
	}
	found, err := deadletters.Find(t.Context(), c, nil, newer.ID())
	if err != nil || string(found.Value) != string(newer.Value) {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestReplaySendsWhatTheWorkerWouldTake(t *testing.T) {
	stored := load.StoredBy([]*store.Entity{store.Of(events.Contractors)})
	wrongKey := letter(another)
	for name, c := range map[string]struct {
		letter    kafka.DeadLetter
		corrected string
		force     bool
		wantErr   string
		wantKey   string
		wantValue string
	}{
		"corrected":            {letter: letter(misspelt), corrected: corrected, wantKey: "demo/C1", wantValue: corrected},
		"still wrong":          {letter: letter(misspelt), corrected: misspelt, wantErr: "it would be refused again: data.nmae is not a member"},
		"as it was":            {letter: letter(misspelt), wantErr: "it would be refused again: data.nmae is not a member"},
		"taken by now":         {letter: letter(corrected), wantKey: "demo/C1", wantValue: corrected},
		"another entity":       {letter: letter(misspelt), corrected: another, wantErr: "--force"},
		"another entity meant": {letter: letter(misspelt), corrected: another, force: true, wantKey: "demo/C2", wantValue: another},
		"wrong key":            {letter: wrongKey, force: true, wantKey: "demo/C2", wantValue: another},
		"null value":           {letter: letter(""), wantErr: "a null value is no change event"},
		"topic not stored": {
			letter:  kafka.DeadLetter{Topic: "service.feedback", Key: []byte("demo/C1"), At: at, Value: []byte(corrected)},
			wantErr: "not stored by this version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := topicstest.Cluster(t, 3)
			var with []byte
			if c.corrected != "" {
				with = []byte(c.corrected)
			}
			partition, offset, err := deadletters.Replay(context.Background(), cluster, stored, c.letter, with, c.force)
			sent := topicstest.Messages(t, cluster, events.Contractors)
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) || len(sent) != 0 {
					t.Errorf("err = %v, %d messages sent", err, len(sent))
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(sent) != 1 || string(sent[0].Key) != c.wantKey || string(sent[0].Value) != c.wantValue {
				t.Fatalf("sent %v", sent)
			}
			if m := sent[0]; int(m.Partition) != partition || m.Offset != offset || partition != kafka.Partition(m.Key, 3) {
				t.Errorf("told partition %d offset %d, stands at %d/%d", partition, offset, m.Partition, m.Offset)
			}
		})
	}
}
