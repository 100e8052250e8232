package estimator

import "slices"

// Decoders with short convolutions between their blocks, and routed experts.
var moeConvFamily = []Arch{
	{"inkling_text", "InklingForCausalLM", inkling},
	{"inkling2_text", "Inkling2ForCausalLM", inkling2},
	{"zaya", "ZayaForCausalLM", zaya},
}

// inklingSizes are the heads of one layer: layers with windows have their own.
func (c *Config) inklingSizes(i int) (own *Config, window int64, extent Size) {
	kinds := cycle([]string{slides, slides, slides, slides, slides, "hybrid"}, 6)
	if local := c.Ints("local_layer_ids"); local != nil {
		kinds = cycle([]string{"hybrid"}, c.N.Int())
		for _, at := range local {
			if at >= 0 && at < int64(len(kinds)) {
				kinds[at] = slides
			}
		}
	}
	layer := *c
	if c.layerType("layer_types", i, kinds...) != slides {
		return &layer, 0, c.Size("X", "rel_extent")
	}
	layer.heads(c.Size("A", "swa_num_attention_heads"), c.Size("K", "swa_num_key_value_heads"), "swa_head_dim")
	window = c.Int("sliding_window_size")
	return &layer, window, Named("X", window)
}

const slides = "hybrid_sliding"

// inkling has short convolutions after its blocks and on keys and values, and
// biases by distance in place of rotary positions.
func inkling(c *Config) Model {
	E, S := c.Size("E", "n_routed_experts"), c.Size("S", "n_shared_experts")
	rank := c.Size("r", "d_rel")
	experts := Routed{Count: "n_routed_experts", Width: "moe_intermediate_size", Sparse: c.sparseFrom(c.IntOr("dense_mlp_idx", 0)),
		Gate: func(int, Size) []Block {
			return []Block{Linear("gate", c.D, E.Plus(S)).As(Router), Buffer("gate.e_score_correction_bias", E).As(Router),
				Raw("gate.global_scale", Router, Const(1))}
		},
		Packed: func(count, used, f Size) []Block {
			shared := func(name string, in, out Size) Block {
				return Stacked("shared_experts."+name, S, S, in, out).Shaped(S, out, in).As(SharedExperts)
			}
			return append(c.packed("experts.gate_up_proj", "experts.down_proj")(count, used, f),
				shared("gate_proj", c.D, f), shared("up_proj", c.D, f), shared("down_proj", f, c.D))
		},
		MLP: func(name string, f Size) Block {
			mlp := c.mlp(name, f, false, false)
			mlp.Sub = append(mlp.Sub, Raw("global_scale", MLP, Const(1)))
			return mlp
		}}
	if c.Given("dense_intermediate_size") { // then intermediate_size is an expert's
		experts.Width, experts.Dense = "intermediate_size", "dense_intermediate_size"
	}
	model := decoder(c, Decoder{Heads: Heads{NeverTied: true}, FFN: c.routed(experts), Attn: func(i int) Block {
		own, window, extent := c.inklingSizes(i)
		return AttentionBlock("self_attn", GQA(own.A, own.K, own.H, window),
			Linear("q_proj", c.D, own.Q), Linear("k_proj", c.D, own.U), Linear("v_proj", c.D, own.U), Linear("r_proj", c.D, own.A.Times(rank)),
			c.sconv("k_sconv.conv1d", own.U), c.sconv("v_sconv.conv1d", own.U), RMSNorm("q_norm", own.H), RMSNorm("k_norm", own.H),
			relative(own.A, rank, extent), Linear("o_proj", own.Q, c.D))
	}, Layer: func(_ int, attention, feedForward Block) []Block {
		return []Block{RMSNorm("input_layernorm", c.D), attention, c.sconv("attn_sconv.conv1d", c.D),
			RMSNorm("post_attention_layernorm", c.D), feedForward, c.sconv("mlp_sconv.conv1d", c.D)}
	}})
	model.Body = slices.Insert(model.Body, 1, RMSNorm("embed_tokens.embed_norm", c.D))
	return model
}

// inkling2 has taps of the keys' and values' convolutions that depend on the
// token, in the layers without windows, and residuals that attend to the sums of
// earlier groups of layers.
func inkling2(c *Config) Model {
	wide := func(i int) bool { _, window, _ := c.inklingSizes(i); return window == 0 }
	routed := c.routed(Routed{RouterBias: "gate.bias", Count: "n_routed_experts", Width: "moe_intermediate_size", Sparse: c.sparseFrom(0),
		Packed: c.packed("experts.w13_weight", "experts.w2_weight")})
	layer := func(i int) []Block {
		norms := []Block{RMSNorm("attn_norm", c.D)}
		if wide(i) {
			norms = []Block{RMSNorm("q_input_norm", c.D), RMSNorm("k_input_norm", c.D), RMSNorm("v_input_norm", c.D)}
		}
		return append(norms, c.inkling2Attention(i), c.sconv("attn_sconv", c.D), RMSNorm("mlp_norm", c.D), routed(i), c.sconv("mlp_sconv", c.D))
	}
	queries := func(i int) []Block {
		if wide(i + 1) {
			return []Block{c.residual(i+1, 3, Const(3), c.D)}
		}
		return []Block{c.residual(i+1, 1, c.D)}
	}
	prefix := c.under("model.llm")
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V, Body: []Block{
		Token("embed", c.V, c.D), RMSNorm("embed_norm", c.D), Stack("layers", c.N, layer),
		Stack("attn_res.attn_queries", c.N.Minus(Const(1)), queries),
		Stack("attn_res.mlp_queries", c.N, func(i int) []Block { return []Block{c.residual(i+1, 1, c.D)} }),
		c.residual(int(c.N.Int()), 1, c.D).Called("attn_res.output_query"), RMSNorm("norm", c.D)},
		Head: c.head("", c.D, Heads{Head: "model.llm.unembed", NeverTied: true})}
}

func (c *Config) inkling2Attention(i int) Block {
	rank := c.Size("r", "d_rel")
	own, window, extent := c.inklingSizes(i)
	conv := c.sconv
	if window == 0 {
		conv = own.dynamicConv
	}
	return AttentionBlock("attn", GQA(own.A, own.K, own.H, window),
		Linear("wq_du", c.D, own.Q), Linear("wk_dv", c.D, own.U), conv("k_sconv", own.U), Linear("wv_dv", c.D, own.U), conv("v_sconv", own.U),
		Linear("wr_du", c.D, own.A.Times(rank)), Linear("gate_attn", c.D, own.Q), Linear("attn_sink_proj", c.D, own.A),
		Raw("q_l2_clip.scale", Attention, own.A, own.H), Raw("rel_l2_clip.scale", Attention, own.A, rank),
		relative(own.A, rank, extent), Linear("wo_ud", own.Q, c.D))
}

// zaya mixes queries and keys by convolutions, scales its residuals, and has for
// router an MLP that sees the router state of the layer before; one expert more
// than there are does nothing.
func zaya(c *Config) Model {
	r := c.Size("r", "router_hidden_size")
	scale := func(name string) Block {
		return Module(name, Other, Raw("hidden_states_scale", Other, c.D), Raw("hidden_states_bias", Other, c.D),
			Raw("residual_scale", Other, c.D), Raw("residual_bias", Other, c.D))
	}
	experts := Routed{Count: "num_experts", Width: "moe_intermediate_size", Sparse: c.sparseFrom(0), Packed: c.packed("experts.gate_up_proj", "experts.down_proj"),
		Gate: func(i int, count Size) []Block {
			router := []Block{Linear("down_proj", c.D, r).Bias(true), RMSNorm("router_mlp.norm", r), Linear("router_mlp.fc1", r, r).Bias(true),
				Linear("router_mlp.fc2", r, r).Bias(true), Linear("router_mlp.out_proj", r, count.Plus(Const(1))), Buffer("balancing_biases", count.Plus(Const(1)))}
			if i > 0 {
				router = append(router, Raw("router_states_scale", Router, r))
			}
			return []Block{Module("gate", Router, router...)}
		}}
	model := decoder(c, Decoder{Heads: Heads{HeadBias: c.Bool("lm_head_bias")}, FFN: c.routed(experts), Attn: func(i int) Block {
		window := int64(0)
		if c.layerType("layer_types", i, "hybrid") == slides {
			window = c.IntOr("sliding_window", 0)
		}
		return AttentionBlock("self_attn", GQA(c.A, c.K, c.H, window), c.convolvedQKV("qkv_proj"),
			Raw("qk_norm.temp", Attention, c.K), Linear("o_proj", c.Q, c.D).Bias(c.Bool("attention_bias")))
	}, Layer: func(_ int, attention, feedForward Block) []Block {
		return []Block{RMSNorm("input_layernorm", c.D), attention, scale("post_attention_residual_scale"),
			RMSNorm("post_attention_layernorm", c.D), feedForward, scale("post_mlp_residual_scale")}
	}})
	model.Body = slices.Insert(model.Body, 1, Raw("input_hidden_states_scale", Other, c.D), Raw("input_hidden_states_bias", Other, c.D))
	return model
}
