package estimator

// Families in the mould of GPT-2: fused or whole-width projections, LayerNorm,
// two-matrix MLPs.
var gptFamily = []Arch{
	{"gpt2", "GPT2LMHeadModel", gpt2},
	{"falcon", "FalconForCausalLM", falcon},
}

func gpt2(c *Config) Model {
	F := c.SizeOr("F", "n_inner", c.D.X(4))
	prefix := c.under("transformer")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("wte", c.V, c.D), Position("wpe", c.C, c.D),
			Stack("h", c.N, func(int) []Block {
				return []Block{
					LayerNorm("ln_1", c.D),
					AttentionBlock("attn", GQA(c.A, c.A, c.H, 0), Conv1D("c_attn", c.D, c.D.X(3)), Conv1D("c_proj", c.D, c.D)),
					LayerNorm("ln_2", c.D),
					MLPBlock("mlp", Conv1D("c_fc", c.D, F), Conv1D("c_proj", F, c.D))}
			}),
			LayerNorm("ln_f", c.D)},
		Head: c.head(join(prefix, "wte.weight"), c.D, Heads{Tokens: "classifier"})}
}

// falcon has three layouts of its fused projection: one key and value head for
// all (multi_query), as many as query heads, or groups (new decoder
// architecture). The library caches keys and values of the last one broadcast
// to all heads.
func falcon(c *Config) Model {
	grouped, bias := c.Bool("new_decoder_architecture"), c.Bool("bias")
	F := c.SizeOr("F", "ffn_hidden_size", c.D.X(4))
	switch {
	case grouped:
		c.heads(c.A, c.firstOr("K", c.A, "num_kv_heads"), "")
	case c.Bool("multi_query"):
		c.heads(c.A, Const(1), "")
	default:
		c.heads(c.A, c.A, "")
	}
	scores := GQA(c.A, c.K, c.H, 0)
	if grouped {
		scores.CachedLibrary = c.Q.X(2)
	}
	attention := AttentionBlock("self_attention", scores,
		Linear("query_key_value", c.D, c.Q.Plus(c.U.X(2))).Bias(bias), Linear("dense", c.Q, c.D).Bias(bias))
	mlp := MLPBlock("mlp", Linear("dense_h_to_4h", c.D, F).Bias(bias), Linear("dense_4h_to_h", F, c.D).Bias(bias))
	two := grouped && c.IntOr("num_ln_in_parallel_attn", 2) == 2
	prefix := c.under("transformer")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("word_embeddings", c.V, c.D),
			Stack("h", c.N, func(int) []Block {
				switch parallel := c.Bool("parallel_attn"); {
				case parallel && two:
					return []Block{LayerNorm("ln_attn", c.D), attention, LayerNorm("ln_mlp", c.D), mlp}
				case parallel:
					return []Block{LayerNorm("input_layernorm", c.D), attention, mlp}
				}
				return []Block{LayerNorm("input_layernorm", c.D), attention, LayerNorm("post_attention_layernorm", c.D), mlp}
			}),
			LayerNorm("ln_f", c.D)},
		Head: c.head(join(prefix, "word_embeddings.weight"), c.D, Heads{Tokens: "classifier"})}
}
