package main

import (
	"reflect"
	"slices"
	"testing"
)

// Given the same families, then training learns the same weights, and of every field that the reader decides by them.
func TestTrainingIsReproducible(t *testing.T) {
	first, err := train("../testdata", 12)
	if err != nil {
		t.Fatal(err)
	}
	second, err := train("../testdata", 12)
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

func TestAFolderWithoutSamplesIsAnError(t *testing.T) {
	if _, err := train(t.TempDir(), 1); err == nil {
		t.Error("training went on without samples")
	}
}
