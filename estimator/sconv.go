package estimator

import "math/big"

// sconv is a causal convolution of a few taps that keeps its inputs in 32 bits.
func (c *Config) sconv(name string, channels Size) Block {
	kernel := c.Size("k", "conv_kernel_size")
	b := DepthConv(name, channels, kernel, false).As(Convolution)
	b.States = []State{{Name: "convolution", Elements: channels.Times(kernel), Bytes: 4}}
	return b
}

// relative are biases by distance that a token's own projection mixes from
// learned profiles.
func relative(A, rank, extent Size) Block {
	b := Linear("rel_logits_proj.proj", A.Times(rank), extent).Bare() // runs for each head
	return b.Shaped(rank, extent)
}

// residual is a learned query, or three, over the sums of the groups of layers
// before layer i and the running one.
func (c *Config) residual(i int, queries int64, shape ...Size) Block {
	b := Raw("", Other, shape...)
	group := max(1, c.Int("n_layers_per_attn_res_block"))
	states := Const((int64(i)-1)/group + 2)
	b.Extra = &Extra{Name: "residual", Sizes: []Size{Const(queries), states, c.D}, FLOPs: func(p Pass) *big.Int {
		return product(4, p.Batch, p.Seq, queries, states.Int(), c.D.Int())
	}}
	return b
}

// dynamicConv is a causal convolution whose taps are the token's own, the same
// for all features of a head, beside the learned ones. It is no matrix work.
func (c *Config) dynamicConv(name string, channels Size) Block {
	kernel := c.Size("k", "conv_kernel_size")
	b := Module(name, Convolution, Raw("static_w", Convolution, kernel, channels), Linear("weight_proj", c.D, c.K.Times(kernel)).Bare())
	b.States = []State{{Name: "convolution", Elements: channels.Times(kernel), Bytes: 4}}
	return b
}

// convolvedQKV is the projections of compressed convolutional attention
// (arXiv:2510.04476): queries and keys are convolved over time, feature by
// feature and then head by head, and half of each value comes from the token
// before.
func (c *Config) convolvedQKV(name string) Block {
	bias := c.Bool("attention_bias")
	short, long := c.Size("k", "cca_time0"), c.Size("kg", "cca_time1")
	channels, half := c.Q.Plus(c.U), c.ratio("Uh", c.U, Const(2))
	conv := func(name string, group, kernel Size, longer int64) Block {
		b := DepthConv(name, channels, kernel, true).Shaped(channels, group, kernel).As(Convolution)
		b.Kind, b.Extra = RawKind, &Extra{Name: "convolution", Sizes: []Size{channels, group, kernel, Const(longer)}, FLOPs: func(p Pass) *big.Int {
			return product(2, p.Batch, p.Seq+longer, channels.Int(), group.Int(), kernel.Int())
		}}
		return b
	}
	delayed := Linear("v_proj_delayed", c.D, half).Bias(bias)
	delayed.Extra = &Extra{Name: "delayed", Sizes: []Size{c.D, half}, FLOPs: func(p Pass) *big.Int {
		if p.Past > 0 {
			return new(big.Int)
		}
		return product(2, p.Batch, c.D.Int(), half.Int()) // what stands before the first token
	}}
	b := Module(name, Attention, Linear("q_proj", c.D, c.Q).Bias(bias), Linear("k_proj", c.D, c.U).Bias(bias),
		conv("conv_qk_depthwise", Const(1), short, long.Int()-1), conv("conv_qk_grouped", c.H, long, 0),
		Linear("v_proj_current", c.D, half).Bias(bias), delayed)
	b.States = []State{{Name: "convolution", Elements: channels.Times(short.Plus(long).Minus(Const(2)))}, {Name: "delayed value", Elements: half}}
	return b
}
