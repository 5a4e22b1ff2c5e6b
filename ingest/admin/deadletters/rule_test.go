package deadletters_test

import (
	"context"
	"errors"
	"fmt"
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

func TestARuleIsAReasonWithoutWhatIsTheMessagesOwn(t *testing.T) {
	for reason, want := range map[string]string{
		`data.nmae is not a member`:                                           `data.nmae is not a member`,
		`data.stepKind must be one of setup, paid, not "pa\"yed"`:             `data.stepKind must be one of setup, paid, not "..."`,
		`data.allocations[17].net must be a whole number, not the string "1"`: `data.allocations[#].net must be a whole number, not the string "..."`,
		`data.allocations add up to 10000, not to net -10.5`:                  `data.allocations add up to #, not to net -#`,
		`data.net must be a whole number in plain digits, not 1e4`:            `data.net must be a whole number in plain digits, not #`,
		`data.line2 is missing`:                                               `data.line2 is missing`,
		`it has 17 bytes.`:                                                    `it has # bytes.`,
		`not the string "cut of`:                                              `not the string "..."`,
		`"\`:                                                                  `"..."`,
		``:                                                                    ``,
		`größer als 1`:                                                        `größer als #`,
	} {
		got := deadletters.Rule(reason)
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", reason, got, want)
		}
		if again := deadletters.Rule(got); again != got {
			t.Errorf("the rule %s has the rule %s", got, again)
		}
	}
}

func TestLettersAreCountedAndReplayedByTheirRule(t *testing.T) {
	// Given three letters that broke one rule, of which one would be taken by now, one that broke another, and one of another topic
	c := topicstest.Cluster(t, 3)
	message := func(id, data string) []byte {
		return fmt.Appendf(nil, `{"id":"%s","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":%s}`, id, data)
	}
	for i, l := range []kafka.DeadLetter{
		{Key: []byte("demo/C0"), Reason: `data.name must have 1 to 2 characters, not 3`, Value: message("C0", `{"name":"Bau"}`)},
		{Key: []byte("demo/C1"), Reason: `data.name must have 1 to 2 characters, not 0`, Value: message("C1", `{"name":7}`)},
		{Key: []byte("demo/C2"), Reason: `data.nmae is not a member`, Value: message("C2", `{"nmae":"Bau"}`)},
		{Key: []byte("demo/C3"), Reason: `data.name must have 1 to 2 characters, not 7`, Value: message("C3", `{"name":"Bau AG."}`)},
		{Topic: "ledger.records", Key: []byte("demo/C4"), Reason: `data.name must have 1 to 2 characters, not 7`, Value: []byte(`{}`)},
	} {
		if l.Topic == "" {
			l.Topic = "ledger.contractors"
		}
		l.Offset, l.At = int64(i), at.Add(time.Duration(i)*time.Minute)
		send(t, c, l.Message())
	}
	const rule = "data.name must have # to # characters, not #"
	// When they are counted
	all, foreign, err := deadletters.Summary(context.Background(), c, nil)
	// Then each rule of a topic is there once, with what broke it
	if err != nil || foreign != 0 || len(all) != 3 {
		t.Fatalf("%v, %d foreign, %v", all, foreign, err)
	}
	for _, b := range all {
		if b.Topic == "ledger.contractors" && b.Rule == rule && (b.Letters != 3 || !b.First.Equal(at) ||
			!b.Last.Equal(at.Add(3*time.Minute)) || b.Example != "ledger.contractors/0/3") {
			t.Errorf("%+v", b)
		}
	}
	stored := load.StoredBy(store.All())
	for _, dry := range []bool{true, false} {
		// When those of a rule are replayed
		var reasons []string
		done, err := deadletters.ReplayAll(context.Background(), c, nil, stored, "ledger.contractors", rule, dry,
			func(err error) { reasons = append(reasons, err.Error()) })
		// Then what would be taken is sent, unless it's a dry run, and the others have their reason
		if err != nil || done != (deadletters.Replayed{Sent: 2, Refused: 1}) {
			t.Errorf("dry %t: %+v, %v", dry, done, err)
		}
		if len(reasons) != 1 || !strings.Contains(reasons[0], "replay ledger.contractors/0/1: it would be refused again") {
			t.Errorf("dry %t: %q", dry, reasons)
		}
		want := map[bool]int{true: 0, false: 2}[dry]
		if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != want {
			t.Errorf("dry %t: %d messages were sent", dry, len(sent))
		}
	}
	// And a rule that nothing broke replays nothing.
	none, err := deadletters.ReplayAll(context.Background(), c, nil, stored, "ledger.contracts", rule, false, func(error) {})
	if err != nil || none != (deadletters.Replayed{}) {
		t.Errorf("of another topic: %+v, %v", none, err)
	}
}

// Given more letters of a rule than are sent together, when they are replayed, then each is sent once.
func TestManyLettersOfARuleAreReplayedOnce(t *testing.T) {
	const many = 1001 // one more than are sent together
	c := topicstest.Cluster(t, 1)
	w := kafka.NewWriter(c, kafka.WriterOptions{DeadLetters: true, Batch: many})
	var letters []kafkago.Message
	for i := range int64(many) {
		id := fmt.Sprint("C", i)
		letters = append(letters, kafka.DeadLetter{
			Topic: "ledger.contractors", Offset: i, Key: []byte("demo/" + id), Reason: "it was too early", At: at,
			Value: fmt.Appendf(nil, `{"id":"%s","tenantId":"demo","version":1,"op":"upsert","at":"2026-03-01T10:15:00Z","data":{"name":"Bau"}}`, id),
		}.Message())
	}
	if err := errors.Join(w.WriteMessages(t.Context(), letters...), w.Close()); err != nil {
		t.Fatal(err)
	}
	done, err := deadletters.ReplayAll(t.Context(), c, nil, load.StoredBy(store.All()), "ledger.contractors", "it was too early", false,
		func(err error) { t.Error(err) })
	if err != nil || done != (deadletters.Replayed{Sent: many}) {
		t.Errorf("%+v, %v", done, err)
	}
	if sent := topicstest.Messages(t, c, events.Contractors); len(sent) != many {
		t.Errorf("%d messages were sent", len(sent))
	}
}
