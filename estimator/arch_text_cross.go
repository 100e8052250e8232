package estimator

import "math/big"

// Encoder-decoders that differ from T5 by a part.
var t5KinFamily = []Arch{
	{"mt5", "MT5ForConditionalGeneration", t5},
	{"umt5", "UMT5ForConditionalGeneration", func(c *Config) Model { return t5With(c, T5{EachBias: true}) }},
	{"switch_transformers", "SwitchTransformersForConditionalGeneration", switchTransformers},
	{"longt5", "LongT5ForConditionalGeneration", longT5},
}

// Encoder-decoders that differ from BART's kin by a part.
var seq2seqKinFamily = []Arch{
	{"m2m_100", "M2M100ForConditionalGeneration", func(c *Config) Model {
		return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, NoPositions: true})
	}},
	{"nllb-moe", "NllbMoeForConditionalGeneration", nllbMoe},
	{"fsmt", "FSMTForConditionalGeneration", fsmt},
	{"led", "LEDForConditionalGeneration", led},
	{"longformer", "LongformerForMaskedLM", longformer},
	{"pegasus_x", "PegasusXForConditionalGeneration", pegasusX},
}

// sparseStep is how many layers there are to each with experts: the file's number,
// else by how many those are to be.
func (c *Config) sparseStep(half string, layers Size) int64 {
	if n, ok := c.GivenInt(half + "_sparse_step"); ok {
		return n
	}
	if n := c.IntOr("num_sparse_"+half+"_layers", 0); n > 0 {
		return layers.Int() / n
	}
	return layers.Int()
}

// switchTransformers routes each token to one expert (Fedus et al. 2021,
// arXiv:2101.03961). Tokens beyond an expert's capacity, which pass it by, are
// counted all the same.
func switchTransformers(c *Config) Model {
	c.heads(c.A, c.A, "d_kv")
	E, F := c.Size("E", "num_experts"), c.Size("F", "d_ff")
	expert := []Block{Linear("wi", c.D, F), Linear("wo", F, c.D)}
	layers := map[string]Size{"encoder": c.N, "decoder": c.SizeOr("Nd", "num_decoder_layers", c.N)}
	return t5With(c, T5{Untied: true, FFN: func(half string, i int) Block {
		step := c.sparseStep(half, layers[half])
		if step <= 0 || step > 1 && int64(i)%step != 1 {
			return MLPBlock("mlp", expert...)
		}
		return MLPBlock("mlp", Linear("router.classifier", c.D, E).Bias(c.Bool("router_bias")).As(Router), called("experts", E, Const(1), expert...))
	}})
}

// longT5 sees blocks of tokens and those beside them and, under the second kind of
// attention, sums of all the others (Guo et al. 2021, arXiv:2112.07916).
func longT5(c *Config) Model {
	local := Sparse{Local: c.Int("local_radius") + 1, Beside: 2}
	global := c.String("encoder_attention_type") == "transient-global"
	name := "LocalSelfAttention"
	if global {
		name, local.Summary = "TransientGlobalSelfAttention", max(1, c.Int("global_block_size"))
	}
	return t5With(c, T5{Self: func(i int, self Block) Block {
		scores := *self.Scores
		scores.Sparse = local
		self.Name, self.Scores = name, &scores
		if global {
			if i == 0 {
				self.Sub = append(self.Sub, Position("global_relative_attention_bias", c.Size("B", "relative_attention_num_buckets"), c.A))
			}
			self.Sub = append(self.Sub, RMSNorm("global_input_layer_norm", c.D), Block{}.doing(c.summaries(scores.Memory, local.Summary)))
		}
		return self
	}})
}

// summaries are sums of so many tokens each, and their keys and values.
func (c *Config) summaries(memory bool, n int64) *Extra {
	return &Extra{Name: "summaries", Sizes: []Size{c.D, c.Q}, FLOPs: func(p Pass) *big.Int {
		tokens := p.Seq
		if memory {
			tokens = p.EncoderSeq
		}
		if memory && p.Past > 0 {
			return new(big.Int)
		}
		sums := product(2, p.Batch, tokens, tokens/n, c.D.Int())
		return sums.Add(sums, product(4, p.Batch, tokens/n, c.D.Int(), c.Q.Int()))
	}}
}

// nllbMoe routes each token to two experts in every few layers (NLLB team 2022,
// arXiv:2207.04672). Version 5 of the library multiplies others than it means to.
func nllbMoe(c *Config) Model {
	E := c.Size("E", "num_experts")
	model := seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm", Norm2: "ff_layer_norm", CrossNorm: "cross_attention_layer_norm", Cross: "cross_attention"}, NoPositions: true,
		FFN: func(half string, h *Config, i int) Block {
			expert := []Block{Linear("fc1", h.D, h.F).Bias(true), Linear("fc2", h.F, h.D).Bias(true)}
			if step := c.Int(half + "_sparse_step"); step <= 0 || int64(i+1)%step != 0 {
				return MLPBlock("ffn", expert...)
			}
			return MLPBlock("ffn", Linear("router.classifier", h.D, E).Bias(c.Bool("router_bias")).As(Router), called("experts", E, Const(2), expert...))
		}})
	model.FLOPsByRule = true
	return model
}

// fsmt has a vocabulary for each language and its output within the decoder (Ng et
// al. 2019, arXiv:1907.06616).
func fsmt(c *Config) Model {
	if c.Class == "FSMTModel" { // ends like MarianMTModel, which has a head
		c.Task = BaseModel
	}
	source, target := c.Size("Vs", "src_vocab_size"), c.Size("Vt", "tgt_vocab_size")
	c.V = source
	model := seq2seq(c, Seq2Seq{Apart: true, Rows: target, Positions: c.C.Plus(Const(c.IntOr("pad_token_id", 1) + 1))})
	embedding := join(model.Prefix, "decoder.embed_tokens.weight")
	encoder, decoder := &model.Body[0], &model.Body[len(model.Body)-1]
	encoder.Sub[0] = encoder.Sub[0].TiedTo(embedding, c.tied())
	decoder.Sub = append(decoder.Sub, Linear("output_projection", c.D, target).TiedTo(embedding, c.tied()).As(Head))
	model.Head = nil
	return model
}

// windows is Longformer's choice of keys in layer i: so many on both sides.
func (c *Config) windows(i int) Sparse { return Sparse{Local: c.attentionWindow(i) / 2, Pairs: true} }

func (c *Config) attentionWindow(i int) int64 {
	if !c.Value("attention_window").IsArray() {
		return max(2, c.Int("attention_window"))
	}
	if list := c.Ints("attention_window"); i < len(list) {
		return max(2, list[i])
	}
	return 512
}

// longestWindow is that to a multiple of which the tokens are padded.
func (c *Config) longestWindow() (longest int64) {
	for i := range int(min(c.N.Int(), mostLayers)) {
		longest = max(longest, c.attentionWindow(i))
	}
	return longest
}

// globals are the projections of tokens that see all, of which there are none
// unless a mask or a head asks for some.
func (c *Config) globals(prefix string) (list []Block) {
	for _, name := range []string{"query_global", "key_global", "value_global"} {
		list = append(list, Linear(prefix+name, c.D, c.D).Bias(true).On(Elsewhere))
	}
	return list
}

// longformer is RoBERTa with windows.
func longformer(c *Config) Model {
	c.evenHeads()
	model := roberta(c, Encoder{Prefix: "longformer", Layers: func() []Block {
		return []Block{Stack("encoder.layer", c.N, func(i int) []Block {
			scores := c.sightScores()
			scores.Sparse = c.windows(i)
			return c.encoderLayer(Encoder{Within: c.globals("self."), Scores: &scores})
		}).padded(c.longestWindow(), Span{})}
	}})
	model.FLOPsByRule = c.Task == SequenceClassification || c.Task == QuestionAnswering || c.Task == MultipleChoice
	return model
}

// led is BART whose encoder has Longformer's windows.
func led(c *Config) Model {
	c.N = c.half("encoder").N
	return seq2seq(c, Seq2Seq{Prefix: "led", Names: Names{EmbedNorm: "layernorm_embedding"}, Shifted: true, Padded: c.longestWindow(),
		Encoder:   Names{QKV: "longformer_self_attn.query longformer_self_attn.key longformer_self_attn.value", Out: "output"},
		Positions: c.Size("Cd", "max_decoder_position_embeddings"), Spoken: c.Size("Ce", "max_encoder_position_embeddings"),
		Sparse: c.windows, Attended: c.globals("longformer_self_attn.")})
}

// pegasusX sees blocks of tokens, and some learned ones that see all (Phang et al.
// 2022, arXiv:2208.04347).
func pegasusX(c *Config) Model {
	G, block := c.Size("G", "num_global_tokens"), max(1, c.Int("block_size"))
	stagger := int64(0)
	if c.Bool("stagger_local_blocks") {
		stagger = block
	}
	return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, NoBias: true, NoPositions: true, Padded: block, Stagger: stagger,
		Sparse: func(int) Sparse { return Sparse{Local: block, Global: G.Int()} }, Side: []Block{LayerNorm("global_self_attn_layer_norm", c.D)},
		Beside: func(half string) []Block {
			if half == "decoder" {
				return nil
			}
			return []Block{Position("embed_global", G, c.D)}
		}})
}
