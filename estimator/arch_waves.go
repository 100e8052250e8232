package estimator

import (
	"math/big"
	"slices"
	"strings"
)

// Encoders of raw sound.
var waveFamily = []Arch{
	{"wav2vec2", "Wav2Vec2ForCTC", func(c *Config) Model { return waves(c, Waves{}) }},
	{"hubert", "HubertForCTC", func(c *Config) Model { return waves(c, Waves{}) }},
	{"wavlm", "WavLMForCTC", func(c *Config) Model { return waves(c, Waves{Layer: c.wavLMLayer}) }},
	{"unispeech", "UniSpeechForCTC", func(c *Config) Model {
		return waves(c, Waves{PreTraining: func(q Block, V, P Size) []Block {
			return []Block{q, Linear("project_q", V, P).Bias(true), Linear("project_hid", P, c.D).Bias(true),
				Linear("ctc_proj", c.D, c.Size("classes", "num_ctc_classes")).Bias(true)}
		}})
	}},
	{"unispeech-sat", "UniSpeechSatForCTC", func(c *Config) Model {
		return waves(c, Waves{Masked: true, Quantised: c.D, PreTraining: func(q Block, V, P Size) []Block {
			return []Block{q.idle(), Linear("project_q", V, P).Bias(true).idle(), Linear("project_hid", c.D, P).Bias(true).idle(),
				Linear("speaker_proj", c.D, V).Bias(true).idle(), Raw("label_embeddings_concat", Other, c.Size("clusters", "num_clusters"), V),
				LayerNorm("layer_norm_for_extract", c.D).idle()}
		}})
	}},
	{"data2vec-audio", "Data2VecAudioForCTC", func(c *Config) Model { return waves(c, Waves{Positions: c.data2vecPositions}) }},
	{"sew", "SEWForCTC", func(c *Config) Model { return waves(c, Waves{Squeezed: true}) }},
	{"sew-d", "SEWDForCTC", func(c *Config) Model { return waves(c, Waves{Squeezed: true, Layers: c.sewD}) }},
	{"wav2vec2-conformer", "Wav2Vec2ConformerForCTC", func(c *Config) Model {
		return waves(c, Waves{Layer: func(int) []Block { return c.conformerLayer(false) }, LateNorm: true, IdlePositions: true})
	}},
	{"wav2vec2-bert", "Wav2Vec2BertForCTC", func(c *Config) Model {
		return waves(c, Waves{Input: c.Size("I", "feature_projection_input_dim"), Layer: func(int) []Block { return c.conformerLayer(true) }})
	}},
}

// Waves is the mould of wav2vec 2.0 (Baevski et al. 2020, arXiv:2006.11477):
// convolutions make tokens of samples, a wide one tells their positions, and
// layers in the mould of BERT follow. The zero value is wav2vec 2.0 itself and
// HuBERT (Hsu et al. 2021, arXiv:2106.07447); a family states its differences.
type Waves struct {
	Input         Size // features of the frames that it takes instead of samples: no convolutions, no last norm
	Masked        bool // a vector for masked frames whatever the config says
	LateNorm      bool // the encoder's norm stands behind its layers
	Squeezed      bool // the layers run on fewer positions than there are tokens
	IdlePositions bool // the convolution for positions is stored and does not run

	Positions func() Block        // else one convolution
	Layer     func(i int) []Block // else attention and a feed-forward block with their norms
	Layers    func() []Block      // instead of all layers and their norm

	Quantised   Size                                     // width of what is quantised, else that of the convolutions
	PreTraining func(quantizer Block, V, P Size) []Block // heads of pre-training, else wav2vec 2.0's
}

func waves(c *Config, d Waves) Model {
	c.evenHeads()
	d.LateNorm = d.LateNorm || c.Switch("do_stable_layer_norm")
	if d.Layer == nil {
		d.Layer = func(int) []Block { return c.waveLayer(c.waveAttention(), d.LateNorm) }
	}
	var body []Block
	if d.Masked || c.Float("mask_time_prob", 0) > 0 || c.Float("mask_feature_prob", 0) > 0 {
		body = append(body, Raw("masked_spec_embed", Other, c.D))
	}
	width := d.Input
	if width.IsZero() {
		body = append(body, c.waveFront())
		width = c.sizeIn("Cw", "conv_dim", len(c.Ints("conv_dim"))-1)
	}
	body = append(body, c.waveProjection(d, width), Module("encoder", NoRole, c.waveEncoder(d)...))
	adapter, out, shorter := c.waveAdapter(d)
	body = append(body, adapter...)
	return Model{Prefix: c.under(strings.ReplaceAll(c.ModelType(), "-", "_")), Body: body, Head: c.waveHeads(d, width, out, shorter)}
}

// waveFront is the convolutions, each with a norm or the first one alone.
func (c *Config) waveFront() Block {
	kernels, strides := c.Ints("conv_kernel"), c.Ints("conv_stride")
	steps := make([]Step, min(len(kernels), len(strides), len(c.Ints("conv_dim"))))
	for i := range steps {
		steps[i] = Step{Kernel: kernels[i], Stride: strides[i]}
	}
	each := c.Declares("conv_pos_kernel_size") || c.String("feat_extract_norm") == "layer"
	return FrontEnd("feature_extractor.conv_layers", steps, func(i int) []Block {
		in, out := Const(1), c.sizeIn("Cw", "conv_dim", i)
		if i > 0 {
			in = c.sizeIn("Cw", "conv_dim", i-1)
		}
		conv := Conv("conv", in, out, Named("kernel", kernels[i])).Bias(c.Bool("conv_bias"))
		conv.Pixels = i == 0
		if each || i == 0 {
			return []Block{conv, LayerNorm("layer_norm", out)}
		}
		return []Block{conv}
	})
}

// waveProjection leads from the convolutions' channels to the layers' width.
func (c *Config) waveProjection(d Waves, width Size) Block {
	norm := LayerNorm("layer_norm", width)
	if d.Squeezed {
		if width.Int() == c.D.Int() {
			return norm
		}
		return Module("", Projector, norm, Linear("feature_projection", width, c.D).Bias(true))
	}
	project := Linear("projection", width, c.D).Bias(true)
	if c.Declares("feat_proj_layer_norm") && !c.Bool("feat_proj_layer_norm") {
		return Module("feature_projection", Projector, project)
	}
	return Module("feature_projection", Projector, norm, project)
}

func (c *Config) waveEncoder(d Waves) []Block {
	layers, norm := []Block{Stack("layers", c.N, d.Layer)}, []Block{LayerNorm("layer_norm", c.D)}
	if d.Layers != nil {
		layers, norm = d.Layers(), nil
	}
	switch {
	case !d.Input.IsZero():
		return layers
	case d.LateNorm:
		layers = append(layers, norm...)
	default:
		layers = append(norm, layers...)
	}
	if d.Squeezed {
		n := c.Size("squeeze", "squeeze_factor")
		layers = append(layers, Linear("upsample.projection", c.D, c.D.Times(n)).Bias(true).As(Projector))
		layers = []Block{Module("", NoRole, layers...).Spanning(Span{After: []Step{{n.Int(), n.Int(), 0}}})}
	}
	if d.Positions != nil {
		return append([]Block{d.Positions()}, layers...)
	}
	positions := c.wavePositions()
	positions.Idle = d.IdlePositions
	if c.String("position_embeddings_type") == "rotary" {
		layers = append([]Block{Buffer("embed_positions.inv_freq", c.ratio("H/2", c.H, Const(2)))}, layers...)
	}
	return append([]Block{positions}, layers...)
}

// wavePositions is the convolution that tells positions, over groups of channels.
// Its weight is stored as a direction and a length for each place of the kernel,
// or a batch norm stands before it.
func (c *Config) wavePositions() Block {
	kernel := c.Size("places", "num_conv_pos_embeddings")
	conv := c.groupedConv("conv", kernel)
	if c.Switch("conv_pos_batch_norm") {
		conv = Module("", NoRole, BatchNorm("batch_norm", c.D), conv)
	} else {
		conv = conv.weightNormed(2)
	}
	step := Step{kernel.Int(), c.IntOr("squeeze_factor", 1), kernel.Int() / 2 * 2}
	return Module("pos_conv_embed", PositionEmbedding, conv).As(Convolution).Spanning(Span{After: []Step{step}})
}

func (c *Config) groupedConv(name string, kernel Size) Block {
	return GroupedConv(name, c.D, c.D, c.Int("num_conv_pos_embedding_groups"), kernel).Bias(true)
}

// data2vecPositions are several such convolutions one after another (Baevski et
// al. 2022, arXiv:2202.03555).
func (c *Config) data2vecPositions() Block {
	kernel := c.Size("places", "conv_pos_kernel_size")
	one := c.groupedConv("conv", kernel).Spanning(Span{After: []Step{{kernel.Int(), 1, kernel.Int() / 2 * 2}}})
	return Stack("pos_conv_embed.layers", c.Size("Np", "num_conv_pos_embeddings"), func(int) []Block {
		return []Block{one, Unweighted("layer_norm", c.D)}
	})
}

func (c *Config) waveAttention(within ...Block) Block {
	scores := c.sightScores()
	return AttentionBlock("attention", scores, append(within, Linear("k_proj", c.D, c.D).Bias(true), Linear("v_proj", c.D, c.D).Bias(true),
		Linear("q_proj", c.D, c.D).Bias(true), Linear("out_proj", c.D, c.D).Bias(true))...)
}

// waveLayer has its norms behind the blocks, or before them where the encoder's
// own is the last. Then it may end in an adapter for a language.
func (c *Config) waveLayer(attention Block, before bool) []Block {
	first, second, feedForward := LayerNorm("layer_norm", c.D), LayerNorm("final_layer_norm", c.D), c.waveMLP("feed_forward")
	if !before {
		return []Block{attention, first, feedForward, second}
	}
	layer := []Block{first, attention, second, feedForward}
	if n, ok := c.Nullable("adapter_attn_dim"); ok && c.Declares("adapter_attn_dim") {
		narrow := c.named("adapter", "adapter_attn_dim", n)
		layer = append(layer, MLPBlock("adapter_layer", LayerNorm("norm", c.D), Linear("linear_1", c.D, narrow).Bias(true), Linear("linear_2", narrow, c.D).Bias(true)))
	}
	return layer
}

func (c *Config) waveMLP(name string) Block {
	return MLPBlock(name, Linear("intermediate_dense", c.D, c.F).Bias(true), Linear("output_dense", c.F, c.D).Bias(true))
}

// wavLMLayer gates a bias by distance for each head and token; the first layer
// keeps the biases for all (Chen et al. 2021, arXiv:2110.13900).
func (c *Config) wavLMLayer(i int) []Block {
	one := Const(1)
	gates := []Block{Raw("gru_rel_pos_const", Attention, one, c.A, one, one), Linear("gru_rel_pos_linear", c.H, Const(8)).Bias(true).Repeated(c.A.Int())}
	if i == 0 {
		gates = append(gates, Position("rel_attn_embed", c.Size("B", "num_buckets"), c.A))
	}
	return c.waveLayer(c.waveAttention(gates...), c.Switch("do_stable_layer_norm"))
}

// sewD has DeBERTa's layers: scores between contents, and between content and
// distance both ways, for distances in buckets (He et al. 2020, arXiv:2006.03654).
func (c *Config) sewD() []Block {
	kinds, distances := c.Strings("pos_att_type"), c.positionBuckets().X(2)
	apart, relative := !c.Bool("share_att_key"), c.Bool("relative_attention")
	attention := []Block{Linear("self.query_proj", c.D, c.Q).Bias(true), Linear("self.key_proj", c.D, c.Q).Bias(true), Linear("self.value_proj", c.D, c.Q).Bias(true)}
	for kind, name := range map[string]string{"c2p": "self.pos_key_proj", "p2c": "self.pos_query_proj"} {
		if relative && slices.Contains(kinds, kind) {
			between := Block{Extra: betweenDistances(c.Q, distances)}
			if apart {
				between.Sub = []Block{Linear(name, c.D, c.Q).Bias(true).On(PerModel).Repeated(distances.Int())}
			}
			attention = append(attention, between)
		}
	}
	if relative && !apart {
		attention = append(attention, Product(c.D, c.Q.X(2)).On(PerModel).Repeated(distances.Int()))
	}
	layer := []Block{AttentionBlock("attention", c.sightScores(), append(attention, Linear("output.dense", c.Q, c.D).Bias(true))...), LayerNorm("attention.output.LayerNorm", c.D),
		MLPBlock("", Linear("intermediate.dense", c.D, c.F).Bias(true), Linear("output.dense", c.F, c.D).Bias(true)), LayerNorm("output.LayerNorm", c.D)}
	sub := []Block{}
	if relative {
		sub = append(sub, Position("rel_embeddings", distances, c.D))
	}
	if strings.Contains(c.String("norm_rel_ebd"), "layer_norm") {
		sub = append(sub, LayerNorm("LayerNorm", c.D))
	}
	return []Block{Module("encoder", NoRole, append(sub, Stack("layer", c.N, func(int) []Block { return layer }))...)}
}

// positionBuckets is how many distances one way are told apart.
func (c *Config) positionBuckets() Size {
	if n := c.IntOr("position_buckets", -1); n > 0 {
		return c.named("B", "position_buckets", n)
	}
	if n := c.IntOr("max_relative_positions", -1); n > 0 {
		return c.named("B", "max_relative_positions", n)
	}
	return c.C
}

// betweenDistances is the product of all tokens with so many distances.
func betweenDistances(width, distances Size) *Extra {
	return &Extra{Name: "distances", Sizes: []Size{width, distances}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, width.Int(), distances.Int())
	}}
}

// waveAdapter shortens the sequence behind the encoder, where the config asks for
// it. It returns the width of its tokens, and the steps that lead to them.
func (c *Config) waveAdapter(d Waves) (adapter []Block, out Size, shorter []Step) {
	out = c.D
	var sub []Block
	if c.Switch("use_intermediate_ffn_before_adapter") {
		adapter = []Block{c.waveMLP("intermediate_ffn")}
	}
	if !c.Switch("add_adapter") {
		return adapter, out, nil
	}
	if n := c.SizeOr("O", "output_hidden_size", c.D); n.Int() != c.D.Int() {
		out = n
		sub = append(sub, Linear("proj", c.D, out).Bias(true), LayerNorm("proj_layer_norm", out))
	}
	kernel, stride := c.Size("kernel", "adapter_kernel_size"), c.Int("adapter_stride")
	step := Step{kernel.Int(), stride, 2}
	if !d.Input.IsZero() {
		step.Pad = stride / 2 * 2
	}
	shorter = slices.Repeat([]Step{step}, int(min(mostLayers, c.Int("num_adapter_layers"))))
	layers := Stack("layers", c.Size("Na", "num_adapter_layers"), func(i int) []Block {
		conv := Conv("conv", out, out.X(2), kernel).Bias(true)
		layer := []Block{conv}
		if !d.Input.IsZero() {
			layer = c.attentionAdapter(out, conv)
		}
		return []Block{Module("", NoRole, layer...).Spanning(Span{After: shorter[:i+1]})}
	})
	return append(adapter, Module("adapter", Projector, append(sub, layers)...)), out, shorter
}

// attentionAdapter attends to itself on what one convolution leaves, beside what
// another leaves.
func (c *Config) attentionAdapter(d Size, conv Block) []Block {
	a := *c
	a.D = d
	a.heads(c.A, c.A, "")
	return []Block{LayerNorm("residual_layer_norm", d), conv.Called("residual_conv"), LayerNorm("self_attn_layer_norm", d), conv.Called("self_attn_conv"),
		a.conformerAttention(""), LayerNorm("ffn_layer_norm", d), a.waveMLP("ffn")}
}

// waveHeads are the heads for the class's task, on the tokens that an adapter
// leaves where there is one.
func (c *Config) waveHeads(d Waves, width, out Size, shorter []Step) []Block {
	labels := Named("labels", c.NumLabels())
	var head []Block
	if c.Bool("use_weighted_layer_sum") {
		head = append(head, Raw("layer_weights", Other, c.N.Plus(Const(1))))
	}
	switch c.Task {
	case BaseModel:
		return nil
	case CTC:
		return []Block{Linear("lm_head", out, c.V).Bias(true).As(Head).Spanning(Span{After: shorter})}
	case PreTraining:
		return c.preTraining(d, width)
	case FrameClassification:
		return append(head, Linear("classifier", c.D, labels).Bias(true).As(Classifier))
	case SpeakerVector:
		return append(head, c.speakerVector(labels)...)
	}
	B := c.Size("B", "classifier_proj_size")
	return append(head, Linear("projector", c.D, B).Bias(true).As(Classifier), Linear("classifier", B, labels).Bias(true).On(PerSequence).As(Classifier))
}

// preTraining quantises what the convolutions found, and predicts it.
func (c *Config) preTraining(d Waves, width Size) []Block {
	V, P, G := c.Size("Vq", "codevector_dim"), c.Size("P", "proj_codevector_dim"), c.Size("G", "num_codevector_groups")
	codes := G.Times(c.Size("codes", "num_codevectors_per_group"))
	quantizer := Module("quantizer", Other, Raw("codevectors", Other, Const(1), codes, c.ratio("Vq/G", V, G)), Linear("weight_proj", orSize(d.Quantised, width), codes).Bias(true))
	if d.PreTraining != nil {
		return []Block{Module("", Other, d.PreTraining(quantizer, V, P)...)}
	}
	return []Block{Module("", Other, quantizer, Linear("project_hid", c.D, P).Bias(true), Linear("project_q", V, P).Bias(true))}
}

// speakerVector is convolutions with gaps between what they take, and one vector
// of mean and deviation of their tokens (Snyder et al. 2018, x-vectors).
func (c *Config) speakerVector(labels Size) []Block {
	dims, kernels, gaps := c.Ints("tdnn_dim"), c.Ints("tdnn_kernel"), c.Ints("tdnn_dilation")
	n := min(len(dims), len(kernels), len(gaps))
	X, last := c.Size("X", "xvector_output_dim"), c.sizeIn("Ct", "tdnn_dim", len(dims)-1)
	var steps []Step
	tdnn := Stack("tdnn", Const(int64(n)), func(i int) []Block {
		steps = append(steps, Step{gaps[i]*(kernels[i]-1) + 1, 1, 0})
		return []Block{Linear("kernel", c.sizeIn("Ct", "tdnn_dim", max(0, i-1)).X(kernels[i]), c.sizeIn("Ct", "tdnn_dim", i)).Bias(true).
			Spanning(Span{After: slices.Clone(steps)})}
	})
	vector := Module("", Classifier, Linear("feature_extractor", last.X(2), X).Bias(true), Linear("classifier", X, X).Bias(true)).Throughout(PerSequence)
	return []Block{Linear("projector", c.D, c.sizeIn("Ct", "tdnn_dim", 0)).Bias(true).As(Classifier), tdnn.As(Classifier), vector,
		Raw("objective.weight", Classifier, X, labels)}
}
