package model

import (
	"math"
	"slices"
)

// Example is a page's candidates for a field, and which of them are right; none need be.
type Example struct {
	Candidates []Candidate
	Right      []bool
	// Worth is how many examples it counts for; 0 is one.
	Worth int
}

func (e Example) worth() float64 { return float64(max(e.Worth, 1)) }

// Bounds of training.
const (
	rounds    = 400
	rate      = 0.1 // of learning
	fewest    = 4   // examples that a feature must occur in
	smallest  = 25  // values of a point of the calibration
	thousands = 1000
)

// Train learns weights that make the right candidates of the examples probable. The same examples always give the same
// weights: a multinomial logistic regression, all examples at once, by Adam. shrink pulls the weights to nothing, in
// examples' worth each.
func Train(examples []Example, shrink float64) Field {
	names, index := features(examples)
	compiled := make([][][]int, len(examples)) // by example and candidate, the features
	for i, e := range examples {
		compiled[i] = make([][]int, len(e.Candidates))
		for k, c := range e.Candidates {
			for _, name := range c.Features {
				if at, ok := index[name]; ok {
					compiled[i][k] = append(compiled[i][k], at)
				}
			}
		}
	}
	none := len(names)
	w := make([]float64, none+1)
	step := newAdam(len(w))
	gradient := make([]float64, len(w))
	var logits []float64
	total := 0.0
	for _, e := range examples {
		total += e.worth()
	}
	for range rounds {
		for i := range gradient {
			gradient[i] = shrink * w[i]
		}
		gradient[none] = 0
		for i, e := range examples {
			logits = logits[:0]
			for _, c := range compiled[i] {
				l := 0.0
				for _, at := range c {
					l += w[at]
				}
				logits = append(logits, l)
			}
			p := shares(logits, w[none])
			pNone, pRight := 1.0, 0.0
			for k := range p {
				pNone -= p[k]
				if e.Right[k] {
					pRight += p[k]
				}
			}
			known := slices.Contains(e.Right, true)
			for k, c := range compiled[i] {
				g := p[k]
				if e.Right[k] && pRight > 0 {
					g -= p[k] / pRight
				}
				for _, at := range c {
					gradient[at] += g * e.worth() / total
				}
			}
			if !known {
				pNone--
			}
			gradient[none] += pNone * e.worth() / total
		}
		step.apply(w, gradient)
	}
	f := Field{None: int(math.Round(w[none] * thousands)), Weights: map[string]int{}}
	for i, name := range names {
		if v := int(math.Round(w[i] * thousands)); v != 0 {
			f.Weights[name] = v
		}
	}
	return f
}

// features lists, in order, the features that occur in enough examples.
func features(examples []Example) ([]string, map[string]int) {
	count := map[string]int{}
	for _, e := range examples {
		seen := map[string]bool{}
		for _, c := range e.Candidates {
			for _, name := range c.Features {
				if !seen[name] {
					seen[name] = true
					count[name]++
				}
			}
		}
	}
	var names []string
	for name, n := range count {
		if n >= fewest {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	index := make(map[string]int, len(names))
	for i, name := range names {
		index[name] = i
	}
	return names, index
}

// adam is the usual adaptive descent.
type adam struct {
	mean, square []float64
	power1       float64
	power2       float64
}

func newAdam(n int) *adam {
	return &adam{mean: make([]float64, n), square: make([]float64, n), power1: 1, power2: 1}
}

func (a *adam) apply(w, gradient []float64) {
	const decay1, decay2, tiny = 0.9, 0.999, 1e-8
	a.power1 *= decay1
	a.power2 *= decay2
	for i, g := range gradient {
		a.mean[i] = decay1*a.mean[i] + (1-decay1)*g
		a.square[i] = decay2*a.square[i] + (1-decay2)*g*g
		w[i] -= rate * (a.mean[i] / (1 - a.power1)) / (math.Sqrt(a.square[i]/(1-a.power2)) + tiny)
	}
}

// Judged are examples with a field's weights that didn't learn from them.
type Judged struct {
	By       Field
	Examples []Example
}

// Calibrate learns how often what is chosen is right: an isotonic regression of what the weights say of examples that they
// didn't learn from. An example counts as often as it is worth.
func (f *Field) Calibrate(all ...Judged) {
	var plain, announced []outcome
	for _, j := range all {
		for _, e := range j.Examples {
			c := j.By.Choose(e.Candidates)
			if c.Index < 0 {
				continue
			}
			o := slices.Repeat([]outcome{{c.Probability, e.Right[c.Index]}}, max(1, e.Worth))
			if e.Candidates[c.Index].Announced {
				announced = append(announced, o...)
			} else {
				plain = append(plain, o...)
			}
		}
	}
	f.Calibration, f.Announced = isotonic(plain), isotonic(announced)
}

// Part calibrates a part of what is chosen, such as the gross sum of three sums: examples say of which candidates the
// part is right, of names a candidate's part by its key, empty where it has none. A part is as probable as all candidates
// together that agree on it.
func (f *Field) Part(examples []Example, of func(key string) string) Field {
	var plain, announced []outcome
	for _, e := range examples {
		c := f.Choose(e.Candidates)
		if c.Index < 0 || of(e.Candidates[c.Index].Key) == "" {
			continue
		}
		best := e.Candidates[c.Index]
		o := outcome{right: e.Right[c.Index]}
		for i, other := range e.Candidates {
			if of(other.Key) == of(best.Key) {
				o.said += c.Shares[i]
			}
		}
		if best.Announced {
			announced = append(announced, o)
		} else {
			plain = append(plain, o)
		}
	}
	// What is less probable than all of these is less certain, too.
	return Field{Calibration: append(Curve{{0, 0}}, isotonic(plain)...), Announced: append(Curve{{0, 0}}, isotonic(announced)...)}
}

// outcome is what the weights said of a chosen value, and whether it was right.
type outcome struct {
	said  float64
	right bool
}

// isotonic is the curve through outcomes that never falls.
func isotonic(all []outcome) Curve {
	var curve Curve
	slices.SortStableFunc(all, func(a, b outcome) int {
		switch {
		case a.said < b.said:
			return -1
		case a.said > b.said:
			return 1
		}
		return 0
	})
	type block struct {
		said, right float64 // sums
		n           int
	}
	share := func(b block) float64 { return (b.right + 1) / float64(b.n+2) }
	var blocks []block
	for from := 0; from < len(all); from += smallest {
		to := min(from+smallest, len(all))
		if len(all)-to < smallest {
			to = len(all)
		}
		b := block{n: to - from}
		for _, o := range all[from:to] {
			b.said += o.said
			if o.right {
				b.right++
			}
		}
		blocks = append(blocks, b)
		// What is said with more confidence must not be right less often: such blocks are one.
		for n := len(blocks); n > 1 && share(blocks[n-2]) >= share(blocks[n-1]); n = len(blocks) {
			last := blocks[n-1]
			blocks = blocks[:n-1]
			blocks[n-2].said += last.said
			blocks[n-2].right += last.right
			blocks[n-2].n += last.n
		}
		if to == len(all) {
			break
		}
	}
	for _, b := range blocks {
		point := [2]int{int(math.Round(b.said / float64(b.n) * thousands)), int(math.Round(share(b) * thousands))}
		curve = append(curve, point)
	}
	return curve
}
