package estimator

import "slices"

// Encoders in the mould of BERT.
var bertFamily = slices.Concat([]Arch{
	{"bert", "BertForMaskedLM", func(c *Config) Model { return encoder(c, Encoder{}) }},
	{"ernie", "ErnieForMaskedLM", ernie},
	{"roc_bert", "RoCBertForMaskedLM", rocBert},
	{"megatron-bert", "MegatronBertForMaskedLM", func(c *Config) Model {
		return encoder(c, Encoder{Prefix: "bert", NoEmbedNorm: true, PreNorms: [2]string{"ln", "ln"}, Last: "encoder.ln"})
	}},
	{"bert-generation", "BertGenerationDecoder", func(c *Config) Model {
		return encoder(c, Encoder{Prefix: "bert", NoSegments: true, Pooling: NoPool,
			LM: func(embedding string) []Block { return c.masked("lm_head", embedding, c.D) }})
	}},
	{"big_bird", "BigBirdForMaskedLM", bigBird},
	{"electra", "ElectraForPreTraining", electra},
	{"roformer", "RoFormerForMaskedLM", roFormer},
	{"rembert", "RemBertForMaskedLM", remBert},
	{"distilbert", "DistilBertForMaskedLM", distilBert},
}, robertaFamily, textFamily)

// Encoders with RoBERTa's heads.
var robertaFamily = []Arch{
	{"roberta", "RobertaForMaskedLM", func(c *Config) Model { return roberta(c, Encoder{Prefix: "roberta"}) }},
	{"xlm-roberta", "XLMRobertaForMaskedLM", func(c *Config) Model { return roberta(c, Encoder{Prefix: "roberta"}) }},
	{"camembert", "CamembertForMaskedLM", func(c *Config) Model { return roberta(c, Encoder{Prefix: "roberta"}) }},
	{"data2vec-text", "Data2VecTextForMaskedLM", func(c *Config) Model { return roberta(c, Encoder{Prefix: "data2vec_text"}) }},
	{"roberta-prelayernorm", "RobertaPreLayerNormForMaskedLM", func(c *Config) Model {
		return roberta(c, Encoder{Prefix: "roberta_prelayernorm", PreNorms: [2]string{"LayerNorm", "intermediate.LayerNorm"}, Last: "LayerNorm"})
	}},
	{"xlm-roberta-xl", "XLMRobertaXLForMaskedLM", func(c *Config) Model {
		return roberta(c, Encoder{Prefix: "roberta", NoEmbedNorm: true, PreNorms: [2]string{"self_attn_layer_norm", "LayerNorm"}, Last: "encoder.LayerNorm"})
	}},
	{"xmod", "XmodForMaskedLM", xmod},
}

func ernie(c *Config) Model {
	var d Encoder
	if c.Bool("use_task_id") {
		d.Embed = []Block{TokenType("task_type_embeddings", c.Size("tasks", "task_type_vocab_size"), c.D)}
	}
	return encoder(c, d)
}

// rocBert adds what a character sounds and looks like, side by side with it and
// mapped to the width of the layers, or just stored.
func rocBert(c *Config) Model {
	P, S := c.Size("P", "pronunciation_embed_dim"), c.Size("S", "shape_embed_dim")
	width := c.D
	if c.Bool("enable_pronunciation") {
		width = width.Plus(P)
	}
	if c.Bool("enable_shape") {
		width = width.Plus(S)
	}
	d := Encoder{Embed: []Block{Token("pronunciation_embed", c.Size("Vp", "pronunciation_vocab_size"), P),
		Token("shape_embed", c.Size("Vs", "shape_vocab_size"), S)}}
	if c.Bool("concat_input") {
		d.Embed = append(d.Embed, Linear("map_inputs_layer", width, c.D).Bias(true).As(Projector))
	}
	d.Own = func(task Task, lm []Block) []Block {
		if task == PreTraining {
			return lm
		}
		return nil
	}
	return encoder(c, d)
}

// sparseBlocks is BigBird's choice of keys, where it is switched on.
func (c *Config) sparseBlocks() Sparse {
	if c.String("attention_type") != "block_sparse" {
		return Sparse{}
	}
	return Sparse{Block: c.Int("block_size"), Random: c.Int("num_random_blocks")}
}

// bigBird answers questions behind a feed-forward block of its own.
func bigBird(c *Config) Model {
	answers := Module("qa_classifier", HeadLayers, Linear("intermediate.dense", c.D, c.F).Bias(true),
		Linear("output.dense", c.F, c.D).Bias(true), LayerNorm("output.LayerNorm", c.D),
		Linear("qa_outputs", c.D, Const(2)).Bias(true).As(Classifier))
	return encoder(c, Encoder{Prefix: "bert", Sparse: c.sparseBlocks(), NoBias: !c.Bool("use_bias"), Pooling: PoolAll, Pooler: "pooler",
		Own: func(task Task, _ []Block) []Block {
			if task == QuestionAnswering {
				return []Block{answers}
			}
			return nil
		}})
}

// electra is trained to tell replaced tokens from original ones; its language
// head is the generator's.
func electra(c *Config) Model {
	E := c.Size("E", "embedding_size")
	discriminator := Module("discriminator_predictions", HeadLayers, Linear("dense", c.D, c.D).Bias(true),
		Linear("dense_prediction", c.D, Const(1)).Bias(true).As(Classifier))
	return encoder(c, Encoder{E: E, Lead: c.leadIn(E), Pooling: NoPool,
		LM: func(embedding string) []Block {
			return []Block{Module("generator_predictions", HeadLayers, Linear("dense", c.D, E).Bias(true), LayerNorm("LayerNorm", E)),
				Linear("generator_lm_head", E, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head)}
		},
		Own: func(task Task, _ []Block) []Block {
			if task == PreTraining {
				return []Block{discriminator}
			}
			return c.summarised(task)
		}})
}

// summarised is the multiple-choice head behind a projection of its own.
func (c *Config) summarised(task Task) []Block {
	if task != MultipleChoice {
		return nil
	}
	return append(c.summary("sequence_summary", c.D, Named("labels", c.NumLabels())),
		Linear("classifier", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier))
}

// roFormer keeps the sines of its rotary embedding as a table.
func roFormer(c *Config) Model {
	c.evenHeads()
	E := c.SizeOr("E", "embedding_size", c.D)
	return encoder(c, Encoder{E: E, Lead: append(c.leadIn(E), Position("encoder.embed_positions", c.C, c.H)), NoPositions: true,
		Pooling: NoPool, Own: func(task Task, _ []Block) []Block { return c.summarised(task) }})
}

// remBert has narrow input embeddings and wide output embeddings, never tied
// (Chung et al. 2020, arXiv:2010.12821).
func remBert(c *Config) Model {
	E, O := c.Size("E", "input_embedding_size"), c.Size("O", "output_embedding_size")
	return encoder(c, Encoder{E: E, Lead: []Block{Linear("encoder.embedding_hidden_mapping_in", E, c.D).Bias(true).As(Projector)},
		LM: func(string) []Block {
			return []Block{Module("cls.predictions", HeadLayers, Linear("dense", c.D, O).Bias(true), LayerNorm("LayerNorm", O),
				Linear("decoder", O, c.V).Bias(true).As(Head))}
		}})
}

func roberta(c *Config, d Encoder) Model {
	d.Pooling, d.LM = PoolBase, c.robertaLM
	return encoder(c, d)
}

// xmod has an adapter for each language behind every layer, of which the text's
// own runs.
func xmod(c *Config) Model {
	B := c.ratio("B", c.D, c.Size("R", "adapter_reduction_factor"))
	var adapters []Block
	if c.Bool("adapter_layer_norm") {
		adapters = append(adapters, LayerNorm("output.adapter_layer_norm", c.D))
	}
	for i, language := range c.Strings("languages") {
		adapter := Module("output.adapter_modules."+language, Other, Linear("dense1", c.D, B).Bias(true), Linear("dense2", B, c.D).Bias(true))
		adapter.Idle = i > 0
		adapters = append(adapters, adapter)
	}
	d := Encoder{Prefix: "roberta", Adapter: adapters}
	if c.Bool("pre_norm") {
		d.PreNorms, d.Last = [2]string{"output.LayerNorm", "output.LayerNorm"}, "encoder.LayerNorm"
	}
	return roberta(c, d)
}

// distilBert is BERT without segments and pooler (Sanh et al. 2019,
// arXiv:1910.01108).
func distilBert(c *Config) Model {
	labels, F := Named("labels", c.NumLabels()), c.Size("F", "hidden_dim")
	model := gpt(c, GPT{Prefix: "distilbert", Place: AfterEach, F: F, Positions: c.C,
		Names: Names{Token: "embeddings.word_embeddings", Position: "embeddings.position_embeddings", EmbedNorm: "embeddings.LayerNorm",
			Stack: "transformer.layer", QKV: "q_lin k_lin v_lin", Attn: "attention", Out: "out_lin", Norm1: "sa_layer_norm",
			MLP: "ffn", Up: "lin1", Down: "lin2", Norm2: "output_layer_norm"},
		Scores: func(_ int, s Scores) Scores { s.Bidirected = true; return s }})
	first := Linear("pre_classifier", c.D, c.D).Bias(true).On(PerSequence).As(Classifier)
	switch c.Task {
	case BaseModel:
	case SequenceClassification:
		model.Head = []Block{first, Linear("classifier", c.D, labels).Bias(true).On(PerSequence).As(Classifier)}
	case MultipleChoice:
		model.Head = []Block{first, Linear("classifier", c.D, Const(1)).Bias(true).On(PerSequence).As(Classifier)}
	case TokenClassification, QuestionAnswering: // as the mould has them
	default:
		model.Head = []Block{Linear("vocab_transform", c.D, c.D).Bias(true).As(HeadLayers), LayerNorm("vocab_layer_norm", c.D),
			Linear("vocab_projector", c.D, c.V).Bias(true).TiedTo("distilbert.embeddings.word_embeddings.weight", c.tied()).As(Head)}
	}
	return model
}
