package estimator

import (
	"slices"
	"strconv"
)

// Encoders that differ from BERT by a part.
var bertKinFamily = []Arch{
	{"albert", "AlbertForMaskedLM", albert},
	{"mpnet", "MPNetForMaskedLM", mpNet},
	{"convbert", "ConvBertForMaskedLM", convBert},
	{"nystromformer", "NystromformerForMaskedLM", nystromformer},
	{"yoso", "YosoForMaskedLM", yoso},
	{"mra", "MraForMaskedLM", mra},
	{"layoutlm", "LayoutLMForMaskedLM", func(c *Config) Model {
		return encoder(c, Encoder{Embed: c.boxes("max_2d_position_embeddings", c.D, c.D), Pooling: PoolEvery, OneLayer: true})
	}},
	{"bros", "BrosForTokenClassification", bros},
	{"markuplm", "MarkupLMForQuestionAnswering", markupLM},
	{"lilt", "LiltForQuestionAnswering", lilt},
	{"tapas", "TapasForMaskedLM", tapas},
	{"visual_bert", "VisualBertForPreTraining", visualBert},
	{"luke", "LukeForMaskedLM", luke},
	{"splinter", "SplinterForPreTraining", splinter},
	{"squeezebert", "SqueezeBertForMaskedLM", squeezeBert},
	{"fnet", "FNetForMaskedLM", fNet},
	{"mobilebert", "MobileBertForMaskedLM", mobileBert},
}

// albert runs few layers again and again, each group of them for its share of the
// depth (Lan et al. 2019, arXiv:1909.11942).
func albert(c *Config) Model {
	c.evenHeads()
	E, groups := c.Size("E", "embedding_size"), c.Size("L", "num_hidden_groups")
	layer := []Block{AttentionBlock("attention", c.sightScores(), Linear("query", c.D, c.Q).Bias(true), Linear("key", c.D, c.Q).Bias(true),
		Linear("value", c.D, c.Q).Bias(true), Linear("dense", c.D, c.D).Bias(true)), LayerNorm("attention.LayerNorm", c.D),
		MLPBlock("", Linear("ffn", c.D, c.F).Bias(true), Linear("ffn_output", c.F, c.D).Bias(true)), LayerNorm("full_layer_layer_norm", c.D)}
	model := encoder(c, Encoder{E: E, Lead: []Block{Linear("encoder.embedding_hidden_mapping_in", E, c.D).Bias(true).As(Projector)},
		Layers: func() []Block {
			return []Block{Stack("encoder.albert_layer_groups", groups, func(g int) []Block {
				inner := Stack("albert_layers", c.Size("inner", "inner_group_num"), func(int) []Block { return layer })
				return []Block{inner.Repeated(c.turns(g, groups))}
			})}
		},
		Pooler: "pooler",
		LM: func(embedding string) []Block {
			return c.masked("predictions", embedding, E, Linear("dense", c.D, E).Bias(true), LayerNorm("LayerNorm", E))
		},
		Own: func(task Task, lm []Block) []Block {
			if task != PreTraining {
				return nil
			}
			return append(lm, Linear("sop_classifier.classifier", c.D, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier))
		}})
	model.N, model.D, model.V = Size{}, Size{}, Size{}
	return model
}

// turns is how many of the layers are group g's turn.
func (c *Config) turns(g int, groups Size) (n int64) {
	share := float64(c.N.Int()) / float64(max(1, groups.Int()))
	for i := range min(c.N.Int(), mostLayers) {
		if int(float64(i)/share) == g {
			n++
		}
	}
	return n
}

// mpNet has a bias of the scores by bucket of distance, one for all layers (Song
// et al. 2020, arXiv:2004.09297).
func mpNet(c *Config) Model {
	c.evenHeads()
	return roberta(c, Encoder{Prefix: "mpnet", NoSegments: true,
		Lead: []Block{Position("encoder.relative_attention_bias", c.Size("B", "relative_attention_num_buckets"), c.A)},
		Layer: func(int) []Block {
			return []Block{AttentionBlock("attention.attn", c.sightScores(), Linear("q", c.D, c.Q).Bias(true), Linear("k", c.D, c.Q).Bias(true),
				Linear("v", c.D, c.Q).Bias(true), Linear("o", c.Q, c.D).Bias(true)), LayerNorm("attention.LayerNorm", c.D),
				c.twoMatrices(c.D, c.F), LayerNorm("output.LayerNorm", c.D)}
		}})
}

// convBert puts a convolution whose kernel follows from the token in the place of
// a share of the heads (Jiang et al. 2020, arXiv:2008.02496).
func convBert(c *Config) Model {
	E, kernel, heads := c.Size("E", "embedding_size"), c.Size("kernel", "conv_kernel_size"), Const(1)
	if ratio := c.Int("head_ratio"); ratio > 0 && c.A.Int() >= ratio {
		heads = Named("A'", c.A.Int()/ratio)
	}
	H := c.ratio("H", c.D, heads.X(2))
	Q, scores := heads.Times(H), GQA(heads, heads, H, 0)
	scores.Bidirected = true
	conv := Module("self.key_conv_attn_layer", Attention, Raw("bias", Attention, Q, Const(1)), perChannel("depthwise", c.D, kernel),
		Conv("pointwise", c.D, Q, Const(1)).As(Attention))
	return encoder(c, Encoder{E: E, Lead: c.leadIn(E), Scores: &scores, Pooling: NoPool,
		QKV: []Block{Linear("self.query", c.D, Q).Bias(true), Linear("self.key", c.D, Q).Bias(true), Linear("self.value", c.D, Q).Bias(true)},
		Within: []Block{conv, Linear("self.conv_kernel_layer", Q, heads.Times(kernel)).Bias(true),
			Linear("self.conv_out_layer", c.D, Q).Bias(true), Product(kernel, Q)},
		FFN: func() []Block {
			return []Block{MLPBlock("", c.groupedLinear("intermediate.dense", c.D, c.F), c.groupedLinear("output.dense", c.F, c.D))}
		},
		LM: func(embedding string) []Block {
			return []Block{Module("generator_predictions", HeadLayers, Linear("dense", c.D, E).Bias(true), LayerNorm("LayerNorm", E)),
				Linear("generator_lm_head", E, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head)}
		},
		Own: func(task Task, _ []Block) []Block { return c.summarised(task) }})
}

// groupedLinear is a linear, in num_groups groups of features where there are several.
func (c *Config) groupedLinear(name string, in, out Size) Block {
	groups := c.Size("groups", "num_groups")
	if groups.Int() <= 1 {
		return Linear(name, in, out).Bias(true)
	}
	return Module(name, MLP, Stacked("weight", groups, groups, c.ratio("in", in, groups), c.ratio("out", out, groups)).As(MLP), rawBias("bias", out))
}

// filtered is a convolution over the values of each head, where there is one.
func (c *Config) filtered(field string) []Block {
	kernel, ok := c.Nullable(field)
	if !ok {
		return nil
	}
	K := Named("kernel", kernel)
	return []Block{Linear("self.conv", K, c.Q).Shaped(c.A, Const(1), K, Const(1))}
}

// preClassified is a multiple-choice head behind a layer of its own.
func (c *Config) preClassified(task Task) []Block {
	if task != MultipleChoice {
		return nil
	}
	return []Block{Linear("pre_classifier", c.D, c.D).Bias(true).On(PerSequence).As(Classifier),
		Linear("classifier", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier)}
}

// approximated is a BERT whose attention is meant to be cheaper than that of all
// pairs. Where it is, its products are not described.
func approximated(c *Config, d Encoder, cheaper bool) Model {
	d.Positions, d.Pooling = c.C.Plus(Const(2)), NoPool
	d.Own = func(task Task, _ []Block) []Block { return c.preClassified(task) }
	model := encoder(c, d)
	model.FLOPsByRule = cheaper
	return model
}

// nystromformer attends by landmarks, unless there are as many as there are
// segments (Xiong et al. 2021, arXiv:2102.03902).
func nystromformer(c *Config) Model {
	c.evenHeads()
	return approximated(c, Encoder{Within: c.filtered("conv_kernel_size")}, c.Int("num_landmarks") != c.Int("segment_means_seq_len"))
}

// yoso samples pairs by hashes, or takes what they are expected to be (Zeng et
// al. 2021, arXiv:2111.09714).
func yoso(c *Config) Model {
	c.evenHeads()
	return approximated(c, Encoder{Within: c.filtered("conv_window")}, !c.Bool("use_expectation"))
}

// mra attends at several resolutions, by kernels of its own (Zeng et al. 2022,
// arXiv:2207.10284).
func mra(c *Config) Model {
	return approximated(c, Encoder{Embed: []Block{Buffer("position_ids", Const(1), c.C)}}, true)
}

// boxes are embeddings of where a token stands on its page and of how high and
// wide it is (Xu et al. 2019, arXiv:1912.13318).
func (c *Config) boxes(field string, place, shape Size) []Block {
	n := c.Size("C2", field)
	return []Block{Position("x_position_embeddings", n, place), Position("y_position_embeddings", n, place),
		Position("h_position_embeddings", n, shape), Position("w_position_embeddings", n, shape)}
}

// bros adds a bias by the boxes of each two tokens (Hong et al. 2021,
// arXiv:2108.04539).
func bros(c *Config) Model {
	c.evenHeads()
	wide := c.ratio("box", c.D, Const(4))
	each := Named("box'", wide.Int()/max(1, c.Int("dim_bbox")))
	frequency := func(axis string) Block {
		return Buffer("bbox_sinusoid_emb."+axis+"_pos_emb.inv_freq", Named("box''", (each.Int()+1)/2))
	}
	projection := Linear("bbox_projection", wide, c.H)
	boxes := Module("bbox_embeddings", PositionEmbedding, frequency("x"), frequency("y"), projection.doing(perPair("boxes", wide, c.H)))
	return encoder(c, Encoder{Embed: []Block{Buffer("position_ids", Const(1), c.C)}, Lead: []Block{boxes}, Pooling: PoolEvery, OneLayer: true,
		Within: []Block{Block{}.doing(perPair("boxes", c.Q))}})
}

// markupLM embeds the path of a token through its page's tags (Li et al. 2021,
// arXiv:2110.08518).
func markupLM(c *Config) Model {
	depth, unit := c.Size("depth", "max_depth"), c.Size("unit", "xpath_unit_hidden_size")
	table := func(name, field string) Block {
		return list(name, depth, Token("", c.Size(field, field), unit).As(PositionEmbedding))
	}
	wide := depth.Times(unit)
	return encoder(c, Encoder{Pooling: PoolSpans, OneLayer: true, Embed: []Block{Module("xpath_embeddings", PositionEmbedding,
		table("xpath_tag_sub_embeddings", "max_xpath_tag_unit_embeddings"), table("xpath_subs_sub_embeddings", "max_xpath_subs_unit_embeddings"),
		Linear("xpath_unitseq2_embeddings", wide, c.D).Bias(true).On(Elsewhere), Linear("xpath_unitseq2_inner", wide, c.D.X(4)).Bias(true), Linear("inner2emb", c.D.X(4), c.D).Bias(true))}})
}

// lilt has a narrow stream for the layout beside that for the text (Wang et al.
// 2022, arXiv:2202.13669).
func lilt(c *Config) Model {
	c.evenHeads()
	R := c.Size("R", "channel_shrink_ratio")
	D, F, sixth := c.ratio("Dl", c.D, R), c.ratio("Fl", c.F, R), c.ratio("D/6", c.D, Const(6))
	narrow := GQA(c.A, c.A, c.ratio("Hl", D, c.A), 0)
	narrow.Bidirected = true
	layout := Module("layout_embeddings", PositionEmbedding, append(c.boxes("max_2d_position_embeddings", sixth, sixth),
		Position("box_position_embeddings", c.C, D), Linear("box_linear_embeddings", sixth.X(6), D).Bias(true), LayerNorm("LayerNorm", D))...)
	linear := func(name string) Block { return Linear(name, D, D).Bias(true) }
	beside := []Block{AttentionBlock("", narrow, linear("self.layout_query"), linear("self.layout_key"), linear("self.layout_value"), linear("layout_output.dense")),
		LayerNorm("layout_output.LayerNorm", D)}
	return encoder(c, Encoder{Lead: []Block{layout}, Within: beside, Pooling: PoolBase, FFN: func() []Block {
		return []Block{MLPBlock("", Linear("layout_intermediate.dense", D, F).Bias(true), Linear("layout_output.dense", F, D).Bias(true)),
			LayerNorm("layout_output.LayerNorm", D), c.twoMatrices(c.D, c.F)}
	}})
}

// tapas embeds where a token stands in its table (Herzig et al. 2020,
// arXiv:2004.02349).
func tapas(c *Config) Model {
	d := Encoder{NoSegments: true}
	for i := range c.Ints("type_vocab_sizes") {
		d.Embed = append(d.Embed, TokenType("token_type_embeddings_"+strconv.Itoa(i), c.sizeIn("G", "type_vocab_sizes", i), c.D))
	}
	d.Own = func(task Task, _ []Block) []Block {
		if task != QuestionAnswering {
			return nil
		}
		head := []Block{Raw("output_weights", Classifier, c.D), Raw("output_bias", Classifier), Raw("column_output_weights", Classifier, c.D), Raw("column_output_bias", Classifier)}
		if n := c.SizeOr("aggregations", "num_aggregation_labels", Size{}); n.Int() > 0 {
			head = append(head, Linear("aggregation_classifier", c.D, n).Bias(true).On(PerSequence).As(Classifier))
		}
		return head
	}
	model := encoder(c, d)
	if c.Task == QuestionAnswering {
		model.Body = append(model.Body, Linear("pooler.dense", c.D, c.D).Bias(true).On(PerSequence).As(Pooler))
		model.FLOPsByRule = true
	}
	return model
}

// visualBert reads features of an image's regions among its tokens, where it is
// given any (Li et al. 2019, arXiv:1908.03557).
func visualBert(c *Config) Model {
	d := Encoder{Pooling: PoolEvery, OneLayer: true, Embed: []Block{TokenType("visual_token_type_embeddings", c.Size("G", "type_vocab_size"), c.D),
		Position("visual_position_embeddings", c.C, c.D), Linear("visual_projection", c.Size("Dv", "visual_embedding_dim"), c.D).Bias(true).As(Projector).On(Elsewhere)}}
	d.Own = func(task Task, _ []Block) []Block {
		switch task {
		case QuestionAnswering:
			return []Block{Linear("cls", c.D, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier)}
		case MultipleChoice:
			return []Block{Linear("cls", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier)}
		}
		return nil
	}
	model := encoder(c, d)
	if c.Bool("bypass_transformer") {
		model.Body = append(model.Body, Module("additional_layer", NoRole, c.encoderLayer(d)...).idle())
	}
	return model
}

// luke reads entities among its tokens, where it is given any, with queries of
// their own for each kind of pair (Yamada et al. 2020, arXiv:2010.01057).
func luke(c *Config) Model {
	c.evenHeads()
	E, entities := c.Size("E", "entity_emb_size"), c.Size("Ve", "entity_vocab_size")
	embed := []Block{Token("entity_embeddings", entities, E), Position("position_embeddings", c.C, c.D), TokenType("token_type_embeddings", c.Size("G", "type_vocab_size"), c.D)}
	if E.Int() != c.D.Int() {
		embed = slices.Insert(embed, 1, Linear("entity_embedding_dense", E, c.D).As(Projector).On(Elsewhere))
	}
	d := Encoder{Pooling: PoolSpans, OneLayer: true, Lead: []Block{Module("entity_embeddings", NoRole, append(embed, LayerNorm("LayerNorm", c.D))...)}}
	if c.Bool("use_entity_aware_attention") {
		for _, pair := range []string{"w2e", "e2w", "e2e"} {
			d.Within = append(d.Within, Linear("self."+pair+"_query", c.D, c.Q).Bias(true).On(Elsewhere))
		}
	}
	d.LM = func(string) []Block {
		tied := c.tied()
		words := Module("lm_head", HeadLayers, Linear("dense", c.D, c.D).Bias(true), LayerNorm("layer_norm", c.D), Linear("decoder", c.D, c.V).Bias(true).As(Head),
			Raw("bias", Head, c.V).tie("", "lm_head.decoder.bias", tied))
		what := Module("entity_predictions", HeadLayers, Linear("transform.dense", c.D, E).Bias(true).On(Elsewhere), LayerNorm("transform.LayerNorm", E), biasOf("bias", entities),
			Linear("decoder", E, entities).TiedTo("luke.entity_embeddings.entity_embeddings.weight", tied).On(Elsewhere))
		return []Block{words, what}
	}
	return encoder(c, d)
}

// splinter selects the span that answers a question by what it makes of the
// question's mask (Ram et al. 2021, arXiv:2101.00438).
func splinter(c *Config) Model {
	transform := func(name string, rows Rows) Block {
		return Module(name+"_transform", HeadLayers, Linear("dense", c.D, c.D).Bias(true), LayerNorm("LayerNorm", c.D)).Throughout(rows)
	}
	head := Module("splinter_qass", HeadLayers, transform("query_start", PerSequence), transform("query_end", PerSequence),
		transform("start", PerToken), transform("end", PerToken), Linear("start_classifier", c.D, c.D).On(PerSequence), Linear("end_classifier", c.D, c.D).On(PerSequence),
		Product(c.D, Const(2)))
	return encoder(c, Encoder{Pooling: NoPool, Own: func(Task, []Block) []Block { return []Block{head} }})
}

// squeezeBert has grouped convolutions of width 1 in the place of linears (Iandola
// et al. 2020, arXiv:2006.11316).
func squeezeBert(c *Config) Model {
	c.evenHeads()
	grouped := func(name, field string, in, out Size) Block {
		part := c.ratio("part", in, c.Size("groups", field))
		return Linear(name, part, out).Shaped(out, part, Const(1)).Bias(true)
	}
	return encoder(c, Encoder{Prefix: "transformer", Pooling: PoolEvery, OneLayer: true, Layers: func() []Block {
		return []Block{Stack("encoder.layers", c.N, func(int) []Block {
			return []Block{AttentionBlock("", c.sightScores(), grouped("attention.query", "q_groups", c.D, c.D), grouped("attention.key", "k_groups", c.D, c.D),
				grouped("attention.value", "v_groups", c.D, c.D), grouped("post_attention.conv1d", "post_attention_groups", c.D, c.D)),
				LayerNorm("post_attention.layernorm", c.D), MLPBlock("", grouped("intermediate.conv1d", "intermediate_groups", c.D, c.F),
					grouped("output.conv1d", "output_groups", c.F, c.D)), LayerNorm("output.layernorm", c.D)}
		})}
	}})
}

// fNet mixes tokens by a Fourier transform, which has no parameters (Lee-Thorp et
// al. 2021, arXiv:2105.03824).
func fNet(c *Config) Model {
	return encoder(c, Encoder{Pooling: PoolEvery, OneLayer: true, Embed: []Block{LayerNorm("LayerNorm", c.D), Linear("projection", c.D, c.D).Bias(true).As(Projector)},
		NoEmbedNorm: true, Layer: func(int) []Block {
			return []Block{LayerNorm("fourier.output.LayerNorm", c.D), c.twoMatrices(c.D, c.F), LayerNorm("output.LayerNorm", c.D)}
		}})
}

// mobileBert is narrow within its layers and embeds three tokens at a time (Sun
// et al. 2020, arXiv:2004.02984).
func mobileBert(c *Config) Model {
	E, kernel := c.Size("E", "embedding_size"), int64(1)
	if c.Bool("trigram_input") {
		kernel = 3
	}
	transformed := Linear("embedding_transformation", E.X(kernel), c.D).Bias(true).As(Projector)
	if kernel == 1 && E.Int() == c.D.Int() {
		transformed = transformed.On(Elsewhere)
	}
	d := Encoder{E: E, NoPositions: true, NoSegments: true, NoEmbedNorm: true, Layer: func(int) []Block { return c.mobileLayer() },
		Embed: []Block{Position("position_embeddings", c.C, c.D), TokenType("token_type_embeddings", c.Size("G", "type_vocab_size"), c.D), transformed, LayerNorm("LayerNorm", c.D)},
		LM: func(embedding string) []Block {
			return c.masked("cls.predictions", embedding, E, Linear("transform.dense", c.D, c.D).Bias(true), LayerNorm("transform.LayerNorm", c.D),
				Linear("dense", c.V, c.D.Minus(E)).As(Head))
		}}
	if !c.Bool("classifier_activation") {
		d.Pooling, d.OneLayer = NoPool, true
	}
	return encoder(c, d)
}

// mobileLayer has several feed-forward blocks between two bottlenecks.
func (c *Config) mobileLayer() []Block {
	bottled, h := c.Bool("use_bottleneck"), *c
	if bottled {
		h.D = c.Size("T", "intra_bottleneck_size")
	}
	h.evenHeads()
	T, values := h.D, h.D
	if !c.Bool("use_bottleneck_attention") {
		values = c.D
	}
	feedForward := []Block{c.twoMatrices(T, c.F), LayerNorm("output.LayerNorm", T)}
	layer := append([]Block{AttentionBlock("attention", h.sightScores(), Linear("self.query", T, h.Q).Bias(true), Linear("self.key", T, h.Q).Bias(true),
		Linear("self.value", values, h.Q).Bias(true), Linear("output.dense", T, T).Bias(true)), LayerNorm("attention.output.LayerNorm", T),
		list("ffn", Const(max(0, c.Int("num_feedforward_networks")-1)), feedForward...)}, feedForward...)
	if !bottled {
		return layer
	}
	narrow := func(name string, in, out Size, rows Rows) []Block {
		return []Block{Linear(name+".dense", in, out).Bias(true).On(rows).As(Projector), LayerNorm(name+".LayerNorm", out)}
	}
	lead, shared := narrow("bottleneck.input", c.D, T, PerToken), PerToken
	if c.Bool("use_bottleneck_attention") {
		shared = Elsewhere
	}
	if c.Bool("key_query_shared_bottleneck") {
		lead = append(lead, narrow("bottleneck.attention", c.D, T, shared)...)
	}
	return slices.Concat(lead, layer, narrow("output.bottleneck", T, c.D, PerToken))
}
