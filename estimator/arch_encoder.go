package estimator

import "slices"

// Encoder is the mould of BERT (Devlin et al. 2018, arXiv:1810.04805):
// embeddings by token, position and segment, and layers of attention and a
// two-matrix feed-forward block, each with a norm behind it. With is_decoder it
// is causal and keeps a cache, with add_cross_attention it also attends to an
// encoder beside it. The zero value is BERT; a family states its differences.
type Encoder struct {
	Prefix string // else the model type

	E           Size    // width of the embeddings, if not D
	Embed       []Block // further embeddings
	Positions   Size    // rows, else C
	NoPositions bool
	NoSegments  bool
	NoEmbedNorm bool
	Lead        []Block // between the embeddings and the layers

	Layers func() []Block      // in the place of the stack of layers
	Layer  func(i int) []Block // else BERT's
	QKV    []Block             // else query, key and value
	Within []Block             // what attention has besides, before its output
	Scores *Scores             // else by the usual fields
	FFN    func() []Block      // else two matrices

	Sparse   Sparse    // choice of keys of an encoder
	Causal   bool      // a decoder whatever the config says
	NoBias   bool      // of queries, keys and values
	PreNorms [2]string // before attention (within its module) and feed-forward, not behind
	Last     string    // the last norm
	Adapter  []Block   // behind the feed-forward block
	CrossIn  Size      // width of what it attends to besides; else D, where the config switches it on

	Pooling  Pooling
	OneLayer bool                                // of the classifier, whatever the pooling
	Pooler   string                              // else pooler.dense
	LM       func(embedding string) []Block      // language head, else BERT's
	Own      func(task Task, lm []Block) []Block // heads of the family's own; nil: the usual one
}

// Pooling says under which heads an encoder has a pooler. All but BERT's own have
// a classifier of two layers.
type Pooling uint8

// The kinds of pooling.
const (
	PoolSentences Pooling = iota // BERT: the heads over whole sequences
	PoolBase                     // RoBERTa: the base model and multiple choice
	PoolAll                      // all but question answering
	PoolHeads                    // the heads over whole sequences alone
	PoolSpans                    // all but token classification and question answering
	PoolEvery                    // all
	NoPool
)

func (p Pooling) pools(t Task) bool {
	switch p {
	case PoolSentences:
		return t == BaseModel || t == PreTraining || t == SequenceClassification || t == MultipleChoice || t == NextSentencePrediction
	case PoolBase:
		return t == BaseModel || t == MultipleChoice
	case PoolAll:
		return t != QuestionAnswering
	case PoolSpans:
		return t != QuestionAnswering && t != TokenClassification
	case PoolEvery:
		return true
	case PoolHeads:
		return t == SequenceClassification || t == MultipleChoice
	}
	return false
}

func encoder(c *Config, d Encoder) Model {
	c.evenHeads()
	if d.E.IsZero() || d.E.Int() == c.D.Int() {
		d.E = c.D
	}
	prefix := c.under(or(d.Prefix, c.ModelType()))
	body := []Block{Module("embeddings", NoRole, c.embeddings(d)...)}
	body = append(body, d.Lead...)
	switch {
	case d.Layers != nil:
		body = append(body, d.Layers()...)
	case d.Layer != nil:
		body = append(body, Stack("encoder.layer", c.N, d.Layer))
	default:
		body = append(body, Stack("encoder.layer", c.N, func(int) []Block { return c.encoderLayer(d) }))
	}
	if d.Last != "" {
		body = append(body, LayerNorm(d.Last, c.D))
	}
	body = append(body, c.pooler(d)...)
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V, Body: body,
		Head: c.encoderHead(d, join(prefix, "embeddings.word_embeddings.weight"))}
}

// pooler makes one vector of a sequence, under the heads that want it.
func (c *Config) pooler(d Encoder) []Block {
	if !d.Pooling.pools(c.Task) {
		return nil
	}
	return []Block{Linear(or(d.Pooler, "pooler.dense"), c.D, c.D).Bias(true).On(PerSequence).As(Pooler)}
}

func (c *Config) embeddings(d Encoder) []Block {
	sub := []Block{Token("word_embeddings", c.V, d.E)}
	if !d.NoPositions {
		sub = append(sub, Position("position_embeddings", orSize(d.Positions, c.C), d.E).buffered())
	}
	if !d.NoSegments {
		sub = append(sub, TokenType("token_type_embeddings", c.Size("G", "type_vocab_size"), d.E))
	}
	sub = append(sub, d.Embed...)
	if !d.NoEmbedNorm {
		sub = append(sub, LayerNorm("LayerNorm", d.E))
	}
	return sub
}

// leadIn is the projection from narrow embeddings to the layers' width.
func (c *Config) leadIn(E Size) []Block {
	if E.Int() == c.D.Int() {
		return nil
	}
	return []Block{Linear("embeddings_project", E, c.D).Bias(true).As(Projector)}
}

func (c *Config) encoderLayer(d Encoder) []Block {
	layer := c.encoderAttention(d, "attention", false)
	if c.Bool("is_decoder") && (c.Bool("add_cross_attention") || !d.CrossIn.IsZero()) {
		layer = append(layer, c.encoderAttention(d, "crossattention", true)...)
	}
	feedForward := []Block{c.twoMatrices(c.D, c.F)}
	if d.FFN != nil {
		feedForward = d.FFN()
	}
	layer = append(layer, d.normed(feedForward, or(d.PreNorms[1], "output.LayerNorm"), c.D)...)
	return append(layer, d.Adapter...)
}

// twoMatrices is BERT's feed-forward block.
func (c *Config) twoMatrices(D, F Size) Block {
	return MLPBlock("", Linear("intermediate.dense", D, F).Bias(true), Linear("output.dense", F, D).Bias(true))
}

// normed puts the norm of that name before or behind a block.
func (d Encoder) normed(block []Block, name string, size Size) []Block {
	norm := LayerNorm(name, size)
	if d.PreNorms[0] != "" {
		return append([]Block{norm}, block...)
	}
	return append(block, norm)
}

func (c *Config) encoderAttention(d Encoder, name string, cross bool) []Block {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected, scores.Cross = !c.Bool("is_decoder") && !d.Causal, cross
	if scores.Bidirected && !cross {
		scores.Sparse = d.Sparse
	}
	rows, memory, in := PerToken, PerToken, c.D
	if cross {
		rows, memory, in = PerCrossed, PerMemory, orSize(d.CrossIn, c.D)
	}
	projections := []Block{Linear("self.query", c.D, c.Q).Bias(!d.NoBias).On(rows), Linear("self.key", in, c.Q).Bias(!d.NoBias).On(memory),
		Linear("self.value", in, c.Q).Bias(!d.NoBias).On(memory)}
	if d.QKV != nil {
		projections = d.QKV
	}
	if d.Scores != nil {
		scores = *d.Scores
	}
	projections = slices.Concat(projections, d.Within, []Block{Linear("output.dense", c.D, c.D).Bias(true).On(rows)})
	attention := AttentionBlock(name, scores, projections...)
	return d.normed([]Block{attention}, name+"."+or(d.PreNorms[0], "output.LayerNorm"), c.D)
}

// encoderHead is the head for the class's task.
func (c *Config) encoderHead(d Encoder, embedding string) []Block {
	lm := c.bertLM(embedding, d.E)
	if d.LM != nil {
		lm = d.LM(embedding)
	}
	if c.Task == CausalLM {
		for i := range lm {
			lm[i] = lm[i].Throughout(PerLogit)
		}
	}
	if d.Own != nil && c.Task != BaseModel {
		if own := d.Own(c.Task, lm); own != nil {
			return own
		}
	}
	labels := Named("labels", c.NumLabels())
	pairs := Linear("cls.seq_relationship", c.D, Const(2)).Bias(true).On(PerSequence).As(Classifier)
	switch c.Task {
	case BaseModel:
		return nil
	case PreTraining:
		return append(lm, pairs)
	case NextSentencePrediction:
		return []Block{pairs}
	case SequenceClassification:
		if d.Pooling != PoolSentences && !d.OneLayer {
			return []Block{c.twoLayers("classifier", labels)}
		}
		return []Block{Linear("classifier", c.D, labels).Bias(true).On(PerSequence).As(Classifier)}
	case MultipleChoice:
		return []Block{Linear("classifier", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier)}
	case TokenClassification:
		return []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
	case QuestionAnswering:
		return []Block{Linear("qa_outputs", c.D, labels).Bias(true).As(Classifier)}
	}
	return lm
}

// twoLayers is a classifier with a layer of its own before its outputs.
func (c *Config) twoLayers(name string, labels Size) Block {
	return Module(name, Classifier, Linear("dense", c.D, c.D).Bias(true), Linear("out_proj", c.D, labels).Bias(true)).Throughout(PerSequence)
}

// bertLM is BERT's head over masked tokens. Its decoder is the token embedding,
// its bias stands beside it; untied it has both for itself.
func (c *Config) bertLM(embedding string, E Size) []Block {
	return c.masked("cls.predictions", embedding, E, Linear("transform.dense", c.D, E).Bias(true), LayerNorm("transform.LayerNorm", E))
}

// robertaLM is the same under RoBERTa's names.
func (c *Config) robertaLM(embedding string) []Block {
	return c.masked("lm_head", embedding, c.D, Linear("dense", c.D, c.D).Bias(true), LayerNorm("layer_norm", c.D))
}

func (c *Config) masked(name, embedding string, E Size, transform ...Block) []Block {
	tied := c.tied()
	decoder := Linear("decoder", E, c.V).Bias(true).TiedTo(embedding, tied).tie("bias", name+".bias", tied).As(Head)
	return []Block{Module(name, HeadLayers, append(transform, biasOf("bias", c.V).As(Head), decoder)...)}
}
