package estimator

import "slices"

// Language models with a tower for images before them.
var visionTextFamily = []Arch{
	{"fuyu", "FuyuForCausalLM", fuyu},
	{"git", "GitForCausalLM", git},
	{"got_ocr2", "GotOcr2ForConditionalGeneration", gotOCR2},
	{"phi4_multimodal", "Phi4MultimodalForCausalLM", phi4Multimodal},
}

// fuyu has no tower: a linear makes a token of each patch.
func fuyu(c *Config) Model {
	return c.languageModel("text_config", "", "language_model.model", "language_model.lm_head", func(text *Config) []Block {
		side := c.Size("P", "patch_size")
		patch := side.Times(side).Times(c.Size("channels", "num_channels"))
		return []Block{Linear("vision_embed_tokens", patch, text.D).Bias(true).As(Projector).tower("vision")}
	})
}

// git is a causal BERT that reads the tokens of CLIP's image encoder before its
// own (Wang et al. 2022, arXiv:2205.14100).
func git(c *Config) Model {
	vision := c.part("vision_config")
	side := vision.Int("image_size") / max(1, vision.Int("patch_size"))
	tower := Module("image_encoder.vision_model", NoRole, slices.Concat(
		[]Block{Raw("embeddings.class_embedding", PositionEmbedding, vision.D), vision.patches("embeddings.patch_embedding"),
			Position("embeddings.position_embedding", Named("patches", side*side).Plus(Const(1)), vision.D), LayerNorm("pre_layrnorm", vision.D)},
		vision.clipLayers("encoder.layers"), []Block{LayerNorm("post_layernorm", vision.D)})...).tower("vision")
	lead := []Block{tower, Module("visual_projection.visual_projection", Projector,
		Linear("0", vision.D, c.D).Bias(true), LayerNorm("1", c.D)).tower("")}
	if frames := c.SizeOr("frames", "num_image_with_embedding", Size{}); !frames.IsZero() {
		lead = append(lead, Stack("img_temporal_embedding", frames, func(int) []Block {
			return []Block{Raw("", PositionEmbedding, Const(1), Const(1), vision.D)}
		}))
	}
	return encoder(c, Encoder{Lead: lead, NoSegments: true, Causal: true, Pooling: NoPool, LM: func(embedding string) []Block {
		return []Block{Linear("output", c.D, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head)}
	}})
}

// patches is the convolution that makes a token of each patch of an image.
func (c *Config) patches(name string) Block {
	side := c.Size("P", "patch_size")
	return Conv(name, c.Size("channels", "num_channels"), c.D, side, side)
}

// clipLayers are the layers of CLIP's and SigLIP's image encoders.
func (c *Config) clipLayers(name string) []Block {
	return []Block{Stack(name, c.N, func(int) []Block {
		return []Block{LayerNorm("layer_norm1", c.D), c.clipAttention("self_attn"), LayerNorm("layer_norm2", c.D), c.clipMLP("mlp")}
	})}
}

func (c *Config) clipAttention(name string) Block {
	return AttentionBlock(name, c.encoderScores(), Linear("q_proj", c.D, c.D).Bias(true), Linear("k_proj", c.D, c.D).Bias(true),
		Linear("v_proj", c.D, c.D).Bias(true), Linear("out_proj", c.D, c.D).Bias(true))
}

func (c *Config) clipMLP(name string) Block {
	return MLPBlock(name, Linear("fc1", c.D, c.F).Bias(true), Linear("fc2", c.F, c.D).Bias(true))
}

// gotOCR2 reads pages through SAM's image encoder, whose convolutions shrink the
// grid to few tokens (Wei et al. 2024, arXiv:2409.01704).
func gotOCR2(c *Config) Model {
	return c.languageModel("text_config", "", "language_model.model", "language_model.lm_head", func(text *Config) []Block {
		vision := c.part("vision_config")
		O, three := vision.Size("O", "output_channels"), Const(3)
		return []Block{vision.samTower("vision_tower", O), Module("multi_modal_projector", Projector,
			Conv("conv_upsampler1", O, O.X(2), three, three), Conv("conv_upsampler2", O.X(2), text.D, three, three),
			Linear("multimodal_projector", text.D, text.D).Bias(true)).tower("")}
	})
}

// samTower is the image encoder of Segment Anything (Kirillov et al. 2023,
// arXiv:2304.02643): attention within windows but in a few layers, with relative
// positions by row and by column, and a neck of convolutions.
func (c *Config) samTower(name string, O Size) Block {
	grid := c.Int("image_size") / max(1, c.Int("patch_size"))
	G, F, one, three := Named("G", grid), c.Size("F", "mlp_dim"), Const(1), Const(3)
	global := c.Ints("global_attn_indexes")
	layer := func(i int) []Block {
		side := c.Int("window_size")
		if side == 0 || slices.Contains(global, int64(i)) {
			side = grid
		}
		attention := AttentionBlock("attn", c.encoderScores(), Linear("qkv", c.D, c.D.X(3)).Bias(c.Bool("qkv_bias")), Linear("proj", c.D, c.D).Bias(true))
		if c.Bool("use_rel_pos") {
			rows := Const(2*side - 1)
			attention.Sub = append(attention.Sub, Raw("rel_pos_h", PositionEmbedding, rows, c.H), Raw("rel_pos_w", PositionEmbedding, rows, c.H))
		}
		return []Block{LayerNorm("layer_norm1", c.D), attention, LayerNorm("layer_norm2", c.D),
			MLPBlock("mlp", Linear("lin1", c.D, F).Bias(true), Linear("lin2", F, c.D).Bias(true))}
	}
	sub := []Block{c.patches("patch_embed.projection").Bias(true)}
	if c.Bool("use_abs_pos") {
		sub = append(sub, Raw("pos_embed", PositionEmbedding, one, G, G, c.D))
	}
	return Module(name, NoRole, append(sub, Stack("layers", c.N, layer),
		Module("neck", Convolution, Conv("conv1", c.D, O, one, one), LayerNorm("layer_norm1", O), Conv("conv2", O, O, three, three), LayerNorm("layer_norm2", O)))...).tower("vision")
}
