package deadletters

import (
	"runtime"
	"testing"

	"tallyhouse/ingest/kafka"
)

// Given letters that are the same, or differ in one thing, then those alone that are the same are repetitions, whatever was said of them.
func TestWhatIsARepetition(t *testing.T) {
	first := kafka.DeadLetter{Topic: "ledger.records", Partition: 1, Offset: 7, Key: []byte("demo/R1"), Value: []byte("{}"), Reason: "no id"}
	sent := newRepetitions()
	if sent.before(first) || !sent.before(first) {
		t.Fatal("a letter is a repetition the second time")
	}
	for name, tc := range map[string]struct {
		change func(*kafka.DeadLetter)
		want   bool
	}{
		"another topic":              {func(l *kafka.DeadLetter) { l.Topic = "ledger.claims" }, false},
		"another partition":          {func(l *kafka.DeadLetter) { l.Partition = 2 }, false},
		"another offset":             {func(l *kafka.DeadLetter) { l.Offset = 8 }, false},
		"another key":                {func(l *kafka.DeadLetter) { l.Key = []byte("demo/R2") }, false},
		"another value":              {func(l *kafka.DeadLetter) { l.Value = []byte("[]") }, false},
		"a byte of the value in key": {func(l *kafka.DeadLetter) { l.Key, l.Value = []byte("demo/R1{"), []byte("}") }, false},
		"the part of a longer value": {func(l *kafka.DeadLetter) { l.Length, l.SHA256 = 9, "ab" }, false},
		"of another longer value":    {func(l *kafka.DeadLetter) { l.Length, l.SHA256 = 9, "cd" }, false},
		"another reason":             {func(l *kafka.DeadLetter) { l.Reason = "no tenantId" }, true},
	} {
		l := first
		tc.change(&l)
		if got := sent.before(l); got != tc.want {
			t.Errorf("%s: a repetition: %v", name, got)
		}
	}
}

// Given many letters, then few bytes are remembered of each.
func TestLittleIsRememberedOfALetter(t *testing.T) {
	const letters, most = 500_000, 40 // bytes; a text and a digest of each would take more than a hundred
	heap := func() uint64 {
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return now.HeapAlloc
	}
	before := heap()
	sent := newRepetitions()
	for offset := range int64(letters) {
		if sent.before(kafka.DeadLetter{Topic: "ledger.records", Offset: offset, Key: []byte("demo/R1"), Value: []byte("{}")}) {
			t.Fatalf("the letter at offset %d is taken for another", offset)
		}
	}
	if each := (heap() - before) / letters; each > most {
		t.Errorf("%d bytes are remembered of each letter", each)
	}
	runtime.KeepAlive(sent)
}
