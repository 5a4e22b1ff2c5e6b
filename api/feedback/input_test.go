package feedback_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/feedback"
	"tallyhouse/schemas/events"
)

func TestABodyIsReadStrictly(t *testing.T) {
	long := func(n int) string { return `{"category":"bug","message":"` + strings.Repeat("ä", n) + `"}` }
	with := func(member string) string { return `{"category":"idea","message":"m",` + member + `}` }
	const missing, text, again, strange = "is missing", "must be a text", "is given more than once", "is not a member of this body"
	const secret = "holds what looks like a key or token: those must not be sent"
	const jwt = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl"
	for body, want := range map[string][]string{
		`{"category":"bug","message":"m"}`:                                                nil,
		" {\"category\" : \"praise\", \"message\": \"\\u00e4\\ud83d\\ude00\\\\ud800\"}\n": nil,
		with(`"endpoint":"GET /v0/records","requestId":"","agent":{}`):                    nil,
		with(`"agent":{"name":"n","model":""}`):                                           nil,
		with(`"endpoint":"the column pk_id, and pk_test keys in general"`):                nil,
		long(4000):                         nil,
		`{}`:                               {"category " + missing, "message " + missing},
		`{"category":"Bug","message":""}`:  {"category is not one of the allowed values", "message must have 1 to 4000 characters, not 0"},
		`{"category":null,"message":null}`: {"category " + text, "message " + text},
		`{"category":["bug"],"message":1}`: {"category " + text, "message " + text},
		long(4001):                         {"message must have 1 to 4000 characters, not 4001"},
		with(`"endpoint":"` + strings.Repeat("x", 201) + `"`):                    {"endpoint must have 0 to 200 characters, not 201"},
		with(`"endpoint":null`):                                                  {"endpoint " + text},
		with(`"requestId":7`):                                                    {"requestId " + text},
		with(`"agent":"n"`):                                                      {"agent must be an object"},
		with(`"agent":null`):                                                     {"agent must be an object"},
		with(`"agent":{"name":1,"modle":"m"}`):                                   {"agent.modle " + strange, "agent.name " + text},
		with(`"Message":"m"`):                                                    {"Message " + strange},
		with(`"message":"n"`):                                                    {"message " + again},
		with(`"x":1,"x":2,"x":3`):                                                {"x " + strange, "x " + again},
		with(`"endpoint":"\ud800"`):                                              {"endpoint has half of a surrogate pair"},
		with(`"endpoint":"\udc00\ud800"`):                                        {"endpoint has half of a surrogate pair"},
		with(`"endpoint":"\\\ud83dx"`):                                           {"endpoint has half of a surrogate pair"},
		`{"category":"bug","message":"it is pk_test_admin_s3cret"}`:              {"message " + secret},
		`{"category":"bug","message":"` + jwt + `"}`:                             {"message " + secret},
		`{"category":"pk_live_a_b","message":"?key=pk%5Ftest%5Fadmin%5Fs3cret"}`: {"category " + secret, "message " + secret},
		with(`"agent":{"name":"` + jwt + `"},"endpoint":"/x?` + jwt + `","pk_test_a_b":1`): {"[secret] " + strange, "endpoint " + secret, "agent.name " + secret},
	} {
		t.Run(body[:min(len(body), 70)], func(t *testing.T) {
			_, wrong, err := feedback.ParseInput([]byte(body))
			var got []string
			for _, p := range wrong {
				got = append(got, p.Name+" "+p.Reason)
			}
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("got %q, %v\nwant %q", got, err, want)
			}
		})
	}
	for _, body := range []string{"", "null", "[]", `"text"`, "{", `{"category":"bug"`, `{"category":"bug","message":"m"}{}`,
		`{"category":"bug","message":"m"} x`, `{"message":"` + "\xff" + `"}`, `{category:"bug"}`, `{"message":"m",}`, "\ufeff{}"} {
		if in, wrong, err := feedback.ParseInput([]byte(body)); err == nil {
			t.Errorf("%q is taken: %+v, %v", body, in, wrong)
		}
	}
}

func TestWhatMayHaveBeenMeantIsTold(t *testing.T) {
	_, wrong, err := feedback.ParseInput([]byte(`{"category":"Idea","mesage":"m"}`))
	if err != nil || len(wrong) != 3 {
		t.Fatalf("%+v, %v", wrong, err)
	}
	if p := wrong[0]; p.Name != "mesage" || p.Suggestion != "message" {
		t.Errorf("%+v", p)
	}
	if p := wrong[2]; p.Name != "category" || p.Suggestion != "idea" || len(p.Allowed) != 5 {
		t.Errorf("%+v", p)
	}
}

// FuzzParseInput looks for input that is taken and cannot be kept.
func FuzzParseInput(f *testing.F) {
	f.Add([]byte(`{"category":"bug","message":"m","endpoint":"e","agent":{"name":"n","model":"m"},"requestId":"r"}`))
	f.Add([]byte(`{"category":"bug","message":"\u0000\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, wrong, err := feedback.ParseInput(body)
		if err != nil || len(wrong) > 0 {
			return
		}
		now := time.Now().UTC().Truncate(time.Second)
		e := events.Event{Envelope: events.Envelope{ID: "1", TenantID: "acme", Version: 1, Op: events.Upsert, At: now},
			Data: &events.Feedback{Category: in.Category, Message: in.Message, Endpoint: in.Endpoint, Agent: in.Agent,
				RequestID: in.RequestID, Principal: "user:alice", ReceivedAt: now}}
		value, err := events.Encode(events.ReceivedFeedback, e)
		if err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		kept, err := events.Decode(events.ReceivedFeedback, []byte("acme/1"), value)
		if err != nil || fmt.Sprint(kept.Data) != fmt.Sprint(e.Data) {
			t.Fatalf("%q: kept as %+v, %v", body, kept.Data, err)
		}
	})
}
