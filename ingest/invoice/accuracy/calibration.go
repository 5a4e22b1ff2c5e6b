package main

import (
	"fmt"
	"io"
)

// bins are the confidences that stated values are counted by: from each to the next.
var bins = []float64{0, 0.8, 0.85, 0.9, 0.95, 0.98}

// calibration counts the values that were stated with a confidence, and those of them that are right.
type calibration struct{ right, stated [6]int }

func (c *calibration) add(confidence float64, right bool) {
	bin := 0
	for i, from := range bins {
		if confidence >= from {
			bin = i
		}
	}
	c.stated[bin]++
	if right {
		c.right[bin]++
	}
}

func (t *tally) printCalibration(w io.Writer) {
	fmt.Fprintf(w, "\nright of what is stated, by its confidence:\n%-15s", "")
	for i, from := range bins {
		to := 1.0
		if i+1 < len(bins) {
			to = bins[i+1]
		}
		fmt.Fprintf(w, "  %.2f to %.2f    ", from, to)
	}
	fmt.Fprintln(w)
	for _, n := range names {
		c := t.calibrations[n]
		fmt.Fprintf(w, "%-15s", n)
		for i := range bins {
			cell := ""
			if c.stated[i] > 0 {
				cell = fmt.Sprintf("%4d/%-4d %5.1f %%", c.right[i], c.stated[i], 100*float64(c.right[i])/float64(c.stated[i]))
			}
			fmt.Fprintf(w, " %-17s", cell)
		}
		fmt.Fprintln(w)
	}
}

// printShares prints one line: of each field, the share that is right.
func (t *tally) printShares(w io.Writer, name string) {
	fmt.Fprintf(w, "%-14s", name)
	for _, n := range names {
		c := t.fields[n]
		share := "-"
		if of := c.right + c.wrong + c.missing; of > 0 {
			share = fmt.Sprintf("%d/%d", c.right, of)
			if c.wrong > 0 {
				share += fmt.Sprintf(" (%d!)", c.wrong)
			}
		}
		fmt.Fprintf(w, " %14s", share)
	}
	fmt.Fprintf(w, "  %d/%d\n", t.core[0], t.core[1])
}
