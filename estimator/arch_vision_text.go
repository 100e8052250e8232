package estimator

import "slices"

// Language models that read the tokens of a tower for images among their own.
var imageTextFamily = slices.Concat([]Arch{
	{"mllama", "MllamaForConditionalGeneration", mllama},
	{"qwen2_vl", "Qwen2VLForConditionalGeneration", qwen2VL},
	{"qwen2_vl_text", "Qwen2VLTextModel", qwen2VLText},
}, sightFamily)

// sight is the tower for images of a field, as its own type describes it.
func (c *Config) sight(field, name string) (*Config, Block) {
	part, inner := c.within(field)
	return part, Module(name, NoRole, inner.Body...).InTower("vision")
}

// qwen2VL takes images of any size: patches of two frames, rotary positions, and
// a merger of four patches to a token (Wang et al. 2024, arXiv:2409.12191).
func qwen2VL(c *Config) Model {
	text := c.textOr("qwen2_vl_text")
	vision := c.partAs("vision_config", "qwen2_vl_vision")
	model := qwen2VLText(text)
	name := "language_model"
	if c.Task != BaseModel {
		name = "model"
		model.Head = c.head("model.embed_tokens.weight", text.D, Heads{Untied: true, Rows: text.V})
	}
	model.Body = []Block{vision.qwen2Vision(vision.Size("O", "hidden_size")), Module(name, NoRole, model.Body...)}
	return model
}

func qwen2VLText(c *Config) Model {
	return decoder(c, Decoder{QKVBias: On, OutBias: Off, MLPBias: Off})
}

func (c *Config) qwen2Vision(out Size) Block {
	E, side := c.Size("E", "embed_dim"), c.Size("P", "patch_size")
	c.A = c.Size("A", "num_heads")
	c.heads(c.A, c.A, "")
	c.D, c.F = E, Named("F"+c.mark, int64(float64(E.Int())*c.Float("mlp_ratio", 4)))
	c.H = c.ratio("H", E, c.A)
	view := View{Patch: c.sides("patch_size")}
	merge := c.Int("spatial_merge_size")
	wide := E.X(merge * merge)
	layer := []Block{LayerNorm("norm1", E), AttentionBlock("attn", c.sightScores(), Linear("qkv", E, E.X(3)).Bias(true), Linear("proj", E, E).Bias(true)),
		LayerNorm("norm2", E), c.clipMLP("mlp")}
	return Module("visual", NoRole, Conv("patch_embed.proj", c.Size("channels", "in_channels"), E, c.Size("frames", "temporal_patch_size"), side, side).pixels(),
		Stack("blocks", c.Size("N", "depth"), func(int) []Block { return layer }),
		Module("merger", Projector, LayerNorm("ln_q", E), Linear("mlp.0", wide, wide).Bias(true),
			Linear("mlp.2", wide, out).Bias(true)).Seeing(view.Merging(merge*merge))).Seeing(view).InTower("vision")
}

// mllama attends to the images from some of its layers, and cuts an image in
// tiles that all see each other (Dubey et al. 2024, arXiv:2407.21783).
func mllama(c *Config) Model {
	var memory View
	model := c.languageModel("text_config", "", "language_model.model", "language_model.lm_head", func(text *Config) []Block {
		vision := c.part("vision_config")
		memory = vision.image().With(1)
		memory.Tiles = vision.Int("max_num_tiles")
		return []Block{vision.mllamaVision(memory), Linear("multi_modal_projector", vision.Size("O", "vision_output_dim"), text.D).Bias(true).
			As(Projector).Seeing(memory)}
	})
	if model.Memory = &memory; c.Task != BaseModel {
		model.Head[0].Params[0].TiedTo = ""
	}
	return model
}

func (c *Config) mllamaVision(tiles View) Block {
	A, one := c.Size("A", "attention_heads"), Const(1)
	c.heads(A, A, "")
	tokens := c.patchCount().Plus(one)
	ratios := Named("ratios", int64(len(c.Value("supported_aspect_ratios").Array()))+1)
	tile := func(name string) Block {
		return Module(name, PositionEmbedding, Raw("gate", PositionEmbedding, one), Token("embedding", ratios, c.D.Times(Named("tiles", tiles.Tiles))).As(PositionEmbedding))
	}
	layers := func(name, count string, gated bool) Block {
		layer := []Block{LayerNorm("input_layernorm", c.D), AttentionBlock("self_attn", c.sightScores(), Linear("q_proj", c.D, c.Q),
			Linear("k_proj", c.D, c.Q), Linear("v_proj", c.D, c.Q), Linear("o_proj", c.Q, c.D))}
		feedForward := []Block{LayerNorm("post_attention_layernorm", c.D), c.clipMLP("mlp")}
		if gated {
			layer, feedForward = append(layer, Raw("gate_attn", Attention, one)), append(feedForward, Raw("gate_ffn", MLP, one))
		}
		return Stack(name+".layers", c.Size("N", count), func(int) []Block { return slices.Concat(layer, feedForward) })
	}
	padded, patches := tiles, tiles
	padded.Pad, patches.Beside = 8, 0
	return Module("vision_model", NoRole, Raw("class_embedding", PositionEmbedding, c.D), c.patches("patch_embedding").Seeing(patches),
		Module("gated_positional_embedding", PositionEmbedding, Raw("gate", PositionEmbedding, one), Raw("embedding", PositionEmbedding, tokens, c.D),
			Token("tile_embedding", ratios, tokens.Times(c.D).Times(Named("tiles", tiles.Tiles))).As(PositionEmbedding)),
		tile("pre_tile_positional_embedding"), tile("post_tile_positional_embedding"), LayerNorm("layernorm_pre", c.D), LayerNorm("layernorm_post", c.D),
		layers("transformer", "num_hidden_layers", false), layers("global_transformer", "num_global_layers", true)).Seeing(padded).InTower("vision")
}
