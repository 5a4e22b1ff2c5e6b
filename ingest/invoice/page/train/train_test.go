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

// Given a letter by people whose supplier goes by two names, then either is right, nobody else's is, and the letter is worth as many drawn
// ones as the lesson says.
func TestEitherNameOfALetterIsRight(t *testing.T) {
	letter := drawn{source: handmade, also: []string{"Hotel Corrib Strand"}}
	letter.Supplier = "Ballycoast Hospitality Ltd"
	var candidates []model.Candidate
	for _, name := range []string{"Ballycoast Hospitality Ltd", "Hotel Corrib Strand", "Marina Developments Ltd"} {
		candidates = append(candidates, model.Candidate{Key: page.Key(name)})
	}
	l := lesson{field: fields.SupplierName, right: rightName, learns: []source{handmade}, worth: 5}
	got, _ := l.examples([]drawn{letter}, []map[string][]model.Candidate{{fields.SupplierName: candidates}})
	if len(got) != 1 || got[0].Worth != 5 || !slices.Equal(got[0].Right, []bool{true, true, false}) {
		t.Errorf("got %+v, want both names right, worth 5", got)
	}
}

// Given letters by people, then they say how sure names are, and no weight of what labels announce is learnt from them.
func TestLettersCalibrateNamesAlone(t *testing.T) {
	letters := few(t)
	told, err := train(samples, letters, 12)
	if err != nil {
		t.Fatal(err)
	}
	all, err := filepath.Glob(filepath.Join(letters, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if err := os.WriteFile(name, []byte(`{"supplierName":"Somebody Else Ltd"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	misled, err := train(samples, letters, 12)
	if err != nil {
		t.Fatal(err)
	}
	if reflect.DeepEqual(told[fields.SupplierName], misled[fields.SupplierName]) {
		t.Error("letters have no say in how sure names are")
	}
	for _, field := range []string{fields.Number, fields.Date, fields.DueDate, page.Sums} { // how sure a name is, is seen by its second lesson
		if !reflect.DeepEqual(told[field].Weights, misled[field].Weights) {
			t.Errorf("weights of %s are learnt from letters", field)
		}
	}
}
