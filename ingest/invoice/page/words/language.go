package words

import (
	"regexp"
)

// Languages that a text may be in are told by words that few others use, without accents: who reads a scan by the letters of
// another language loses those first.
type Languages struct {
	weights map[string]map[string]float64 // of a word, by language
}

const (
	// ahead is by how much the words of a language must outweigh those of each other one.
	ahead = 1.2
	// enough is the least weight that they must have: that of some words that no other language has.
	enough = 2.0
)

var (
	// Shorter words are many languages'.
	wordOfText = regexp.MustCompile(`[a-z]{4,}`)
	listInside = regexp.MustCompile(`<[^>]*>`)
)

// weigh weighs the words of all languages.
func (w *Words) weigh() Languages {
	out := Languages{weights: map[string]map[string]float64{}}
	for _, language := range w.Languages() {
		if language == "any" {
			continue
		}
		for _, entries := range w.languages[language] {
			for _, entry := range entries {
				for _, word := range wordOfText.FindAllString(folded(listInside.ReplaceAllString(entry, " ")), -1) {
					if out.weights[word] == nil {
						out.weights[word] = map[string]float64{}
					}
					out.weights[word][language] = 1
				}
			}
		}
	}
	for _, in := range out.weights {
		for language := range in {
			in[language] /= float64(len(in))
		}
	}
	return out
}

// LoadLanguages reads the words of all languages.
func LoadLanguages() (Languages, error) {
	w, err := Load()
	if err != nil {
		return Languages{}, err
	}
	return w.weigh(), nil
}

// Of is the language, by the name of its file, that a text is in; empty where that isn't plain.
func (l Languages) Of(text string) string {
	sums := map[string]float64{}
	seen := map[string]bool{}
	for _, word := range wordOfText.FindAllString(folded(text), -1) {
		if seen[word] {
			continue
		}
		seen[word] = true
		for language, weight := range l.weights[word] {
			sums[language] += weight
		}
	}
	best, second := "", 0.0
	for language, sum := range sums {
		switch {
		case best == "" || sum > sums[best]:
			best, second = language, max(second, sums[best])
		case sum > second:
			second = sum
		}
	}
	if sums[best] < enough || sums[best] < ahead*second {
		return ""
	}
	return best
}

func folded(text string) string { return Fold([]rune(text)) }
