package text

import (
	"image"
	"math"
	"slices"
)

// Mosaic is what small rectangles side by side show, as programs draw codes that are no pictures.
type Mosaic struct {
	box   box
	tiles []tile
}

// tile is a rectangle of a mosaic, in the order painted.
type tile struct {
	box  box
	dark bool
}

const (
	// maxTile is the longest side of a tile, in points: runs of a code's modules are shorter, rules of tables longer.
	maxTile = 48
	// maxTiles bounds those of a page: a code of the largest size that payments have needs some 2,000.
	maxTiles = 20_000
	// minTiles is how many dark ones the smallest code has at least, run by run.
	minTiles    = 60
	maxMosaics  = 16
	minMosaic   = 24    // points of its shorter side
	maxMosaic   = 300   // of its longer one
	joining     = 4     // points that tiles of one mosaic are apart at most
	pixelsPoint = 6     // of its picture
	maxCells    = 1_000 // of a page's side, each of that many points
)

// addTile notes a rectangle painted in a color, in the present state.
func (in *interpreter) addTile(b box, c color) {
	st := &in.state
	b = b.intersect(st.clip.box).intersect(in.paper)
	if len(in.tiles) >= maxTiles || b.width() > maxTile || b.height() > maxTile || b.width() <= 0 || b.height() <= 0 || in.hidden() {
		return
	}
	// A color that isn't known is an ink.
	in.tiles = append(in.tiles, tile{b, !c.known || c.rgb[0]*0.3+c.rgb[1]*0.59+c.rgb[2]*0.11 < 0.5})
}

// mosaics are the groups of tiles that lie near one another.
func (in *interpreter) mosaics() []Mosaic {
	dark := 0
	for _, t := range in.tiles {
		if t.dark {
			dark++
		}
	}
	if dark < minTiles {
		return nil
	}
	g := gridOf(in.paper)
	if g.width > maxCells || g.height > maxCells || in.file.Spend(g.width*g.height/64+len(in.tiles)*8) != nil {
		return nil
	}
	g.take(in.tiles)
	all := make([]Mosaic, g.number())
	for i := range all {
		all[i].box = nowhere
	}
	for _, t := range in.tiles {
		x, y, _, _ := g.cellsOf(t.box)
		if n := g.cells[y*g.width+x]; n >= 0 {
			all[n].tiles = append(all[n].tiles, t)
			if t.dark {
				all[n].box = all[n].box.including(t.box.x0, t.box.y0).including(t.box.x1, t.box.y1)
			}
		}
	}
	all = slices.DeleteFunc(all, func(m Mosaic) bool {
		return len(m.tiles) < minTiles || min(m.box.width(), m.box.height()) < minMosaic || max(m.box.width(), m.box.height()) > maxMosaic
	})
	return all[:min(len(all), maxMosaics)]
}

// Size is how many pixels the picture of the mosaic has.
func (m Mosaic) Size() (width, height int) {
	return int(math.Ceil((m.box.width() + 2*joining) * pixelsPoint)), int(math.Ceil((m.box.height() + 2*joining) * pixelsPoint))
}

// Picture draws the mosaic on white, upright as the page before rotation.
func (m Mosaic) Picture() *image.Gray {
	width, height := m.Size()
	g := image.NewGray(image.Rect(0, 0, width, height))
	for i := range g.Pix {
		g.Pix[i] = 255
	}
	x := func(v float64) int { return min(max(int(math.Round((v-m.box.x0+joining)*pixelsPoint)), 0), width) }
	y := func(v float64) int { return min(max(int(math.Round((m.box.y1-v+joining)*pixelsPoint)), 0), height) }
	for _, t := range m.tiles {
		shade := byte(255)
		if t.dark {
			shade = 0
		}
		for row := y(t.box.y1); row < y(t.box.y0); row++ {
			line := g.Pix[row*g.Stride : row*g.Stride+width]
			for col := x(t.box.x0); col < x(t.box.x1); col++ {
				line[col] = shade
			}
		}
	}
	return g
}
