package estimator

// Language models that read the tokens of a tower for sound among their own, and
// those towers by themselves.
var listenFamily = []Arch{
	{"qwen2_audio", "Qwen2AudioForConditionalGeneration", func(c *Config) Model {
		return listener(c, Listener{Project: func(audio, text *Config) []Block {
			return []Block{Linear("linear", audio.D, text.D).Bias(true).Merging(2)}
		}})
	}},
	{"voxtral", "VoxtralForConditionalGeneration", func(c *Config) Model {
		return listener(c, Listener{Project: func(audio, text *Config) []Block { return audio.folded(text.D, text.D, false) }})
	}},
	{"audioflamingo3", "AudioFlamingo3ForConditionalGeneration", audioFlamingo3},
	{"musicflamingo", "MusicFlamingoForConditionalGeneration", audioFlamingo3},
	{"glmasr", "GlmAsrForConditionalGeneration", func(c *Config) Model {
		return listener(c, Listener{Project: func(audio, text *Config) []Block {
			return audio.folded(text.D.X(2), text.D, true)
		}})
	}},
	{"voxtral_realtime", "VoxtralRealtimeForConditionalGeneration", func(c *Config) Model {
		return listener(c, Listener{Project: func(audio, text *Config) []Block {
			n := c.Int("downsample_factor")
			return []Block{Linear("linear_1", audio.D.X(n), text.D).Merging(n), Linear("linear_2", text.D, text.D).Merging(n)}
		}})
	}},
	{"qwen3_asr", "Qwen3ASRForConditionalGeneration", qwen3ASR},
	{"fun_asr_nano", "FunAsrNanoForConditionalGeneration", funASRNano},
	{"qwen2_audio_encoder", "Qwen2AudioEncoder", whisperTower},
	{"voxtral_encoder", "VoxtralEncoder", whisperTower},
	{"audioflamingo3_encoder", "AudioFlamingo3Encoder", whisperTower},
	{"moss_transcribe_diarize_audio", "MossTranscribeDiarizeAudioModel", whisperTower},
	{"glmasr_encoder", "GlmAsrEncoder", glmASREncoder},
	{"voxtral_realtime_encoder", "VoxtralRealtimeEncoder", voxtralRealtimeEncoder},
	{"voxtral_realtime_text", "VoxtralRealtimeTextModel", voxtralRealtimeText},
	{"qwen3_asr_encoder", "Qwen3ASREncoder", func(c *Config) Model {
		return Model{Body: append(c.windowedTower(), LayerNorm("ln_post", c.D))}
	}},
	{"fun_asr_nano_encoder", "FunAsrNanoEncoder", funASRNanoEncoder},
}

// Listener is the mould of a language model with a tower for sound, whose type
// its config names, and a projector to its own width.
type Listener struct {
	Inner   bool // the library's names: model.language_model and lm_head, else language_model.model and language_model.lm_head
	Project func(audio, text *Config) []Block
}

func listener(c *Config, d Listener) Model {
	prefix, name, head := "", "language_model.model", "language_model.lm_head"
	if d.Inner {
		prefix, name, head = c.under("model"), "language_model", "lm_head"
	}
	text, inner := c.within("text_config")
	audio, tower := c.within("audio_config")
	clip := audio.IntOr("max_source_positions", 0)
	model := Model{Prefix: prefix, N: inner.N, D: inner.D, V: inner.V, Body: []Block{
		Module("audio_tower", NoRole, tower.Body...).Hearing(0).InTower("audio"),
		Module("multi_modal_projector", Projector, d.Project(audio, text)...).Hearing(clip), Module(name, NoRole, inner.Body...)}}
	switch c.Task {
	case BaseModel:
	case TokenClassification:
		model.Head = c.head("", text.D, Heads{TokensBare: !c.Bool("token_classification_bias")})
	default:
		embedding := join(prefix, name+".embed_tokens.weight")
		model.Head = []Block{Linear(head, text.D, text.V).On(PerLogit).TiedTo(embedding, c.Bool("tie_word_embeddings")).As(Head)}
	}
	return model
}

// folded makes one token of several and leads it through two linears.
func (c *Config) folded(wide, out Size, bias bool) []Block {
	n := max(1, c.F.Int()/max(1, c.D.Int()))
	return []Block{Linear("linear_1", c.F, wide).Bias(bias).Merging(n), Linear("linear_2", wide, out).Bias(bias).Merging(n)}
}

// audioFlamingo3 halves Whisper's tokens (Goel et al. 2025, arXiv:2507.08128).
func audioFlamingo3(c *Config) Model {
	bias := c.Bool("projector_bias")
	return listener(c, Listener{Project: func(audio, text *Config) []Block {
		return []Block{Linear("linear_1", audio.D, text.D).Bias(bias).Merging(2), Linear("linear_2", text.D, text.D).Bias(bias).Merging(2)}
	}})
}

// whisperTower is Whisper's encoder, which hears clips of a fixed length.
func whisperTower(c *Config) Model {
	h, S := c.half("encoder"), c.Size("S", "max_source_positions")
	layer := []Block{LayerNorm("self_attn_layer_norm", h.D), h.keysBare("self_attn"), LayerNorm("final_layer_norm", h.D),
		MLPBlock("", Linear("fc1", h.D, h.F).Bias(true), Linear("fc2", h.F, h.D).Bias(true))}
	body := append(h.spectrogram(), Position("embed_positions", S, h.D), Stack("layers", h.N, func(int) []Block { return layer }), LayerNorm("layer_norm", h.D))
	return Model{Body: []Block{Module("", NoRole, body...).Spanning(Span{Clip: S.Int()})}}
}

// spectrogram is Whisper's two convolutions over the bins of a spectrogram, the
// second of which halves its frames.
func (c *Config) spectrogram() []Block {
	return []Block{Conv("conv1", c.Size("M", "num_mel_bins"), c.D, Const(3)).Bias(true).Repeated(2).pixels(), Conv("conv2", c.D, c.D, Const(3)).Bias(true)}
}

// keysBare is Whisper's attention: keys have no bias.
func (c *Config) keysBare(name string) Block {
	return AttentionBlock(name, c.sightScores(), Linear("q_proj", c.D, c.D).Bias(true), Linear("k_proj", c.D, c.D),
		Linear("v_proj", c.D, c.D).Bias(true), Linear("out_proj", c.D, c.D).Bias(true))
}

// grouped is the same with fewer key and value heads, in llama's names.
func (c *Config) grouped(name string) Block {
	scores := c.sightScores()
	scores.KVHeads = c.K
	return AttentionBlock(name, scores, Linear("q_proj", c.D, c.Q).Bias(true), Linear("k_proj", c.D, c.U),
		Linear("v_proj", c.D, c.U).Bias(true), Linear("o_proj", c.Q, c.D).Bias(true))
}

func glmASREncoder(c *Config) Model {
	layer := []Block{LayerNorm("input_layernorm", c.D), c.grouped("self_attn"), LayerNorm("post_attention_layernorm", c.D), c.clipMLP("mlp")}
	return Model{Body: append(c.spectrogram(), Stack("layers", c.N, func(int) []Block { return layer }), LayerNorm("norm", c.D))}
}

// voxtralRealtimeEncoder hears no later than it speaks: its convolutions and its
// attention are causal, and its feed-forward blocks have gates.
func voxtralRealtimeEncoder(c *Config) Model {
	c.N = c.first("N", "encoder_layers", "num_hidden_layers")
	layer := []Block{RMSNorm("self_attn_layer_norm", c.D), c.grouped("self_attn"), RMSNorm("final_layer_norm", c.D),
		MLPBlock("mlp", Linear("gate_proj", c.D, c.F), Linear("up_proj", c.D, c.F), Linear("down_proj", c.F, c.D).Bias(true))}
	return Model{Body: []Block{Module("embedder", NoRole, c.spectrogram()...), Stack("layers", c.N, func(int) []Block { return layer }), RMSNorm("norm", c.D)}}
}

// voxtralRealtimeText is Mistral's, told by how much it may lag behind.
func voxtralRealtimeText(c *Config) Model {
	lag := Const(32)
	told := Module("ada_rms_norm", MLP, Linear("linear1", c.D, lag), Linear("linear2", lag, c.D)).Throughout(PerModel)
	return decoder(c, Decoder{QKVBias: Off, OutBias: Off, MLPBias: Off, Layer: func(_ int, attention, feedForward Block) []Block {
		return []Block{RMSNorm("input_layernorm", c.D), attention, RMSNorm("post_attention_layernorm", c.D), told, feedForward}
	}})
}

// qwen3ASR projects within the width of its tower first.
func qwen3ASR(c *Config) Model {
	return listener(c, Listener{Inner: true, Project: func(audio, text *Config) []Block {
		return []Block{Linear("linear_1", audio.D, audio.D).Bias(true), Linear("linear_2", audio.D, audio.Size("O", "output_dim")).Bias(true)}
	}})
}

// windowedTower convolves a spectrogram in short pieces, over time and frequency,
// and attends within windows of several pieces (Xu et al. 2025, arXiv:2509.17765).
func (c *Config) windowedTower() []Block {
	h, E := c.half("encoder"), c.Size("E", "downsample_hidden_size")
	frames, step := 2*c.Int("n_window"), Step{3, 2, 2}
	bins, piece := c.Int("num_mel_bins"), frames
	var convolutions []Block
	in := Const(1)
	for i, name := range []string{"conv2d1", "conv2d2", "conv2d3"} {
		bins, piece = step.leaves(bins), step.leaves(piece)
		conv := Conv(name, in, E, Const(3), Const(3)).Bias(true).Repeated(bins)
		conv.Pixels = i == 0
		convolutions, in = append(convolutions, conv.Spanning(Span{Length: piece})), E
	}
	convolutions = append(convolutions, Linear("conv_out", E.Times(Named("bins", bins)), h.D).As(Convolution))
	window := max(1, c.Int("n_window_infer")/max(1, frames)) * piece
	layer := []Block{LayerNorm("self_attn_layer_norm", h.D), h.clipAttention("self_attn").Spanning(Span{Window: window}), LayerNorm("final_layer_norm", h.D),
		MLPBlock("", Linear("fc1", h.D, h.F).Bias(true), Linear("fc2", h.F, h.D).Bias(true))}
	return []Block{Module("", Convolution, convolutions...).Spanning(Span{Clip: piece}), Stack("layers", h.N, func(int) []Block { return layer })}
}

// funASRNanoEncoder remembers its neighbours by a convolution on the values of each
// layer (Gao et al. 2020, arXiv:2006.01713). Its first layer takes stacked frames;
// the last one and the last before those that tell times end in a norm.
func funASRNanoEncoder(c *Config) Model {
	c.evenHeads()
	in, last := c.Size("M", "num_mel_bins").Times(c.Size("stacked", "num_stacked_frames")), int(c.N.Int())
	memory := GroupedConv("fsmn.conv", c.D, c.D, c.D.Int(), c.Size("kernel", "fsmn_kernel_size"))
	told := last - int(c.IntOr("num_timestamp_prediction_layers", 0))
	return Model{Body: []Block{Stack("layers", c.N, func(i int) []Block {
		from := c.D
		if i == 0 {
			from = in
		}
		layer := c.funASRLayer(from, memory)
		if i == last-1 || i == told-1 {
			layer = append(layer, LayerNorm("final_layernorm", c.D))
		}
		return layer
	})}}
}

func (c *Config) funASRLayer(in Size, within ...Block) []Block {
	attention := append([]Block{Linear("q_proj", in, c.D).Bias(true), Linear("k_proj", in, c.D).Bias(true), Linear("v_proj", in, c.D).Bias(true)}, within...)
	return []Block{LayerNorm("input_layernorm", in), AttentionBlock("self_attn", c.sightScores(), append(attention, Linear("o_proj", c.D, c.D).Bias(true))...),
		LayerNorm("post_attention_layernorm", c.D), c.clipMLP("mlp")}
}

// funASRNano has layers of its own between tower and language model.
func funASRNano(c *Config) Model {
	adaptor := c.part("adaptor_config")
	adaptor.evenHeads()
	P := adaptor.Size("P", "projector_hidden_size")
	return listener(c, Listener{Inner: true, Project: func(audio, text *Config) []Block {
		return []Block{Linear("linear_1", audio.D, P).Bias(true), Linear("linear_2", P, adaptor.D).Bias(true),
			Stack("layers", adaptor.N, func(int) []Block { return adaptor.funASRLayer(adaptor.D) })}
	}})
}
