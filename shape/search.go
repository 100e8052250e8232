package shape

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Wish is what a design is to meet.
type Wish struct {
	Parameters float64 // unique parameters
	Sizes      Sizes   // what is given; zero sizes are searched
	Aspect     float64 // hidden size a layer; 0: 128 at most models' size
	GQA        int64   // query heads a key and value head; 0: 1
	Multiple   int64   // heads, and widths of matrices, are multiples of this (tensor parallelism); 0: 1
	Width      float64 // feed-forward width by hidden size; 0: the kind's
	Tolerance  float64 // largest distance from the target, as a share; 0: 5 %
}

// Found is a shape that meets a wish.
type Found struct {
	Sizes      Sizes   `json:"sizes"`
	Config     []byte  `json:"-"`
	Parameters int64   `json:"parameters"`
	Distance   float64 `json:"distance_share"` // from the target, signed
	Aspect     float64 `json:"aspect_ratio"`   // hidden size a layer
	Score      float64 `json:"score"`          // the lower the better

	Model *estimator.Model `json:"-"`
}

// mostHidden bounds the search.
const mostHidden = 1 << 16

// Search lists shapes that meet the wish, the best first: near the target, and
// as deep for their width as was asked for.
func Search(w Wish) ([]Found, error) {
	if w.Parameters < 1 || w.Parameters > 1e16 {
		return nil, errors.New("no number of parameters to aim at")
	}
	w = w.complete()
	dims, err := w.headDims()
	if err != nil {
		return nil, err
	}
	var found []Found
	for _, dim := range dims {
		step, fixed := dim*max(1, w.GQA)*max(1, w.Multiple)/gcd(max(1, w.GQA), max(1, w.Multiple)), w.hidden(dim)
		for hidden := step; hidden <= mostHidden; hidden += step * (1 + hidden/(32*step)) {
			if fixed > 0 {
				hidden = fixed
			}
			more, beyond, err := w.at(hidden, dim)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
			if beyond || fixed > 0 {
				break
			}
		}
	}
	slices.SortFunc(found, func(a, b Found) int {
		return cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Sizes.Hidden, b.Sizes.Hidden), cmp.Compare(a.Sizes.HeadDim, b.Sizes.HeadDim))
	})
	found = distinct(found)
	if len(found) == 0 {
		return nil, errors.New("no shape within the constraints comes near the target; loosen --tolerance, --multiple or what is fixed")
	}
	return found, nil
}

// distinct leaves out shapes that differ from a better one in their head dim
// alone; of equal ones heads of 128 stand for wide models, of 64 for others.
func distinct(found []Found) []Found {
	type key struct{ hidden, layers, width, cached, parameters int64 }
	best := make(map[key]int)
	var list []Found
	for _, f := range found {
		s := f.Sizes
		k := key{s.Hidden, s.Layers, s.Width, s.KVHeads * s.HeadDim, f.Parameters}
		at, ok := best[k]
		switch {
		case !ok:
			best[k] = len(list)
			list = append(list, f)
		case (s.Hidden >= 2048) == (s.HeadDim > list[at].Sizes.HeadDim):
			list[at] = f
		}
	}
	return list
}

func (w Wish) complete() Wish {
	if w.Aspect == 0 {
		w.Aspect = 100
	}
	if w.Tolerance == 0 {
		w.Tolerance = 0.05
	}
	if w.Multiple == 0 {
		w.Multiple = 1
	}
	if w.GQA == 0 {
		w.GQA = 1
	}
	return w
}

// headDims are those to try: hidden size / heads where both are given, but in
// latent attention, whose heads are as wide as its own sizes say.
func (w Wish) headDims() ([]int64, error) {
	s := w.Sizes
	switch {
	case s.HeadDim > 0:
		return []int64{s.HeadDim}, nil
	case s.Hidden == 0 || s.Heads == 0 || w.kind(s.Hidden) == "mla":
		return []int64{64, 128}, nil
	case s.Hidden%s.Heads != 0:
		return nil, fmt.Errorf("hidden size %d is no multiple of %d heads", s.Hidden, s.Heads)
	}
	return []int64{s.Hidden / s.Heads}, nil
}

// hidden is the hidden size where it is not free: given, or in a GPT-2 that of
// the heads together. 0: it is.
func (w Wish) hidden(dim int64) int64 {
	if s := w.Sizes; s.Hidden == 0 && w.kind(0) == "gpt2" {
		return s.Heads * dim
	}
	return w.Sizes.Hidden
}

// at tries the depths that bring a hidden size to the target. Beyond says that
// one layer is already too much.
func (w Wish) at(hidden, dim int64) (found []Found, beyond bool, err error) {
	sizes := w.sizesAt(hidden, dim)
	one, err := count(sizes, 1)
	if err != nil {
		return nil, false, err
	}
	two, err := count(sizes, 2)
	if err != nil {
		return nil, false, err
	}
	layer := float64(two - one)
	base := float64(one) - layer
	depth := (w.Parameters - base) / layer
	if depth < 0.5 {
		return nil, true, nil
	}
	depths := []int64{int64(math.Floor(depth)), int64(math.Ceil(depth))}
	if w.Sizes.Layers > 0 {
		depths = []int64{w.Sizes.Layers}
	}
	for _, layers := range slices.Compact(depths) {
		if layers < 1 || layers > 1000 {
			continue
		}
		f, ok, err := w.judge(sizes, layers)
		if err != nil {
			return nil, false, err
		}
		if ok {
			found = append(found, f)
		}
	}
	return found, false, nil
}

// sizesAt completes what is given for one hidden size.
func (w Wish) sizesAt(hidden, dim int64) Sizes {
	s := w.Sizes
	s.Kind = w.kind(hidden)
	s.Hidden, s.HeadDim = hidden, dim
	if s.Heads == 0 {
		s.Heads = max(1, hidden/dim)
	}
	if s.KVHeads == 0 {
		s.KVHeads = max(1, s.Heads/w.GQA)
	}
	if s.Width == 0 && w.Width > 0 {
		s.Width = int64(w.Width * float64(hidden))
	}
	if s.Width == 0 && w.Multiple > 1 {
		if whole, err := (Sizes{Kind: s.Kind, Hidden: hidden, Layers: 1, Vocabulary: 1, Heads: s.Heads, KVHeads: s.KVHeads, HeadDim: dim, Ungated: s.Ungated, Experts: s.Experts}).Complete(); err == nil {
			s.Width = whole.Width
		}
	}
	s.Width = up(s.Width, w.Multiple)
	return s
}

// kind is what the sizes and ratios that are given imply.
func (w Wish) kind(hidden int64) string {
	given := w.Sizes
	given.Hidden = hidden
	if kind := given.Implied(); kind != "gpt2" || given.Kind != "" {
		return kind
	}
	if w.GQA > 1 || w.Width > 0 && w.Width != 4 {
		return "llama"
	}
	return "gpt2"
}

func up(n, multiple int64) int64 { return (n + multiple - 1) / multiple * multiple }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// judge counts a shape and weighs it: how far from the target, and how far from
// the aspect ratio that was asked for, on a logarithmic scale.
func (w Wish) judge(s Sizes, layers int64) (Found, bool, error) {
	s.Layers = layers
	s, err := s.Complete()
	if err != nil {
		return Found{}, false, nil // heads that do not share
	}
	config, model, err := describe(s)
	if err != nil {
		return Found{}, false, err
	}
	f := Found{Sizes: s, Config: config, Model: model, Parameters: estimator.Count(model.Tensors()).Unique,
		Aspect: float64(s.Hidden) / float64(layers)}
	f.Distance = float64(f.Parameters)/w.Parameters - 1
	f.Score = math.Abs(f.Distance) + 0.1*math.Abs(math.Log(f.Aspect/w.Aspect))
	return f, math.Abs(f.Distance) <= w.Tolerance, nil
}

// Describe makes a model of sizes.
func Describe(s Sizes) (*estimator.Model, error) {
	_, model, err := describe(s)
	return model, err
}

func describe(s Sizes) ([]byte, *estimator.Model, error) {
	data, err := s.Config()
	if err != nil {
		return nil, nil, err
	}
	config, err := hfconfig.New(data, "")
	if err != nil {
		return nil, nil, err
	}
	model, err := estimator.Describe(config, "")
	return data, model, err
}

// count is the unique parameters with so many layers.
func count(s Sizes, layers int64) (int64, error) {
	s.Layers, s.DenseLayers = layers, 0 // as deep ones have it
	model, err := Describe(s)
	if err != nil {
		return 0, err
	}
	return estimator.Count(model.Tensors()).Unique, nil
}
