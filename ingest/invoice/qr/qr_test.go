package qr

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// symbols are codes that another program has drawn: the text in the first line, the modules below it.
func symbols(t testing.TB) map[string]struct {
	text    string
	modules matrix
} {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no codes: %v", err)
	}
	out := map[string]struct {
		text    string
		modules matrix
	}{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(data)), "\n")
		var text string
		if err := json.Unmarshal([]byte(lines[0]), &text); err != nil {
			t.Fatal(err)
		}
		m := newMatrix(len(lines) - 1)
		for y, line := range lines[1:] {
			for x, c := range line {
				m.dark[y*m.size+x] = c == '#'
			}
		}
		out[strings.TrimSuffix(filepath.Base(file), ".txt")] = struct {
			text    string
			modules matrix
		}{text, m}
	}
	return out
}

// drawn sets a code into a picture, each module as wide as some pixels, with a margin; turned counts quarter turns.
func drawn(m matrix, width, margin, turned int) *image.Gray {
	side := m.size*width + 2*margin
	g := image.NewGray(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			u, v := x, y
			for range turned {
				u, v = v, side-1-u
			}
			u, v = u-margin, v-margin
			dark := u >= 0 && v >= 0 && u < m.size*width && v < m.size*width && m.at(u/width, v/width)
			if !dark {
				g.Pix[y*g.Stride+x] = 255
			}
		}
	}
	return g
}

// Given codes of all levels and several versions as programs set them, then their text is found, upright or turned.
func TestCodesOfOtherPrograms(t *testing.T) {
	for name, s := range symbols(t) {
		for turned := range 4 {
			for _, width := range []int{1, 3, 8} {
				if got := Find(drawn(s.modules, width, 4*width, turned)); len(got) != 1 || got[0] != s.text {
					t.Errorf("%s, turned %d times, modules of %d pixels: %.80q, want %.80q", name, turned, width, got, s.text)
				}
			}
		}
	}
}

// Given a cross in the middle of a QR bill's code, as Switzerland wants it, and spots elsewhere, then the code is mended.
func TestTheSwissCrossIsMended(t *testing.T) {
	s := symbols(t)["qr-bill-m"]
	m := newMatrix(s.modules.size)
	copy(m.dark, s.modules.dark)
	middle := m.size / 2
	for y := middle - 3; y <= middle+3; y++ {
		for x := middle - 3; x <= middle+3; x++ {
			m.dark[y*m.size+x] = x != middle && y != middle
		}
	}
	if got := Find(drawn(m, 4, 16, 0)); len(got) != 1 || got[0] != s.text {
		t.Errorf("got %.80q", got)
	}
	// Beyond what can be mended nothing is made up.
	for i := range m.dark {
		if x, y := i%m.size, i/m.size; x > 10 && y > 10 && x < m.size-10 {
			m.dark[i] = false
		}
	}
	if got := Find(drawn(m, 4, 16, 0)); got != nil {
		t.Errorf("of a code that is blotted out: %.80q", got)
	}
}

// Given a code in the corner of a larger picture, and one beside it, then both are found.
func TestCodesWithinALargerPicture(t *testing.T) {
	all := symbols(t)
	g := image.NewGray(image.Rect(0, 0, 900, 600))
	for i := range g.Pix {
		g.Pix[i] = 235
	}
	set := func(m matrix, x0, y0 int) {
		for y := range m.size * 4 {
			for x := range m.size * 4 {
				if m.at(x/4, y/4) {
					g.Pix[(y0+y)*g.Stride+x0+x] = 40
				}
			}
		}
	}
	set(all["girocode-m"].modules, 30, 40)
	set(all["letters-q"].modules, 600, 300)
	got := Find(g)
	if len(got) != 2 || got[0] == got[1] {
		t.Fatalf("got %.60q", got)
	}
	for _, want := range []string{all["girocode-m"].text, all["letters-q"].text} {
		if got[0] != want && got[1] != want {
			t.Errorf("%.40q is missing", want)
		}
	}
}

// Given a code packed as a photograph, at half its quality, then it is found.
func TestACodeAsAPhotograph(t *testing.T) {
	s := symbols(t)["qr-bill-m"]
	var packed bytes.Buffer
	if err := jpeg.Encode(&packed, drawn(s.modules, 4, 16, 0), &jpeg.Options{Quality: 50}); err != nil {
		t.Fatal(err)
	}
	unpacked, err := jpeg.Decode(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if got := Find(unpacked.(*image.Gray)); len(got) != 1 || got[0] != s.text {
		t.Errorf("got %.80q", got)
	}
}

// Given a block with any errors, then it is mended where these are few enough, and never changed in more places than its
// code can tell of.
func TestMendingWithinBounds(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		const extra = 10
		block := make([]byte, 26) // all zero: a block of the code
		errors := random.IntN(extra)
		for _, at := range random.Perm(len(block))[:errors] {
			block[at] = byte(1 + random.IntN(255))
		}
		got := slices.Clone(block)
		err := mend(got, extra)
		changed := 0
		for i := range got {
			if got[i] != block[i] {
				changed++
			}
		}
		switch {
		case errors <= extra/2 && (err != nil || slices.Max(got) != 0):
			t.Fatalf("%d errors: %v, %v", errors, err, got)
		case err == nil && changed > extra/2:
			t.Fatalf("%d errors: %d bytes were changed", errors, changed)
		}
	}
}

func TestAFormatBeyondRepair(t *testing.T) {
	m := newMatrix(smallest)
	for i := range 15 {
		m.dark[i*smallest+8] = i%2 == 0
		m.dark[8*smallest+i] = i%3 == 0
	}
	if _, _, err := m.format(); err == nil {
		t.Error("a format was made up")
	}
}

func TestPicturesWithoutACode(t *testing.T) {
	faint := drawn(symbols(t)["digits-l-1"].modules, 4, 16, 0)
	for i := range faint.Pix {
		faint.Pix[i] = 200 + faint.Pix[i]/10
	}

	noise := image.NewGray(image.Rect(0, 0, 400, 400))
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.IntN(2) * 255)
	}
	for name, g := range map[string]*image.Gray{"noise": noise, "white": image.NewGray(image.Rect(0, 0, 50, 50)),
		"too faint": faint, "nothing": image.NewGray(image.Rect(0, 0, 0, 0)), "a line": image.NewGray(image.Rect(0, 0, 4000, 1))} {
		if got := Find(g); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Whatever the modules, decoding ends, and what it finds damaged it doesn't make up.
func FuzzDecode(f *testing.F) {
	for _, s := range symbols(f) {
		packed := []byte{byte((s.modules.size - 17) / 4)}
		for i, dark := range s.modules.dark {
			if i%8 == 0 {
				packed = append(packed, 0)
			}
			if dark {
				packed[len(packed)-1] |= 1 << (i % 8)
			}
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		if len(packed) == 0 {
			return
		}
		m := newMatrix(17 + 4*(1+int(packed[0])%25))
		for i := range m.dark {
			m.dark[i] = i/8+1 < len(packed) && packed[i/8+1]>>(i%8)&1 == 1
		}
		if text, err := decode(m); err == nil && len(text) > 4096*2 {
			t.Errorf("a text of %d bytes", len(text))
		}
	})
}

// Whatever the pixels, the search ends.
func FuzzFind(f *testing.F) {
	f.Add(drawn(symbols(f)["digits-l-1"].modules, 1, 2, 0).Pix, 25)
	f.Fuzz(func(_ *testing.T, pixels []byte, width int) {
		if width < 1 || width > 2000 {
			return
		}
		g := &image.Gray{Pix: pixels, Stride: width, Rect: image.Rect(0, 0, width, len(pixels)/width)}
		Find(g)
	})
}
