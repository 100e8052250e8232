package estimator

// The layers of DeepSeek-V4 with compressed keys.
const (
	compressedSparse  = "compressed_sparse_attention"
	heavilyCompressed = "heavily_compressed_attention"
)

// compressedAttention is DeepSeek-V4's: one head of keys which are the values
// too, an output projection through groups of bottlenecks, a window, and keys
// that stand for several tokens each.
func (c *Config) compressedAttention(kind string) Block {
	Rq, G, Ro := c.Size("Rq", "q_lora_rank"), c.Size("G", "o_groups"), c.Size("Ro", "o_lora_rank")
	scores := GQA(c.A, Const(1), c.H, c.Int("sliding_window"))
	scores.Cached = c.H
	sub := []Block{Linear("wq_a", c.D, Rq), RMSNorm("q_norm", Rq), Linear("wq_b", Rq, c.Q),
		Linear("wkv", c.D, c.H), RMSNorm("norm", c.H), Raw("attn_sink", Attention, c.A)}
	if kind != slidingAttention {
		scores.CachedLibrary = c.H
		rate, series := c.compressRate(kind, "compress_rate_hca", 128), int64(1)
		if kind == compressedSparse {
			rate, series = c.compressRate(kind, "compress_rate_csa", 4), 2
			I, Hi := c.Size("I", "index_n_heads"), c.Size("Hi", "index_head_dim")
			sub = append(sub, Module("indexer", Attention, Linear("wq_b", Rq, I.Times(Hi)), Linear("weights_proj", c.D, I),
				c.compressor(Scores{Heads: I, KeyDim: Hi}, series, rate)))
		}
		sub = append(sub, c.compressor(Scores{Heads: c.A, KeyDim: c.H, ValueDim: c.H}, series, rate))
	}
	group := c.ratio("Hg", c.Q, G)
	return AttentionBlock("attn", scores, append(sub, Linear("wo_a", group, G.Times(Ro)), Linear("wo_b", G.Times(Ro), c.D))...)
}

// compressor makes one key of so many tokens, as a sum weighed by gates; with
// two series a key draws on the tokens before its own, too. Tokens that wait for
// their group to fill, at most rate of them, are not in the cache's size.
func (c *Config) compressor(s Scores, series, rate int64) Block {
	s.KVHeads, s.Cached, s.CachedLibrary, s.Stride = Const(1), s.KeyDim, s.KeyDim, rate
	wide := s.KeyDim.X(series)
	return AttentionBlock("compressor", s, Linear("wkv", c.D, wide), Linear("wgate", c.D, wide),
		Raw("ape", Attention, Const(rate), wide), RMSNorm("norm", s.KeyDim))
}

func (c *Config) compressRate(kind, field string, otherwise int64) int64 {
	if n := c.Value("compress_rates").Get(kind).Int(); n > 0 {
		otherwise = n
	}
	return max(1, c.IntOr(field, otherwise))
}

// compressions lists the kinds of the layers where layer_types does not: by the
// ratios of published configs, else two heavily compressed ones and then in
// turns.
func (c *Config) compressions() []string {
	kinds := append([]string{heavilyCompressed, heavilyCompressed}, cycle([]string{heavilyCompressed, compressedSparse}, c.N.Int())...)
	if ratios := c.Ints("compress_ratios"); len(ratios) > 0 {
		kinds = nil
		for _, ratio := range ratios {
			kinds = append(kinds, map[int64]string{0: slidingAttention, 4: compressedSparse, 128: heavilyCompressed}[ratio])
		}
	}
	return kinds
}
