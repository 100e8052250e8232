package estimator

import "math/big"

// Towers for images and for text after CLIP's, with other text models, other names
// or more than a comparison.
var dualFamily = []Arch{
	{"siglip2", "Siglip2Model", siglip2},
	{"siglip2_vision_model", "Siglip2VisionModel", func(c *Config) Model { return Model{Body: c.siglip2Vision(), ImageEach: true} }},
	{"aimv2", "Aimv2Model", aimv2},
	{"metaclip_2", "MetaClip2Model", clip},
	{"chinese_clip", "ChineseCLIPModel", chineseCLIP},
	{"chinese_clip_vision_model", "ChineseCLIPVisionModel", func(c *Config) Model { return Model{Body: c.clipVision(preLayrnorm), ImageEach: true} }},
	{"altclip", "AltCLIPModel", altCLIP},
	{"clipseg", "CLIPSegModel", clipSeg},
	{"owlvit", "OwlViTModel", owl},
	{"owlv2", "Owlv2Model", owl},
	{"align", "AlignModel", align},
	{"vision-text-dual-encoder", "VisionTextDualEncoderModel", dualEncoder},
	{"tipsv2", "Tipsv2Model", tips},
	{"tipsv2_vision_model", "Tipsv2VisionModel", func(c *Config) Model { return Model{Body: c.tipsVision(), ImageEach: true} }},
}

// compared projects what two towers give to vectors of P features.
func (c *Config) compared(text *Config, textTower []Block, width Size, vision *Config, tower []Block, scale Block) Model {
	P := c.Size("P", "projection_dim")
	return c.contrastive(textTower, tower, vision.image(), P, scale,
		Linear("visual_projection", vision.D, P).On(PerSequence).As(Projector).Seeing(vision.image()),
		Linear("text_projection", width, P).On(PerSequence).As(Projector))
}

// siglip2 takes an image as a list of flattened patches (Tschannen et al. 2025,
// arXiv:2502.14786).
func siglip2(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	if c.Task == ImageClassification {
		return c.classifiedImages(vision, vision.siglip2Vision(), vision.listOfPatches())
	}
	return c.contrastive(text.siglipText(), vision.siglip2Vision(), vision.listOfPatches(), vision.D,
		Raw("logit_scale", Other, Const(1)), Raw("logit_bias", Other, Const(1)))
}

// listOfPatches sees an image of as many patches as the config has positions for.
func (c *Config) listOfPatches() View {
	side := int64(1)
	for n := c.IntOr("num_patches", 0); (side+1)*(side+1) <= min(n, 1<<24); {
		side++
	}
	patch := c.sides("patch_size")
	return View{Sides: [2]int64{side * patch[0], side * patch[1]}, Patch: patch}
}

func (c *Config) siglip2Vision() []Block {
	side, view := c.Size("P", "patch_size"), c.listOfPatches()
	return c.siglipTower(view, Linear("embeddings.patch_embedding", c.Size("channels", "num_channels").Times(side).Times(side), c.D).Bias(true).As(Convolution).pixels(),
		Position("embeddings.position_embedding", c.Size("patches", "num_patches"), c.D))
}

// aimv2 is Fini et al. 2024, arXiv:2411.14402.
func aimv2(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	tower := append([]Block{Token("embeddings.token_embedding", text.V, text.D), Position("embeddings.position_embedding", text.C, text.D)}, text.aimLayers(View{})...)
	return c.compared(text, tower, text.D, vision, vision.aimVision(), Raw("logit_scale", Other))
}

// chineseCLIP reads text with BERT (Yang et al. 2022, arXiv:2211.01335).
func chineseCLIP(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	return c.compared(text, encoder(text, Encoder{Pooling: NoPool}).Body, text.D, vision, vision.clipVision(preLayrnorm), Raw("logit_scale", Other))
}

// altCLIP reads text with RoBERTa, projected to CLIP's width (Chen et al. 2022,
// arXiv:2211.06679).
func altCLIP(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	width := text.Size("O", "project_dim")
	tower := []Block{Module("roberta", NoRole, encoder(text, Encoder{Pooling: NoPool}).Body...), LayerNorm("pre_LN", text.D),
		Linear("transformation", text.D, width).Bias(true).As(Projector)}
	return c.compared(text, tower, width, vision, vision.clipVision(preLayrnorm), Raw("logit_scale", Other))
}

// clipSeg paints what a text names with a small decoder over CLIP's layers, norms
// behind its blocks (Lüddecke and Ecker 2021, arXiv:2112.10003).
func clipSeg(c *Config) Model {
	model := clip(c)
	if c.Task != ImageSegmentation {
		return model
	}
	vision := c.part("vision_config")
	h, view, P := *vision, vision.image().With(1), c.Size("P", "projection_dim")
	h.D, h.F = c.Size("R", "reduce_dim"), c.Size("Fd", "decoder_intermediate_size")
	h.A = c.Size("Ad", "decoder_num_attention_heads")
	h.heads(h.A, h.A, "")
	depth := Named("taken", int64(len(c.Ints("extract_layers"))))
	patch := vision.image().Patch[0]
	up := Transposed("transposed_convolution", h.D, Const(1), Const(patch), Const(patch)).Bias(true).Seeing(vision.image())
	if c.Bool("use_complex_transposed_convolution") {
		quarter, half := Const(patch/4), c.ratio("R/2", h.D, Const(2))
		up = Module("transposed_convolution", Head, Square("0", h.D, h.D, 3).Bias(true), Transposed("2", h.D, half, quarter, quarter).Bias(true),
			Transposed("4", half, Const(1), quarter, quarter).Bias(true).Seeing(vision.image().Finer(patch/4))).Seeing(vision.image())
	}
	model.Prefix = "clip"
	model.Head = []Block{Module("decoder", Head, Linear("film_mul", P, h.D).Bias(true).On(PerSequence), Linear("film_add", P, h.D).Bias(true).On(PerSequence),
		Stack("reduces", depth, func(int) []Block { return []Block{Linear("", vision.D, h.D).Bias(true)} }),
		Stack("layers", depth, func(int) []Block {
			return []Block{h.clipAttention("self_attn"), LayerNorm("layer_norm1", h.D), h.clipMLP("mlp"), LayerNorm("layer_norm2", h.D)}
		}), up).Seeing(view)}
	return model
}

// owl finds what a text names: each patch is compared with each text, and gives a
// box (Minderer et al. 2022, arXiv:2205.06230; 2023, arXiv:2306.09683).
func owl(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	model := c.compared(text, text.clipText(), text.D, vision, vision.clipVision("pre_layernorm"), Raw("logit_scale", Other))
	if c.Task != ObjectDetection {
		return model
	}
	one := Const(1)
	box := func(name string, out Size) Block {
		return Module(name, Classifier, Linear("dense0", vision.D, vision.D).Bias(true), Linear("dense1", vision.D, vision.D).Bias(true), Linear("dense2", vision.D, out).Bias(true))
	}
	view := vision.image()
	match := Block{Name: "matches", Extra: &Extra{Name: "matches", Sizes: []Size{text.D}, FLOPs: func(p Pass) *big.Int {
		sum := new(big.Int)
		for _, seen := range view.passes(p) {
			sum.Add(sum, product(2, p.Batch, seen.Seq, text.D.Int()))
		}
		return sum
	}}}
	model.Prefix = c.ModelType()
	head := []Block{LayerNorm("layer_norm", vision.D), Module("class_head", Classifier, Linear("dense0", vision.D, text.D).Bias(true),
		Linear("logit_shift", vision.D, one).Bias(true), Linear("logit_scale", vision.D, one).Bias(true)), box("box_head", Const(4))}
	if c.ModelType() == "owlv2" {
		head = append(head, box("objectness_head", one))
	}
	model.Head = append(seen(view, head), match)
	return model
}

// align compares BERT's first token with what EfficientNet gives (Jia et al. 2021,
// arXiv:2102.05918).
func align(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	tower := encoder(text, Encoder{}).Body
	P := c.Size("P", "projection_dim")
	return c.contrastive(tower, vision.efficientBody(), vision.photo(), P, Raw("temperature", Other), Linear("text_projection", text.D, P).Bias(true).On(PerSequence).As(Projector))
}

// dualEncoder puts any two encoders side by side.
func dualEncoder(c *Config) Model {
	text, reader := c.within("text_config")
	vision, viewer := c.within("vision_config")
	return c.compared(text, reader.Body, text.D, vision, viewer.Body, Raw("logit_scale", Other))
}

// tips is Maninis et al. 2024, arXiv:2410.16512: registers beside the patches, and a
// text model without learned positions.
func tips(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	d := ViT{View: View{}, Bias: On, Names: Names{Stack: "transformer.resblocks", Norm1: "ln_1", Attn: "attn", QKV: "in_proj", Out: "out_proj", Norm2: "ln_2",
		MLP: "mlp", Up: "c_fc", Down: "c_proj", Last: "ln_final"}, Packed: true}
	tower := append([]Block{Token("token_embedding", text.V, text.D)}, text.vitBody(d)...)
	model := c.contrastive(tower, vision.tipsVision(), vision.image(), vision.D, Raw("temperature", Other))
	for i, name := range []string{"text_encoder", "vision_encoder"} {
		model.Body[1+i].Name = name
	}
	return model
}

func (c *Config) tipsVision() []Block {
	registers, one := c.Size("registers", "num_register_tokens"), Const(1)
	d := ViT{Beside: 1 + registers.Int(), Width: c.widened(), Names: timmNames(), Scales: [2]string{"ls1.gamma", "ls2.gamma"}}
	d.Names.Up, d.Names.Down = "c_fc", "c_proj"
	if c.Bool("use_swiglu_ffn") {
		d.FusedGate, d.Width = true, c.twoThirds(d.Width)
		d.Names.Up, d.Names.Down = "w12", "w3"
	}
	sub := append([]Block{c.beside("cls_token", one), Raw("mask_token", Other, one, c.D), c.beside("register_tokens", registers),
		c.beside("pos_embed", c.patchCount().Plus(one)), c.patches("patch_embed.proj").Bias(true)}, c.vitBody(d)...)
	return []Block{Module("", NoRole, sub...).Seeing(c.image().With(d.Beside))}
}
