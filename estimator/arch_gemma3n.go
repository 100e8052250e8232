package estimator

// gemma3n has towers for images and sound, whose tokens have embeddings of their
// own besides.
func gemma3n(c *Config) Model {
	model := c.languageModel("text_config", c.under("model"), "language_model", "lm_head", func(text *Config) []Block {
		vision, audio := c.part("vision_config"), c.part("audio_config")
		return []Block{mobileNetV5(), vision.hardTokens("embed_vision", text.D).Seeing(mobileView.Coarser(48)),
			audio.gemma3nAudio(), audio.hardTokens("embed_audio", text.D).tower("")}
	})
	model.FLOPsByRule = true // timm, which has the tower, was not run
	return model
}

// mobileView is the pixels of the one size of image that the tower takes.
var mobileView = View{Sides: [2]int64{768, 768}, Patch: [2]int64{1, 1}}

func (c *Config) hardTokens(name string, out Size) Block {
	return Module(name, Projector, Token("embedding", c.V, c.D), RMSNorm("hard_embedding_norm", c.D), RMSNorm("soft_embedding_norm", c.D),
		Linear("embedding_projection", c.D, out), Unweighted("embedding_post_projection_norm", out))
}

// gemma3nAudio is a Conformer like Gemma 4's.
func (c *Config) gemma3nAudio() Block {
	c.heads(c.Size("A", "conf_num_attention_heads"), c.Size("A", "conf_num_attention_heads"), "")
	half := func(name string) Block {
		return MLPBlock(name, RMSNorm("pre_layer_norm", c.D), Linear("ffw_layer_1", c.D, c.D.X(4)),
			Linear("ffw_layer_2", c.D.X(4), c.D), RMSNorm("post_layer_norm", c.D))
	}
	layer := func(int) []Block {
		return []Block{half("ffw_layer_start"),
			Module("attention", Attention, RMSNorm("pre_attn_norm", c.D), AttentionBlock("attn", c.encoderScores(), Raw("per_dim_scale", Attention, c.H),
				Linear("relative_position_embedding.pos_proj", c.D, c.Q), Linear("q_proj", c.D, c.Q),
				Linear("k_proj", c.D, c.Q), Linear("v_proj", c.D, c.Q)), Linear("post", c.D, c.D), RMSNorm("post_norm", c.D)),
			Module("lconv1d", Convolution, RMSNorm("pre_layer_norm", c.D), Linear("linear_start", c.D, c.D.X(2)),
				DepthConv("depthwise_conv1d", c.D, c.Size("kernel", "conf_conv_kernel_size"), false), RMSNorm("conv_norm", c.D), Linear("linear_end", c.D, c.D)),
			half("ffw_layer_end"), RMSNorm("norm", c.D)}
	}
	bins := (c.IntOr("input_feat_size", 128) + 3) / 4
	return Module("audio_tower", NoRole, c.gemmaSubsampling("conv_0", "conv_1", "sscp_conv_channel_size", bins),
		Stack("conformer", c.Size("N", "conf_num_hidden_layers"), layer)).tower("audio")
}

// mobileNetV5 is MobileNetV5-300M (timm: mobilenetv5_300m_enc), a network of fixed
// sizes: inverted bottlenecks, some with attention of many query heads over one
// key head, in four stages, and a fusion of the last two.
func mobileNetV5() Block {
	stem := Module("conv_stem", Convolution, conv2d("conv", 3, 64, 3).Bias(true), RMSNorm("bn", Const(64)))
	fusion := Module("msfa", Convolution, Module("ffn", Convolution, pointwise("pw_exp", 1920, 3840), pointwise("pw_proj", 3840, 2048)), RMSNorm("norm", Const(2048))).Seeing(mobileView.Halved(16))
	return Module("vision_tower.timm_model", Convolution, stem.Seeing(mobileView.Halved(2)),
		stage("0", 3, func(i int) []Block {
			in := []int64{64, 128, 128}[i]
			return []Block{conv2d("conv_exp", in, 4*in, 3), RMSNorm("bn1", Const(4*in)), conv2d("conv_pwl", 4*in, 128, 1), RMSNorm("bn2", Const(128))}
		}),
		stage("1", 5, func(i int) []Block {
			if i == 0 {
				return bottleneck(128, 6, 256, 3, 5)
			}
			return bottleneck(256, 4, 256, []int64{3, 5}[i%2], 0)
		}),
		stage("2", 37, func(i int) []Block {
			switch {
			case i == 0:
				return bottleneck(256, 6, 640, 5, 5)
			case i < 8:
				return bottleneck(640, 4, 640, 5, 0)
			case i == 8:
				return bottleneck(640, 1, 640, 0, 0)
			case i%2 == 1:
				return mobileAttention(640, 64, 3)
			}
			return bottleneck(640, 2, 640, 0, 0)
		}),
		stage("3", 39, func(i int) []Block {
			switch {
			case i == 0:
				return bottleneck(640, 6, 1280, 5, 5)
			case i%2 == 1:
				return mobileAttention(1280, 96, 0)
			}
			return bottleneck(1280, 2, 1280, 0, 0)
		}),
		fusion).InTower("vision")
}

// stage is blocks on a grid half as fine as that of the stage before.
func stage(name string, count int64, layer func(i int) []Block) Block {
	shrunk := map[string]int64{"0": 4, "1": 8, "2": 16, "3": 32}[name]
	return Stack("blocks."+name, Const(count), layer).Seeing(mobileView.Halved(shrunk))
}

func conv2d(name string, in, out, side int64) Block {
	return Conv(name, Const(in), Const(out), Const(side), Const(side))
}

// pointwise is a convolution of one pixel with its norm; depthwise one of one
// channel.
func pointwise(name string, in, out int64) Block {
	return Module(name, Convolution, conv2d("conv", in, out, 1), RMSNorm("bn", Const(out)))
}

func depthwise(name string, channels, side int64) Block {
	return Module(name, Convolution, conv2d("conv", 1, channels, side), RMSNorm("bn", Const(channels)))
}

// bottleneck widens, convolves each channel before (start) and between (mid),
// and narrows again; 0 is no convolution.
// The convolution between strides where a block begins a stage; what is before it
// runs on the finer grid.
func bottleneck(in, times, out, start, mid int64) []Block {
	var blocks []Block
	finer := func(b Block) Block { return b }
	if fine := map[int64]int64{128: 4, 256: 8, 640: 16}[in]; out > in && mid > 0 {
		finer = func(b Block) Block { return b.Seeing(mobileView.Halved(fine)) }
	}
	if start > 0 {
		blocks = append(blocks, finer(depthwise("dw_start", in, start)))
	}
	blocks = append(blocks, finer(pointwise("pw_exp", in, in*times)))
	if mid > 0 {
		blocks = append(blocks, depthwise("dw_mid", in*times, mid))
	}
	return append(blocks, pointwise("pw_proj", in*times, out), Raw("layer_scale.gamma", Convolution, Const(out)))
}

// mobileAttention has one key and value head of h features for all queries, read
// from a quarter of the pixels where a convolution of the given side strides over
// them.
func mobileAttention(d, h, side int64) []Block {
	heads, view := map[int64]int64{64: 12, 96: 16}[h], mobileView.Halved(map[int64]int64{64: 16, 96: 32}[h])
	coarse := view
	if side > 0 {
		view, coarse = view.Reduced(2), view.Halved(2)
	}
	read := func(name string) Block {
		b := Module(name, Attention, conv2d("proj", d, h, 1).As(Attention))
		if side > 0 {
			b.Sub = append([]Block{conv2d("down_conv", 1, d, side).As(Attention), RMSNorm("norm", Const(d))}, b.Sub...)
		}
		return b.Seeing(coarse)
	}
	scores := GQA(Const(heads), Const(1), Const(h), 0)
	scores.Bidirected, scores.Cross = true, side > 0
	return []Block{RMSNorm("norm", Const(d)), AttentionBlock("attn", scores, conv2d("query.proj", d, heads*h, 1).As(Attention), read("key"), read("value"),
		conv2d("output.proj", heads*h, d, 1).As(Attention)).Seeing(view), Raw("layer_scale.gamma", Attention, Const(d))}
}
