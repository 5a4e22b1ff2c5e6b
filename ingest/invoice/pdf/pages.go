package pdf

import (
	"fmt"
	"iter"
)

// maxTreeDepth bounds page and name trees.
const maxTreeDepth = 64

// Page is one page with its inherited attributes resolved.
type Page struct {
	Dict      Dict
	Resources Dict
	MediaBox  [4]float64
	Rotate    int // 0, 90, 180 or 270, clockwise
}

// ErrTooManyPages is returned with the pages read so far.
var ErrTooManyPages = fmt.Errorf("more pages than allowed")

// Pages walks the page tree, at most limit pages; a node that comes twice is
// read once.
func (f *File) Pages(limit int) ([]Page, error) {
	var pages []Page
	seen := map[Ref]bool{}
	var walk func(node Object, inherited Dict, depth int) error
	walk = func(node Object, inherited Dict, depth int) error {
		if err := f.cancel(); err != nil {
			return err
		}
		if ref, ok := node.(Ref); ok {
			place := f.Place(ref)
			if seen[place] {
				return nil
			}
			seen[place] = true
		}
		d := f.Dict(node)
		if d == nil || depth > maxTreeDepth {
			return nil
		}
		own := Dict{}
		for _, k := range []Name{"Resources", "MediaBox", "CropBox", "Rotate"} {
			own[k] = inherited[k]
			if v := d[k]; v != nil {
				own[k] = v
			}
		}
		kids := f.Array(d["Kids"])
		if kids == nil || f.Name(d["Type"]) == "Page" {
			if len(pages) >= limit {
				return ErrTooManyPages
			}
			pages = append(pages, f.page(d, own))
			return nil
		}
		for _, kid := range kids {
			if err := walk(kid, own, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk(f.Root()["Pages"], Dict{}, 0)
	if err != nil {
		err = fmt.Errorf("walking pages: %w", err)
	}
	return pages, err
}

func (f *File) page(d, own Dict) Page {
	p := Page{Dict: d, Resources: f.Dict(own["Resources"]), MediaBox: [4]float64{0, 0, 612, 792}}
	box := f.Array(own["CropBox"])
	if len(box) != 4 {
		box = f.Array(own["MediaBox"])
	}
	if len(box) == 4 {
		for i := range box {
			p.MediaBox[i] = f.Float(box[i], p.MediaBox[i])
		}
	}
	p.Rotate = ((int(f.Int(own["Rotate"], 0))%360 + 360) % 360) / 90 * 90
	return p
}

// Content yields the page's content streams one by one, each at most limit
// bytes. A stream that cannot be unpacked is left out; an error is that of the
// budget and ends them.
func (f *File) Content(p Page, limit int64) iter.Seq2[[]byte, error] {
	list := f.Array(p.Dict["Contents"])
	if list == nil {
		list = Array{p.Dict["Contents"]}
	}
	return func(yield func([]byte, error) bool) {
		for _, o := range list {
			s := f.Stream(o)
			var part []byte
			if s != nil {
				part, _ = f.Unpack(s, limit) // what can't be unpacked is nothing
			}
			if err := f.cancel(); err != nil {
				yield(nil, err)
				return
			}
			if s != nil && !yield(part, nil) {
				return
			}
		}
	}
}

// maxName bounds the name of an embedded file, in bytes.
const maxName = 255

// Attachment is a file embedded in the PDF.
type Attachment struct {
	Name   string
	Spec   Dict // its file specification
	Stream *Stream
}

// Attachments lists the embedded files of Root/Names/EmbeddedFiles, then those
// of Root/AF, each stream once and at most limit of them.
func (f *File) Attachments(limit int) []Attachment {
	var out []Attachment
	seen := map[*Stream]bool{}
	add := func(name string, spec Object) {
		if f.cancel() != nil {
			return
		}
		d := f.Dict(spec)
		files := f.Dict(d["EF"])
		for _, k := range []Name{"UF", "F"} {
			if s, ok := f.Resolve(d[k]).(String); ok && name == "" {
				name = Text(s)
			}
		}
		for _, k := range []Name{"UF", "F"} {
			if s := f.Stream(files[k]); s != nil && !seen[s] && len(out) < limit {
				seen[s] = true
				out = append(out, Attachment{Name: name[:min(len(name), maxName)], Spec: d, Stream: s})
				return
			}
		}
	}
	nodes := map[Ref]bool{}
	var walk func(node Object, depth int)
	walk = func(node Object, depth int) {
		if ref, ok := node.(Ref); ok {
			place := f.Place(ref)
			if nodes[place] {
				return
			}
			nodes[place] = true
		}
		d := f.Dict(node)
		if d == nil || depth > maxTreeDepth || len(out) >= limit || f.cancel() != nil {
			return
		}
		names := f.Array(d["Names"])
		for i := 0; i+1 < len(names) && len(out) < limit; i += 2 {
			name, _ := f.Resolve(names[i]).(String)
			add(Text(name), names[i+1])
		}
		for _, kid := range f.Array(d["Kids"]) {
			walk(kid, depth+1)
		}
	}
	walk(f.Dict(f.Root()["Names"])["EmbeddedFiles"], 0)
	af := f.Root()["AF"]
	if list := f.Array(af); list != nil {
		for _, spec := range list {
			add("", spec)
		}
	} else {
		add("", af)
	}
	return out
}
