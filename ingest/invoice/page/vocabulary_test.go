package page

import (
	"sync"
	"testing"
)

// preparedReader is one for all tests, for to prepare the words of all languages takes a fifth of a second. It doesn't change.
var preparedReader = sync.OnceValues(NewReader)

func testVocabulary(t testing.TB) *vocabulary {
	t.Helper()
	reader, err := preparedReader()
	if err != nil {
		t.Fatal(err)
	}
	return reader.vocabulary
}
