package estimator

import "slices"

// Qwen's language models that see, from 2.5 on, and those in their mould.
var qwenSightFamily = []Arch{
	{"qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", qwen25VL},
	{"qwen2_5_vl_text", "Qwen2_5_VLTextModel", qwen2VLText},
	{"qwen2_5_vl_vision", "Qwen2_5_VisionTransformerPretrainedModel", loneTower((*Config).qwen25Vision)},
	{"qwen3_vl", "Qwen3VLForConditionalGeneration", qwen3VL},
	{"qwen3_vl_text", "Qwen3VLTextModel", func(c *Config) Model { return decoder(c, Decoder{QKNorm: PerHead, MLPBias: Off}) }},
	{"qwen3_vl_vision", "Qwen3VLVisionModel", loneTower((*Config).qwen3Vision)},
	{"qwen3_vl_moe", "Qwen3VLMoeForConditionalGeneration", qwen3VL},
	{"qwen3_vl_moe_text", "Qwen3VLMoeTextModel", qwen3VLMoeText},
	{"qwen3_vl_moe_vision", "Qwen3VLMoeVisionModel", loneTower((*Config).qwen3Vision)},
	{"qwen3_5", "Qwen3_5ForConditionalGeneration", qwen3VL},
	{"qwen3_5_vision", "Qwen3_5VisionModel", loneTower((*Config).qwen3Vision)},
	{"qwen3_5_moe", "Qwen3_5MoeForConditionalGeneration", qwen3VL},
	{"qwen3_5_moe_vision", "Qwen3_5MoeVisionModel", loneTower((*Config).qwen3Vision)},
	{"qwen4_exp", "Qwen4ExpForConditionalGeneration", qwen3VL},
	{"qwen4_exp_vision", "Qwen4ExpVisionModel", loneTower((*Config).qwen3Vision)},
	{"exaone4_5", "Exaone4_5_ForConditionalGeneration", exaone45},
	{"exaone4_5_vision", "Exaone4_5_VisionModel", loneTower((*Config).qwen25Vision)},
	{"hyperclovax_vision_v2", "HyperCLOVAXVisionV2ForConditionalGeneration", hyperCLOVAX},
}

// loneTower is a tower by itself, which always sees images.
func loneTower(tower func(*Config) []Block) func(*Config) Model {
	return func(c *Config) Model { return Model{Body: tower(c), ImageEach: true} }
}

// sightAs is the tower of vision_config under a name.
func (c *Config) sightAs(modelType, name string, tower func(*Config) []Block) (*Config, Block) {
	vision := c.partAs("vision_config", modelType)
	return vision, Module(name, NoRole, tower(vision)...).InTower("vision")
}

// qwen25VL keeps the names of Qwen2-VL's files, which the base class does not have
// (Bai et al. 2025, arXiv:2502.13923).
func qwen25VL(c *Config) Model {
	layout := Layout{"", "model", "lm_head"}
	if c.Task == BaseModel {
		layout.Name = "language_model"
	}
	return c.composed(Composed{Layout: layout, Text: "qwen2_5_vl_text", TextTies: true, Parts: func(*Config) []Block {
		_, tower := c.sightAs("qwen2_5_vl_vision", "visual", (*Config).qwen25Vision)
		return []Block{tower}
	}})
}

// merged is the view of a tower's tokens after so many patches a side became one,
// and how many features the patches have side by side.
func (c *Config) merged() (View, Size) {
	side := c.Int("spatial_merge_size")
	return c.image().Merging(side * side), c.D.X(side * side)
}

// qwen25Vision attends within windows in all layers but a few.
func (c *Config) qwen25Vision() []Block { return c.qwen25VisionAs(blockNames()) }

func (c *Config) qwen25VisionAs(names Names) []Block {
	merged, wide := c.merged()
	whole, side := c.image(), c.Int("spatial_merge_size")
	window := c.Int("window_size") / max(1, side) / max(1, whole.Patch[0]) * side
	full := c.Ints("fullatt_block_indexes")
	merger := Module("merger", Projector, RMSNorm("ln_q", c.D).Seeing(whole), Linear("mlp.0", wide, wide).Bias(true),
		Linear("mlp.2", wide, c.Size("O", "out_hidden_size")).Bias(true)).Seeing(merged)
	return c.towerBlocks(Tower{Names: names, Patch: "patch_embed.proj", BarePatch: true, Norm: RMSNorm, After: []Block{merger},
		Layers: func(i int) View {
			if slices.Contains(full, int64(i)) {
				return whole
			}
			return whole.Cutting(window)
		}})
}

// qwen3VL names the parts after the type (Bai et al. 2025, arXiv:2511.21631).
func qwen3VL(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Text: c.ModelType() + "_text", Parts: func(*Config) []Block {
		_, tower := c.sightAs(c.ModelType()+"_vision", "visual", (*Config).qwen3Vision)
		return []Block{tower}
	}})
}

func qwen3VLMoeText(c *Config) Model {
	return decoder(c, Decoder{QKNorm: PerHead, MLPBias: Off, FFN: c.routed(Routed{Count: "num_experts", Width: "moe_intermediate_size",
		Bias: Off, Packed: c.packed("experts.gate_up_proj", "experts.down_proj")})})
}

// qwen3Vision also hands tokens from within to the first layers of the language
// model, where the config names layers to take them from (DeepStack, Meng et al.
// 2024, arXiv:2406.04334).
func (c *Config) qwen3Vision() []Block {
	merged, wide := c.merged()
	names := blockNames()
	names.Up, names.Down = "linear_fc1", "linear_fc2"
	merger := func(norm Block) []Block {
		return []Block{norm, Linear("linear_fc1", wide, wide).Bias(true), Linear("linear_fc2", wide, c.Size("O", "out_hidden_size")).Bias(true)}
	}
	after := []Block{Module("merger", Projector, merger(LayerNorm("norm", c.D))...).Seeing(merged)}
	if taken := c.Ints("deepstack_visual_indexes"); len(taken) > 0 {
		after = append(after, Module("", Projector, Stack("deepstack_merger_list", Named("taken", int64(len(taken))),
			func(int) []Block { return merger(LayerNorm("norm", wide)) })).Seeing(merged))
	}
	return c.towerBlocks(Tower{Names: names, Patch: "patch_embed.proj", After: after,
		Embed: []Block{Position("pos_embed", c.Size("C", "num_position_embeddings"), c.D)}})
}

// exaone45 has Qwen2.5-VL's tower, with fewer heads of keys than of queries.
func exaone45(c *Config) Model {
	return c.composed(Composed{Layout: newLayout, Parts: func(*Config) []Block {
		_, tower := c.sightAs("exaone4_5_vision", "visual", (*Config).qwen25Vision)
		return []Block{tower}
	}})
}

// hyperCLOVAX projects the tokens of a tower once more.
func hyperCLOVAX(c *Config) Model {
	return c.composed(Composed{Layout: Layout{"model", "language_model", "model.language_model.lm_head"}, Parts: func(text *Config) []Block {
		vision, tower := c.sight("vision_config", "vision_model")
		merged, _ := vision.merged()
		name := "vision_projector"
		if c.Task == BaseModel {
			name = "projector"
		}
		return []Block{tower, Linear(name, vision.Size("O", "out_hidden_size"), text.D).Bias(true).As(Projector).Seeing(merged)}
	}})
}
