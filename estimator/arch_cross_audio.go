package estimator

import "math/big"

// Decoders of sound.
var audioFamily = []Arch{
	{"musicgen_decoder", "MusicgenForCausalLM", func(c *Config) Model { return musicgen(c, false) }},
	{"musicgen_melody_decoder", "MusicgenMelodyForCausalLM", func(c *Config) Model { return musicgen(c, true) }},
	{"moshi", "MoshiForCausalLM", moshi},
	{"moss_transcribe_diarize", "MossTranscribeDiarizeForConditionalGeneration", mossTranscribe},
}

// musicgen reads and writes one token for each codebook at a time (Copet et al.
// 2023, arXiv:2306.05284). With a melody, the conditions stand before the tokens
// instead of in an encoder beside them.
func musicgen(c *Config, melody bool) Model {
	books := c.Size("K", "num_codebooks")
	tables := Stack("embed_tokens", books, func(int) []Block { return []Block{Token("", c.V.Plus(Const(1)), c.D)} })
	return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, Alone: true, NoCross: melody, NoBias: true, MLPBare: true,
		Embed: map[string][]Block{"decoder": {tables}}, Head: "lm_heads", Heads: books, EveryLogit: true})
}

// moshi has one more row of tokens than it can predict, and a gate in the first
// half of the feed-forward width (Défossez et al. 2024, arXiv:2410.00037).
func moshi(c *Config) Model {
	attention := AttentionBlock("self_attn", GQA(c.A, c.K, c.H, c.window(0)), Linear("q_proj.linear", c.D, c.Q), Linear("k_proj.linear", c.D, c.U),
		Linear("v_proj.linear", c.D, c.U), Linear("o_proj.linear", c.Q, c.D))
	feedForward := MLPBlock("mlp", Linear("fc1", c.D, c.F), Linear("fc2", c.ratio("F/2", c.F, Const(2)), c.D))
	return decoder(c, Decoder{Rows: c.V.Plus(Const(1)), Attn: func(int) Block { return attention }, FFN: func(int) Block { return feedForward },
		Heads: Heads{NeverTied: true}})
}

// whisper hears spectrograms: two convolutions, the second of which halves the
// frames, and always as many as there are positions (Radford et al. 2022,
// arXiv:2212.04356).
func whisper(c *Config) Model {
	d, S := c.whisperSides(), c.Size("S", "max_source_positions")
	if c.Task == AudioClassification {
		return c.classifiedAudio(d, S)
	}
	d.Positions = c.Size("C", "max_target_positions")
	model := seq2seq(c, d)
	if model.EncoderDecoder {
		model.EncoderSeq = S.Int()
	}
	return model
}

func (c *Config) whisperSides() Seq2Seq {
	spectrogram := []Block{Conv("conv1", c.Size("M", "num_mel_bins"), c.D, Const(3)).Bias(true).Repeated(2),
		Conv("conv2", c.D, c.D, Const(3)).Bias(true), Position("embed_positions", c.Size("S", "max_source_positions"), c.D)}
	return Seq2Seq{Names: Names{Last: "layer_norm"}, Apart: true, NoKeyBias: true, Head: "proj_out", EveryLogit: true,
		Embed: map[string][]Block{"encoder": spectrogram}}
}

// classifiedAudio is the encoder alone, all of whose layers may be weighed, with
// a classifier over the mean of its tokens.
func (c *Config) classifiedAudio(d Seq2Seq, S Size) Model {
	B := c.Size("B", "classifier_proj_size")
	head := []Block{Linear("projector", c.D, B).Bias(true).On(PerMemory).As(Classifier),
		Linear("classifier", B, Named("labels", c.NumLabels())).Bias(true).On(PerSequence).As(Classifier)}
	if c.Bool("use_weighted_layer_sum") {
		head = append([]Block{Raw("layer_weights", Other, c.half("encoder").N.Plus(Const(1)))}, head...)
	}
	return Model{Body: []Block{c.encoderHalf(d.named(), "")}, Head: head, EncoderSeq: S.Int()}
}

// mossTranscribe puts the tokens of Whisper's encoder, several merged to one,
// before those of a language model.
func mossTranscribe(c *Config) Model {
	return c.languageModel("text_config", c.under("model"), "language_model", "lm_head", func(text *Config) []Block {
		audio := c.part("audio_config")
		merged := audio.D.X(c.Int("audio_merge_size"))
		bias := c.Bool("projector_bias")
		return []Block{audio.encoderHalf(audio.whisperSides().named(), "").Called("audio_tower").InTower("audio"),
			Module("multi_modal_projector", Projector, Linear("linear_1", merged, text.D).Bias(bias),
				Linear("linear_2", text.D, text.D).Bias(bias), LayerNorm("norm", text.D)).tower("").Merging(c.Int("audio_merge_size"))}
	})
}

// streamKeys is the predicting streams' attention to their own keys, beside that
// to the main stream's, which all streams have alike.
func streamKeys(streams, d Size) *Extra {
	return &Extra{Name: "streams", Sizes: []Size{streams, d}, FLOPs: func(p Pass) *big.Int {
		return product(4, p.Batch, streams.Int(), p.Seq, p.Seq, d.Int())
	}}
}
