package estimator

import (
	"math/big"
	"slices"
)

// Work is the matrix work of one kind of module in a forward pass: two FLOPs a
// multiply-add, as the framework's counter has it. Look-ups, norms, activations,
// softmax, rotary embeddings and biases count nothing.
type Work struct {
	Template string // of the module, with "*" where a number stands
	Kind     string // linear, scores (Q·Kᵀ), values (P·V), convolution, or the name of an extra
	Role     Role
	Tower    string
	Layers   Indices // the layers whose work is summed here; nil outside layers
	FLOPs    *big.Int

	Part      Part // of attention
	EndsLayer bool // nothing follows it in its layer
	Pixels    bool // its input needs no gradient
	Causal    bool // scores and values of which a mask hides half
}

// Forward returns the work of a forward pass, module by module in the order in
// which they run, equal modules summed.
func (m *Model) Forward(p Pass) []Work {
	var work []Work
	m.walk(func(l *leaf) {
		first := len(work)
		add := func(kind string, flops *big.Int) {
			if flops.Sign() == 0 {
				return
			}
			flops.Mul(flops, big.NewInt(l.used.Int()))
			if i := slices.IndexFunc(work[first:], func(w Work) bool { return w.Kind == kind }); i >= 0 {
				work[first+i].FLOPs.Add(work[first+i].FLOPs, flops)
				return
			}
			work = append(work, Work{Template: l.template(Param{}), Kind: kind, Role: l.block.Role, Tower: l.tower, Layers: l.layer,
				FLOPs: flops, Part: l.part(), EndsLayer: l.endsLayer(), Pixels: l.block.Pixels, Causal: l.block.causal()})
		}
		for _, p := range l.passes(m.complete(p)) {
			l.forward(p, add)
		}
	})
	return work
}

// causal reports whether the attention hides what comes later.
func (b *Block) causal() bool {
	return b.Scores != nil && !b.Scores.Bidirected && !b.Scores.Cross
}

// passes are what the leaf runs on: the pass itself, its images, or its sound.
func (l *leaf) passes(p Pass) []Pass {
	list := []Pass{p}
	if l.view != nil {
		list = l.view.passes(p)
	}
	for _, span := range l.spans {
		var spanned []Pass
		for _, p := range list {
			spanned = append(spanned, span.passes(p)...)
		}
		list = spanned
	}
	return list
}

// forward adds the leaf's work in one pass.
func (l *leaf) forward(p Pass, add func(kind string, flops *big.Int)) {
	repeat := max(1, l.block.Repeat)
	switch b := l.block; b.Kind {
	case LinearKind:
		add("linear", product(2, l.rows(p), repeat, b.In.Int(), b.Out.Int()))
	case StackedKind:
		add("linear", product(2, l.rows(p), repeat, b.Used.Int(), b.In.Int(), b.Out.Int()))
	case ConvKind:
		kernel := b.Params[0].Shape[2].Int()
		add("convolution", product(2, p.Batch, b.Out.Int(), kernel, p.convolved(kernel)))
	}
	if s := l.block.Scores; s != nil {
		scores, values := p.pairs(s)
		add("scores", new(big.Int).Mul(scores, product(2, repeat, p.Batch, s.Heads.Int(), s.KeyDim.Int())))
		add("values", new(big.Int).Mul(values, product(2, repeat, p.Batch, s.Heads.Int(), s.ValueDim.Int())))
	}
	if x := l.block.Extra; x != nil {
		add(x.Name, x.FLOPs(p))
	}
}

// rows returns how often a linear map runs; for every key means for those that
// the attention around it sees.
func (l *leaf) rows(p Pass) int64 {
	if l.block.Rows == PerKey {
		for _, group := range slices.Backward(l.within) {
			if group.Scores != nil {
				return p.Batch * p.keys(group.Scores)
			}
		}
	}
	return p.rows(l.block.Rows) / max(1, l.block.Merge)
}

// Total adds up work.
func Total(work []Work) *big.Int {
	sum := new(big.Int)
	for _, w := range work {
		sum.Add(sum, w.FLOPs)
	}
	return sum
}

func product(factors ...int64) *big.Int {
	n := big.NewInt(1)
	for _, f := range factors {
		n.Mul(n, big.NewInt(f))
	}
	return n
}
