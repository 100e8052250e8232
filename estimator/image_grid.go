package estimator

// Order says which tokens of a video see each other.
type Order uint8

// The orders of a video's frames.
const (
	Joined Order = iota // all
	Apart               // those of one frame
	Across              // those of one place, over time
	Summed              // one token for each frame, over time
)

// Ordered sets which tokens of a video see each other.
func (v View) Ordered(o Order) View {
	v.Order = o
	return v
}

// Film makes one sequence of so many frames.
func (v View) Film(frames int64) View {
	v.Frames = frames
	return v
}

// Reduced makes one key of a square of tokens.
func (v View) Reduced(side int64) View {
	v.Reduce = side
	return v
}

// maxStrides bounds how often a model makes its grid coarser.
const maxStrides = 8

// Stride is a convolution's, or a pool's, effect on the side of a grid; with By
// below zero it makes the grid finer.
type Stride struct{ Kernel, By, Pad int64 }

// side is how many places a side of n has behind it.
func (s Stride) side(n int64) int64 {
	switch {
	case s.By == 0:
		return n
	case s.By < 0:
		return n * -s.By
	}
	return max(0, n+2*s.Pad-s.Kernel)/s.By + 1
}

// Strided makes the grid coarser by a convolution, padded by half of its kernel.
func (v View) Strided(kernel, by int64) View { return v.StridedBy(Stride{kernel, by, kernel / 2}) }

// Halved makes the grid coarser by a factor, as padding to equal shares does:
// rounded up.
func (v View) Halved(by int64) View { return v.StridedBy(Stride{1, by, 0}) }

// Coarser makes the grid coarser by a factor, what is left over cut off.
func (v View) Coarser(by int64) View { return v.StridedBy(Stride{by, by, 0}) }

// Finer makes the grid finer by a factor.
func (v View) Finer(by int64) View { return v.StridedBy(Stride{By: -by}) }

// StridedBy makes the grid coarser.
func (v View) StridedBy(s Stride) View {
	if s.By == 1 && s.Kernel == 2*s.Pad+1 {
		return v
	}
	for i := range v.Strides {
		if v.Strides[i] == (Stride{}) {
			v.Strides[i] = s
			return v
		}
	}
	return v
}

// gridOf is the grid of an image of these sides.
func (v *View) gridOf(sides [2]int64) Grid {
	var g [2]int64
	for i, side := range sides {
		multiple, patch := max(1, v.Multiple), max(1, v.Patch[i])
		side = (side + multiple - 1) / multiple * multiple
		if v.Up {
			side += patch - 1
		}
		g[i] = side / patch
	}
	return v.strided(Grid{1, g[0], g[1]})
}

func (v *View) strided(g Grid) Grid {
	for _, s := range v.Strides {
		g.Rows, g.Columns = s.side(g.Rows), s.side(g.Columns)
	}
	return g
}

// pass is what the block's tokens look like in images of one grid.
func (v *View) pass(p Pass, g Grid, each int64) Pass {
	seen := Pass{Batch: each * g.Frames, Seq: v.tokens(v.places(g)), Sight: p.Sight, seen: true, grid: g}
	switch {
	case v.Itself:
		seen.EncoderSeq = seen.Seq
	case v.Order == Apart:
		seen.Batch *= v.Frames
	case v.Order == Across:
		seen.Batch, seen.Seq = seen.Batch*g.Rows*g.Columns, v.Frames
	case v.Order == Summed:
		seen.Seq = v.Frames
	case v.Queries > 0:
		seen.Seq, seen.EncoderSeq = v.Queries, seen.Seq
	case v.Window > 0:
		seen.Batch *= windows(g.Rows, v.Window) * windows(g.Columns, v.Window)
		seen.Seq, seen.grid = v.Window*v.Window, Grid{1, v.Window, v.Window}
		if v.Pool > 0 {
			seen.Seq, seen.EncoderSeq = (v.Window/v.Pool)*(v.Window/v.Pool), seen.Seq
		}
	case v.Cells > 0:
		seen.Batch, seen.Seq = seen.Batch*v.Cells*v.Cells, windows(g.Rows, v.Cells)*windows(g.Columns, v.Cells)
	case v.KeysBy != (Stride{}):
		seen.EncoderSeq = v.KeysBy.side(g.Rows)*v.KeysBy.side(g.Columns) + v.Beside
	case v.Pool > 0:
		seen.Seq, seen.EncoderSeq = (g.Rows/v.Pool)*(g.Columns/v.Pool), seen.Seq
	case v.Reduce > 0:
		seen.EncoderSeq = (g.Rows / v.Reduce) * (g.Columns / v.Reduce)
	case v.Keys > 0:
		seen.EncoderSeq = v.Keys
	}
	return seen
}

// places is how many places the grids of all levels have.
func (v *View) places(g Grid) int64 {
	n := g.Rows * g.Columns
	for range v.Levels - 1 {
		g.Rows, g.Columns = (g.Rows+1)/2, (g.Columns+1)/2
		n += g.Rows * g.Columns
	}
	return n
}
