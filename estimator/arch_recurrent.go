package estimator

import (
	"math"
	"slices"
)

// State-space, recurrent and hybrid families.
var recurrentFamily = slices.Concat(ssmFamily, zambaFamily, deltaFamily, convolutionFamily, linearFamily, oddFamily, []Arch{
	{"recurrent_gemma", "RecurrentGemmaForCausalLM", recurrentGemma},
	{"rwkv", "RwkvForCausalLM", rwkv},
	{"xlstm", "xLSTMForCausalLM", xlstm},
})

// recurrentGemma is Griffin (arXiv:2402.19427): a gated linear recurrence in two
// layers of three, local attention in the third.
func recurrentGemma(c *Config) Model {
	kinds := c.Strings("block_types")
	c.inWords("block_types", kinds, "recurrent", "attention")
	c.F = Named("F", c.F.Int()/2)
	recurrence := c.griffin("temporal_block", c.SizeOr("I", "lru_width", c.D), c.Size("W", "conv1d_width"))
	return decoder(c, Decoder{Norms: Norms{"temporal_pre_norm", "", "channel_pre_norm", ""}, Final: "final_norm",
		Attn: func(i int) Block {
			if len(kinds) > 0 && kinds[i%len(kinds)] == "recurrent" {
				return recurrence
			}
			return c.selfAttention(Decoder{OutBias: On, Norm: RMSNorm}, i).Called("temporal_block")
		},
		FFN: func(int) Block { return c.mlp("mlp_block", c.F, false, true) }})
}

// griffin is the recurrent block (section 2.4): two branches, one through a
// short convolution and the real-gated linear recurrent unit, whose gates are
// block-diagonal, a block a head.
func (c *Config) griffin(name string, width, kernel Size) Block {
	head := c.ratio("P", width, c.A)
	gates := func(gate string) []Block {
		bias := Raw(gate+"_bias", StateSpace, c.A, head)
		bias.Params[0].Bias = true
		return []Block{BlockDiagonal(gate+"_weight", c.A, head, head), bias}
	}
	positions := func(p Pass) int64 { // a single token beside a state is a plain sum of products
		if p.Seq == 1 && !p.NoCache {
			return 0
		}
		return p.Seq + kernel.Int() - 1
	}
	unit := append(append([]Block{Raw("recurrent_param", StateSpace, width)}, gates("input_gate")...), gates("recurrent_gate")...)
	b := Module(name, StateSpace, Linear("linear_y", c.D, width).Bias(true), Linear("linear_x", c.D, width).Bias(true),
		convOver("conv_1d", width, kernel, true, positions), Module("rg_lru", StateSpace, unit...), Linear("linear_out", width, c.D).Bias(true))
	b.States = []State{{Name: "convolution", Elements: width.Times(kernel.Minus(Const(1)))}, {Name: "recurrent", Elements: width, Bytes: 4}}
	return b
}

// rwkv is RWKV-4 (arXiv:2305.13048): both halves of a layer mix each token with
// the one before, and the first keeps a decaying sum of keys and values.
func rwkv(c *Config) Model {
	prefix, width, F := c.under("rwkv"), c.SizeOr("I", "attention_hidden_size", c.D), c.SizeOr("F", "intermediate_size", c.D.X(4))
	mix := func(name string) Block { return Raw("time_mix_"+name, StateSpace, Const(1), Const(1), c.D) }
	time := Module("attention", StateSpace, Raw("time_decay", StateSpace, width), Raw("time_first", StateSpace, width),
		mix("key"), mix("value"), mix("receptance"), Linear("key", c.D, width), Linear("value", c.D, width),
		Linear("receptance", c.D, width), Linear("output", width, c.D))
	time.States = []State{{Name: "shift", Elements: c.D}, {Name: "recurrent", Elements: width.X(3), Bytes: 4}}
	channel := MLPBlock("feed_forward", mix("key").As(MLP), mix("receptance").As(MLP),
		Linear("key", c.D, F), Linear("receptance", c.D, c.D), Linear("value", F, c.D))
	channel.States = []State{{Name: "shift", Elements: c.D}}
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("embeddings", c.V, c.D), Stack("blocks", c.N, func(i int) []Block {
			layer := []Block{LayerNorm("ln1", c.D), time, LayerNorm("ln2", c.D), channel}
			if i == 0 {
				return append([]Block{LayerNorm("pre_ln", c.D)}, layer...)
			}
			return layer
		}), LayerNorm("ln_out", c.D)},
		Head: c.head(join(prefix, "embeddings.weight"), c.D, Heads{Head: "head"})}
}

// xlstm is xLSTM-7B (arXiv:2503.13427): a matrix memory in every layer.
func xlstm(c *Config) Model {
	c.N = c.first("N", "num_blocks", "num_hidden_layers")
	bias, fused := c.Bool("use_bias"), c.String("weight_mode") == "fused"
	d, n := float64(c.D.Int()), max(1, c.Int("ffn_round_up_to_multiple_of"))
	F := c.named("F", "ffn_proj_factor", int64(math.Floor((d*c.Float("ffn_proj_factor", 0)+float64(n)-1)/float64(n)))*n)
	norm := func(name string) Block { return RMSNorm(name, c.D).Bias(bias) }
	ffn := []Block{Linear("proj_up_gate", c.D, F).Bias(bias), Linear("proj_up", c.D, F).Bias(bias)}
	if fused {
		ffn = []Block{Linear("proj_up_gate_z", c.D, F.X(2)).Bias(bias)}
	}
	memory := MatrixMemory{Heads: c.Size("A", "num_heads"), Keys: c.named("K", "qk_dim_factor", int64(d*c.Float("qk_dim_factor", 0))),
		Values: c.named("U", "v_dim_factor", int64(d*c.Float("v_dim_factor", 0))), Chunk: c.Int("chunk_size")}.block("mlstm_layer", c.D, fused, bias)
	return c.mambaStack("blocks", "out_norm", func(int) []Block {
		return []Block{norm("norm_mlstm"), memory, norm("norm_ffn"), MLPBlock("ffn", append(ffn, Linear("proj_down", F, c.D).Bias(bias))...)}
	}, Heads{NeverTied: true})
}
