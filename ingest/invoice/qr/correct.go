package qr

import "fmt"

// field is the arithmetic of bytes in GF(256), by the polynomial 0x11D.
type field struct{ power, log [256]int }

func newField() *field {
	f := &field{}
	x := 1
	for i := range 255 {
		f.power[i], f.log[x] = x, i
		if x <<= 1; x > 255 {
			x ^= 0x11d
		}
	}
	return f
}

func (f *field) times(a, b int) int {
	if a == 0 || b == 0 {
		return 0
	}
	return f.power[(f.log[a]+f.log[b])%255]
}

// over divides; b is not 0.
func (f *field) over(a, b int) int {
	if a == 0 {
		return 0
	}
	return f.power[(f.log[a]-f.log[b]+255)%255]
}

// value of a polynomial, lowest coefficient first.
func (f *field) value(p []int, x int) int {
	out := 0
	for i := len(p) - 1; i >= 0; i-- {
		out = f.times(out, x) ^ p[i]
	}
	return out
}

// mend corrects a block whose last bytes are those of a Reed-Solomon code, in place.
func mend(block []byte, extra int) error {
	f := newField()
	syndromes, damaged := make([]int, extra), false
	for i := range syndromes {
		for _, b := range block {
			syndromes[i] = f.times(syndromes[i], f.power[i]) ^ int(b)
		}
		damaged = damaged || syndromes[i] != 0
	}
	if !damaged {
		return nil
	}
	locator := f.locator(syndromes)
	wrong := len(locator) - 1
	if wrong*2 > extra {
		return fmt.Errorf("too much damage: %w", errUnreadable)
	}
	evaluator := make([]int, extra)
	for i := range evaluator {
		for k := 0; k <= i && k < len(locator); k++ {
			evaluator[i] ^= f.times(locator[k], syndromes[i-k])
		}
	}
	// The derivative of a polynomial over bytes has its odd coefficients.
	slope := make([]int, len(locator))
	for i := 1; i < len(locator); i += 2 {
		slope[i-1] = locator[i]
	}
	for i := range block {
		position := len(block) - 1 - i
		inverse := f.power[(255-position%255)%255]
		if f.value(locator, inverse) != 0 {
			continue
		}
		divisor := f.value(slope, inverse)
		if divisor == 0 {
			return fmt.Errorf("too much damage: %w", errUnreadable)
		}
		block[i] ^= byte(f.times(f.power[position%255], f.over(f.value(evaluator, inverse), divisor)))
		wrong--
	}
	if wrong != 0 {
		return fmt.Errorf("too much damage: %w", errUnreadable)
	}
	return nil
}

// locator is the polynomial whose roots tell where the errors are (Berlekamp and Massey).
func (f *field) locator(syndromes []int) []int {
	current, previous := []int{1}, []int{1}
	length, since, last := 0, 1, 1
	for i := range syndromes {
		gap := syndromes[i]
		for k := 1; k <= length && k < len(current); k++ {
			gap ^= f.times(current[k], syndromes[i-k])
		}
		if gap == 0 {
			since++
			continue
		}
		factor := f.over(gap, last)
		next := make([]int, max(len(current), len(previous)+since))
		copy(next, current)
		for k, p := range previous {
			next[k+since] ^= f.times(factor, p)
		}
		if 2*length <= i {
			length, previous, last, since = i+1-length, current, gap, 1
		} else {
			since++
		}
		current = next
	}
	for len(current) > 1 && current[len(current)-1] == 0 {
		current = current[:len(current)-1]
	}
	return current
}
