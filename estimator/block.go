package estimator

import "math/big"

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

	Span   *Span  // on how many positions it and all in it run; nil: as what is around it
	View   *View  // how it sees images, for itself and all in it; nil: it runs on tokens
	Pixels bool   // takes the input itself, which needs no gradient
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
	PerPosition             // s, whatever the batch
	PerModel                // once
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
type Sparse struct {
	Block, Random int64

	// Other encoders cut the sequence into blocks of so many tokens, the last one
	// padded, which see themselves,
	Local   int64
	Beside  int64 // so many blocks beside them,
	Summary int64 // a key for each so many tokens of the whole sequence,
	Global  int64 // and so many learned tokens at its end, which see all.

	// Longformer's blocks are multiplied in overlapping pairs (Beltagy et al. 2020,
	// arXiv:2004.05150).
	Pairs bool
}

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
