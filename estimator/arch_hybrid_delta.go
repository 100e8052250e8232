package estimator

// Hybrids of attention and the gated delta rule: Qwen3-Next and what descends
// from it.
var deltaFamily = []Arch{
	{"qwen3_next", "Qwen3NextForCausalLM", qwen3Next},
	{"qwen3_5_text", "Qwen3_5ForCausalLM", qwen35},
	{"qwen3_5_moe_text", "Qwen3_5MoeForCausalLM", qwen35Moe},
	{"qwen4_exp_text", "Qwen4ExpForCausalLM", qwen4Exp},
}

// gatedAttention projects queries twice as wide: a gate for every feature of the
// heads' output (arXiv:2505.06708).
func (c *Config) gatedAttention(sub ...Block) Block {
	bias := c.Bool("attention_bias")
	return AttentionBlock("self_attn", GQA(c.A, c.K, c.H, 0), append([]Block{
		Linear("q_proj", c.D, c.Q.X(2)).Bias(bias), Linear("k_proj", c.D, c.U).Bias(bias), Linear("v_proj", c.D, c.U).Bias(bias),
		RMSNorm("q_norm", c.H), RMSNorm("k_norm", c.H), Linear("o_proj", c.Q, c.D).Bias(bias)}, sub...)...)
}

// deltaNet is the mixer of Qwen3-Next: queries, keys, values and gates from one
// projection for each of the named groups.
func (c *Config) deltaNet(fused bool) Block {
	m := GatedDelta{KeyHeads: c.Size("Ak", "linear_num_key_heads"), ValueHeads: c.Size("Av", "linear_num_value_heads"),
		Key: c.Size("Hk", "linear_key_head_dim"), Value: c.Size("Hv", "linear_value_head_dim"), Kernel: c.Size("W", "linear_conv_kernel_dim")}
	in := []Block{Linear("in_proj_qkv", c.D, m.channels()), Linear("in_proj_z", c.D, m.values()),
		Linear("in_proj_b", c.D, m.ValueHeads), Linear("in_proj_a", c.D, m.ValueHeads)}
	if fused {
		in = []Block{Linear("in_proj_qkvz", c.D, m.channels().Plus(m.values())), Linear("in_proj_ba", c.D, m.ValueHeads.X(2))}
	}
	return m.of("linear_attn", append(in, DepthConv("conv1d", m.channels(), m.Kernel, false),
		Raw("dt_bias", StateSpace, m.ValueHeads), Raw("A_log", StateSpace, m.ValueHeads),
		RMSNorm("norm", m.Value), Linear("out_proj", m.values(), c.D))...)
}

// deltaDecoder is the mould of the family; its files hold prediction layers
// beside the model.
func (c *Config) deltaDecoder(mixer Block, feedForward func(i int) Block) Model {
	kind := c.fullEvery(c.IntOr("full_attention_interval", 4))
	d := Decoder{FFN: feedForward, Answer: "transformer",
		Attn: func(i int) Block {
			if kind(i) == fullAttention {
				return c.gatedAttention()
			}
			return mixer
		}}
	if c.Task == ConditionalGeneration { // the language model of one that sees, without its tower
		d.Prefix = "model.language_model"
	}
	model := decoder(c, d)
	model.Sections = []Section{{Name: "multi_token_prediction", Beside: true, Blocks: []Block{Module("mtp", NoRole,
		RMSNorm("pre_fc_norm_embedding", c.D), RMSNorm("pre_fc_norm_hidden", c.D), Linear("fc", c.D.X(2), c.D).As(Projector),
		Stack("layers", Named("Nm", c.IntOr("mtp_num_hidden_layers", 1)), func(int) []Block {
			return []Block{RMSNorm("input_layernorm", c.D), c.gatedAttention(), RMSNorm("post_attention_layernorm", c.D), feedForward(0)}
		}), RMSNorm("norm", c.D))}}}
	return model
}

// sharedExpert is Qwen2-MoE's: routed experts and one that always runs, gated.
var sharedExpert = Routed{Count: "num_experts", Width: "moe_intermediate_size", Bias: Off,
	Shared: "shared_expert", SharedWidth: "shared_expert_intermediate_size", SharedGate: "shared_expert_gate"}

func qwen3Next(c *Config) Model { return c.deltaDecoder(c.deltaNet(true), c.routed(sharedExpert)) }

func qwen35(c *Config) Model {
	mlp := c.mlp("mlp", c.F, false, false)
	return c.deltaDecoder(c.deltaNet(false), func(int) Block { return mlp })
}

func qwen35Moe(c *Config) Model {
	routed := sharedExpert
	routed.Sparse = func(int) bool { return true }
	return c.deltaDecoder(c.deltaNet(false), c.routed(routed))
}
