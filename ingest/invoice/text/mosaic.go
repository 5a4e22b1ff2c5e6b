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
	width, height := int(in.paper.width()/joining)+1, int(in.paper.height()/joining)+1
	if width > maxCells || height > maxCells || in.file.Spend(width*height/64+len(in.tiles)*8) != nil {
		return nil
	}
	// The page in cells of that width: -1 is nothing, else the number of the group.
	cells := make([]int, width*height)
	for i := range cells {
		cells[i] = -1
	}
	cellsOf := func(b box) (x0, y0, x1, y1 int) {
		at := func(v, from float64, most int) int { return min(max(int((v-from)/joining), 0), most-1) }
		return at(b.x0, in.paper.x0, width), at(b.y0, in.paper.y0, height), at(b.x1, in.paper.x0, width), at(b.y1, in.paper.y0, height)
	}
	const taken = -2
	for _, t := range in.tiles {
		if x0, y0, x1, y1 := cellsOf(t.box); t.dark {
			for y := y0; y <= y1; y++ {
				for x := x0; x <= x1; x++ {
					cells[y*width+x] = taken
				}
			}
		}
	}
	groups := 0
	for i := range cells {
		if cells[i] != taken {
			continue
		}
		cells[i] = groups
		for next := []int{i}; len(next) > 0; {
			at := next[len(next)-1]
			next = next[:len(next)-1]
			for y := max(at/width-1, 0); y <= min(at/width+1, height-1); y++ {
				for x := max(at%width-1, 0); x <= min(at%width+1, width-1); x++ {
					if cells[y*width+x] == taken {
						cells[y*width+x] = groups
						next = append(next, y*width+x)
					}
				}
			}
		}
		groups++
	}
	all := make([]Mosaic, groups)
	for i := range all {
		all[i].box = nowhere
	}
	for _, t := range in.tiles {
		x0, y0, _, _ := cellsOf(t.box)
		if g := cells[y0*width+x0]; g >= 0 {
			all[g].tiles = append(all[g].tiles, t)
			if t.dark {
				all[g].box = all[g].box.including(t.box.x0, t.box.y0).including(t.box.x1, t.box.y1)
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
