package estimator

import "math/big"

// Gemma's language models with towers for images and sound.
var gemmaTowerFamily = []Arch{
	{"gemma3", "Gemma3ForConditionalGeneration", gemma3},
	{"gemma3n", "Gemma3nForConditionalGeneration", gemma3n},
	{"gemma4", "Gemma4ForConditionalGeneration", gemma4},
	{"gemma4_unified", "Gemma4UnifiedForConditionalGeneration", gemma4Unified},
}

// gemma3 pools the patches of SigLIP (arXiv:2303.15343) to few tokens.
func gemma3(c *Config) Model {
	width := Size{}
	model := c.languageModel("text_config", "", "language_model.model", "language_model.lm_head", func(text *Config) []Block {
		vision := c.part("vision_config")
		width = text.D
		pooled := vision.image()
		rows, columns := pooled.grid()
		pooled.Merge = max(1, rows*columns/max(1, c.IntOr("mm_tokens_per_image", 256)))
		return []Block{Module("vision_tower", NoRole, vision.siglipVision()...).InTower("vision"), Module("multi_modal_projector", Projector,
			Linear("mm_input_projection_weight", vision.D, text.D).Bare().Shaped(vision.D, text.D), RMSNorm("mm_soft_emb_norm", vision.D)).Seeing(pooled)}
	})
	if c.Task == SequenceClassification {
		model.Head = c.head("", width, Heads{})
	}
	return model
}

// gemma4 has towers for images and for sound where the config has them.
func gemma4(c *Config) Model {
	return c.languageModel("text_config", c.under("model"), "language_model", "lm_head", func(text *Config) []Block {
		var towers []Block
		if c.Value("vision_config").IsObject() {
			vision := c.part("vision_config")
			pool := vision.Int("pooling_kernel_size")
			towers = append(towers, vision.gemma4Vision(pool*pool), soundOrSight("embed_vision", vision.D, text.D).Seeing(vision.image().Merging(pool*pool)))
		}
		if c.Value("audio_config").IsObject() {
			audio := c.part("audio_config")
			towers = append(towers, audio.gemma4Audio(), soundOrSight("embed_audio", audio.Size("O", "output_proj_dims"), text.D).tower(""))
		}
		return towers
	})
}

// soundOrSight projects a tower's tokens to the language model's width.
func soundOrSight(name string, in, out Size) Block {
	return Module(name, Projector, Unweighted("embedding_pre_projection_norm", in), Linear("embedding_projection", in, out))
}

// clipped is a linear that keeps its input and output within learned bounds,
// where they are switched on.
func (c *Config) clipped(name string, in, out Size) Block {
	b := Module(name, NoRole, Linear("linear", in, out))
	if c.Switch("use_clipped_linears") {
		b.Sub = append(b.Sub, Buffer("input_min"), Buffer("input_max"), Buffer("output_min"), Buffer("output_max"))
	}
	return b
}

// gemma4Vision ends in a product that takes means of so many patches each.
func (c *Config) gemma4Vision(pooled int64) Block {
	scores := c.sightScores()
	scores.KVHeads = c.K
	side := c.Size("P", "patch_size")
	layer := func(int) []Block {
		return c.between(Decoder{Norms: sandwich},
			AttentionBlock("self_attn", scores, c.clipped("q_proj", c.D, c.Q), c.clipped("k_proj", c.D, c.U), c.clipped("v_proj", c.D, c.U),
				RMSNorm("q_norm", c.H), RMSNorm("k_norm", c.H), c.clipped("o_proj", c.Q, c.D)),
			MLPBlock("mlp", c.clipped("gate_proj", c.D, c.F), c.clipped("up_proj", c.D, c.F), c.clipped("down_proj", c.F, c.D)))
	}
	sub := []Block{Module("patch_embedder", NoRole, Linear("input_proj", side.Times(side).X(3), c.D).As(Convolution).pixels(),
		Raw("position_embedding_table", PositionEmbedding, Const(2), c.Size("C", "position_embedding_size"), c.D)),
		Stack("encoder.layers", c.N, layer), {Name: "pooler", Extra: means(c.D, pooled)}}
	if c.Switch("standardize") {
		sub = append(sub, Buffer("std_bias", c.D).As(Other), Buffer("std_scale", c.D).As(Other))
	}
	return Module("vision_tower", NoRole, sub...).Seeing(c.image()).InTower("vision")
}

// means is the product of a token's features with the weights of the patches that
// it is the mean of, and with noughts for all others.
func means(D Size, patches int64) *Extra {
	return &Extra{Name: "pooling", Sizes: []Size{D, Const(patches)}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, p.Seq/max(1, patches), D.Int())
	}}
}

// gemma4Audio is a Conformer (arXiv:2005.08100): attention and a depthwise
// convolution between two halves of the feed-forward block.
func (c *Config) gemma4Audio() Block {
	c.heads(c.A, c.A, "")
	half := func(name string) Block {
		return MLPBlock(name, RMSNorm("pre_layer_norm", c.D), c.clipped("ffw_layer_1", c.D, c.D.X(4)),
			c.clipped("ffw_layer_2", c.D.X(4), c.D), RMSNorm("post_layer_norm", c.D))
	}
	layer := func(int) []Block {
		return []Block{half("feed_forward1"), RMSNorm("norm_pre_attn", c.D),
			AttentionBlock("self_attn", c.encoderScores(), c.clipped("q_proj", c.D, c.Q), c.clipped("k_proj", c.D, c.Q), c.clipped("v_proj", c.D, c.Q),
				Raw("per_dim_scale", Attention, c.H), Linear("relative_k_proj", c.D, c.Q), c.clipped("post", c.D, c.D)),
			RMSNorm("norm_post_attn", c.D),
			Module("lconv1d", Convolution, RMSNorm("pre_layer_norm", c.D), c.clipped("linear_start", c.D, c.D.X(2)),
				DepthConv("depthwise_conv1d", c.D, c.Size("kernel", "conv_kernel_size"), false), RMSNorm("conv_norm", c.D), c.clipped("linear_end", c.D, c.D)),
			half("feed_forward2"), RMSNorm("norm_out", c.D)}
	}
	return Module("audio_tower", NoRole, c.gemmaSubsampling("layer0", "layer1", "subsampling_conv_channels", c.sizeIn("C1", "subsampling_conv_channels", 0).Int()/4),
		Stack("layers", c.N, layer), Linear("output_proj", c.D, c.Size("O", "output_proj_dims")).Bias(true).As(Projector)).tower("audio")
}

// gemmaSubsampling halves time and frequency twice by convolutions, which leave so
// many bins of the spectrum.
func (c *Config) gemmaSubsampling(first, second, channels string, bins int64) Block {
	a, b, three := c.sizeIn("C1", channels, 0), c.sizeIn("C2", channels, 1), Const(3)
	return Module("subsample_conv_projection", Convolution,
		Module(first, NoRole, Conv("conv", Const(1), a, three, three), RMSNorm("norm", a)),
		Module(second, NoRole, Conv("conv", a, b, three, three), RMSNorm("norm", b)), Linear("input_proj_linear", Named("bins", bins).Times(b), c.D))
}

// sizeIn returns a member of a list.
func (c *Config) sizeIn(symbol, field string, i int) Size {
	list := c.Ints(field)
	if i >= 0 && i < len(list) {
		return c.named(symbol, field, list[i])
	}
	c.Fault(field, "length %d, want %d or more", len(list), i+1)
	return Named(symbol, 0)
}

// gemma4Unified has no towers: patches and frames of sound are projected as they
// are.
func gemma4Unified(c *Config) Model {
	return c.languageModel("text_config", c.under("model"), "language_model", "lm_head", func(text *Config) []Block {
		var parts []Block
		if c.Value("vision_config").IsObject() {
			vision := c.part("vision_config")
			side, E := vision.Size("P", "patch_size").Times(vision.Size("pool", "pooling_kernel_size")), vision.Size("E", "mm_embed_dim")
			patch, view := side.Times(side).X(3), View{Patch: [2]int64{side.Int(), side.Int()}}
			parts = append(parts, Module("vision_embedder", Projector, LayerNorm("patch_ln1", patch), Linear("patch_dense", patch, E).Bias(true).pixels(),
				LayerNorm("patch_ln2", E), Raw("pos_embedding", PositionEmbedding, vision.Size("C", "mm_posemb_size"), Const(2), E), LayerNorm("pos_norm", E)).Seeing(view).InTower("vision"),
				soundOrSight("embed_vision", vision.Size("O", "output_proj_dims"), text.D).Seeing(view))
		}
		if c.Value("audio_config").IsObject() {
			parts = append(parts, soundOrSight("embed_audio", c.part("audio_config").Size("frame", "audio_embed_dim"), text.D).tower(""))
		}
		return parts
	})
}
