package estimator

import "strings"

// Encoder-decoders in the mould of T5 (Raffel et al. 2019, arXiv:1910.10683).
var t5Family = []Arch{
	{"t5", "T5ForConditionalGeneration", t5},
}

// T5 says what a family does otherwise than T5 itself.
type T5 struct {
	EachBias bool                          // a bias of the scores in every layer, not one for all
	Untied   bool                          // embeddings are tied where the config says so alone
	Self     func(i int, self Block) Block // what the encoder's self-attention is
	FFN      func(half string, i int) Block
}

func t5(c *Config) Model { return t5With(c, T5{}) }

// t5With ties its embeddings whatever the config says: that flag switches a scale.
func t5With(c *Config, d T5) Model {
	alone := c.Task == EncoderOnly || c.Task == TokenClassification
	model := Model{EncoderDecoder: !alone}
	if c.Task == SequenceClassification || c.Task == TokenClassification {
		model.Prefix = "transformer"
	}
	shared, labels := join(model.Prefix, "shared.weight"), Named("labels", c.NumLabels())
	model.Body = []Block{Token("shared", c.V, c.D)}
	if alone {
		model.N, model.D, model.V = c.N, c.D, c.V
		model.Body = append(model.Body, c.t5Half(d, "encoder", c.N, shared, Scores{Bidirected: true}))
	} else {
		encoder := c.t5Half(d, "encoder", c.N, shared, Scores{Bidirected: true, Memory: true}).Throughout(PerMemory).InTower("encoder")
		model.Body = append(model.Body, encoder, c.t5Half(d, "decoder", c.SizeOr("Nd", "num_decoder_layers", c.N), shared, Scores{}))
	}
	switch c.Task {
	case BaseModel, EncoderOnly:
	case SequenceClassification:
		model.Head = []Block{c.twoLayers("classification_head", labels)}
	case TokenClassification:
		model.Head = []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
	case QuestionAnswering:
		model.Head = []Block{Linear("qa_outputs", c.D, labels).Bias(true).As(Classifier)}
	default:
		model.Head = []Block{Linear("lm_head", c.D, c.V).TiedTo(shared, !d.Untied || c.tied()).As(Head)}
	}
	return model
}

// t5Half is the encoder or the decoder: attention, attention to the encoder's
// tokens and a feed-forward block, each behind a norm in a numbered module. The
// first layer keeps the bias of the scores by bucket of distance, for all layers.
func (c *Config) t5Half(d T5, name string, count Size, shared string, kind Scores) Block {
	decoder := !kind.Bidirected
	gated := strings.HasPrefix(c.String("feed_forward_proj"), "gated")
	if c.Given("is_gated_act") {
		gated = c.Bool("is_gated_act")
	}
	return Module(name, NoRole, Token("embed_tokens", c.V, c.D).TiedTo(shared, !d.Untied || c.tied()), Stack("block", count, func(i int) []Block {
		self := c.t5Attention("SelfAttention", kind)
		if i == 0 || d.EachBias {
			self.Sub = append(self.Sub, Position("relative_attention_bias", c.Size("B", "relative_attention_num_buckets"), c.A))
		}
		if d.Self != nil && !decoder {
			self = d.Self(i, self)
		}
		layer := []Block{self}
		if decoder {
			layer = append(layer, c.t5Attention("EncDecAttention", Scores{Cross: true}))
		}
		if d.FFN != nil {
			layer = append(layer, d.FFN(name, i))
		} else {
			layer = append(layer, c.t5MLP(gated))
		}
		for k := range layer {
			layer[k] = Module(numbered("layer", k), NoRole, RMSNorm("layer_norm", c.D).mixed(), layer[k])
		}
		return layer
	}), RMSNorm("final_layer_norm", c.D).mixed().dropped(true))
}

func (c *Config) t5Attention(name string, kind Scores) Block {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected, scores.Memory, scores.Cross = kind.Bidirected, kind.Memory, kind.Cross
	scores.Saving = ScoresSaving{Bias: LearnedBias, PassedMask: !kind.Bidirected && !kind.Cross}
	rows, keys := PerToken, PerToken
	if kind.Cross {
		scores.Saving.Bias = ZeroBias
		rows, keys = PerCrossed, PerMemory
	}
	return AttentionBlock(name, scores, Linear("q", c.D, c.Q).On(rows), Linear("k", c.D, c.Q).On(keys), Linear("v", c.D, c.Q).On(keys),
		Linear("o", c.Q, c.D).On(rows))
}

func (c *Config) t5MLP(gated bool) Block {
	F := c.Size("F", "d_ff")
	if gated {
		return MLPBlock("DenseReluDense", Linear("wi_0", c.D, F), Linear("wi_1", c.D, F).dropped(true), Linear("wo", F, c.D))
	}
	return MLPBlock("DenseReluDense", Linear("wi", c.D, F).dropped(true), Linear("wo", F, c.D))
}
