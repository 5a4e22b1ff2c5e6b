package main

import (
	"maps"
	"slices"
	"sync"

	"tallyhouse/ingest/invoice/fields"
	"tallyhouse/ingest/invoice/page/model"
)

// judged are examples that some weights didn't learn from. Where rules have a say in what is stated, the invoices are read again by the
// weights; else what is considered doesn't depend on them.
func (c *class) judged(l lesson, by model.Field, examples []model.Example, from []drawn) model.Judged {
	if l.ruled {
		return c.stated(l, by, from)
	}
	return model.Judged{By: by, Examples: examples}
}

// stated are invoices as a reader by some weights reads them, where rules let a value be stated. Letters by people count for as many as
// they stand for.
func (c *class) stated(l lesson, by model.Field, from []drawn) model.Judged {
	const letter = 5
	with := maps.Clone(c.known)
	with[l.field] = by
	l.learns, l.worth = append(slices.Clone(l.learns), handmade), letter
	again, _ := l.examples(from, considered(c.reader.With(with), from))
	return model.Judged{By: by, Examples: stated(again)}
}

// stated are the examples where rules let a value be stated. It is right or wrong whichever the weights chose.
func stated(all []model.Example) []model.Example {
	var out []model.Example
	for _, e := range all {
		at := slices.IndexFunc(e.Candidates, func(c model.Candidate) bool { return c.Stated })
		if at < 0 {
			continue
		}
		e.Right = slices.Repeat([]bool{e.Right[at]}, len(e.Right))
		out = append(out, e)
	}
	return out
}

// folds is how many times weights are learnt again, each time without some of what is by people, which they then judge.
const folds = 4

// crossed judges what is by people by weights that didn't learn from it. What is drawn is harder to tell from other numbers and names
// than what stands on real pages, where a confidence has to hold.
func (c *class) crossed(l lesson, examples []model.Example, from []drawn) []model.Judged {
	if l.field != fields.Number {
		// Names are judged by letters, sums by their parts, and days without a label are as hard to tell wherever they are printed.
		return nil
	}
	all := make([]model.Judged, folds)
	var work sync.WaitGroup
	for fold := range all {
		var learn, left []model.Example
		var leftFrom []drawn
		people := 0
		for i, e := range examples {
			if from[i].byPeople() {
				people++
			}
			if from[i].byPeople() && people%folds == fold {
				left, leftFrom = append(left, e), append(leftFrom, from[i])
			} else {
				learn = append(learn, e)
			}
		}
		work.Go(func() { all[fold] = c.judged(l, model.Train(learn, l.shrink), left, leftFrom) })
	}
	work.Wait()
	return all
}
