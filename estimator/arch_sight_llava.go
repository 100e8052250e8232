package estimator

// Language models that read the tokens of a tower for images through a small
// projector (LLaVA: Liu et al. 2023, arXiv:2304.08485).
var llavaFamily = []Arch{
	{"llava", "LlavaForConditionalGeneration", func(c *Config) Model { return c.llava(true, nil) }},
	{"llava_next", "LlavaNextForConditionalGeneration", func(c *Config) Model { return c.llava(false, newline) }},
	{"llava_next_video", "LlavaNextVideoForConditionalGeneration", func(c *Config) Model { return c.llava(true, newline) }},
	{"llava_onevision", "LlavaOnevisionForConditionalGeneration", func(c *Config) Model { return c.llava(true, newline) }},
	{"vipllava", "VipLlavaForConditionalGeneration", vipLlava},
	{"video_llava", "VideoLlavaForConditionalGeneration", videoLlava},
	{"paligemma", "PaliGemmaForConditionalGeneration", paliGemma},
	{"shieldgemma2", "ShieldGemma2ForImageClassification", shieldGemma2},
	{"colpali", "ColPaliForRetrieval", retriever},
	{"colqwen2", "ColQwen2ForRetrieval", retriever},
	{"pixtral", "PixtralVisionModel", loneTower((*Config).pixtralVision)},
	{"mistral3", "Mistral3ForConditionalGeneration", mistral3},
	{"lighton_ocr", "LightOnOcrForConditionalGeneration", lightOnOCR},
	{"llama4", "Llama4ForConditionalGeneration", llama4},
	{"aya_vision", "AyaVisionForConditionalGeneration", ayaVision},
	{"cohere2_vision", "Cohere2VisionForConditionalGeneration", cohere2Vision},
	{"internvl", "InternVLForConditionalGeneration", internVL},
	{"internvl_vision", "InternVLVisionModel", loneTower(func(c *Config) []Block { return c.internVision(internNames) })},
	{"qianfan_ocr", "QianfanOCRForConditionalGeneration", qianfanOCR},
	{"qianfan_ocr_vision", "QianfanOCRVisionModel", loneTower(func(c *Config) []Block { return c.internVision(qianfanNames) })},
}

// projector is two linears from a tower's width to a language model's, behind a
// norm where there is one.
func projector(name string, view View, in, between, out Size, bias bool, lead ...Block) Block {
	return Module(name, Projector, append(lead, Linear("linear_1", in, between).Bias(bias), Linear("linear_2", between, out).Bias(bias))...).Seeing(view)
}

// newline is what stands for the end of a row of tiles.
func newline(text *Config) []Block { return []Block{Raw("image_newline", Other, text.D)} }

// takenLayers is of how many layers a tower's tokens are taken, side by side.
func (c *Config) takenLayers() int64 {
	if several := c.Value("vision_feature_layer"); several.IsArray() {
		return int64(len(several.Array()))
	}
	return 1
}

// llava leaves out the token of the class unless the config wants all. Every layer
// of the tower runs, whichever one's tokens are taken.
func (c *Config) llava(textTies bool, others func(text *Config) []Block) Model {
	return c.composed(Composed{Layout: llavaLayout, TextTies: textTies, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		view := vision.image()
		if c.String("vision_feature_select_strategy") == "full" && vision.ModelType() == "clip_vision_model" {
			view = view.With(1)
		}
		parts := []Block{tower, projector("multi_modal_projector", view, vision.D.X(c.takenLayers()), text.D, text.D, c.BoolOr("multimodal_projector_bias", true))}
		if others != nil {
			parts = append(parts, others(text)...)
		}
		return parts
	}})
}

// vipLlava projects the tokens of several layers (Cai et al. 2023,
// arXiv:2312.00784).
func vipLlava(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		wide := vision.D.X(c.takenLayers())
		return []Block{tower, projector("multi_modal_projector", vision.image(), wide, text.D, text.D, true, LayerNorm("projector_layernorm", wide))}
	}})
}

// videoLlava has a tower of its own for the frames of videos (Lin et al. 2023,
// arXiv:2311.10122).
func videoLlava(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision, images := c.sight("vision_config", "image_tower")
		return []Block{images, images.Called("video_tower").idle(),
			projector("multi_modal_projector", vision.image(), vision.D, text.D, text.D, c.BoolOr("multimodal_projector_bias", true))}
	}})
}

// paliGemma projects all tokens of SigLIP by one linear (Beyer et al. 2024,
// arXiv:2407.07726).
func paliGemma(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(*Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		out := vision.SizeOr("O", "projection_dim", c.SizeOr("O", "projection_dim", Size{}))
		return []Block{tower, Linear("multi_modal_projector.linear", vision.D, out).Bias(true).As(Projector).Seeing(vision.image())}
	}})
}

// shieldGemma2 is Gemma 3 with its head, which answers yes or no (Zeng et al. 2025,
// arXiv:2504.01081).
func shieldGemma2(c *Config) Model {
	model := gemma3(c)
	model.Prefix = "model.model"
	text := c.part("text_config")
	model.Head = []Block{Linear("model.lm_head", text.D, text.V).On(PerLogit).TiedTo("model.model.language_model.model.embed_tokens.weight", true).As(Head)}
	return model
}

// retriever makes a short vector of each token of a model for images and text
// (ColPali: Faysse et al. 2024, arXiv:2407.01449).
func retriever(c *Config) Model {
	_, inner := c.within("vlm_config")
	inner.Body = []Block{Module("vlm", NoRole, inner.Body...)}
	inner.Head = []Block{Linear("embedding_proj_layer", inner.D, c.Size("E", "embedding_dim")).Bias(true).As(Projector)}
	return inner
}

// pixtralVision takes images of any size, all in one sequence (Agrawal et al. 2024,
// arXiv:2410.07073).
func (c *Config) pixtralVision() []Block {
	view := c.image()
	view.Packed = true
	return c.towerBlocks(Tower{Patch: "patch_conv", BarePatch: true, Norm: RMSNorm, View: view, QKVBias: Off, OutBias: Off, MLPBias: Off,
		Embed: []Block{RMSNorm("ln_pre", c.D)}, Names: Names{Stack: "transformer.layers", Norm1: "attention_norm", Attn: "attention", Out: "o_proj",
			Norm2: "ffn_norm", MLP: "feed_forward", Up: "gate_proj up_proj", Down: "down_proj"}})
}

// mergedProjector norms a tower's tokens, merges a square of them to one and
// projects it.
func (c *Config) mergedProjector(name string, vision, text *Config, taken int64, bias bool) Block {
	side := c.Int("spatial_merge_size")
	merged := vision.image().Merging(side * side)
	return projector(name, merged, vision.D.X(taken), text.D, text.D, bias, RMSNorm("norm", vision.D).Seeing(vision.image()),
		Linear("patch_merger.merging_layer", vision.D.X(side*side), vision.D))
}

func mistral3(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		return []Block{tower, c.mergedProjector("multi_modal_projector", vision, text, c.takenLayers(), c.Bool("multimodal_projector_bias"))}
	}})
}

func lightOnOCR(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_encoder")
		return []Block{tower, c.mergedProjector("vision_projection", vision, text, 1, false)}
	}})
}

// llama4 puts the token of the class behind the patches and merges these by a
// shuffle of pixels before an adapter.
func llama4(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision := c.part("vision_config")
		return []Block{Module("vision_model", NoRole, vision.llama4Vision()...).InTower("vision"),
			Linear("multi_modal_projector.linear_1", vision.Size("O", "vision_output_dim"), text.D).As(Projector).Seeing(vision.shuffled("pixel_shuffle_ratio"))}
	}})
}

// shuffled is the view of an image whose sides shrink by a ratio.
func (c *Config) shuffled(ratio string) View {
	side := int64(1 / max(c.Float(ratio, 0.5), 1e-6))
	return c.image().Merging(side * side)
}

func (c *Config) llama4Vision() []Block {
	one, in, out := Const(1), c.Size("In", "projector_input_dim"), c.Size("Out", "projector_output_dim")
	adapter := Module("vision_adapter.mlp", Projector, Linear("fc1", c.F, in), Linear("fc2", out, out)).Seeing(c.shuffled("pixel_shuffle_ratio"))
	return c.towerBlocks(Tower{Patch: "patch_embedding.linear", Flat: true, BarePatch: true, View: c.image().With(1), After: []Block{adapter},
		Embed: []Block{Raw("class_embedding", PositionEmbedding, c.D), Raw("positional_embedding_vlm", PositionEmbedding, c.patchCount().Plus(one), c.D),
			LayerNorm("layernorm_pre", c.D)},
		Names: Names{Stack: "model.layers", Norm1: "input_layernorm", Out: "o_proj", Norm2: "post_attention_layernorm", Last: "layernorm_post"}})
}

// ayaVision and cohere2Vision shuffle pixels before a gate in one half of the
// projector's width.
func ayaVision(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		return c.gatedProjector(text, true, c.SizeOr("B", "alignment_intermediate_size", text.D))
	}})
}

func cohere2Vision(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Parts: func(text *Config) []Block {
		return c.gatedProjector(text, false, c.Size("B", "alignment_intermediate_size"))
	}})
}

func (c *Config) gatedProjector(text *Config, normed bool, B Size) []Block {
	vision, tower := c.sight("vision_config", "vision_tower")
	side := c.Int("downsample_factor")
	wide := vision.D.X(side * side)
	var sub []Block
	if normed {
		sub = []Block{LayerNorm("layernorm", wide)}
	}
	return []Block{tower, Module("multi_modal_projector", Projector, append(sub, Linear("linear_1", wide, B).Bias(true),
		Linear("linear_2", c.ratio("B/2", B, Const(2)), text.D).Bias(true))...).Seeing(vision.image().Merging(side * side))}
}

// internVL shuffles the pixels of InternViT (Chen et al. 2023, arXiv:2312.14238).
func internVL(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		merged, wide := c.downsampled(vision)
		return []Block{tower, projector("multi_modal_projector", merged, wide, text.D, text.D, true, LayerNorm("layer_norm", wide))}
	}})
}

// downsampled is the view of a tower's tokens after a shuffle of pixels, and their
// width.
func (c *Config) downsampled(vision *Config) (View, Size) {
	side := int64(1 / max(c.Float("downsample_ratio", 0.5), 1e-6))
	return vision.image().Merging(side * side), vision.D.X(side * side)
}

// qianfanOCR is the same under the names of InternVL's own files, which the base
// class has in part.
func qianfanOCR(c *Config) Model {
	base := c.Task == BaseModel
	layout, names := llavaLayout, internFileNames
	if base {
		layout.Name = "language_model"
	}
	return c.composed(Composed{Layout: layout, Parts: func(text *Config) []Block {
		vision := c.partAs("vision_config", "qianfan_ocr_vision")
		merged, wide := c.downsampled(vision)
		tower := Module("", NoRole, vision.internVision(names)...).InTower("vision")
		if base {
			return []Block{tower.Called("vision_tower"), projector("multi_modal_projector", merged, wide, text.D, text.D, true, LayerNorm("layer_norm", wide))}
		}
		return []Block{tower.Called("vision_model"), Module("mlp1", Projector, LayerNorm("0", wide), Linear("1", wide, text.D).Bias(true),
			Linear("3", text.D, text.D).Bias(true)).Seeing(merged)}
	}})
}

// internTower is the names of a tower's class token, its positions and its
// patches, and of the scales behind its blocks.
type internTower struct {
	Names
	class, positions, patches string
	scales                    [2]string
}

// The names of InternViT: in the library, in Qianfan's class of its own, and in
// InternVL's files.
var (
	internNames = internTower{Names{Stack: "encoder.layer", Norm1: "layernorm_before", Attn: "attention", Out: "projection_layer", Norm2: "layernorm_after"},
		"cls_token", "position_embeddings", "patch_embeddings.projection", [2]string{"lambda_1", "lambda_2"}}
	qianfanNames = internTower{Names{Stack: "layers", Norm1: "layernorm_before", Attn: "attention", Out: "projection_layer", Norm2: "layernorm_after"},
		"cls_token", "position_embeddings", "patch_embeddings.projection", [2]string{"lambda_1", "lambda_2"}}
	internFileNames = internTower{Names{Norm1: "norm1", Attn: "attn", QKV: "qkv", Out: "proj", Norm2: "norm2"},
		"class_embedding", "position_embedding", "patch_embedding", [2]string{"ls1", "ls2"}}
)

func (c *Config) internVision(n internTower) []Block {
	one, d := Const(1), Tower{Names: n.Names, Patch: "embeddings." + n.patches, View: c.image().With(1), Scales: n.scales, QKVBias: c.by("attention_bias")}
	if c.String("norm_type") == "rms_norm" {
		d.Norm = RMSNorm
	}
	if c.Bool("use_qk_norm") {
		d.QKNorm = AcrossAll
	}
	d.Embed = []Block{Raw("embeddings."+n.class, PositionEmbedding, one, one, c.D)}
	if c.Bool("use_mask_token") {
		d.Embed = append(d.Embed, Raw("embeddings.mask_token", Other, one, one, c.D))
	}
	if c.Bool("use_absolute_position_embeddings") {
		d.Embed = append(d.Embed, Raw("embeddings."+n.positions, PositionEmbedding, one, c.patchCount().Plus(one), c.D))
	}
	blocks := c.towerBlocks(d)
	if !c.BoolOr("use_mean_pooling", true) { // of this kind, whatever the others are
		blocks = append(blocks, LayerNorm("layernorm", c.D).Seeing(d.View))
	}
	return blocks
}
