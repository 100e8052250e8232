package estimator

import (
	"math/big"
	"slices"
)

// Decoders with several residual streams: hyper-connections (arXiv:2409.19606)
// mix them before and after every block.
var moeStreamFamily = []Arch{
	{"deepseek_v4", "DeepseekV4ForCausalLM", deepseekV4},
	{"hy_v4", "HYV4ForCausalLM", hyV4},
}

// hyper is the linear map by which a hyper-connection makes its weights of all
// streams, with their biases and scales; the prefix is that of the three names.
// Three kinds of weights, one a matrix that mixes the streams, or two.
func (c *Config) hyper(prefix string, kinds int64) Block {
	n := c.Size("n", "hc_mult")
	out := n.X(kinds)
	if kinds == 3 {
		out = n.Times(n).Plus(n.X(2))
	}
	b := Module("", Other, Linear(prefix+"fn", n.Times(c.D), out).Bare(), Raw(prefix+"base", Other, out), Raw(prefix+"scale", Other, Const(kinds)))
	if kinds == 3 {
		b.Extra = &Extra{Name: "mixing", Sizes: []Size{n, c.D}, FLOPs: func(p Pass) *big.Int {
			return product(2, p.Batch, p.Seq, n.Int(), n.Int(), c.D.Int())
		}}
	}
	return b
}

// hyV4 has a gate on the features that attention gives, sinks, and indexers in
// some layers whose picks the following ones use.
func hyV4(c *Config) Model {
	experts := deepseekExperts()
	experts.Sparse, experts.Packed = c.sparseFrom(1), c.packed("experts.gate_up_proj", "experts.down_proj")
	experts.MLP = func(name string, f Size) Block {
		return MLPBlock(name, Linear("linear_gate", c.D, f), Linear("up_proj", c.D, f), Linear("down_proj", f, c.D))
	}
	own := []Block{Linear("linear_gate", c.D, c.A.Times(c.Size("Hv", "v_head_dim"))), Raw("learnable_sink_param", Attention, c.A)}
	model := decoder(c, Decoder{FFN: c.routed(experts),
		Attn: func(i int) Block {
			period := []string{"full", "shared", "shared", "shared"}
			if i == 0 || c.layerType("indexer_types", i, append(period[3:], period[:3]...)...) == "full" {
				return c.mla(append([]Block{c.indexer()}, own...)...)
			}
			return c.mla(own...)
		},
		Layer: func(_ int, attention, feedForward Block) []Block {
			return []Block{c.hyper("hc_pre.hc_attn_layer.hc_", 2), RMSNorm("input_layernorm", c.D), attention,
				c.hyper("hc_pre.hc_mlp_layer.hc_", 2), RMSNorm("post_attention_layernorm", c.D), feedForward}
		}})
	last := "hc_pre.hc_head.hc_head_"
	if c.Task == BaseModel {
		last = "hc_head.hc_pre.hc_head_"
	}
	model.Body = slices.Insert(model.Body, 2, c.hyper(last, 1))
	return model
}

// deepseekV4 has windows everywhere and, in most layers, compressed keys of all
// tokens beside them, of which sparse ones have an indexer pick some; the first
// layers choose experts by the token's number instead of a score.
func deepseekV4(c *Config) Model {
	types, ratios, hashed := c.Strings("layer_types"), c.Ints("compress_ratios"), c.Strings("mlp_layer_types")
	kinds := map[int64]string{0: slidingAttention, 4: compressedSparse, 128: heavilyCompressed}
	kind := func(i int) string {
		switch {
		case i < len(types):
			return types[i]
		case i < len(ratios):
			return kinds[ratios[i]]
		case i >= 2 && i%2 == 1:
			return compressedSparse
		}
		return heavilyCompressed
	}
	matrices := func(f Size, bias bool) []Block {
		return []Block{Linear("w1", c.D, f).Bias(bias), Linear("w3", c.D, f).Bias(bias), Linear("w2", f, c.D).Bias(bias)}
	}
	chosenBy := func(own func(count Size) Block) func(i int) Block {
		return c.routed(Routed{Name: "ffn", Count: "n_routed_experts", Width: "moe_intermediate_size", Sparse: c.sparseFrom(0),
			Matrices: [3]string{"w1", "w3", "w2"}, Shared: "shared_experts",
			MLP:  func(name string, f Size) Block { return MLPBlock(name, matrices(f, c.Bool("mlp_bias"))...) },
			Gate: func(count Size) []Block { return []Block{Linear("gate", c.D, count).As(Router), own(count).As(Router)} }})
	}
	byScore := chosenBy(func(count Size) Block { return Buffer("gate.bias", count) })
	byToken := chosenBy(func(Size) Block {
		return Buffer("gate.tid2eid", c.V, c.first("T", "num_experts_per_tok")).Typed("I64")
	})
	d := Decoder{Heads: Heads{Head: "head"}, Attn: func(i int) Block { return c.compressedAttention(kind(i)) },
		FFN: func(i int) Block {
			if hash := int64(i) < c.IntOr("num_hash_layers", 3); i < len(hashed) && hashed[i] == "hash_moe" || i >= len(hashed) && hash {
				return byToken(i)
			}
			return byScore(i)
		},
		Layer: func(_ int, attention, feedForward Block) []Block {
			return []Block{c.hyper("hc_attn_", 3), RMSNorm("attn_norm", c.D), attention,
				c.hyper("hc_ffn_", 3), RMSNorm("ffn_norm", c.D), feedForward}
		}}
	model := decoder(c, d)
	model.Sections = []Section{{Name: "multi_token_prediction", Beside: true, Blocks: []Block{
		Stack("mtp", Named("Nm", c.IntOr("num_nextn_predict_layers", 0)), func(int) []Block {
			return slices.Concat([]Block{RMSNorm("enorm", c.D), RMSNorm("hnorm", c.D), Linear("e_proj", c.D, c.D).As(Projector), Linear("h_proj", c.D, c.D).As(Projector)},
				d.Layer(0, c.compressedAttention(slidingAttention), byScore(0)), []Block{c.hyper("hc_head_", 1), RMSNorm("norm", c.D)})
		})}}}
	last := "hc_head.hc_"
	if c.Task == BaseModel {
		model.Body[0].Name, last = "embed", "hc_head_"
	}
	model.Body = slices.Insert(model.Body, 2, c.hyper(last, 1))
	return model
}

// The layers of DeepSeek-V4 with compressed keys.
const (
	compressedSparse  = "compressed_sparse_attention"
	heavilyCompressed = "heavily_compressed_attention"
)

// compressedAttention is DeepSeek-V4's: one head of keys which are the values
// too, an output projection through groups of bottlenecks, a window, and keys
// that stand for several tokens each.
func (c *Config) compressedAttention(kind string) Block {
	Rq, G, Ro := c.Size("Rq", "q_lora_rank"), c.Size("G", "o_groups"), c.Size("Ro", "o_lora_rank")
	scores := GQA(c.A, Const(1), c.H, c.Int("sliding_window"))
	scores.Cached = c.H
	sub := []Block{Linear("wq_a", c.D, Rq), RMSNorm("q_norm", Rq), Linear("wq_b", Rq, c.Q),
		Linear("wkv", c.D, c.H), RMSNorm("norm", c.H), Raw("attn_sink", Attention, c.A)}
	if kind != slidingAttention {
		scores.CachedLibrary = c.H
		rate, series := c.compressRate(kind, "compress_rate_hca", 128), int64(1)
		if kind == compressedSparse {
			rate, series = c.compressRate(kind, "compress_rate_csa", 4), 2
			I, Hi := c.Size("I", "index_n_heads"), c.Size("Hi", "index_head_dim")
			sub = append(sub, Module("indexer", Attention, Linear("wq_b", Rq, I.Times(Hi)), Linear("weights_proj", c.D, I),
				c.compressor(Scores{Heads: I, KeyDim: Hi}, series, rate)))
		}
		sub = append(sub, c.compressor(Scores{Heads: c.A, KeyDim: c.H, ValueDim: c.H}, series, rate))
	}
	group := c.ratio("Hg", c.Q, G)
	return AttentionBlock("attn", scores, append(sub, Linear("wo_a", group, G.Times(Ro)), Linear("wo_b", G.Times(Ro), c.D))...)
}

// compressor makes one key of so many tokens, as a sum weighed by gates; with
// two series a key draws on the tokens before its own, too.
func (c *Config) compressor(s Scores, series, rate int64) Block {
	s.KVHeads, s.Cached, s.CachedLibrary, s.Stride = Const(1), s.KeyDim, s.KeyDim, rate
	wide := s.KeyDim.X(series)
	return AttentionBlock("compressor", s, Linear("wkv", c.D, wide), Linear("wgate", c.D, wide),
		Raw("ape", Attention, Const(rate), wide), RMSNorm("norm", s.KeyDim))
}

func (c *Config) compressRate(kind, field string, otherwise int64) int64 {
	if n := c.Value("compress_rates").Get(kind).Int(); n > 0 {
		otherwise = n
	}
	return max(1, c.IntOr(field, otherwise))
}
