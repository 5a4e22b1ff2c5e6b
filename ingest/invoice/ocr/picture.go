package ocr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"

	"golang.org/x/image/ccitt"

	"tallyhouse/ingest/invoice/pdf"
	"tallyhouse/ingest/invoice/text"
)

// Bounds of pictures.
const (
	maxPixels      = 60_000_000 // of one picture
	maxPictureData = 128 << 20  // bytes of one, unpacked
	maxCanvas      = 40_000_000 // pixels of a page
	maxSide        = 14_400     // points of a page's side
	pixelsAtOnce   = 32         // pixels that cost one operation
)

// compose draws the pictures of a page on a white canvas of 200 dpi, upright.
func compose(f *pdf.File, page pdf.Page, pictures []text.Picture) (*image.Gray, error) {
	box := page.MediaBox
	x0, y0 := math.Min(box[0], box[2]), math.Min(box[1], box[3])
	width, height := math.Abs(box[2]-box[0]), math.Abs(box[3]-box[1])
	if page.Rotate%180 != 0 {
		width, height = height, width
	}
	const scale = dpi / 72.0
	w, h := int(width*scale), int(height*scale)
	if width > maxSide || height > maxSide || w < 8 || h < 8 || w*h > maxCanvas {
		return nil, fmt.Errorf("page of %.0f by %.0f points: %w", width, height, ErrFailed)
	}
	canvas := image.NewGray(image.Rect(0, 0, w, h))
	for i := range canvas.Pix {
		canvas.Pix[i] = 255
	}
	drawn, problem := 0, error(nil)
	for _, p := range pictures {
		g, err := Decode(f, p.Stream)
		if err == nil {
			err = draw(f, canvas, g, toCanvas(p.Matrix, page.Rotate, x0, y0, width, height, scale))
		}
		if spent := f.Spend(0); spent != nil {
			return nil, spent
		}
		if err != nil {
			problem = err
			continue
		}
		drawn++
	}
	if drawn == 0 {
		return nil, fmt.Errorf("%w: %w", problem, ErrFailed)
	}
	return canvas, nil
}

// toCanvas turns a picture's matrix (unit square to page) into one to the
// canvas: y down, rotated, in pixels.
func toCanvas(m [6]float64, rotate int, x0, y0, width, height, scale float64) [6]float64 {
	point := func(x, y float64) (float64, float64) {
		x, y = x-x0, y-y0
		switch rotate {
		case 90:
			return y * scale, x * scale
		case 180:
			return (width - x) * scale, y * scale
		case 270:
			return (width - y) * scale, (height - x) * scale
		}
		return x * scale, (height - y) * scale
	}
	ox, oy := point(m[4], m[5])
	ax, ay := point(m[0]+m[4], m[1]+m[5])
	bx, by := point(m[2]+m[4], m[3]+m[5])
	return [6]float64{ax - ox, ay - oy, bx - ox, by - oy, ox, oy}
}

// draw sets the picture on the canvas: each pixel of the canvas is the mean of
// the picture's pixels that fall on it, sampled on a grid of up to 4 by 4.
func draw(f *pdf.File, canvas, g *image.Gray, m [6]float64) error {
	det := m[0]*m[3] - m[1]*m[2]
	if !(math.Abs(det) >= 1e-6) { // or no number
		return nil
	}
	pw, ph := g.Rect.Dx(), g.Rect.Dy()
	minX, maxX := span(m[4], m[0], m[2])
	minY, maxY := span(m[5], m[1], m[3])
	grid := int(math.Round(math.Sqrt(float64(pw) * float64(ph) / math.Abs(det))))
	grid = max(1, min(grid, 4))
	from, to := max(0, int(minX)), min(canvas.Rect.Dx(), int(maxX)+1)
	for y := max(0, int(minY)); y < min(canvas.Rect.Dy(), int(maxY)+1); y++ {
		if err := f.Spend(max(0, to-from) * grid * grid / pixelsAtOnce); err != nil {
			return err
		}
		for x := from; x < to; x++ {
			sum, n := 0, 0
			for k := range grid * grid {
				px := float64(x) + (float64(k%grid)+0.5)/float64(grid) - m[4]
				py := float64(y) + (float64(k/grid)+0.5)/float64(grid) - m[5]
				u, v := (px*m[3]-py*m[2])/det, (py*m[0]-px*m[1])/det
				if u < 0 || u >= 1 || v < 0 || v >= 1 {
					continue
				}
				sum += int(g.Pix[int((1-v)*float64(ph)-1e-9)*g.Stride+int(u*float64(pw))])
				n++
			}
			if n > 0 {
				canvas.Pix[y*canvas.Stride+x] = byte(sum / n)
			}
		}
	}
	return nil
}

func span(origin, a, b float64) (low, high float64) {
	low = origin + math.Min(0, a) + math.Min(0, b)
	high = origin + math.Max(0, a) + math.Max(0, b)
	return low, high
}

// Decode unpacks a picture as gray levels.
func Decode(f *pdf.File, s *pdf.Stream) (*image.Gray, error) {
	w, h, err := size(f, s.Dict)
	if err != nil {
		return nil, err
	}
	if err := f.Spend(w * h / pixelsAtOnce); err != nil {
		return nil, err
	}
	data, packed, err := f.UnpackImage(s, maxPictureData)
	if err != nil {
		return nil, err
	}
	switch packed.Name {
	case "":
		return raw(f, s, data, w, h)
	case "DCTDecode", "DCT":
		return photograph(f, data)
	case "CCITTFaxDecode", "CCF":
		return fax(f, packed.Params, data, w, h, invertedSamples(f, s))
	}
	return nil, fmt.Errorf("pictures packed by %s are not read", packed.Name)
}

// size is how many pixels a picture says that it has.
func size(f *pdf.File, d pdf.Dict) (w, h int, err error) {
	w, h = int(f.Int(d["Width"], 0)), int(f.Int(d["Height"], 0))
	if w <= 0 || h <= 0 || w > 1<<16 || h > 1<<16 || w*h > maxPixels {
		return 0, 0, fmt.Errorf("picture of %d by %d pixels", w, h)
	}
	return w, h, nil
}

func photograph(f *pdf.File, data []byte) (*image.Gray, error) {
	head, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("jpeg: %w", err)
	}
	if head.Width*head.Height > maxPixels {
		return nil, fmt.Errorf("jpeg of %d by %d pixels", head.Width, head.Height)
	}
	if err := f.Spend(head.Width * head.Height / pixelsAtOnce); err != nil {
		return nil, err
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("jpeg: %w", err)
	}
	switch v := img.(type) {
	case *image.Gray:
		return v, nil
	case *image.YCbCr:
		// The Y plane is the gray level already.
		return &image.Gray{Pix: v.Y, Stride: v.YStride, Rect: image.Rect(0, 0, v.Rect.Dx(), v.Rect.Dy())}, nil
	}
	b := img.Bounds()
	g := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			g.SetGray(x, y, color.GrayModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.Gray))
		}
	}
	return g, nil
}

func fax(f *pdf.File, params pdf.Dict, data []byte, w, h int, inverted bool) (*image.Gray, error) {
	mode := ccitt.Group3
	if f.Int(params["K"], 0) < 0 {
		mode = ccitt.Group4
	}
	columns := int(f.Int(params["Columns"], 1728))
	if columns <= 0 || columns > 1<<16 || columns*h > maxPixels {
		return nil, fmt.Errorf("fax of %d columns", columns)
	}
	align, _ := f.Resolve(params["EncodedByteAlign"]).(bool)
	black, _ := f.Resolve(params["BlackIs1"]).(bool)
	r := ccitt.NewReader(bytes.NewReader(data), ccitt.MSB, mode, columns, h, &ccitt.Options{Align: align})
	row := (columns + 7) / 8
	if err := f.Spend(row * 8 * h / pixelsAtOnce); err != nil {
		return nil, err
	}
	bits := make([]byte, row*h)
	// A damaged fax gives the rows before the damage.
	n, err := io.ReadFull(r, bits)
	if n < row {
		return nil, fmt.Errorf("fax: %w", err)
	}
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			// Without /BlackIs1 what is coded black is 0, which is shown black; with
			// it, it is 1, which is shown white.
			coded := y*row < n && x < columns && bits[y*row+x/8]>>(7-x%8)&1 == 0
			if coded == (black != inverted) {
				g.Pix[y*g.Stride+x] = 255
			}
		}
	}
	return g, nil
}

// invertedSamples reports whether /Decode turns the samples around.
func invertedSamples(f *pdf.File, s *pdf.Stream) bool {
	d := f.Array(s.Dict["Decode"])
	return len(d) >= 2 && f.Float(d[0], 0) > f.Float(d[1], 1)
}

// raw reads samples of 1, 2, 4 or 8 bits in gray, RGB, CMYK or a palette.
func raw(f *pdf.File, s *pdf.Stream, data []byte, w, h int) (*image.Gray, error) {
	bits := int(f.Int(s.Dict["BitsPerComponent"], 8))
	mask := f.Resolve(s.Dict["ImageMask"]) == true
	if mask {
		bits = 1
	}
	if bits != 1 && bits != 2 && bits != 4 && bits != 8 {
		return nil, fmt.Errorf("picture of %d bits a sample", bits)
	}
	parts, palette := colorSpace(f, s.Dict["ColorSpace"], 0)
	if mask {
		parts = 1
	}
	inverted := invertedSamples(f, s)
	row := (w*parts*bits + 7) / 8
	top := 1<<bits - 1
	g := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		if (y+1)*row > len(data) {
			for i := y * g.Stride; i < len(g.Pix); i++ {
				g.Pix[i] = 255
			}
			break
		}
		line := data[y*row : (y+1)*row]
		for x := range w {
			var v [4]int
			for c := 0; c < parts && c < 4; c++ {
				at := (x*parts + c) * bits
				v[c] = int(line[at/8]) >> (8 - bits - at%8) & top
				if palette == nil {
					v[c] = v[c] * 255 / top
				}
			}
			level := gray(v, parts)
			if palette != nil {
				level = palette[min(v[0], len(palette)-1)]
			}
			if inverted {
				level = 255 - level
			}
			g.Pix[y*g.Stride+x] = level
		}
	}
	return g, nil
}

func gray(v [4]int, parts int) byte {
	switch parts {
	case 3:
		return byte((v[0]*299 + v[1]*587 + v[2]*114) / 1000)
	case 4:
		return byte((255 - v[3]) * (255 - (v[0]*299+v[1]*587+v[2]*114)/1000) / 255)
	}
	return byte(v[0])
}

// colorSpace returns the samples per pixel and, for indexed ones, the gray
// levels of the palette.
func colorSpace(f *pdf.File, o pdf.Object, depth int) (parts int, palette []byte) {
	switch v := f.Resolve(o).(type) {
	case pdf.Name:
		switch v {
		case "DeviceRGB", "RGB", "CalRGB":
			return 3, nil
		case "DeviceCMYK", "CMYK":
			return 4, nil
		}
	case pdf.Array:
		if len(v) == 0 || depth > 3 {
			break
		}
		switch f.Name(v[0]) {
		case "CalRGB", "Lab":
			return 3, nil
		case "ICCBased":
			if len(v) > 1 {
				if n := int(f.Int(f.Dict(v[1])["N"], 1)); n == 3 || n == 4 {
					return n, nil
				}
			}
		case "Indexed", "I":
			if len(v) > 3 {
				return 1, indexed(f, v, depth)
			}
		}
	}
	return 1, nil
}

func indexed(f *pdf.File, v pdf.Array, depth int) []byte {
	base, _ := colorSpace(f, v[1], depth+1)
	var table []byte
	switch t := f.Resolve(v[3]).(type) {
	case pdf.String:
		table = []byte(t)
	case *pdf.Stream:
		table, _ = f.Unpack(t, 4096)
	}
	var out []byte
	for i := 0; i+base <= len(table) && len(out) < 256; i += base {
		var c [4]int
		for k := range base {
			c[k] = int(table[i+k])
		}
		out = append(out, gray(c, base))
	}
	if len(out) == 0 {
		out = []byte{0}
	}
	return out
}
