package clickhouse

import "strings"

// Comparison holds what the target has against a recomputation, key by key, for the part of both tables that where picks by tenant and
// project. Its rows are the keys that differ: Key(), then for each of Measures() want_% and have_%.
func (v View) Comparison(where string) string {
	key := strings.Join(v.Key(), ", ")
	var want, have, both, differ []string
	for _, m := range v.Measures() {
		want = append(want, m+" AS want_"+m+", toInt128(0) AS have_"+m)
		have = append(have, "toInt128(0) AS want_"+m+", "+m+" AS have_"+m)
		both = append(both, "sum(want_"+m+") AS want_"+m+", sum(have_"+m+") AS have_"+m)
		differ = append(differ, "want_"+m+" != have_"+m)
	}
	return "SELECT " + key + ", " + strings.Join(both, ", ") +
		"\nFROM (" +
		"\nSELECT " + key + ", " + strings.Join(want, ", ") + " FROM (" + v.Recompute("(SELECT * FROM "+v.Table+" FINAL WHERE "+where+")") + ")" +
		"\nUNION ALL" +
		"\nSELECT " + key + ", " + strings.Join(have, ", ") + " FROM " + v.Name + " WHERE " + where +
		"\n) GROUP BY " + key +
		"\nHAVING " + strings.Join(differ, " OR ")
}

// Correction is what the target lacks to hold what a recomputation gives, for the part of both tables that where picks: rows of
// Columns(), negative where the target has too much, none where all is right.
func (v View) Correction(where string) string {
	var lacks []string
	for _, m := range v.Measures() {
		lacks = append(lacks, "want_"+m+" - have_"+m+" AS "+m)
	}
	return "SELECT " + strings.Join(v.Key(), ", ") + ", " + strings.Join(lacks, ", ") + "\nFROM (" + v.Comparison(where) + ")"
}

// Measures are the columns that are summed, position first.
func (v View) Measures() []string { return v.measures() }

// CreatedView is the view whose trigger a statement of a migration creates, if it creates one.
func CreatedView(statement string) (View, bool) {
	for _, v := range views {
		if strings.HasPrefix(statement, createView+v.Trigger()+" ") {
			return v, true
		}
	}
	return View{}, false
}
