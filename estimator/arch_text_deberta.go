package estimator

import "math/big"

// Encoders whose scores are of contents and of positions apart.
var disentangledFamily = []Arch{
	{"deberta", "DebertaForMaskedLM", deberta},
	{"deberta-v2", "DebertaV2ForMaskedLM", debertaV2},
}

// deberta scores content against position and position against content, where the
// config wants it (He et al. 2020, arXiv:2006.03654). The positions are those
// within the longest distance that the tokens have.
func deberta(c *Config) Model {
	c.evenHeads()
	d := Encoder{QKV: []Block{Linear("self.in_proj", c.D, c.Q.X(3)), rawBias("self.q_bias", c.Q), rawBias("self.v_bias", c.Q)}}
	if c.Bool("relative_attention") {
		M := c.longestDistance()
		rows := func(p Pass) int64 { return 2 * min(p.Seq, M.Int()) }
		d.Lead = []Block{Position("encoder.rel_embeddings", M.X(2), c.D)}
		if c.names("pos_att_type", "c2p") {
			d.Within = append(d.Within, c.positioned(Linear("self.pos_proj", c.D, c.Q), true, rows))
		}
		if c.names("pos_att_type", "p2c") {
			d.Within = append(d.Within, c.positioned(Linear("self.pos_q_proj", c.D, c.Q).Bias(true), true, rows))
		}
	}
	if c.Bool("talking_head") {
		for _, name := range []string{"self.head_logits_proj", "self.head_weights_proj"} {
			d.Within = append(d.Within, Linear(name, c.A, c.A).doing(perPair("heads", c.A, c.A)))
		}
	}
	return c.disentangled(d)
}

// debertaV2 may share the projections of contents with positions, take distances
// by logarithmic buckets, and convolve what the first layer sees.
func debertaV2(c *Config) Model {
	c.evenHeads()
	linear := func(name string) Block { return Linear("self."+name, c.D, c.Q).Bias(true) }
	d := Encoder{QKV: []Block{linear("query_proj"), linear("key_proj"), linear("value_proj")}}
	if c.Bool("relative_attention") {
		span := c.longestDistance()
		if n := c.IntOr("position_buckets", -1); n > 0 {
			span = Named("B", n)
		}
		rows := func(Pass) int64 { return 2 * span.Int() }
		d.Lead = []Block{Position("encoder.rel_embeddings", span.X(2), c.D)}
		if c.names("norm_rel_ebd", "layer_norm") {
			d.Lead = append(d.Lead, LayerNorm("encoder.LayerNorm", c.D))
		}
		for kind, name := range map[string]string{"c2p": "pos_key_proj", "p2c": "pos_query_proj"} {
			scored := c.names("pos_att_type", kind)
			switch {
			case c.Bool("share_att_key"):
				d.Within = append(d.Within, c.positioned(Product(c.D, c.Q), scored, rows))
			case scored:
				d.Within = append(d.Within, c.positioned(linear(name), true, rows))
			}
		}
	}
	if k := c.IntOr("conv_kernel_size", 0); k > 0 {
		part, K := c.ratio("part", c.D, Const(max(1, c.IntOr("conv_groups", 1)))), Named("kernel", k)
		d.Lead = append(d.Lead, Module("encoder.conv", Convolution, Linear("conv", part.Times(K), c.D).Shaped(c.D, part, K).Bias(true), LayerNorm("LayerNorm", c.D)))
	}
	return c.disentangled(d)
}

// longestDistance is the longest that is told apart.
func (c *Config) longestDistance() Size {
	if n := c.IntOr("max_relative_positions", -1); n > 0 {
		return Named("M", n)
	}
	return c.C
}

// positioned is a projection of the positions, once for all sequences, and the
// scores of each token against them.
func (c *Config) positioned(projection Block, scored bool, rows func(Pass) int64) Block {
	work := &Extra{Name: "positions", Sizes: []Size{c.D, c.Q}, FLOPs: func(p Pass) *big.Int {
		n := rows(p)
		sum := product(2, n, c.D.Int(), c.Q.Int())
		if scored {
			sum.Add(sum, product(2, p.Batch, p.Seq, n, c.Q.Int()))
		}
		return sum
	}}
	return projection.doing(work)
}

// disentangled has the embeddings and the heads of both versions.
func (c *Config) disentangled(d Encoder) Model {
	d.Prefix, d.Pooling, d.E = "deberta", NoPool, c.SizeOr("E", "embedding_size", c.D)
	d.NoPositions, d.NoSegments, d.NoEmbedNorm = !c.BoolOr("position_biased_input", true), c.IntOr("type_vocab_size", 0) <= 0, true
	if d.E.Int() != c.D.Int() {
		d.Embed = []Block{Linear("embed_proj", d.E, c.D).As(Projector)}
	}
	d.Embed = append(d.Embed, LayerNorm("LayerNorm", c.D))
	if !c.BoolOr("legacy", true) {
		d.LM = func(string) []Block {
			return []Block{Module("lm_predictions.lm_head", HeadLayers, Linear("dense", c.D, c.D).Bias(true), LayerNorm("LayerNorm", c.D), biasOf("bias", c.V).As(Head),
				Product(c.D, c.V).As(Head))}
		}
	}
	d.Own = func(task Task, _ []Block) []Block {
		P, outputs := c.GivenOr("P", "pooler_hidden_size", c.D), Const(1)
		switch task {
		case SequenceClassification:
			outputs = Named("labels", c.NumLabels())
		case MultipleChoice:
		default:
			return nil
		}
		return []Block{Linear("pooler.dense", P, P).Bias(true).On(PerSequence).As(Pooler), Linear("classifier", c.D, outputs).Bias(true).On(PerSequence).As(Classifier)}
	}
	return encoder(c, d)
}
