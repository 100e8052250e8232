package estimator

import (
	"fmt"
	"math/big"
	"slices"
)

// qwen4Exp keeps several copies of the residual stream, which each block reads
// and writes through a low-rank mix, chooses the blocks of keys for full
// attention by an index, and adds n-gram embeddings in front of some layers.
func qwen4Exp(c *Config) Model {
	routed := sharedExpert
	routed.Sparse = func(int) bool { return true }
	kind, mixer, ngrams := c.fullEvery(c.IntOr("full_attention_interval", 4)), c.deltaNet(false), c.Ints("ple_layer_ids")
	slices.Sort(ngrams)
	ngrams = slices.Compact(ngrams)
	model := decoder(c, Decoder{FFN: c.routed(routed),
		Attn: func(i int) Block {
			if kind(i) == linearAttention {
				return mixer
			}
			return c.indexedAttention()
		},
		Layer: func(i int, attention, feedForward Block) []Block {
			layer := []Block{c.hyperConnection("attn_hyper_connection", true), attention, c.hyperConnection("mlp_hyper_connection", true), feedForward}
			if nth := slices.Index(ngrams, int64(i)+1); nth >= 0 {
				return append([]Block{c.ngramLayer(nth)}, layer...)
			}
			return layer
		}})
	model.Body[len(model.Body)-1] = c.hyperConnection("hyper_connection_mixer", false)
	return model
}

// hyperConnection mixes the copies of the residual stream into one input and
// weighs how the block's output is written back to each.
func (c *Config) hyperConnection(name string, writes bool) Block {
	wide, rank := c.D.Times(c.Size("C", "hc_count")), c.Size("R", "hc_lowrank")
	sub := []Block{RMSNorm("hc_norm", wide), Linear("input_mix_weight_down", wide, rank), Linear("input_mix_weight_up", rank, wide)}
	if writes {
		sub = append(sub, Linear("block_inject_weight", wide, c.Size("C", "hc_count")))
	}
	return Module(name, Other, sub...)
}

// indexedAttention scores pooled blocks of keys with small heads of its own
// first, whose keys are cached beside the others.
func (c *Config) indexedAttention() Block {
	heads, dim, pool := c.Size("Ai", "indexer_n_heads"), c.Size("Hi", "indexer_head_dim"), c.Int("indexer_compress_ratio")
	index := Module("indexer", Attention, Linear("index_qk_proj", c.D, heads.Plus(c.Size("Ki", "indexer_kv_heads")).Times(dim)),
		RMSNorm("q_layernorm", dim), RMSNorm("k_layernorm", dim))
	index.Extra = &Extra{Name: "index", Sizes: []Size{heads, dim, Const(pool)}, FLOPs: func(p Pass) *big.Int {
		blocks := wholeBlocks(p.Past+p.Seq, pool)
		return product(2, heads.Int(), dim.Int()).Mul(product(2, p.Batch, heads.Int(), dim.Int()), blocks.Sub(blocks, wholeBlocks(p.Past, pool)))
	}}
	b := c.gatedAttention(index)
	scores := *b.Scores
	scores.Cached, scores.CachedLibrary = scores.Cached.Plus(dim), scores.CachedLibrary.Plus(dim)
	b.Scores = &scores
	return b
}

// wholeBlocks sums ⌊k/r⌋ over k from 1 to n: the blocks that each of n queries
// sees.
func wholeBlocks(n, r int64) *big.Int {
	m := n / max(1, r)
	sum := product(r, m, m-1)
	return sum.Rsh(sum, 1).Add(sum, product(m, n-m*r+1))
}

// ngramLayer adds hashed n-gram embeddings, gated by the residual stream, and a
// dilated convolution over them. Each hash has a table of its own; all tables of
// a layer are one, cut into shards.
func (c *Config) ngramLayer(nth int) Block {
	n, heads := c.Size("n", "ngram_size"), c.Size("n", "ngram_size").Minus(Const(1)).Times(c.Size("An", "heads_per_ngram"))
	wide, width, kernel := c.D.Times(c.Size("C", "hc_count")), c.SizeOr("Dn", "ple_embed_dim", c.D), c.Size("W", "ple_conv_kernel_size")
	rows, each := c.ngramRows(int64(nth), heads.Int()), c.ratio("Hn", width, heads)
	size := chunks(rows, max(1, c.Int("split_ngram_parts")))
	tables := []Block{Buffer("layer_multipliers", n).Typed("I64"), Buffer("ngram_heads_vocab_sizes", heads).Typed("I64"),
		Buffer("ngram_heads_offsets", heads).Typed("I64")}
	if chunks(rows, size) > mostLayers {
		c.Fault("split_ngram_parts", "%d shards are more than can be described", chunks(rows, size))
		rows = 0
	}
	for k := int64(0); k*size < rows; k++ {
		tables = append(tables, Token(fmt.Sprintf("ngram_embedding.shard_%d", k), Named("Vn", min(size, rows-k*size)), each))
	}
	b := Module("ple", Other, Module("ple_embedding", NoRole, tables...), Linear("key_proj", width, wide), Linear("value_proj", width, c.D),
		RMSNorm("norm_key", wide), RMSNorm("norm_query", wide), RMSNorm("norm_conv", wide),
		convOver("conv1d", wide, kernel, false, func(p Pass) int64 { return p.Seq }))
	b.States = []State{{Name: "convolution", Elements: wide.Times(kernel.Minus(Const(1))).Times(n)}, {Name: "context", Elements: n.Minus(Const(1)), Bytes: 8}}
	return b
}

// ngramRows adds up the sizes of a layer's tables, consecutive primes from the
// base on, all layers after one another, and rounds up.
func (c *Config) ngramRows(layer, heads int64) int64 {
	const most = 1 << 16 // tables of all layers; the published model has 16 a layer
	base := c.Int("ngram_vocab_size_base")
	if heads < 0 || heads > most || (layer+1)*heads > most || base < 0 || base > 1<<40 {
		c.Fault("ngram_vocab_size_base", "%d rows and more in each of %d tables a layer are more than can be described", base, heads)
		return 0
	}
	var rows int64
	for prime, found := base, int64(0); found < (layer+1)*heads; prime++ {
		if big.NewInt(prime).ProbablyPrime(0) { // certain below 2⁶⁴
			if found++; found > layer*heads {
				rows += prime
			}
		}
	}
	divisor := max(1, c.Int("make_ngram_vocab_size_divisible_by"))
	return chunks(rows, divisor) * divisor
}
