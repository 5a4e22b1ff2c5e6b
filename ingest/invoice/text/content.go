package text

import (
	"context"
	"errors"
	"fmt"
	"math"

	"tallyhouse/ingest/invoice/pdf"
)

// Bounds of one page's content.
const (
	maxContent    = 32 << 20 // bytes of one unpacked content stream
	maxFormDepth  = 12       // forms within forms
	maxStateDepth = 256      // q without Q
	maxOperands   = 4096
	maxGlyphs     = 400_000 // of one document
	maxPictures   = 2048    // of one page
)

// matrix is a PDF transformation [a b c d e f].
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// after returns m applied first, then n.
func (m matrix) after(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// mark is one shown glyph on the page, in device space.
type mark struct {
	text             string
	x, y, endX, endY float64
	midX, midY       float64
	size             float64
	invisible        bool // shown by a rendering mode without ink
}

type textState struct {
	font                                *font
	size, charSpace, wordSpace, leading float64
	scale, rise                         float64
	mode                                int // how glyphs are rendered (Tr)
}

type graphicsState struct {
	ctm                                matrix
	text                               textState
	clip                               clip
	fill, stroke                       paint
	fillAlpha, strokeAlpha, groupAlpha float64
	blended, masked                    bool // other than painted over what is below; by a soft mask
	erased                             bool // by a soft mask that lets nothing through
	lineWidth                          float64
	dashed                             bool
}

// interpreter runs content streams and collects the glyphs they show.
type interpreter struct {
	file   *pdf.File
	budget *pdf.Budget
	fonts  map[pdf.Ref]*font
	loose  []*font // those that are no objects of their own
	marks  []mark
	// unmapped counts glyphs whose character no table gives.
	unmapped int
	pictures []Picture
	// doubtful counts figures of fonts that are not compared with what they say.
	doubtful int
	// unseen counts figures that nobody sees.
	unseen int

	// Of the page: its box, the areas painted so far, how often glyphs were compared
	// with them, whether they are too many, and the part of it that pictures cover.
	paper    box
	areas    []area
	looks    int
	crowded  bool
	pictured float64
	path     path
	tiles    []tile

	layersOff map[pdf.Ref]bool
	off       int // levels of marked content that are switched off

	state      graphicsState
	stack      []graphicsState
	tm, line   matrix
	levels     []level
	formsAbove map[pdf.Ref]bool
}

// level is a level of marked content. If it is replaced, actual stands for the
// text of its glyphs.
type level struct {
	actual   string
	replaced bool
	shown    bool // actual was given out
	off      bool // it is optional content that is switched off
}

func (in *interpreter) page(ctx context.Context, p pdf.Page) error {
	in.paper = identity.boxOf(p.MediaBox[0], p.MediaBox[1], p.MediaBox[2], p.MediaBox[3])
	black := paint{space: spaceGray, color: gray(0)}
	in.state = graphicsState{ctm: identity, text: textState{scale: 1}, clip: clip{box: in.paper, exact: true},
		fill: black, stroke: black, fillAlpha: 1, strokeAlpha: 1, groupAlpha: 1, lineWidth: 1}
	in.stack, in.levels, in.formsAbove = in.stack[:0], in.levels[:0], map[pdf.Ref]bool{}
	in.areas, in.looks, in.crowded, in.pictured, in.path, in.off = in.areas[:0], 0, false, 0, path{}, 0
	in.tiles = in.tiles[:0]
	// Parts of a contents array are one stream; read one by one, a damaged part
	// does not take the others with it. Operands never span parts in practice.
	for part, err := range in.file.Content(p, maxContent) {
		if err != nil {
			return fmt.Errorf("unpacking content: %w", err)
		}
		if err := in.run(ctx, part, p.Resources, 0); err != nil {
			return err
		}
	}
	return in.dropUnseen(ctx)
}

func (in *interpreter) run(ctx context.Context, content []byte, resources pdf.Dict, depth int) error {
	l := pdf.NewLexer(content)
	operands := make([]pdf.Object, 0, 16)
	for {
		from := l.Offset()
		o, err := l.Next()
		// A long string, comment or inline image costs more than an operator.
		if spent := in.budget.Spend(ctx, int64(1+(l.Offset()-from)/64)); spent != nil {
			return fmt.Errorf("interpreting content: %w", spent)
		}
		if errors.Is(err, pdf.ErrSyntax) {
			operands = operands[:0]
			continue
		}
		if err != nil {
			return nil
		}
		op, isOperator := o.(pdf.Keyword)
		if !isOperator {
			if len(operands) < maxOperands {
				operands = append(operands, o)
			}
			continue
		}
		switch op {
		case "ID":
			begin := l.Offset()
			l.SkipInlineImage()
			if err := in.budget.Spend(ctx, int64((l.Offset()-begin)/64)); err != nil {
				return fmt.Errorf("skipping an inline image: %w", err)
			}
			in.addArea(area{box: in.state.ctm.boxOf(0, 0, 1, 1)})
		case "Do":
			if err := in.object(ctx, operands, resources, depth); err != nil {
				return err
			}
		default:
			in.operator(op, operands, resources)
		}
		if len(in.marks) > maxGlyphs {
			return fmt.Errorf("interpreting content: %d glyphs: %w", len(in.marks), pdf.ErrBudget)
		}
		operands = operands[:0]
	}
}

func (in *interpreter) show(s string) {
	t := &in.state.text
	// A glyph is compared with the areas painted so far.
	if t.font == nil || in.file.Spend(len(s)*(1+len(in.areas)/64)) != nil {
		return
	}
	t.font.decode(s, func(g glyph) {
		width := g.width*t.size + t.charSpace
		if g.space {
			width += t.wordSpace
		}
		at := matrix{t.size * t.scale, 0, 0, t.size, 0, t.rise}.after(in.tm).after(in.state.ctm)
		if t.font.toUnicode != nil && len(g.text) == 1 && figures(g.text) == 1 {
			if t.font.unchecked {
				in.doubtful++
			} else {
				t.font.figures[figure{g.code, g.id, g.text[0]}]++
			}
		}
		text := in.replace(g.text)
		if g.text == "" && text == "" && t.font.unmapped {
			in.unmapped++
		}
		if text != "" && len(in.marks) <= maxGlyphs {
			m := mark{
				text: text, x: at[4], y: at[5],
				endX: at[4] + g.width*at[0], endY: at[5] + g.width*at[1],
				size: math.Hypot(at[2], at[3]), invisible: t.mode%4 == 3,
			}
			// Letters and figures reach about that far above their baseline.
			m.midX, m.midY = (m.x+m.endX)/2+0.3*at[2], (m.y+m.endY)/2+0.3*at[3]
			if !g.blank && in.seen(m.midX, m.midY, m.size, math.Hypot(at[0], at[1])) {
				in.marks = append(in.marks, m)
			} else {
				in.unseen += figures(text)
			}
		}
		in.advance(width * t.scale)
	})
}

func (in *interpreter) font(resources pdf.Dict, name pdf.Name) *font {
	return in.loadFont(in.file.Dict(resources["Font"])[name])
}

func (in *interpreter) loadFont(o pdf.Object) *font {
	ref, isRef := o.(pdf.Ref)
	if isRef {
		ref = in.file.Place(ref)
		if ft, ok := in.fonts[ref]; ok {
			return ft
		}
	}
	d := in.file.Dict(o)
	if d == nil {
		return nil
	}
	ft := readFont(in.file, d)
	switch {
	case isRef:
		in.fonts[ref] = ft
	case len(in.loose) < maxLoose:
		in.loose = append(in.loose, ft)
	default:
		ft.unchecked = true
	}
	return ft
}

func (in *interpreter) object(ctx context.Context, args []pdf.Object, resources pdf.Dict, depth int) error {
	name, ok := first(args).(pdf.Name)
	if !ok || depth >= maxFormDepth {
		return nil
	}
	s := in.file.Stream(in.file.Dict(resources["XObject"])[name])
	if s == nil {
		return nil
	}
	if s.Dict["OC"] != nil && in.switchedOff(s.Dict["OC"]) {
		in.off++
		defer func() { in.off-- }()
	}
	if in.file.Name(s.Dict["Subtype"]) == "Image" {
		in.addPicture(s.Dict)
		if len(in.pictures) < maxPictures && !in.hidden() {
			in.pictures = append(in.pictures, Picture{Stream: s, Matrix: in.state.ctm})
		}
		return nil
	}
	if in.file.Name(s.Dict["Subtype"]) != "Form" || in.formsAbove[s.ID()] {
		return nil
	}
	content, err := in.file.Unpack(s, maxContent)
	if err != nil {
		return in.budget.Err()
	}
	own := in.file.Dict(s.Dict["Resources"])
	if own == nil {
		own = resources
	}
	saved, stack, levels := in.state, len(in.stack), len(in.levels)
	if m := in.file.Array(s.Dict["Matrix"]); len(m) == 6 {
		var form matrix
		for i := range m {
			form[i] = in.file.Float(m[i], identity[i])
		}
		in.state.ctm = form.after(in.state.ctm)
	}
	if b := in.file.Array(s.Dict["BBox"]); len(b) == 4 {
		inside := in.state.ctm.boxOf(in.file.Float(b[0], 0), in.file.Float(b[1], 0), in.file.Float(b[2], 0),
			in.file.Float(b[3], 0))
		in.state.clip = in.state.clip.within(inside, in.state.ctm.upright())
	}
	if s.Dict["Group"] != nil {
		// A group is painted as a whole in the state outside, and begins anew inside.
		st := &in.state
		st.groupAlpha, st.fillAlpha, st.strokeAlpha = st.groupAlpha*st.fillAlpha, 1, 1
	}
	in.formsAbove[s.ID()] = true
	err = in.run(ctx, content, own, depth+1)
	delete(in.formsAbove, s.ID())
	in.state, in.stack = saved, in.stack[:min(stack, len(in.stack))]
	for len(in.levels) > levels {
		in.end() // the form left it open
	}
	return err
}
