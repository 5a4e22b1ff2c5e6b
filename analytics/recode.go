package analytics

// ToRecode returns those of the sums of a contract's linked records that are coded outside its lines: their records
// count pro rata on the lines and are to be re-coded (docs/calculations.md#coded-outside). Rejected records, accruals
// and those in another currency are never among them.
func (s *Structure) ToRecode(c *Contract, linked []RecordSum) []RecordSum {
	lines := c.Lines()
	if len(lines) == 0 {
		return nil
	}
	finder := newLineFinder(s)
	finder.among(lines)
	var outside []RecordSum
	for i := range linked {
		r := &linked[i]
		if r.counts() && r.Currency == c.Currency && r.NodeID != "" && finder.find(r.NodeID) == noLine {
			outside = append(outside, *r)
		}
	}
	return outside
}
