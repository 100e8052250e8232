package estimator

import (
	"math/big"

	"github.com/hf-inspect/hf-inspect/hfconfig"
)

// Hybrids of attention and other linear attention: with separate projections and
// convolutions for queries, keys and values, or without a convolution.
var linearFamily = []Arch{
	{"olmo_hybrid", "OlmoHybridForCausalLM", olmoHybrid},
	{"kimi_linear", "KimiLinearForCausalLM", kimiLinear},
	{"bailing_hybrid", "BailingHybridForCausalLM", bailingHybrid},
	{"minimax", "MiniMaxForCausalLM", miniMax},
}

// split is the projections of a delta mixer and their convolutions, one each for
// queries, keys and values.
func (m GatedDelta) split(D Size) []Block {
	return []Block{Linear("q_proj", D, m.keys()), Linear("k_proj", D, m.keys()), Linear("v_proj", D, m.values()),
		DepthConv("q_conv1d", m.keys(), m.Kernel, false), DepthConv("k_conv1d", m.keys(), m.Kernel, false),
		DepthConv("v_conv1d", m.values(), m.Kernel, false)}
}

// olmoHybrid has its norms in front of the blocks of linear layers, behind those
// of the others.
func olmoHybrid(c *Config) Model {
	key := Named("Hk", c.D.Int()*3/4/max(1, c.SizeOr("Ak", "linear_num_key_heads", c.A).Int()))
	m := GatedDelta{KeyHeads: c.SizeOr("Ak", "linear_num_key_heads", c.A), ValueHeads: c.SizeOr("Av", "linear_num_value_heads", c.A),
		Key: c.SizeOr("Hk", "linear_key_head_dim", key), Kernel: c.Size("W", "linear_conv_kernel_dim")}
	m.Value = c.SizeOr("Hv", "linear_value_head_dim", m.Key.X(2))
	mixer := m.of("linear_attn", append(m.split(c.D), Linear("a_proj", c.D, m.ValueHeads), Linear("b_proj", c.D, m.ValueHeads),
		Raw("A_log", StateSpace, m.ValueHeads), Raw("dt_bias", StateSpace, m.ValueHeads), Linear("g_proj", c.D, m.values()),
		RMSNorm("o_norm", m.Value), Linear("o_proj", m.values(), c.D))...)
	kind, last := c.fullEvery(4), c.N.Int()-1
	linear := func(i int) bool {
		return kind(i) == linearAttention && (c.Given("layer_types") || last >= 3 || int64(i) != last)
	}
	d := Decoder{QKNorm: AcrossAll, Norm: RMSNorm, Norms: postNorms, MLPBias: Off}
	d.Attn = func(i int) Block {
		if linear(i) {
			return mixer
		}
		return c.selfAttention(d, i)
	}
	d.Layer = func(i int, attention, feedForward Block) []Block {
		if linear(i) {
			return []Block{RMSNorm("attention_layer_norm", c.D), attention, RMSNorm("feedforward_layer_norm", c.D), feedForward}
		}
		return c.between(d, attention, feedForward)
	}
	return decoder(c, d)
}

// kimiDelta is Kimi Delta Attention (arXiv:2510.26692, section 3): the gated
// delta rule with a decay for every channel.
func kimiDelta(heads, head, kernel Size) GatedDelta {
	return GatedDelta{KeyHeads: heads, ValueHeads: heads, Key: head, Value: head, Kernel: kernel}
}

func kimiLinear(c *Config) Model {
	linear := c.Sub("linear_attn_config")
	size := func(symbol, field, own string) Size {
		if linear != nil {
			if n, ok := linear.Nullable(own); ok {
				return c.named(symbol, field, n)
			}
		}
		return c.Size(symbol, field)
	}
	head := size("Hk", "linear_head_dim", "head_dim")
	m := kimiDelta(size("Ak", "linear_num_heads", "num_heads"), head, size("W", "linear_conv_kernel_dim", "short_conv_kernel_size"))
	mixer := m.of("self_attn", append(m.split(c.D), Linear("f_a_proj", c.D, head), Linear("f_b_proj", head, m.keys()),
		Raw("dt_bias", StateSpace, m.keys()), Raw("A_log", StateSpace, Const(1), Const(1), m.KeyHeads, Const(1)), Linear("b_proj", c.D, m.KeyHeads),
		Linear("g_a_proj", c.D, head), Linear("g_b_proj", head, m.keys()), RMSNorm("o_norm", head), Linear("o_proj", m.keys(), c.D))...)
	routed := kimiExperts()
	routed.Name, routed.Matrices, routed.Sparse = "block_sparse_moe", [3]string{"w1", "w3", "w2"}, c.sparseFrom(c.IntOr("first_k_dense_replace", 1))
	sparse, full := c.routed(routed), c.kimiFull(linear)
	return decoder(c, Decoder{Heads: Heads{NeverTied: true},
		Attn: func(i int) Block {
			if full(i) {
				return c.mla()
			}
			return mixer
		},
		FFN: func(i int) Block {
			if routed.Sparse(i) {
				return sparse(i)
			}
			return c.mlp("mlp", c.F, false, false)
		}})
}

// kimiFull says which layers have full attention: as listed, with numbers from 1
// in the older form, else every fourth after the first.
func (c *Config) kimiFull(linear *hfconfig.Config) func(i int) bool {
	kinds := c.modernKinds("layer_types")
	listed := linear != nil && linear.Given("full_attn_layers") && linear.Given("kda_layers")
	full := among(nil)
	if listed {
		full = among(linear.Ints("full_attn_layers"))
	}
	return func(i int) bool {
		switch {
		case kinds != nil:
			return i < len(kinds) && kinds[i] == fullAttention
		case listed:
			return full(int64(i) + 1)
		}
		return i > 0 && i%4 == 0
	}
}

// kimiExperts is DeepSeek-V3's routed block under other fields.
func kimiExperts() Routed {
	r := deepseekExperts()
	r.Count = "num_local_experts"
	return r
}

// bailingHybrid is Ling 2.5: Kimi Delta Attention, and latent attention with a
// gate for each head in the last layer of every group.
func bailingHybrid(c *Config) Model {
	head := c.GivenOr("Hk", "linear_head_dim", c.Size("Hk", "head_dim"))
	m := kimiDelta(c.GivenOr("Ak", "linear_num_heads", c.A), head, c.GivenOr("W", "linear_conv_kernel_dim", c.Size("W", "short_conv_kernel_size")))
	mixer := m.of("attention", append(m.split(c.D), Raw("A_log", StateSpace, m.KeyHeads), Raw("dt_bias", StateSpace, m.keys()),
		Linear("f_proj", c.D, m.keys()), Linear("b_proj", c.D, m.KeyHeads), RMSNorm("o_norm", head),
		Linear("g_proj", c.D, m.keys()), Linear("dense", m.keys(), c.D))...)
	latent := c.latent(Linear("g_proj", c.D, c.A))
	latent.Query, latent.Output = Size{}, "dense"
	routed := kimiExperts()
	routed.RouterBias, routed.Sparse = "gate.expert_bias", c.sparseFrom(c.IntOr("first_k_dense_replace", 0))
	kind, embedding := c.fullEvery(c.Int("layer_group_size")), "word_embeddings"
	if c.Task == BaseModel {
		embedding = "" // the name is changed below the prefix only
	}
	return decoder(c, Decoder{Heads: Heads{NeverTied: true}, Embedding: embedding, FFN: c.routed(routed),
		Attn: func(i int) Block {
			if kind(i) == fullAttention {
				return c.latentAttention(latent).Called("attention")
			}
			return mixer
		}})
}

// miniMax is MiniMax-01 (arXiv:2501.08313, section 2.2): lightning attention in
// every other layer.
func miniMax(c *Config) Model {
	kind, mixer := c.kinds("layer_types", fullAttention, linearAttention), c.lightning()
	return decoder(c, Decoder{
		Attn: func(i int) Block {
			if kind(i) == linearAttention {
				return mixer
			}
			return c.selfAttention(Decoder{QKVBias: Off, OutBias: Off, Norm: RMSNorm, Window: func(int) int64 { return 0 }}, i)
		},
		FFN: c.routed(Routed{Name: "block_sparse_moe", Count: "num_local_experts", Matrices: [3]string{"w1", "w3", "w2"}})})
}

// lightning is linear attention with a decay that is fixed for each head, block
// by block; the decays are stored.
func (c *Config) lightning() Block {
	B, one := c.SizeOr("B", "block_size", Named("B", 256)), Const(1)
	b := Module("self_attn", StateSpace, Linear("qkv_proj", c.D, c.Q.X(3)),
		Buffer("slope_rate", c.A, one, one), Buffer("query_decay", c.A, B, one), Buffer("key_decay", c.A, B, one), Buffer("diagonal_decay", one, c.A, B, B),
		RMSNorm("norm", c.Q), Linear("output_gate", c.D, c.Q), Linear("out_proj", c.Q, c.D))
	b.States = []State{{Name: "recurrent", Elements: c.Q.Times(c.H)}}
	A, H := c.A, c.H
	b.Extra = &Extra{Name: "linear attention", Sizes: []Size{A, H, B}, FLOPs: func(p Pass) *big.Int {
		n := max(1, B.Int())
		blocks, rest := p.Seq/n, p.Seq%n
		within := product(2, blocks, n, n, H.Int())
		within.Add(within, product(2, rest, rest, H.Int()))
		if p.Past > 0 {
			within.SetInt64(0) // token by token from the state
		}
		sum := within.Add(within, product(2, p.Seq, H.Int(), H.Int()))
		return sum.Mul(sum, product(2, p.Batch, A.Int()))
	}}
	return b
}
