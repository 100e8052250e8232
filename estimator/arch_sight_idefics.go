package estimator

// Idefics 2, 3 and SmolVLM, and others with the tower of SigLIP in their own class.
var ideficsFamily = []Arch{
	{"idefics2", "Idefics2ForConditionalGeneration", idefics2},
	{"idefics3", "Idefics3ForConditionalGeneration", idefics3},
	{"idefics3_vision", "Idefics3VisionTransformer", loneTower((*Config).ideficsVision)},
	{"smolvlm", "SmolVLMForConditionalGeneration", idefics3},
	{"smolvlm_vision", "SmolVLMVisionTransformer", loneTower((*Config).ideficsVision)},
	{"video_llama_3", "VideoLlama3ForConditionalGeneration", videoLlama3},
	{"video_llama_3_vision", "VideoLlama3VisionModel", loneTower((*Config).rotarySigLIP)},
	{"paddleocr_vl", "PaddleOCRVLForConditionalGeneration", paddleOCR},
	{"deepseek_vl", "DeepseekVLForConditionalGeneration", deepseekVL},
	{"deepseek_vl_hybrid", "DeepseekVLHybridForConditionalGeneration", deepseekVLHybrid},
	{"ovis2", "Ovis2ForConditionalGeneration", ovis2},
	{"kimi_k25", "Kimi_K25ForConditionalGeneration", kimiK25},
	{"kimi_k25_vision", "Kimi_K25VisionModel", loneTower(func(c *Config) []Block { return c.kimiVision(kimiNames) })},
}

var ideficsLayout = Layout{"model", "text_model", "lm_head"}

// ideficsVision is SigLIP without a head; positions are looked up by where a patch
// is in its own image.
func (c *Config) ideficsVision() []Block {
	return c.towerBlocks(Tower{Names: Names{Last: "post_layernorm"}, Embed: []Block{Position("embeddings.position_embedding", c.patchCount(), c.D)}})
}

// idefics2 lets a few learned queries read the projected tokens of an image
// (Laurençon et al. 2024, arXiv:2405.02246).
func idefics2(c *Config) Model {
	return c.composed(Composed{Layout: ideficsLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sightAs("idefics2_vision", "vision_model", (*Config).ideficsVision)
		perceiver := c.partAs("perceiver_config", "idefics2_perceiver")
		return []Block{tower, Module("connector", Projector, Module("modality_projection", Projector, Linear("gate_proj", vision.D, text.F),
			Linear("up_proj", vision.D, text.F), Linear("down_proj", text.F, text.D)).Seeing(vision.image()), perceiver.resampler("perceiver_resampler", vision.image()))}
	}})
}

// resampler is layers in which learned queries attend to an image's tokens and to
// each other (Perceiver: Jaegle et al. 2021, arXiv:2103.03206).
func (c *Config) resampler(name string, view View) Block {
	n := c.Size("q", "resampler_n_latents")
	c.H, c.A = c.Size("H", "resampler_head_dim"), c.Size("A", "resampler_n_heads")
	c.Q, c.U = c.A.Times(c.H), c.K.Times(c.H)
	scores := GQA(c.A, c.K, c.H, 0)
	scores.Bidirected, scores.Cross = true, true
	layer := []Block{RMSNorm("input_latents_norm", c.D), RMSNorm("input_context_norm", c.D).On(PerMemory),
		AttentionBlock("self_attn", scores, Linear("q_proj", c.D, c.Q), Linear("k_proj", c.D, c.U).On(PerMemory), Linear("v_proj", c.D, c.U).On(PerMemory),
			Linear("o_proj", c.Q, c.D)), RMSNorm("post_attention_layernorm", c.D), c.mlp("mlp", c.D.X(4), false, false)}
	return Module(name, Projector, Raw("latents", Other, n, c.D), Stack("layers", c.Size("N", "resampler_depth"), func(int) []Block { return layer }),
		RMSNorm("norm", c.D)).Seeing(view.With(n.Int()).Asked(n.Int()))
}

// idefics3 shuffles the pixels of SigLIP's tokens (Laurençon et al. 2024,
// arXiv:2408.12637).
func idefics3(c *Config) Model {
	return c.composed(Composed{Layout: ideficsLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sightAs(c.ModelType()+"_vision", "vision_model", (*Config).ideficsVision)
		side := c.Int("scale_factor")
		return []Block{tower, Linear("connector.modality_projection.proj", vision.D.X(side*side), text.D).As(Projector).Seeing(vision.image().Merging(side * side))}
	}})
}

// rotarySigLIP is SigLIP for images of any size, without learned positions.
func (c *Config) rotarySigLIP() []Block {
	return c.towerBlocks(Tower{Names: Names{Last: "post_layernorm"}})
}

// videoLlama3 merges patches of videos only, without weights (Zhang et al. 2025,
// arXiv:2501.13106).
func videoLlama3(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, TextTies: true, Parts: func(text *Config) []Block {
		vision, tower := c.sightAs("video_llama_3_vision", "vision_model", (*Config).rotarySigLIP)
		return []Block{tower, Module("projector.readout", Projector, Linear("0", vision.D, text.D).Bias(true), Linear("2", text.D, text.D).Bias(true)).Seeing(vision.image())}
	}})
}

// paddleOCR is ERNIE 4.5 behind SigLIP (Cui et al. 2025, arXiv:2510.14528). Its
// files have other names than its base class.
func paddleOCR(c *Config) Model {
	layout, name := Layout{"", "model", "lm_head"}, "mlp_AR"
	if c.Task == BaseModel {
		layout.Name, name = "language_model", "projector"
	}
	ernie := func(text *Config) Model {
		bias := text.by("use_bias")
		return decoder(text, Decoder{QKVBias: bias, OutBias: bias, MLPBias: bias})
	}
	return c.composed(Composed{Layout: layout, Text: "paddleocr_vl_text", Inner: ernie, TextTies: true, Parts: func(text *Config) []Block {
		vision, tower := c.sightAs("paddleocr_vl_vision", "visual.vision_model", (*Config).ideficsVision)
		merged, wide := vision.merged()
		return []Block{tower, projector(name, merged, wide, wide, text.D, true, LayerNorm("pre_norm", vision.D).Seeing(vision.image()))}
	}})
}

// deepseekVL is Lu et al. 2024, arXiv:2403.05525. Its hybrid sees an image in a low
// resolution through SigLIP and in a high one through SAM.
func deepseekVL(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_model")
		return []Block{tower, Module("aligner", Projector, Linear("linear1", vision.D, text.D).Bias(true), Linear("linear2", text.D, text.D).Bias(true)).Seeing(vision.image())}
	}})
}

func deepseekVLHybrid(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_model")
		sam := c.partAs("high_res_vision_config", "sam_vision_model")
		O, one, three, half := sam.Size("O", "output_channels"), Const(1), Const(3), c.ratio("D/2", text.D, Const(2))
		view, fine := vision.image(), vision.image()
		fine.Patch = [2]int64{view.Patch[0] / 2, view.Patch[1] / 2}
		return []Block{Raw("high_res_vision_alpha", Other, one), sam.samTower("high_res_vision_model.vision_encoder", O),
			Module("high_res_vision_neck", Convolution, Conv("conv1", sam.D, O, one, one), LayerNorm("layer_norm1", O), Conv("conv2", O, O, three, three),
				LayerNorm("layer_norm2", O)).Seeing(sam.image()),
			Module("high_res_vision_proj", Convolution, Conv("conv1", O, O.X(2), three, three).Seeing(fine), Conv("conv2", O.X(2), O.X(4), three, three).Seeing(view)).Repeated(2),
			tower, Module("aligner", Projector, Linear("vision_proj", vision.D, half).Bias(true), Linear("high_res_vision_proj", O.X(4), half).Bias(true),
				Linear("proj", text.D, text.D).Bias(true)).Seeing(view)}
	}})
}

// ovis2 makes of each token a mixture of words of a visual vocabulary, looked up
// in a table of its own (Lu et al. 2024, arXiv:2405.20797).
func ovis2(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Outer: true, Parts: func(text *Config) []Block {
		vision := c.partAs("vision_config", "ovis2_vision")
		side, words := vision.Int("hidden_stride"), vision.Size("words", "vocab_size")
		view, heads := vision.image(), Named("words", words.Int()-vision.Int("num_visual_indicator_tokens"))
		merged, bias := view.Merging(side*side), vision.by("qkv_bias")
		tower := Module("transformer", NoRole, vision.towerBlocks(Tower{Norm: RMSNorm, QKVBias: bias, OutBias: bias, MLPBias: vision.by("mlp_bias"),
			Embed: []Block{Position("embeddings.position_embedding", vision.patchCount(), vision.D), RMSNorm("embeddings.rms_norm", vision.D)},
			Names: Names{Norm1: "rms_norm1", Attn: "attention", Norm2: "rms_norm2", MLP: "ffn", Up: "gate_proj up_proj", Down: "down_proj", Last: "rms_norm"}})...)
		table := Token("visual_embeddings_table", words, c.D).As(Projector)
		return []Block{Module("vision_tower", NoRole, tower, Module("", Projector, Linear("head_linear", vision.D.X(side*side), heads), LayerNorm("head_norm", heads)).Seeing(merged)).InTower("vision"),
			table, Product(words, c.D).As(Projector).Seeing(merged)}
	}})
}

// kimiTower is the names of a tower's positions, and of its layers.
type kimiTower struct {
	Names
	patches, positions string
}

// The names of MoonViT: in the library alone, within its base model, and in files.
var (
	kimiNames     = kimiTower{Names{Stack: "layers", Norm1: "norm1", Attn: "attn", Out: "proj", Norm2: "norm2", Last: "final_layernorm"}, "patch_embed.proj", "patch_embed.pos_emb.position_embeddings"}
	kimiBaseNames = kimiTower{Names{Stack: "blocks", Norm1: "norm1", Attn: Nameless, QKV: "wqkv", Out: "attn.proj", Norm2: "norm2", Last: "final_layernorm"}, "patch_embed.proj", "patch_embed.pos_emb.position_embeddings"}
	kimiFileNames = kimiTower{Names{Stack: "encoder.blocks", Norm1: "norm0", Attn: Nameless, QKV: "wqkv", Out: "wo", Norm2: "norm1", Up: "fc0", Down: "fc1", Last: "encoder.final_layernorm"}, "patch_embed.proj", "patch_embed.pos_emb.weight"}
)

// kimiK25 is DeepSeek-V3 behind MoonViT (Kimi Team 2026, arXiv:2602.02276).
func kimiK25(c *Config) Model {
	layout, names, in, out := llavaLayout, kimiFileNames, "proj.0", "proj.2"
	if c.Task == BaseModel {
		layout.Name, names, in, out = "language_model", kimiBaseNames, "in_proj", "out_proj"
	}
	return c.composed(Composed{Layout: layout, Parts: func(text *Config) []Block {
		vision := c.partAs("vision_config", "kimi_k25_vision")
		merge := vision.sides("merge_kernel_size")
		n := merge[0] * merge[1]
		wide := vision.D.X(n)
		return []Block{Module("vision_tower", NoRole, vision.kimiVision(names)...).InTower("vision"),
			Module("mm_projector", Projector, LayerNorm("pre_norm", c.Size("Dp", "projection_hidden_size")).Seeing(vision.image()), Linear(in, wide, wide).Bias(true),
				Linear(out, wide, text.D).Bias(true)).Seeing(vision.image().Merging(n))}
	}})
}

func (c *Config) kimiVision(n kimiTower) []Block {
	positions := Raw(n.positions, PositionEmbedding, c.Size("rows", "pos_emb_height"), c.Size("columns", "pos_emb_width"), c.D)
	return c.towerBlocks(Tower{Names: n.Names, Patch: n.patches, Embed: []Block{positions}})
}
