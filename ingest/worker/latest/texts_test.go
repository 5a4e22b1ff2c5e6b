package latest

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

func newTexts(t testing.TB, o Options) *Texts {
	t.Helper()
	texts, err := NewTexts(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := texts.Close(); err != nil {
			t.Error(err)
		}
	})
	return texts
}

// TestTextsHaveNumbers: equal texts have one number, others another, and a number's text is the one that got it;
// numbers run from 0, the empty text's, without a gap.
func TestTextsHaveNumbers(t *testing.T) {
	text := rapid.OneOf(rapid.StringN(0, 3, -1), rapid.String(), rapid.SampledFrom([]string{"", "\x00", "a", "a\x00", string(make([]byte, 70_000))}))
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int64{0, 100_000}).Draw(t, "limit")
		texts, err := NewTexts(Options{Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		defer texts.Close()
		numbers, byNumber := map[string]uint32{"": 0}, []string{""}
		t.Repeat(map[string]func(*rapid.T){
			"number": func(t *rapid.T) {
				s := text.Draw(t, "text")
				number := func() (uint32, error) { return texts.Number([]byte(s)) }
				if rapid.Bool().Draw(t, "as a string") {
					number = func() (uint32, error) { return texts.NumberString(s) }
				}
				got, err := number()
				want, known := numbers[s]
				switch {
				case limit > 0 && !known && errors.Is(err, ErrFull):
				case err != nil:
					t.Fatal(err)
				case known && got != want || !known && got != uint32(len(byNumber)):
					t.Fatalf("number %d, want %d (known %v) of %d", got, want, known, len(byNumber))
				case !known:
					numbers[s], byNumber = got, append(byNumber, s)
				}
			},
			"reset": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "seldom") == 0 {
					texts.Reset()
					numbers, byNumber = map[string]uint32{"": 0}, []string{""}
				}
			},
			"": func(t *rapid.T) {
				if texts.Len() != len(byNumber) {
					t.Fatalf("%d texts, want %d", texts.Len(), len(byNumber))
				}
				for n, s := range byNumber {
					if got := texts.Text(uint32(n)); string(got) != s {
						t.Fatalf("text %d is %q, want %q", n, got, s)
					}
				}
				if used, taken := texts.Bytes(); used > taken || limit > 0 && taken > limit {
					t.Fatalf("%d bytes used of %d taken, limit %d", used, taken, limit)
				}
			},
		})
	})
}

func TestTextsGrow(t *testing.T) {
	const all = 100_000
	texts := newTexts(t, Options{})
	for range 2 {
		for i := range all {
			if n, err := texts.NumberString(fmt.Sprint(i)); err != nil || n != uint32(i+1) {
				t.Fatalf("number %d %v, want %d", n, err, i+1)
			}
		}
	}
	for i := range all {
		if got := texts.Text(uint32(i + 1)); string(got) != fmt.Sprint(i) {
			t.Fatalf("text %d is %q", i+1, got)
		}
	}
	for _, unknown := range []uint32{all + 1, 1<<32 - 1} {
		if got := texts.Text(unknown); got != nil {
			t.Errorf("number %d, which nobody has, is %q", unknown, got)
		}
	}
}

func TestFullTexts(t *testing.T) {
	texts := newTexts(t, Options{Limit: 200_000})
	var err error
	known := 0
	for ; err == nil && known < 100_000; known++ {
		_, err = texts.NumberString(fmt.Sprint("text-", known))
	}
	known--
	if !errors.Is(err, ErrFull) || texts.Len() != known+1 {
		t.Fatalf("%v after %d texts of %d, want ErrFull", err, known, texts.Len())
	}
	for i := range known {
		if n, err := texts.NumberString(fmt.Sprint("text-", i)); err != nil || n != uint32(i+1) {
			t.Fatalf("number of a known text: %d %v, want %d", n, err, i+1)
		}
	}
	if _, err := texts.Number(make([]byte, maxText+1)); !errors.Is(err, errTooLong) {
		t.Errorf("a text that is too long: %v, want errTooLong", err)
	}
}

func TestClosedTextsAreEmptyAndTakeNothing(t *testing.T) {
	texts, err := NewTexts(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := texts.NumberString("a"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := texts.Close(); err != nil {
			t.Fatal(err)
		}
		texts.Reset()
		if texts.Text(1) != nil || texts.Len() != 1 {
			t.Error("a closed dictionary has a text")
		}
		if _, err := texts.NumberString("a"); !errors.Is(err, ErrClosed) {
			t.Errorf("number: %v, want ErrClosed", err)
		}
	}
}

func TestNothingIsAllocatedForAText(t *testing.T) {
	texts := newTexts(t, Options{})
	some := [][]byte{[]byte("node-1234"), bytes.Repeat([]byte("x"), 200), nil}
	var asStrings []string
	for _, text := range some {
		asStrings = append(asStrings, string(text))
	}
	if n := testing.AllocsPerRun(100, func() {
		for i, text := range some {
			a, err1 := texts.Number(text)
			b, err2 := texts.NumberString(asStrings[i])
			if err1 != nil || err2 != nil || a != b || !bytes.Equal(texts.Text(a), text) {
				t.Fatal(a, b, err1, err2)
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
