package estimator

import "github.com/tidwall/gjson"

// Decoders whose experts are stored together, in a few tensors.
var moePackedFamily = []Arch{
	{"dbrx", "DbrxForCausalLM", dbrx},
	{"granitemoe", "GraniteMoeForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{FFN: c.routed(c.graniteExperts())})
	}},
	{"granitemoeshared", "GraniteMoeSharedForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{FFN: c.besideShared(c.routed(c.graniteExperts()))})
	}},
	{"granitemoe_swa", "GraniteMoeSWAForCausalLM", graniteMoESWA},
	{"minimax_m3_vl_text", "MiniMaxM3VLForCausalLM", minimaxM3},
	{"jetmoe", "JetMoeForCausalLM", jetMoE},
}

// graniteExperts is the routed block of Granite, which JetMoE's kernel shaped.
func (c *Config) graniteExperts() Routed {
	return Routed{Name: "block_sparse_moe", Router: "router.layer", Count: "num_local_experts",
		Packed: c.packed("input_linear.weight", "output_linear.weight")}
}

// besideShared adds an MLP that always runs, beside the routed block, where
// shared_intermediate_size is not 0.
func (c *Config) besideShared(routed func(i int) Block) func(i int) Block {
	f := c.Size("Fs", "shared_intermediate_size")
	if f.IsZero() {
		return routed
	}
	shared := MLPBlock("shared_mlp", Linear("input_linear", c.D, f.X(2)), Linear("output_linear", f, c.D)).As(SharedExperts)
	return func(i int) Block { return Block{Sub: []Block{routed(i), shared}} }
}

func graniteMoESWA(c *Config) Model {
	experts := c.graniteExperts()
	experts.Router, experts.Packed = "router", c.packed("experts.gate_up_proj", "experts.down_proj")
	return decoder(c, Decoder{Scored: []Block{Raw("sinks", Attention, c.A)}, FFN: c.besideShared(c.routed(experts)),
		Window: c.sliding(fullAttention, slidingAttention, slidingAttention, slidingAttention)})
}

// jetMoE routes attention too (mixture of attention heads, JetMoE,
// arXiv:2404.07413, section 2): the experts are projections of queries and
// outputs, keys and values are common to them.
func jetMoE(c *Config) Model {
	E, T := c.Size("E", "num_local_experts"), c.Size("T", "num_experts_per_tok")
	H := c.Size("H", "kv_channels")
	U := c.K.Times(H)
	attention := AttentionBlock("self_attention", GQA(c.K.Times(T), c.K, H, 0),
		Module("experts", Attention, Raw("bias", Attention, c.D), Linear("router.layer", c.D, E).As(Router),
			Stacked("input_linear.weight", E, T, c.D, U).Shaped(E, U, c.D).As(Attention),
			Stacked("output_linear.weight", E, T, U, c.D).Shaped(E, c.D, U).As(Attention)),
		Linear("kv_proj", c.D, U.X(2)))
	experts := c.graniteExperts()
	experts.Name = "mlp"
	routed := c.routed(experts)
	return decoder(c, Decoder{Attn: func(int) Block { return attention }, FFN: func(i int) Block {
		return Block{Sub: []Block{routed(i), Raw("mlp.bias", RoutedExperts, c.D)}}
	}})
}

// dbrx keeps all experts' rows in one matrix each.
func dbrx(c *Config) Model {
	own := func(object, symbol, field string, otherwise int64) Size {
		if sub := c.Sub(object); sub != nil {
			otherwise = sub.IntOr(field, otherwise)
		}
		return Named(symbol, otherwise)
	}
	c.heads(c.A, own("attn_config", "K", "kv_n_heads", 1), "")
	E, T := own("ffn_config", "E", "moe_num_experts", 4), own("ffn_config", "T", "moe_top_k", 1)
	F := own("ffn_config", "F", "ffn_hidden_size", 3584)
	expert := func(name string, in, out Size) Block {
		return Stacked(name, E, T, in, out).Shaped(E.Times(F), c.D)
	}
	prefix := c.under("transformer")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V, Body: []Block{Token("wte", c.V, c.D),
		Stack("blocks", c.N, func(int) []Block {
			return []Block{
				RMSNorm("norm_attn_norm.norm_1", c.D),
				AttentionBlock("norm_attn_norm.attn", GQA(c.A, c.K, c.H, 0), Linear("Wqkv", c.D, c.Q.Plus(c.U.X(2))), Linear("out_proj", c.Q, c.D)),
				RMSNorm("norm_attn_norm.norm_2", c.D),
				MLPBlock("ffn", Linear("router.layer", c.D, E).As(Router),
					expert("experts.mlp.w1", c.D, F), expert("experts.mlp.v1", c.D, F), expert("experts.mlp.w2", F, c.D))}
		}),
		RMSNorm("norm_f", c.D)}, Head: c.head(join(prefix, "wte.weight"), c.D, Heads{})}
}

// minimaxM3 has an indexer in some layers, which picks blocks of keys. Published
// configs keep its fields in an object of their own, under other names.
func minimaxM3(c *Config) Model {
	legacy := c.Value("sparse_attention_config")
	size := func(symbol, field, old string) Size {
		if n := legacy.Get(old); n.Type == gjson.Number {
			return Named(symbol, n.Int())
		}
		return c.Size(symbol, field)
	}
	I, Hi := size("I", "index_n_heads", "sparse_num_index_heads"), size("Hi", "index_head_dim", "sparse_index_dim")
	indexer := AttentionBlock("indexer", Scores{Heads: I, KVHeads: Const(1), KeyDim: Hi, Cached: Hi, CachedLibrary: Hi},
		Linear("q_proj", c.D, I.Times(Hi)), Linear("k_proj", c.D, Hi), RMSNorm("q_norm", Hi), RMSNorm("k_norm", Hi))
	d := Decoder{QKVBias: Off, OutBias: Off, QKNorm: PerHead}
	sparse := d
	sparse.Scored = []Block{indexer}
	types, picked, routed := c.Strings("layer_types"), flags(legacy.Get("sparse_attention_freq")), flags(c.Value("moe_layer_freq"))
	d.FFN = c.routed(Routed{RouterBias: "gate.e_score_correction_bias", Count: "num_local_experts", Dense: "dense_intermediate_size",
		Packed: c.packed("experts.gate_up_proj", "experts.down_proj"), Shared: "shared_experts", SharedWidth: "shared_intermediate_size",
		Sparse: func(i int) bool {
			return c.sparseFrom(0)(i) && (c.Given("mlp_layer_types") || i >= len(routed) || routed[i])
		},
		MLP: func(name string, f Size) Block {
			return MLPBlock(name, Linear("gate_up_proj", c.D, f.X(2)), Linear("down_proj", f, c.D))
		}})
	d.Attn = func(i int) Block {
		if i < len(types) && types[i] == "minimax_m3_sparse" || types == nil && i < len(picked) && picked[i] {
			return c.selfAttention(sparse, i)
		}
		return c.selfAttention(d, i)
	}
	return decoder(c, d)
}

// flags reads a list of switches, as numbers or booleans.
func flags(list gjson.Result) []bool {
	var on []bool
	for _, v := range list.Array() {
		on = append(on, v.Bool())
	}
	return on
}
