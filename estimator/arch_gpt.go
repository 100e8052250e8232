package estimator

import (
	"math/big"
	"slices"
)

// Families in the mould of GPT-2: fused or whole-width projections, LayerNorm,
// two-matrix MLPs.
var gptFamily = slices.Concat([]Arch{
	{"gpt2", "GPT2LMHeadModel", func(c *Config) Model {
		return gpt(c, GPT{Linear: Conv1D, Positions: c.C, Scores: func(_ int, s Scores) Scores {
			s.Saving.PassedMask = true
			return s
		}})
	}},
	{"openai-gpt", "OpenAIGPTLMHeadModel", openaiGPT},
	{"gpt_bigcode", "GPTBigCodeForCausalLM", gptBigCode},
	{"gpt_neo", "GPTNeoForCausalLM", gptNeo},
	{"gptj", "GPTJForCausalLM", gptJ},
	{"codegen", "CodeGenForCausalLM", codegen},
	{"ctrl", "CTRLLMHeadModel", ctrl},
	{"mpt", "MptForCausalLM", mpt},
	{"cpmant", "CpmAntForCausalLM", cpmAnt},
}, megatronFamily, fairseqFamily, xlmFamily)

func openaiGPT(c *Config) Model {
	return gpt(c, GPT{Linear: Conv1D, Positions: c.C, F: c.D.X(4), Place: AfterEach,
		Names: Names{Token: "tokens_embed", Position: "positions_embed"}})
}

func gptBigCode(c *Config) Model {
	d := GPT{Positions: c.C}
	if c.Bool("multi_query") {
		d.KV = Const(1)
	}
	return gpt(c, d)
}

// gptNeo alternates layers that see all tokens and layers that see a window, of
// which the library's cache keeps every token all the same.
func gptNeo(c *Config) Model {
	local := c.attentionTypes("attention_types")
	c.each("attention_types", len(local))
	c.inWords("attention_types", local, "global", "local")
	return gpt(c, GPT{Positions: c.C, Width: "intermediate_size", QKVBias: Off,
		Names: Names{Attn: "attn.attention", QKV: "q_proj k_proj v_proj", Out: "out_proj"},
		Scores: func(i int, s Scores) Scores {
			if i < len(local) && local[i] == "local" {
				s.Window, s.Masked = c.Int("window_size"), true
			}
			return s
		}})
}

// attentionTypes expands GPT-Neo's list of patterns with counts, such as
// [[["global", "local"], 12]]; the class's own is that one.
func (c *Config) attentionTypes(field string) []string {
	groups := c.Value(field).Array()
	if len(groups) == 0 {
		return slices.Repeat([]string{"global", "local"}, 12)
	}
	var types []string
	for _, group := range groups {
		var pattern []string
		for _, kind := range group.Get("0").Array() {
			pattern = append(pattern, kind.String())
		}
		for count := group.Get("1").Int(); count > 0 && len(pattern) > 0 && len(types) < mostLayers; count-- {
			types = append(types, pattern...)
		}
	}
	return types
}

func gptJ(c *Config) Model {
	return gpt(c, GPT{QKVBias: Off, OutBias: Off, Place: SharedNorm, Heads: Heads{HeadBias: true, AllLabels: true},
		Names: Names{QKV: "q_proj k_proj v_proj", Out: "out_proj", Up: "fc_in", Down: "fc_out"}})
}

func codegen(c *Config) Model {
	return gpt(c, GPT{QKVBias: Off, OutBias: Off, Place: SharedNorm, Heads: Heads{HeadBias: true},
		Names: Names{QKV: "qkv_proj", Out: "out_proj", Up: "fc_in", Down: "fc_out"}})
}

func ctrl(c *Config) Model {
	return gpt(c, GPT{Width: "dff", Heads: Heads{HeadBias: true, Score: "classifier"},
		Names: Names{Token: "w", Attn: "multi_head_attention", QKV: "Wq Wk Wv", Out: "dense", MLP: "ffn", Up: "0", Down: "2",
			Norm1: "layernorm1", Norm2: "layernorm2", Last: "layernorm"}})
}

// mpt has no bias anywhere and an MLP of 4·D: the class ignores no_bias and
// expansion_ratio.
func mpt(c *Config) Model {
	return gpt(c, GPT{Bias: Off, F: c.D.X(4), Norm: RMSNorm,
		Names: Names{Stack: "blocks", Norm1: "norm_1", QKV: "Wqkv", Out: "out_proj", Norm2: "norm_2",
			MLP: "ffn", Up: "up_proj", Down: "down_proj", Last: "norm_f"}})
}

// cpmAnt has learned prompts, one of which stands before every input, and a bias
// of the scores by bucket of distance and by pair of segments. Its head is never
// tied.
func cpmAnt(c *Config) Model {
	c.heads(c.A, c.A, "dim_head")
	F, segments := c.Size("F", "dim_ff"), c.Size("S", "segment_types")
	length := c.Size("L", "prompt_length")
	prompts := c.Size("P", "prompt_types").Times(length)
	buckets := segments.Times(segments).Plus(c.Size("B", "position_bias_num_buckets"))
	attention := AttentionBlock("self_att.self_attention", GQA(c.A, c.A, c.H, 0), Linear("project_q", c.D, c.Q),
		Linear("project_k", c.D, c.Q), Linear("project_v", c.D, c.Q), Linear("attention_out", c.Q, c.D))
	attention.States = []State{{Name: "prompt", Elements: c.Q.Times(length).X(2)}}
	attention.Extra = prompted(length, c.Q, c.D.Times(c.Q).X(4).Plus(c.D.Times(F).X(3)))
	layer := func(int) []Block {
		return []Block{
			RMSNorm("self_att.layernorm_before_attention", c.D), attention, RMSNorm("ffn.layernorm_before_ffn", c.D),
			MLPBlock("ffn.ffn", Linear("w_in.w_0", c.D, F), Linear("w_in.w_1", c.D, F), Linear("w_out", F, c.D))}
	}
	return Model{Prefix: c.under("cpmant"), N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("input_embedding", c.V.Plus(prompts), c.D), TokenType("segment_embedding", segments, c.D),
			Raw("position_bias.relative_attention_bias", PositionEmbedding, buckets, c.A),
			Stack("encoder.layers", c.N, layer), RMSNorm("encoder.output_layernorm", c.D)},
		Head: c.head("", c.D, Heads{NeverTied: true})}
}

// prompted is what a layer of so many matrix elements does for a prompt before
// the input: all of it in a first pass, attention to its keys in later ones.
func prompted(length, heads, matrices Size) *Extra {
	return &Extra{Name: "prompt", Sizes: []Size{length, heads, matrices}, FLOPs: func(p Pass) *big.Int {
		n := length.Int()
		if p.Past > 0 {
			return product(4, p.Batch, p.Seq, n, heads.Int())
		}
		work := product(2, p.Batch, n, matrices.Int())
		return work.Add(work, product(4, p.Batch, n, 2*p.Seq+n, heads.Int()))
	}}
}
