package estimator

// Types of the GPT-2 mould that bring their own code.
var remoteGPTFamily = []Arch{
	{"qwen", "QWenLMHeadModel", qwen},
	{"exaone", "ExaoneForCausalLM", exaone},
	{"telechat", "TelechatForCausalLM", telechat},
	{"phi3small", "Phi3SmallForCausalLM", phi3Small},
	{"phi-msft", "PhiForCausalLM", phiMSFT},
	{"mixformer-sequential", "MixFormerSequentialForCausalLM", mixFormer},
	{"RefinedWeb", "RWForCausalLM", refinedWeb},
	{"RefinedWebModel", "RWForCausalLM", refinedWebModel},
	{"gpt_neox_reward_model", "GPTNeoXRewardModel", func(c *Config) Model {
		model := gptNeoX(c, "gpt_neox")
		model.Head = []Block{Linear("out_proj", c.D, Const(1)).Bias(true).As(Classifier)}
		return model
	}},
}

// qwen counts gate and up together in its intermediate_size, and has biases of
// queries, keys and values whatever no_bias says.
func qwen(c *Config) Model {
	d := GPT{Norm: RMSNorm, HeadDim: "kv_channels", F: c.ratio("F", c.Size("F", "intermediate_size"), Const(2)),
		QKVBias: On, Names: Names{Up: "w1 w2"}, Heads: Heads{Untied: true}}
	if c.BoolOr("no_bias", true) {
		d.Bias = Off
	}
	return gpt(c, d)
}

func exaone(c *Config) Model {
	return gpt(c, GPT{Norm: RMSNorm, Bias: Off, KV: c.K, Width: "intermediate_size",
		Names: Names{Attn: "attn.attention", QKV: "q_proj k_proj v_proj", Out: "out_proj", Up: "c_fc_0 c_fc_1"}})
}

func telechat(c *Config) Model {
	d := GPT{Like: megatronNames, Norm: RMSNorm, QKVBias: Off, UpBias: Off, KV: c.K, Width: "ffn_hidden_size",
		Names: Names{QKV: "query key_value", Up: "gate_proj up_proj", Down: "down_proj"}}
	if c.Bool("embed_layernorm") {
		d.Names.EmbedNorm = "word_embeddings_layernorm"
	}
	return gpt(c, d)
}

// phi3Small attends in blocks in most layers, which no tensor shows; its files
// keep the rotary frequencies of every layer.
func phi3Small(c *Config) Model {
	d := GPT{Like: megatronNames, Prefix: "model", KV: c.K, FusedGate: true,
		F:     c.SizeOr("F", "ff_intermediate_size", c.D.X(c.IntOr("ff_dim_multiplier", 4))),
		Names: Names{Token: "embed_tokens", Stack: "layers", Attn: "self_attn", Up: "up_proj", Down: "down_proj", Last: "final_layernorm"}}
	d.Within = func(int) []Block { return []Block{c.rotary("rotary_emb.inv_freq", 2)} }
	return gpt(c, d)
}

func mixerNames() Names {
	return Names{Token: "embd.wte", Stack: "h", Norm1: "ln", Attn: "mixer", QKV: "Wqkv", Out: "out_proj", MLP: "mlp", Up: "fc1", Down: "fc2"}
}

// phiMSFT is Phi-1.5 and Phi-2 in their second form: the last norm stands in the
// head.
func phiMSFT(c *Config) Model {
	model := gpt(c, GPT{Like: mixerNames, KV: c.firstOr("K", c.A, "n_head_kv"), Place: SharedNorm, NoLast: true,
		Heads: Heads{Head: "lm_head.linear", HeadBias: true, Untied: true}})
	if c.Task != BaseModel {
		model.Head = append([]Block{LayerNorm("lm_head.ln", c.D)}, model.Head...)
	}
	return model
}

// mixFormer is the same in its first form: one list of modules, embedding first,
// head last.
func mixFormer(c *Config) Model {
	last := Only(c.N.Int() + 1).String()
	d := GPT{Like: mixerNames, Prefix: "layers", KV: c.firstOr("K", c.A, "n_head_kv"), Place: SharedNorm, First: 1,
		Names: Names{Token: "0.wte", Stack: Nameless, Last: last + ".ln"},
		Heads: Heads{Head: "layers." + last + ".linear", HeadBias: true, Untied: true}}
	return gpt(c, d)
}

// refinedWeb is Falcon-40B under its first name.
func refinedWeb(c *Config) Model {
	return gpt(c, GPT{Like: megatronNames, F: c.D.X(4), KV: c.firstOr("K", c.A, "n_head_kv"), Bias: c.by("bias"),
		Names: Names{Norm1: "ln_attn", Norm2: "ln_mlp"}})
}

// refinedWebModel is Falcon-7B and Falcon-RW under their first name.
func refinedWebModel(c *Config) Model {
	d := GPT{Like: megatronNames, F: c.D.X(4), Bias: c.by("bias")}
	if c.Bool("multi_query") {
		d.KV = Const(1)
	}
	if c.Bool("parallel_attn") {
		d.Place = SharedNorm
	}
	return gpt(c, d)
}
