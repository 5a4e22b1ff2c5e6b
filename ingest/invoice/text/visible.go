package text

import (
	"context"
	"fmt"
	"math"
	"slices"

	"tallyhouse/ingest/invoice/pdf"
)

// What nobody sees on the page is not read: docs/invoices.md#what-is-not-seen.
const (
	minSize  = 1.5  // points; smaller text nobody can read
	minAlpha = 0.05 // more transparent text nobody sees
	solid    = 0.95 // less opaque areas let shine through what is below them
	// scanned is the part of a page that pictures cover when it is a scan, whose
	// invisible text is what OCR has read.
	scanned = 0.6
	// minArea is the least width and height of areas that are kept: others are rules.
	minArea = 2
	// maxAreas bounds the areas kept of a page. Where there are more, all later
	// text counts as seen.
	maxAreas = 4096
	// maxLooks bounds how often the glyphs of a page are compared with areas, with
	// the same effect.
	maxLooks = 100_000_000
)

// area is a part of the page that was painted.
type area struct {
	box     box
	color   color // not known for pictures, patterns and shapes other than rectangles
	covers  bool  // nothing below it is seen
	picture bool
	marks   int // the number of glyphs shown before it
}

// clip is where painting has an effect: within box, all of it if exact.
type clip struct {
	box   box
	exact bool
}

func (c clip) within(b box, exact bool) clip {
	return clip{box: c.box.intersect(b), exact: c.exact && exact}
}

// paintPath ends a path: it is filled and its lines are drawn or not, then it clips
// what follows if asked to.
func (in *interpreter) paintPath(fill, stroke bool) {
	st, p := &in.state, &in.path
	if stroke {
		defer in.paintLines(p.parts)
	}
	if fill {
		simple := p.simple()
		for i := range p.parts {
			a := area{box: p.parts[i].box}
			if simple {
				a.color = st.fill.color
				a.covers = st.fill.space != spacePattern && st.fill.space != spaceNone
			}
			in.addArea(a)
		}
	}
	in.paintTiles(fill, stroke)
	if p.clips && len(p.parts) > 0 {
		st.clip = st.clip.within(p.box(), len(p.parts) == 1 && p.parts[0].rectangle())
	}
	in.path = path{parts: p.parts[:0], whole: p.whole[:0]}
}

// paintTiles notes what the path paints of a mosaic: small rectangles that are filled, and wide lines.
func (in *interpreter) paintTiles(fill, stroke bool) {
	st, p := &in.state, &in.path
	p.finish()
	half := st.lineWidth / 2 * math.Sqrt(math.Abs(st.ctm[0]*st.ctm[3]-st.ctm[1]*st.ctm[2]))
	for i := range p.whole {
		b, line := p.whole[i].box, p.whole[i].count == 2
		switch {
		case fill && !line && paints(st.fill, st.fillAlpha*st.groupAlpha):
			in.addTile(b, st.fill.color)
		case stroke && line && !st.dashed && paints(st.stroke, st.strokeAlpha*st.groupAlpha) && b.height() == 0:
			in.addTile(box{b.x0, b.y0 - half, b.x1, b.y1 + half}, st.stroke.color)
		case stroke && line && !st.dashed && paints(st.stroke, st.strokeAlpha*st.groupAlpha) && b.width() == 0:
			in.addTile(box{b.x0 - half, b.y0, b.x1 + half, b.y1}, st.stroke.color)
		}
	}
}

// paints reports whether a paint leaves a color that is seen.
func paints(p paint, alpha float64) bool {
	return p.space != spaceNone && p.space != spacePattern && alpha >= minAlpha
}

// paintLines notes straight, upright lines that are wide enough to hide what is
// below them.
func (in *interpreter) paintLines(parts []subpath) {
	st := &in.state
	if st.dashed || st.stroke.space == spacePattern || st.stroke.space == spaceNone || st.strokeAlpha < solid {
		return
	}
	half := st.lineWidth / 2 * math.Sqrt(math.Abs(st.ctm[0]*st.ctm[3]-st.ctm[1]*st.ctm[2]))
	for i := range parts {
		p := &parts[i]
		if p.curved || p.count != 2 {
			continue
		}
		b := p.box
		switch {
		case b.height() == 0:
			b.y0, b.y1 = b.y0-half, b.y1+half
		case b.width() == 0:
			b.x0, b.x1 = b.x0-half, b.x1+half
		default:
			continue
		}
		in.addArea(area{box: b, color: st.stroke.color, covers: true})
	}
}

// addArea notes an area painted in the present state.
func (in *interpreter) addArea(a area) {
	st := &in.state
	a.box = a.box.intersect(st.clip.box)
	if a.box.width() < minArea || a.box.height() < minArea || in.hidden() {
		return
	}
	if len(in.areas) >= maxAreas {
		in.crowded = true
		return
	}
	if !st.opaque() {
		a.covers, a.color = false, color{}
	}
	if !st.clip.exact {
		a.covers, a.color = false, color{}
	}
	a.marks = len(in.marks)
	in.areas = append(in.areas, a)
}

// addPicture notes a picture drawn in the unit square.
func (in *interpreter) addPicture(d pdf.Dict) {
	st := &in.state
	b := st.ctm.boxOf(0, 0, 1, 1)
	seen := b.intersect(st.clip.box).intersect(in.paper)
	if !in.hidden() {
		in.pictured += seen.width() * seen.height() / max(1, in.paper.width()*in.paper.height())
	}
	mask, isMask := in.file.Resolve(d["ImageMask"]).(bool)
	in.addArea(area{box: b, picture: true,
		covers: st.ctm.upright() && d["SMask"] == nil && d["Mask"] == nil && !(isMask && mask)})
}

// opaque reports whether what is painted hides what is below it.
func (st *graphicsState) opaque() bool {
	return st.fillAlpha*st.groupAlpha >= solid && !st.blended && !st.masked
}

// hidden reports whether an optional content group is switched off here, or a soft
// mask lets nothing through.
func (in *interpreter) hidden() bool { return in.off > 0 || in.state.erased }

// seen reports whether text at a place, the middle of a glyph, can be seen as far
// as the present state says; what is painted over it later is not known yet. size
// and wide are those of its em, up and along the line.
func (in *interpreter) seen(x, y, size, wide float64) bool {
	st := &in.state
	ownShape := st.text.font.type3 != 0
	// Within half its size around its middle stands all of a glyph.
	if in.hidden() || (size < minSize || wide < minSize) && !ownShape || !st.clip.box.grown(size/2).contains(x, y) {
		return false
	}
	// Filled, stroked, both, neither; then the same with clipping.
	mode := st.text.mode % 4
	if mode == 3 || ownShape {
		return true
	}
	below := in.below(x, y)
	visible := func(p paint, alpha float64) bool {
		return p.space != spaceNone && alpha*st.groupAlpha >= minAlpha && !p.color.like(below)
	}
	return mode != 1 && visible(st.fill, st.fillAlpha) || mode != 0 && visible(st.stroke, st.strokeAlpha)
}

// below is the color that a place of the page has by now.
func (in *interpreter) below(x, y float64) color {
	if in.looks += len(in.areas); in.looks > maxLooks {
		in.crowded = true
	}
	if in.crowded {
		return color{}
	}
	for i := len(in.areas) - 1; i >= 0; i-- {
		if in.areas[i].box.contains(x, y) {
			return in.areas[i].color
		}
	}
	return gray(1)
}

// dropUnseen takes out the glyphs that were shown invisibly or painted over, but
// leaves what is the text of a scan.
func (in *interpreter) dropUnseen(ctx context.Context) error {
	kept := in.marks[:0]
	for i, m := range in.marks {
		if err := in.budget.Spend(ctx, int64(len(in.areas)/64)); err != nil {
			return fmt.Errorf("comparing glyphs with areas: %w", err)
		}
		if m.invisible && in.pictured < scanned || in.covered(i, m) {
			in.unseen += figures(m.text)
			continue
		}
		kept = append(kept, m)
	}
	in.marks = kept
	return nil
}

func figures(text string) int {
	n := 0
	for _, c := range text {
		if c >= '0' && c <= '9' {
			n++
		}
	}
	return n
}

// covered reports whether the i-th glyph was painted over. Pictures that cover
// the page together make what is below them the text of a scan.
func (in *interpreter) covered(i int, m mark) bool {
	for k := len(in.areas) - 1; k >= 0 && in.areas[k].marks > i; k-- {
		a := &in.areas[k]
		if a.covers && !(a.picture && in.pictured >= scanned) && a.box.contains(m.midX, m.midY) &&
			min(a.box.width(), a.box.height()) >= 0.6*m.size {
			return true
		}
	}
	return false
}

// layersOff finds the optional content groups that the file switches off.
func layersOff(f *pdf.File) map[pdf.Ref]bool {
	off := map[pdf.Ref]bool{}
	properties := f.Dict(f.Root()["OCProperties"])
	standard := f.Dict(properties["D"])
	set := func(groups pdf.Object, value bool) {
		for _, g := range f.Array(groups) {
			if ref, ok := g.(pdf.Ref); ok {
				off[f.Place(ref)] = value
			}
		}
	}
	if f.Name(standard["BaseState"]) == "OFF" {
		set(properties["OCGs"], true)
		set(standard["ON"], false)
	}
	set(standard["OFF"], true)
	// Viewers set these by what the groups say of being viewed.
	for _, o := range f.Array(standard["AS"]) {
		usage := f.Dict(o)
		if f.Name(usage["Event"]) != "View" || !slices.Contains(f.Array(usage["Category"]), pdf.Object(pdf.Name("View"))) {
			continue
		}
		for _, g := range f.Array(usage["OCGs"]) {
			view := f.Dict(f.Dict(f.Dict(g)["Usage"])["View"])
			if ref, ok := g.(pdf.Ref); ok && f.Name(view["ViewState"]) != "" {
				off[f.Place(ref)] = f.Name(view["ViewState"]) == "OFF"
			}
		}
	}
	return off
}

// maxExpression bounds the depth of a visibility expression.
const maxExpression = 20

// holds reports whether a visibility expression (And, Or, Not of groups) shows its
// content.
func (in *interpreter) holds(e pdf.Array, depth int) bool {
	if depth > maxExpression || len(e) == 0 || in.file.Spend(len(e)) != nil {
		return true
	}
	operator := in.file.Name(e[0])
	shown := 0
	for _, part := range e[1:] {
		value := false
		if inner := in.file.Array(part); inner != nil {
			value = in.holds(inner, depth+1)
		} else {
			ref, ok := part.(pdf.Ref)
			value = !ok || !in.layersOff[in.file.Place(ref)]
		}
		if value {
			shown++
		}
	}
	switch operator {
	case "And":
		return shown == len(e)-1
	case "Or":
		return shown > 0
	case "Not":
		return shown == 0
	}
	return true
}

// switchedOff reports whether an optional content group, or the groups of a
// membership dictionary together, are not shown.
func (in *interpreter) switchedOff(content pdf.Object) bool {
	if ref, ok := content.(pdf.Ref); ok && in.layersOff[in.file.Place(ref)] {
		return true
	}
	d := in.file.Dict(content)
	if in.file.Name(d["Type"]) != "OCMD" {
		return false
	}
	if e := in.file.Array(d["VE"]); len(e) > 0 {
		return !in.holds(e, 0)
	}
	groups := in.file.Array(d["OCGs"])
	if one, ok := d["OCGs"].(pdf.Ref); ok && groups == nil {
		groups = pdf.Array{one}
	}
	on, off := 0, 0
	if in.file.Spend(len(groups)) != nil {
		return false
	}
	for _, g := range groups {
		if ref, ok := g.(pdf.Ref); ok && in.layersOff[in.file.Place(ref)] {
			off++
		} else {
			on++
		}
	}
	if on+off == 0 {
		return false
	}
	switch in.file.Name(d["P"]) {
	case "AllOn":
		return off > 0
	case "AnyOff":
		return off == 0
	case "AllOff":
		return on > 0
	}
	return on == 0
}
