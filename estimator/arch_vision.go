package estimator

// Encoders of images alone.
var visionFamily = []Arch{
	{"vit", "ViTModel", vit},
}

// vit is BERT's encoder on the patches of an image and a token for its class
// (Dosovitskiy et al. 2020, arXiv:2010.11929).
func vit(c *Config) Model {
	view, bias, one := c.image().With(1), c.Bool("qkv_bias"), Const(1)
	embeddings := []Block{Raw("cls_token", PositionEmbedding, one, one, c.D),
		Raw("position_embeddings", PositionEmbedding, one, c.patchCount().Plus(one), c.D), c.patches("patch_embeddings.projection").Bias(true)}
	if c.Task == MaskedImageModeling {
		embeddings = append(embeddings, Raw("mask_token", Other, one, one, c.D))
	}
	attention := AttentionBlock("attention", c.sightScores(), Linear("attention.query", c.D, c.Q).Bias(bias), Linear("attention.key", c.D, c.Q).Bias(bias),
		Linear("attention.value", c.D, c.Q).Bias(bias), Linear("output.dense", c.Q, c.D).Bias(true))
	layers := Stack("encoder.layer", c.N, func(int) []Block {
		return []Block{LayerNorm("layernorm_before", c.D), attention, LayerNorm("layernorm_after", c.D),
			MLPBlock("", Linear("intermediate.dense", c.D, c.F).Bias(true), Linear("output.dense", c.F, c.D).Bias(true))}
	})
	body := []Block{Module("embeddings", NoRole, embeddings...), layers, LayerNorm("layernorm", c.D)}
	model := Model{Prefix: c.under("vit"), ImageEach: true}
	switch c.Task {
	case ImageClassification:
		model.Head = []Block{Linear("classifier", c.D, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier).Seeing(view)}
	case MaskedImageModeling:
		side := c.Size("stride", "encoder_stride")
		model.Head = []Block{Conv("decoder.0", c.D, side.Times(side).Times(c.Size("channels", "num_channels")), one, one).Bias(true).As(Head).Seeing(c.image())}
	default:
		body = append(body, Linear("pooler.dense", c.D, c.SizeOr("pooled", "pooler_output_size", c.D)).Bias(true).On(PerSequence).As(Pooler))
	}
	model.Body = []Block{Module("", NoRole, body...).Seeing(view)}
	return model
}
