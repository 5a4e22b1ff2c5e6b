package layouts

import (
	"reflect"
	"strings"
	"testing"
)

// Given the same seeds, then the same pages are drawn: what was measured can be measured again.
func TestTheSameSeedsDrawTheSamePages(t *testing.T) {
	drawer, err := NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range 40 {
		a, b := drawer.Family(seed, seed%2 == 0).Draw(3), drawer.Family(seed, seed%2 == 0).Draw(3)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("family %d draws different pages", seed)
		}
	}
}

// Given any family, then the values that it says are on its pages are printed there.
func TestWhatAnInvoiceSaysIsPrintedOnIt(t *testing.T) {
	drawer, err := NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range 800 {
		f := drawer.Family(seed, seed%3 == 0)
		if seed%2 == 0 {
			f = drawer.Letter(seed, seed%3 == 0)
		}
		v := f.Draw(seed)
		var all strings.Builder
		for _, p := range v.Document().Pages {
			for _, line := range p.Lines {
				for _, c := range line.Cells {
					all.WriteString(c.Text + "\n")
				}
			}
		}
		for name, value := range map[string]string{"number": v.Number, "supplier": v.Supplier, "tax id": v.TaxID} {
			if !strings.Contains(all.String(), value) {
				t.Errorf("family %d (%s): %s %q is not printed:\n%s", seed, v.Scenario, name, value, all.String())
			}
		}
	}
}

// Given a family that training sees, then none of its labels is one of those kept for the others.
func TestEveryFourthWordingIsKeptFromTraining(t *testing.T) {
	drawer, err := NewDrawer()
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, l := range drawer.languages {
		for i, label := range l.words("number") {
			if i%4 == 3 {
				kept[label] = true
			}
		}
	}
	for _, l := range drawer.languages {
		for i, label := range l.words("number") {
			if i%4 != 3 && kept[label] {
				t.Errorf("%s says %q, which another language keeps", l.code, label)
			}
		}
	}
	unseen := 0
	for seed := range 400 {
		if f := drawer.Family(seed, false); kept[f.number] {
			t.Errorf("family %d of those for training says %q", seed, f.number)
		}
		if kept[drawer.Family(seed, true).number] {
			unseen++
		}
	}
	if unseen == 0 {
		t.Error("no other family uses a kept wording")
	}
}
