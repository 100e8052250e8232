package estimator

// Encoders in the mould of BERT.
var bertFamily = []Arch{
	{"bert", "BertForMaskedLM", bert},
}

func bert(c *Config) Model {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected = !c.Bool("is_decoder")
	prefix := c.under("bert")
	body := []Block{
		Module("embeddings", NoRole, Token("word_embeddings", c.V, c.D), Position("position_embeddings", c.C, c.D),
			TokenType("token_type_embeddings", c.Size("G", "type_vocab_size"), c.D), LayerNorm("LayerNorm", c.D)),
		Stack("encoder.layer", c.N, func(int) []Block {
			return []Block{
				AttentionBlock("attention", scores,
					Linear("self.query", c.D, c.Q).Bias(true), Linear("self.key", c.D, c.Q).Bias(true),
					Linear("self.value", c.D, c.Q).Bias(true), Linear("output.dense", c.Q, c.D).Bias(true)),
				LayerNorm("attention.output.LayerNorm", c.D),
				MLPBlock("", Linear("intermediate.dense", c.D, c.F).Bias(true), Linear("output.dense", c.F, c.D).Bias(true)),
				LayerNorm("output.LayerNorm", c.D)}
		}),
	}
	switch c.Task {
	case BaseModel, PreTraining, SequenceClassification, MultipleChoice, NextSentencePrediction:
		body = append(body, Linear("pooler.dense", c.D, c.D).Bias(true).On(PerSequence).As(Pooler))
	}
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V, Body: body, Head: c.bertHead(join(prefix, "embeddings.word_embeddings.weight"))}
}

// bertHead is BERT's heads by task. The decoder of the masked-language head is
// the token embedding, its bias stands beside it; untied it has both for itself.
func (c *Config) bertHead(embedding string) []Block {
	labels := Named("labels", c.NumLabels())
	pairs := Linear("cls.seq_relationship", c.D, Const(2)).Bias(true).On(PerSequence).As(Classifier)
	masked := []Block{
		Module("cls.predictions", HeadLayers, Linear("transform.dense", c.D, c.D).Bias(true), LayerNorm("transform.LayerNorm", c.D),
			Raw("bias", Head, c.V),
			Linear("decoder", c.D, c.V).Bias(true).TiedTo(embedding, c.tied()).tie("bias", "cls.predictions.bias", c.tied()).As(Head))}
	switch c.Task {
	case BaseModel:
		return nil
	case PreTraining:
		return append(masked, pairs)
	case NextSentencePrediction:
		return []Block{pairs}
	case SequenceClassification:
		return []Block{Linear("classifier", c.D, labels).Bias(true).On(PerSequence).As(Classifier)}
	case MultipleChoice:
		return []Block{Linear("classifier", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier)}
	case TokenClassification:
		return []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
	case QuestionAnswering:
		return []Block{Linear("qa_outputs", c.D, Const(2)).Bias(true).As(Classifier)}
	}
	return masked
}
