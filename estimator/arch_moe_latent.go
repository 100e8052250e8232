package estimator

// Decoders with latent attention and routed experts.
var moeLatentFamily = []Arch{
	{"axk1", "AXK1ForCausalLM", axk1},
	{"axk2", "AXK2ForCausalLM", axk2},
	{"deepseek_v2", "DeepseekV2ForCausalLM", func(c *Config) Model {
		experts := deepseekExperts()
		experts.RouterBias, experts.Bias = "", Auto
		return decoder(c, Decoder{Attn: same(c.mla()), FFN: c.routed(experts)})
	}},
	{"deepseek_v32", "DeepseekV32ForCausalLM", func(c *Config) Model {
		return withPrediction(c, Decoder{Attn: same(c.mla(c.indexer())), FFN: c.routed(deepseekExperts())})
	}},
	{"dots3_note_text", "Dots3NoteForCausalLM", dots3Note},
	{"glm4_moe_lite", "Glm4MoeLiteForCausalLM", func(c *Config) Model {
		experts := deepseekExperts()
		experts.Sparse = c.sparseFrom(1)
		return withPrediction(c, Decoder{Attn: same(c.mla()), FFN: c.routed(experts)})
	}},
	{"glm_moe_dsa", "GlmMoeDsaForCausalLM", glmMoEDSA},
	{"longcat_flash", "LongcatFlashForCausalLM", longcatFlash},
	{"mistral4", "Mistral4ForCausalLM", func(c *Config) Model {
		experts := deepseekExperts()
		experts.RouterBias, experts.Packed = "", c.packed("experts.gate_up_proj", "experts.down_proj")
		return decoder(c, Decoder{Attn: same(c.mla()), FFN: c.routed(experts)})
	}},
}

// everyFrom is the rule of A.X: dense layers first, then every n-th one sparse.
func (c *Config) everyFrom() func(i int) bool {
	first, step := c.IntOr("first_k_dense_replace", 1), max(1, c.IntOr("moe_layer_freq", 1))
	listed := c.sparseFrom(first)
	given := len(c.Strings("mlp_layer_types")) > 0
	return func(i int) bool { return listed(i) && (given || int64(i)%step == 0) }
}

// axk1 has a norm after the sparse layers' experts.
func axk1(c *Config) Model {
	experts := deepseekExperts()
	experts.Sparse = c.everyFrom()
	return decoder(c, Decoder{Attn: same(c.mla()), FFN: c.routed(experts),
		Layer: func(i int, attention, feedForward Block) []Block {
			layer := []Block{RMSNorm("input_layernorm", c.D), attention, RMSNorm("post_attention_layernorm", c.D), feedForward}
			if experts.Sparse(i) {
				layer = append(layer, RMSNorm("post_mlp_layernorm", c.D))
			}
			return layer
		}})
}

// axk2 gates its norms through a bottleneck, except before a dense block, and
// makes queries together with an output gate from the normed and the plain
// latent.
func axk2(c *Config) Model {
	r := c.Size("r", "gated_norm_rank")
	gated := func(name string) Block {
		return Module(name, Norm, RMSNorm("norm", c.D), Linear("W_down", c.D, r), Linear("W_up", r, c.D))
	}
	experts := deepseekExperts()
	experts.Sparse = c.everyFrom()
	l := c.latent(c.indexer())
	l.Up = func(query, keys Size) Block {
		return Linear("q_b_proj", query.X(2), keys.Plus(c.A.Times(l.Value)))
	}
	return decoder(c, Decoder{Attn: same(c.latentAttention(l)), FFN: c.routed(experts),
		Layer: func(i int, attention, feedForward Block) []Block {
			after := RMSNorm("post_attention_layernorm", c.D)
			if experts.Sparse(i) {
				after = gated("post_attention_layernorm")
			}
			return []Block{gated("input_layernorm"), attention, after, feedForward}
		}})
}

// glmMoEDSA may use the keys that an earlier layer's indexer picked.
func glmMoEDSA(c *Config) Model {
	kind := map[byte]string{'F': "full", 'S': "shared"}
	pattern, types := c.String("index_topk_pattern"), c.Strings("indexer_types")
	step, offset := max(1, c.IntOr("index_topk_freq", 1)), c.IntOr("index_skip_topk_offset", 2)
	shared := func(i int) bool {
		switch {
		case i < len(types):
			return types[i] == "shared"
		case i < len(pattern):
			return kind[pattern[i]] == "shared"
		}
		return max(int64(i)-offset+1, 0)%step != 0
	}
	picking, following := c.mla(c.indexer()), c.mla()
	return withPrediction(c, Decoder{FFN: c.routed(deepseekExperts()), Attn: func(i int) Block {
		if shared(i) {
			return following
		}
		return picking
	}})
}

// longcatFlash has two attentions and two dense blocks in a layer, and experts
// beside them that start after the first attention (shortcut-connected, LongCat-
// Flash, arXiv:2509.01322, section 2.1). Some experts are identities: they have
// a place in the router and no matrices.
func longcatFlash(c *Config) Model {
	c.N = c.Size("N", "num_layers")
	if n, ok := c.GivenInt("num_hidden_layers"); ok && !c.Given("num_layers") {
		c.N = Named("N", n/2) // newer configs count the attentions
	}
	experts := Routed{Count: "n_routed_experts", Used: "moe_topk", Width: "expert_ffn_hidden_size",
		Gate: func(_ int, count Size) []Block {
			all := count.Plus(c.SizeOr("Z", "zero_expert_num", Size{}))
			return []Block{Linear("router.classifier", c.D, all).Bias(c.Bool("router_bias")).As(Router),
				Buffer("router.e_score_correction_bias", all).As(Router)}
		}}
	routed := c.routed(experts)
	return decoder(c, Decoder{FFN: routed, Attn: same(c.mla()),
		Layer: func(_ int, attention, routed Block) []Block {
			return []Block{
				RMSNorm("input_layernorm.0", c.D), attention.Called("self_attn.0"), RMSNorm("post_attention_layernorm.0", c.D),
				routed, c.mlp("mlps.0", c.F, false, false),
				RMSNorm("input_layernorm.1", c.D), attention.Called("self_attn.1"), RMSNorm("post_attention_layernorm.1", c.D),
				c.mlp("mlps.1", c.F, false, false)}
		}})
}

// dots3Note has latent attention of other sizes in the layers with windows, by
// per_layer_config or swa_ fields, and a gate for each head everywhere; the
// other layers have an indexer.
func dots3Note(c *Config) Model {
	experts := deepseekExperts()
	experts.Sparse, experts.SharedWidth = c.everyFrom(), "shared_experts_intermediate_size"
	dense := fullAttention
	if c.BoolOr("use_dsa", true) {
		dense = "indexed_attention"
	}
	kinds := cycle([]string{dense, dense, slidingAttention, slidingAttention, slidingAttention, dense}, 2)
	if c.BoolOr("use_sliding_window", true) {
		kinds = append(kinds, cycle([]string{slidingAttention, slidingAttention, slidingAttention, dense}, c.N.Int())...)
	}
	return decoder(c, Decoder{FFN: c.routed(experts), Attn: func(i int) Block {
		kind := c.layerType("layer_types", i, kinds...)
		at := func(symbol, field string, swa int64) Size {
			if n, ok := c.atLayer(i, field); ok {
				return Named(symbol, n)
			}
			if kind == slidingAttention && !c.Given("per_layer_config") {
				return Named(symbol, c.IntOr("swa_"+field, swa))
			}
			return c.Size(symbol, field)
		}
		l := Latent{Heads: at("A", "num_attention_heads", 64), Query: at("Rq", "q_lora_rank", 1024), KV: at("R", "kv_lora_rank", 1024),
			Nope: at("Hn", "qk_nope_head_dim", 192), Value: at("Hv", "v_head_dim", 128), Bias: c.Switch("attention_bias")}
		l.Rope = at("P", "qk_rope_head_dim", c.IntOr("swa_head_dim", 256)-l.Nope.Int())
		l.More = []Block{RMSNorm("k_rope_only_layernorm", l.Rope), Linear("g_proj", c.D, l.Heads)}
		switch {
		case kind == slidingAttention:
			l.Window = c.IntOr("sliding_window", c.IntOr("sliding_window_size", 512))
		case dense == "indexed_attention" && kind == fullAttention && !c.Given("per_layer_config"), kind == "indexed_attention" && c.BoolOr("use_dsa", true):
			l.More = append(l.More, c.indexer())
		}
		return c.latentAttention(l)
	}})
}
