package estimator

import (
	"fmt"
	"slices"
)

// Zamba and Zamba2: Mamba layers, and a transformer block that runs in front of
// some of them and is stored once.
var zambaFamily = []Arch{
	{"zamba", "ZambaForCausalLM", zamba},
	{"zamba2", "Zamba2ForCausalLM", zamba2},
}

const hybridLayer = "hybrid"

// mostHybrids bounds the layers of both: the published models have below a
// hundred, and each shared block may hold adapters for every one.
const mostHybrids = 1024

// zambaKinds returns the layers' kinds as listed, else as the class orders them.
func (c *Config) zambaKinds(otherwise func() []string) []string {
	kinds := c.modernKinds("layers_block_type")
	if kinds == nil {
		kinds = otherwise()
	}
	if len(kinds) > mostHybrids {
		c.Fault("layers_block_type", "%d layers, more than the %d that can be described", len(kinds), mostHybrids)
		kinds = kinds[:mostHybrids]
	}
	return kinds
}

// zambaStack is the mould of both (arXiv:2405.16712, figure 1): the mixer alone,
// or after the shared block, whose output passes a linear of its own.
func (c *Config) zambaStack(kinds []string, mixer Block, shared func(nth int, path string) Block) Model {
	c.N = Named("N", int64(len(kinds)))
	nth := make(map[int]int) // of the hybrid layers
	for i, kind := range kinds {
		if kind == hybridLayer {
			nth[i] = len(nth)
		}
	}
	path := c.under("model")
	return decoder(c, Decoder{Final: "final_layernorm",
		Attn: func(int) Block { return mixer }, FFN: func(int) Block { return Block{} },
		Layer: func(i int, mixer, _ Block) []Block {
			if kinds[i] != hybridLayer {
				return []Block{RMSNorm("input_layernorm", c.D), mixer}
			}
			return []Block{shared(nth[i], join(path, "layers")), Linear("linear", c.D, c.D).As(Other),
				{Name: "mamba_decoder", Sub: []Block{RMSNorm("input_layernorm", c.D), mixer}}}
		}})
}

// besideEmbedding is attention and feed-forward over the hidden state side by
// side with the embedding: twice the width in, the model's width out.
func (c *Config) besideEmbedding(wide Size, adapters []Block, feedForward Block) []Block {
	c.H = c.SizeOr("H", "attention_head_dim", Named("H", 2*c.D.Int()/max(1, c.A.Int())))
	c.Q, c.U = c.A.Times(c.H), c.K.Times(c.H)
	projections := []Block{Linear("q_proj", wide, c.Q), Linear("k_proj", wide, c.U), Linear("v_proj", wide, c.U)}
	return []Block{RMSNorm("input_layernorm", wide),
		AttentionBlock("self_attn", GQA(c.A, c.K, c.H, 0), append(append(projections, adapters...), Linear("o_proj", c.Q, c.D))...),
		RMSNorm("pre_ff_layernorm", c.D), feedForward}
}

func zamba(c *Config) Model {
	mixer := c.mambaBy()
	mixer.Heads = c.Size("Am", "n_mamba_heads")
	kinds := c.zambaKinds(func() []string {
		kinds := []string{linearAttention, linearAttention, hybridLayer}
		for i := range int(min(c.N.Int(), mostLayers)) - 3 {
			kinds = append(kinds, map[bool]string{true: hybridLayer, false: linearAttention}[c.every(i, "attn_layer_period", "attn_layer_offset")])
		}
		return kinds
	})
	first := slices.Index(kinds, hybridLayer)
	block := Block{Name: "shared_transf", Sub: c.besideEmbedding(c.SizeOr("Dw", "attention_hidden_size", c.D.X(2)), nil, c.mlp("feed_forward", c.F, false, false))}
	return c.zambaStack(kinds, mixer.block("mamba", c.D), func(nth int, layers string) Block {
		return block.Like(fmt.Sprintf("%s.%d.shared_transf", layers, first), nth > 0 && c.tied())
	})
}

// zamba2 has several shared blocks that take turns, and low-rank adapters in
// them, a set for each layer that they run in (arXiv:2411.15242, section 2).
func zamba2(c *Config) Model {
	bias := c.Bool("add_bias_linear")
	mixer := SSD{Inner: c.D.Times(c.Size("X", "mamba_expand")), Heads: c.Size("Am", "n_mamba_heads"), Groups: c.Size("G", "mamba_ngroups"),
		State: c.Size("S", "mamba_d_state"), Kernel: c.Size("W", "mamba_d_conv"), Chunk: c.Int("chunk_size"),
		Bias: bias, OutBias: bias, ConvBias: true}
	kinds := c.zambaKinds(zamba2Layers)
	F, wide, turns := c.SizeOr("F", "intermediate_size", c.D.X(4)), c.SizeOr("Dw", "attention_hidden_size", c.D.X(2)), max(1, int(c.Int("num_mem_blocks")))
	var hybrids []int
	for i, kind := range kinds {
		if kind == hybridLayer {
			hybrids = append(hybrids, i)
		}
	}
	return c.zambaStack(kinds, mixer.block("mamba", c.D), func(nth int, layers string) Block {
		adapter := func(name string, in, out Size) []Block { return c.adapters(name, in, out, nth, turns, len(hybrids)) }
		mlp := append([]Block{Linear("gate_up_proj", c.D, F.X(2)).Bias(bias), Linear("down_proj", F, c.D).Bias(bias)},
			adapter("gate_up_proj_adapter_list", c.D, F.X(2))...)
		var attention []Block
		if c.Bool("use_shared_attention_adapter") {
			attention = slices.Concat(adapter("linear_q_adapter_list", wide, wide), adapter("linear_k_adapter_list", wide, wide),
				adapter("linear_v_adapter_list", wide, wide))
		}
		block := Block{Name: "shared_transformer", Sub: c.besideEmbedding(wide, attention, MLPBlock("feed_forward", mlp...))}
		return block.Like(fmt.Sprintf("%s.%d.shared_transformer", layers, hybrids[nth%turns]), nth >= turns && c.tied())
	})
}

// adapters is the low-rank adapters that one shared block holds, one for each
// hybrid layer in which it runs; only this layer's own runs here.
func (c *Config) adapters(name string, in, out Size, nth, turns, layers int) []Block {
	rank := c.Size("R", "adapter_rank")
	var list []Block
	for k := nth % turns; k < layers; k += turns {
		rows := Elsewhere
		if k == nth {
			rows = PerToken
		}
		list = append(list, Block{Name: fmt.Sprintf("%s.%d", name, k), Sub: []Block{Linear("0", in, rank).On(rows), Linear("1", rank, out).On(rows)}})
	}
	return list
}

// zamba2Layers is the class's own order of layers, whatever their number.
func zamba2Layers() []string {
	kinds := slices.Repeat([]string{linearAttention}, 54)
	for _, i := range []int{6, 12, 18, 24, 30, 36, 42, 47, 51} {
		kinds[i] = hybridLayer
	}
	return kinds
}
