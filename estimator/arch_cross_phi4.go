package estimator

import "math/bits"

// phi4Multimodal is Phi-3 with a SigLIP tower for images and a Conformer for
// sound beside its token embedding (Abouelenin et al. 2025, arXiv:2503.01743).
func phi4Multimodal(c *Config) Model {
	model := decoder(c, Decoder{QKVBias: Off, OutBias: Off, FusedQKV: "qkv_proj", FusedGate: "gate_up_proj"})
	towers := Module("embed_tokens_extend", NoRole, c.phi4Image(c.part("vision_config")), c.phi4Audio(c.part("audio_config")))
	model.Body = append([]Block{model.Body[0], towers}, model.Body[1:]...)
	model.FLOPsByRule = true // how tiles stand to each other decides how many tokens lie between them
	return model
}

// twoStep leads from a tower to the language model.
func (c *Config) twoStep(up, down string, from Size) Block {
	return Module("", Projector, Linear(up, from, c.D).Bias(true), Linear(down, c.D, c.D).Bias(true))
}

func (c *Config) phi4Image(v *Config) Block {
	view, one := v.image(), Const(1)
	processor := Module("img_processor", NoRole, v.patches("embeddings.patch_embedding").Bias(true),
		Position("embeddings.position_embedding", v.patchCount(), v.D), Module("", NoRole, v.clipLayers("encoder.layers")...),
		LayerNorm("post_layernorm", v.D), v.attentionPool("head", view))
	return Module("image_embed", NoRole, Raw("global_img_feature_extensor", Other, one, one, v.D), Raw("sub_img_feature_extensor", Other, one, one, one, v.D),
		processor, c.twoStep("img_projection_up", "img_projection_down", v.D).Seeing(view.Merging(4))).Seeing(view).InTower("vision")
}

// phi4Audio has two ways from the Conformer to the language model: for speech
// alone, and for speech beside images.
func (c *Config) phi4Audio(a *Config) Block {
	I, buckets := a.Size("M", "input_size"), a.Int("bias_max_distance")
	if !a.Bool("bias_symmetric") {
		buckets *= 2
	}
	wide := a.D.X(a.Int("downsample_rate"))
	return Module("audio_embed", NoRole, Module("encoder", NoRole, Buffer("encoder_embedding.global_mean", I), Buffer("encoder_embedding.global_invstd", I),
		a.subsampling(), Position("relative_attention_bias_layer.bias_values", Named("buckets", buckets), a.A),
		Stack("encoders", a.Size("N", "num_blocks"), func(int) []Block { return a.conformer() })),
		c.twoStep("up_proj_for_speech", "down_proj_for_speech", wide),
		c.twoStep("up_proj_for_vision_speech", "down_proj_for_vision_speech", wide)).tower("audio")
}

// subsampling halves time and frequency in each step: a first convolution, then
// pairs of one within each channel and one between channels.
func (c *Config) subsampling() Block {
	W, one, three := c.Size("W", "nemo_conv_channels"), Const(1), Const(3)
	sub := []Block{Conv("conv.0", one, W, three, three).Bias(true)}
	for i := range max(0, bits.Len64(uint64(c.Int("time_reduction")))-2) {
		first := 3*i + 2
		sub = append(sub, Conv(numbered("conv", first), one, W, three, three).Bias(true), Conv(numbered("conv", first+1), W, W, one, one).Bias(true))
	}
	return Module("embed", Convolution, append(sub, Linear("out", W.Times(c.Size("X", "nemo_final_size")), c.D).Bias(true))...)
}

// conformer is a layer of attention and convolution between two halves of a
// feed-forward block (Gulati et al. 2020, arXiv:2005.08100).
func (c *Config) conformer() []Block {
	feedForward := func(name string) Block {
		return MLPBlock(name, LayerNorm("layer_norm", c.D), Linear("gate_up_proj", c.D, c.F.X(2)).Bias(true), Linear("down_proj", c.F, c.D).Bias(true))
	}
	O, W, X, one := c.Size("O", "ext_pw_out_channel"), c.D.Times(c.Size("multiplier", "depthwise_multiplier")), c.Size("X", "depthwise_separable_out_channel"), Const(1)
	convolution := Module("conv", Convolution, LayerNorm("layer_norm", c.D), Raw("glu.b1", Convolution, one, O, one), Raw("glu.b2", Convolution, one, O, one),
		Conv("glu.ext_pw_conv_1d", c.D, O.X(2), one).Bias(true), Conv("dw_sep_conv_1d.dw_conv", one, W, c.Size("k", "kernel_size")).Bias(true),
		Conv("dw_sep_conv_1d.pw_conv", W, X, one).Bias(true), Conv("ext_pw_conv_1d", c.D, O, one).Bias(true))
	return []Block{feedForward("feed_forward_in"), LayerNorm("layer_norm_att", c.D), AttentionBlock("self_attn", c.encoderScores(),
		Linear("q_proj", c.D, c.Q).Bias(true), Linear("k_proj", c.D, c.Q).Bias(true), Linear("v_proj", c.D, c.Q).Bias(true), Linear("o_proj", c.Q, c.D).Bias(true)),
		convolution, feedForward("feed_forward_out"), LayerNorm("layer_norm", c.D)}
}
