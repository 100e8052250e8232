package estimator

// Families with the names of Megatron-LM.
var megatronFamily = []Arch{
	{"bloom", "BloomForCausalLM", bloom},
	{"falcon", "FalconForCausalLM", falcon},
	{"gpt_neox", "GPTNeoXForCausalLM", func(c *Config) Model { return gptNeoX(c, "gpt_neox") }},
	{"gpt_neox_japanese", "GPTNeoXJapaneseForCausalLM", gptNeoXJapanese},
}

func bloom(c *Config) Model {
	c.D = c.firstOr("D", c.D, "n_embed", "hidden_size")
	return gpt(c, GPT{Like: megatronNames, F: c.D.X(4), Names: Names{EmbedNorm: "word_embeddings_layernorm"}})
}

// falcon has three layouts of its fused projection: one key and value head for
// all (multi_query), as many as query heads, or groups (new decoder
// architecture). The library caches keys and values of the last one broadcast
// to all heads.
func falcon(c *Config) Model {
	c.D = c.firstOr("D", c.D, "n_embed", "hidden_size")
	d := GPT{Like: megatronNames, Width: "ffn_hidden_size", Bias: c.by("bias")}
	norms := int64(1)
	switch {
	case c.Bool("new_decoder_architecture"):
		norms, d.KV = 2, c.firstOr("K", c.A, "num_kv_heads")
		d.Scores = func(_ int, s Scores) Scores { s.CachedLibrary = c.Q.X(2); return s }
	case c.Bool("multi_query"):
		d.KV = Const(1)
	}
	if c.Bool("parallel_attn") {
		if c.IntOr("num_ln_in_parallel_attn", norms) == 2 {
			d.Names = Names{Norm1: "ln_attn", Norm2: "ln_mlp"}
		} else {
			d.Place = SharedNorm
		}
	}
	return gpt(c, d)
}

// gptNeoX runs attention and MLP side by side, each behind a norm of its own, or
// one after the other: the tensors are the same.
func gptNeoX(c *Config, prefix string) Model {
	bias := c.by("attention_bias")
	return gpt(c, GPT{Like: megatronNames, Prefix: prefix, Width: "intermediate_size", QKVBias: bias, OutBias: bias,
		Names: Names{Token: "embed_in", Stack: "layers", Attn: "attention", Last: "final_layer_norm"},
		Heads: Heads{Head: "embed_out"}})
}

// gptNeoXJapanese has no biases but one, of the last layer's attention output.
func gptNeoXJapanese(c *Config) Model {
	d := GPT{Like: megatronNames, Prefix: "gpt_neox_japanese", F: c.D.X(c.Int("intermediate_multiple_size")),
		Bias: Off, Heads: Heads{Head: "embed_out"},
		Names: Names{Token: "embed_in", Stack: "layers", Attn: "attention", Last: "final_layer_norm"}}
	d.Within = func(i int) []Block {
		if int64(i) < c.N.Int()-1 {
			return nil
		}
		return []Block{biasOf("dense_bias", c.D)}
	}
	return gpt(c, d)
}
