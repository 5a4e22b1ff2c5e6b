package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tallyhouse/api/apitest"
	"tallyhouse/deploy/demo"
	"tallyhouse/ingest/store"
	"tallyhouse/schemas/events"
)

// sampleAPI is the API on the sample data of `tallyhouse dev`, at the instant of the sample.
type sampleAPI struct {
	*process
	url      string
	document []byte
	contract *apitest.Contract
}

// sampleAdmin is a key of the sample's admin that shows everything.
const sampleAdmin = "pk_test_sampleadmin_of-the-sample"

// TestTheAPIOnTheSample asks the API in several ways; they share the sample, because loading it takes the longest.
func TestTheAPIOnTheSample(t *testing.T) {
	granted := drawnKeys()
	s := newSampleAPI(t, append(granted, sampleKey{key: sampleAdmin, owner: "ada", financial: true}))
	t.Run("answers the examples of its document", s.answersExamples)
	t.Run("shows everybody their part of what the admin sees", func(t *testing.T) { s.showsEverybodyTheirPart(t, granted) })
	t.Run("is walked through as the guide says", s.walksAsTheGuideSays)
	t.Run("answers the commands of the pages", s.answersThePages)
	// These change records.
	t.Run("is copied as the guide says", s.isCopiedAsTheGuideSays) // it counts what the sample has
	t.Run("is the same on two shards", s.isTheSameOnTwoShards)
}

// sampleKey is a key of one of the sample's people.
type sampleKey struct {
	key, owner string
	groups     *[]string // nil: no ceiling
	projects   []string  // nil: no ceiling
	financial  bool
}

// line is the key as a line to load.
func (k sampleKey) line() string {
	parts := strings.SplitN(k.key, "_", 4)
	sum := sha256.Sum256([]byte(parts[3]))
	data := events.Key{OwnerUserID: k.owner, Environment: parts[1], Prefix: parts[2], SecretSHA256: hex.EncodeToString(sum[:]),
		Financial: k.financial}
	if k.groups != nil {
		data.Groups = events.Some(*k.groups)
	}
	if k.projects != nil {
		data.ProjectIDs = events.Some(k.projects)
	}
	e := events.Event{Envelope: events.Envelope{ID: "key-" + parts[2], TenantID: demo.DefaultTenant, Version: 1, Op: events.Upsert,
		At: demo.Now()}, Data: &data}
	value, err := events.Encode(events.Keys, e)
	if err != nil {
		panic(err)
	}
	line, err := json.Marshal(map[string]any{"topic": events.Keys, "key": e.Key(), "value": json.RawMessage(value)})
	if err != nil {
		panic(err)
	}
	return string(line) + "\n"
}

func newSampleAPI(t *testing.T, keys []sampleKey) *sampleAPI {
	t.Helper()
	s := &sampleAPI{process: newProcess(t)}
	var lines bytes.Buffer
	s.must(demo.Write(&lines, demo.Options{Topics: store.Topics()}))
	for _, k := range keys {
		lines.WriteString(k.line())
	}
	s.load(lines.String())
	sealing := filepath.Join(t.TempDir(), "cursor-keys")
	s.must(os.WriteFile(sealing, []byte(strings.Repeat("5a", 32)), 0o600))
	s.url = s.api(demo.Now().Format(time.RFC3339), func(f *apiFlags) { f.cursorKeyFile = sealing })
	s.document = s.ask(t, sampleAdmin, "/v0/openapi.json").body
	var err error
	s.contract, err = apitest.ReadContract(s.document)
	s.must(err)
	return s
}

// asked is an answer, read to its end.
type asked struct {
	status int
	header http.Header
	body   []byte
}

// ask sends a request that reads.
func (s *sampleAPI) ask(t *testing.T, key, target string) asked {
	t.Helper()
	return s.send(t, http.MethodGet, key, target, nil)
}

// send sends a request and holds the answer against the OpenAPI document.
func (s *sampleAPI) send(t *testing.T, method, key, target string, body []byte) asked {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+target, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if s.contract != nil {
		if err := s.contract.Check(request, answer, text); err != nil {
			t.Fatal(err)
		}
	}
	return asked{answer.StatusCode, answer.Header, text}
}

var updateExamples = flag.Bool("update", false, "write the answers of the document's examples anew")

// The document has an example of every operation. When its request is made, then its response is the answer.
func (s *sampleAPI) answersExamples(t *testing.T) {
	for _, o := range s.contract.Operations() {
		t.Run(o.ID, func(t *testing.T) {
			name := filepath.Join(top, "api", "examples", o.ID+".json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatalf("the operation has no example, a file with its request: %v", err)
			}
			var example struct {
				Request  string          `json:"request"`
				Body     json.RawMessage `json:"body"`
				Response json.RawMessage `json:"response"`
			}
			if err := json.Unmarshal(text, &example); err != nil {
				t.Fatal(err)
			}
			method, target, _ := strings.Cut(example.Request, " ")
			answer := s.send(t, method, sampleAdmin, target, example.Body)
			if o.Method == http.MethodPost {
				received(t, example.Response, answer)
				if compact := compacted(t, s.document); !bytes.Contains(compact, compacted(t, example.Body)) ||
					!bytes.Contains(compact, compacted(t, example.Response)) {
					t.Error("the document does not show the example: make generate")
				}
				return
			}
			if answer.status != http.StatusOK {
				t.Fatalf("%s: %d %s", example.Request, answer.status, answer.body)
			}
			if *updateExamples {
				var shown bytes.Buffer
				if err := json.Indent(&shown, answer.body, "  ", "  "); err != nil {
					t.Fatal(err)
				}
				written := fmt.Sprintf("{\n  \"request\": %q,\n  \"response\": %s\n}\n", example.Request, shown.Bytes())
				if err := os.WriteFile(name, []byte(written), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			var want bytes.Buffer
			if err := json.Compact(&want, example.Response); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(want.Bytes(), answer.body) {
				t.Errorf("%s answers\n%s\nbut the example says\n%s\nmake generate writes it anew", example.Request, answer.body, &want)
			}
			// And the document shows it.
			if compact := compacted(t, s.document); !bytes.Contains(compact, want.Bytes()) {
				t.Error("the document does not show the example: make generate")
			}
		})
	}
}

// received holds the answer to feedback against the example, but for its id and instant, which are always others.
func received(t *testing.T, example []byte, answer asked) {
	t.Helper()
	type receipt struct {
		ID         string
		ReceivedAt time.Time
	}
	var want, got receipt
	if err := errors.Join(json.Unmarshal(example, &want), json.Unmarshal(answer.body, &got)); err != nil {
		t.Fatalf("%s: %v", answer.body, err)
	}
	if answer.status != http.StatusCreated || got.ReceivedAt.IsZero() || len(got.ID) != len(want.ID) {
		t.Errorf("answered %d %s, the example says %s", answer.status, answer.body, example)
	}
}

func compacted(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
