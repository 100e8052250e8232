package estimator

import "math/big"

// conformerLayer is Conformer's (Gulati et al. 2020, arXiv:2005.08100): attention
// and a convolution between two halves of the feed-forward block, in the names of
// fairseq. A causal convolution has a layer norm behind it, else a batch norm.
func (c *Config) conformerLayer(causal bool) []Block {
	D, kernel, norm := c.D, c.Size("kernel", "conv_depthwise_kernel_size"), BatchNorm("batch_norm", c.D)
	if causal {
		norm = LayerNorm("depthwise_layer_norm", D)
	}
	return []Block{LayerNorm("ffn1_layer_norm", D), c.waveMLP("ffn1"), LayerNorm("self_attn_layer_norm", D),
		c.conformerAttention(c.String("position_embeddings_type")),
		Module("conv_module", Convolution, LayerNorm("layer_norm", D), Conv("pointwise_conv1", D, D.X(2), Const(1)),
			GroupedConv("depthwise_conv", D, D, D.Int(), kernel), norm, Conv("pointwise_conv2", D, D, Const(1))),
		LayerNorm("ffn2_layer_norm", D), c.waveMLP("ffn2"), LayerNorm("final_layer_norm", D)}
}

// conformerAttention may score distances besides: as Transformer-XL does (Dai et
// al. 2019, arXiv:1901.02860), or by a vector for each of so many distances.
func (c *Config) conformerAttention(positions string) Block {
	attention := AttentionBlock("self_attn", c.sightScores(), Linear("linear_q", c.D, c.D).Bias(true), Linear("linear_k", c.D, c.D).Bias(true),
		Linear("linear_v", c.D, c.D).Bias(true), Linear("linear_out", c.D, c.D).Bias(true))
	switch positions {
	case "relative":
		attention.Sub = append([]Block{c.relativePositions(PerPosition, "linear_pos", "pos_bias_u", "pos_bias_v")}, attention.Sub...)
	case "relative_key":
		left, right := c.Size("left", "left_max_position_embeddings"), c.Size("right", "right_max_position_embeddings")
		attention.Sub = append([]Block{Position("distance_embedding", left.Plus(right).Plus(Const(1)), c.H)}, attention.Sub...)
		attention.Extra = relativeKeys(c.Q)
	}
	return attention
}

// relativePositions are Transformer-XL's: a projection of all distances, for each
// sequence or once for all, the scores of all tokens with them, and two biases.
func (c *Config) relativePositions(rows Rows, project, u, v string) Block {
	distances := Linear(project, c.D, c.Q).On(rows).Spanning(Span{Before: []Step{{1, 2, 0}}})
	scored := Block{Sub: []Block{distances, Raw(u, Attention, c.A, c.H), Raw(v, Attention, c.A, c.H)}}
	scored.Extra = &Extra{Name: "distances", Sizes: []Size{c.Q}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, 2*p.Seq-1, c.Q.Int())
	}}
	return scored
}

// relativeKeys is the product of each token with a vector for each other token.
func relativeKeys(width Size) *Extra {
	return &Extra{Name: "distances", Sizes: []Size{width}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, p.Seq, width.Int())
	}}
}

// BatchNorm has a weight and a bias of d, and keeps the statistics of what it saw.
func BatchNorm(name string, d Size) Block {
	b := LayerNorm(name, d)
	for _, statistic := range []string{"running_mean", "running_var"} {
		b.Params = append(b.Params, Param{Name: statistic, Shape: []Size{d}, Buffer: true})
	}
	b.Params = append(b.Params, Param{Name: "num_batches_tracked", Buffer: true, DType: "I64"})
	return b
}

// weightNormed stores the weight as its direction and, along one of its
// dimensions, its length (Salimans and Kingma 2016, arXiv:1602.07868).
func (b Block) weightNormed(along int) Block {
	var params []Param
	for _, p := range b.Params {
		if p.Name != "weight" {
			params = append(params, p)
			continue
		}
		length := make([]Size, len(p.Shape))
		for i := range length {
			length[i] = Const(1)
		}
		length[along] = p.Shape[along]
		params = append(params, Param{Name: "parametrizations.weight.original0", Shape: length},
			Param{Name: "parametrizations.weight.original1", Shape: p.Shape})
	}
	b.Params = params
	return b
}
