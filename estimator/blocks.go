package estimator

import "slices"

// Linear is y = W·x, stored [out, in], without a bias.
func Linear(name string, in, out Size) Block {
	return Block{Kind: LinearKind, Name: name, In: in, Out: out,
		Params: []Param{{Name: "weight", Shape: []Size{out, in}}}}
}

// Product is the work of a linear map whose matrix is part of another tensor.
func Product(in, out Size) Block { return Block{Kind: LinearKind, In: in, Out: out} }

// Conv1D is GPT-2's linear: stored [in, out], always with a bias.
func Conv1D(name string, in, out Size) Block {
	b := Linear(name, in, out).Bias(true)
	b.Params[0].Shape = []Size{in, out}
	return b
}

// RMSNorm has a weight of d.
func RMSNorm(name string, d Size) Block {
	return Block{Kind: NormKind, Name: name, Role: Norm, In: d, Out: d,
		Params: []Param{{Name: "weight", Shape: []Size{d}}}}
}

// LayerNorm has a weight and a bias of d.
func LayerNorm(name string, d Size) Block {
	return RMSNorm(name, d).Bias(true)
}

// Unweighted is a normalisation without parameters.
func Unweighted(name string, d Size) Block {
	return Block{Kind: NormKind, Name: name, Role: Norm, In: d, Out: d}
}

// Token is the look-up table of n tokens, stored [n, d].
func Token(name string, n, d Size) Block { return embedding(name, TokenEmbedding, n, d) }

// Position is the look-up table of n positions, stored [n, d].
func Position(name string, n, d Size) Block { return embedding(name, PositionEmbedding, n, d) }

// TokenType is the look-up table of n segment types, stored [n, d].
func TokenType(name string, n, d Size) Block { return embedding(name, TypeEmbedding, n, d) }

func embedding(name string, role Role, n, d Size) Block {
	return Block{Kind: EmbeddingKind, Name: name, Role: role, Out: d,
		Params: []Param{{Name: "weight", Shape: []Size{n, d}}}}
}

// DepthConv is a causal convolution over time, one filter a channel, stored
// [channels, 1, kernel].
func DepthConv(name string, channels, kernel Size, bias bool) Block {
	b := Block{Kind: ConvKind, Name: name, Out: channels,
		Params: []Param{{Name: "weight", Shape: []Size{channels, Const(1), kernel}}}}
	return b.Bias(bias)
}

// Conv is a convolution between dense channels, stored [out, in, kernel…],
// without a bias. It is a linear map of a patch of the kernel's size; its rows
// are the patches.
func Conv(name string, in, out Size, kernel ...Size) Block {
	patch := in
	for _, side := range kernel {
		patch = patch.Times(side)
	}
	b := Linear(name, patch, out).Shaped(append([]Size{out, in}, kernel...)...)
	b.Role = Convolution
	return b
}

// Raw is a parameter that no module wraps; its name is the tensor's.
func Raw(name string, role Role, shape ...Size) Block {
	return Block{Kind: RawKind, Name: name, Role: role, Params: []Param{{Shape: shape}}}
}

// Buffer is a tensor that is stored and is no parameter.
func Buffer(name string, shape ...Size) Block {
	return Block{Kind: BufferKind, Name: name, Params: []Param{{Shape: shape, Buffer: true}}}
}

// Module groups blocks under a name and gives those without a role this one.
func Module(name string, role Role, sub ...Block) Block {
	return Block{Name: name, Role: role, Sub: withRole(role, sub)}
}

// MLPBlock is a feed-forward block.
func MLPBlock(name string, sub ...Block) Block {
	b := Module(name, MLP, sub...)
	b.Kind = MLPKind
	return b
}

// AttentionBlock is attention with these scores and any projections: fused,
// split or low-rank.
func AttentionBlock(name string, scores Scores, sub ...Block) Block {
	b := Module(name, Attention, sub...)
	b.Kind, b.Scores = AttentionKind, &scores
	return b
}

// Experts is a list of count equal modules of which used run for each token.
func Experts(name string, count, used Size, sub ...Block) Block {
	b := Module(name, RoutedExperts, sub...)
	b.Kind, b.Count, b.Index, b.Used = ExpertsKind, count, Upto(count.Int()), atMost(used, count)
	return b
}

// Stacked is count linears in one tensor, stored [count, in, out], of which used
// run for each token.
func Stacked(name string, count, used, in, out Size) Block {
	return Block{Kind: StackedKind, Name: name, Role: RoutedExperts, Count: count, Used: atMost(used, count), In: in, Out: out,
		Params: []Param{{Shape: []Size{count, in, out}}}}
}

// BlockDiagonal is count linears side by side, each on its own share of the
// features, in one tensor that is stored [count, out, in].
func BlockDiagonal(name string, count, in, out Size) Block {
	b := Stacked(name, count, count, in, out).Shaped(count, out, in)
	b.Role = NoRole
	return b
}

// StackedBias is the biases of count linears in one tensor, stored [count, d].
func StackedBias(name string, count, used, d Size) Block {
	b := Stacked(name, count, used, Size{}, d).Shaped(count, d)
	b.Params[0].Bias = true
	return b
}

// Neurons is count experts of a single neuron, one vector of d each, of which
// used run for each token.
func Neurons(name string, count, used, d Size) Block {
	return Stacked(name, count, used, d, Const(1)).Shaped(count, d).under("weight")
}

func (b Block) under(param string) Block {
	b.Params = slices.Clone(b.Params)
	b.Params[0].Name = param
	return b
}

// Biases is the biases of linears whose weights are stored elsewhere, where on.
func Biases(on bool, d Size, names ...string) Block {
	var group Block
	for _, name := range names {
		if on {
			group.Sub = append(group.Sub, rawBias(join(name, "bias"), d))
		}
	}
	return group
}

// rawBias is a bias under a name of its own.
func rawBias(name string, d Size) Block {
	b := Raw(name, NoRole, d)
	b.Params[0].Bias = true
	return b
}

// withRole returns a copy of the blocks in which those without a role have one.
func withRole(role Role, blocks []Block) []Block {
	blocks = slices.Clone(blocks)
	for i := range blocks {
		if blocks[i].Role == NoRole {
			blocks[i].Role = role
		}
		blocks[i].Sub = withRole(role, blocks[i].Sub)
	}
	return blocks
}

// GQA is attention of A query heads over K key and value heads of H features
// each. With K = A it is multi-head, with K = 1 multi-query attention.
func GQA(A, K, H Size, window int64) Scores {
	cached := K.Times(H).X(2)
	return Scores{Heads: A, KVHeads: K, KeyDim: H, ValueDim: H,
		Cached: cached, CachedLibrary: cached, Window: window}
}

// Valued gives the values' heads another width than the keys'.
func (s Scores) Valued(v Size) Scores {
	s.ValueDim = v
	s.Cached = s.KVHeads.Times(s.KeyDim.Plus(v))
	s.CachedLibrary = s.Cached
	return s
}

// atMost bounds how many experts run by how many there are: no token can use an
// expert twice.
func atMost(used, count Size) Size {
	if used.Int() > count.Int() && count.Known() {
		return count
	}
	return used
}
