package estimator

import "slices"

// Models that speak or play, with the codec of their sound.
var voiceFamily = []Arch{
	{"musicgen", "MusicgenForConditionalGeneration", musicgenWhole},
	{"musicgen_melody", "MusicgenMelodyForConditionalGeneration", func(c *Config) Model {
		model, D := musicgenWhole(c), c.part("decoder").D
		model.Body = append(model.Body, Linear("audio_enc_to_dec_proj", c.Size("chroma", "num_chroma"), D).Bias(true).As(Projector).Hearing(0))
		model.FLOPsByRule = true // the conditions stand before the tokens, and are heard with them
		return model
	}},
	{"csm", "CsmForConditionalGeneration", csm},
	{"kyutai_speech_to_text", "KyutaiSpeechToTextForConditionalGeneration", kyutai},
	{"higgs_audio_v2", "HiggsAudioV2ForConditionalGeneration", higgsAudio},
	{"bark", "BarkModel", bark},
	{"dia", "DiaForConditionalGeneration", dia},
}

// codec is the model of a field that makes sound of codes. It stands beside the
// one that predicts them, which runs without it.
func (c *Config) codec(field, name string) Block {
	_, inner := c.within(field)
	return Module(name, Other, inner.Body...).idle()
}

// musicgenWhole attends to the tokens of a text encoder (Copet et al. 2023,
// arXiv:2306.05284).
func musicgenWhole(c *Config) Model {
	text, read := c.withinAs("text_encoder", EncoderOnly)
	decoder, played := c.withinAs("decoder", CausalLM)
	body := []Block{read.under("text_encoder").Hearing(0).InTower("encoder"), c.codec("audio_encoder", "audio_encoder")}
	if text.D.Int() != decoder.D.Int() && !decoder.Given("cross_attention_hidden_size") {
		body = append(body, Linear("enc_to_dec_proj", text.D, decoder.D).Bias(true).As(Projector).Hearing(0))
	}
	return Model{EncoderDecoder: true, Body: append(body, played.under("decoder"))}
}

// csm predicts the first code of a frame by a backbone, and the others by a small
// decoder over the codes of the frame, which runs in training and when it speaks.
func csm(c *Config) Model {
	depth := c.part("depth_decoder_config")
	audio, D := c.V.Times(c.Size("books", "num_codebooks")), c.D
	backbone := decoder(c, Decoder{})
	backbone.Body[0] = Token("embed_tokens.embed_audio_tokens", audio, D).TiedTo("depth_decoder.model.embed_tokens.weight", c.BoolOr("tie_codebooks_embeddings", true))
	deep := decoder(depth, Decoder{Rows: depth.V.Times(depth.Size("books", "num_codebooks"))})
	deep.Body[0] = Token("embed_tokens", depth.V.Times(depth.Size("books", "num_codebooks")), depth.Size("Db", "backbone_hidden_size"))
	project := Linear("inputs_embeds_projector", depth.Size("Db", "backbone_hidden_size"), depth.D).As(Projector)
	heads := Raw("codebooks_head.weight", Head, depth.Size("books", "num_codebooks").Minus(Const(1)), depth.D, depth.V)
	return Model{FLOPsByRule: true, N: c.N, D: D, V: c.V, Body: []Block{Token("embed_text_tokens", c.Size("Vt", "text_vocab_size"), D), Module("backbone_model", NoRole, backbone.Body...),
		Module("depth_decoder", NoRole, Module("model", NoRole, slices.Insert(deep.Body, 1, project)...), heads).idle().InTower("depth"), c.codec("codec_config", "codec_model")},
		Head: []Block{Linear("lm_head", D, c.V).On(PerLogit).As(Head)}}
}

// kyutai is Moshi's language model, which reads codes and writes text.
func kyutai(c *Config) Model {
	model := moshi(c)
	rows := c.V.Plus(c.Size("books", "num_codebooks").Times(c.Size("codes", "codebook_vocab_size"))).Plus(Const(1))
	model.Body[0] = Token("embed_tokens.embed_tokens", rows, c.D)
	if c.Task != BaseModel {
		model.Head = []Block{Linear("lm_head", c.D, c.V).On(PerLogit).As(Head), c.codec("codec_config", "codec_model")}
	}
	return model
}

// higgsAudio has norms and feed-forward blocks of their own for tokens of sound;
// they stand idle for text.
func higgsAudio(c *Config) Model {
	codes := c.Size("books", "num_codebooks").Times(c.Size("codes", "codebook_size"))
	model := decoder(c, Decoder{Layer: func(_ int, attention, feedForward Block) []Block {
		return []Block{RMSNorm("input_layernorm", c.D), attention, RMSNorm("post_attention_layernorm", c.D), feedForward, RMSNorm("audio_input_layernorm", c.D).idle(),
			RMSNorm("audio_post_attention_layernorm", c.D).idle(), feedForward.Called("audio_mlp").idle()}
	}})
	model.Body = append(model.Body, Token("embed_audio_tokens.embed_audio_tokens", codes, c.D))
	if model.FLOPsByRule = true; c.Task != BaseModel {
		model.Head = []Block{Linear("audio_lm_head", c.D, codes).On(PerLogit).As(Head)}
	}
	return model
}

// bark makes speech of text in three steps, by language models one after another:
// of meaning, of coarse codes, of fine ones.
func bark(c *Config) Model {
	return Model{FLOPsByRule: true, Body: []Block{c.part("semantic_config").barkCausal("semantic"), c.part("coarse_acoustics_config").barkCausal("coarse_acoustics"),
		c.part("fine_acoustics_config").barkFine("fine_acoustics"), c.codec("codec_config", "codec_model")}}
}

func (c *Config) barkLayers(mask []Block, norm func(string, Size) Block) Block {
	c.A = c.Size("A", "num_heads")
	c.heads(c.A, c.A, "")
	bias := c.Bool("bias")
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected = len(mask) == 0
	layer := []Block{norm("layernorm_1", c.D), AttentionBlock("attn", scores, append(mask, Linear("att_proj", c.D, c.D.X(3)).Bias(bias), Linear("out_proj", c.D, c.D).Bias(bias))...),
		norm("layernorm_2", c.D), MLPBlock("mlp", Linear("in_proj", c.D, c.D.X(4)).Bias(bias), Linear("out_proj", c.D.X(4), c.D).Bias(bias))}
	return Stack("layers", c.Size("N", "num_layers"), func(int) []Block { return layer })
}

func (c *Config) barkCausal(name string) Block {
	norm, C := LayerNorm, c.Size("C", "block_size")
	if !c.Bool("bias") {
		norm = RMSNorm
	}
	mask := Buffer("bias", Const(1), Const(1), C, C).Typed("BOOL")
	return Module(name, NoRole, Token("input_embeds_layer", c.Size("V", "input_vocab_size"), c.D), Position("position_embeds_layer", C, c.D),
		c.barkLayers([]Block{mask}, norm), norm("layernorm_final", c.D), Linear("lm_head", c.D, c.Size("Vo", "output_vocab_size")).On(PerLogit).As(Head))
}

func (c *Config) barkFine(name string) Block {
	total, given := c.Size("books", "n_codes_total"), c.Int("n_codes_given")
	tied := c.BoolOr("tie_word_embeddings", true)
	var tables, heads []Block
	for i := range int(min(mostLayers, total.Int())) {
		tables = append(tables, Token(numbered("input_embeds_layers", i), c.Size("V", "input_vocab_size"), c.D))
		if int64(i) >= given {
			heads = append(heads, Linear(numbered("lm_heads", i-int(given)), c.D, c.Size("Vo", "output_vocab_size")).As(Head).
				TiedTo(numbered(name+".input_embeds_layers", i-int(given)+1)+".weight", tied))
		}
	}
	return Module(name, NoRole, slices.Concat(tables, []Block{Position("position_embeds_layer", c.Size("C", "block_size"), c.D), c.barkLayers(nil, LayerNorm),
		LayerNorm("layernorm_final", c.D)}, heads)...)
}

// dia reads bytes and writes codes, all codebooks at once.
func dia(c *Config) Model {
	e, d, prefix := c.part("encoder_config"), c.part("decoder_config"), c.under("model")
	attention := func(h *Config, name string, scores Scores, in Size, rows, keys Rows) Block {
		return AttentionBlock(name, scores, Linear("q_proj", h.D, h.Q).On(rows), Linear("k_proj", in, h.U).On(keys), Linear("v_proj", in, h.U).On(keys), Linear("o_proj", h.Q, h.D).On(rows))
	}
	mlp := func(h *Config) Block {
		return MLPBlock("mlp", Linear("gate_up_proj", h.D, h.F.X(2)), Linear("down_proj", h.F, h.D))
	}
	read := GQA(e.A, e.K, e.H, 0)
	read.Bidirected = true
	reads := []Block{RMSNorm("pre_sa_norm", e.D), attention(e, "self_attention", read, e.D, PerToken, PerToken), RMSNorm("post_sa_norm", e.D), mlp(e)}
	across := *d
	across.heads(d.Size("Ac", "cross_num_attention_heads"), d.Size("Kc", "cross_num_key_value_heads"), "cross_head_dim")
	crossed := GQA(across.A, across.K, across.H, 0)
	crossed.Cross = true
	writes := []Block{RMSNorm("pre_sa_norm", d.D), attention(d, "self_attention", GQA(d.A, d.K, d.H, 0), d.D, PerToken, PerToken), RMSNorm("pre_ca_norm", d.D),
		attention(&across, "cross_attention", crossed, d.Size("De", "cross_hidden_size"), PerCrossed, PerMemory), RMSNorm("pre_mlp_norm", d.D), mlp(d)}
	codes := d.V.Times(d.Size("books", "num_channels"))
	encoder := Module("encoder", NoRole, Token("embedding", e.V, e.D), Stack("layers", e.N, func(int) []Block { return reads }), RMSNorm("norm", e.D))
	model := Model{Prefix: prefix, EncoderDecoder: true, Body: []Block{encoder.Hearing(0).InTower("encoder"),
		Module("decoder", NoRole, Token("embeddings.embed", codes, d.D), Stack("layers", d.N, func(int) []Block { return writes }), RMSNorm("norm", d.D))}}
	if c.Task != BaseModel {
		model.Head = []Block{Linear("logits_dense", d.D, codes).As(Head)}
	}
	return model
}
