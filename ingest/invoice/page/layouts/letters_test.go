package layouts

import (
	"strings"
	"testing"
)

// Given letters, then those of training are set in none of the ways kept from it, and the others each in one at least.
func TestWaysToSetLettersAreKeptFromTraining(t *testing.T) {
	drawer, err := NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range 400 {
		f := drawer.Letter(seed, seed%2 == 0)
		kept := f.letter.head == headForms-1 || f.letter.address == addressForms-1 || f.letter.block == blockForms-1
		if kept != f.Unseen {
			t.Errorf("family %d, unseen %v: head %d, address %d, block %d", seed, f.Unseen, f.letter.head, f.letter.address, f.letter.block)
		}
	}
}

// Given a paragraph, then no line of it is wider than its column, and what is whole stands in one line.
func TestParagraphsKeepWithinTheirColumn(t *testing.T) {
	const wide = 120
	for n := range 12 {
		d := &drawing{Family: &Family{}}
		d.newPage()
		d.paragraph(50, 100, 10, wide, strings.Repeat("word ", n)+whole("94 418 820 11")+" and some words behind")
		found := false
		for _, line := range d.out.Pages[0] {
			if w := width(line.Text, line.Size); w > wide {
				t.Errorf("%q is %.0f wide", line.Text, w)
			}
			found = found || strings.Contains(line.Text, "94 418 820 11")
		}
		if !found {
			t.Errorf("the number is broken: %v", d.out.Pages[0])
		}
	}
}

// Given letters, then an eighth of them at least name their biller only where nobody looks first.
func TestSomeLettersNameTheirBillerBelow(t *testing.T) {
	drawer, err := NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	const letters = 400
	low := 0
	for seed := range letters {
		v := drawer.Letter(seed, false).Draw(0)
		high := false
		for _, text := range v.Pages[0] {
			high = high || text.Y < Height/3 && strings.Contains(text.Text, v.Supplier)
		}
		if !high {
			low++
		}
	}
	if low*8 < letters || low*2 > letters {
		t.Errorf("%d of %d letters name the biller in their lower parts alone", low, letters)
	}
}
