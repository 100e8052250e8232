package estimator

// Language models that see through projectors of several steps.
var compressedSightFamily = []Arch{
	{"lfm2_vl", "Lfm2VlForConditionalGeneration", lfm2VL},
	{"minicpmv4_6", "MiniCPMV4_6ForConditionalGeneration", miniCPM},
	{"minicpmv4_7", "MiniCPMV4_7ForConditionalGeneration", miniCPM},
	{"minicpmv4_7_vision", "MiniCPMV4_7VisionModel", loneTower(func(c *Config) []Block { return c.miniCPMVision(true) })},
	{"minicpm_ocr", "MiniCPMOcrForConditionalGeneration", miniCPM},
	{"minicpm_ocr_vision", "MiniCPMOcrVisionModel", loneTower(func(c *Config) []Block { return c.miniCPMVision(true) })},
	{"aria", "AriaForConditionalGeneration", aria},
	{"cosmos3_omni", "Cosmos3OmniForConditionalGeneration", cosmos3},
	{"cosmos3_edge", "Cosmos3EdgeForConditionalGeneration", cosmos3Edge},
	{"cosmos3_edge_text", "Cosmos3EdgeTextModel", func(c *Config) Model { return decoder(c, Decoder{Ungated: true, UpDown: [2]string{"fc1", "fc2"}}) }},
	{"cosmos3_edge_vision", "Cosmos3EdgeVisionModel", loneTower((*Config).cosmos3Vision)},
	{"modernvbert", "ModernVBertForMaskedLM", modernVBert},
	{"colmodernvbert", "ColModernVBertForRetrieval", retriever},
}

// lfm2VL shuffles the pixels of SigLIP 2 (Liquid AI 2025, arXiv:2511.23404).
func lfm2VL(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, TiedBy: "tie_embedding", Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		side := c.Int("downsample_factor")
		wide, between := vision.D.X(side*side), c.Size("B", "projector_hidden_size")
		var norm []Block
		if c.Bool("projector_use_layernorm") {
			norm = []Block{LayerNorm("layer_norm", wide)}
		}
		return []Block{tower, projector("multi_modal_projector", vision.listOfPatches().Merging(side*side), wide, between, text.D, c.Bool("projector_bias"), norm...)}
	}})
}

// miniCPM merges patches within its tower, after attention in windows, and behind
// it (MiniCPM-V: Yao et al. 2024, arXiv:2408.01800).
func miniCPM(c *Config) Model {
	within := c.String("downsample_mode") != "4x"
	return c.composed(Composed{Layout: newLayout, Parts: func(text *Config) []Block {
		vision := c.partAs("vision_config", c.ModelType()+"_vision")
		view, merge := vision.image(), c.sides("merge_kernel_size")
		if within {
			view = view.Merging(vision.windowTokens())
		}
		wide, times := vision.D.X(4), max(1, c.Int("merger_times"))
		mlps := Stack("mlp", Named("times", times), func(i int) []Block {
			view, out := view, vision.D
			if int64(i) == times-1 {
				out = text.D
			}
			for range i + 1 {
				view = view.Merging(merge[0] * merge[1])
			}
			return []Block{Module("", Projector, LayerNorm("pre_norm", wide), Linear("linear_1", wide, wide).Bias(true), Linear("linear_2", wide, out).Bias(true)).Seeing(view)}
		})
		return []Block{Module("vision_tower", NoRole, vision.miniCPMVision(within)...).InTower("vision"), Module("merger", Projector, mlps)}
	}})
}

// windowTokens is how many tokens a window has, which become one.
func (c *Config) windowTokens() int64 {
	window := c.sides("window_kernel_size")
	return window[0] * window[1]
}

func (c *Config) miniCPMVision(merges bool) []Block {
	whole, n, last := c.image(), c.windowTokens(), c.Int("insert_layer_id")
	merged := whole.Merging(n)
	merges = merges && last >= 0
	d := Tower{Names: Names{Last: "post_layernorm"}, Embed: []Block{Position("embeddings.position_embedding", c.patchCount(), c.D)},
		Layers: func(i int) View {
			if merges && int64(i) > last {
				return merged
			}
			return whole
		}}
	merger := Module("vit_merger", NoRole, LayerNorm("layer_norm1", c.D), c.clipAttention("self_attn"),
		Module("", Projector, LayerNorm("pre_norm", c.D.X(n)), Linear("linear_1", c.D.X(n), c.F.X(n)).Bias(true), Linear("linear_2", c.F.X(n), c.D).Bias(true)).Seeing(merged)).
		Seeing(whole.Cutting(c.sides("window_kernel_size")[0]))
	if !merges {
		merger = merger.idle()
	}
	d.After = []Block{merger}
	return c.towerBlocks(d)
}

// aria reads an image by learned queries, the more the larger it is (Li et al.
// 2024, arXiv:2410.05993).
func aria(c *Config) Model {
	return c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_tower")
		D, queries, most := vision.D, int64(0), int64(0)
		for patches, n := range c.Value("projector_patch_to_query_dict").Map() {
			if most = max(most, n.Int()); patches == vision.patchCount().Numbers() {
				queries = n.Int()
			}
		}
		if queries == 0 {
			queries = most
		}
		scores := vision.sightScores()
		scores.Cross = true
		attention := AttentionBlock("", scores, Linear("q_proj", D, D), Linear("k_proj", D, D).On(PerMemory), Linear("v_proj", D, D).On(PerMemory),
			Module("multihead_attn", Attention, Raw("in_proj_weight", Attention, D.X(3), D), rawBias("in_proj_bias", D.X(3)), Product(D, D), Product(D, D.X(2)).On(PerMemory),
				Linear("out_proj", D, D).Bias(true)), Linear("linear", D, D).Bias(true))
		return []Block{tower, Module("multi_modal_projector", Projector, Raw("query", Other, Named("q", most), D),
			Module("cross_attn", Projector, LayerNorm("layer_norm", D), LayerNorm("layer_norm_kv", D).On(PerMemory), attention), LayerNorm("layer_norm", D),
			Linear("feed_forward.linear_in", D, text.D), Linear("feed_forward.linear_out", text.D, text.D)).Seeing(vision.image().Asked(queries))}
	}})
}

// cosmos3Layout has the language model's names without a prefix in files.
func (c *Config) cosmos3Layout() Layout {
	if c.Task == BaseModel {
		return Layout{"", "language_model", ""}
	}
	return Layout{"", "", "lm_head"}
}

// cosmos3Names are those of a diffusion model's attention.
var cosmos3Names = map[string]string{"q_proj": "to_q", "k_proj": "to_k", "v_proj": "to_v", "o_proj": "to_out", "q_norm": "norm_q", "k_norm": "norm_k"}

// cosmos3 is Qwen3-VL under the names of a diffusion model's file.
func cosmos3(c *Config) Model {
	return c.composed(Composed{Layout: c.cosmos3Layout(), Renamed: cosmos3Names, Parts: func(*Config) []Block {
		_, tower := c.sight("vision_config", c.below("visual", ""))
		return []Block{tower}
	}})
}

// below is a name in the base model, or what it is in a model with a head.
func (c *Config) below(base, headed string) string {
	if c.Task == BaseModel {
		return base
	}
	return headed
}

func cosmos3Edge(c *Config) Model {
	return c.composed(Composed{Layout: c.cosmos3Layout(), Renamed: cosmos3Names, Text: "cosmos3_edge_text",
		Inner: func(text *Config) Model { return decoder(text, Decoder{Ungated: true}) }, Parts: func(text *Config) []Block {
			vision, tower := c.sightAs("cosmos3_edge_vision", c.below("visual", "model.visual"), (*Config).cosmos3Vision)
			merged, wide := vision.merged()
			B := c.Size("B", "projector_hidden_size")
			return []Block{tower, Module(c.below("projector", "model.projector"), Projector, LayerNorm("norm", vision.D).Seeing(vision.image()),
				Linear("linear_fc1", wide, B).Bias(true), Linear("linear_fc2", B, text.D).Bias(true)).Seeing(merged)}
		}})
}

// cosmos3Vision is SigLIP 2 for images of any size.
func (c *Config) cosmos3Vision() []Block {
	return c.towerBlocks(Tower{Flat: true, Names: Names{Last: "post_layernorm"}, Embed: []Block{Position("embeddings.position_embedding", c.Size("C", "num_patches"), c.D)}})
}

// modernVBert is ModernBERT that reads the shuffled pixels of SigLIP (Teiletche et
// al. 2025, arXiv:2510.01149).
func modernVBert(c *Config) Model {
	text, inner := c.within("text_config")
	vision, tower := c.sight("vision_config", "vision_model")
	side := c.Int("pixel_shuffle_factor")
	merged, labels := vision.image().Merging(side*side), Named("labels", c.NumLabels())
	transform := func(name string) Block {
		return Module(name, HeadLayers, Linear("dense", text.D, text.D).Bias(text.Bool("classifier_bias")), RMSNorm("norm", text.D).Bias(text.Bool("norm_bias")))
	}
	model := Model{Prefix: c.under("model"), N: inner.N, D: inner.D, V: inner.V, Body: []Block{tower,
		Linear("connector.modality_projection", vision.D.X(side*side), text.D).As(Projector).Seeing(merged), Module("text_model", NoRole, inner.Body...)}}
	switch c.Task {
	case BaseModel:
	case SequenceClassification:
		model.Head = []Block{transform("head").Throughout(PerSequence), Linear("classifier", text.D, labels).Bias(true).On(PerSequence).As(Classifier)}
	case TokenClassification:
		model.Head = []Block{transform("head"), Linear("classifier", text.D, labels).Bias(true).As(Classifier)}
	default:
		model.Head = []Block{transform("projection_head"), Linear("lm_head", text.D, text.V).Bias(text.Bool("decoder_bias")).
			TiedTo("model.text_model.embeddings.tok_embeddings.weight", c.tied()).As(Head)}
	}
	return model
}
