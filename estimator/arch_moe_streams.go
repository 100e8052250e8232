package estimator

import "slices"

// Decoders with several residual streams: hyper-connections (arXiv:2409.19606)
// mix them before and after every block.
var moeStreamFamily = []Arch{
	{"deepseek_v4", "DeepseekV4ForCausalLM", deepseekV4},
	{"hy_v4", "HYV4ForCausalLM", hyV4},
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
	hashed := cycle([]string{"hash_moe"}, c.IntOr("num_hash_layers", 3))
	hashed = append(hashed, cycle([]string{"moe"}, c.N.Int())...)
	bias := c.Bool("mlp_bias")
	routed := c.routed(Routed{Name: "ffn", Count: "n_routed_experts", Width: "moe_intermediate_size", Sparse: c.sparseFrom(0),
		Matrices: [3]string{"w1", "w3", "w2"}, Shared: "shared_experts",
		MLP: func(name string, f Size) Block {
			return MLPBlock(name, Linear("w1", c.D, f).Bias(bias), Linear("w3", c.D, f).Bias(bias), Linear("w2", f, c.D).Bias(bias))
		},
		Gate: func(i int, count Size) []Block {
			own := Buffer("gate.bias", count)
			if c.layerType("mlp_layer_types", i, hashed...) == "hash_moe" {
				own = Buffer("gate.tid2eid", c.V, c.first("T", "num_experts_per_tok")).Typed("I64")
			}
			return []Block{Linear("gate", c.D, count).As(Router), own.As(Router)}
		}})
	layer := func(_ int, attention, feedForward Block) []Block {
		return []Block{c.hyper("hc_attn_", 3), RMSNorm("attn_norm", c.D), attention, c.hyper("hc_ffn_", 3), RMSNorm("ffn_norm", c.D), feedForward}
	}
	kinds := c.compressions()
	model := decoder(c, Decoder{Heads: Heads{Head: "head"}, FFN: routed, Layer: layer, Attn: func(i int) Block {
		return c.compressedAttention(c.layerType("layer_types", i, kinds...))
	}})
	last := "hc_head.hc_"
	if c.Task == BaseModel {
		model.Body[0].Name, last = "embed", "hc_head_"
	}
	model.Body = slices.Insert(model.Body, 2, c.hyper(last, 1))
	predicting := Stack("mtp", c.predictions(0), func(int) []Block {
		return slices.Concat([]Block{RMSNorm("enorm", c.D), RMSNorm("hnorm", c.D), Linear("e_proj", c.D, c.D).As(Projector), Linear("h_proj", c.D, c.D).As(Projector)},
			layer(0, c.compressedAttention(slidingAttention), routed(int(c.N.Int()))), []Block{c.hyper("hc_head_", 1), RMSNorm("norm", c.D)})
	})
	model.Sections = []Section{{Name: "multi_token_prediction", Beside: true, Blocks: []Block{predicting}}}
	return model
}
