package estimator

// Types that bring their own code and their own ways.
var remoteOddFamily = []Arch{
	{"chatglm", "ChatGLMForConditionalGeneration", chatGLM},
	{"openelm", "OpenELMForCausalLM", openELM},
}

// chatGLM names ChatGLM-6B and, under the same type, its successors. Their
// configs name the body alone as architecture; the files are of the model with
// its head.
func chatGLM(c *Config) Model {
	if c.Task == BaseModel {
		c.Task = ConditionalGeneration
	}
	if !c.Given("padded_vocab_size") {
		return chatGLM1(c)
	}
	return chatGLM2(c)
}

// chatGLM1 (GLM, arXiv:2210.02414) rotates the halves of each head by two
// positions. Its norms stay in single precision.
func chatGLM1(c *Config) Model {
	return gpt(c, GPT{Like: megatronNames, Width: "inner_hidden_size", Embed: c.prefixes(c.D), Heads: Heads{Untied: true},
		Names:  Names{Stack: "layers", Attn: "attention", Last: "final_layernorm"},
		Norm:   func(name string, d Size) Block { return LayerNorm(name, d).Typed("F32") },
		Within: func(int) []Block { return []Block{c.rotary("rotary_emb.inv_freq", 4)} }})
}

// chatGLM2 is ChatGLM2, ChatGLM3 and GLM-4: grouped keys and values, a gated MLP,
// rotary positions of half the features.
func chatGLM2(c *Config) Model {
	c.V = c.Size("V", "padded_vocab_size")
	d := GPT{Like: megatronNames, HeadDim: "kv_channels", Width: "ffn_hidden_size", FusedGate: true,
		Bias: c.by("add_bias_linear"), QKVBias: c.by("add_bias_linear"),
		Names: Names{Token: "embedding.word_embeddings", Stack: "encoder.layers", Last: "encoder.final_layernorm"},
		Heads: Heads{Head: "transformer.output_layer", NeverTied: true, Score: "classifier_head", ScoreBias: true}}
	if c.Bool("add_qkv_bias") {
		d.QKVBias = On
	}
	d.KV = c.A
	if c.Bool("multi_query_attention") {
		d.KV = c.SizeOr("K", "multi_query_group_num", Const(1))
	}
	c.heads(c.A, d.KV, d.HeadDim)
	if c.BoolOr("rmsnorm", true) {
		d.Norm = RMSNorm
	}
	d.NoLast = !c.BoolOr("post_layer_norm", true)
	d.Embed = append(c.prefixes(c.U), c.rotary("rotary_pos_emb.inv_freq", 4))
	return gpt(c, d)
}

// prefixes are the keys and values of width u in all layers that P-Tuning v2
// (arXiv:2110.07602) learns for the tokens before the input.
func (c *Config) prefixes(u Size) []Block {
	if n, ok := c.Nullable("pre_seq_len"); ok {
		return []Block{embedding("prefix_encoder.embedding", Other, c.named("L", "pre_seq_len", n), c.N.Times(u).X(2))}
	}
	return nil
}

// openELM has heads and widths of its own in every layer (arXiv:2404.14619,
// section 2.1).
func openELM(c *Config) Model {
	c.N = c.Size("N", "num_transformer_layers")
	widths, step := c.Value("ffn_multipliers").Array(), max(1, c.IntOr("ffn_dim_divisor", 256))
	layer := func(i int) []Block {
		at := *c
		at.heads(c.SizeAt("A", "num_query_heads", i), c.SizeAt("K", "num_kv_heads", i), "head_dim")
		if i >= len(widths) {
			c.Fault("ffn_multipliers", "holds %d of %d layers", len(widths), c.N.Int())
			return nil
		}
		sub := []Block{Linear("qkv_proj", c.D, at.Q.Plus(at.U.X(2)))}
		if c.Bool("normalize_qk_projections") {
			sub = append(sub, RMSNorm("q_norm", at.H), RMSNorm("k_norm", at.H))
		}
		F := Named("F", divisible(widths[i].Num*float64(c.D.Int()), step))
		up := F
		if c.BoolOr("ffn_with_glu", true) {
			up = F.X(2)
		}
		return []Block{
			RMSNorm("attn_norm", c.D),
			AttentionBlock("attn", GQA(at.A, at.K, at.H, 0), append(sub, Linear("out_proj", at.Q, c.D))...),
			RMSNorm("ffn_norm", c.D), MLPBlock("ffn", Linear("proj_1", c.D, up), Linear("proj_2", F, c.D))}
	}
	prefix := c.under("transformer")
	head := Heads{NeverTied: !c.BoolOr("share_input_output_layers", true)}
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("token_embeddings", c.V, c.D), Stack("layers", c.N, layer), RMSNorm("norm", c.D)},
		Head: c.head(join(prefix, "token_embeddings.weight"), c.D, head)}
}

// divisible returns the multiple of step that is nearest to n, and not a tenth
// below it.
func divisible(n float64, step int64) int64 { return channels(n, step, step) }
