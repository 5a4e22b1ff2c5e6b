package page

import "tallyhouse/ingest/invoice/page/model"

// choose weighs the candidates for a field by what was learnt, and keeps them for who wants to see them all.
func (s *sheet) choose(field string, candidates []model.Candidate) model.Choice {
	s.considered[field] = candidates
	return s.weights[field].Choose(candidates)
}
