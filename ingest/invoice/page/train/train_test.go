package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page"
	"tallyhouse/ingest/invoice/page/model"
)

const (
	samples = "../testdata"
	studied = "../../accuracy/testdata/letters/studied"
)

// Given the same families, then training learns the same weights, and of every field that the reader decides by them.
func TestTrainingIsReproducible(t *testing.T) {
	first, err := train(samples, few(t), 12)
	if err != nil {
		t.Fatal(err)
	}
	second, err := train(samples, few(t), 12)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(first, second) {
		t.Error("two trainings learnt different weights")
	}
	for _, l := range slices.Concat(lessons()...) {
		if f := first[l.field]; len(f.Weights) == 0 || len(f.Calibration)+len(f.Announced) == 0 {
			t.Errorf("%s: %d weights, %d points of calibration", l.field, len(f.Weights), len(f.Calibration)+len(f.Announced))
		}
	}
}

// few is a folder with some of the letters.
func few(t *testing.T) string {
	folder := t.TempDir()
	for _, name := range []string{"anwalt-at", "agency-ie", "afval-nl"} {
		for _, form := range []string{".pdf", ".json"} {
			data, err := os.ReadFile(filepath.Join(studied, name+form))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(folder, name+form), data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return folder
}

func TestAFolderWithoutSamplesIsAnError(t *testing.T) {
	if _, err := train(t.TempDir(), few(t), 1); err == nil {
		t.Error("training went on without samples")
	}
	if _, err := train(samples, t.TempDir(), 1); err == nil {
		t.Error("training went on without letters")
	}
}

// Given what rules let a reader state of names, then its confidence is learnt from that alone: pages of which none is stated don't
// count, and where rules state another name than the weights chose, that one is right or wrong.
func TestConfidenceOfNamesIsThatOfWhatIsStated(t *testing.T) {
	likelier := model.Candidate{Key: "MARK", Features: []string{"large"}}
	company := model.Candidate{Key: "COMPANY", Features: []string{"small"}}
	named := company
	named.Stated = true
	for name, c := range map[string]struct {
		candidates []model.Candidate
		right      []bool
		want       [][]bool
	}{
		"none is stated":                {[]model.Candidate{likelier, company}, []bool{true, false}, nil},
		"another is, and right":         {[]model.Candidate{likelier, named}, []bool{false, true}, [][]bool{{true, true}}},
		"another is, and wrong":         {[]model.Candidate{likelier, named}, []bool{true, false}, [][]bool{{false, false}}},
		"the weights' own, and rightly": {[]model.Candidate{named, likelier}, []bool{true, false}, [][]bool{{true, true}}},
	} {
		var got [][]bool
		for _, e := range stated([]model.Example{{Candidates: c.candidates, Right: c.right}}) {
			got = append(got, e.Right)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Given a letter by people whose supplier goes by two names, then either is right, nobody else's is, and the letter counts for several drawn
// ones.
func TestEitherNameOfALetterIsRight(t *testing.T) {
	letter := drawn{source: handmade, also: []string{"Hotel Corrib Strand"}}
	letter.Supplier = "Ballycoast Hospitality Ltd"
	var candidates []model.Candidate
	for _, name := range []string{"Ballycoast Hospitality Ltd", "Hotel Corrib Strand", "Marina Developments Ltd"} {
		candidates = append(candidates, model.Candidate{Key: page.Key(name)})
	}
	l := lesson{field: fields.SupplierName, right: rightName, learns: []source{handmade}}
	got, _ := l.examples([]drawn{letter}, []map[string][]model.Candidate{{fields.SupplierName: candidates}})
	if len(got) != 1 || got[0].Worth != letterWorth || !slices.Equal(got[0].Right, []bool{true, true, false}) {
		t.Errorf("got %+v, want both names right", got)
	}
}

// Given letters by people, then number, day and due date are learnt from them, too, as the files beside them say.
func TestLettersAreLearntFrom(t *testing.T) {
	sent, err := madeByHand(few(t))
	if err != nil {
		t.Fatal(err)
	}
	var says []string
	for _, d := range sent {
		says = append(says, d.Number+" "+d.Date+" "+d.DueDate)
	}
	if want := "9018844207 2026-03-06 2026-03-20"; !slices.Contains(says, want) {
		t.Errorf("letters say %q, want %q among it", says, want)
	}
	learn := map[string]bool{}
	for _, l := range slices.Concat(lessons()...) {
		learn[l.field] = slices.Contains(l.learns, handmade)
	}
	for _, field := range []string{fields.Number, fields.Date, fields.DueDate} {
		if !learn[field] {
			t.Errorf("%s isn't learnt from letters", field)
		}
	}
}
