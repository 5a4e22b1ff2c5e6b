package text

// grid is a page in cells as wide as tiles of one mosaic are apart at most: tiles in cells side by side belong together.
type grid struct {
	paper         box
	width, height int
	cells         []int // row by row: empty, taken, or the number of its group
}

const (
	empty = -1
	taken = -2
)

// gridOf is the grid of a page, without cells yet, which may be too many.
func gridOf(paper box) grid {
	return grid{paper: paper, width: int(paper.width()/joining) + 1, height: int(paper.height()/joining) + 1}
}

// cellsOf are the first and the last cell of a box.
func (g *grid) cellsOf(b box) (x0, y0, x1, y1 int) {
	at := func(v, from float64, most int) int { return min(max(int((v-from)/joining), 0), most-1) }
	return at(b.x0, g.paper.x0, g.width), at(b.y0, g.paper.y0, g.height), at(b.x1, g.paper.x0, g.width), at(b.y1, g.paper.y0, g.height)
}

// take marks the cells of dark tiles.
func (g *grid) take(tiles []tile) {
	g.cells = make([]int, g.width*g.height)
	for i := range g.cells {
		g.cells[i] = empty
	}
	for _, t := range tiles {
		if !t.dark {
			continue
		}
		x0, y0, x1, y1 := g.cellsOf(t.box)
		for y := y0; y <= y1; y++ {
			for x := x0; x <= x1; x++ {
				g.cells[y*g.width+x] = taken
			}
		}
	}
}

// number gives each group of taken cells a number, from 0, and says how many there are.
func (g *grid) number() (groups int) {
	for i := range g.cells {
		if g.cells[i] == taken {
			g.spread(i, groups)
			groups++
		}
	}
	return groups
}

// spread gives a taken cell and all that it touches, corners too, the number of their group.
func (g *grid) spread(from, group int) {
	g.cells[from] = group
	for next := []int{from}; len(next) > 0; {
		at := next[len(next)-1]
		next = next[:len(next)-1]
		for y := max(at/g.width-1, 0); y <= min(at/g.width+1, g.height-1); y++ {
			for x := max(at%g.width-1, 0); x <= min(at%g.width+1, g.width-1); x++ {
				if cell := y*g.width + x; g.cells[cell] == taken {
					g.cells[cell] = group
					next = append(next, cell)
				}
			}
		}
	}
}
