package estimator

// Encoders of videos. What is shown to them as one image is a clip of all frames.
var videoFamily = []Arch{
	{"videomae", "VideoMAEModel", videoMAE},
	{"timesformer", "TimesformerModel", timeSformer},
	{"vivit", "VivitModel", vivit},
	{"vjepa2", "VJEPA2Model", vJEPA2},
	{"videoprism_vision_model", "VideoPrismVisionModel", func(c *Config) Model { return Model{Body: c.prismVision(), ImageEach: true} }},
	{"videoprism", "VideoPrismClipModel", videoPrism},
	{"xclip", "XCLIPModel", xCLIP},
}

// tubelets is the convolution that makes a token of patches of several frames.
func (c *Config) tubelets(name, channels string, frames, rows, columns int64) Block {
	return Conv(name, c.Size("channels", channels), c.D, Named("T", frames), Named("P", rows), Named("P", columns)).Bias(true).pixels()
}

// classifiedVideo is the classifier where the class has one.
func (c *Config) classifiedVideo() []Block {
	if c.Task != VideoClassification {
		return nil
	}
	return []Block{c.labelled("classifier", c.D)}
}

// videoMAE sees a tenth of the patches when it is trained, the same of each frame,
// and a small decoder paints the others (Tong et al. 2022, arXiv:2203.12602).
func videoMAE(c *Config) Model {
	patch, tube := c.sides("patch_size"), max(1, c.Int("tubelet_size"))
	view := c.image().Film(c.Int("num_frames") / tube)
	all, bias := view, c.Bool("qv_bias")
	d := ViT{View: view, Embed: []Block{c.tubelets("patch_embeddings.projection", "num_channels", tube, patch[0], patch[1]).Seeing(all)}, NoLast: c.Bool("use_mean_pooling"), Bias: Off}
	d.Within = func(int) []Block {
		if !bias {
			return nil
		}
		return []Block{rawBias("attention.q_bias", c.Q), rawBias("attention.v_bias", c.Q)}
	}
	if c.Task != PreTraining {
		model := vision(c, d, c.classifiedVideo()...)
		if c.Task == VideoClassification && d.NoLast {
			model.Head = append(seen(view, []Block{LayerNorm("fc_norm", c.D)}), model.Head...)
		}
		return model
	}
	rows, columns := view.grid()
	d.View.Keep = float64(rows*columns-int64(0.9*float64(rows*columns))) / float64(max(1, rows*columns))
	h, one := c.decoding(), Const(1)
	e := ViT{View: all, Names: Names{Stack: "decoder_layers", Last: "norm"}, Bias: Off, Within: func(int) []Block {
		if !bias {
			return nil
		}
		return []Block{rawBias("attention.q_bias", h.Q), rawBias("attention.v_bias", h.Q)}
	}}
	masked := all
	masked.Keep = 1 - d.View.Keep
	decoder := h.vitBody(e)
	return vision(c, d, Linear("encoder_to_decoder", c.D, h.D).As(Projector).Seeing(d.View), Raw("mask_token", Other, one, one, h.D),
		Module("decoder", NoRole, append(decoder, Linear("head", h.D, c.Size("channels", "num_channels").X(tube*patch[0]*patch[1])).Bias(true).As(Head).Seeing(masked))...).Seeing(all))
}

// timeSformer attends over time and over space in turn, or jointly (Bertasius et
// al. 2021, arXiv:2102.05095).
func timeSformer(c *Config) Model {
	kind, one, bias := c.String("attention_type"), Const(1), c.Bool("qkv_bias")
	film := c.image().Film(c.Int("num_frames")).With(1)
	space, patches := film.Ordered(Apart), film
	patches.Beside = 0
	embed := []Block{c.beside("cls_token", one), c.places(c.patchCount().Plus(one)), c.patches("patch_embeddings.projection").Bias(true).Seeing(patches)}
	if kind != "space_only" {
		embed = append(embed, c.beside("time_embeddings", c.Size("T", "num_frames")))
	}
	attention := func(name string) Block {
		return AttentionBlock(name, c.sightScores(), Linear("attention.qkv", c.D, c.D.X(3)).Bias(bias), Linear("output.dense", c.D, c.D).Bias(true))
	}
	layer := []Block{LayerNorm("layernorm_before", c.D), attention("attention"), LayerNorm("layernorm_after", c.D),
		MLPBlock("", Linear("intermediate.dense", c.D, c.F).Bias(true), Linear("output.dense", c.F, c.D).Bias(true))}
	view := film
	switch kind {
	case "divided_space_time":
		time := patches.Ordered(Across)
		layer[1] = layer[1].Seeing(space)
		layer = append([]Block{LayerNorm("temporal_layernorm", c.D), attention("temporal_attention").Seeing(time),
			Linear("temporal_dense", c.D, c.D).Bias(true).As(Attention).Seeing(patches)}, layer...)
	case "space_only":
		view = space
	}
	body := []Block{Module("embeddings", NoRole, embed...), Stack("encoder.layer", c.N, func(int) []Block { return layer }), LayerNorm("layernorm", c.D)}
	return Model{Prefix: c.under("timesformer"), Body: []Block{Module("", NoRole, body...).Seeing(view)}, Head: seen(film, c.classifiedVideo()), ImageEach: true}
}

// vivit is ViT on tubes of patches (Arnab et al. 2021, arXiv:2103.15691).
func vivit(c *Config) Model {
	tube, one := c.tube("tubelet_size"), Const(1)
	patches := View{Sides: c.sides("image_size"), Patch: [2]int64{tube[1], tube[2]}}.Film(c.Int("num_frames") / max(1, tube[0]))
	rows, columns := patches.grid()
	places := Named("patches", rows*columns*patches.Frames).Plus(one)
	return vision(c, ViT{View: patches.With(1), Embed: []Block{c.beside("cls_token", one), c.places(places),
		c.tubelets("patch_embeddings.projection", "num_channels", tube[0], tube[1], tube[2]).Seeing(patches)}}, c.classifiedVideo()...).pooled(c.pooledFirst()...)
}

// tube reads frames, rows and columns of a patch.
func (c *Config) tube(field string) [3]int64 {
	if list := c.Ints(field); len(list) == 3 {
		return [3]int64(list)
	}
	return [3]int64{1, 1, 1}
}

// vJEPA2 predicts what it encodes of masked patches from that of others, by default
// of all from all (Assran et al. 2025, arXiv:2506.09985).
func vJEPA2(c *Config) Model {
	tube, side, patch := max(1, c.Int("tubelet_size")), c.Int("crop_size"), c.sides("patch_size")
	view := View{Sides: [2]int64{side, side}, Patch: patch}.Film(c.Int("frames_per_clip") / tube)
	names := Names{Stack: "layer", Norm1: "norm1", QKV: "query key value", Out: "proj", Norm2: "norm2", MLP: "mlp", Up: "fc1", Down: "fc2"}
	encoder := append([]Block{c.tubelets("embeddings.patch_embeddings.proj", "in_chans", tube, patch[0], patch[1])}, c.vitBody(ViT{View: view, Names: names, Width: c.widened()})...)
	h, twice := *c, view
	twice.Frames *= 2
	h.D, h.N = c.Size("Dp", "pred_hidden_size"), c.Size("Np", "pred_num_hidden_layers")
	heads := c.Size("Ap", "pred_num_attention_heads")
	h.heads(heads, heads, "")
	width := c.named("Fp", "pred_mlp_ratio", int64(float64(h.D.Int())*c.Float("pred_mlp_ratio", 4)))
	predictor := append([]Block{Raw("embeddings.mask_tokens", Other, c.Size("masks", "pred_num_mask_tokens"), Const(1), Const(1), h.D),
		Linear("embeddings.predictor_embeddings", c.D, h.D).Bias(true).As(Projector).Seeing(view)}, h.vitBody(ViT{View: twice, Names: names, Width: width})...)
	second := Module("predictor", NoRole, append(predictor, Linear("proj", h.D, c.D).Bias(true).As(Projector).Seeing(view))...).Seeing(twice)
	model := Model{Prefix: c.under("vjepa2"), ImageEach: true, Body: []Block{Module("encoder", NoRole, encoder...).Seeing(view), second}}
	if c.Task == VideoClassification {
		model.Body[1] = second.idle()
		model.Head = []Block{c.jepaPooler(view), c.labelled("classifier", c.D).Seeing(view)}
	}
	return model
}

// jepaPooler is some layers over all tokens and a learned query that attends to
// what they give.
func (c *Config) jepaPooler(view View) Block {
	scores, F := c.sightScores(), c.D.X(4)
	scores.Cross = true
	mlp := MLPBlock("mlp", Linear("fc1", c.D, F).Bias(true), Linear("fc2", F, c.D).Bias(true))
	cross := AttentionBlock("cross_attn", scores, Linear("q_proj", c.D, c.D).Bias(true), Linear("k_proj", c.D, c.D).Bias(true).On(PerMemory), Linear("v_proj", c.D, c.D).Bias(true).On(PerMemory))
	return Module("pooler", Pooler, Raw("query_tokens", Pooler, Const(1), Const(1), c.D), Stack("self_attention_layers", c.Size("layers", "num_pooler_layers"), func(int) []Block {
		return []Block{LayerNorm("layer_norm1", c.D), c.clipAttention("self_attn"), LayerNorm("layer_norm2", c.D), mlp}
	}), Module("cross_attention_layer", Pooler, LayerNorm("layer_norm1", c.D), cross, LayerNorm("layer_norm2", c.D), mlp).Seeing(view.Asked(1))).Seeing(view)
}

// prismLayers are those of VideoPrism's towers.
func (c *Config) prismLayers(name, count string) Block {
	d := c.patched(ViT{Names: Names{QKV: "q_proj k_proj v_proj", Out: "o_proj", MLP: "mlp", Up: "fc1", Down: "fc2"}})
	return Stack(name, c.Size("N", count), func(i int) []Block { return c.vitLayer(d, i) })
}

// prismVision encodes each frame, then each place over time (Zhao et al. 2024,
// arXiv:2402.13217).
func (c *Config) prismVision() []Block {
	film := c.prismFilm()
	rows, columns := film.grid()
	tube := c.tube("tubelet_size")
	return []Block{Module("", NoRole, c.beside("spatial_embeddings.position_embeddings", Named("patches", rows*columns)),
		c.tubelets("spatial_embeddings.patch_embeddings.projection", "num_channels", tube[0], tube[1], tube[2]),
		c.prismLayers("spatial_layers", "num_spatial_layers").Seeing(film.Ordered(Apart)), LayerNorm("layernorm1", c.D),
		c.beside("temporal_embeddings.position_embeddings", c.Size("T", "num_frames")),
		c.prismLayers("temporal_layers", "num_temporal_layers").Seeing(film.Ordered(Across)), LayerNorm("layernorm2", c.D)).Seeing(film)}
}

func (c *Config) prismFilm() View {
	tube := c.tube("tubelet_size")
	return View{Sides: c.sides("image_size"), Patch: [2]int64{tube[1], tube[2]}}.Film(c.Int("num_frames") / max(1, tube[0]))
}

// videoPrism compares a video with a text, whose class token stands at its end.
func videoPrism(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	film := vision.prismFilm()
	H := vision.ratio("Hp", vision.F, vision.A)
	wide, bias := vision.A.Times(H), vision.Bool("qkv_bias")
	scores := GQA(vision.A, vision.A, H, 0)
	scores.Bidirected, scores.Cross = true, true
	head := AttentionBlock("head", scores, Raw("per_dim_scale", Attention, H), Raw("pooling_attention_query", Attention, Const(1), Const(1), vision.D), Linear("q_proj", vision.D, wide).Bias(bias),
		Linear("k_proj", vision.D, wide).Bias(bias).On(PerMemory), Linear("v_proj", vision.D, wide).Bias(bias).On(PerMemory), Linear("o_proj", wide, vision.D).Bias(true)).Seeing(film.Asked(1))
	tower := []Block{Module("vision_model", NoRole, vision.prismVision()...), vision.prismLayers("auxiliary_layers", "num_auxiliary_layers").Seeing(film), head, LayerNorm("head_layernorm", vision.D)}
	reader := []Block{Token("embeddings.token_embedding", text.V, text.D), Buffer("embeddings.position_embedding", text.C, text.D),
		Buffer("embeddings.position_ids", Const(1), text.C).Typed("I64"), text.beside("embeddings.cls_emb", Const(1)), text.prismLayers("layers", "num_hidden_layers"), LayerNorm("layernorm", text.D)}
	model := c.contrastive(reader, tower, film, vision.D)
	model.Body[1].Name, model.FLOPsByRule = "video_model", true
	return model
}

// xCLIP lets the frames of a video exchange messages, and gives a text prompts of
// what is seen (Ni et al. 2022, arXiv:2208.02816).
func xCLIP(c *Config) Model {
	text, vision, P := c.part("text_config"), c.part("vision_config"), c.Size("P", "projection_dim")
	frames := vision.Int("num_frames")
	patches := vision.image().Film(frames).Ordered(Apart)
	apart, summed := patches.With(1), patches.Ordered(Summed)
	layers := Stack("encoder.layers", vision.N, func(int) []Block {
		return []Block{Linear("message_fc", vision.D, vision.D).Bias(true).As(Attention).Seeing(summed), LayerNorm("message_ln", vision.D), vision.clipAttention("message_attn").Seeing(summed),
			LayerNorm("layer_norm1", vision.D), vision.clipAttention("self_attn").Seeing(apart.With(1)), LayerNorm("layer_norm2", vision.D), vision.clipMLP("mlp")}
	})
	tower := []Block{Module("", NoRole, Raw("embeddings.class_embedding", PositionEmbedding, vision.D), vision.patches("embeddings.patch_embedding").Seeing(patches),
		Position("embeddings.position_embedding", vision.patchCount().Plus(Const(1)), vision.D), LayerNorm("pre_layernorm", vision.D), layers, LayerNorm("post_layernorm", vision.D)).Seeing(apart)}
	h := *vision
	h.D, h.N, h.F = vision.Size("Dm", "mit_hidden_size"), vision.Size("Nm", "mit_num_hidden_layers"), vision.Size("Fm", "mit_intermediate_size")
	heads := vision.Size("Am", "mit_num_attention_heads")
	h.heads(heads, heads, "")
	mit := Module("mit", NoRole, append([]Block{h.beside("position_embedding", Named("T", frames))}, h.clipLayers("encoder.layers")...)...).Seeing(summed)
	A := c.Size("Ap", "prompt_num_attention_heads")
	scores := GQA(A, A, c.ratio("Hp", P, A), 0)
	scores.Bidirected = true
	prompts := Module("prompts_generator", NoRole, LayerNorm("layernorm", P), Stack("decoder", c.Size("Np", "prompt_layers"), func(int) []Block {
		return []Block{LayerNorm("norm1", P), AttentionBlock("cross_attn", scores, Linear("q_proj", P, P), Linear("k_proj", P, P), Linear("v_proj", P, P), Linear("proj", P, P).Bias(true)),
			LayerNorm("norm3", P), MLPBlock("mlp", Linear("0", P, P.X(4)).Bias(true), Linear("3", P.X(4), P).Bias(true))}
	}), Raw("alpha", Other, P)).Seeing(vision.image())
	model := c.contrastive(text.clipText(), tower, apart, P, Raw("logit_scale", Other), Linear("visual_projection", vision.D, P).As(Projector).Seeing(summed),
		Linear("text_projection", text.D, P).On(PerSequence).As(Projector), LayerNorm("prompts_visual_layernorm", vision.D),
		Linear("prompts_visual_projection", vision.D, P).Bare().Shaped(vision.D, P).As(Projector).Seeing(patches), mit, prompts)
	model.FLOPsByRule = true
	return model
}
