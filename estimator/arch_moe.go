package estimator

import (
	"slices"

	"github.com/tidwall/gjson"
)

// Decoders in the llama mould with grouped-query attention and routed experts.
var moeFamily = []Arch{
	{"afmoe", "AfmoeForCausalLM", afmoe},
	{"aria_text", "AriaTextForCausalLM", ariaText},
	{"cohere2_moe", "Cohere2MoeForCausalLM", cohere2MoE},
	{"dots1", "Dots1ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: PerHead, FFN: c.routed(deepseekExperts())})
	}},
	{"ernie4_5_moe", "Ernie4_5_MoeForCausalLM", ernieMoE},
	{"exaone_moe", "ExaoneMoeForCausalLM", exaoneMoE},
	{"flex_olmo", "FlexOlmoForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: AcrossAll, Norms: postNorms, FFN: c.routed(Routed{Count: "num_experts"})})
	}},
	{"glm4_moe", "Glm4MoeForCausalLM", func(c *Config) Model {
		d := Decoder{OutBias: Off, FFN: c.routed(deepseekExperts())}
		if c.Bool("use_qk_norm") {
			d.QKNorm = PerHead
		}
		return withPrediction(c, d)
	}},
	{"gpt_oss", "GptOssForCausalLM", gptOSS},
	{"hunyuan_v1_moe", "HunYuanMoEV1ForCausalLM", func(c *Config) Model {
		gate := func(_ int, count Size) []Block { return []Block{Linear("gate.wg", c.D, count).Typed("F32").As(Router)} }
		return decoder(c, Decoder{QKNorm: PerHead, QKNames: [2]string{"query_layernorm", "key_layernorm"},
			FFN: c.routed(Routed{Gate: gate, Count: "num_experts", Used: "moe_topk", Shared: "shared_mlp", SharedWidth: "intermediate_size"})})
	}},
	{"hy_v3", "HYV3ForCausalLM", func(c *Config) Model {
		return withPrediction(c, Decoder{QKNorm: PerHead, FFN: c.routed(Routed{Router: "router.gate", RouterBias: "expert_bias", Sparse: c.sparseFrom(1),
			Count: "num_experts", Width: "moe_intermediate_size", Shared: "shared_mlp", SharedCount: "num_shared_experts"})})
	}},
	{"kolibri1", "Kolibri1ForCausalLM", kolibri1},
	{"laguna", "LagunaForCausalLM", laguna},
	{"llama4_text", "Llama4ForCausalLM", llama4Text},
	{"mellum", "MellumForCausalLM", mellum},
	{"mimo_v2_flash", "MiMoV2FlashForCausalLM", mimoV2Flash},
	{"minimax_m2", "MiniMaxM2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: AcrossAll, FFN: c.routed(Routed{Name: "block_sparse_moe", Matrices: [3]string{"w1", "w3", "w2"},
			RouterBias: "e_score_correction_bias", Count: "num_local_experts"})})
	}},
	{"olmoe", "OlmoeForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: AcrossAll, FFN: c.routed(Routed{Count: "num_experts"})})
	}},
	{"phimoe", "PhimoeForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norm: LayerNorm, Heads: Heads{HeadBias: c.Bool("lm_head_bias")}, FFN: c.routed(Routed{
			Name: "block_sparse_moe", Count: "num_local_experts", Matrices: [3]string{"w1", "w3", "w2"},
			Runs: Const(2)})}) // its router picks two, whatever num_experts_per_tok says
	}},
	{"qwen2_moe", "Qwen2MoeForCausalLM", qwen2MoE},
	{"qwen3_moe", "Qwen3MoeForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: PerHead, Answer: "transformer",
			FFN: c.routed(Routed{Count: "num_local_experts", Width: "moe_intermediate_size"})})
	}},
	{"solar_open", "SolarOpenForCausalLM", func(c *Config) Model {
		experts := deepseekExperts()
		experts.Sparse = c.sparseFrom(0)
		return decoder(c, Decoder{OutBias: Off, FFN: c.routed(experts)})
	}},
}

func afmoe(c *Config) Model {
	return decoder(c, Decoder{QKNorm: PerHead, Scored: []Block{Linear("gate_proj", c.D, c.Q)},
		Norms:  Norms{"input_layernorm", "post_attention_layernorm", "pre_mlp_layernorm", "post_mlp_layernorm"},
		Window: c.sliding(c.everyNth("global_attn_every_n_layers")...),
		FFN: c.routed(Routed{Router: "router.gate", RouterBias: "expert_bias", BiasIsParam: true,
			Sparse: c.sparseFrom(c.Int("num_dense_layers")), Count: "num_experts", Width: "moe_intermediate_size",
			Shared: "shared_experts", SharedCount: "num_shared_experts"})})
}

func ariaText(c *Config) Model {
	return decoder(c, Decoder{FFN: c.routed(Routed{Router: "router", Count: "moe_num_experts", Used: "moe_topk",
		Packed: c.packedInOut("experts.fc1.weight", "experts.fc2.weight"),
		Shared: "shared_experts", SharedCount: "moe_num_shared_experts"})})
}

// cohere2MoE counts the period of its windows anew after the dense layers.
func cohere2MoE(c *Config) Model {
	dense := c.IntOr("first_k_dense_replace", 0)
	kinds := append(cycle(c.everyNth("prefix_dense_sliding_window_pattern"), dense),
		cycle(c.everyNth("sliding_window_pattern"), c.N.Int()-dense)...)
	return decoder(c, Decoder{Norms: singleNorm, Window: c.sliding(kinds...),
		FFN: c.routed(Routed{Sparse: c.sparseFrom(dense), Dense: "prefix_dense_intermediate_size",
			Count: "num_experts", Shared: "shared_experts", SharedCount: "num_shared_experts"})})
}

func ernieMoE(c *Config) Model {
	bias := c.by("use_bias")
	first, last := c.Int("moe_layer_start_index"), c.Int("moe_layer_end_index")
	every := max(1, c.Int("moe_layer_interval"))
	if last == -1 {
		last = c.N.Int() - 1
	}
	d := Decoder{QKVBias: bias, OutBias: bias, Heads: Heads{HeadBias: bias == On},
		FFN: c.routed(Routed{Bias: bias, Count: "moe_num_experts", Used: "moe_k", Width: "moe_intermediate_size",
			Gate: func(_ int, count Size) []Block {
				return []Block{Linear("gate", c.D, count).Typed("F32").As(Router),
					Raw("moe_statics.e_score_correction_bias", Router, Const(1), count).Typed("F32")}
			},
			Sparse: func(i int) bool { n := int64(i); return (n+1)%every == 0 && n >= first && n <= last },
			Shared: "shared_experts", SharedCount: "moe_num_shared_experts"})}
	model := decoder(c, d)
	n := c.predictions(0)
	norm := func(int) []Block { return []Block{RMSNorm("", c.D)} }
	model.Sections = []Section{{Name: "multi_token_prediction", Blocks: []Block{
		Stack("mtp_emb_norm", n, norm), Stack("mtp_hidden_norm", n, norm),
		Stack("mtp_linear_proj", n, func(int) []Block { return []Block{Linear("", c.D.X(2), c.D).Bias(bias == On).As(Projector)} }),
		Stack("mtp_block", n, func(i int) []Block {
			return c.between(Decoder{Norm: RMSNorm, Norms: preNorms}, c.selfAttention(d, i), c.mlp("mlp", c.F, false, bias == On))
		})}}}
	return model
}

// exaoneMoE has prediction layers with a dense block in its files.
func exaoneMoE(c *Config) Model {
	d := Decoder{QKVBias: Off, OutBias: Off, QKNorm: PerHead, Window: c.sliding(c.everyNth("sliding_window_pattern")...),
		FFN: c.routed(Routed{RouterBias: "e_score_correction_bias", Count: "num_experts", Width: "moe_intermediate_size",
			Shared: "shared_experts", SharedCount: "num_shared_experts"})}
	model := decoder(c, d)
	model.Sections = c.predictionBeside(c.predictions(1), func(int) []Block {
		return c.between(Decoder{Norm: RMSNorm, Norms: preNorms}, c.selfAttention(d, int(c.N.Int())), c.mlp("mlp", c.F, false, false))
	})
	return model
}

func mellum(c *Config) Model {
	d := Decoder{Norm: RMSNorm, Norms: preNorms, QKNorm: PerHead, Window: c.sliding(fullAttention),
		FFN: c.routed(Routed{Count: "num_local_experts", Width: "moe_intermediate_size", Bias: Off})}
	model := decoder(c, d)
	sparse := c.experts(Routed{Width: "moe_intermediate_size"}, c.Size("E", "num_local_experts"), c.Size("T", "num_experts_per_tok"))
	model.Sections = c.predictionBeside(c.predictions(0), func(k int) []Block {
		window := d
		window.Window = func(int) int64 {
			if c.layerType("mtp_layer_types", k, slidingAttention) == slidingAttention {
				return c.IntOr("sliding_window", 0)
			}
			return 0
		}
		if c.layerType("mtp_mlp_layer_types", k, "sparse") == "dense" {
			return c.between(d, c.selfAttention(window, k), c.mlp("mlp", c.F, false, false))
		}
		return c.between(d, c.selfAttention(window, k), sparse)
	})
	return model
}

// gptOSS has a learned logit for each head beside the keys' (sinks), and biases
// everywhere, in the experts too.
func gptOSS(c *Config) Model { return decoder(c, c.gptOSSLayers()) }

func (c *Config) gptOSSLayers() Decoder {
	packed := c.packedInOut("experts.gate_up_proj", "experts.down_proj")
	return Decoder{Scored: []Block{Raw("sinks", Attention, c.A)}, Window: c.sliding(slidingAttention, fullAttention),
		FFN: c.routed(Routed{Count: "num_local_experts",
			Gate: func(_ int, count Size) []Block { return []Block{Linear("router", c.D, count).Bias(true).As(Router)} },
			Packed: func(count, used, f Size) []Block {
				return append(packed(count, used, f), StackedBias("experts.gate_up_proj_bias", count, used, f.X(2)),
					StackedBias("experts.down_proj_bias", count, used, c.D))
			}})}
}

func kolibri1(c *Config) Model {
	experts := c.routed(Routed{Count: "num_local_experts", Width: "moe_intermediate_size",
		Shared: "shared_experts", SharedWidth: "shared_expert_intermediate_size"})
	bias := Buffer("moe.router.expert_bias", c.Size("E", "num_local_experts")).As(Router)
	return decoder(c, Decoder{QKVBias: Off, OutBias: Off, QKNorm: PerHead, Window: c.sliding(every(5)...),
		Norms: Norms{"input_layernorm", "post_attn_norm", "post_attention_layernorm", "post_ffn_norm"},
		FFN:   func(i int) Block { return Block{Sub: []Block{experts(i), bias}} }})
}

// laguna may have another number of query heads in each layer, and gates what
// attention gives, by head or by feature.
func laguna(c *Config) Model {
	d := Decoder{QKNorm: PerHead, Window: c.sliding(fullAttention),
		FFN: c.routed(Routed{RouterBias: "experts.e_score_correction_bias", BiasIsParam: true, Sparse: c.sparseFrom(1),
			Count: "num_experts", Width: "moe_intermediate_size", Shared: "shared_expert", SharedWidth: "shared_expert_intermediate_size"})}
	gating := c.Value("gating")
	byHead := gating.Type == gjson.True || gating.Str == "per-head"
	attention := d
	d.Attn = func(i int) Block {
		own := *c
		if c.Given("num_attention_heads_per_layer") {
			own.heads(c.SizeAt("A", "num_attention_heads_per_layer", i), c.K, "head_dim")
		}
		gate := own.Q
		if byHead {
			gate = own.A
		}
		attention.Scored = []Block{Linear("g_proj", c.D, gate)}
		return own.selfAttention(attention, i)
	}
	return decoder(c, d)
}

// llama4Text sees chunks of attention_chunk_size tokens in the layers with rotary
// positions, all tokens in the others. The library runs every expert, on inputs
// scaled to nothing where an expert is not chosen; the work here is that of the
// chosen ones.
func llama4Text(c *Config) Model {
	step := max(1, c.IntOr("interleave_moe_layer_step", 1))
	sparse, rotary := c.Ints("moe_layers"), c.Ints("no_rope_layers")
	chunk := c.Int("attention_chunk_size")
	every := max(1, c.IntOr("no_rope_layer_interval", 4))
	chunked := func(i int) bool {
		if types := c.Strings("layer_types"); i < len(types) {
			return types[i] == "chunked_attention"
		}
		if i < len(rotary) {
			return rotary[i] != 0
		}
		return (int64(i)+1)%every != 0
	}
	return decoder(c, Decoder{
		Window: func(i int) int64 {
			if chunked(i) {
				return chunk
			}
			return 0
		},
		FFN: c.routed(Routed{Name: "feed_forward", Router: "router", Count: "num_local_experts", Dense: "intermediate_size_mlp",
			Packed: c.packedInOut("experts.gate_up_proj", "experts.down_proj"), Shared: "shared_expert", SharedWidth: "intermediate_size",
			Sparse: func(i int) bool {
				if sparse != nil {
					return slices.Contains(sparse, int64(i))
				}
				return (int64(i)+1)%step == 0
			}})})
}

// mimoV2Flash has twice the key and value heads, and sinks, in the layers with
// windows, and values of another width than keys. The library's window counts
// the token itself, the published sliding_window_size does not.
func mimoV2Flash(c *Config) Model {
	V, bias := c.Size("Hv", "v_head_dim"), c.Bool("attention_bias")
	window := c.IntOr("sliding_window", 0)
	if n, ok := c.GivenInt("sliding_window_size"); ok {
		window = n + 1
	}
	kinds := cycle(every(6), max(1, c.N.Int()))
	kinds[0] = fullAttention
	experts := deepseekExperts()
	experts.Shared, experts.Sparse = "", c.sparseFrom(1)
	return decoder(c, Decoder{FFN: c.routed(experts), Attn: func(i int) Block {
		scores, sinks := GQA(c.A, c.K, c.H, 0), []Block(nil)
		if c.layerType("layer_types", i, kinds...) == slidingAttention {
			scores, sinks = GQA(c.A, c.K.X(2), c.H, window), []Block{Raw("attention_sink_bias", Attention, c.A)}
		}
		scores = scores.Valued(V)
		return AttentionBlock("self_attn", scores, append(sinks, Linear("q_proj", c.D, c.Q).Bias(bias),
			Linear("k_proj", c.D, scores.KVHeads.Times(c.H)).Bias(bias), Linear("v_proj", c.D, scores.KVHeads.Times(V)).Bias(bias),
			Linear("o_proj", c.A.Times(V), c.D))...)
	}})
}

func qwen2MoE(c *Config) Model {
	kinds := []string{fullAttention}
	if c.Bool("use_sliding_window") {
		n := min(c.N.Int(), c.Int("max_window_layers"))
		kinds = append(cycle([]string{slidingAttention, fullAttention}, n), cycle(kinds, c.N.Int()-n)...)
	}
	return decoder(c, Decoder{QKVBias: c.by("qkv_bias"), OutBias: Off, Window: c.sliding(kinds...),
		FFN: c.routed(Routed{Count: "num_experts", Width: "moe_intermediate_size",
			Shared: "shared_expert", SharedWidth: "shared_expert_intermediate_size", SharedGate: "shared_expert_gate"})})
}
