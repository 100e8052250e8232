package estimator

import "slices"

// Models that see images or videos and write no text.
var visionFamily = slices.Concat(vitFamily, dualFamily, videoFamily, pyramidFamily, detectionFamily, segmentFamily, mixedFamily)

// Encoders of images alone, after ViT.
var vitFamily = []Arch{
	{"vit", "ViTModel", vit},
	{"deit", "DeiTModel", deit},
	{"ijepa", "IJepaModel", ijepa},
	{"vit_msn", "ViTMSNModel", func(c *Config) Model {
		return vision(c, ViT{Prefix: "vit", Beside: 1, Embed: c.vitEmbeddings()}, c.classified(c.D)...)
	}},
	{"vit_mae", "ViTMAEModel", vitMAE},
	{"beit", "BeitModel", func(c *Config) Model { return beit(c, "beit") }},
	{"data2vec-vision", "Data2VecVisionModel", func(c *Config) Model { return beit(c, "data2vec_vision") }},
	{"dinov2", "Dinov2Model", func(c *Config) Model { return dinov2(c, 0) }},
	{"dinov2_with_registers", "Dinov2WithRegistersModel", func(c *Config) Model { return dinov2(c, c.Int("num_register_tokens")) }},
	{"dinov3_vit", "DINOv3ViTModel", dinov3},
	{"pixio", "PixioModel", pixio},
	{"yolos", "YolosModel", yolos},
	{"vitdet", "VitDetModel", vitdet},
	{"radio", "RadioModel", radio},
	{"mlcd_vision_model", "MLCDVisionModel", mlcd},
	{"aimv2_vision_model", "Aimv2VisionModel", func(c *Config) Model { return Model{Body: c.aimVision(), ImageEach: true} }},
}

// vit is BERT's encoder on the patches of an image and a token for its class
// (Dosovitskiy et al. 2020, arXiv:2010.11929).
func vit(c *Config) Model {
	head := c.classified(c.D)
	embeddings := c.vitEmbeddings()
	if c.Task == MaskedImageModeling {
		embeddings, head = append(embeddings, c.beside("mask_token", Const(1))), c.pixelDecoder(c.D)
	}
	return vision(c, ViT{Beside: 1, Embed: embeddings}, head...).pooled(c.pooledFirst()...)
}

// pooled adds what makes one vector of an image to the body.
func (m Model) pooled(pooler ...Block) Model {
	body := m.Body[0]
	body.Sub = append(body.Sub, pooler...)
	m.Body = []Block{body}
	return m
}

// pixelDecoder makes pixels of each token again.
func (c *Config) pixelDecoder(d Size) []Block {
	side := c.Size("stride", "encoder_stride")
	return []Block{Conv("decoder.0", d, side.Times(side).Times(c.Size("channels", "num_channels")), Const(1), Const(1)).Bias(true).As(Head).Seeing(c.image())}
}

// deit has a second token, which learns from a teacher (Touvron et al. 2020,
// arXiv:2012.12877).
func deit(c *Config) Model {
	two := Const(2)
	embeddings := []Block{c.beside("cls_token", Const(1)), c.beside("distillation_token", Const(1)),
		c.places(c.patchCount().Plus(two)), c.patches("patch_embeddings.projection").Bias(true)}
	head := c.classified(c.D)
	switch c.Task {
	case TaughtClassification:
		head = []Block{c.labelled("cls_classifier", c.D), c.labelled("distillation_classifier", c.D)}
	case MaskedImageModeling:
		embeddings, head = append(embeddings, c.beside("mask_token", Const(1))), c.pixelDecoder(c.D)
	}
	return vision(c, ViT{Beside: 2, Embed: embeddings}, head...).pooled(c.pooledFirst()...)
}

// ijepa has patches alone (Assran et al. 2023, arXiv:2301.08243).
func ijepa(c *Config) Model {
	return vision(c, ViT{Embed: []Block{c.places(c.patchCount()), c.patches("patch_embeddings.projection").Bias(true)}}, c.classified(c.D)...)
}

// vitMAE sees a quarter of the patches, and a small decoder paints the others (He
// et al. 2021, arXiv:2111.06377).
func vitMAE(c *Config) Model {
	view, all := c.image().With(1), c.image().With(1)
	view.Keep = 1 - c.Float("mask_ratio", 0.75)
	if c.Task != PreTraining {
		return vision(c, ViT{Prefix: "vit", View: view, Embed: c.vitEmbeddings()}, c.classified(c.D)...)
	}
	h, side, one := c.decoding(), c.Size("P", "patch_size"), Const(1)
	decoder := []Block{Linear("decoder_embed", c.D, h.D).Bias(true).As(Projector).Seeing(view), Raw("mask_token", Other, one, one, h.D),
		Raw("decoder_pos_embed", PositionEmbedding, one, c.patchCount().Plus(one), h.D)}
	decoder = append(decoder, h.vitBody(ViT{Names: Names{Stack: "decoder_layers", Last: "decoder_norm"}, View: all})...)
	decoder = append(decoder, Linear("decoder_pred", h.D, side.Times(side).Times(c.Size("channels", "num_channels"))).Bias(true).As(Head))
	return vision(c, ViT{Prefix: "vit", View: view, Embed: c.vitEmbeddings()}, Module("decoder", NoRole, decoder...).Seeing(all))
}

// decoding returns the config with the sizes of the small decoder beside.
func (c *Config) decoding() *Config {
	h := *c
	h.D, h.N, h.F = c.Size("Dd", "decoder_hidden_size"), c.Size("Nd", "decoder_num_hidden_layers"), c.Size("Fd", "decoder_intermediate_size")
	heads := c.Size("Ad", "decoder_num_attention_heads")
	h.heads(heads, heads, "")
	return &h
}

// beit scales what its blocks give, and knows places by their distance, each layer
// for itself or all together (Bao et al. 2021, arXiv:2106.08254).
func beit(c *Config, prefix string) Model {
	embeddings := []Block{c.beside("cls_token", Const(1)), c.patches("patch_embeddings.projection").Bias(true)}
	if c.Bool("use_mask_token") {
		embeddings = append(embeddings, c.beside("mask_token", Const(1)))
	}
	if c.Bool("use_absolute_position_embeddings") {
		embeddings = append(embeddings, c.places(c.patchCount().Plus(Const(1))))
	}
	d := ViT{Prefix: prefix, Beside: 1, Embed: embeddings, Bias: On, NoKeyBias: true, NoLast: c.Bool("use_mean_pooling")}
	if c.Float("layer_scale_init_value", 0.1) > 0 {
		d.Scales = [2]string{"lambda_1", "lambda_2"}
	}
	if c.Bool("use_shared_relative_position_bias") {
		d.Lead = []Block{c.distances("encoder.relative_position_bias.relative_position_bias_table")}
	}
	if c.Bool("use_relative_position_bias") {
		d.Within = func(int) []Block {
			return []Block{c.distances("attention.relative_position_bias.relative_position_bias_table")}
		}
	}
	head := c.classified(c.D)
	if c.Task == MaskedImageModeling {
		head = []Block{LayerNorm("layernorm", c.D), Linear("lm_head", c.D, c.V).Bias(true).As(Head).Seeing(c.image())}
	}
	model := vision(c, d, head...)
	if d.NoLast && (c.Task == BaseModel && prefix == "beit" || c.Task == ImageClassification) {
		model = model.pooled(LayerNorm("pooler.layernorm", c.D))
	}
	return model
}

// distances is a learned bias for each pair of distances between patches, and
// three for the class token.
func (c *Config) distances(name string) Block {
	v := c.image()
	rows, columns := v.grid()
	return Raw(name, PositionEmbedding, Named("distances", (2*rows-1)*(2*columns-1)+3), c.A)
}

// dinov2 scales what its blocks give, and may gate its MLP (Oquab et al. 2023,
// arXiv:2304.07193); with registers, tokens to keep notes in (Darcet et al. 2023,
// arXiv:2309.16588).
func dinov2(c *Config, registers int64) Model {
	d := ViT{Beside: 1 + registers, Width: c.widened(), Scales: [2]string{"layer_scale1.lambda1", "layer_scale2.lambda1"},
		Names: Names{Norm1: "norm1", Norm2: "norm2", MLP: "mlp", Up: "fc1", Down: "fc2"}, Embed: c.vitEmbeddings()}
	if c.BoolOr("use_mask_token", true) {
		d.Embed = append(d.Embed, Raw("mask_token", Other, Const(1), c.D))
	}
	if c.Declares("num_register_tokens") {
		d.Embed = append(d.Embed, c.beside("register_tokens", Named("registers", registers)))
	}
	if c.Bool("use_swiglu_ffn") {
		d.FusedGate, d.Width = true, c.twoThirds(d.Width)
		d.Names.Up, d.Names.Down = "weights_in", "weights_out"
	}
	return vision(c, d, c.classified(c.D.X(2))...)
}

// twoThirds is the width of a gated MLP with as many parameters as a plain one, in
// eights.
func (c *Config) twoThirds(width Size) Size {
	return Named("F", (int64(float64(width.Int()*2)/3)+7)/8*8)
}

// dinov3 knows places by rotation (Siméoni et al. 2025, arXiv:2508.10104).
func dinov3(c *Config) Model {
	registers, one := c.Size("registers", "num_register_tokens"), Const(1)
	q, k, v, out := c.Bool("query_bias"), c.Bool("key_bias"), c.Bool("value_bias"), c.Bool("proj_bias")
	d := ViT{Beside: 1 + registers.Int(), MLPBare: !c.Bool("mlp_bias"), Scales: [2]string{"layer_scale1.lambda1", "layer_scale2.lambda1"}, Bias: Off, OutBare: !out,
		Names: Names{Stack: "layer", Norm1: "norm1", QKV: "q_proj k_proj v_proj", Out: "o_proj", Norm2: "norm2", MLP: "mlp", Up: "up_proj", Down: "down_proj", Last: "norm"},
		Embed: []Block{c.beside("cls_token", one), c.beside("mask_token", one), c.beside("register_tokens", registers), c.patches("patch_embeddings").Bias(true)},
		Within: func(int) []Block {
			return []Block{Biases(q, c.Q, "q_proj"), Biases(k, c.Q, "k_proj"), Biases(v, c.Q, "v_proj")}
		}}
	if c.Bool("use_gated_mlp") {
		d.Names.Up = "gate_proj up_proj"
	}
	return vision(c, d)
}

// pixio is a masked autoencoder's encoder with several class tokens (Yang et al.
// 2025, arXiv:2512.15715).
func pixio(c *Config) Model {
	tokens := c.Size("classes", "n_cls_tokens")
	return vision(c, ViT{Beside: tokens.Int(), Width: c.widened(), Names: Names{Norm1: "norm1", Norm2: "norm2"},
		Embed: []Block{c.beside("cls_token", tokens), c.places(c.patchCount().Plus(tokens)), c.patches("patch_embeddings.projection").Bias(true)}})
}

// yolos reads boxes off a hundred tokens beside the patches (Fang et al. 2021,
// arXiv:2106.00666). Positions are added again before each layer.
func yolos(c *Config) Model {
	found, one := c.Size("boxes", "num_detection_tokens"), Const(1)
	view := c.image().With(1 + found.Int())
	tokens := c.patchCount().Plus(found).Plus(one)
	d := ViT{Prefix: "vit", View: view, Embed: []Block{c.beside("cls_token", one), c.beside("detection_tokens", found), c.places(tokens),
		c.patches("patch_embeddings.projection").Bias(true)}}
	if c.Bool("use_mid_position_embeddings") {
		d.Lead = []Block{Raw("encoder.mid_position_embeddings", PositionEmbedding, Named("N−1", max(0, c.N.Int()-1)), one, tokens, c.D)}
	}
	var head []Block
	if c.Task == ObjectDetection {
		head = []Block{c.perceptron("class_labels_classifier", c.D, c.D, c.D, Named("labels", c.NumLabels()+1)), c.perceptron("bbox_predictor", c.D, c.D, c.D, Const(4))}
	}
	return vision(c, d, seen(view.Asked(found.Int()), head)...).pooled(c.pooledFirst()...)
}

// perceptron is a chain of linears through these widths.
func (c *Config) perceptron(name string, widths ...Size) Block {
	n := int64(len(widths) - 1)
	return Module(name, Classifier, Stack("layers", Const(n), func(i int) []Block { return []Block{Linear("", widths[i], widths[i+1]).Bias(true)} }))
}

// vitdet attends within windows in most layers, and may add a bottleneck of
// convolutions (Li et al. 2022, arXiv:2203.16527).
func vitdet(c *Config) Model {
	view, seen, half := c.image(), View{Sides: c.sides("pretrain_image_size"), Patch: c.sides("patch_size")}, c.ratio("D/2", c.D, Const(2))
	rows, columns := seen.grid()
	window := func(i int) int64 { return c.listed("window_block_indices", i) * c.IntOr("window_size", 0) }
	d := ViT{View: view, Width: c.widened(), NoLast: true, Embed: []Block{c.patches("projection").Bias(true)}, Window: window,
		Names: Names{Norm1: "norm1", QKV: "qkv", Out: "proj", Norm2: "norm2", MLP: "mlp", Up: "fc1", Down: "fc2"}}
	if c.Bool("use_absolute_position_embeddings") {
		d.Embed = append(d.Embed, c.places(Named("patches", rows*columns).Plus(Const(1))))
	}
	if c.Bool("use_relative_position_embeddings") {
		d.Within = func(i int) []Block { return c.decomposed(&view, window(i), c.A, c.H) }
	}
	d.After = func(i int) []Block {
		if c.listed("residual_block_indices", i) == 0 {
			return nil
		}
		three := Const(3)
		return []Block{Module("residual", Convolution, Conv("conv1", c.D, half, Const(1), Const(1)), LayerNorm("norm1", half), Conv("conv2", half, half, three, three),
			LayerNorm("norm2", half), Conv("conv3", half, c.D, Const(1), Const(1)), LayerNorm("norm3", c.D))}
	}
	return vision(c, d)
}

// listed is 1 where the list has the layer, else 0.
func (c *Config) listed(field string, i int) int64 {
	for _, n := range c.Ints(field) {
		if n == int64(i) {
			return 1
		}
	}
	return 0
}

// radio is distilled from several teachers, each with a class token (Ranzinger et
// al. 2023, arXiv:2312.06709).
func radio(c *Config) Model {
	tokens, side, channels := c.Int("num_cls_tokens")+c.Int("num_registers"), c.Size("P", "patch_size"), c.Size("channels", "num_channels")
	patch, rows := side.Times(side).Times(channels), c.Int("max_img_size")/max(1, side.Int())
	embed := []Block{Raw("cls_token.token", PositionEmbedding, Named("summaries", tokens), c.D), Linear("embedder", patch, c.D).As(Convolution).pixels().Seeing(c.image()),
		Raw("pos_embed", PositionEmbedding, Const(1), Named("C", rows*rows), c.D)}
	if n, ok := c.Nullable("video_temporal_patch_size"); ok {
		embed = append(embed, Linear("video_embedder", patch.Times(Named("frames", n)), c.D).idle().As(Convolution))
	}
	d := ViT{View: c.image().With(tokens), Width: c.widened(), Names: timmNames(), NoLast: true, Scales: [2]string{"layer_scale1.lambda1", "layer_scale2.lambda1"}}
	if c.Bool("use_swiglu_ffn") {
		d.Width, d.Names.Up, d.Names.Down = c.twoThirds(d.Width), "gate_proj up_proj", "down_proj"
	}
	summaries := int64(2)
	if list := c.Ints("summary_idxs"); len(list) > 0 {
		summaries = int64(len(list))
	}
	body := []Block{Module("model.patch_generator", NoRole, embed...), Module("model", NoRole, c.vitBody(d)...), Buffer("input_conditioner.norm_mean", channels, Const(1), Const(1)),
		Buffer("input_conditioner.norm_std", channels, Const(1), Const(1)), Buffer("summary_idxs", Named("summaries", summaries)).Typed("I64")}
	return Model{Prefix: "radio_model", ImageEach: true, Body: []Block{Module("", NoRole, body...).Seeing(d.View)}}
}

// mlcd is CLIP's tower with rotary positions (An et al. 2024, arXiv:2407.17331).
func mlcd(c *Config) Model {
	half := c.ratio("H/2", c.H, Const(2))
	return Model{ImageEach: true, Body: []Block{Module("", NoRole, Raw("embeddings.class_embedding", PositionEmbedding, c.D), c.patches("embeddings.patch_embedding"),
		Raw("class_pos_emb", PositionEmbedding, Const(1), half), LayerNorm("pre_layrnorm", c.D), c.clipLayers("encoder.layers")[0],
		LayerNorm("post_layernorm", c.D)).Seeing(c.image().With(1))}}
}

// aimVision is the tower of AIMv2 (Fini et al. 2024, arXiv:2411.14402): gated MLPs,
// and attention of one query over all patches at the end.
func (c *Config) aimVision() []Block {
	positions := []Block{Position("embeddings.position_embedding", c.patchCount(), c.D)}
	if c.Bool("is_native") {
		positions = nil
	}
	embed := append([]Block{c.patches("embeddings.patch_embed").Bias(true), RMSNorm("embeddings.rms_norm", c.D)}, positions...)
	sub := append(embed, c.aimLayers(c.image())...)
	if c.BoolOr("use_head", true) {
		scores, one := c.sightScores(), Const(1)
		scores.Cross = true
		sub = append(sub, AttentionBlock("head", scores, Raw("cls_token", Pooler, one, one, c.D), Linear("k_proj", c.D, c.D).Bias(c.Bool("qkv_bias")).On(PerMemory),
			Linear("v_proj", c.D, c.D).Bias(c.Bool("qkv_bias")).On(PerMemory), Linear("output_proj", c.D, c.D).Bias(true)).As(Pooler).Seeing(c.image().Asked(1)))
	}
	return []Block{Module("", NoRole, sub...).Seeing(c.image())}
}

// aimLayers are the layers of both of AIMv2's towers and their last norm.
func (c *Config) aimLayers(view View) []Block {
	return c.vitBody(ViT{View: view, Norm: RMSNorm, MLPBare: !c.Bool("mlp_bias"), OutBare: !c.Bool("qkv_bias"),
		Names: Names{Stack: "encoder.layers", Norm1: "rms_norm1", QKV: "q_proj k_proj v_proj", Out: "out_proj", Norm2: "rms_norm2", MLP: "ffn", Up: "gate_proj up_proj", Down: "down_proj", Last: "rms_norm"}})
}
