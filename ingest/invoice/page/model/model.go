// Package model decides among candidates for a field by weights that were learnt: how probable is each of them, and how
// probable is it that none is right? docs/invoices.md#learning says how the weights come about.
package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
)

// Candidate is a value that a field may have, and where it stands. Candidates of equal Key are one value.
type Candidate struct {
	Key string
	// Features name what is seen of it: its label, its place, what agrees with it.
	Features []string
	// Announced candidates have a label that is known; how sure they are is learnt apart.
	Announced bool
	// Stated is the one that rules let the reader state, where they have a say in that: training calibrates on those alone.
	Stated bool
}

// Field holds what was learnt for one field.
type Field struct {
	// None is the weight of there being no right candidate, in thousandths of a logit.
	None int `json:"none"`
	// Weights of the features, in thousandths of a logit.
	Weights map[string]int `json:"weights"`
	// Calibration maps what the weights say to how often it was right on families held out, both in thousandths: points
	// in ascending order, straight lines between them.
	Calibration Curve `json:"calibration"`
	// Announced is the same for candidates with a label that is known.
	Announced Curve `json:"announced,omitempty"`
}

// Model holds what was learnt for each field, by the field's name.
type Model map[string]Field

//go:embed weights.json
var weights []byte

// Load returns the model that is built into the program.
func Load() (Model, error) {
	var m Model
	if err := json.Unmarshal(weights, &m); err != nil {
		return nil, fmt.Errorf("decoding weights: %w", err)
	}
	return m, nil
}

// Choice is what a field's weights say of candidates.
type Choice struct {
	// Index of the best candidate of the best value; -1 where there is none.
	Index int
	// Probability that the value is right, between 0 and 1.
	Probability float64
	// Each candidate's share, before calibration; those of one value add up.
	Shares []float64
}

// Choose weighs candidates.
func (f *Field) Choose(candidates []Candidate) Choice {
	out := Choice{Index: -1}
	logits := make([]float64, len(candidates))
	for i, c := range candidates {
		for _, name := range c.Features {
			logits[i] += float64(f.Weights[name]) / 1000
		}
	}
	out.Shares = shares(logits, float64(f.None)/1000)
	values := map[string]float64{}
	for i, c := range candidates {
		values[c.Key] += out.Shares[i]
	}
	for i, c := range candidates {
		if out.Index < 0 || values[c.Key] > values[candidates[out.Index].Key] ||
			c.Key == candidates[out.Index].Key && out.Shares[i] > out.Shares[out.Index] {
			out.Index = i
		}
	}
	if out.Index >= 0 {
		best := candidates[out.Index]
		out.Probability = f.curve(best.Announced).at(values[best.Key])
	}
	return out
}

// Calibrated is how often what the weights find so probable was right; what a known label announces, apart.
func (f *Field) Calibrated(p float64, announced bool) float64 { return f.curve(announced).at(p) }

// shares is the softmax of logits and none; that of none is left out.
func shares(logits []float64, none float64) []float64 {
	top := none
	for _, l := range logits {
		top = math.Max(top, l)
	}
	total := math.Exp(none - top)
	out := make([]float64, len(logits))
	for i, l := range logits {
		out[i] = math.Exp(l - top)
		total += out[i]
	}
	for i := range out {
		out[i] /= total
	}
	return out
}

// Curve maps what weights say to how often it was right: points in ascending order, in thousandths.
type Curve [][2]int

func (f *Field) curve(announced bool) Curve {
	if announced && len(f.Announced) > 0 {
		return f.Announced
	}
	return f.Calibration
}

// at is how often values are right that the weights find so probable.
func (points Curve) at(p float64) float64 {
	if len(points) == 0 {
		return p
	}
	at := func(i int) (x, y float64) { return float64(points[i][0]) / 1000, float64(points[i][1]) / 1000 }
	for i := range points {
		x, y := at(i)
		if p > x {
			continue
		}
		if i == 0 {
			return y
		}
		x0, y0 := at(i - 1)
		if x == x0 {
			return y
		}
		return y0 + (y-y0)*(p-x0)/(x-x0)
	}
	_, y := at(len(points) - 1)
	return y
}
