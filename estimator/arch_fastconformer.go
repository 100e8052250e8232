package estimator

import (
	"math/big"
	"math/bits"
	"slices"
)

// Fast Conformers of speech, and what transcribes with them.
var fastConformerFamily = []Arch{
	{"parakeet_encoder", "ParakeetEncoder", func(c *Config) Model { return c.fastConformer(FastConformer{}) }},
	{"parakeet_ctc", "ParakeetForCTC", transcribed},
	{"parakeet_rnnt", "ParakeetForRNNT", func(c *Config) Model { return transducer(c, c.V) }},
	{"parakeet_tdt", "ParakeetForTDT", func(c *Config) Model {
		return transducer(c, c.V.Plus(Named("durations", int64(len(c.Value("durations").Array())))))
	}},
	{"nemotron_asr_streaming_encoder", "NemotronAsrStreamingEncoder", func(c *Config) Model { return c.fastConformer(FastConformer{Causal: true}) }},
	{"nemotron_asr_streaming", "NemotronAsrStreamingForRNNT", func(c *Config) Model { return transducer(c, c.V) }},
	{"nemotron3_5_asr", "Nemotron3_5AsrForRNNT", func(c *Config) Model {
		model, encoder, P := transducer(c, c.V), c.part("encoder_config"), c.Size("P", "prompt_intermediate_size")
		model.Body = append(model.Body, Module("prompt_projector", Projector, Linear("linear_1", encoder.D.Plus(c.Size("prompts", "num_prompts")), P).Bias(true),
			Linear("linear_2", P, encoder.D).Bias(true)).Hearing(0))
		return model
	}},
	{"lasr_encoder", "LasrEncoder", lasrEncoder},
	{"lasr_ctc", "LasrForCTC", transcribed},
	{"cohere_asr", "CohereAsrForConditionalGeneration", cohereASR},
}

// FastConformer is the mould of Fast Conformer (Rekesh et al. 2023,
// arXiv:2305.05084): depthwise convolutions over time and frequency that shorten
// the sequence by eight, and layers of Conformer. The zero value is Parakeet.
type FastConformer struct {
	NeMo   bool // in the names of NVIDIA's own library
	Causal bool // it hears no later than it speaks, and has layer norms
	Plain  bool // attention without relative positions, norms without biases
}

func (c *Config) fastConformer(d FastConformer) Model {
	layer := c.fastConformerLayer(d)
	return Model{Body: []Block{c.dwStriding(d), Stack("layers", c.N, func(int) []Block { return layer })}}
}

// dwStriding is convolutions with a stride over time and frequency: one over all
// channels, then pairs of one for each channel and one for each point.
func (c *Config) dwStriding(d FastConformer) Block {
	kernel, C, k := c.Int("subsampling_conv_kernel_size"), c.Size("C", "subsampling_conv_channels"), c.Size("kernel", "subsampling_conv_kernel_size")
	step, one := Step{kernel, c.Int("subsampling_conv_stride"), (kernel - 1) / 2 * 2}, Const(1)
	if d.Causal {
		step.Pad = kernel - 1 + step.Stride - 1
	}
	steps := slices.Repeat([]Step{step}, max(0, bits.Len64(uint64(max(1, c.Int("subsampling_factor"))))-1))
	name, out := "subsampling.layers", "subsampling.linear"
	if d.NeMo {
		name, out = "pre_encode.conv", "pre_encode.out"
	}
	bins, blocks := c.Int("num_mel_bins"), []Block{}
	for i := range steps {
		bins = step.leaves(bins)
		names := []string{numbered(name, 3*i-1), numbered(name, 3*i)}
		switch {
		case d.Causal && i > 0:
			names = []string{numbered(name, i-1) + ".depthwise_conv", numbered(name, i-1) + ".pointwise_conv"}
		case d.Causal:
			names = []string{"subsampling.conv_in"}
		case i == 0:
			names = []string{numbered(name, 0)}
		}
		sub := []Block{Conv(names[0], one, C, k, k).Bias(true).Repeated(bins)}
		if sub[0].Pixels = i == 0; i > 0 {
			sub = append(sub, Conv(names[1], C, C, one, one).Bias(true).Repeated(bins))
		}
		blocks = append(blocks, Module("", Convolution, sub...).Spanning(Span{Before: steps[i+1:]}))
	}
	return Module("", Convolution, append(blocks, Linear(out, C.Times(Named("bins", bins)), c.D).Bias(true))...)
}

func (c *Config) fastConformerLayer(d FastConformer) []Block {
	bias, norm, middle := c.Bool("attention_bias"), LayerNorm, BatchNorm("norm", c.D)
	switch {
	case d.Plain:
		norm = RMSNorm
	case d.NeMo:
		middle = BatchNorm("batch_norm", c.D)
	case d.Causal:
		middle = LayerNorm("norm", c.D)
	}
	half := func(name string) Block {
		return MLPBlock(name, Linear("linear1", c.D, c.F).Bias(bias), Linear("linear2", c.F, c.D).Bias(bias))
	}
	soft := c.Bool("convolution_bias")
	return []Block{norm("norm_feed_forward1", c.D), half("feed_forward1"), norm("norm_self_att", c.D), c.fastAttention(d, bias), norm("norm_conv", c.D),
		Module("conv", Convolution, Conv("pointwise_conv1", c.D, c.D.X(2), Const(1)).Bias(soft),
			GroupedConv("depthwise_conv", c.D, c.D, c.D.Int(), c.Size("kernel", "conv_kernel_size")).Bias(soft), middle, Conv("pointwise_conv2", c.D, c.D, Const(1)).Bias(soft)),
		norm("norm_feed_forward2", c.D), half("feed_forward2"), norm("norm_out", c.D)}
}

func (c *Config) fastAttention(d FastConformer, bias bool) Block {
	scores := c.sightScores()
	scores.KVHeads = c.K
	q, k, v, o, positions := "q_proj", "k_proj", "v_proj", "o_proj", []string{"relative_k_proj", "bias_u", "bias_v"}
	if d.NeMo {
		q, k, v, o, positions = "linear_q", "linear_k", "linear_v", "linear_out", []string{"linear_pos", "pos_bias_u", "pos_bias_v"}
	}
	sub := []Block{Linear(q, c.D, c.Q).Bias(bias), Linear(k, c.D, c.U).Bias(bias), Linear(v, c.D, c.U).Bias(bias)}
	if !d.Plain {
		sub = append(sub, c.relativePositions(PerToken, positions[0], positions[1], positions[2]))
	}
	return AttentionBlock("self_attn", scores, append(sub, Linear(o, c.Q, c.D).Bias(bias))...)
}

// lasrEncoder shortens by convolutions over time alone.
func lasrEncoder(c *Config) Model {
	kernel, C := c.Size("kernel", "subsampling_conv_kernel_size"), c.Size("C", "subsampling_conv_channels")
	step := Step{kernel.Int(), c.Int("subsampling_conv_stride"), 0}
	front := Module("subsampler", Convolution, Linear("dense_0", c.Size("M", "num_mel_bins"), c.D).Bias(true).pixels().Spanning(Span{Before: []Step{step, step}}),
		Conv("conv_0", c.D, c.D, kernel).Bias(true).Spanning(Span{Before: []Step{step}}), Conv("conv_1", c.D, C, kernel).Bias(true), Linear("dense_1", C, c.D).Bias(true))
	layer := c.fastConformerLayer(FastConformer{Plain: true})
	return Model{Body: []Block{front, Stack("layers", c.N, func(int) []Block { return layer }), RMSNorm("out_norm", c.D)}}
}

// transcribed is an encoder with a head that names a token for each frame (CTC,
// Graves et al. 2006).
func transcribed(c *Config) Model {
	encoder, inner := c.within("encoder_config")
	return Model{Body: []Block{Module("encoder", NoRole, inner.Body...)}, Head: []Block{Conv("ctc_head", encoder.D, c.V, Const(1)).Bias(true).As(Head)}}
}

// transducer predicts the next token from what was heard up to a frame and said
// before it, by a small recurrent network (Graves 2012, arXiv:1211.3711).
func transducer(c *Config, outputs Size) Model {
	encoder, inner := c.within("encoder_config")
	P := c.Size("P", "decoder_hidden_size")
	decoder := Module("decoder", NoRole, Token("embedding", c.V, P), LSTM("lstm", P, P, c.Int("num_decoder_layers")).As(Other), Linear("decoder_projector", P, P).Bias(true).As(Projector))
	joint := Module("joint", Head, Linear("head", P, outputs).Bias(true).On(Elsewhere))
	joint.Extra = &Extra{Name: "joint", Sizes: []Size{P, outputs}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.EncoderSeq, p.Seq, P.Int(), outputs.Int())
	}}
	return Model{EncoderDecoder: true, FLOPsByRule: true, Body: []Block{Module("encoder", NoRole, inner.Body...).Hearing(0).InTower("encoder"),
		Linear("encoder_projector", encoder.D, P).Bias(true).As(Projector).Hearing(0), decoder}, Head: []Block{joint}}
}

// LSTM is layers of long short-term memory (Hochreiter and Schmidhuber 1997), each
// with four gates that read the input and the last state.
func LSTM(name string, in, d Size, layers int64) Block {
	b := Block{Name: name}
	for i := range min(layers, mostLayers) {
		for _, from := range []struct {
			name string
			in   Size
		}{{"ih_l", in}, {"hh_l", d}} {
			suffix := from.name + Const(i).Numbers()
			gates := Linear("", from.in, d.X(4)).Bias(true)
			gates.Params[0].Name, gates.Params[1].Name = "weight_"+suffix, "bias_"+suffix
			b.Sub = append(b.Sub, gates)
		}
		in = d
	}
	return b
}

// cohereASR has a decoder that attends to what a Fast Conformer heard.
func cohereASR(c *Config) Model {
	encoder := c.part("encoder_config")
	prefix, bias := c.under("model"), c.Bool("attention_bias")
	attention := func(name string, scores Scores, rows Rows) Block {
		scores.Cross = rows != PerToken
		keys := PerToken
		if scores.Cross {
			keys = PerMemory
		}
		return AttentionBlock(name, scores, Linear("query_net", c.D, c.Q).Bias(bias).On(rows), Linear("key_net", c.D, c.U).Bias(bias).On(keys),
			Linear("value_net", c.D, c.U).Bias(bias).On(keys), Linear("out_projection", c.Q, c.D).Bias(bias).On(rows))
	}
	layer := []Block{LayerNorm("layer_norm_1", c.D), attention("first_sub_layer", GQA(c.A, c.K, c.H, 0), PerToken), LayerNorm("layer_norm_2", c.D),
		attention("second_sub_layer", GQA(c.A, c.K, c.H, 0), PerCrossed), LayerNorm("layer_norm_3", c.D),
		MLPBlock("third_sub_layer", Linear("dense_in", c.D, c.F).Bias(true), Linear("dense_out", c.F, c.D).Bias(true))}
	body := []Block{Module("encoder", NoRole, encoder.fastConformer(FastConformer{NeMo: true}).Body...).Hearing(0).InTower("encoder")}
	if encoder.D.Int() != c.D.Int() {
		body = append(body, Linear("encoder_decoder_proj", encoder.D, c.D).Bias(true).As(Projector).Hearing(0))
	}
	model := Model{Prefix: prefix, EncoderDecoder: true, Body: append(body,
		Module("transf_decoder", NoRole, Module("_embedding", NoRole, Token("token_embedding", c.V, c.D),
			Position("position_embedding", c.C, c.D).under("pos_enc"), LayerNorm("layer_norm", c.D)),
			Stack("_decoder.layers", c.N, func(int) []Block { return layer }), LayerNorm("_decoder.final_layer_norm", c.D)))}
	if c.Task != BaseModel {
		model.Head = []Block{Linear("log_softmax.mlp.layer0", c.D, c.V).Bias(true).On(PerLogit).As(Head).
			TiedTo(join(prefix, "transf_decoder._embedding.token_embedding.weight"), c.Bool("tie_word_embeddings"))}
	}
	return model
}
