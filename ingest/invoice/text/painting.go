package text

import (
	"errors"
	"strings"

	"tallyhouse/ingest/invoice/pdf"
)

// paintOperator follows paths, colors and clipping, as far as they decide what of
// the text is seen. It reports whether op was one of theirs.
func (in *interpreter) paintOperator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) bool {
	if in.pathOperator(op, args) {
		return true
	}
	st := &in.state
	switch op {
	case "w":
		st.lineWidth = number(args, 0)
	case "d":
		dashes, _ := first(args).(pdf.Array)
		st.dashed = len(dashes) > 0
	case "f", "F", "f*":
		in.paintPath(true, false)
	case "B", "B*", "b", "b*":
		in.paintPath(true, true)
	case "S", "s":
		in.paintPath(false, true)
	case "n":
		in.paintPath(false, false)
	case "sh":
		in.addArea(area{box: st.clip.box})
	case "g", "rg", "k", "cs", "sc", "scn":
		in.setPaint(&st.fill, op, args, resources)
	case "G", "RG", "K", "CS", "SC", "SCN": // the same for strokes
		in.setPaint(&st.stroke, pdf.Keyword(strings.ToLower(string(op))), args, resources)
	default:
		return false
	}
	return true
}

// pathOperator follows the making of a path. It reports whether op was about that.
func (in *interpreter) pathOperator(op pdf.Keyword, args []pdf.Object) bool {
	ctm := in.state.ctm
	var v [6]float64
	for i := range min(len(args), len(v)) {
		v[i], _ = pdf.Number(args[i])
	}
	curve := func(points int) {
		var all [3][2]float64
		for i := range points {
			all[i][0], all[i][1] = ctm.point(v[2*i], v[2*i+1])
		}
		in.path.curve(all[:points]...)
	}
	switch op {
	case "m":
		in.path.move(ctm.point(v[0], v[1]))
	case "l":
		in.path.line(ctm.point(v[0], v[1]))
	case "c":
		curve(3)
	case "v", "y":
		curve(2)
	case "h":
	case "re":
		in.path.move(ctm.point(v[0], v[1]))
		in.path.line(ctm.point(v[0]+v[2], v[1]))
		in.path.line(ctm.point(v[0]+v[2], v[1]+v[3]))
		in.path.line(ctm.point(v[0], v[1]+v[3]))
	case "W", "W*":
		in.path.clips = true
	default:
		return false
	}
	return true
}

// setPaint follows an operator that sets a color or its space.
func (in *interpreter) setPaint(p *paint, op pdf.Keyword, args []pdf.Object, resources pdf.Dict) {
	switch op {
	case "g":
		p.space = spaceGray
	case "rg":
		p.space = spaceRGB
	case "k":
		p.space = spaceCMYK
	case "cs":
		p.space = in.spaceOf(first(args), resources)
		p.color = p.space.initial()
		return
	}
	var parts []float64
	for _, a := range args {
		if n, ok := pdf.Number(a); ok {
			parts = append(parts, n)
		}
	}
	p.color = p.space.colorOf(parts)
}

// setState follows the entries of a graphics state dictionary.
func (in *interpreter) setState(d pdf.Dict) {
	st := &in.state
	if f := in.file.Array(d["Font"]); len(f) == 2 {
		st.text.font, st.text.size = in.loadFont(f[0]), in.file.Float(f[1], st.text.size)
	}
	st.fillAlpha = in.file.Float(d["ca"], st.fillAlpha)
	st.strokeAlpha = in.file.Float(d["CA"], st.strokeAlpha)
	if mode := in.file.Resolve(d["BM"]); mode != nil {
		if list := in.file.Array(mode); len(list) > 0 {
			mode = list[0]
		}
		name := in.file.Name(mode)
		st.blended = name != "Normal" && name != "Compatible"
	}
	if mask := in.file.Resolve(d["SMask"]); mask != nil {
		st.masked = in.file.Name(mask) != "None"
		st.erased = st.masked && in.masksAll(in.file.Dict(mask))
	}
}

// masksAll reports whether a soft mask lets nothing through: its group paints nothing.
func (in *interpreter) masksAll(mask pdf.Dict) bool {
	group := in.file.Stream(mask["G"])
	if group == nil || in.file.Resolve(mask["BC"]) != nil || in.file.Resolve(mask["TR"]) != nil {
		return false // what is behind it may let all through
	}
	return paintsNothing(in.file, group)
}

// maxSketch bounds the content that is looked at for anything that it paints, in bytes.
const maxSketch = 64 << 10

// paintsNothing reports whether a content stream has no operator that paints.
func paintsNothing(f *pdf.File, s *pdf.Stream) bool {
	content, err := f.Unpack(s, maxSketch)
	if err != nil || f.Spend(len(content)/16) != nil {
		return false
	}
	l := pdf.NewLexer(content)
	for {
		o, err := l.Next()
		if errors.Is(err, pdf.ErrSyntax) {
			continue
		}
		if err != nil {
			return true
		}
		switch op, _ := o.(pdf.Keyword); op {
		case "f", "F", "f*", "B", "B*", "b", "b*", "S", "s", "sh", "Do", "ID", "Tj", "TJ", "'", "\"":
			return false
		}
	}
}
