package estimator

import "slices"

// Further models that hear.
var hearFamily = []Arch{
	{"audio-spectrogram-transformer", "ASTForAudioClassification", spectrogramTransformer},
	{"qwen2_5_omni_thinker", "Qwen2_5OmniThinkerForConditionalGeneration", qwen25Thinker},
	{"qwen3_omni_moe_thinker", "Qwen3OmniMoeThinkerForConditionalGeneration", qwen3Thinker},
	{"granite_speech", "GraniteSpeechForConditionalGeneration", graniteSpeech},
	{"granite_speech_plus", "GraniteSpeechPlusForConditionalGeneration", graniteSpeech},
	{"granite_speech5_encoder", "GraniteSpeech5Encoder", graniteSpeech5},
	{"granite_speech5_ctc", "GraniteSpeech5ForCTC", graniteSpeech5CTC},
}

// spectrogramTransformer cuts a spectrogram of fixed size into patches that overlap (Gong et al.
// 2021, arXiv:2104.01778).
func spectrogramTransformer(c *Config) Model {
	side, one := c.Int("patch_size"), Const(1)
	over := func(field, stride string) int64 { return Step{side, c.Int(stride), 0}.leaves(c.Int(field)) }
	patches := Named("patches", over("num_mel_bins", "frequency_stride")*over("max_length", "time_stride"))
	bias, beside := c.Bool("qkv_bias"), patches.Plus(Const(2))
	layer := []Block{LayerNorm("layernorm_before", c.D), AttentionBlock("attention", c.sightScores(), Linear("attention.query", c.D, c.D).Bias(bias),
		Linear("attention.key", c.D, c.D).Bias(bias), Linear("attention.value", c.D, c.D).Bias(bias), Linear("output.dense", c.D, c.D).Bias(true)),
		LayerNorm("layernorm_after", c.D), MLPBlock("", Linear("intermediate.dense", c.D, c.F).Bias(true), Linear("output.dense", c.F, c.D).Bias(true))}
	body := []Block{Module("embeddings", NoRole, Raw("cls_token", PositionEmbedding, one, one, c.D), Raw("distillation_token", PositionEmbedding, one, one, c.D),
		Raw("position_embeddings", PositionEmbedding, one, beside, c.D), Conv("patch_embeddings.projection", one, c.D, Named("P", side), Named("P", side)).Bias(true).
			pixels().Spanning(Span{Length: patches.Int()})), Stack("encoder.layer", c.N, func(int) []Block { return layer }), LayerNorm("layernorm", c.D)}
	model := Model{Prefix: c.under("audio_spectrogram_transformer"), Body: []Block{Module("", NoRole, body...).Spanning(Span{Length: beside.Int()})}}
	if c.Task != BaseModel {
		model.Head = []Block{Module("classifier", Classifier, LayerNorm("layernorm", c.D), Linear("dense", c.D, Named("labels", c.NumLabels())).Bias(true)).Throughout(PerSequence)}
	}
	return model
}

// qwen25Thinker hears and sees (Xu et al. 2025, arXiv:2503.20215).
func qwen25Thinker(c *Config) Model {
	return c.composed(Composed{Layout: c.thinkerLayout(), Inner: qwen2VLText, Text: "qwen2_5_omni_text", Parts: func(*Config) []Block {
		_, tower := c.sightAs("qwen2_5_omni_vision_encoder", "visual", (*Config).qwenOmniVision)
		return []Block{c.partAs("audio_config", "qwen2_5_omni_audio_encoder").qwenOmniAudio(), tower}
	}})
}

// thinkerLayout names the language model alone a model under a head.
func (c *Config) thinkerLayout() Layout {
	if c.Task == BaseModel {
		return Layout{"", "language_model", "lm_head"}
	}
	return Layout{"", "model", "lm_head"}
}

// qwenOmniVision is Qwen2.5-VL's tower with queries, keys and values apart.
func (c *Config) qwenOmniVision() []Block {
	names := blockNames()
	names.QKV = "q k v"
	return c.qwen25VisionAs(names)
}

// qwenOmniAudio is Whisper's encoder within pieces of sound; two tokens make one.
func (c *Config) qwenOmniAudio() Block {
	h, O := c.half("encoder"), c.Size("O", "output_dim")
	layer := []Block{LayerNorm("self_attn_layer_norm", h.D), h.keysBare("self_attn").Spanning(Span{Window: c.Int("n_window")}), LayerNorm("final_layer_norm", h.D),
		MLPBlock("", Linear("fc1", h.D, h.F).Bias(true), Linear("fc2", h.F, h.D).Bias(true))}
	return Module("audio_tower", NoRole, Module("", Convolution, h.spectrogram()...).Spanning(Span{Clip: c.Int("n_window")}), Token("audio_bos_eos_token", Const(2), O).As(Other),
		Stack("layers", h.N, func(int) []Block { return layer }), LayerNorm("ln_post", h.D), Linear("proj", h.D, O).Bias(true).As(Projector).Merging(2)).Hearing(0).InTower("audio")
}

// qwen3Thinker is its successor with routed experts (Xu et al. 2025,
// arXiv:2509.17765).
func qwen3Thinker(c *Config) Model {
	text := func(text *Config) Model {
		return decoder(text, Decoder{QKNorm: PerHead, MLPBias: Off, FFN: text.routed(Routed{Count: "num_experts", Width: "moe_intermediate_size"})})
	}
	return c.composed(Composed{Layout: c.thinkerLayout(), Inner: text, Text: "qwen3_omni_moe_text", Parts: func(*Config) []Block {
		_, tower := c.sightAs("qwen3_omni_moe_vision_encoder", "visual", (*Config).qwen3OmniVision)
		audio := c.partAs("audio_config", "qwen3_omni_moe_audio_encoder")
		heard := append(audio.windowedTower(), LayerNorm("ln_post", audio.D), Linear("proj1", audio.D, audio.D).Bias(true).As(Projector),
			Linear("proj2", audio.D, audio.Size("O", "output_dim")).Bias(true).As(Projector))
		return []Block{Module("audio_tower", NoRole, heard...).Hearing(0).InTower("audio"), tower}
	}})
}

// qwen3OmniVision is Qwen3-VL's tower; its mergers have names of their own.
func (c *Config) qwen3OmniVision() []Block {
	merged, wide := c.merged()
	names := blockNames()
	names.Up, names.Down = "linear_fc1", "linear_fc2"
	merger := func(norm Size) []Block {
		return []Block{LayerNorm("ln_q", norm), Linear("mlp.0", wide, wide).Bias(true), Linear("mlp.2", wide, c.Size("O", "out_hidden_size")).Bias(true)}
	}
	taken := Named("taken", int64(len(c.Ints("deepstack_visual_indexes"))))
	return c.towerBlocks(Tower{Names: names, Patch: "patch_embed.proj", Embed: []Block{Position("pos_embed", c.Size("C", "num_position_embeddings"), c.D)},
		After: []Block{Module("merger", Projector, merger(c.D)...).Seeing(merged),
			Module("", Projector, Stack("merger_list", taken, func(int) []Block { return merger(wide) })).Seeing(merged)}})
}

// graniteSpeech asks what a Conformer heard by learned queries, a few for each
// window (Saon et al. 2025, arXiv:2505.08699).
func graniteSpeech(c *Config) Model {
	model := c.composed(Composed{Layout: llavaLayout, Parts: func(text *Config) []Block {
		encoder, window := c.part("encoder_config"), c.Int("window_size")
		queries := window / max(1, c.Int("downsample_rate"))
		q, inner := c.within("projector_config")
		projector := Module("projector", Projector, Raw("query", Other, Const(1), Named("queries", queries), q.D), Module("qformer", NoRole, inner.Body...), Linear("linear", q.D, text.D).Bias(true))
		return []Block{encoder.graniteConformer().Hearing(0).InTower("audio"), projector.Spanning(Span{Clip: window, Queries: queries}).Hearing(0)}
	}})
	model.FLOPsByRule = true // the first layer projects the queries once for all windows
	return model
}

// graniteConformer attends within pieces, with a vector for each distance, and
// reads from its middle what it has understood so far.
func (c *Config) graniteConformer() Block {
	c.D, c.N = c.Size("De", "hidden_dim"), c.Size("Ne", "num_layers")
	c.heads(c.Size("Ae", "num_heads"), c.Size("Ae", "num_heads"), "dim_head")
	F, wide, O := c.D.Times(c.Size("times", "feedforward_mult")), c.D.Times(c.Size("times", "conv_expansion_factor")), c.Size("O", "output_dim")
	half := func(name string) Block {
		return MLPBlock(name, LayerNorm("pre_norm", c.D), Linear("up_proj", c.D, F).Bias(true), Linear("down_proj", F, c.D).Bias(true))
	}
	context := c.Int("context_size")
	scored := AttentionBlock("", c.sightScores(), Linear("to_q", c.D, c.Q), Linear("to_kv", c.D, c.Q.X(2)), Position("rel_pos_emb", c.Size("C", "max_pos_emb").X(2).Plus(Const(1)), c.H))
	scored.Extra = relativeKeys(c.Q)
	kernel := c.Size("kernel", "conv_kernel_size")
	layer := []Block{half("ff1"), Module("attn", Attention, LayerNorm("pre_norm", c.D), scored.Spanning(Span{Clip: context}), Linear("to_out", c.Q, c.D).Bias(true)),
		Module("conv", Convolution, LayerNorm("norm", c.D), Conv("up_conv", c.D, wide.X(2), Const(1)).Bias(true), GroupedConv("depth_conv.conv", wide, wide, wide.Int(), kernel),
			BatchNorm("batch_norm", wide), Conv("down_conv", wide, c.D, Const(1)).Bias(true)), half("ff2"), LayerNorm("post_norm", c.D)}
	return Module("encoder", NoRole, Linear("input_linear", c.Size("I", "input_dim"), c.D).Bias(true).As(Convolution), Stack("layers", c.N, func(int) []Block { return layer }),
		Linear("out", c.D, O).Bias(true).As(Other), Linear("out_mid", O, c.D).Bias(true).As(Other))
}

// graniteSpeech5 halves its sequence in some of its layers, and reads from its
// middle what it has understood so far.
func graniteSpeech5(c *Config) Model {
	c.heads(c.A, c.A, "head_dim")
	bias, wide, step := c.Bool("attention_bias"), c.D.Times(c.Size("times", "conv_expansion_factor")), Step{2, 2, 0}
	shortened := c.Ints("subsample_layers")
	half := func(name string) Block {
		return MLPBlock(name, Linear("linear1", c.D, c.F).Bias(bias), Linear("linear2", c.F, c.D).Bias(bias))
	}
	scored := AttentionBlock("", c.sightScores(), Linear("q_proj", c.D, c.Q), Linear("k_proj", c.D, c.Q), Linear("v_proj", c.D, c.Q),
		Position("rel_pos_emb", c.C.X(2).Plus(Const(1)), c.H))
	scored.Extra = relativeKeys(c.Q)
	first := []Block{LayerNorm("norm_feed_forward1", c.D), half("feed_forward1"), LayerNorm("norm_self_att", c.D), Module("self_attn", Attention,
		scored.Spanning(Span{Clip: c.Int("context_size")}), Linear("o_proj", c.Q, c.D).Bias(true)), LayerNorm("norm_conv", c.D), Linear("conv.pointwise_lin1", c.D, wide.X(2)).Bias(true).As(Convolution)}
	second := []Block{Module("conv", Convolution, GroupedConv("depthwise_conv", wide, wide, wide.Int(), c.Size("kernel", "conv_kernel_size")), BatchNorm("norm", wide),
		Linear("pointwise_lin2", wide, c.D).Bias(true)), LayerNorm("norm_feed_forward2", c.D), half("feed_forward2"), LayerNorm("norm_out", c.D)}
	behind := func(i int) (n int) {
		for _, at := range shortened {
			if int(at) >= i {
				n++
			}
		}
		return n
	}
	// Tokens are those that are left at the end: layers before run on more.
	layers := Stack("layers", c.N, func(i int) []Block {
		return []Block{Module("", NoRole, first...).Spanning(Span{Before: slices.Repeat([]Step{step}, behind(i))}),
			Module("", NoRole, second...).Spanning(Span{Before: slices.Repeat([]Step{step}, behind(i+1))})}
	})
	middle := Span{Before: slices.Repeat([]Step{step}, behind(int(c.N.Int()/2)))}
	return Model{Body: []Block{Linear("input_linear", c.Size("M", "num_mel_bins").X(4), c.D).Bias(true).As(Convolution).Spanning(Span{Before: slices.Repeat([]Step{step}, behind(0))}),
		layers, Linear("out", c.D, c.V).Bias(true).As(Other).Spanning(middle), Linear("out_mid", c.V, c.D).Bias(true).As(Other).Spanning(middle)}}
}

// graniteSpeech5CTC has what reads from the middle as its head.
func graniteSpeech5CTC(c *Config) Model {
	encoder, inner := c.within("encoder_config")
	tied := c.BoolOr("tie_word_embeddings", true)
	head := Linear("ctc_head", encoder.D, c.V).Bias(true).As(Head).TiedTo("encoder.out.weight", tied).tie("bias", "encoder.out.bias", tied)
	return Model{Body: []Block{Module("encoder", NoRole, inner.Body...)}, Head: []Block{head}}
}
