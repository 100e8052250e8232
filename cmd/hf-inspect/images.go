package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// imageFlags are the flags that say which images the towers of a model see.
type imageFlags struct {
	images, side length
	grids        gridList
}

func (i *imageFlags) add(f *pflag.FlagSet) {
	f.Var(&i.images, "images", "images of all sequences together; tiles count one by one (default: none beside text, else one for each of the batch)")
	f.Var(&i.side, "image-size", "pixels of an image's side (default: the config's)")
	f.Var(&i.grids, "image-grid", "patches of each image as frames x rows x columns, for models of any resolution: 1x8x12,1x4x4")
}

// sight is what they show.
func (i *imageFlags) sight() (estimator.Sight, error) {
	s := estimator.Sight{Images: int64(i.images), ImageSide: int64(i.side), Grids: i.grids}
	switch {
	case s.Images < 0 || s.ImageSide < 0:
		return s, usageError{fmt.Errorf("--images and --image-size cannot be negative")}
	case len(s.Grids) == 1:
		for int64(len(s.Grids)) < min(s.Images, mostGrids) { // all of one grid
			s.Grids = append(s.Grids, s.Grids[0])
		}
		fallthrough
	case len(s.Grids) > 1:
		if s.Images > 0 && s.Images != int64(len(s.Grids)) {
			return s, usageError{fmt.Errorf("--images %d and --image-grid with %d", s.Images, len(s.Grids))}
		}
	}
	return s, nil
}

// mostGrids bounds how often one grid is repeated.
const mostGrids = 1 << 16

// gridList is a list of grids of patches.
type gridList []estimator.Grid

func (g *gridList) Type() string { return "grids" }

func (g *gridList) String() string {
	var parts []string
	for _, one := range *g {
		parts = append(parts, fmt.Sprintf("%dx%dx%d", one.Frames, one.Rows, one.Columns))
	}
	return strings.Join(parts, ",")
}

func (g *gridList) Set(text string) error {
	*g = nil
	for part := range strings.SplitSeq(text, ",") {
		var sides []int64
		for side := range strings.SplitSeq(strings.ToLower(strings.TrimSpace(part)), "x") {
			n, err := wholeNumber(side)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no grid such as 1x8x12", part)
			}
			sides = append(sides, n)
		}
		if len(sides) != 3 {
			return fmt.Errorf("%q is no grid such as 1x8x12", part)
		}
		*g = append(*g, estimator.Grid{Frames: sides[0], Rows: sides[1], Columns: sides[2]})
	}
	return nil
}

// encoderSeq is how many tokens of an encoder a flag gives, else as many as the
// sequence has; where those are images', the model knows.
func encoderSeq(m *estimator.Model, flag length, seq int64) int64 {
	if flag > 0 || m.Memory != nil {
		return int64(flag)
	}
	return seq
}
