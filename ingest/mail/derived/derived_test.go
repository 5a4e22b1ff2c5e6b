package derived_test

import (
	"testing"

	"tallyhouse/ingest/mail/derived"
)

// Given what ids were made of in earlier releases, when they are made again, then they are the same: else mails that are read
// again would become other records.
func TestIDsStayTheSame(t *testing.T) {
	t.Parallel()
	for want, got := range map[string]string{
		"answer-cneeanyb5noyiqcxtrxpr52utp2eyod5": derived.ID("answer-", nil, "t", "p", "m", "s"),
		"intake-jcq3xvbj2xgj2r7nxzra24jf4x43454w": derived.ID("intake-", []byte("h"), "t", "p"),
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Given texts that are the same one behind the other, when ids are made of them, then each has its own.
func TestIDsTellTextsApart(t *testing.T) {
	t.Parallel()
	seen := map[string][]string{}
	for _, texts := range [][]string{{"a", "bc"}, {"ab", "c"}, {"abc"}, {"abc", ""}, {"", "abc"}} {
		id := derived.ID("", nil, texts...)
		if others, same := seen[id]; same {
			t.Errorf("%q and %q have one id", texts, others)
		}
		seen[id] = texts
	}
}
