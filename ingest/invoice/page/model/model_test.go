package model

import (
	"math"
	"testing"
)

// examples are pages with a labelled candidate, right where a label is plain, and one without.
func examples() []Example {
	var out []Example
	for i := range 60 {
		e := Example{Candidates: []Candidate{{Key: "a", Features: []string{"labelled"}}, {Key: "b", Features: []string{"bare"}}},
			Right: []bool{true, false}}
		if i%3 == 0 { // nothing is labelled, and nothing is right
			e = Example{Candidates: []Candidate{{Key: "b", Features: []string{"bare"}}}, Right: []bool{false}}
		}
		out = append(out, e)
	}
	return out
}

// Given pages on which the labelled candidate is right, then it is chosen, and where there is none the rest is improbable.
func TestWhatIsRightIsLearnt(t *testing.T) {
	f := Train(examples(), 0.0005)
	f.Calibrate(Judged{f, examples()})
	c := f.Choose([]Candidate{{Key: "b", Features: []string{"bare"}}, {Key: "a", Features: []string{"labelled"}}})
	if c.Index != 1 || c.Probability < 0.9 {
		t.Errorf("chose %d with %.2f, want the labelled one, surely", c.Index, c.Probability)
	}
	if c := f.Choose([]Candidate{{Key: "b", Features: []string{"bare"}}}); c.Probability > 0.3 {
		t.Errorf("a candidate of which all were wrong is right with %.2f", c.Probability)
	}
}

// Given one value at two places, then their shares count together.
func TestPlacesOfOneValueAddUp(t *testing.T) {
	f := Field{Weights: map[string]int{"x": 1000, "y": 1500}}
	c := f.Choose([]Candidate{{Key: "a", Features: []string{"x"}}, {Key: "b", Features: []string{"y"}}, {Key: "a", Features: []string{"x"}}})
	want := 2 * math.E / (1 + 2*math.E + math.Exp(1.5))
	if c.Index != 0 || math.Abs(c.Probability-want) > 1e-9 {
		t.Errorf("chose %d with %v, want 0 with %v", c.Index, c.Probability, want)
	}
}

// Given no candidate, then none is chosen.
func TestNothingIsChosenOfNothing(t *testing.T) {
	if c := new(Field).Choose(nil); c.Index != -1 || c.Probability != 0 {
		t.Errorf("chose %+v", c)
	}
}

// Given points of a calibration, then what is between them lies on a line, and what is beyond on the last.
func TestCalibrationIsReadBetweenItsPoints(t *testing.T) {
	curve := Curve{{500, 400}, {900, 800}}
	for said, want := range map[float64]float64{0.1: 0.4, 0.5: 0.4, 0.7: 0.6, 0.9: 0.8, 0.99: 0.8} {
		if got := curve.at(said); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v is calibrated to %v, want %v", said, got, want)
		}
	}
}

// Given values that were said with 0.9 and of which half were wrong, then they are stated with a half.
func TestWhatIsSaidTooSurelyIsStatedAsItWas(t *testing.T) {
	f := Field{Weights: map[string]int{"x": 2200}}
	var all []Example
	for i := range 100 {
		all = append(all, Example{Candidates: []Candidate{{Key: "a", Features: []string{"x"}}}, Right: []bool{i%2 == 0}})
	}
	f.Calibrate(Judged{f, all})
	if c := f.Choose(all[0].Candidates); math.Abs(c.Probability-0.5) > 0.02 {
		t.Errorf("stated with %.2f, want 0.5", c.Probability)
	}
}

// Given candidates with a known label that are right more often than others of the same weight, then these are stated
// with more confidence.
func TestAnnouncedValuesAreCalibratedApart(t *testing.T) {
	f := Field{Weights: map[string]int{"x": 2200}}
	var all []Example
	for i := range 200 {
		c := Candidate{Key: "a", Features: []string{"x"}, Announced: i%2 == 0}
		all = append(all, Example{Candidates: []Candidate{c}, Right: []bool{i%2 == 0 || i%4 == 1}})
	}
	f.Calibrate(Judged{f, all})
	for announced, want := range map[bool]float64{true: 0.98, false: 0.5} {
		c := f.Choose([]Candidate{{Key: "a", Features: []string{"x"}, Announced: announced}})
		if math.Abs(c.Probability-want) > 0.03 {
			t.Errorf("announced %v: stated with %.2f, want %.2f", announced, c.Probability, want)
		}
	}
}

func TestTheModelOfTheProgramCanBeLoaded(t *testing.T) {
	m, err := Load()
	if err != nil || len(m["supplierName"].Weights) == 0 {
		t.Errorf("%d fields, %v", len(m), err)
	}
	if len(weights) > 1<<20 {
		t.Errorf("the model has %d bytes, 1 MiB is allowed", len(weights))
	}
}
