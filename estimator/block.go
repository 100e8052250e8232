package estimator

import (
	"math/big"
	"slices"
)

// Block is a module of a model, as plain data: a leaf with tensors of its own,
// or a group of others. Blocks stand in the order in which they run. Results
// are walks over the tree; nothing edits a block once it stands in one.
type Block struct {
	Kind Kind
	Name string // module path below the parent; "" adds nothing to the path
	Role Role

	Params []Param // the block's own tensors
	Sub    []Block

	// A list of equal modules, name.0 to name.(n−1), has Count copies and, where
	// not all of them run for every token, the number Used that do.
	Count Size
	Index Indices // which copies this block stands for; set with Count
	Used  Size

	// Work: a linear map from In to Out features, run on so many Rows.
	In, Out Size
	Rows    Rows
	Repeat  int64   // runs on each of its rows; 0 is one
	Merge   int64   // tokens of its kind that make one row; 0 is one
	Scores  *Scores // attention over keys
	States  []State // what a decoder keeps besides keys and values
	Extra   *Extra  // work that no matrix explains

	Tower  string // vision, audio, encoder: set on the outermost block of a tower
	Shared bool   // runs here, but is stored where it stood first
	Idle   bool   // stored, but does not run for the token at hand

	Saving Saving // what is peculiar in what a training step keeps of it
}

// Kind names what a block computes.
type Kind uint8

// The kinds of block.
const (
	Group Kind = iota
	LinearKind
	EmbeddingKind
	NormKind
	ConvKind
	RawKind
	BufferKind
	AttentionKind
	MLPKind
	ExpertsKind
	StackedKind
	StackKind
)

// Param is one tensor of a block.
type Param struct {
	Name    string // below the block's path: weight, bias; "" is the block's path itself
	Shape   []Size
	Bias    bool
	Buffer  bool   // persistent, but no parameter
	TiedTo  string // full name of the tensor that this one shares; then it is not stored
	Unsaved bool   // a parameter that checkpoints leave out, since it can be computed
	DType   string // where the model fixes it whatever the checkpoint's dtype
}

// Rows says how often a linear map runs in one forward pass.
type Rows uint8

// The kinds of rows, for a batch of b sequences with s new tokens each.
const (
	PerToken    Rows = iota // b·s
	PerLogit                // b·k, k the number of positions that get logits
	PerSequence             // b
	PerKey                  // b·T, every cached token again
	PerMemory               // b·e, the encoder's tokens: in the first step, later steps find them cached
	PerCrossed              // b·s where there is an encoder beside, else 0
	Elsewhere               // not here: for another layer that shares the block
)

// Scores describes attention over keys: softmax(Q·Kᵀ)·V.
type Scores struct {
	Heads, KVHeads Size
	KeyDim         Size // of one head
	ValueDim       Size

	// Cached elements per token: what serving engines keep, and what the
	// reference library's cache holds where it differs.
	Cached        Size
	CachedLibrary Size
	Expanded      Size // as full keys and values, where the cache holds a latent; else zero
	Latent        Size // the cached latent without the rotary key, which all heads share

	Window     int64  // tokens; 0 is unlimited
	Stride     int64  // one key stands for so many tokens; 0 is 1
	Masked     bool   // the library keeps and multiplies the tokens before the window too
	Cross      bool   // keys and values come from the encoder
	Borrowed   bool   // keys and values of an earlier layer: nothing is cached here
	Bidirected bool   // an encoder's: no cache
	Sparse     Sparse // which keys a query sees, where not all
	Memory     bool   // of the encoder beside a decoder: its tokens are the queries and the keys

	Saving ScoresSaving // what is peculiar in what a training step keeps of it
}

// Sparse is BigBird's choice of keys (Zaheer et al. 2020, arXiv:2007.14062): the
// sequence falls into blocks; the first and the last see and are seen by all, the
// others see themselves, their neighbours and so many random blocks. Short
// sequences are attended to whole.
type Sparse struct{ Block, Random int64 }

// State is what a recurrent or convolution layer keeps for each sequence,
// whatever its length.
type State struct {
	Name     string
	Elements Size
	Bytes    int64 // of one element; 0 is the cache's dtype
}

// Extra is matrix work that no parameter explains: scans, convolutions.
type Extra struct {
	Name  string
	Sizes []Size // what FLOPs depends on; two extras of one name and equal sizes are equal
	FLOPs func(Pass) *big.Int
}

// Linear is y = W·x, stored [out, in], without a bias.
func Linear(name string, in, out Size) Block {
	return Block{Kind: LinearKind, Name: name, In: in, Out: out,
		Params: []Param{{Name: "weight", Shape: []Size{out, in}}}}
}

// Conv1D is GPT-2's linear: stored [in, out], always with a bias.
func Conv1D(name string, in, out Size) Block {
	b := Linear(name, in, out).Bias(true)
	b.Params[0].Shape = []Size{in, out}
	return b
}

// Bias adds the bias of a linear, where on.
func (b Block) Bias(on bool) Block {
	if on {
		b.Params = append(slices.Clone(b.Params), Param{Name: "bias", Shape: []Size{b.Out}, Bias: true})
	}
	return b
}

// Called gives the block another name.
func (b Block) Called(name string) Block {
	b.Name = name
	return b
}

// On sets how often the block runs.
func (b Block) On(rows Rows) Block {
	b.Rows = rows
	return b
}

// Repeated makes all work in the block run n times for each row, but for what an
// encoder's tokens need once.
func (b Block) Repeated(n int64) Block {
	if n == 1 {
		return b
	}
	if b.Rows != PerMemory {
		b.Repeat = n
	}
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Repeated(n)
	}
	return b
}

// Merging makes one row of n tokens, throughout the block.
func (b Block) Merging(n int64) Block {
	b.Merge = n
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Merging(n)
	}
	return b
}

// Throughout sets how often all blocks in the block run that would run for every
// token.
func (b Block) Throughout(rows Rows) Block {
	if b.Rows == PerToken {
		b.Rows = rows
	}
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Throughout(rows)
	}
	return b
}

// As sets the block's role, and that of all blocks in it.
func (b Block) As(role Role) Block {
	b.Role = role
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].As(role)
	}
	return b
}

// TiedTo makes the weight share the tensor of that full name, where on.
func (b Block) TiedTo(target string, on bool) Block {
	return b.tie("weight", target, on)
}

func (b Block) tie(param, target string, on bool) Block {
	if !on {
		return b
	}
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		if b.Params[i].Name == param {
			b.Params[i].TiedTo = target
		}
	}
	return b
}

// Like makes all of the block's tensors share those of the module of that full
// name, where on.
func (b Block) Like(target string, on bool) Block {
	if !on {
		return b
	}
	b.Params = slices.Clone(b.Params)
	for i, p := range b.Params {
		b.Params[i].TiedTo = target
		if p.Name != "" {
			b.Params[i].TiedTo = target + "." + p.Name
		}
	}
	b.Sub = slices.Clone(b.Sub)
	for i, sub := range b.Sub {
		b.Sub[i] = sub.Like(join(target, sub.Name), on)
	}
	return b
}

// Bare stores the weight under the block's own name, without ".weight".
func (b Block) Bare() Block {
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		if b.Params[i].Name == "weight" {
			b.Params[i].Name = ""
		}
	}
	return b
}

// Shaped stores the weight in another shape of as many elements.
func (b Block) Shaped(shape ...Size) Block {
	b.Params = slices.Clone(b.Params)
	b.Params[0].Shape = shape
	return b
}

// Typed fixes the dtype of the block's tensors, whatever the checkpoint's.
func (b Block) Typed(dtype string) Block {
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		b.Params[i].DType = dtype
	}
	return b
}

// Again marks the block, and all in it, as run here but stored elsewhere.
func (b Block) Again() Block {
	b.Shared = true
	return b
}

// In sets the tower to which the block and all in it belong.
func (b Block) InTower(name string) Block {
	b.Tower = name
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
	b.Kind, b.Count, b.Index, b.Used = ExpertsKind, count, Upto(count.Int()), used
	return b
}

// Stacked is count linears in one tensor, stored [count, in, out], of which used
// run for each token.
func Stacked(name string, count, used, in, out Size) Block {
	return Block{Kind: StackedKind, Name: name, Role: RoutedExperts, Count: count, Used: used, In: in, Out: out,
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
			b := Raw(join(name, "bias"), NoRole, d)
			b.Params[0].Bias = true
			group.Sub = append(group.Sub, b)
		}
	}
	return group
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
