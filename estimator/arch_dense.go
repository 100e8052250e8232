package estimator

// Dense decoders that differ from llama in switches and names only.
var denseFamily = []Arch{
	{"apertus", "ApertusForCausalLM", apertus},
	{"arcee", "ArceeForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Ungated: true, Answer: "transformer"})
	}},
	{"bitnet", "BitNetForCausalLM", bitnet},
	{"cohere", "CohereForCausalLM", cohere},
	{"cohere2", "Cohere2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{MLPBias: Off, Norms: singleNorm, Window: c.sliding(every(c.IntOr("sliding_window_pattern", 4))...)})
	}},
	{"cwm", "CwmForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Window: c.sliding(fullAttention, slidingAttention, slidingAttention, slidingAttention)})
	}},
	{"emu3_text_model", "Emu3ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKVBias: c.by("attention_bias"), OutBias: c.by("attention_bias"), MLPBias: c.by("mlp_bias")})
	}},
	{"ernie4_5", "Ernie4_5ForCausalLM", func(c *Config) Model {
		bias := c.by("use_bias")
		return decoder(c, Decoder{QKVBias: bias, OutBias: bias, MLPBias: bias})
	}},
	{"exaone4", "Exaone4ForCausalLM", exaone4},
	{"glm", "GlmForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{OutBias: Off, FusedGate: "gate_up_proj"})
	}},
	{"glm4", "Glm4ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{OutBias: Off, FusedGate: "gate_up_proj",
			Norms: Norms{"input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"}})
	}},
	{"granite", "GraniteForCausalLM", func(c *Config) Model { return decoder(c, Decoder{}) }},
	{"granite_swa", "GraniteSWAForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Scored: []Block{Raw("sinks", Attention, c.A)},
			Window: c.sliding(fullAttention, slidingAttention, slidingAttention, slidingAttention)})
	}},
	{"helium", "HeliumForCausalLM", helium},
	{"hunyuan_v1_dense", "HunYuanDenseV1ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: PerHead, QKNames: [2]string{"query_layernorm", "key_layernorm"}})
	}},
	{"hyperclovax", "HyperCLOVAXForCausalLM", hyperclovax},
	{"jais2", "Jais2ForCausalLM", func(c *Config) Model { return decoder(c, Decoder{Norm: LayerNorm, Ungated: true}) }},
	{"ministral", "MinistralForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Answer: "transformer", Window: c.sliding(slidingAttention)})
	}},
	{"ministral3", "Ministral3ForCausalLM", func(c *Config) Model { return decoder(c, Decoder{}) }},
	{"minicpm3", "MiniCPM3ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Attn: func(int) Block { return c.mla() }})
	}},
	{"nanochat", "NanoChatForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: PerHead, Ungated: true, UpDown: [2]string{"fc1", "fc2"}, Norm: Unweighted})
	}},
	{"nemotron", "NemotronForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norm: LayerNorm, Ungated: true, Answer: "transformer"})
	}},
	{"olmo", "OlmoForCausalLM", func(c *Config) Model { return decoder(c, Decoder{Norm: Unweighted}) }},
	{"olmo2", "Olmo2ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: AcrossAll, Norms: postNorms})
	}},
	{"olmo3", "Olmo3ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKNorm: AcrossAll, Norms: postNorms, Window: c.sliding(every(4)...)})
	}},
	{"persimmon", "PersimmonForCausalLM", persimmon},
	{"phi", "PhiForCausalLM", phi},
	{"phi3", "Phi3ForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{QKVBias: Off, OutBias: Off, FusedQKV: "qkv_proj", FusedGate: "gate_up_proj"})
	}},
	{"seed_oss", "SeedOssForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{OutBias: c.by("attention_out_bias"), Answer: "transformer"})
	}},
	{"smollm3", "SmolLM3ForCausalLM", smollm3},
	{"stablelm", "StableLmForCausalLM", stablelm},
	{"starcoder2", "Starcoder2ForCausalLM", func(c *Config) Model {
		bias := c.by("use_bias")
		return decoder(c, Decoder{QKVBias: bias, OutBias: bias, MLPBias: bias, Norm: LayerNorm, Ungated: true,
			UpDown: [2]string{"c_fc", "c_proj"}})
	}},
	{"youtu", "YoutuForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Attn: func(int) Block { return c.mla() }})
	}},
}

// apertus learns the two slopes of its activation (xIELU, arXiv:2411.13010).
func apertus(c *Config) Model {
	d := Decoder{QKNorm: PerHead, MLPBias: Off, Ungated: true, Norms: Norms{"attention_layernorm", "", "feedforward_layernorm", ""}}
	if c.String("hidden_act") == "xielu" {
		d.Activated = []Block{Module("act_fn", MLP, Raw("alpha_p", MLP, Const(1)), Raw("alpha_n", MLP, Const(1)),
			Buffer("beta"), Buffer("eps"))}
	}
	return decoder(c, d)
}

func bitnet(c *Config) Model {
	return decoder(c, Decoder{MLPBias: Off, Scored: []Block{RMSNorm("attn_sub_norm", c.D)},
		Activated: []Block{RMSNorm("ffn_sub_norm", c.F)}})
}

func cohere(c *Config) Model {
	d := Decoder{MLPBias: Off, Norms: singleNorm}
	if c.Bool("use_qk_norm") {
		d.QKNorm = HeadWise
	}
	return decoder(c, d)
}

// exaone4 writes its pattern of layers as a number or as letters, L for a window
// and G for full attention.
func exaone4(c *Config) Model {
	return decoder(c, Decoder{QKNorm: PerHead, Norms: postNorms, Answer: "transformer",
		Window: c.sliding(c.pattern("sliding_window_pattern", 4)...)})
}

// helium's output projection is D by D whatever the head dim.
func helium(c *Config) Model {
	d := Decoder{}
	d.Attn = func(i int) Block {
		return AttentionBlock("self_attn", GQA(c.A, c.K, c.H, c.windowOf(d, i)),
			append(c.queries(d), Linear("o_proj", c.D, c.D))...)
	}
	return decoder(c, d)
}

func hyperclovax(c *Config) Model {
	d := Decoder{}
	if c.Bool("use_post_norm") {
		d.Norms = Norms{"input_layernorm", "post_norm1", "post_attention_layernorm", "post_norm2"}
	}
	return decoder(c, d)
}

func persimmon(c *Config) Model {
	c.heads(c.A, c.A, "")
	d := Decoder{QKVBias: On, OutBias: On, MLPBias: On, FusedQKV: "query_key_value", Output: "dense", Ungated: true,
		UpDown: [2]string{"dense_h_to_4h", "dense_4h_to_h"}, Norm: LayerNorm, Final: "final_layernorm"}
	if c.Bool("qk_layernorm") {
		d.QKNorm, d.QKNames = PerHead, [2]string{"q_layernorm", "k_layernorm"}
	}
	return decoder(c, d)
}

func phi(c *Config) Model {
	d := Decoder{QKVBias: On, OutBias: On, MLPBias: On, Output: "dense", Ungated: true, UpDown: [2]string{"fc1", "fc2"},
		Norm: LayerNorm, Norms: singleNorm, Final: "final_layernorm", Heads: Heads{HeadBias: true}}
	if c.Bool("qk_layernorm") {
		even := c.ratio("H", c.D, c.A) // whatever head_dim says
		d.Scored = []Block{LayerNorm("q_layernorm", even), LayerNorm("k_layernorm", even)}
	}
	return decoder(c, d)
}

// smollm3 has windows in the layers without rotary positions, where they are
// switched on.
func smollm3(c *Config) Model {
	listed, rotary := c.Strings("layer_types"), c.Ints("no_rope_layers")
	interval := max(1, c.IntOr("no_rope_layer_interval", 1))
	return decoder(c, Decoder{Answer: "transformer", Window: func(i int) int64 {
		slides := (int64(i)+1)%interval == 0
		switch {
		case i < len(listed):
			slides = listed[i] == slidingAttention
		case !c.Bool("use_sliding_window"):
			return 0
		case i < len(rotary):
			slides = rotary[i] == 0
		}
		if !slides {
			return 0
		}
		return c.IntOr("sliding_window", 0)
	}})
}

func stablelm(c *Config) Model {
	c.evenHeads()
	d := Decoder{QKVBias: c.by("use_qkv_bias"), OutBias: Off, QKNames: [2]string{"q_layernorm", "k_layernorm"}, Norm: LayerNorm}
	if c.Bool("qk_layernorm") {
		d.QKNorm = HeadList
	}
	if c.Bool("use_parallel_residual") {
		d.Norms = singleNorm
	}
	return decoder(c, d)
}
