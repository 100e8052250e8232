package cost

import (
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// KV is what a model keeps between the steps of a generation. Bytes are exact;
// where a dtype packs several elements to a byte a total is rounded up.
type KV struct {
	Batch  int64  `json:"batch"`
	Tokens int64  `json:"tokens"`
	DType  string `json:"dtype"`

	TotalBytes    *big.Int  `json:"total_bytes"`
	BytesPerToken *big.Int  `json:"bytes_per_token"` // of one sequence: all attention layers, no window full, fixed states apart
	StateBytes    *big.Int  `json:"state_bytes"`     // fixed states of all sequences, in TotalBytes
	Layers        []KVLayer `json:"layers"`          // none: an encoder, which keeps nothing
	Convention    string    `json:"convention"`
	BlockTokens   int64     `json:"block_tokens,omitempty"` // paged allocation: tokens a block
	Latent        bool      `json:"latent"`                 // the model has latents to keep in place of keys and values
	Expanded      bool      `json:"expanded"`               // they are kept as full keys and values
	Formulas      []Formula `json:"formulas"`               // each kind of layer in symbols, in numbers, as a result
	Assumptions   []string  `json:"assumptions"`
}

// KVLayer is what one layer keeps.
type KVLayer struct {
	Layer  int64    `json:"layer"`
	Kind   string   `json:"kind"` // full, window, latent, cross, state
	Window int64    `json:"window,omitempty"`
	Bytes  *big.Int `json:"bytes"`
}

// KVOptions say whose cache is meant.
type KVOptions struct {
	Library  bool  // the reference library's cache, else a serving engine's
	Expanded bool  // latents as full keys and values
	Reserved bool  // windows take as much room as full attention
	Block    int64 // tokens of a block of a paged cache; 0 allocates token by token
}

// KVCache answers for so many cached tokens of each sequence.
func KVCache(m *estimator.Model, batch, tokens, encoder int64, dtype ElementType, opts KVOptions) KV {
	use := estimator.CacheUse{Batch: batch, Tokens: tokens, EncoderSeq: encoder, ElementBytes: dtype.Bytes,
		Expanded: opts.Expanded, Reserved: opts.Reserved}
	kv := KV{Batch: batch, Tokens: tokens, DType: dtype.Name, Convention: "engine", BlockTokens: opts.Block,
		Layers: []KVLayer{}, Assumptions: BeyondPositions(m, tokens)}
	if opts.Library {
		use.Convention, kv.Convention = estimator.Library, "library"
	}
	if opts.Block > 0 {
		use.Tokens = (tokens + opts.Block - 1) / opts.Block * opts.Block
	}
	total, states, perToken := new(big.Rat), new(big.Rat), new(big.Rat)
	for _, layer := range m.Cache() {
		bytes := layer.Bytes(use)
		total.Add(total, bytes)
		states.Add(states, layer.StateBytes(use))
		perToken.Add(perToken, layer.PerToken(use))
		if layer.Scores != nil && !layer.Scores.Expanded.IsZero() {
			kv.Latent, kv.Expanded = true, opts.Expanded
		}
		kv.Layers = append(kv.Layers, splitLayers(&layer, bytes, opts)...)
	}
	kv.TotalBytes, kv.StateBytes, kv.BytesPerToken = ceil(total), ceil(states), ceil(perToken)
	sortLayers(kv.Layers)
	kv.Formulas = explainCache(m, use, &kv)
	return kv
}

// splitLayers gives each of a run of equal layers its own line.
func splitLayers(l *estimator.CacheLayer, bytes *big.Rat, opts KVOptions) []KVLayer {
	n := max(l.Layers.Len(), 1)
	each := new(big.Rat).Quo(bytes, big.NewRat(n, 1))
	line := KVLayer{Kind: kindOf(l, opts), Bytes: ceil(each)}
	if l.Scores != nil {
		line.Window = l.Scores.Window
	}
	var lines []KVLayer
	for i := range n {
		line.Layer = max(l.Layers.At(i), 0)
		lines = append(lines, line)
	}
	return lines
}

func kindOf(l *estimator.CacheLayer, opts KVOptions) string {
	switch s := l.Scores; {
	case s == nil:
		return "state"
	case s.Cross:
		return "cross"
	case !s.Expanded.IsZero() && !opts.Expanded:
		return "latent"
	case s.Window > 0:
		return "window"
	}
	return "full"
}

// ceil rounds up to a whole number.
func ceil(r *big.Rat) *big.Int {
	n, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		n.Add(n, big.NewInt(1))
	}
	return n
}
