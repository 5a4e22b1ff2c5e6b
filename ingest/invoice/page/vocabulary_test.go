package page

import "testing"

func testVocabulary(t testing.TB) *vocabulary {
	t.Helper()
	v, err := newVocabulary()
	if err != nil {
		t.Fatal(err)
	}
	return v
}
