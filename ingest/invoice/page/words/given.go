package words

import (
	_ "embed"
	"strings"
)

//go:embed names/given.txt
var givenNames string

// GivenNames are the given names of persons that are common somewhere in Europe, as Fold writes them.
func GivenNames() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(givenNames) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, name := range strings.Fields(line) {
			out[Fold([]rune(name))] = true
		}
	}
	return out
}
