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
	size             float64
}

type textState struct {
	font                                *font
	size, charSpace, wordSpace, leading float64
	scale, rise                         float64
}

type graphicsState struct {
	ctm  matrix
	text textState
}

// interpreter runs content streams and collects the glyphs they show.
type interpreter struct {
	file   *pdf.File
	budget *pdf.Budget
	fonts  map[pdf.Ref]*font
	marks  []mark
	// unmapped counts glyphs whose character no table gives.
	unmapped int
	pictures []Picture

	state      graphicsState
	stack      []graphicsState
	tm, line   matrix
	replaced   []replacement
	formsAbove map[pdf.Ref]bool
}

// replacement is a marked-content level; actual replaces its glyphs' text.
type replacement struct {
	actual string
	active bool
	shown  bool
}

func (in *interpreter) page(ctx context.Context, p pdf.Page) error {
	in.state = graphicsState{ctm: identity, text: textState{scale: 1}}
	in.stack, in.replaced, in.formsAbove = in.stack[:0], in.replaced[:0], map[pdf.Ref]bool{}
	parts, err := in.file.Content(p, maxContent)
	if err != nil {
		return fmt.Errorf("unpacking content: %w", err)
	}
	// Parts of a contents array are one stream; read one by one, a damaged part
	// does not take the others with it. Operands never span parts in practice.
	for _, part := range parts {
		if err := in.run(ctx, part, p.Resources, 0); err != nil {
			return err
		}
	}
	return nil
}

func (in *interpreter) run(ctx context.Context, content []byte, resources pdf.Dict, depth int) error {
	l := pdf.NewLexer(content)
	operands := make([]pdf.Object, 0, 16)
	for {
		if err := in.budget.Spend(ctx, 1); err != nil {
			return fmt.Errorf("interpreting content: %w", err)
		}
		o, err := l.Next()
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
			l.SkipInlineImage()
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

func (in *interpreter) operator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) {
	n := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		v, _ := pdf.Number(args[i])
		return v
	}
	s := func(i int) string {
		if i < 0 || i >= len(args) {
			return ""
		}
		v, _ := args[i].(pdf.String)
		return string(v)
	}
	t := &in.state.text
	switch op {
	case "q":
		if len(in.stack) < maxStateDepth {
			in.stack = append(in.stack, in.state)
		}
	case "Q":
		if k := len(in.stack); k > 0 {
			in.state, in.stack = in.stack[k-1], in.stack[:k-1]
		}
	case "cm":
		in.state.ctm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}.after(in.state.ctm)
	case "BT":
		in.tm, in.line = identity, identity
	case "Tf":
		if len(args) >= 2 {
			if name, ok := args[0].(pdf.Name); ok {
				t.font = in.font(resources, name)
			}
			t.size = n(1)
		}
	case "gs":
		if name, ok := first(args).(pdf.Name); ok {
			if f := in.file.Array(in.file.Dict(in.file.Dict(resources["ExtGState"])[name])["Font"]); len(f) == 2 {
				t.font, t.size = in.loadFont(f[0]), in.file.Float(f[1], t.size)
			}
		}
	case "Tc":
		t.charSpace = n(0)
	case "Tw":
		t.wordSpace = n(0)
	case "Tz":
		t.scale = n(0) / 100
	case "TL":
		t.leading = n(0)
	case "Ts":
		t.rise = n(0)
	case "Td":
		in.move(n(0), n(1))
	case "TD":
		t.leading = -n(1)
		in.move(n(0), n(1))
	case "Tm":
		in.tm = matrix{n(0), n(1), n(2), n(3), n(4), n(5)}
		in.line = in.tm
	case "T*":
		in.move(0, -t.leading)
	case "Tj":
		in.show(s(0))
	case "'":
		in.move(0, -t.leading)
		in.show(s(0))
	case "\"":
		t.wordSpace, t.charSpace = n(0), n(1)
		in.move(0, -t.leading)
		in.show(s(2))
	case "TJ":
		list, _ := first(args).(pdf.Array)
		for _, item := range list {
			if v, ok := pdf.Number(item); ok {
				in.advance(-v / 1000 * t.size * t.scale)
			} else if v, ok := item.(pdf.String); ok {
				in.show(string(v))
			}
		}
	case "BMC":
		in.begin(nil)
	case "BDC":
		if len(args) >= 2 {
			in.begin(in.properties(args[1], resources))
		} else {
			in.begin(nil)
		}
	case "EMC":
		in.end()
	}
}

func first(args []pdf.Object) pdf.Object {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

func (in *interpreter) move(x, y float64) {
	in.line = matrix{1, 0, 0, 1, x, y}.after(in.line)
	in.tm = in.line
}

func (in *interpreter) advance(x float64) {
	in.tm = matrix{1, 0, 0, 1, x, 0}.after(in.tm)
}

func (in *interpreter) properties(o pdf.Object, resources pdf.Dict) pdf.Dict {
	if name, ok := o.(pdf.Name); ok {
		return in.file.Dict(in.file.Dict(resources["Properties"])[name])
	}
	return in.file.Dict(o)
}

func (in *interpreter) begin(properties pdf.Dict) {
	if len(in.replaced) >= maxStateDepth {
		return
	}
	r := replacement{}
	if s, ok := in.file.Resolve(properties["ActualText"]).(pdf.String); ok {
		r = replacement{actual: pdf.Text(s), active: true}
	}
	in.replaced = append(in.replaced, r)
}

func (in *interpreter) end() {
	if k := len(in.replaced); k > 0 {
		in.replaced = in.replaced[:k-1]
	}
}

// replace gives the text to record for a glyph under /ActualText: the whole of
// it at the first glyph, nothing at the others.
func (in *interpreter) replace(text string) string {
	for i := range in.replaced {
		if r := &in.replaced[i]; r.active {
			if r.shown {
				return ""
			}
			r.shown = true
			return r.actual
		}
	}
	return text
}

func (in *interpreter) show(s string) {
	t := &in.state.text
	if t.font == nil {
		return
	}
	t.font.decode(s, func(g glyph) {
		width := g.width*t.size + t.charSpace
		if g.space {
			width += t.wordSpace
		}
		at := matrix{t.size * t.scale, 0, 0, t.size, 0, t.rise}.after(in.tm).after(in.state.ctm)
		text := in.replace(g.text)
		if g.text == "" && text == "" && t.font.unmapped {
			in.unmapped++
		}
		if text != "" && len(in.marks) <= maxGlyphs {
			in.marks = append(in.marks, mark{
				text: text, x: at[4], y: at[5],
				endX: at[4] + g.width*at[0], endY: at[5] + g.width*at[1],
				size: math.Hypot(at[2], at[3]),
			})
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
	if isRef {
		in.fonts[ref] = ft
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
	if in.file.Name(s.Dict["Subtype"]) == "Image" {
		if len(in.pictures) < maxPictures {
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
	saved, stack := in.state, len(in.stack)
	if m := in.file.Array(s.Dict["Matrix"]); len(m) == 6 {
		var form matrix
		for i := range m {
			form[i] = in.file.Float(m[i], identity[i])
		}
		in.state.ctm = form.after(in.state.ctm)
	}
	in.formsAbove[s.ID()] = true
	err = in.run(ctx, content, own, depth+1)
	delete(in.formsAbove, s.ID())
	in.state, in.stack = saved, in.stack[:min(stack, len(in.stack))]
	return err
}
