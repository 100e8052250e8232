package estimator

import (
	"math/big"
	"slices"
)

// The Gemma families.
var gemmaFamily = slices.Concat(gemmaTowerFamily, []Arch{
	{"gemma", "GemmaForCausalLM", func(c *Config) Model { return decoder(c, Decoder{MLPBias: Off}) }},
	{"gemma2", "Gemma2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norms: sandwich, Window: c.sliding(every(2)...)})
	}},
	{"gemma3_text", "Gemma3ForCausalLM", gemma3Text},
	{"gemma3n_text", "Gemma3nForCausalLM", gemma3nText},
	{"gemma4_text", "Gemma4ForCausalLM", gemma4Text},
	{"gemma4_unified_text", "Gemma4UnifiedForCausalLM", gemma4Text},
	{"vaultgemma", "VaultGemmaForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norms: Norms{"input_layernorm", "", "pre_feedforward_layernorm", ""}, Window: c.sliding(every(2)...)})
	}},
})

// gemma3Text looks to both sides in its embedding models; a window then reaches
// half as far to each.
func gemma3Text(c *Config) Model {
	return decoder(c, Decoder{QKNorm: PerHead, Norms: sandwich,
		Window: c.halved(c.Bool("use_bidirectional_attention"), c.sliding(every(c.IntOr("sliding_window_pattern", 6))...))})
}

// halved is a window that reaches to both sides, where on.
func (c *Config) halved(on bool, window func(i int) int64) func(i int) int64 {
	return func(i int) int64 {
		if w := window(i); on && w > 0 {
			return w/2 + 1
		}
		return window(i)
	}
}

// reuses reports whether layer i reads the keys and values of an earlier layer:
// the last num_kv_shared_layers do.
func (c *Config) reuses(i int) bool {
	return int64(i) >= c.N.Int()-c.IntOr("num_kv_shared_layers", 0)
}

// gemmaAttention normalises queries and keys; a layer that reuses another's keys
// and values has neither of its own. Where keys serve as values too there is one
// projection for both.
func (c *Config) gemmaAttention(window int64, reuses, keysAreValues bool) Block {
	bias := c.Switch("attention_bias")
	scores := GQA(c.A, c.K, c.H, window)
	scores.Borrowed = reuses
	sub := []Block{Linear("q_proj", c.D, c.Q).Bias(bias), RMSNorm("q_norm", c.H)}
	if !reuses {
		sub = append(sub, RMSNorm("k_norm", c.H), Linear("k_proj", c.D, c.U).Bias(bias))
		if !keysAreValues {
			sub = append(sub, Linear("v_proj", c.D, c.U).Bias(bias))
		}
	}
	return AttentionBlock("self_attn", scores, append(sub, Linear("o_proj", c.Q, c.D).Bias(bias))...)
}

// layerInputs embeds each token once more for every layer, P features each.
func (c *Config) layerInputs(P Size) []Block {
	return []Block{
		Token("embed_tokens_per_layer", c.Size("Vp", "vocab_size_per_layer_input"), c.N.Times(P)),
		Linear("per_layer_model_projection", c.D, c.N.Times(P)).As(Other), RMSNorm("per_layer_projection_norm", P),
	}
}

// layerInput adds a layer's own embedding behind its feed-forward block.
func (c *Config) layerInput(P Size) []Block {
	return []Block{Linear("per_layer_input_gate", c.D, P).As(Other), Linear("per_layer_projection", P, c.D).As(Other),
		RMSNorm("post_per_layer_input_norm", c.D)}
}

// gemma3nText carries several residual streams of which a layer transforms one
// and predicts the others (AltUp, arXiv:2301.13310), with a low-rank path beside
// attention (LAuReL, arXiv:2411.07501), embeddings for each layer and layers that
// reuse keys and values.
func gemma3nText(c *Config) Model {
	streams, P := c.Size("S", "altup_num_inputs"), c.Size("P", "hidden_size_per_layer_input")
	d := Decoder{Norms: sandwich, Window: c.sliding(every(5)...)}
	d.Attn = func(i int) Block { return c.gemmaAttention(d.Window(i), c.reuses(i), false) }
	d.FFN = func(i int) Block { return c.mlp("mlp", c.SizeAt("F", "intermediate_size", i), false, false) }
	predict, correct := c.altup(streams)
	laurel, rank := RMSNorm("post_laurel_norm", c.D), c.Size("R", "laurel_rank")
	d.Layer = func(_ int, attention, feedForward Block) []Block {
		inner := c.between(d, attention, feedForward)
		layer := []Block{predict, inner[0],
			Module("laurel", Other, Linear("linear_left", c.D, rank), Linear("linear_right", rank, c.D), laurel)}
		return append(append(append(layer, inner[1:]...), correct), c.layerInput(P)...)
	}
	project := func(name string) Block {
		return Stack(name, streams.Minus(Const(1)), func(int) []Block { return []Block{Linear("", c.D, c.D).As(Other)} })
	}
	model := decoder(c, d)
	embed, layers, norm := model.Body[0], model.Body[1], model.Body[2]
	model.Body = append(append([]Block{embed}, c.layerInputs(P)...),
		project("altup_projections"), layers, project("altup_unembed_projections"), norm)
	return model
}

// altup returns what predicts all streams before a layer and what corrects them
// after it. Both ask the same router.
func (c *Config) altup(streams Size) (predict, correct Block) {
	router := []Block{RMSNorm("router_norm", c.D), Linear("modality_router", c.D, streams)}
	mix := Block{Name: "", Extra: &Extra{Name: "altup", Sizes: []Size{c.D, streams}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, c.D.Int(), streams.Int(), streams.Int())
	}}}
	predict = Module("altup", Other, append(router, Linear("prediction_coefs", streams, streams.Times(streams)), mix)...)
	correct = Module("altup", Other, router[0].Again(), router[1].Again(), Linear("correction_coefs", streams, streams),
		Raw("correct_output_scale", Other, c.D))
	return predict, correct
}

// gemma4Text has two kinds of attention with their own head dim and, where keys
// serve as values, their own number of key heads; a feed-forward block of experts
// beside the dense one; embeddings for each layer; and layers that reuse keys and
// values, whose feed-forward block may be twice as wide.
func gemma4Text(c *Config) Model {
	P := c.SizeOr("P", "hidden_size_per_layer_input", Size{})
	window := c.halved(c.String("use_bidirectional_attention") == "all", c.sliding(every(6)...))
	d := Decoder{Norms: sandwich}
	d.Attn = func(i int) Block {
		last := i == int(c.N.Int())-1 // always with full attention
		if last || c.layerType("layer_types", i, every(6)...) == fullAttention {
			return c.gemma4Heads(i, true).gemmaAttention(0, c.reuses(i), c.Switch("attention_k_eq_v"))
		}
		return c.gemma4Heads(i, false).gemmaAttention(window(i), c.reuses(i), false)
	}
	d.FFN = func(i int) Block {
		if c.reuses(i) && c.Switch("use_double_wide_mlp") {
			return c.mlp("mlp", c.F.X(2), false, false)
		}
		return c.mlp("mlp", c.F, false, false)
	}
	d.Layer = func(_ int, attention, feedForward Block) []Block {
		layer := c.between(d, attention, feedForward)
		if c.Switch("enable_moe_block") {
			last := len(layer) - 1
			layer = append(append(layer[:last:last], c.gemma4Experts()...), layer[last])
		}
		if !P.IsZero() {
			layer = append(layer, c.layerInput(P)...)
		}
		return append(layer, Buffer("layer_scalar", Const(1)).As(Other))
	}
	model := decoder(c, d)
	if !P.IsZero() {
		model.Body = append(append([]Block{model.Body[0]}, c.layerInputs(P)...), model.Body[1:]...)
	}
	return model
}

// gemma4Heads returns the config with the sizes of attention in layer i: newer
// files list them by layer, older ones have fields for all layers with full
// attention.
func (c *Config) gemma4Heads(i int, full bool) *Config {
	layer := *c
	c = &layer
	listed := c.Value("per_layer_config").IsObject()
	if H, ok := c.atLayer(i, "head_dim"); ok {
		c.H = Named("Hg", H)
	} else if full && !listed {
		c.H = Named("Hg", c.IntOr("global_head_dim", 512))
	}
	if K, ok := c.atLayer(i, "num_key_value_heads"); ok {
		c.K = Named("Kg", K)
	} else if full && !listed && (c.Bool("attention_k_eq_v") || !c.Declares("attention_k_eq_v")) {
		c.K = c.SizeOr("Kg", "num_global_key_value_heads", c.K)
	}
	c.Q, c.U = c.A.Times(c.H), c.K.Times(c.H)
	return c
}

func (c *Config) gemma4Experts() []Block {
	count, used, width := c.Size("E", "num_experts"), c.Size("T", "top_k_experts"), c.Size("Fe", "moe_intermediate_size")
	experts := c.packed("experts.gate_up_proj", "experts.down_proj")(count, used, width)
	return append([]Block{RMSNorm("post_feedforward_layernorm_1", c.D),
		Module("router", Router, Raw("scale", Router, c.D), Linear("proj", c.D, count), Raw("per_expert_scale", Router, count)),
		RMSNorm("pre_feedforward_layernorm_2", c.D)}, append(experts, RMSNorm("post_feedforward_layernorm_2", c.D))...)
}
