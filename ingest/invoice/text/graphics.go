package text

import (
	"math"

	"tallyhouse/ingest/invoice/pdf"
)

// box is an upright rectangle in device space.
type box struct{ x0, y0, x1, y1 float64 }

var nowhere = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}

// including is the smallest box that holds b and a point.
func (b box) including(x, y float64) box {
	return box{math.Min(b.x0, x), math.Min(b.y0, y), math.Max(b.x1, x), math.Max(b.y1, y)}
}

func (b box) intersect(o box) box {
	return box{math.Max(b.x0, o.x0), math.Max(b.y0, o.y0), math.Min(b.x1, o.x1), math.Min(b.y1, o.y1)}
}

func (b box) grown(by float64) box { return box{b.x0 - by, b.y0 - by, b.x1 + by, b.y1 + by} }

func (b box) contains(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

func (b box) width() float64 { return math.Max(0, b.x1-b.x0) }

func (b box) height() float64 { return math.Max(0, b.y1-b.y0) }

func (b box) overlaps(o box) bool {
	// Neighbours share an edge.
	i := b.intersect(o)
	return i.width() > 0.01 && i.height() > 0.01
}

// upright reports whether m keeps the sides of rectangles horizontal and vertical.
func (m matrix) upright() bool { return m[1] == 0 && m[2] == 0 || m[0] == 0 && m[3] == 0 }

func (m matrix) point(x, y float64) (float64, float64) {
	return m[0]*x + m[2]*y + m[4], m[1]*x + m[3]*y + m[5]
}

// boxOf is the box around a rectangle of user space.
func (m matrix) boxOf(x0, y0, x1, y1 float64) box {
	out := nowhere
	for _, corner := range [4][2]float64{{x0, y0}, {x1, y0}, {x0, y1}, {x1, y1}} {
		out = out.including(m.point(corner[0], corner[1]))
	}
	return out
}

// color is a color in RGB, each part from 0 to 1. A color of a space that is not
// computed here is not known.
type color struct {
	rgb   [3]float64
	known bool
}

func gray(v float64) color { return color{rgb: [3]float64{v, v, v}, known: true} }

func cmyk(c, m, y, k float64) color {
	return color{rgb: [3]float64{(1 - c) * (1 - k), (1 - m) * (1 - k), (1 - y) * (1 - k)}, known: true}
}

// like reports whether nobody can tell two colors apart.
func (c color) like(o color) bool {
	if !c.known || !o.known {
		return false
	}
	for i := range c.rgb {
		if math.Abs(c.rgb[i]-o.rgb[i]) > 0.06 {
			return false
		}
	}
	return true
}

// space is a color space as far as it is computed.
type space int

const (
	spaceGray space = iota
	spaceRGB
	spaceCMYK
	spaceInks // separations: no ink is white, the rest is not known
	spaceOther
	spacePattern
	spaceNone // the colorant that is never painted
)

// paint is what areas or lines are painted with.
type paint struct {
	space space
	color color
}

// initial is the color that a space begins with.
func (s space) initial() color {
	if s <= spaceCMYK {
		return gray(0)
	}
	return color{}
}

// colorOf computes a color from its components.
func (s space) colorOf(v []float64) color {
	switch {
	case s == spaceGray && len(v) == 1:
		return gray(v[0])
	case s == spaceRGB && len(v) == 3:
		return color{rgb: [3]float64{v[0], v[1], v[2]}, known: true}
	case s == spaceCMYK && len(v) == 4:
		return cmyk(v[0], v[1], v[2], v[3])
	case s == spaceInks && len(v) > 0:
		for _, ink := range v {
			if ink != 0 {
				return color{}
			}
		}
		return gray(1)
	}
	return color{}
}

// spaceOf finds out what a color space is, by its name or its definition.
func (in *interpreter) spaceOf(o pdf.Object, resources pdf.Dict) space {
	if name, ok := o.(pdf.Name); ok {
		if defined := in.file.Dict(resources["ColorSpace"])[name]; defined != nil {
			o = defined
		}
	}
	name := in.file.Name(o)
	list := in.file.Array(o)
	if len(list) > 0 {
		name = in.file.Name(list[0])
	}
	switch name {
	case "DeviceGray", "G", "CalGray":
		return spaceGray
	case "DeviceRGB", "RGB", "CalRGB":
		return spaceRGB
	case "DeviceCMYK", "CMYK":
		return spaceCMYK
	case "Separation", "DeviceN":
		if len(list) > 1 && in.isNone(list[1]) {
			return spaceNone
		}
		return spaceInks
	case "Pattern":
		return spacePattern
	case "ICCBased":
		if len(list) > 1 {
			switch in.file.Int(in.file.Dict(list[1])["N"], 0) {
			case 1:
				return spaceGray
			case 3:
				return spaceRGB
			case 4:
				return spaceCMYK
			}
		}
	}
	return spaceOther
}

// subpath is a part of a path: the box around it and its first points.
type subpath struct {
	box    box
	points [5][2]float64
	count  int // of all its points
	curved bool
}

func (s *subpath) add(x, y float64) {
	if s.count < len(s.points) {
		s.points[s.count] = [2]float64{x, y}
	}
	s.count++
	s.box = s.box.including(x, y)
}

// rectangle reports whether the subpath is an upright rectangle: its points are
// the corners of its box, one after the other.
func (s *subpath) rectangle() bool {
	if s.curved || s.count < 4 || s.count > len(s.points) || s.count == 5 && s.points[4] != s.points[0] {
		return false
	}
	const near = 0.01
	for i, p := range s.points[:4] {
		if math.Min(p[0]-s.box.x0, s.box.x1-p[0]) > near || math.Min(p[1]-s.box.y0, s.box.y1-p[1]) > near {
			return false
		}
		next := s.points[(i+1)%4]
		if math.Abs(p[0]-next[0]) > near && math.Abs(p[1]-next[1]) > near {
			return false
		}
	}
	return true
}

// maxSubpaths bounds the parts of a path that are told apart.
const maxSubpaths = 64

// path is a path under construction, in device space.
type path struct {
	parts []subpath
	// merged: there were more than maxSubpaths parts, the last holds the rest.
	merged bool
	clips  bool // W was met
	// now is the part under construction, whole those before it that are rectangles or lines, however many parts there are.
	now   subpath
	whole []subpath
}

func (p *path) move(x, y float64) {
	if len(p.parts) < maxSubpaths {
		p.parts = append(p.parts, subpath{box: nowhere})
	} else {
		p.merged = true
	}
	p.parts[len(p.parts)-1].add(x, y)
	p.finish()
	p.now = subpath{box: nowhere}
	p.now.add(x, y)
}

// finish keeps the part under construction if it is a small rectangle, or a line.
func (p *path) finish() {
	if len(p.whole) < maxTiles && p.now.count > 1 && max(p.now.box.width(), p.now.box.height()) <= maxTile &&
		(p.now.count == 2 && !p.now.curved || p.now.rectangle()) {
		p.whole = append(p.whole, p.now)
	}
	p.now = subpath{}
}

func (p *path) line(x, y float64) {
	if len(p.parts) == 0 {
		p.move(x, y)
		return
	}
	p.parts[len(p.parts)-1].add(x, y)
	p.now.add(x, y)
}

func (p *path) curve(points ...[2]float64) {
	for _, at := range points {
		p.line(at[0], at[1])
	}
	if len(p.parts) > 0 {
		p.parts[len(p.parts)-1].curved, p.now.curved = true, true
	}
}

// simple reports whether the path is rectangles side by side: what it paints is
// then exactly their boxes.
func (p *path) simple() bool {
	if p.merged {
		return false
	}
	for i := range p.parts {
		if !p.parts[i].rectangle() {
			return false
		}
		for _, other := range p.parts[:i] {
			if p.parts[i].box.overlaps(other.box) {
				return false
			}
		}
	}
	return true
}

func (p *path) box() box {
	out := nowhere
	for _, s := range p.parts {
		if s.count > 1 {
			out = out.including(s.box.x0, s.box.y0).including(s.box.x1, s.box.y1)
		}
	}
	return out
}

// isNone reports whether all colorants of a space are None.
func (in *interpreter) isNone(colorants pdf.Object) bool {
	all := in.file.Array(colorants)
	if all == nil {
		return in.file.Name(colorants) == "None"
	}
	if in.file.Spend(len(all)) != nil {
		return false
	}
	for _, c := range all {
		if in.file.Name(c) != "None" {
			return false
		}
	}
	return len(all) > 0
}
