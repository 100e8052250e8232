package estimator

import "slices"

// Hybrids of attention and short convolutions.
var convolutionFamily = []Arch{
	{"lfm2", "Lfm2ForCausalLM", lfm2},
	{"lfm3", "Lfm3ForCausalLM", lfm3},
}

// linearAttention is the kind of a layer that keeps a fixed state.
const linearAttention = "linear_attention"

// modernKinds returns a list of layer kinds, those that go by an older name
// under their present one; nil where there is no list.
func (c *Config) modernKinds(field string) []string {
	kinds := c.Strings(field)
	for i, kind := range kinds {
		switch kind {
		case "mamba":
			kinds[i] = linearAttention
		case "attention":
			kinds[i] = fullAttention
		}
	}
	return kinds
}

// kinds returns the kind of each layer: by the list, else by a period carried on.
func (c *Config) kinds(field string, period ...string) func(i int) string {
	list := c.modernKinds(field)
	return func(i int) string {
		if i < len(list) {
			return list[i]
		}
		return period[i%len(period)]
	}
}

// among returns a test of membership in a list of numbers.
func among(numbers []int64) func(n int64) bool {
	set := make(map[int64]bool, len(numbers))
	for _, n := range numbers {
		set[n] = true
	}
	return func(n int64) bool { return set[n] }
}

// fullEvery is the kind of each layer: as listed, else full attention in every
// n-th.
func (c *Config) fullEvery(n int64) func(i int) string {
	n = max(1, min(n, mostLayers))
	return c.kinds("layer_types", append(slices.Repeat([]string{linearAttention}, int(n-1)), fullAttention)...)
}

// lfm2 has a width of the feed-forward block that is two thirds of the config's,
// times a factor, rounded up.
func lfm2(c *Config) Model {
	F := c.first("F", "block_ff_dim", "intermediate_size")
	if c.Bool("block_auto_adjust_ff_dim") {
		f := F.Int() * 2 / 3
		if factor := c.Float("block_ffn_dim_multiplier", 0); factor != 0 {
			n := max(1, c.Int("block_multiple_of"))
			f = (int64(factor*float64(f)) + n - 1) / n * n
		}
		F = c.named("F", "intermediate_size", f)
	}
	kinds, full, fullAll := c.Strings("layer_types"), among(c.Ints("full_attn_idxs")), !c.Given("full_attn_idxs")
	attends := func(i int) bool {
		if kinds != nil {
			return i < len(kinds) && kinds[i] != "conv"
		}
		return fullAll || full(int64(i))
	}
	d := Decoder{Norms: Norms{"operator_norm", "", "ffn_norm", ""}, Final: "embedding_norm", QKVBias: Off, OutBias: Off,
		QKNorm: PerHead, QKNames: [2]string{"q_layernorm", "k_layernorm"}, Output: "out_proj", Norm: RMSNorm,
		Heads: Heads{TiedBy: "tie_embedding"}}
	d.Attn, d.FFN = c.orConvolution(d, attends), c.threeWs(F)
	return decoder(c, d)
}

// orConvolution is the token mixer of each layer: attention, or a short
// convolution.
func (c *Config) orConvolution(d Decoder, attends func(i int) bool) func(i int) Block {
	convolution := shortConv("conv", c.D, c.Size("W", "conv_L_cache"), c.Bool("conv_bias"))
	return func(i int) Block {
		if attends(i) {
			return c.selfAttention(d, i)
		}
		return convolution
	}
}

// threeWs is a gated block whose matrices go by the letter w.
func (c *Config) threeWs(F Size) func(int) Block {
	return func(int) Block {
		return MLPBlock("feed_forward", Linear("w1", c.D, F), Linear("w3", c.D, F), Linear("w2", F, c.D))
	}
}

func lfm3(c *Config) Model {
	kind := c.kinds("layer_types", slidingAttention, "conv", fullAttention, "conv")
	attends := func(i int) bool { return kind(i) != "conv" && (i > 0 || c.Given("layer_types")) }
	d := Decoder{Norms: Norms{"operator_norm", "", "ffn_norm", ""}, Final: "embedding_norm", QKNorm: PerHead, Norm: RMSNorm,
		Window: func(i int) int64 {
			if kind(i) != slidingAttention {
				return 0
			}
			return c.IntOr("sliding_window", 0)
		}}
	if c.Bool("use_sandwich_norm") {
		d.Norms[1], d.Norms[3] = "post_operator_norm", "post_ffn_norm"
	}
	if c.Bool("use_attention_gate") {
		d.Scored = []Block{Linear("gate_proj", c.D, c.A)}
	}
	d.Attn, d.FFN = c.orConvolution(d, attends), c.threeWs(c.F)
	return decoder(c, d)
}
