package estimator

import "slices"

// Encoder-decoders, their decoders alone, and decoders that were made for an
// encoder beside them.
var crossFamily = slices.Concat([]Arch{
	{"bart", "BartForConditionalGeneration", bart},
	{"plbart", "PLBartForConditionalGeneration", bart},
	{"mvp", "MvpForConditionalGeneration", mvp},
	{"mbart", "MBartForConditionalGeneration", func(c *Config) Model {
		return seq2seq(c, Seq2Seq{Names: Names{EmbedNorm: "layernorm_embedding", Last: "layer_norm"}, Positions: c.C.Plus(Const(2)), Shifted: true})
	}},
	{"pegasus", "PegasusForConditionalGeneration", func(c *Config) Model {
		return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, Shifted: true})
	}},
	{"blenderbot", "BlenderbotForConditionalGeneration", func(c *Config) Model {
		return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, Shifted: true})
	}},
	{"blenderbot-small", "BlenderbotSmallForConditionalGeneration", func(c *Config) Model {
		return seq2seq(c, Seq2Seq{Names: Names{EmbedNorm: "layernorm_embedding"}, Shifted: true})
	}},
	{"bigbird_pegasus", "BigBirdPegasusForConditionalGeneration", bigBirdPegasus},
	{"marian", "MarianMTModel", marian},
	{"prophetnet", "ProphetNetForConditionalGeneration", prophetNet},
	{"trocr", "TrOCRForCausalLM", trOCR},
	{"whisper", "WhisperForConditionalGeneration", whisper},
}, audioFamily, visionTextFamily, t5Family)

// bart has two more rows of positions than the config says.
func bart(c *Config) Model {
	return seq2seq(c, Seq2Seq{Names: Names{EmbedNorm: "layernorm_embedding"}, Positions: c.C.Plus(Const(2)), Shifted: true})
}

// mvp is BART with learned prompts before the keys and values of each layer,
// where they are switched on (Tang et al. 2022, arXiv:2206.12131). Version 5 of
// the library forgets those of the encoder, which published files have.
func mvp(c *Config) Model {
	d := Seq2Seq{Names: Names{EmbedNorm: "layernorm_embedding"}, Positions: c.C.Plus(Const(2)), Shifted: true}
	if c.Bool("use_prompt") && c.Task != CausalLM {
		P, M := c.Size("P", "prompt_length"), c.Size("M", "prompt_mid_dim")
		prompt := func(name, half string) Block {
			return Module(name, Other, Token("prompt_embedding", P, c.D).As(Other), Linear("prompt_trans.0", c.D, M).Bias(true).On(Elsewhere),
				Linear("prompt_trans.2", M, c.half(half).N.X(2).Times(c.D)).Bias(true).On(Elsewhere))
		}
		d.Beside = func(half string) []Block {
			if half == "encoder" {
				return []Block{prompt("self_attn_prompt", half)}
			}
			return []Block{prompt("self_attn_prompt", half), prompt("cross_attn_prompt", half)}
		}
	}
	return seq2seq(c, d)
}

// bigBirdPegasus calls its last norm one over the embeddings. The head of the
// decoder alone is never tied.
func bigBirdPegasus(c *Config) Model {
	return seq2seq(c, Seq2Seq{Names: Names{Last: "layernorm_embedding"}, NoBias: !c.Bool("use_bias"), Shifted: true, LoneUntied: true,
		Sparse:  func(int) Sparse { return c.sparseBlocks() },
		Encoder: Names{QKV: "self.query self.key self.value", Out: "output"}})
}

// marian leaves its positions, which are sines, out of the checkpoints of its
// translation models. The halves may have vocabularies of their own.
func marian(c *Config) Model {
	rows := c.V
	if n, ok := c.Nullable("decoder_vocab_size"); ok && n > 0 && n != c.V.Int() {
		rows = c.named("Vd", "decoder_vocab_size", n)
	}
	d := Seq2Seq{Apart: !c.Bool("share_encoder_decoder_embeddings"), Rows: rows, Unsaved: c.Task == ConditionalGeneration, Shifted: true}
	if d.Apart && c.Task == ConditionalGeneration || c.Task == CausalLM && c.tied() {
		d.Targets = rows
	}
	return seq2seq(c, d)
}

// prophetNet predicts several tokens at once: each in a stream of its own, which
// attends to the main one and to itself (Qi et al. 2020, arXiv:2001.04063).
func prophetNet(c *Config) Model {
	ngram, buckets := c.Size("G", "ngram"), c.Size("B", "num_buckets")
	return seq2seq(c, Seq2Seq{Prefix: "prophetnet", Table: "word_embeddings", Streams: ngram.Int(), EveryLogit: true,
		NoCross: !c.Bool("add_cross_attention"),
		Names: Names{Token: "word_embeddings", Position: "position_embeddings", EmbedNorm: "embeddings_layer_norm",
			QKV: "query_proj key_proj value_proj", MLP: "feed_forward", Up: "intermediate", Down: "output", Norm2: "feed_forward_layer_norm",
			Cross: "cross_attn", CrossNorm: "cross_attn_layer_norm"},
		Beside: func(half string) []Block {
			if half == "encoder" {
				return nil
			}
			return []Block{Position("ngram_embeddings", ngram, c.D)}
		},
		Within: func(h *Config) Block {
			relative := Linear("relative_pos_embeddings", c.D, buckets.Times(h.A)).Bias(true)
			relative.Extra = streamKeys(ngram, c.D)
			return relative
		}})
}

// trOCR is the decoder of an encoder for images.
func trOCR(c *Config) Model {
	d := Seq2Seq{Positions: c.C.Plus(Const(2)), NoPositions: !c.Bool("use_learned_position_embeddings"), Head: "output_projection",
		EveryLogit: true, CrossIn: c.SizeOr("X", "cross_attention_hidden_size", c.D)}
	if c.Bool("layernorm_embedding") {
		d.Names.EmbedNorm = "layernorm_embedding"
	}
	return seq2seq(c, d)
}
