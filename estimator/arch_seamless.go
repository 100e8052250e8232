package estimator

// Translators of speech and text.
var seamlessFamily = []Arch{
	{"seamless_m4t", "SeamlessM4TModel", seamless},
}

// seamless has an encoder for speech, one for text, a decoder of text, a second
// encoder-decoder from text to units of sound, and a vocoder (Seamless
// Communication et al. 2023, arXiv:2308.11596). A class holds those it needs; the
// model that holds all hears speech.
func seamless(c *Config) Model {
	hears, reads := c.Task != TextToText && c.Task != TextToSpeech, c.Task != SpeechToText && c.Task != SpeechToSpeech
	tied := c.tied()
	body := []Block{Token("shared", c.V, c.D)}
	var shorter []Step
	if reads {
		text := c.seamlessHalf("text_encoder", "", false, nil, Token("embed_tokens", c.V, c.D).TiedTo("shared.weight", tied)).Hearing(0).InTower("encoder")
		text.Idle = hears
		body = append(body, text)
	}
	if hears {
		step := Step{c.Int("adaptor_kernel_size"), c.Int("adaptor_stride"), c.Int("adaptor_stride") / 2 * 2}
		body = append(body, c.seamlessSpeech(step).Hearing(0).InTower("encoder"))
		for range min(mostLayers, c.Int("num_adapter_layers")) {
			shorter = append(shorter, step)
		}
	}
	body = append(body, c.seamlessHalf("text_decoder", "", true, shorter, Token("embed_tokens", c.V, c.D).TiedTo("shared.weight", tied)))
	head := []Block{Linear("lm_head", c.D, c.V).TiedTo("shared.weight", tied).As(Head)}
	if c.Task == BaseModel || c.Task == TextToSpeech || c.Task == SpeechToSpeech {
		U := c.Size("Vu", "t2u_vocab_size")
		units := Module("t2u_model", NoRole, c.seamlessHalf("model.encoder", "t2u_", false, nil), c.seamlessHalf("model.decoder", "t2u_", true, nil, Token("embed_tokens", U, c.D)),
			Linear("lm_head", c.D, U).TiedTo("t2u_model.model.decoder.embed_tokens.weight", tied).As(Other))
		head = append(head, units.idle().InTower("units"), c.unitVocoder().idle().InTower("vocoder"))
	}
	return Model{EncoderDecoder: true, FLOPsByRule: c.Task == BaseModel, Body: body, Head: head}
}

// seamlessHalf is an encoder or a decoder in the mould of NLLB.
func (c *Config) seamlessHalf(name, of string, decoder bool, shorter []Step, embed ...Block) Block {
	side := "encoder"
	if decoder {
		side = "decoder"
	}
	h := *c
	h.F = c.Size("F"+side[:1], of+side+"_ffn_dim")
	h.heads(c.Size("A", of+side+"_attention_heads"), c.Size("A", of+side+"_attention_heads"), "")
	d := Seq2Seq{}.named()
	scores := GQA(h.A, h.A, h.H, 0)
	scores.Bidirected = !decoder
	layer := []Block{LayerNorm("self_attn_layer_norm", h.D), d.attention(&h, d.Names, "self_attn", h.D, scores)}
	if decoder {
		scores.Cross = true
		layer = append(layer, LayerNorm("cross_attention_layer_norm", h.D), d.attention(&h, d.Names, "cross_attention", h.D, scores).Spanning(Span{Memory: true, After: shorter}))
	}
	layer = append(layer, LayerNorm("ffn_layer_norm", h.D), MLPBlock("ffn", Linear("fc1", h.D, h.F).Bias(true), Linear("fc2", h.F, h.D).Bias(true)))
	stack := Stack("layers", c.Size("N"+side[:1], of+side+"_layers"), func(int) []Block { return layer })
	return Module(name, NoRole, append(embed, stack, LayerNorm("layer_norm", h.D))...)
}

// seamlessSpeech is a Conformer that ends in adapters which shorten the sequence.
func (c *Config) seamlessSpeech(step Step) Block {
	h := *c
	h.F = c.Size("Fs", "speech_encoder_intermediate_size")
	h.heads(c.Size("As", "speech_encoder_attention_heads"), c.Size("As", "speech_encoder_attention_heads"), "")
	layer, I := h.conformerLayer(false), c.Size("I", "feature_projection_input_dim")
	sub := []Block{Module("feature_projection", Projector, LayerNorm("layer_norm", I), Linear("projection", I, h.D).Bias(true)),
		Module("encoder", NoRole, Stack("layers", c.Size("Ns", "speech_encoder_layers"), func(int) []Block { return layer }), LayerNorm("layer_norm", h.D)), h.waveMLP("intermediate_ffn")}
	var steps []Step
	if c.Bool("add_adapter") {
		conv := Conv("conv", h.D, h.D.X(2), Named("kernel", step.Kernel)).Bias(true)
		sub = append(sub, Module("adapter", Projector, Stack("layers", c.Size("Na", "num_adapter_layers"), func(int) []Block {
			steps = append(steps, step)
			return []Block{Module("", NoRole, h.attentionAdapter(h.D, conv)...).Spanning(Span{After: steps[:len(steps):len(steps)]})}
		})))
	}
	return Module("speech_encoder", NoRole, append(sub, LayerNorm("inner_layer_norm", h.D))...)
}

// unitVocoder makes sound of units by HiFi-GAN, told the speaker and the language.
func (c *Config) unitVocoder() Block {
	E, X, L := c.Size("Eu", "unit_embed_dim"), c.Size("X", "spkr_embed_dim"), c.Size("L", "lang_embed_dim")
	kernel := c.Size("kernel", "variance_predictor_kernel_size")
	return Module("vocoder", Other, Module("dur_predictor", Other, Conv("conv1", E, E, kernel).Bias(true), LayerNorm("ln1", E), Conv("conv2", E, E, kernel).Bias(true),
		LayerNorm("ln2", E), Linear("proj", E, Const(1)).Bias(true)), Token("unit_embedding", c.Size("units", "unit_hifi_gan_vocab_size"), E).As(Other),
		Token("speaker_embedding", c.Size("speakers", "vocoder_num_spkrs"), X).As(Other), Token("language_embedding", c.Size("languages", "vocoder_num_langs"), L).As(Other),
		c.hifiGAN("hifi_gan", E.Plus(X).Plus(L)))
}

// hifiGAN makes samples of frames (Kong et al. 2020, arXiv:2010.05646): transposed
// convolutions that halve the channels, each followed by residual blocks of several
// kernels.
func (c *Config) hifiGAN(name string, in Size) Block {
	wide, kernels := c.Size("Cg", "upsample_initial_channel"), c.Ints("resblock_kernel_sizes")
	dilations := c.Value("resblock_dilation_sizes").Array()
	blocks := []Block{Conv("conv_pre", in, wide, Const(7)).Bias(true)}
	rates, rate, at := c.Ints("upsample_rates"), int64(1), 0
	for i, k := range c.Ints("upsample_kernel_sizes") {
		half := c.ratio("Cg", wide, Const(2))
		up := Conv(numbered("upsampler", i), wide, half, Const(k)).Bias(true).transposed(wide, half, Const(k))
		up.Params[1].Shape = []Size{half}
		blocks = append(blocks, up.faster(rate))
		if i < len(rates) {
			rate *= rates[i]
		}
		for j, kernel := range kernels {
			n := int64(0)
			if j < len(dilations) {
				n = int64(len(dilations[j].Array()))
			}
			conv := Conv("", half, half, Named("kernel", kernel)).Bias(true)
			both := func(list string) Block { return Stack(list, Const(n), func(int) []Block { return []Block{conv} }) }
			blocks = append(blocks, Module(numbered("resblocks", at), Convolution, both("convs1"), both("convs2")).faster(rate))
			at++
		}
		wide = half
	}
	return Module(name, Convolution, append(blocks, Conv("conv_post", wide, Const(1), Const(7)).Bias(true).faster(rate))...)
}
