// Package qr reads the QR codes (ISO/IEC 18004) that programs set on invoices: flat, sharp and turned at most. Photographs
// of codes are not its matter.
package qr

import (
	"image"
	"math"
	"slices"
)

// Bounds of the search in one picture.
const (
	maxFinders  = 48  // squares that could be a code's corners
	maxAttempts = 100 // corners that are tried
	maxCodes    = 4
	minContrast = 60 // between the darkest and the lightest pixel
)

// Find reads the codes in a picture.
func Find(g *image.Gray) []string {
	p, ok := newPicture(g)
	if !ok {
		return nil
	}
	var out []string
	finders := p.finders()
	attempts := 0
	for _, corner := range finders {
		for _, right := range finders {
			for _, below := range finders {
				size, ok := square(corner, right, below)
				if !ok {
					continue
				}
				for _, s := range []int{size, size - 4, size + 4} {
					if s < smallest || s > largest {
						continue
					}
					m := p.sample(corner, right, below, s)
					if !m.timed() {
						continue
					}
					if attempts++; attempts > maxAttempts || len(out) == maxCodes {
						return out
					}
					if text, err := decode(m); err == nil {
						if !slices.Contains(out, text) {
							out = append(out, text)
						}
						break
					}
				}
			}
		}
	}
	return out
}

// picture is dark or light at every pixel.
type picture struct {
	*image.Gray
	limit byte
}

func newPicture(g *image.Gray) (picture, bool) {
	darkest, lightest := byte(255), byte(0)
	for y := range g.Rect.Dy() {
		for _, v := range g.Pix[y*g.Stride : y*g.Stride+g.Rect.Dx()] {
			darkest, lightest = min(darkest, v), max(lightest, v)
		}
	}
	return picture{g, darkest + (lightest-darkest)/2}, lightest-darkest >= minContrast && g.Rect.Dx() >= smallest && g.Rect.Dy() >= smallest
}

// dark reports whether a pixel is; outside of the picture it is light.
func (p picture) dark(x, y int) bool {
	return x >= 0 && y >= 0 && x < p.Rect.Dx() && y < p.Rect.Dy() && p.Pix[y*p.Stride+x] <= p.limit
}

// finder is the centre of one of the squares in a code's corners; module is how wide a module is there.
type finder struct {
	x, y, module float64
	seen         int // rows that cross it
}

// finders finds the squares: dark, light, dark, light, dark, as wide as 1, 1, 3, 1 and 1 modules across and down.
func (p picture) finders() []finder {
	var all []finder
	for y := range p.Rect.Dy() {
		var runs [5]int
		for x := 0; x <= p.Rect.Dx(); {
			from, shade := x, p.dark(x, y)
			for x++; x < p.Rect.Dx() && p.dark(x, y) == shade; x++ {
			}
			copy(runs[:], runs[1:])
			runs[4] = x - from
			if !shade || !proportioned(runs) {
				continue
			}
			cx := float64(x-runs[4]-runs[3]) - float64(runs[2])/2
			module := float64(runs[0]+runs[1]+runs[2]+runs[3]+runs[4]) / 7
			if cy, ok := p.down(int(cx), y, module); ok {
				all = noted(all, finder{cx, cy, module, 1})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b finder) int { return b.seen - a.seen })
	return all[:min(len(all), maxFinders)]
}

// noted adds a square, or a row of one that is known.
func noted(all []finder, f finder) []finder {
	for i, known := range all {
		if math.Abs(known.x-f.x) <= 2*f.module && math.Abs(known.y-f.y) <= 2*f.module {
			n := float64(known.seen)
			all[i] = finder{(known.x*n + f.x) / (n + 1), (known.y*n + f.y) / (n + 1), (known.module*n + f.module) / (n + 1), known.seen + 1}
			return all
		}
	}
	if len(all) == 20*maxFinders {
		return all
	}
	return append(all, f)
}

// proportioned reports whether runs of pixels are as wide as those of a square in a corner.
func proportioned(runs [5]int) bool {
	total := 0
	for _, r := range runs {
		if r == 0 {
			return false
		}
		total += r
	}
	module := float64(total) / 7
	for i, r := range runs {
		want := module
		if i == 2 {
			want = 3 * module
		}
		if math.Abs(float64(r)-want) > want*0.6 {
			return false
		}
	}
	return true
}

// down looks at the column of a square's centre and returns its middle.
func (p picture) down(x, y int, module float64) (float64, bool) {
	if !p.dark(x, y) {
		return 0, false
	}
	run := func(from, step int, dark bool) int {
		n := 0
		for at := from; p.dark(x, at) == dark && n < int(6*module)+2 && at >= 0 && at < p.Rect.Dy(); at += step {
			n++
		}
		return n
	}
	up, under := run(y, -1, true), run(y, 1, true)
	lightUp, lightUnder := run(y-up, -1, false), run(y+under, 1, false)
	darkUp, darkUnder := run(y-up-lightUp, -1, true), run(y+under+lightUnder, 1, true)
	runs := [5]int{darkUp, lightUp, up + under - 1, lightUnder, darkUnder}
	total := darkUp + lightUp + up + under - 1 + lightUnder + darkUnder
	if !proportioned(runs) || math.Abs(float64(total)-7*module) > 3*module {
		return 0, false
	}
	return float64(y-up+1) + float64(up+under-1)/2, true
}

// square reports whether three squares are the corners of a code, that at the right clockwise before that below, and how
// many modules it has.
func square(corner, right, below finder) (size int, ok bool) {
	ax, ay := right.x-corner.x, right.y-corner.y
	bx, by := below.x-corner.x, below.y-corner.y
	a, b := math.Hypot(ax, ay), math.Hypot(bx, by)
	module := (corner.module + right.module + below.module) / 3
	switch {
	case a < 10*module || ax*by-ay*bx <= 0 || math.Abs(a-b) > 0.1*a || math.Abs(ax*bx+ay*by) > 0.1*a*b:
		return 0, false
	}
	size = int(math.Round((a+b)/2/turned(module, ax, ay))) + 7
	return 17 + 4*int(math.Round(float64(size-17)/4)), true
}

// turned is the width of a module where rows cross it at an angle.
func turned(module, ax, ay float64) float64 {
	return module * max(math.Abs(ax), math.Abs(ay)) / math.Hypot(ax, ay)
}

// timed reports whether the lines between the corners are dark and light in turn, but for some damage.
func (m matrix) timed() bool {
	wrong, all := 0, 2*(m.size-16)
	for i := 8; i < m.size-8; i++ {
		if m.at(i, 6) != (i%2 == 0) {
			wrong++
		}
		if m.at(6, i) != (i%2 == 0) {
			wrong++
		}
	}
	return wrong*6 <= all
}

// sample reads the modules of a code between its corners.
func (p picture) sample(corner, right, below finder, size int) matrix {
	m := newMatrix(size)
	span := float64(size - 7)
	for y := range size {
		for x := range size {
			u, v := (float64(x)-3)/span, (float64(y)-3)/span
			px := corner.x + u*(right.x-corner.x) + v*(below.x-corner.x)
			py := corner.y + u*(right.y-corner.y) + v*(below.y-corner.y)
			m.dark[y*size+x] = p.dark(int(math.Floor(px)), int(math.Floor(py)))
		}
	}
	return m
}
