package events_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"tallyhouse/schemas/events"
	"tallyhouse/schemas/events/eventstest"
)

// changesOfText is how often each drawn message is changed byte by byte: with the 1,000 draws of make nightly that
// makes 400,000 messages.
const changesOfText = 400

// Given messages of every topic, whole ones and ones that were changed in their members and in their text, then a
// Reader, which reads one after the other, says of each what Decode says: the same event with the same content hash, or
// the same refusal.
func TestAReaderReadsAsDecodeDoes(t *testing.T) {
	readers := map[events.Topic]*events.Reader{}
	for _, topic := range events.Topics() {
		readers[topic] = newReader(t, topic)
	}
	taken, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		topic := rapid.SampledFrom(events.Topics()).Draw(t, "topic")
		m := eventstest.Draw(t, topic)
		key := m.Key()
		if rapid.Bool().Draw(t, "mutate") {
			m, _ = eventstest.Mutate(t, m)
		}
		texts := [][]byte{m.Value()}
		if e, err := events.Decode(topic, key, texts[0]); err == nil {
			written, err := events.Append(nil, topic, e)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, written)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range changesOfText {
			value := texts[i%len(texts)]
			if i >= len(texts) {
				value = changeText(random, value)
			}
			if readAlike(t, readers[topic], topic, key, value) {
				taken++
			} else {
				refused++
			}
		}
	})
	if taken == 0 || refused == 0 {
		t.Errorf("%d messages were taken and %d refused: both have to be seen", taken, refused)
	}
}

// readAlike compares what a Reader and Decode say of a message, and reports whether they take it.
func readAlike(t *rapid.T, r *events.Reader, topic events.Topic, key, value []byte) bool {
	want, wantErr := events.Decode(topic, key, value)
	got, hash, err := r.Read(key, value)
	switch {
	case !reflect.DeepEqual(err, wantErr):
		t.Fatalf("%s\n%s\nis refused as %v, by Decode as %v", topic, value, err, wantErr)
	case !reflect.DeepEqual(got, want):
		t.Fatalf("%s\n%s\nis read as %+v, by Decode as %+v", topic, value, got, want)
	case err == nil && hash != want.ContentHash():
		t.Fatalf("%s\n%s\nhas the content hash %x, by Decode %x", topic, value, hash, want.ContentHash())
	}
	return err == nil
}

// changeText changes a few bytes of a message. Some changes leave its meaning, most don't.
func changeText(random *rand.Rand, text []byte) []byte {
	out := append([]byte{}, text...)
	for range 1 + random.IntN(2) {
		at := random.IntN(len(out))
		insert := func(b ...byte) { out = append(out[:at:at], append(b, out[at:]...)...) }
		switch random.IntN(6) {
		case 0:
			insert(" \t\n\r"[random.IntN(4)])
		case 1:
			insert(`0123456789-.,:"{}[]\/eEtfn `[random.IntN(27)])
		case 2:
			out = append(out[:at:at], out[at+1:]...)
		case 3:
			out[at] = byte(random.IntN(256))
		case 4: // the same character, escaped
			c := out[at]
			out = append(out[:at:at], out[at+1:]...)
			insert(fmt.Appendf(nil, `\u%04x`, c)...)
		case 5: // a piece of it again
			end := min(len(out), at+1+random.IntN(40))
			insert(append([]byte{}, out[at:end]...)...)
		}
		if len(out) == 0 {
			return text
		}
	}
	return out
}

// Given a message whose data are as Append writes them or differ from that in one way, then the content hash is the
// same whether it is taken from the text or from what would be written.
func TestAReaderHashesWhatIsMeant(t *testing.T) {
	const plan = `{"projectId":"P","nodeId":"N","customMonths":[]}`
	for name, tc := range map[string]struct {
		topic events.Topic
		data  string
	}{
		"as written":           {events.LinePlans, plan},
		"a space":              {events.LinePlans, `{"projectId":"P", "nodeId":"N","customMonths":[]}`},
		"a space in a list":    {events.LinePlans, `{"projectId":"P","nodeId":"N","customMonths":[ ]}`},
		"another order":        {events.LinePlans, `{"nodeId":"N","projectId":"P","customMonths":[]}`},
		"an escape":            {events.LinePlans, `{"projectId":"\u0050","nodeId":"N","customMonths":[]}`},
		"an escaped name":      {events.LinePlans, `{"\u0070rojectId":"P","nodeId":"N","customMonths":[]}`},
		"a null":               {events.LinePlans, `{"projectId":"P","nodeId":"N","startDate":null,"customMonths":[]}`},
		"nothing but a null":   {events.Contractors, `{"registrationNumber":null}`},
		"the default, written": {events.LinePlans, `{"projectId":"P","nodeId":"N","method":"linearDays","customMonths":[]}`},
		"an ext":               {events.LinePlans, `{"projectId":"P","nodeId":"N","customMonths":[],"ext":1}`},
		"a minus before 0": {events.BudgetRows, `{"projectId":"P1","kind":"initial","nodeId":"N1",` +
			`"amount":{"value":-0,"currency":"EUR"},"status":"approved"}`},
		"a false that is left out": {events.Records, `{"projectId":"P1","source":"invoice","direction":"out","stepKind":"setup",` +
			`"allocations":[],"certifiedCodes":[{"system":"S","code":"C","inherited":false}],"documents":[],"intake":{"channel":"app"}}`},
		"a decimal as a number": {events.Claims, `{"projectId":"P1","nodeId":"N1",` +
			`"amount":{"value":100,"currency":"EUR"},"probabilityBp":5000,"status":"open"}`},
		"a decimal with zeros behind": {events.Claims, `{"projectId":"P1","nodeId":"N1",` +
			`"amount":{"value":100,"currency":"EUR"},"probabilityBp":"5000.0","status":"open"}`},
		"an instant with zeros behind": {events.Records, `{"projectId":"P1","source":"invoice","direction":"out","stepKind":"setup",` +
			`"allocations":[],"documents":[],"intake":{"channel":"app","receivedAt":"2026-03-01T10:15:00.120Z"}}`},
		"an instant without": {events.Records, `{"projectId":"P1","source":"invoice","direction":"out","stepKind":"setup",` +
			`"allocations":[],"documents":[],"intake":{"channel":"app","receivedAt":"2026-03-01T10:15:00.12Z"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			key, value := []byte("t/1"), []byte(envelope(tc.data))
			want, err := events.Decode(tc.topic, key, value)
			if err != nil {
				t.Fatal(err)
			}
			_, hash, err := newReader(t, tc.topic).Read(key, value)
			if err != nil || hash != want.ContentHash() {
				t.Errorf("the hash is %x, want %x (%v)", hash, want.ContentHash(), err)
			}
		})
	}
}

// Given a message that a Reader has read before, then reading it again asks for no memory.
func TestAReaderAsksForNoMemory(t *testing.T) {
	for _, topic := range events.Topics() {
		e, err := events.Decode(topic, []byte("demo/"+idFor(topic)), eventstest.New(topic, "demo", idFor(topic), 1).Value())
		if err != nil {
			t.Fatal(err)
		}
		value, err := events.Encode(topic, e)
		if err != nil {
			t.Fatal(err)
		}
		r, key := newReader(t, topic), []byte(e.Key())
		asked := testing.AllocsPerRun(100, func() {
			if _, _, err := r.Read(key, value); err != nil {
				t.Fatal(err)
			}
		})
		if asked != 0 {
			t.Errorf("%s: %v times", topic, asked)
		}
	}
}

func newReader(t *testing.T, topic events.Topic) *events.Reader {
	t.Helper()
	r, err := events.NewReader(topic)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
