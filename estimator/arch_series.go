package estimator

// Models of time series: a token is a patch of so many steps.
var seriesFamily = []Arch{
	{"timesfm", "TimesFmModelForPrediction", timesFM},
	{"timesfm2_5", "TimesFm2_5ModelForPrediction", timesFM25},
}

// residualMLP has a linear beside its two layers.
func residualMLP(name string, in, wide, out Size, bias bool) Block {
	return MLPBlock(name, Linear("input_layer", in, wide).Bias(bias), Linear("output_layer", wide, out).Bias(bias), Linear("residual_layer", in, out).Bias(bias))
}

// timesFM reads patches of values and of what is missing (Das et al. 2023,
// arXiv:2310.10688).
func timesFM(c *Config) Model {
	P, out := c.Size("P", "patch_length"), c.quantiles("horizon_length")
	c.heads(c.A, c.A, "head_dim")
	layer := []Block{RMSNorm("input_layernorm", c.D), AttentionBlock("self_attn", GQA(c.A, c.A, c.H, 0), Raw("scaling", Attention, c.H), Linear("q_proj", c.D, c.Q).Bias(true),
		Linear("k_proj", c.D, c.Q).Bias(true), Linear("v_proj", c.D, c.Q).Bias(true), Linear("o_proj", c.Q, c.D).Bias(true)),
		MLPBlock("mlp", LayerNorm("layer_norm", c.D), Linear("gate_proj", c.D, c.F).Bias(true), Linear("down_proj", c.F, c.D).Bias(true))}
	model := Model{Prefix: c.under("decoder"), Body: []Block{residualMLP("input_ff_layer", P.X(2), c.F, c.D, true),
		Token("freq_emb", c.Size("frequencies", "freq_size"), c.D).As(Other), Stack("layers", c.N, func(int) []Block { return layer })}}
	if c.Task != BaseModel {
		model.Head = []Block{residualMLP("horizon_ff_layer", c.D, c.F, out, true).As(Head)}
	}
	return model
}

// quantiles is so many steps of a mean and of each quantile.
func (c *Config) quantiles(field string) Size {
	return c.Size("steps", field).Times(Named("quantiles", int64(len(c.Value("quantiles").Array()))+1))
}

// signs is how often a series is read: as it is, and turned upside down.
func (c *Config) signs() int64 {
	if c.Bool("force_flip_invariance") {
		return 2
	}
	return 1
}

// timesFM25 is its successor, with norms around each block.
func timesFM25(c *Config) Model {
	P, bias := c.Size("P", "patch_length"), c.Bool("use_bias")
	model := decoder(c, Decoder{QKNorm: PerHead, Norms: sandwich, Scored: []Block{Raw("scaling", Attention, c.H)}, FFN: func(int) Block {
		return MLPBlock("mlp", Linear("ff0", c.D, c.F).Bias(bias), Linear("ff1", c.F, c.D).Bias(bias))
	}})
	model.Body = []Block{residualMLP("input_ff_layer", P.X(2), c.D, c.D, true), model.Body[1]}
	model.N, model.D, model.V, model.Head = Size{}, Size{}, Size{}, nil
	if c.Task != BaseModel {
		model.Head = []Block{residualMLP("output_projection_point", c.D, c.D, c.quantiles("horizon_length"), false).As(Head),
			residualMLP("output_projection_quantiles", c.D, c.D, c.quantiles("output_quantile_len"), false).As(Head)}
		for _, part := range [][]Block{model.Body, model.Head} {
			for i := range part {
				part[i] = part[i].Repeated(c.signs())
			}
		}
	}
	return model
}
