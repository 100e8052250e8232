package estimator

// GLM's language models that see (GLM-4.1V: GLM-V Team 2025, arXiv:2507.01006).
var glmSightFamily = []Arch{
	{"glm4v", "Glm4vForConditionalGeneration", func(c *Config) Model { return c.glmSight("glm4v_text", "glm4v_vision", nil) }},
	{"glm4v_text", "Glm4vTextModel", func(c *Config) Model { return decoder(c, glmText(On)) }},
	{"glm4v_vision", "Glm4vVisionModel", loneTower((*Config).glmVision)},
	{"glm46v", "Glm46VForConditionalGeneration", func(c *Config) Model { return c.glmSight("glm4v_text", "glm4v_vision", nil) }},
	{"glm4v_moe", "Glm4vMoeForConditionalGeneration", func(c *Config) Model {
		return c.glmSight("glm4v_moe_text", "glm4v_moe_vision", func(text *Config) Model { return glmSparseText(text, deepseekExperts()) })
	}},
	{"glm4v_moe_text", "Glm4vMoeTextModel", func(c *Config) Model {
		experts := deepseekExperts()
		experts.Packed = c.packed("experts.gate_up_proj", "experts.down_proj")
		return glmSparseText(c, experts)
	}},
	{"glm4v_moe_vision", "Glm4vMoeVisionModel", loneTower((*Config).glmVision)},
	{"glm_ocr", "GlmOcrForConditionalGeneration", func(c *Config) Model { return c.glmSight("glm_ocr_text", "glm_ocr_vision", nil) }},
	{"glm_ocr_text", "GlmOcrTextModel", func(c *Config) Model { return decoder(c, glmText(Off)) }},
	{"glm_ocr_vision", "GlmOcrVisionModel", loneTower((*Config).glmVision)},
}

func (c *Config) glmSight(text, vision string, inner func(*Config) Model) Model {
	return c.composed(Composed{Layout: newLayout, Text: text, Inner: inner, TextTies: true, Parts: func(*Config) []Block {
		_, tower := c.sightAs(vision, "visual", (*Config).glmVision)
		return []Block{tower}
	}})
}

// glmText is GLM-4 with or without biases of queries, keys and values.
func glmText(bias Setting) Decoder {
	return Decoder{QKVBias: bias, OutBias: Off, FusedGate: "gate_up_proj", MLPBias: Off,
		Norms: Norms{"input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm"}}
}

func glmSparseText(c *Config, experts Routed) Model {
	return decoder(c, Decoder{OutBias: Off, FFN: c.routed(experts)})
}

// glmVision shrinks the grid by a convolution before its merger. From GLM-OCR on
// queries and keys have norms, positions are rotary only, and the blocks are as
// wide as the config says: before, its width is the merger's.
func (c *Config) glmVision() []Block {
	view, _ := c.merged()
	side, O, bias := c.Size("merge", "spatial_merge_size"), c.Size("O", "out_hidden_size"), c.by("attention_bias")
	d := Tower{Names: blockNames(), Patch: "patch_embed.proj", Norm: RMSNorm, QKVBias: bias, OutBias: bias, MLPBias: bias}
	d.Names.Last = "post_layernorm"
	wide := c.F
	switch c.ModelType() {
	case "glm_ocr_vision":
		d.QKNorm, wide = PerHead, O.Times(c.Size("channels", "in_channels"))
	case "glm5_next_vision":
		d.QKNorm, wide = PerHead, c.Size("Fm", "projection_intermediate_size")
	default:
		d.OutBias, d.MLPBias, d.Width = Off, Off, O
		d.Embed = []Block{RMSNorm("post_conv_layernorm", c.D), Position("embeddings.position_embedding", c.patchCount(), c.D)}
	}
	d.After = []Block{Conv("downsample", c.D, O, side, side).Bias(true).Seeing(view),
		Module("merger", Projector, Linear("proj", O, O), LayerNorm("post_projection_norm", O), Linear("gate_proj", O, wide), Linear("up_proj", O, wide),
			Linear("down_proj", wide, O)).Seeing(view)}
	return c.towerBlocks(d)
}
