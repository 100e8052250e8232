package estimator

// BLIP and its descendants.
var blipFamily = []Arch{
	{"blip", "BlipForConditionalGeneration", blip},
	{"blip-2", "Blip2ForConditionalGeneration", blip2},
	{"blip_2_qformer", "Blip2QFormerModel", func(c *Config) Model {
		return Model{Body: c.qFormer(c.Bool("use_qformer_text_input"), View{}), FLOPsByRule: true, ImageEach: true}
	}},
	{"instructblip", "InstructBlipForConditionalGeneration", instructBlip},
	{"instructblipvideo", "InstructBlipVideoForConditionalGeneration", instructBlip},
}

// blipVision is ViT with queries, keys and values in one projection.
func (c *Config) blipVision() []Block {
	one := Const(1)
	return c.towerBlocks(Tower{View: c.image().With(1), QKVBias: c.switched("qkv_bias"), Names: Names{QKV: "qkv", Out: "projection", Last: "post_layernorm"},
		Embed: []Block{Raw("embeddings.class_embedding", PositionEmbedding, one, one, c.D),
			Raw("embeddings.position_embedding", PositionEmbedding, one, c.patchCount().Plus(one), c.D)}})
}

// switched is off where a switch that the class declares says so.
func (c *Config) switched(field string) Setting {
	if c.Declares(field) && !c.Bool(field) {
		return Off
	}
	return On
}

// blip is a BERT that attends to an image, with one head or several: it compares
// images and texts, or reads a question and writes (Li et al. 2022,
// arXiv:2201.12086).
func blip(c *Config) Model {
	text, vision := c.part("text_config"), c.part("vision_config")
	reader := func(pooling Pooling) Block {
		return Module("", NoRole, encoder(text, Encoder{NoSegments: true, CrossIn: vision.D, Pooling: pooling}).Body...)
	}
	tower := Module("vision_model", NoRole, vision.blipVision()...).InTower("vision")
	if c.Task == BaseModel {
		P := c.Size("P", "projection_dim")
		return c.contrastive([]Block{reader(PoolSentences)}, vision.blipVision(), vision.image(), P, Raw("logit_scale", Other),
			Linear("visual_projection", vision.D, P).On(PerSequence).As(Projector).Seeing(vision.image()), Linear("text_projection", text.D, P).On(PerSequence).As(Projector))
	}
	memory := vision.image().With(1)
	model := Model{Body: []Block{tower}, Memory: &memory, ImageEach: true}
	if c.Task != ConditionalGeneration {
		model.Body = append(model.Body, reader(NoPool).Called("text_encoder"))
	}
	if c.Task == ImageTextRetrieval {
		P := c.Size("P", "image_text_hidden_size")
		model.Head = []Block{Linear("vision_proj", vision.D, P).Bias(true).On(PerSequence).As(Projector).Seeing(vision.image()),
			Linear("text_proj", text.D, P).Bias(true).On(PerSequence).As(Projector), Linear("itm_head", text.D, Const(2)).Bias(true).On(PerSequence).As(Classifier)}
		model.FLOPsByRule = true
		return model
	}
	model.FLOPsByRule = c.Task == QuestionAnswering
	model.Body = append(model.Body, reader(NoPool).Called("text_decoder.bert"))
	writer := *text
	if !text.tied() { // either config may tie them
		writer.Config = c.Config
	}
	model.Head = []Block{writer.masked("text_decoder.cls.predictions", "text_decoder.bert.embeddings.word_embeddings.weight", text.D,
		Linear("transform.dense", text.D, text.D).Bias(true), LayerNorm("transform.LayerNorm", text.D))[0].Throughout(PerLogit)}
	return model
}

// qFormer is a BERT whose learned queries read an image in every so many layers;
// text beside them has feed-forward blocks of its own (Li et al. 2023,
// arXiv:2301.12597).
func (c *Config) qFormer(text bool, view View) []Block {
	c.evenHeads()
	attention := func(name string, in Size, cross bool) []Block {
		scores, rows := c.sightScores(), PerToken
		if scores.Cross = cross; cross {
			rows = PerMemory
		}
		return []Block{AttentionBlock(name, scores, Linear("attention.query", c.D, c.D).Bias(true), Linear("attention.key", in, c.D).Bias(true).On(rows),
			Linear("attention.value", in, c.D).Bias(true).On(rows), Linear("output.dense", c.D, c.D).Bias(true)), LayerNorm(name+".output.LayerNorm", c.D)}
	}
	feedForward := func(suffix string) Block {
		return Module("", NoRole, MLPBlock("", Linear("intermediate"+suffix+".dense", c.D, c.F).Bias(true), Linear("output"+suffix+".dense", c.F, c.D).Bias(true)),
			LayerNorm("output"+suffix+".LayerNorm", c.D))
	}
	every := max(1, c.Int("cross_attention_frequency"))
	layers := Stack("encoder.layer", c.N, func(i int) []Block {
		layer := attention("attention", c.D, false)
		if int64(i)%every == 0 {
			layer = append(layer, attention("crossattention", c.Size("X", "encoder_hidden_size"), true)...)
		}
		if text {
			layer = append(layer, feedForward("").idle())
		}
		return append(layer, feedForward("_query"))
	})
	whole := Module("", Projector, LayerNorm("layernorm", c.D), layers)
	if view == (View{}) {
		return []Block{whole}
	}
	return []Block{whole.Seeing(view)}
}

// queried is the view of an image through so many learned queries.
func (c *Config) queried(vision *Config) (View, Size) {
	q := c.Size("q", "num_query_tokens")
	return vision.image().With(1).Asked(q.Int()), q
}

// blip2 hands the queries of its Q-Former to a language model.
func blip2(c *Config) Model {
	vision, former := c.part("vision_config"), c.part("qformer_config")
	view, q := c.queried(vision)
	text := former.Bool("use_qformer_text_input")
	body := []Block{Raw("query_tokens", Other, Const(1), q, former.D), Module("vision_model", NoRole, vision.blipVision()...).InTower("vision"),
		Module("qformer", NoRole, former.qFormer(text, view)...)}
	if c.Task == ImageTextRetrieval {
		P := c.Size("P", "image_text_hidden_size")
		return Model{ImageEach: true, FLOPsByRule: true, Body: append(body, Token("embeddings.word_embeddings", former.V, former.D), Position("embeddings.position_embeddings", former.C, former.D)),
			Head: []Block{Linear("vision_projection", former.D, P).Bias(true).As(Projector).Seeing(view), Linear("text_projection", former.D, P).Bias(true).On(PerSequence).As(Projector),
				Linear("itm_head", former.D, Const(2)).Bias(true).As(Classifier).Seeing(view)}}
	}
	return c.afterQueries(body, view, former, true)
}

// instructBlip also shows the instruction to its Q-Former (Dai et al. 2023,
// arXiv:2305.06500): how long it is there no pass says.
func instructBlip(c *Config) Model {
	vision, former := c.part("vision_config"), c.part("qformer_config")
	view, q := c.queried(vision)
	layers := former.qFormer(true, view)
	layers[0].Sub = layers[0].Sub[1:] // its norm stands in the embeddings
	body := []Block{Raw("query_tokens", Other, Const(1), q, former.D), Module("vision_model", NoRole, vision.blipVision()...).InTower("vision"),
		Module("qformer", NoRole, append([]Block{Module("embeddings", NoRole, Token("word_embeddings", former.V, former.D),
			Position("position_embeddings", former.C, former.D), LayerNorm("layernorm", former.D))}, layers...)...)}
	model := c.afterQueries(body, view, former, c.Task != BaseModel)
	model.FLOPsByRule = true
	return model
}

// afterQueries is the language model behind the queries, with its head or without.
func (c *Config) afterQueries(body []Block, view View, former *Config, head bool) Model {
	text, inner := c.within("text_config")
	language := Module("language_model", NoRole, Block{Name: inner.Prefix, Sub: inner.Body})
	if head {
		text, inner, language = c.whole("text_config", "language_model")
	}
	return Model{N: inner.N, D: inner.D, V: inner.V, EncoderDecoder: inner.EncoderDecoder,
		Body: append(body, Linear("language_projection", former.D, text.D).Bias(true).As(Projector).Seeing(view), language)}
}
