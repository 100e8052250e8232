package estimator

import (
	"math"
	"slices"
)

// Types of the llama mould that bring their own code.
var remoteLlamaFamily = []Arch{
	{"baichuan", "BaichuanForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{FusedQKV: "W_pack", Heads: Heads{Untied: true}})
	}},
	{"internlm", "InternLMForCausalLM", func(c *Config) Model { return decoder(c, c.biased(Heads{Untied: true})) }},
	{"PanguEmbedded", "PanguEmbeddedForCausalLM", func(c *Config) Model { return decoder(c, c.biased(Heads{Untied: true})) }},
	{"internlm3", "InternLM3ForCausalLM", func(c *Config) Model { // the class reads qkv_bias and bias under other names
		return decoder(c, Decoder{OutBias: c.by("mlp_bias"), Answer: "transformer"})
	}},
	{"internlm2", "InternLM2ForCausalLM", internLM2},
	{"mimo", "MiMoForCausalLM", mimo},
	{"stablelm_epoch", "StableLMEpochForCausalLM", func(c *Config) Model {
		return decoder(c, Decoder{Norm: LayerNorm, QKVBias: c.by("use_qkv_bias"), OutBias: Off, Heads: Heads{Untied: true}})
	}},
	{"kimi_k2", "DeepseekV3ForCausalLM", deepseekV3},
	{"deepseek", "DeepseekForCausalLM", deepseek},
	{"minicpm", "MiniCPMForCausalLM", minicpm},
	{"minimax_m1", "MiniMaxM1ForCausalLM", miniMaxM1},
	{"nemotron-nas", "DeciLMForCausalLM", nemotronNAS},
	{"deci", "DeciLMForCausalLM", deci},
}

// biased is llama with biases of all of attention by the field bias, whose files
// keep the rotary frequencies of every layer.
func (c *Config) biased(heads Heads) Decoder {
	bias := Off
	if c.BoolOr("bias", true) {
		bias = On
	}
	return Decoder{QKVBias: bias, OutBias: bias, Heads: heads, Scored: []Block{c.rotary("rotary_emb.inv_freq", 2)}}
}

// rotary is the stored table of rotary frequencies, one for every part-th feature
// of a head.
func (c *Config) rotary(name string, part int64) Block {
	return Buffer(name, c.ratio("R", c.H, Const(part)))
}

func internLM2(c *Config) Model {
	d := GPT{Like: internLM2Names, Prefix: "model", Norm: RMSNorm, Bias: Off, KV: c.K, Width: "intermediate_size",
		Heads: Heads{Head: "output", Untied: true}}
	if c.BoolOr("bias", true) {
		d.QKVBias, d.OutBias = On, On
	}
	return gpt(c, d)
}

func internLM2Names() Names {
	return Names{Token: "tok_embeddings", Stack: "layers", Norm1: "attention_norm", Attn: "attention", QKV: "wqkv", Out: "wo",
		Norm2: "ffn_norm", MLP: "feed_forward", Up: "w1 w3", Down: "w2", Last: "norm"}
}

// mimo is Qwen2 with a head dim of its own and prediction layers beside the
// layers.
func mimo(c *Config) Model {
	d := Decoder{QKVBias: c.by("attention_bias"), OutBias: Off, Heads: Heads{Untied: true}, Window: c.qwenWindow}
	model := decoder(c, d)
	layer := func(int) []Block {
		return []Block{RMSNorm("token_layernorm", c.D), RMSNorm("hidden_layernorm", c.D), Linear("input_proj", c.D.X(2), c.D).As(Projector),
			RMSNorm("input_layernorm", c.D), c.selfAttention(d, 0), RMSNorm("post_attention_layernorm", c.D),
			c.mlp("mlp", c.F, false, false), RMSNorm("final_layernorm", c.D)}
	}
	if n := c.SizeOr("predictions", "num_nextn_predict_layers", Size{}); !n.IsZero() {
		model.Sections = []Section{{Name: "multi_token_prediction", Blocks: []Block{Stack("mtp_layers", n, layer)}}}
	}
	return model
}

// qwenWindow is Qwen2's rule for classes that do not declare its fields.
func (c *Config) qwenWindow(i int) int64 {
	if !c.Bool("use_sliding_window") || int64(i) < c.IntOr("max_window_layers", 0) {
		return 0
	}
	return c.IntOr("sliding_window", 0)
}

// deepseek is the first DeepSeek-MoE (arXiv:2401.06066): llama's attention,
// routed and shared experts behind the first dense layers.
func deepseek(c *Config) Model {
	bias := c.by("attention_bias")
	d := Decoder{QKVBias: bias, OutBias: bias, Heads: Heads{Untied: true}}
	if c.Given("n_routed_experts") {
		d.FFN = c.routed(deepseekExperts())
	}
	return decoder(c, d)
}

// minicpm scales embeddings and residuals, which no tensor shows. One of its
// sizes has experts.
func minicpm(c *Config) Model {
	bias := c.by("attention_bias")
	d := Decoder{QKVBias: bias, OutBias: bias}
	if c.IntOr("num_experts", 0) > 0 {
		d.FFN = c.routed(Routed{Count: "num_experts", Matrices: [3]string{"w1", "w3", "w2"}})
	}
	return decoder(c, d)
}

// miniMaxM1 is MiniMax (arXiv:2501.08313) with its kinds of attention as numbers,
// without the tables of decays in its files, and with routers that stay in single
// precision.
func miniMaxM1(c *Config) Model {
	linear := c.lightning()
	linear.Sub = slices.DeleteFunc(linear.Sub, func(b Block) bool { return b.Kind == BufferKind })
	kinds := c.Ints("attn_type_list")
	c.each("attn_type_list", len(kinds))
	return decoder(c, Decoder{Heads: Heads{Untied: true},
		Attn: func(i int) Block {
			if i < len(kinds) && kinds[i] == 0 {
				return linear
			}
			return c.selfAttention(Decoder{}, i)
		},
		FFN: c.routed(Routed{Name: "block_sparse_moe", Count: "num_local_experts", Matrices: [3]string{"w1", "w3", "w2"},
			Gate: func(_ int, count Size) []Block { return []Block{Linear("gate", c.D, count).As(Router).Typed("F32")} }})})
}

// nemotronNAS is a llama whose layers were searched one by one (Puzzle,
// arXiv:2411.19146): attention and feed-forward may be left out or be a single
// matrix, and groups of heads and widths differ.
func nemotronNAS(c *Config) Model {
	bias := c.by("attention_bias")
	d := Decoder{QKVBias: bias, OutBias: bias, Heads: Heads{Untied: true}}
	blocks := c.Value("block_configs").Array()
	d.Layer = func(i int, _, _ Block) []Block {
		if i >= len(blocks) {
			c.Fault("block_configs", "holds %d of %d layers", len(blocks), c.N.Int())
			return nil
		}
		var layer []Block
		switch attention := blocks[i].Get("attention"); {
		case attention.Get("replace_with_linear").Bool():
			layer = []Block{RMSNorm("input_layernorm", c.D), Module("self_attn", Attention, Linear("linear_attn", c.D, c.D))}
		case !attention.Get("no_op").Bool():
			at := *c
			at.heads(c.A, c.ratio("K", c.A, Const(attention.Get("n_heads_in_group").Int())), "head_dim")
			windowed := d
			windowed.Window = func(int) int64 { return attention.Get("window_length").Int() }
			layer = []Block{RMSNorm("input_layernorm", c.D), at.selfAttention(windowed, i)}
		}
		switch ffn := blocks[i].Get("ffn"); {
		case ffn.Get("replace_with_linear").Bool():
			layer = append(layer, RMSNorm("post_attention_layernorm", c.D), Module("mlp", MLP, Linear("linear_mlp", c.D, c.D)))
		case !ffn.Get("no_op").Bool():
			f := int64(math.Trunc(2 * ffn.Get("ffn_mult").Num * float64(c.D.Int()) / 3))
			layer = append(layer, RMSNorm("post_attention_layernorm", c.D), c.mlp("mlp", c.named("F", "block_configs", roundUp(f, 256)), false, false))
		}
		return layer
	}
	return decoder(c, d)
}

// roundUp returns the next multiple of step.
func roundUp(n, step int64) int64 { return (n + step - 1) / step * step }

// deci has as many key and value heads as a list says for each layer.
func deci(c *Config) Model {
	return decoder(c, Decoder{Heads: Heads{Untied: true}, Attn: func(i int) Block {
		at := *c
		at.heads(c.A, c.SizeAt("K", "num_key_value_heads_per_layer", i), "head_dim")
		return at.selfAttention(Decoder{}, i)
	}})
}
