package estimator

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// Sight is what a pass shows to the towers for images. Images are of ImageSide
// pixels a side, or Grids say for each how many patches it has.
type Sight struct {
	Images    int64 // of all sequences together; a video's frames and an image's tiles count one by one
	ImageSide int64 // pixels; 0 is what the config says
	Grids     []Grid
}

// Grid is an image or a video as a model of any resolution takes it: patches in
// time, by row and by column. The frames of one grid do not see each other.
type Grid struct {
	Frames  int64 `json:"frames"`
	Rows    int64 `json:"rows"`
	Columns int64 `json:"columns"`
}

// View says as how many tokens a block sees an image. The zero value sees none.
type View struct {
	Sides   [2]int64 // height and width of an image by the config, in pixels; 0: it names none
	Patch   [2]int64 // the same of a patch
	Beside  int64    // tokens beside the patches': a class token, registers
	Merge   int64    // patches that one token is made of; 0 is one
	Queries int64    // learned queries in the place of the patches, which attend to them
	Tiles   int64    // tiles of an image in one sequence; 0 is one
	Pad     int64    // tokens of a tile are padded to a multiple; 0 is 1
	Window  int64    // attention within windows of so many patches a side, the last ones padded; 0: within the image
	Cut     bool     // the last windows are cut off instead
	Packed  bool     // all images are one sequence, whose other images are masked

	Levels   int64   // grids of so many sizes in one sequence, each half as fine as the one before; 0 is one
	Cells    int64   // the places at which patches of so many tokens a side have the same; 0: all see each other
	KeysBy   Stride  // makes the grid of the keys coarser
	Pool     int64   // one query stands for a square of so many tokens a side; 0: each for itself
	Itself   bool    // tokens attend to themselves by other means than scores
	Reduce   int64   // one key stands for a square of so many tokens a side; 0: each for itself
	Keys     int64   // keys, however many tokens; 0: as many as these
	Order    Order   // of a video's frames
	Frames   int64   // of a video that are seen as one sequence; 0 is one
	Up       bool    // an image that is no multiple of the patches is padded
	Multiple int64   // images are padded to a multiple of so many pixels; 0 is 1
	Keep     float64 // share of the patches that is seen, the others are masked; 0: all are

	Strides [maxStrides]Stride // convolutions behind the patches that make the grid coarser
}

// With adds tokens beside the patches'.
func (v View) With(tokens int64) View {
	v.Beside += tokens
	return v
}

// Merging makes one token of n.
func (v View) Merging(n int64) View {
	v.Merge = max(1, v.Merge) * max(1, n)
	return v
}

// Asked puts n learned queries in the place of the tokens, which are what those
// attend to.
func (v View) Asked(n int64) View {
	v.Queries = n
	return v
}

// Within cuts the image into windows of so many patches a side.
func (v View) Within(window int64) View {
	v.Window = window
	return v
}

// Cutting cuts the image into windows of so many patches a side, those at its edges
// smaller.
func (v View) Cutting(window int64) View {
	v.Window, v.Cut = window, true
	return v
}

// tokens returns of how many tokens an image of so many patches is seen, before
// queries take their place.
func (v *View) tokens(patches int64) int64 {
	if v.Keep > 0 {
		patches = int64(float64(patches)*v.Keep + 1e-9)
	}
	if v.Order == Joined {
		patches *= max(1, v.Frames)
	}
	n := patches/max(1, v.Merge) + v.Beside
	pad := max(1, v.Pad)
	return (n + pad - 1) / pad * pad * max(1, v.Tiles)
}

// grids returns the images of a pass, equal ones together.
func (v *View) grids(s Sight) (grids []Grid, each int64) {
	if len(s.Grids) > 0 {
		for _, g := range s.Grids {
			grids = append(grids, v.strided(g))
		}
		return grids, 1
	}
	sides := v.Sides
	if s.ImageSide > 0 {
		sides = [2]int64{s.ImageSide, s.ImageSide}
	}
	return []Grid{v.gridOf(sides)}, s.Images
}

// passes are what the block's tokens look like: a pass for each kind of image,
// its sequences the images, none where they were seen in an earlier step.
func (v *View) passes(p Pass) []Pass {
	if p.Past > 0 || p.Images == 0 && len(p.Grids) == 0 {
		return nil
	}
	grids, each := v.grids(p.Sight)
	var list []Pass
	for _, g := range grids {
		if v.Cut && v.Window > 0 {
			list = append(list, v.cut(p, g, each)...)
			continue
		}
		list = append(list, v.pass(p, g, each))
	}
	if v.Packed {
		return packed(list)
	}
	return list
}

// cut are the windows of an image: whole ones, those at its right and at its lower
// edge, and that in the corner.
func (v *View) cut(p Pass, g Grid, each int64) (list []Pass) {
	for _, rows := range pieces(g.Rows, v.Window) {
		for _, columns := range pieces(g.Columns, v.Window) {
			list = append(list, Pass{Batch: each * g.Frames * rows.count * columns.count, Seq: v.tokens(rows.size * columns.size), Sight: p.Sight, seen: true})
		}
	}
	return list
}

// piece is a number of equal stretches.
type piece struct{ size, count int64 }

// pieces cuts a side into stretches of a window's length and what remains.
func pieces(side, window int64) (list []piece) {
	if n := side / window; n > 0 {
		list = append(list, piece{window, n})
	}
	if rest := side % window; rest > 0 {
		list = append(list, piece{rest, 1})
	}
	return list
}

// packed is all images in one sequence.
func packed(images []Pass) []Pass {
	all := images[0]
	all.Batch, all.Seq = 1, 0
	for _, p := range images {
		all.Seq += p.Batch * p.Seq
	}
	return []Pass{all}
}

func windows(side, window int64) int64 { return (side + window - 1) / window }

// symbols are what formulas call images and the tokens of each.
func (v *View) symbols(p Pass) symbols {
	x := symbols{b: Named("i", p.Batch), s: Named("p", p.Seq), e: Named("p", p.EncoderSeq)}
	plain := func(tokens int64) Size {
		switch {
		case v.Tiles > 1 || v.Pad > 1 || v.Keep > 0 || v.Frames > 1:
			return Named("t", tokens)
		case v.Merge > 1:
			return Named("(p/"+strconv.FormatInt(v.Merge, 10)+")", tokens-v.Beside).Plus(Const(v.Beside))
		}
		return Named("p", tokens-v.Beside).Plus(Const(v.Beside))
	}
	switch {
	case v.Queries > 0:
		x.s, x.e = Named("q", p.Seq), plain(p.EncoderSeq)
	case v.Window > 0:
		x.b, x.s = Named("windows", p.Batch), Named("w", v.Window).Times(Named("w", v.Window))
	default:
		x.s = plain(p.Seq)
	}
	return x
}

// Seeing makes the block and all in it run on images, seen in this way, unless a
// block within sees them otherwise.
func (b Block) Seeing(v View) Block {
	b.View = &v
	return b
}

// image is how a config with image_size and patch_size sees an image: one token
// a patch.
func (c *Config) image() View {
	return View{Sides: c.sides("image_size"), Patch: c.sides("patch_size")}
}

// sides reads height and width, or one number for both; 0 where it is left open.
func (c *Config) sides(field string) [2]int64 {
	if c.Value(field).IsArray() {
		if list := c.Ints(field); len(list) == 2 {
			return [2]int64(list)
		}
	}
	n := c.IntOr(field, 0)
	if n < 0 || n == 0 && field == "patch_size" && c.Given(field) && c.Value(field).Type == gjson.Number {
		c.Fault(field, "%d, want 1 or more", n)
		n = 1
	}
	return [2]int64{n, n}
}

// grid returns the patches of the config's own image by row and by column.
func (v *View) grid() (rows, columns int64) {
	g, _ := v.grids(Sight{})
	return g[0].Rows, g[0].Columns
}

// patches is the convolution that makes a token of each patch of an image.
func (c *Config) patches(name string) Block {
	v := c.image()
	return Conv(name, c.Size("channels", "num_channels"), c.D, Named("P"+c.mark, v.Patch[0]), Named("P"+c.mark, v.Patch[1])).pixels().Seeing(v)
}

// patchCount is how many there are in the config's own image.
func (c *Config) patchCount() Size {
	v := c.image()
	rows, columns := v.grid()
	return Named("patches", rows*columns)
}

// pixels marks a block that takes the input itself, which needs no gradient.
func (b Block) pixels() Block {
	b.Pixels = true
	return b
}

// sightScores are those of attention among the tokens of an image.
func (c *Config) sightScores() Scores {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected = true
	return scores
}

// complete fills in what the model fixes of a pass: the tokens that an encoder
// always sees, the images that go with the sequences, and the tokens of images
// that cross-attention sees.
func (m *Model) complete(p Pass) Pass {
	if m.EncoderSeq > 0 {
		p.EncoderSeq = m.EncoderSeq
	}
	if m.ImageEach && p.Images == 0 && len(p.Grids) == 0 {
		p.Images = p.Batch
	}
	if m.Memory != nil && p.EncoderSeq == 0 {
		p.EncoderSeq = m.Memory.memory(p)
	}
	return p
}

// EncoderTokens returns how many tokens of an encoder, or of images, each sequence
// of a pass has beside it.
func (m *Model) EncoderTokens(p Pass) int64 { return m.complete(p).EncoderSeq }

// memory is how many tokens of images the longest sequence has beside it.
func (v *View) memory(p Pass) int64 {
	p.Past = 0
	var images, tokens int64
	for _, seen := range v.passes(p) {
		images, tokens = images+seen.Batch, max(tokens, seen.Seq)
	}
	return (images + p.Batch - 1) / max(1, p.Batch) * tokens
}

// SeesImages reports whether any block runs on images.
func (m *Model) SeesImages() bool { return len(m.views()) > 0 }

func (m *Model) views() []*View {
	var views []*View
	m.walk(func(l *leaf) {
		if l.view != nil {
			views = append(views, l.view)
		}
	})
	return views
}

// OnlyImages reports whether all that works in the model runs on images.
func (m *Model) OnlyImages() bool {
	only := m.SeesImages()
	m.walk(func(l *leaf) {
		works := l.block.Kind == LinearKind || l.block.Kind == StackedKind || l.block.Kind == ConvKind || l.block.Scores != nil
		only = only && (l.view != nil || !works)
	})
	return only
}

// Seen is the same pass with its images as the sequences, where the model takes
// nothing else: each as many tokens long as most blocks see.
func (m *Model) Seen(p Pass) Pass {
	if !m.OnlyImages() {
		return p
	}
	p = m.complete(p)
	often, tokens := make(map[int64]int), int64(0)
	for _, v := range m.views() {
		seen := v.passes(p)
		if len(seen) == 0 {
			continue
		}
		n := seen[0].Seq
		if often[n]++; often[n] > often[tokens] {
			tokens = n
		}
	}
	if len(p.Grids) > 0 {
		p.Images = int64(len(p.Grids))
	}
	p.Batch, p.Seq = p.Images, tokens
	return p
}

// Images returns how many images the model's towers see in a pass.
func (m *Model) Images(p Pass) int64 {
	p = m.complete(p)
	switch {
	case !m.SeesImages() || p.Past > 0:
		return 0
	case len(p.Grids) > 0:
		return int64(len(p.Grids))
	}
	return p.Images
}

// MostTokens bounds the sequences of a pass and the tokens of each, so that their
// product stays within 64 bits.
const MostTokens = 1<<31 - 1

// Check finds what the model cannot run on.
func (m *Model) Check(p Pass) error {
	if max(p.Batch, p.Seq, p.Past, p.EncoderSeq) > MostTokens {
		return fmt.Errorf("sequences and tokens end at %d", int64(MostTokens))
	}
	return m.checkSight(p.Sight)
}

func (m *Model) checkSight(s Sight) error {
	if s.Images == 0 && s.ImageSide == 0 && len(s.Grids) == 0 && !m.ImageEach {
		return nil
	}
	views := m.views()
	switch {
	case len(views) == 0:
		return errors.New("the model takes no images")
	case s.ImageSide > 0 && len(s.Grids) > 0:
		return errors.New("images have a size in pixels, or a grid of patches, not both")
	case s.Images > MostTokens || s.ImageSide > MostTokens:
		return fmt.Errorf("images and their pixels end at %d", int64(MostTokens))
	}
	for _, v := range views {
		if err := v.check(s); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) check(s Sight) error {
	grids, _ := v.grids(s)
	for _, g := range grids {
		switch {
		case len(s.Grids) == 0 && s.ImageSide == 0 && v.Sides[0] == 0:
			return errors.New("the config names no size of images: give one in pixels or as a grid of patches")
		case g.Frames < 1 || g.Rows < 1 || g.Columns < 1:
			return fmt.Errorf("an image has to have a patch of %d×%d pixels at least", v.Patch[0], v.Patch[1])
		case g.Frames > 1<<15 || g.Rows > 1<<15 || g.Columns > 1<<15:
			return fmt.Errorf("a grid ends at %d patches a side", 1<<15)
		case len(s.Grids) > 0 && v.Tiles == 0 && g.Rows*g.Columns%max(1, v.Merge) != 0:
			return fmt.Errorf("a grid of %d×%d patches cannot be merged by %d", g.Rows, g.Columns, v.Merge)
		}
	}
	return nil
}
