package estimator

// Latent is multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section
// 2.1): keys and values are rebuilt from a latent of kv_lora_rank features and
// one rotary key that all heads share; both are what is cached. Queries pass a
// latent of their own unless q_lora_rank is null.
type Latent struct {
	Heads             Size
	Query, KV         Size // widths of the latents; Query is 0 where there is none
	Nope, Rope, Value Size // of one head: key without and with rotation, value
	Bias              bool // of the projections from and to the hidden state
	Window            int64
	Output            string // name of the last projection, else o_proj

	Up   func(query, keys Size) Block // the query's way up from its latent; else one linear
	More []Block                      // the family's own: indexer, gates, sinks
}

// latent reads the sizes of latent attention.
func (c *Config) latent(more ...Block) Latent {
	l := Latent{Heads: c.A, KV: c.Size("R", "kv_lora_rank"), Nope: c.Size("Hn", "qk_nope_head_dim"),
		Rope: c.Size("P", "qk_rope_head_dim"), Value: c.SizeOr("Hv", "v_head_dim", c.ratio("Hv", c.D, c.A)),
		Bias: c.Switch("attention_bias"), More: more}
	l.Query = c.SizeOr("Rq", "q_lora_rank", Size{})
	return l
}

// mla is latent attention by the config's sizes, with blocks of the family's own.
func (c *Config) mla(more ...Block) Block { return c.latentAttention(c.latent(more...)) }

func (c *Config) latentAttention(l Latent) Block {
	key := l.Nope.Plus(l.Rope)
	keys, values := l.Heads.Times(key), l.Heads.Times(l.Value)
	if l.Up == nil {
		l.Up = func(query, keys Size) Block { return Linear("q_b_proj", query, keys) }
	}
	sub := []Block{Linear("q_proj", c.D, keys)}
	if !l.Query.IsZero() {
		sub = []Block{Linear("q_a_proj", c.D, l.Query).Bias(l.Bias), RMSNorm("q_a_layernorm", l.Query), l.Up(l.Query, keys)}
	}
	sub = append(sub,
		Linear("kv_a_proj_with_mqa", c.D, l.KV.Plus(l.Rope)).Bias(l.Bias),
		RMSNorm("kv_a_layernorm", l.KV),
		Linear("kv_b_proj", l.KV, l.Heads.Times(l.Nope.Plus(l.Value))).On(PerKey))
	sub = append(append(sub, l.More...), Linear(or(l.Output, "o_proj"), values, c.D).Bias(l.Bias))
	cached := l.KV.Plus(l.Rope)
	return AttentionBlock("self_attn", Scores{Heads: l.Heads, KVHeads: l.Heads, KeyDim: key, ValueDim: l.Value,
		Cached: cached, CachedLibrary: cached, Expanded: keys.Plus(values), Latent: l.KV, Window: l.Window}, sub...)
}

// indexer picks the keys that sparse attention looks at (DeepSeek-V3.2, "DeepSeek
// Sparse Attention"): queries of its own from the query's latent, one key a token,
// which is cached, and a weight for each of its heads, by which the heads' scores
// are added up. Attention itself is computed over all keys and masked.
func (c *Config) indexer() Block {
	n, h := c.Size("I", "index_n_heads"), c.Size("Hi", "index_head_dim")
	return AttentionBlock("indexer", Scores{Heads: n, KVHeads: Const(1), KeyDim: h, ValueDim: Const(1), Cached: h, CachedLibrary: h},
		Linear("wq_b", c.Size("Rq", "q_lora_rank"), n.Times(h)), Linear("wk", c.D, h), LayerNorm("k_norm", h),
		Linear("weights_proj", c.D, n))
}
