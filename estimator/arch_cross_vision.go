package estimator

import (
	"math/big"
	"slices"
)

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
		return []Block{Linear("vision_embed_tokens", patch, text.D).Bias(true).As(Projector).pixels().Seeing(c.image()).InTower("vision")}
	})
}

// git is a causal BERT that reads the tokens of CLIP's image encoder before its
// own (Wang et al. 2022, arXiv:2205.14100).
func git(c *Config) Model {
	vision := c.part("vision_config")
	tower := Module("image_encoder.vision_model", NoRole, vision.clipVision(preLayrnorm)...).InTower("vision")
	lead := []Block{tower, Module("visual_projection.visual_projection", Projector,
		Linear("0", vision.D, c.D).Bias(true), LayerNorm("1", c.D)).Seeing(vision.image().With(1))}
	if frames := c.SizeOr("frames", "num_image_with_embedding", Size{}); !frames.IsZero() {
		lead = append(lead, Stack("img_temporal_embedding", frames, func(int) []Block {
			return []Block{Raw("", PositionEmbedding, Const(1), Const(1), vision.D)}
		}))
	}
	return encoder(c, Encoder{Lead: lead, NoSegments: true, Causal: true, Pooling: NoPool, LM: func(embedding string) []Block {
		return []Block{Linear("output", c.D, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head)}
	}})
}

// gotOCR2 reads pages through SAM's image encoder, whose convolutions shrink the
// grid to few tokens (Wei et al. 2024, arXiv:2409.01704).
func gotOCR2(c *Config) Model {
	return c.languageModel("text_config", "", "language_model.model", "language_model.lm_head", func(text *Config) []Block {
		vision := c.part("vision_config")
		O, three, view := vision.Size("O", "output_channels"), Const(3), vision.image()
		return []Block{vision.samTower("vision_tower", O), Module("multi_modal_projector", Projector,
			Conv("conv_upsampler1", O, O.X(2), three, three).Seeing(view.Merging(4)), Conv("conv_upsampler2", O.X(2), text.D, three, three),
			Linear("multimodal_projector", text.D, text.D).Bias(true)).Seeing(view.Merging(16))}
	})
}

// samTower is the image encoder of Segment Anything (Kirillov et al. 2023,
// arXiv:2304.02643): attention within windows but in a few layers, with relative
// positions by row and by column, and a neck of convolutions.
func (c *Config) samTower(name string, O Size) Block {
	view := c.image()
	grid, _ := view.grid()
	G, F, one, three := Named("G", grid), c.Size("F", "mlp_dim"), Const(1), Const(3)
	global := c.Ints("global_attn_indexes")
	layer := func(i int) []Block {
		side := c.Int("window_size")
		if slices.Contains(global, int64(i)) {
			side = 0
		}
		seen := view.Within(side)
		attention := AttentionBlock("attn", c.sightScores(), Linear("qkv", c.D, c.D.X(3)).Bias(c.Bool("qkv_bias")), Linear("proj", c.D, c.D).Bias(true))
		if c.Bool("use_rel_pos") {
			if side == 0 {
				side = grid
			}
			rows := Const(2*side - 1)
			attention.Sub = append(attention.Sub, Raw("rel_pos_h", PositionEmbedding, rows, c.H), Raw("rel_pos_w", PositionEmbedding, rows, c.H))
			attention.Extra = relativeByAxis(c.A, c.H)
		}
		return []Block{LayerNorm("layer_norm1", c.D), attention.Seeing(seen), LayerNorm("layer_norm2", c.D),
			MLPBlock("mlp", Linear("lin1", c.D, F).Bias(true), Linear("lin2", F, c.D).Bias(true))}
	}
	sub := []Block{c.patches("patch_embed.projection").Bias(true)}
	if c.Bool("use_abs_pos") {
		sub = append(sub, Raw("pos_embed", PositionEmbedding, one, G, G, c.D))
	}
	return Module(name, NoRole, append(sub, Stack("layers", c.N, layer),
		Module("neck", Convolution, Conv("conv1", c.D, O, one, one), LayerNorm("layer_norm1", O), Conv("conv2", O, O, three, three), LayerNorm("layer_norm2", O)))...).Seeing(view).InTower("vision")
}

// relativeByAxis is each query times the positions of all rows and of all columns
// of a square of tokens.
func relativeByAxis(A, H Size) *Extra {
	return &Extra{Name: "relative positions", Sizes: []Size{A, H}, FLOPs: func(p Pass) *big.Int {
		side := new(big.Int).Sqrt(big.NewInt(p.Seq))
		return side.Mul(side, product(4, p.Batch, A.Int(), p.Seq, H.Int()))
	}}
}
