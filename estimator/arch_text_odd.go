package estimator

import "slices"

// Models of text, or of what is read like text, in the moulds of others.
var textOddFamily = []Arch{
	{"openai_privacy_filter", "OpenAIPrivacyFilterForTokenClassification", privacyFilter},
	{"embedding_gemma2_text", "EmbeddingGemma2TextModel", embeddingGemma2Text},
	{"embedding_gemma2", "EmbeddingGemma2Model", embeddingGemma2},
	{"t5gemma", "T5GemmaForConditionalGeneration", t5Gemma},
	{"imagegpt", "ImageGPTForCausalImageModeling", imageGPT},
	{"decision_transformer", "DecisionTransformerModel", decisionTransformer},
	{"dpr", "DPRQuestionEncoder", dpr},
	{"layoutlmv3", "LayoutLMv3Model", layoutLMv3},
	{"canine", "CanineModel", canine},
	{"funnel", "FunnelForMaskedLM", funnel},
}

// privacyFilter is GPT-OSS without a causal mask.
func privacyFilter(c *Config) Model {
	d := c.gptOSSLayers()
	d.Bidirected = true
	model := decoder(c, d)
	if c.Task == TokenClassification {
		labels := c.NumLabels()
		if !c.Given("id2label") && !c.Given("num_labels") {
			labels = 33 // the class's own
		}
		model.Head = []Block{Linear("score", c.D, Named("labels", labels)).Bias(true).As(Classifier)}
	}
	return model
}

// embeddingGemma2Text is Gemma's layers without a causal mask. Layers that see all
// have heads of their own width, and each layer takes what a projection makes of
// the embeddings for it.
func embeddingGemma2Text(c *Config) Model {
	P, embed := c.Size("P", "hidden_size_per_layer_input"), c.Size("O", "embedding_dim")
	d := Decoder{Bidirected: true, QKNorm: PerHead, Norms: sandwich, Window: c.sliding(every(max(1, c.IntOr("sliding_window_pattern", 6)))...)}
	d.Attn = func(i int) Block {
		h := c.wider(i)
		return h.selfAttention(d, i)
	}
	d.Layer = func(_ int, attention, feedForward Block) []Block {
		return append(c.between(d, attention, feedForward), Module("ple_block", MLP, Linear("per_layer_input_gate", c.D, P),
			Linear("per_layer_projection", P, c.D), RMSNorm("post_per_layer_input_norm", c.D)), Buffer("layer_scalar", Const(1)).As(Other))
	}
	model := decoder(c, d)
	inputs := Module("ple", NoRole, Linear("per_layer_model_projection", c.D, c.N.Times(P)).As(Projector), RMSNorm("per_layer_projection_norm", P))
	model.Body = append(slices.Insert(model.Body, 1, inputs), Linear("embedding_projection", c.D, embed).As(Projector))
	return model
}

// wider has the heads of layer i: the file's list, else wide ones where it sees
// all.
func (c *Config) wider(i int) *Config {
	h := *c
	dim, heads := c.H.Int(), c.K.Int()
	all := c.layerType("layer_types", i, every(max(1, c.IntOr("sliding_window_pattern", 6)))...) == fullAttention || i == int(c.N.Int())-1
	if all && !c.Given("per_layer_config") {
		dim, heads = c.IntOr("global_head_dim", 512), c.IntOr("num_global_key_value_heads", 1)
	}
	if n, ok := c.atLayer(i, "head_dim"); ok && c.Given("per_layer_config") {
		dim = n
	}
	if n, ok := c.atLayer(i, "num_key_value_heads"); ok && c.Given("per_layer_config") {
		heads = n
	}
	h.H, h.K = Named("H", dim), Named("K", heads)
	h.Q, h.U = c.A.Times(h.H), h.K.Times(h.H)
	return &h
}

// embeddingGemma2 may have Gemma's towers beside.
func embeddingGemma2(c *Config) Model {
	return c.languageModel("text_config", "", "language_model", "", func(text *Config) []Block {
		var towers []Block
		if c.Value("vision_config").IsObject() {
			vision := c.part("vision_config")
			pool := max(1, vision.Int("pooling_kernel_size"))
			towers = append(towers, vision.gemma4Vision(pool*pool), soundOrSight("embed_vision", vision.D, text.D).Seeing(vision.image().Merging(pool*pool)))
		}
		if c.Value("audio_config").IsObject() {
			audio := c.part("audio_config")
			towers = append(towers, audio.gemma4Audio(), soundOrSight("embed_audio", audio.Size("O", "output_proj_dims"), text.D).tower(""))
		}
		return towers
	})
}

// t5Gemma is an encoder and a decoder of Gemma's layers (Zhang et al. 2025,
// arXiv:2504.06225).
func t5Gemma(c *Config) Model {
	enc, dec := c.partAs("encoder", "t5_gemma_module"), c.partAs("decoder", "t5_gemma_module")
	mould := func(h *Config) Decoder {
		return Decoder{Window: h.sliding(slidingAttention, fullAttention),
			Norms: Norms{"pre_self_attn_layernorm", "post_self_attn_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"}}
	}
	heard := mould(enc)
	heard.Bidirected = true
	encoder := Module("encoder", NoRole, decoder(enc, heard).Body...)
	model := Model{Prefix: c.under("model"), EncoderDecoder: c.BoolOr("is_encoder_decoder", true) && c.Task != EncoderOnly}
	last, labels := enc, Named("labels", c.NumLabels())
	if model.EncoderDecoder {
		d := mould(dec)
		d.Layer = func(_ int, attention, feedForward Block) []Block {
			cross := []Block{RMSNorm("pre_cross_attn_layernorm", dec.D), dec.crossAttention("cross_attn", enc.D), RMSNorm("post_cross_attn_layernorm", dec.D)}
			return slices.Insert(dec.between(d, attention, feedForward), 3, cross...)
		}
		encoder, last = encoder.Hearing(0).InTower("encoder"), dec
		model.Body = []Block{encoder, Module("decoder", NoRole, decoder(dec, d).Body...)}
	} else {
		model.Body = []Block{encoder}
		if c.Task == EncoderOnly {
			model.Prefix = ""
		}
	}
	switch c.Task {
	case SequenceClassification, TokenClassification: // over all tokens, of which the last one is taken
		model.Head = []Block{Linear("score.out_proj", last.D, labels).Bias(true).As(Classifier)}
	case ConditionalGeneration:
		model.Head = []Block{Linear("lm_head.out_proj", dec.D, dec.V).On(PerLogit).TiedTo("model.decoder.embed_tokens.weight", c.tied()).As(Head)}
	}
	return model
}

// crossAttention is grouped-query attention to an encoder's tokens of width in.
func (c *Config) crossAttention(name string, in Size) Block {
	scores, bias := GQA(c.A, c.K, c.H, 0), c.Switch("attention_bias")
	scores.Cross = true
	return AttentionBlock(name, scores, Linear("q_proj", c.D, c.Q).Bias(bias).On(PerCrossed), Linear("k_proj", in, c.U).Bias(bias).On(PerMemory),
		Linear("v_proj", in, c.U).Bias(bias).On(PerMemory), Linear("o_proj", c.Q, c.D).Bias(bias).On(PerCrossed))
}

// imageGPT reads an image as clusters of colours, pixel by pixel (Chen et al.
// 2020). It predicts all clusters but the mark of a beginning.
func imageGPT(c *Config) Model {
	model := gpt(c, GPT{Linear: Conv1D, Positions: c.C, Norm: RMSNorm, Heads: Heads{Rows: c.V.Minus(Const(1)), Untied: true}})
	if c.Task == ImageClassification {
		model.Head = []Block{Linear("score", c.D, Named("labels", c.NumLabels())).On(PerSequence).As(Classifier)}
	}
	return model
}

// decisionTransformer reads a return, a state and an action for each step of time
// (Chen et al. 2021, arXiv:2106.01345).
func decisionTransformer(c *Config) Model {
	S, A, T, one := c.Size("S", "state_dim"), c.Size("act", "act_dim"), c.Size("T", "max_ep_len"), Const(1)
	inner := gpt(c, GPT{Linear: Conv1D, Positions: c.C})
	linear := func(name string, in, out Size) Block { return Linear(name, in, out).Bias(true) }
	return Model{N: c.N, D: c.D, Body: []Block{Position("embed_timestep", T, c.D), linear("embed_return", one, c.D).As(Projector), linear("embed_state", S, c.D).As(Projector),
		linear("embed_action", A, c.D).As(Projector), LayerNorm("embed_ln", c.D),
		Module("encoder", NoRole, inner.Body...).Spanning(Span{Before: []Step{{Kernel: 3, Stride: 3}}}),
		linear("predict_state", c.D, S).As(Head), linear("predict_action.0", c.D, A).As(Head), linear("predict_return", c.D, one).As(Head)}}
}

// dpr embeds questions and passages by a BERT each; its reader finds the answer
// (Karpukhin et al. 2020, arXiv:2004.04906).
func dpr(c *Config) Model {
	prefix, width := map[string]string{"DPRContextEncoder": "ctx_encoder", "DPRReader": "span_predictor.encoder"}[c.Class], c.D
	prefix = or(prefix, "question_encoder")
	model := encoder(c, Encoder{Pooling: NoPool, Own: func(Task, []Block) []Block { return []Block{} }})
	model.Prefix = join(prefix, "bert_model")
	if n := c.SizeOr("projection", "projection_dim", Size{}); n.Int() > 0 {
		rows := PerSequence
		if c.Class == "DPRReader" {
			rows = PerToken
		}
		model.Head, width = []Block{Linear(prefix+".encode_proj", c.D, n).Bias(true).On(rows).As(Projector)}, n
	}
	if c.Class == "DPRReader" {
		model.Head = append(model.Head, Linear("span_predictor.qa_outputs", width, Const(2)).Bias(true).As(Classifier),
			Linear("span_predictor.qa_classifier", width, Const(1)).Bias(true).On(PerSequence).As(Classifier))
	}
	return model
}

// layoutLMv3 reads patches of the page among its tokens, where it is given the
// page (Huang et al. 2022, arXiv:2204.08387).
func layoutLMv3(c *Config) Model {
	one, patch, view := Const(1), c.Size("P", "patch_size"), View{Sides: c.sides("input_size"), Patch: c.sides("patch_size")}
	rows, columns := view.grid()
	d := Encoder{Pooling: NoPool, Embed: c.boxes("max_2d_position_embeddings", c.Size("place", "coordinate_size"), c.Size("shape", "shape_size"))}
	bias := func(switched, name, bins string) {
		if n := c.Size("bins", bins); c.Bool(switched) {
			d.Lead = append(d.Lead, Linear("encoder."+name, n, c.A).On(Elsewhere).As(PositionEmbedding))
		}
	}
	if c.BoolOr("visual_embed", true) {
		d.Lead = []Block{Raw("cls_token", Other, one, one, c.D), Raw("pos_embed", PositionEmbedding, one, Named("patches", rows*columns).Plus(one), c.D),
			Conv("patch_embed.proj", c.Size("channels", "num_channels"), c.D, patch, patch).Bias(true).On(Elsewhere), LayerNorm("LayerNorm", c.D), LayerNorm("norm", c.D)}
	}
	bias("has_relative_attention_bias", "rel_pos_bias", "rel_pos_bins")
	bias("has_spatial_attention_bias", "rel_pos_x_bias", "rel_2d_pos_bins")
	bias("has_spatial_attention_bias", "rel_pos_y_bias", "rel_2d_pos_bins")
	d.Own = func(task Task, _ []Block) []Block {
		layers := func(name string) Block {
			return Module(name, Classifier, Linear("dense", c.D, c.D).Bias(true), Linear("out_proj", c.D, Named("labels", c.NumLabels())).Bias(true))
		}
		switch {
		case task == QuestionAnswering:
			return []Block{layers("qa_outputs")}
		case task == TokenClassification && c.NumLabels() >= 10:
			return []Block{layers("classifier")}
		}
		return nil
	}
	model := encoder(c, d)
	model.FLOPsByRule = c.BoolOr("visual_embed", true)
	return model
}

// canine reads characters by hashes of theirs, and shortens the sequence for most
// of its layers (Clark et al. 2021, arXiv:2103.06874).
func canine(c *Config) Model {
	c.evenHeads()
	rate, kernel, hashes := c.Size("rate", "downsampling_rate"), c.Size("kernel", "upsampling_kernel_size"), c.Size("hashes", "num_hash_functions")
	var table []Block
	for i := range int(min(hashes.Int(), 64)) {
		table = append(table, Token("HashBucketCodepointEmbedder_"+string(rune('0'+i)), c.Size("V", "num_hash_buckets"), c.ratio("D/h", c.D, hashes)))
	}
	table = append(table, Position("char_position_embeddings", c.Size("buckets", "num_hash_buckets"), c.D), TokenType("token_type_embeddings", c.Size("G", "type_vocab_size"), c.D), LayerNorm("LayerNorm", c.D))
	shallow := func(name string) Block {
		return Stack(name+".layer", Const(1), func(int) []Block { return c.encoderLayer(Encoder{}) })
	}
	shorter := Span{After: []Step{{Kernel: rate.Int(), Stride: max(1, rate.Int())}}}
	model := encoder(c, Encoder{Layers: func() []Block {
		return []Block{shallow("initial_char_encoder"),
			Module("chars_to_molecules", Convolution, Conv("conv", c.D, c.D, rate).Bias(true), LayerNorm("LayerNorm", c.D)).Spanning(shorter),
			Block{Sub: []Block{Stack("encoder.layer", c.N, func(int) []Block { return c.encoderLayer(Encoder{}) })}}.Spanning(shorter),
			Module("projection", Convolution, Conv("conv", c.D.X(2), c.D, kernel).Bias(true), LayerNorm("LayerNorm", c.D)), shallow("final_char_encoder")}
	}, Pooling: PoolEvery, OneLayer: true})
	model.Body[0] = Module("char_embeddings", NoRole, table...)
	model.N, model.D, model.V, model.FLOPsByRule = Size{}, Size{}, Size{}, true
	return model
}

// funnel halves the sequence from block to block and, but for heads over whole
// sequences, makes it long again (Dai et al. 2020, arXiv:2006.03236).
func funnel(c *Config) Model {
	sequences := c.Class == "FunnelBaseModel" || c.Task == SequenceClassification || c.Task == MultipleChoice
	repeats := c.Ints("block_repeats")
	blocks := Stack("encoder.blocks", Const(int64(len(c.Ints("block_sizes")))), func(b int) []Block {
		layers := list("", c.sizeIn("L", "block_sizes", b), c.funnelLayer()...)
		if b < len(repeats) {
			layers = layers.Repeated(repeats[b])
		}
		halved := Span{}
		for range b {
			halved.After = append(halved.After, Step{Kernel: 2, Stride: 2})
		}
		return []Block{layers.Spanning(halved)}
	})
	body := []Block{Module("embeddings", NoRole, Token("word_embeddings", c.V, c.D), LayerNorm("layer_norm", c.D)), blocks}
	if !sequences {
		body = append(body, Stack("decoder.layers", c.Size("Nd", "num_decoder_layers"), func(int) []Block { return c.funnelLayer() }))
	}
	model := Model{Prefix: c.under("funnel"), Body: body, FLOPsByRule: true}
	model.Head = c.encoderHead(Encoder{Pooling: NoPool, OneLayer: true,
		LM: func(embedding string) []Block {
			return []Block{Linear("lm_head", c.D, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head)}
		},
		Own: func(task Task, _ []Block) []Block {
			switch task {
			case PreTraining:
				return []Block{Module("discriminator_predictions", HeadLayers, Linear("dense", c.D, c.D).Bias(true), Linear("dense_prediction", c.D, Const(1)).Bias(true).As(Classifier))}
			case SequenceClassification, MultipleChoice:
				outputs := Const(1)
				if task == SequenceClassification {
					outputs = Named("labels", c.NumLabels())
				}
				return []Block{Module("classifier", Classifier, Linear("linear_hidden", c.D, c.D).Bias(true), Linear("linear_out", c.D, outputs).Bias(true)).Throughout(PerSequence)}
			}
			return nil
		}}, join(model.Prefix, "embeddings.word_embeddings.weight"))
	return model
}

// funnelLayer scores contents, positions and segments apart, as Transformer-XL
// does (Dai et al. 2019, arXiv:1901.02860).
func (c *Config) funnelLayer() []Block {
	H := c.Size("H", "d_head")
	Q, F := c.A.Times(H), c.Size("F", "d_inner")
	scores := GQA(c.A, c.A, H, 0)
	scores.Bidirected = true
	heads := func(name string) Block { return Raw(name, Attention, c.A, H) }
	return []Block{AttentionBlock("attention", scores, heads("r_w_bias"), heads("r_r_bias"), Linear("r_kernel", c.D, Q).Bare().Shaped(c.D, c.A, H), heads("r_s_bias"),
		Raw("seg_embed", Attention, Const(2), c.A, H), Linear("q_head", c.D, Q), Linear("k_head", c.D, Q).Bias(true), Linear("v_head", c.D, Q).Bias(true),
		Linear("post_proj", Q, c.D).Bias(true)), LayerNorm("attention.layer_norm", c.D),
		MLPBlock("ffn", Linear("linear_1", c.D, F).Bias(true), Linear("linear_2", F, c.D).Bias(true)), LayerNorm("ffn.layer_norm", c.D)}
}
