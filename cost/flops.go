package cost

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// FLOPs is what one pass of a model costs in matrix work: two floating-point
// operations a multiply-add, as torch's FlopCounterMode counts. Look-ups, norms,
// activations, softmax, rotary embeddings and biases count nothing; causal masks
// save nothing.
type FLOPs struct {
	Batch int64 `json:"batch"`
	Seq   int64 `json:"seq"`
	Past  int64 `json:"past"`
	Shown

	Forward  *big.Int `json:"forward_flops"`
	Backward *big.Int `json:"backward_flops"`
	Training *big.Int `json:"training_flops"` // forward, backward, and what is recomputed

	Linear         *big.Int `json:"linear_flops"`    // part A: matrices of parameters
	Attention      *big.Int `json:"attention_flops"` // part B: scores and values
	AttentionShare float64  `json:"attention_share"`

	Components  []Component  `json:"components"`
	Layers      []LayerFLOPs `json:"layers,omitempty"`
	Conventions []Convention `json:"conventions"`
	Bounds      []Bound      `json:"bounds,omitempty"` // on accelerators that are asked about
	Assumptions []string     `json:"assumptions"`
	Formulas    []Formula    `json:"formulas"` // each component in symbols, in numbers, as a result
}

// Shown is what a pass shows to towers for images.
type Shown struct {
	Images    int64            `json:"images,omitempty"`
	ImageSide int64            `json:"image_side_pixels,omitempty"` // where not the config's
	Grids     []estimator.Grid `json:"image_grids,omitempty"`       // of patches, where given
	ImageOnly bool             `json:"only_images,omitempty"`       // the sequences are the images
}

func shown(m *estimator.Model, p estimator.Pass) Shown {
	return Shown{m.Images(p), p.ImageSide, p.Grids, m.OnlyImages()}
}

// Component is one kind of work, all layers together.
type Component struct {
	Name  string   `json:"name"`
	FLOPs *big.Int `json:"flops"`
}

// LayerFLOPs is the work of one layer of each of a run of equal layers.
type LayerFLOPs struct {
	Layers string   `json:"layers"` // such as {0..47}, encoder{0}
	Each   *big.Int `json:"flops"`  // of one layer
}

// Convention is the same question under a named definition.
type Convention struct {
	Name    string   `json:"name"`
	FLOPs   *big.Int `json:"flops"`
	Formula string   `json:"formula"`
	Of      string   `json:"of"` // forward, training
}

// Options say how the pass is computed.
type Options struct {
	Fused     bool // one kernel for attention; its backward computes the scores anew
	Recompute bool // layers are computed again for their backward pass
}

// ForwardFLOPs answers for one pass.
func ForwardFLOPs(m *estimator.Model, p estimator.Pass, opts Options) FLOPs {
	work := m.Forward(p)
	p = m.Seen(p)
	f := FLOPs{Batch: p.Batch, Seq: p.Seq, Past: p.Past, Shown: shown(m, p), Forward: estimator.Total(work),
		Assumptions: passAssumptions(m, p), Linear: new(big.Int), Attention: new(big.Int), Components: components(work), Layers: perLayer(work)}
	for _, w := range work {
		switch w.Kind {
		case "scores", "values":
			f.Attention.Add(f.Attention, w.FLOPs)
		default:
			f.Linear.Add(f.Linear, w.FLOPs)
		}
	}
	f.AttentionShare = share(f.Attention, f.Forward)
	f.Backward = backward(m, work, f.Attention, opts)
	f.Training = new(big.Int).Add(f.Forward, f.Backward)
	if opts.Recompute {
		f.Training.Add(f.Training, recomputed(m, work))
	}
	f.Conventions = conventions(m, p, &f, work)
	f.Formulas = explainFLOPs(m, p, &f)
	return f
}

// passAssumptions is what a reader has to know of a pass besides its figures.
func passAssumptions(m *estimator.Model, p estimator.Pass) []string {
	list := BeyondPositions(m, p.Past+p.Seq)
	if m.FLOPsByRule {
		list = append(list, "FLOPs: by rule, block by block; they were not measured for "+m.Type)
	}
	if m.SeesImages() && !m.ImageEach && p.Images == 0 && len(p.Grids) == 0 && p.Past == 0 {
		list = append(list, "no image: the tower for images does not run; --images shows some")
	}
	return list
}

// backward is two products for each of the forward pass: one for the gradient of
// the input, unless that is an image's pixels, one for that of the weight. A fused attention kernel computes the
// scores again: five products for two (FlashAttention, arXiv:2205.14135,
// appendix B). With dropout on the attention weights the library leaves the
// fused kernel for the plain one.
func backward(m *estimator.Model, work []estimator.Work, attention *big.Int, opts Options) *big.Int {
	sum := new(big.Int)
	for _, w := range work {
		sum.Add(sum, w.FLOPs)
		if !w.Pixels {
			sum.Add(sum, w.FLOPs)
		}
	}
	if opts.Fused && m.Training.AttentionDropout == 0 {
		sum.Add(sum, new(big.Int).Rsh(attention, 1))
	}
	return sum
}

// recomputed is the work of the layers done again. It stops before the last
// linear of a layer, unless dropout or another module after it needs its output.
func recomputed(m *estimator.Model, work []estimator.Work) *big.Int {
	sum := new(big.Int)
	for _, w := range work {
		if w.Layers == nil || w.EndsLayer && w.Kind == "linear" && m.Training.ResidualDropout == 0 {
			continue
		}
		sum.Add(sum, w.FLOPs)
	}
	return sum
}

// components sums work by what a reader calls it.
func components(work []estimator.Work) []Component {
	var list []Component
	for _, w := range work {
		name := componentOf(w)
		i := 0
		for i < len(list) && list[i].Name != name {
			i++
		}
		if i == len(list) {
			list = append(list, Component{name, new(big.Int)})
		}
		list[i].FLOPs.Add(list[i].FLOPs, w.FLOPs)
	}
	return append(list, Component{"embeddings", new(big.Int)})
}

func componentOf(w estimator.Work) string {
	prefix := ""
	if w.Tower != "" {
		prefix = w.Tower + " "
	}
	switch {
	case w.Kind != "linear":
		return prefix + w.Kind
	case w.Part == estimator.Projections:
		return prefix + "qkv"
	case w.Part == estimator.OutputProjection:
		return prefix + "attention output"
	}
	return prefix + w.Role.String()
}

// perLayer sums the work of the stacked layers, a run of equal layers at a time.
func perLayer(work []estimator.Work) []LayerFLOPs {
	sums := make(map[string]*big.Int)
	counts := make(map[string]int64)
	var order []string
	for _, w := range work {
		if w.Layers == nil {
			continue
		}
		key := w.Tower + "{" + strings.Trim(w.Layers.String(), "{}") + "}" // one layer is a set too
		if sums[key] == nil {
			sums[key], counts[key] = new(big.Int), w.Layers.Len()
			order = append(order, key)
		}
		sums[key].Add(sums[key], w.FLOPs)
	}
	var layers []LayerFLOPs
	for _, key := range order {
		layers = append(layers, LayerFLOPs{key, sums[key].Div(sums[key], big.NewInt(counts[key]))})
	}
	return layers
}

func share(part, whole *big.Int) float64 {
	if whole.Sign() == 0 {
		return 0
	}
	f, _ := new(big.Rat).SetFrac(part, whole).Float64()
	return f
}

// conventions lists what else is called the FLOPs of this pass.
func conventions(m *estimator.Model, p estimator.Pass, f *FLOPs, work []estimator.Work) []Convention {
	tokens := new(big.Int).Mul(big.NewInt(p.Batch), big.NewInt(p.Seq))
	list := []Convention{{"exact matmul", f.Forward, "2 per multiply-add of every matrix product, masks save nothing", ofForward}}
	if !m.N.IsZero() && !m.D.IsZero() && !m.V.IsZero() && p.Past == 0 && f.Attention.Sign() > 0 {
		list = append(list, textbook(m, p)...)
	}
	if half := causalHalf(work); p.Past == 0 && half.Sign() > 0 {
		list = append(list, Convention{"causal-halved attention", new(big.Int).Sub(f.Forward, half), "exact matmul − half of scores and values under a causal mask (Megatron-LM)", ofForward})
	}
	if grouped := routedWork(work); grouped.Sign() > 0 {
		list = append(list, Convention{"grouped_mm counted as 0", new(big.Int).Sub(f.Forward, grouped), "exact matmul − routed experts, whose kernel the framework's counter does not see", ofForward},
			everyExpert(m, f, grouped))
	}
	if m.ImageEach && !m.OnlyImages() {
		return list // of text and of images: there is no one kind of token
	}
	counts := estimator.Count(m.Tensors())
	active := big.NewInt(counts.Active)
	if absorbed := m.DecodeFLOPs(p, true); p.Past > 0 && absorbed.Cmp(f.Forward) != 0 {
		list = append(list, Convention{"latents absorbed", absorbed, "exact matmul, with queries against the cached latents as serving engines decode: the library expands each of them again", ofForward})
	}
	list = append(list, Convention{"2P per token", times(tokens, active, 2), fmt.Sprintf("2 · P · tokens, P = %s active parameters", groupedInt(counts.Active)), ofForward})
	if p.Past > 0 { // nobody trains on a cache
		return list
	}
	if t, ok := transformerOf(m); ok && Decodes(m) {
		list = append(list, Convention{"4svh + 24slh² + 4s²lh", times(t.Forward(p.Seq), big.NewInt(p.Batch), 1), "an embedding product counted beside the head", ofForward})
	}
	list = append(list, Convention{"6ND", times(tokens, active, 6), fmt.Sprintf("6 · N · D, N = %s active parameters, D = %s tokens", groupedInt(counts.Active), grouped(tokens)), ofTraining})
	return append(list, published(m, p, tokens)...)
}

// What a convention counts.
const (
	ofForward  = "forward"
	ofTraining = "training"
)

// textbook is the whiteboard's formula and its two halves.
func textbook(m *estimator.Model, p estimator.Pass) []Convention {
	n, d, v, layers := p.Batch*p.Seq, m.D.Int(), m.V.Int(), m.N.Int()
	a := product(2*n, 12*layers, d, d)
	a.Add(a, product(2*n, v, d))
	b := product(4, layers, n, p.Seq, d)
	return []Convention{
		{"textbook", new(big.Int).Add(a, b), "2n(12Nd² + Vd) + 4Nn²d", ofForward},
		{"textbook, linear part A", a, "2n(12Nd² + Vd)", ofForward},
		{"textbook, attention part B", b, "4Nn²d", ofForward},
	}
}

// causalHalf is what causal masks hide of scores and values.
func causalHalf(work []estimator.Work) *big.Int {
	sum := new(big.Int)
	for _, w := range work {
		if w.Causal && (w.Kind == "scores" || w.Kind == "values") {
			sum.Add(sum, w.FLOPs)
		}
	}
	return sum.Rsh(sum, 1)
}

func routedWork(work []estimator.Work) *big.Int {
	sum := new(big.Int)
	for _, w := range work {
		if w.Role == estimator.RoutedExperts && w.Kind == "linear" {
			sum.Add(sum, w.FLOPs)
		}
	}
	return sum
}

func times(a, b *big.Int, n int64) *big.Int {
	c := new(big.Int).Mul(a, b)
	return c.Mul(c, big.NewInt(n))
}

func product(factors ...int64) *big.Int {
	n := big.NewInt(1)
	for _, f := range factors {
		n.Mul(n, big.NewInt(f))
	}
	return n
}
