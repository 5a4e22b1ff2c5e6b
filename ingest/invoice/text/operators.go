package text

import "tallyhouse/ingest/invoice/pdf"

// operator follows an operator that neither shows an object nor begins an inline image. One that says nothing about what is read
// and seen does nothing.
func (in *interpreter) operator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) {
	_ = in.paintOperator(op, args, resources) || in.stateOperator(op, args, resources) || in.textStateOperator(op, args, resources) ||
		in.textOperator(op, args) || in.levelOperator(op, args, resources)
}

// stateOperator follows what keeps and changes the graphics state. It reports whether op was about that.
func (in *interpreter) stateOperator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) bool {
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
		in.state.ctm = matrixOf(args).after(in.state.ctm)
	case "gs":
		if name, ok := first(args).(pdf.Name); ok {
			in.setState(in.file.Dict(in.file.Dict(resources["ExtGState"])[name]))
		}
	default:
		return false
	}
	return true
}

// textStateOperator follows what says how text is shown. It reports whether op was about that.
func (in *interpreter) textStateOperator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) bool {
	t := &in.state.text
	switch op {
	case "Tf":
		if len(args) >= 2 {
			if name, ok := args[0].(pdf.Name); ok {
				t.font = in.font(resources, name)
			}
			t.size = number(args, 1)
		}
	case "Tr":
		t.mode = int(number(args, 0))
	case "Tc":
		t.charSpace = number(args, 0)
	case "Tw":
		t.wordSpace = number(args, 0)
	case "Tz":
		t.scale = number(args, 0) / 100
	case "TL":
		t.leading = number(args, 0)
	case "Ts":
		t.rise = number(args, 0)
	default:
		return false
	}
	return true
}

// textOperator follows what moves and shows text. It reports whether op was about that.
func (in *interpreter) textOperator(op pdf.Keyword, args []pdf.Object) bool {
	t := &in.state.text
	switch op {
	case "BT":
		in.tm, in.line = identity, identity
	case "Td":
		in.move(number(args, 0), number(args, 1))
	case "TD":
		t.leading = -number(args, 1)
		in.move(number(args, 0), number(args, 1))
	case "Tm":
		in.tm = matrixOf(args)
		in.line = in.tm
	case "T*":
		in.move(0, -t.leading)
	case "Tj":
		in.show(shown(args, 0))
	case "'":
		in.move(0, -t.leading)
		in.show(shown(args, 0))
	case "\"":
		t.wordSpace, t.charSpace = number(args, 0), number(args, 1)
		in.move(0, -t.leading)
		in.show(shown(args, 2))
	case "TJ":
		list, _ := first(args).(pdf.Array)
		for _, item := range list {
			if v, ok := pdf.Number(item); ok {
				in.advance(-v / 1000 * t.size * t.scale)
			} else if v, ok := item.(pdf.String); ok {
				in.show(string(v))
			}
		}
	default:
		return false
	}
	return true
}

// levelOperator follows marked content. It reports whether op was about that.
func (in *interpreter) levelOperator(op pdf.Keyword, args []pdf.Object, resources pdf.Dict) bool {
	switch op {
	case "BMC":
		in.begin(nil, nil, resources)
	case "BDC":
		if len(args) >= 2 {
			in.begin(args[0], args[1], resources)
		} else {
			in.begin(nil, nil, resources)
		}
	case "EMC":
		in.end()
	default:
		return false
	}
	return true
}

func first(args []pdf.Object) pdf.Object {
	if len(args) == 0 {
		return nil
	}
	return args[0]
}

// number is an operand, 0 where it is none or missing.
func number(args []pdf.Object, i int) float64 {
	if i >= len(args) {
		return 0
	}
	v, _ := pdf.Number(args[i])
	return v
}

// shown is an operand that is text in the codes of a font, "" where it is none or missing.
func shown(args []pdf.Object, i int) string {
	if i >= len(args) {
		return ""
	}
	v, _ := args[i].(pdf.String)
	return string(v)
}

// matrixOf are six operands.
func matrixOf(args []pdf.Object) (m matrix) {
	for i := range m {
		m[i] = number(args, i)
	}
	return m
}

func (in *interpreter) move(x, y float64) {
	in.line = matrix{1, 0, 0, 1, x, y}.after(in.line)
	in.tm = in.line
}

func (in *interpreter) advance(x float64) {
	in.tm = matrix{1, 0, 0, 1, x, 0}.after(in.tm)
}

// begin opens a level of marked content with its properties, which may be named.
func (in *interpreter) begin(tag, properties pdf.Object, resources pdf.Dict) {
	if len(in.levels) >= maxStateDepth {
		return
	}
	if name, ok := properties.(pdf.Name); ok {
		properties = in.file.Dict(resources["Properties"])[name]
	}
	l := level{off: tag == pdf.Name("OC") && in.switchedOff(properties)}
	if s, ok := in.file.Resolve(in.file.Dict(properties)["ActualText"]).(pdf.String); ok {
		l.actual, l.replaced = pdf.Text(s), true
	}
	if l.off {
		in.off++
	}
	in.levels = append(in.levels, l)
}

func (in *interpreter) end() {
	k := len(in.levels)
	if k == 0 {
		return
	}
	if in.levels[k-1].off {
		in.off--
	}
	in.levels = in.levels[:k-1]
}

// replace gives the text to record for a glyph under /ActualText: the whole of
// it at the first glyph, nothing at the others. Figures are not replaced where the
// glyphs have a text of their own: nobody sees others than are drawn.
func (in *interpreter) replace(text string) string {
	for i := range in.levels {
		if l := &in.levels[i]; l.replaced {
			if l.shown {
				return ""
			}
			if text != "" && figures(l.actual) > 0 {
				l.replaced = false
				return text
			}
			l.shown = true
			return l.actual
		}
	}
	return text
}
