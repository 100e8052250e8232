package estimator

// Encoders with rotary positions, in the moulds of decoders.
var rotaryFamily = []Arch{
	{"modernbert", "ModernBertForMaskedLM", modernBert},
	{"nomic_bert", "NomicBertForMaskedLM", nomicBert},
	{"gte", "GteForMaskedLM", gte},
	{"jina_embeddings_v3", "JinaEmbeddingsV3ForMaskedLM", jinaEmbeddings},
	{"eurobert", "EuroBertForMaskedLM", euroBert},
	{"esmc", "EsmcForMaskedLM", esmC},
	{"ultrabert", "UltrabertForMaskedLM", ultraBert},
}

// bidirected is a model in GPT-2's mould without a causal mask, with the heads of
// an encoder.
func (c *Config) bidirected(d GPT, heads Encoder) Model {
	d.Scores = func(_ int, s Scores) Scores {
		s.Bidirected = true
		return s
	}
	model := gpt(c, d)
	model.Body = append(model.Body, c.pooler(heads)...)
	heads.E = c.D
	model.Head = c.encoderHead(heads, join(model.Prefix, d.Names.Token+".weight"))
	return model
}

// modernBert has a gate in its feed-forward blocks and, in two of three layers,
// a window (Warner et al. 2024, arXiv:2412.13663).
func modernBert(c *Config) Model {
	norm := func(name string, d Size) Block { return RMSNorm(name, d).Bias(c.Bool("norm_bias")) }
	model := c.bidirected(GPT{Prefix: "model", F: c.F, FusedGate: true, FirstBare: true, QKVBias: c.by("attention_bias"), OutBias: c.by("attention_bias"),
		UpBias: c.by("mlp_bias"), DownBias: c.by("mlp_bias"), Norm: norm,
		Names: Names{Token: "embeddings.tok_embeddings", EmbedNorm: "embeddings.norm", Stack: "layers", Norm1: "attn_norm", QKV: "Wqkv", Out: "Wo",
			Norm2: "mlp_norm", Up: "Wi", Down: "Wo", Last: "final_norm"}}, Encoder{Pooling: NoPool})
	rows, outputs := PerToken, Named("labels", c.NumLabels())
	switch c.Task {
	case BaseModel:
		return model
	case MultipleChoice:
		rows, outputs = PerSequence, Const(1)
	case SequenceClassification:
		rows = PerSequence
	}
	model.Head = []Block{Module("head", HeadLayers, Linear("dense", c.D, c.D).Bias(c.Bool("classifier_bias")), norm("norm", c.D)).Throughout(rows)}
	if c.Task == MaskedLM {
		model.Head = append(model.Head, Linear("decoder", c.D, c.V).Bias(c.Bool("decoder_bias")).TiedTo("model.embeddings.tok_embeddings.weight", c.tied()).As(Head))
	} else {
		model.Head = append(model.Head, Linear("classifier", c.D, outputs).Bias(true).On(rows).As(Classifier))
	}
	return model
}

// segments are embeddings by segment, where there are any.
func (c *Config) segments() []Block {
	if c.IntOr("type_vocab_size", 0) <= 0 {
		return nil
	}
	return []Block{TokenType("embeddings.token_type_embeddings", c.Size("G", "type_vocab_size"), c.D)}
}

// nomicBert is Nussbaum et al. 2024 (arXiv:2402.01613).
func nomicBert(c *Config) Model {
	return c.bidirected(GPT{Prefix: "nomic_bert", HeadDim: "head_dim", F: c.F, Bias: Off, Place: AfterEach, Embed: c.segments(),
		Names: Names{Token: "embeddings.word_embeddings", EmbedNorm: "emb_ln", Stack: "encoder.layers", QKV: "Wqkv", Out: "out_proj", Norm1: "norm1",
			Up: "fc11 fc12", Down: "fc2", Norm2: "norm2"}},
		Encoder{Pooling: PoolHeads, OneLayer: true, LM: func(embedding string) []Block {
			return c.masked("cls.predictions", embedding, c.D, Linear("transform.dense", c.D, c.D).Bias(true), LayerNorm("transform.layer_norm", c.D))
		}})
}

// gte is Zhang et al. 2024 (arXiv:2407.19669).
func gte(c *Config) Model {
	return c.bidirected(GPT{Prefix: "gte", HeadDim: "head_dim", F: c.F, FusedGate: true, UpBias: Off, Place: AfterEach, Embed: c.segments(),
		Names: Names{Token: "embeddings.word_embeddings", EmbedNorm: "embeddings.LayerNorm", Stack: "encoder.layer", Attn: "attention", QKV: "qkv_proj", Out: "o_proj",
			Norm1: "attn_ln", Up: "up_gate_proj", Down: "down_proj", Norm2: "mlp_ln"}},
		Encoder{Pooling: PoolHeads, OneLayer: true, LM: func(embedding string) []Block {
			return []Block{Module("lm_head", HeadLayers, Linear("dense", c.D, c.D).Bias(true), LayerNorm("norm", c.D),
				Linear("decoder", c.D, c.V).Bias(true).TiedTo(embedding, c.tied()).As(Head))}
		}})
}

// jinaEmbeddings is Sturua et al. 2024 (arXiv:2409.10173), without its adapters.
func jinaEmbeddings(c *Config) Model {
	return c.bidirected(GPT{Prefix: "roberta", HeadDim: "head_dim", F: c.F, Place: AfterEach, Embed: c.segments(),
		Names: Names{Token: "embeddings.word_embeddings", EmbedNorm: "emb_ln", Stack: "encoder.layers", Attn: "mixer", QKV: "Wqkv", Out: "out_proj", Norm1: "norm1",
			Up: "fc1", Down: "fc2", Norm2: "norm2"}}, Encoder{Pooling: PoolBase, LM: c.robertaLM})
}

// euroBert is llama's mould without a mask (Boizard et al. 2025,
// arXiv:2503.05500).
func euroBert(c *Config) Model {
	model := decoder(c, Decoder{Bidirected: true})
	labels, rows := Named("labels", c.NumLabels()), PerSequence
	if c.String("classifier_pooling") == "late" {
		rows = PerToken
	}
	switch c.Task {
	case BaseModel:
	case SequenceClassification:
		model.Head = []Block{Linear("dense", c.D, c.D).Bias(true).On(rows).As(Classifier), Linear("classifier", c.D, labels).Bias(true).On(rows).As(Classifier)}
	case TokenClassification:
		model.Head = []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
	default:
		model.Head = []Block{Linear("lm_head", c.D, c.V).Bias(c.Bool("mlp_bias")).TiedTo("model.embed_tokens.weight", c.tied()).As(Head)}
	}
	return model
}

// esmC reads proteins.
func esmC(c *Config) Model {
	layer := func(name string, d Size) Block {
		return RMSNorm(name, d).Bias(name != "norm")
	}
	model := decoder(c, Decoder{Bidirected: true, Prefix: "esmc", Norm: layer, Scored: []Block{RMSNorm("q_norm", c.D), RMSNorm("k_norm", c.D)}, Heads: Heads{Tokens: "score"}})
	switch c.Task {
	case SequenceClassification:
		model.Head = []Block{c.twoLayers("classifier", Named("labels", c.NumLabels()))}
	case MaskedLM:
		model.Head = []Block{Module("lm_head", HeadLayers, Linear("dense", c.D, c.D).Bias(true), LayerNorm("layer_norm", c.D), Linear("decoder", c.D, c.V).Bias(true).As(Head))}
	}
	return model
}

// ultraBert predicts tokens behind a narrow layer.
func ultraBert(c *Config) Model {
	model := decoder(c, Decoder{Bidirected: true, Prefix: "ultrabert"})
	labels, B := Named("labels", c.NumLabels()), c.Size("B", "prediction_head_size")
	switch c.Task {
	case BaseModel, QuestionAnswering:
	case SequenceClassification:
		model.Head = []Block{Linear("classifier", c.D, labels).Bias(true).On(PerSequence).As(Classifier)}
	case TokenClassification:
		model.Head = []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
	default:
		model.Head = []Block{Module("head", HeadLayers, Linear("linear1", c.D, B), Linear("linear2", B, c.D)),
			Linear("cls", c.D, c.V).TiedTo("ultrabert.embed_tokens.weight", c.tied()).As(Head)}
	}
	return model
}
