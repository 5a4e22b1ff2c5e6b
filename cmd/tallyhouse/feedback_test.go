package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/feedback"
	"tallyhouse/ingest/kafka/topicstest"
	"tallyhouse/schemas/events"
)

func TestFeedbackIsListed(t *testing.T) {
	// Given a cluster without feedback
	c := topicstest.Cluster(t, 2)
	if got := tallyhouse(t, broker(c), "", "feedback", "list"); got.code != exitDone || got.out != "" || got.err != "no feedback\n" {
		t.Fatalf("%+v", got)
	}
	// When a caller of the API sends some, with what a terminal would take for a command
	log := feedback.NewLog(c.Reading, feedbackTopic{c}, time.Now)
	in := feedback.Input{Category: "bug", Message: "One\n\x1b[31mtwo", Endpoint: events.Some("GET /v0/records"),
		Agent: events.Some(events.Agent{Name: events.Some("n")})}
	receipt, err := log.Receive(t.Context(), "demo", "key:K1", in)
	if err != nil {
		t.Fatal(err)
	}
	// Then it is listed, on a line
	got := tallyhouse(t, broker(c), "", "feedback", "list")
	lines := strings.Split(strings.TrimSpace(got.out), "\n")
	if got.code != exitDone || len(lines) != 2 || !strings.Contains(lines[1], "demo/key:K1") || strings.Contains(got.out, "\x1b") {
		t.Errorf("%+v", got)
	}
	// And as JSON with everything that was sent.
	var line map[string]any
	got = tallyhouse(t, broker(c), "", "feedback", "list", "--json")
	if err := json.Unmarshal([]byte(got.out), &line); err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	for member, want := range map[string]any{"id": receipt.ID, "tenant": "demo", "principal": "key:K1", "category": "bug",
		"message": in.Message, "endpoint": "GET /v0/records", "requestId": nil} {
		if line[member] != want {
			t.Errorf("%s is %v, want %v", member, line[member], want)
		}
	}
}
