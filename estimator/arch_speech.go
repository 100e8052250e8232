package estimator

import "strings"

// Encoder-decoders that hear, or speak.
var speechFamily = []Arch{
	{"speech_to_text", "Speech2TextForConditionalGeneration", speech2Text},
	{"moonshine", "MoonshineForConditionalGeneration", moonshine},
	{"pop2piano", "Pop2PianoForConditionalGeneration", pop2Piano},
	{"speecht5", "SpeechT5ForSpeechToText", speechT5},
	{"speech-encoder-decoder", "SpeechEncoderDecoderModel", speechEncoderDecoder},
}

// speech2Text shortens spectrograms by convolutions with gates (Wang et al. 2020,
// arXiv:2010.05171).
func speech2Text(c *Config) Model {
	kernels, middle := c.Ints("conv_kernel_sizes"), c.Size("C", "conv_channels")
	var steps []Step
	for _, k := range kernels {
		steps = append(steps, Step{k, 2, k / 2 * 2})
	}
	convolutions := Stack("conv.conv_layers", Const(int64(len(kernels))), func(i int) []Block {
		in, out := c.ratio("C/2", middle, Const(2)), middle
		if i == 0 {
			in = c.Size("M", "input_feat_per_channel").Times(c.Size("channels", "input_channels"))
		}
		if i == int(c.Int("num_conv_layers"))-1 {
			out = c.D.X(2)
		}
		conv := Conv("", in, out, Named("kernel", kernels[i])).Bias(true)
		conv.Pixels = i == 0
		return []Block{conv.Spanning(Span{Memory: true, Before: steps[i+1:]})}
	})
	return seq2seq(c, Seq2Seq{Names: Names{Last: "layer_norm"}, Apart: true, NoPositions: true, Embed: map[string][]Block{"encoder": {convolutions}}})
}

// moonshine hears raw sound of any length (Jeffries et al. 2024,
// arXiv:2410.15608).
func moonshine(c *Config) Model {
	prefix, one, bias := c.under("model"), Const(1), c.Bool("attention_bias")
	attention := func(name string, scores Scores) Block {
		if n := c.IntOr("pad_head_dim_to_multiple_of", 0); n > 0 { // multiplied with zeros besides
			scores.KeyDim = Named("Hp", (c.H.Int()+n-1)/n*n)
			scores.ValueDim = scores.KeyDim
		}
		rows, keys := PerToken, PerToken
		if scores.Cross {
			rows, keys = PerCrossed, PerMemory
		}
		return AttentionBlock(name, scores, Linear("q_proj", c.D, c.Q).Bias(bias).On(rows), Linear("k_proj", c.D, c.U).Bias(bias).On(keys),
			Linear("v_proj", c.D, c.U).Bias(bias).On(keys), Linear("o_proj", c.Q, c.D).On(rows))
	}
	side := func(half string) Size {
		A := c.Size("A", half+"_num_attention_heads")
		c.heads(A, c.SizeOr("K", half+"_num_key_value_heads", A), "head_dim")
		return c.Size("N"+half[:1], half+"_num_hidden_layers")
	}
	steps := []Step{{127, 64, 0}, {7, 3, 0}, {3, 2, 0}}
	convolutions := []Block{Conv("conv1", one, c.D, Const(127)).pixels().Spanning(Span{Before: steps[1:]}),
		Conv("conv2", c.D, c.D.X(2), Const(7)).Bias(true).Spanning(Span{Before: steps[2:]}), Conv("conv3", c.D.X(2), c.D, Const(3)).Bias(true)}
	N := side("encoder")
	scores := GQA(c.A, c.K, c.H, 0)
	scores.Bidirected = true
	heard := []Block{RMSNorm("input_layernorm", c.D), attention("self_attn", scores), RMSNorm("post_attention_layernorm", c.D), c.clipMLP("mlp")}
	encoder := append(convolutions, LayerNorm("groupnorm", c.D), Stack("layers", N, func(int) []Block { return heard }), RMSNorm("layer_norm", c.D))
	N = side("decoder")
	crossed := GQA(c.A, c.K, c.H, 0)
	crossed.Cross = true
	said := []Block{RMSNorm("input_layernorm", c.D), attention("self_attn", GQA(c.A, c.K, c.H, 0)), RMSNorm("post_attention_layernorm", c.D), attention("encoder_attn", crossed),
		RMSNorm("final_layernorm", c.D), MLPBlock("mlp", Linear("fc1", c.D, c.F.X(2)).Bias(true), Linear("fc2", c.F, c.D).Bias(true))}
	model := Model{Prefix: prefix, EncoderDecoder: true, Body: []Block{Module("encoder", NoRole, encoder...).Hearing(0).InTower("encoder"),
		Module("decoder", NoRole, Token("embed_tokens", c.V, c.D), Stack("layers", N, func(int) []Block { return said }), RMSNorm("norm", c.D))}}
	if c.Task != BaseModel {
		model.Head = []Block{Linear("proj_out", c.D, c.V).As(Head).TiedTo(join(prefix, "decoder.embed_tokens.weight"), c.tied())}
	}
	return model
}

// pop2Piano is T5 on the frames of a spectrogram, told the style of an arranger
// (Choi and Lee 2022, arXiv:2211.00895).
func pop2Piano(c *Config) Model {
	c.heads(c.A, c.A, "d_kv")
	model := t5(c)
	model.Body = append(model.Body, Module("mel_conditioner", Other, Token("embedding", c.Size("composers", "composer_vocab_size"), c.D).As(Other)))
	model.Head = []Block{Linear("lm_head", c.D, c.V).As(Head)}
	return model
}

// speechT5 has one encoder and one decoder, with what leads to and from speech or
// text around them (Ao et al. 2021, arXiv:2110.07205).
func speechT5(c *Config) Model {
	prefix := c.under("speecht5")
	hears, speaks := c.Task == SpeechToText || c.Task == SpeechToSpeech, c.Task == TextToSpeech || c.Task == SpeechToSpeech
	h := c.half("encoder")
	attention := h.waveAttention()
	attention.Extra = relativeKeys(h.Q)
	layer := []Block{attention, LayerNorm("layer_norm", c.D), h.waveMLP("feed_forward"), LayerNorm("final_layer_norm", c.D)}
	positions := Position("embed_positions.pe_k", c.Size("B", "encoder_max_relative_position").X(2), h.H)
	encoder := []Block{Module("wrapped_encoder", NoRole, LayerNorm("layer_norm", c.D), Stack("layers", h.N, func(int) []Block { return layer }), positions)}
	switch {
	case hears:
		encoder = append([]Block{c.speechPrenet()}, encoder...)
	case c.Task == TextToSpeech:
		encoder = append([]Block{Module("prenet", NoRole, Token("embed_tokens", c.V, c.D), Raw("encode_positions.alpha", PositionEmbedding))}, encoder...)
	}
	decoder := []Block{c.speechT5Decoder()}
	var head []Block
	switch {
	case speaks:
		decoder, head = append([]Block{c.spokenPrenet()}, decoder...), []Block{c.spokenPostnet()}
	case c.Task != BaseModel:
		decoder = append([]Block{Token("prenet.embed_tokens", c.V, c.D)}, decoder...)
		head = []Block{Linear("text_decoder_postnet.lm_head", c.D, c.V).As(Head).TiedTo(join(prefix, "decoder.prenet.embed_tokens.weight"), c.tied())}
	}
	return Model{Prefix: prefix, EncoderDecoder: true, Body: []Block{Module("encoder", NoRole, encoder...).Hearing(0).InTower("encoder"),
		Module("decoder", NoRole, decoder...)}, Head: head}
}

// speechPrenet is what wav2vec 2.0 has before its layers.
func (c *Config) speechPrenet() Block {
	front := c.waveFront()
	front.Name = strings.Replace(front.Name, "feature_extractor", "feature_encoder", 1)
	sub := []Block{front, c.waveProjection(Waves{}, c.sizeIn("Cw", "conv_dim", len(c.Ints("conv_dim"))-1)), c.wavePositions()}
	if c.Float("mask_time_prob", 0) > 0 || c.Float("mask_feature_prob", 0) > 0 {
		sub = append(sub, Raw("masked_spec_embed", Other, c.D))
	}
	return Module("prenet", NoRole, sub...)
}

func (c *Config) speechT5Decoder() Block {
	h := c.half("decoder")
	d := Seq2Seq{}.named()
	crossed := GQA(h.A, h.A, h.H, 0)
	crossed.Cross = true
	layer := []Block{d.attention(h, d.Names, "self_attn", h.D, GQA(h.A, h.A, h.H, 0)), LayerNorm("self_attn_layer_norm", c.D),
		d.attention(h, d.Names, "encoder_attn", h.D, crossed), LayerNorm("encoder_attn_layer_norm", c.D), h.waveMLP("feed_forward"), LayerNorm("final_layer_norm", c.D)}
	return Module("wrapped_decoder", NoRole, Stack("layers", h.N, func(int) []Block { return layer }))
}

// spokenPrenet reads frames of a spectrogram, and who speaks.
func (c *Config) spokenPrenet() Block {
	U, M := c.Size("U", "speech_decoder_prenet_units"), c.Size("M", "num_mel_bins")
	return Module("prenet", Projector, Stack("layers", c.Size("Np", "speech_decoder_prenet_layers"), func(i int) []Block {
		if i == 0 {
			return []Block{Linear("", M, U).Bias(true)}
		}
		return []Block{Linear("", U, U).Bias(true)}
	}), Linear("final_layer", U, c.D).Bias(true), Raw("encode_positions.alpha", PositionEmbedding),
		Linear("speaker_embeds_layer", c.D.Plus(c.Size("X", "speaker_embedding_dim")), c.D).Bias(true))
}

// spokenPostnet writes several frames for each token, and smooths them.
func (c *Config) spokenPostnet() Block {
	M, r, U, n := c.Size("M", "num_mel_bins"), c.Size("r", "reduction_factor"), c.Size("U", "speech_decoder_postnet_units"), c.Int("speech_decoder_postnet_layers")
	kernel := c.Size("kernel", "speech_decoder_postnet_kernel")
	smooth := Stack("layers", c.Size("Ns", "speech_decoder_postnet_layers"), func(i int) []Block {
		in, out := U, U
		if i == 0 {
			in = M
		}
		if int64(i) == n-1 {
			out = M
		}
		return []Block{Conv("conv", in, out, kernel), BatchNorm("batch_norm", out)}
	})
	return Module("speech_decoder_postnet", HeadLayers, Linear("feat_out", c.D, M.Times(r)).Bias(true).As(Head), Linear("prob_out", c.D, r).Bias(true).As(Head), smooth.Repeated(r.Int()))
}

// speechEncoderDecoder joins an encoder of sound with any decoder (Wu et al. 2021,
// arXiv:2104.06678).
func speechEncoderDecoder(c *Config) Model {
	encoder, heard := c.within("encoder")
	decoder, said := c.withinAs("decoder", CausalLM)
	body := []Block{heard.under("encoder").Hearing(0).InTower("encoder")}
	out, shorter := encoder.D, []Step(nil)
	if encoder.Switch("add_adapter") {
		_, out, shorter = encoder.waveAdapter(Waves{})
	}
	if out.Int() != decoder.D.Int() && !decoder.Given("cross_attention_hidden_size") {
		body = append(body, Linear("enc_to_dec_proj", out, decoder.D).Bias(true).As(Projector).Spanning(Span{After: shorter}).Hearing(0))
	}
	return Model{EncoderDecoder: true, Body: append(body, said.under("decoder").Spanning(Span{Memory: true, After: shorter}))}
}
