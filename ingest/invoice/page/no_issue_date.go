package page

import "strings"

// Days that are not that of issue by what stands around them.

// placeBefore is the rule of days behind a place.
const placeBefore = "place and date"

// longAgo is how many years before others on the document figures like a day can't be that of issue, unless a label says so.
const longAgo = 5

// latestYear is the latest one of all days on the document.
func (s *sheet) latestYear() (year int) {
	for _, d := range s.allDates() {
		year = max(year, d.year)
	}
	return year
}

// amongItems reports whether an item stands below the headings of a table of items, above its sums.
func (s *sheet) amongItems(it *item) bool {
	const fewest = 3 // headings
	for r := it.row - 1; r >= max(0, it.row-maxItems); r-- {
		row := s.rows[r]
		if row[0].page != it.page {
			return false
		}
		headings, sums := 0, false
		for _, other := range row {
			if s.itemHeading.MatchString(other.folded) {
				headings++
			}
			named, _ := s.roleOf(strings.TrimSpace(other.folded))
			sums = sums || named != roleNone && len(other.folded) <= maxLabelled/2
		}
		if headings >= fewest {
			return true
		}
		if sums {
			return false
		}
	}
	return false
}
