package demo

import "sort"

// spread is the distribution of net amounts: so many in ten thousand are below so many cents, evenly in between. It
// follows a log-normal distribution with a median of 2,400.00: many small ones, a few very large.
var spread = []struct {
	below int
	cents int64
}{
	{0, 800}, {100, 3_600}, {250, 7_000}, {500, 12_400}, {1000, 23_900}, {1500, 37_200}, {2000, 52_800},
	{2500, 71_300}, {3000, 93_400}, {4000, 152_000}, {5000, 240_000}, {6000, 379_000}, {7000, 617_000},
	{7500, 808_000}, {8000, 1_092_000}, {8500, 1_550_000}, {9000, 2_410_000}, {9250, 3_203_000}, {9500, 4_640_000},
	{9750, 8_180_000}, {9900, 15_800_000}, {9950, 24_800_000}, {9980, 42_700_000}, {9990, 62_500_000},
	{9997, 115_000_000}, {10_000, 300_000_000},
}

// drawNet draws a positive net amount in cents for a trade. Larger ones are often round.
func drawNet(d *dice, t *trade) int64 {
	at := d.below(10_000)
	i := sort.Search(len(spread), func(i int) bool { return spread[i].below > at })
	net := d.between(spread[i-1].cents, spread[i].cents-1) * t.scale / 10
	switch round := d.below(100); {
	case round < 12 && net > 1_000_00:
		net -= net % 100_00
	case round < 35 && net > 100_00:
		net -= net % 1_00
	}
	return net
}

// share is percent of an amount, rounded half away from zero.
func share(amount, percent int64) int64 {
	if amount < 0 {
		return -share(-amount, percent)
	}
	return (amount*percent + 50) / 100
}
