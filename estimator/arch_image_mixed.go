package estimator

import "math"

// Encoders of images in stages that mix convolutions and attention, and estimators
// of depth.
var mixedFamily = []Arch{
	{"mobilevit", "MobileViTModel", mobileViT},
	{"mobilevitv2", "MobileViTV2Model", mobileViT2},
	{"cvt", "CvtModel", cvt},
	{"hgnet_v2", "HGNetV2Backbone", hgNet},
	{"dpt", "DPTModel", dpt},
	{"vilt", "ViltModel", vilt},
}

// inverted widens, filters each channel, and narrows again.
func (c *Config) inverted(name string, in, out Size, before, after View) Block {
	wide := Named("wide", channels(math.RoundToEven(float64(in.Int())*c.Float("expand_ratio", 4)), 8, 8))
	return Module(name, Convolution, normedConv("expand_1x1", in, wide, 1).Seeing(before), Module("conv_3x3", Convolution, Depthwise("convolution", wide, 3), BatchNorm("normalization", wide)).Seeing(after),
		normedConv("reduce_1x1", wide, out, 1).Seeing(after))
}

// mobileStages is MobileViT's order of stages: two of convolutions, then three
// that attend, of which the last dilate where the config asks for a finer grid.
func (c *Config) mobileStages(widths [6]Size, plain int64, attending func(i int, in, out Size, view View) []Block) []Block {
	view := c.photo().Halved(2)
	body := []Block{normedConv("conv_stem", c.Size("channels", "num_channels"), widths[0], 3).Seeing(view)}
	fine := map[int64]int{8: 2, 16: 1}[c.IntOr("output_stride", 32)]
	return append(body, Stack("encoder.layer", Const(5), func(i int) []Block {
		before, by := view, int64(2)
		if i == 0 || i >= 5-fine {
			by = 1
		}
		view = view.Halved(by)
		in, out, after := widths[i], widths[i+1], view
		if i >= 2 {
			return append([]Block{c.inverted("downsampling_layer", in, out, before, after)}, attending(i-2, in, out, after)...)
		}
		return []Block{Stack("layer", Const([2]int64{1, plain}[i]), func(j int) []Block {
			if j > 0 {
				return []Block{c.inverted("", out, out, after, after)}
			}
			return []Block{c.inverted("", in, out, before, after)}
		})}
	}))
}

// mobileViT attends among the same places of all patches (Mehta and Rastegari
// 2021, arXiv:2110.02178).
func mobileViT(c *Config) Model {
	var widths [6]Size
	for i := range widths {
		widths[i] = c.at("C", "neck_hidden_sizes", i)
	}
	kernel := c.IntOr("conv_kernel_size", 3)
	body := c.mobileStages(widths, 3, func(i int, _, out Size, view View) []Block {
		h, patches := *c, view
		h.D, patches.Cells = c.at("D", "hidden_sizes", i), c.Int("patch_size")
		h.F = c.named("F", "mlp_ratio", int64(float64(h.D.Int())*c.Float("mlp_ratio", 2)))
		h.heads(c.A, c.A, "")
		h.N = Const([3]int64{2, 4, 3}[i])
		d := ViT{Names: Names{Stack: "transformer.layer"}, View: patches, NoLast: true}
		return []Block{normedConv("conv_kxk", out, out, kernel).Seeing(view), Module("conv_1x1", Convolution, Square("convolution", out, h.D, 1)).Seeing(view), Module("", NoRole, h.vitBody(d)...).Seeing(patches),
			LayerNorm("layernorm", h.D).Seeing(patches), normedConv("conv_projection", h.D, out, 1).Seeing(view), normedConv("fusion", out.X(2), out, kernel).Seeing(view)}
	})
	last := c.at("C", "neck_hidden_sizes", 6)
	view := c.photo().Halved(2).Halved(2).Halved(2)
	for by := c.IntOr("output_stride", 32); by > 8; by /= 2 {
		view = view.Halved(2)
	}
	return c.pyramid("mobilevit", "classifier", last, append(body, normedConv("conv_1x1_exp", widths[5], last, 1).Seeing(view))...)
}

// mobileViT2 weighs all places by one number each instead of by pairs (Mehta and
// Rastegari 2022, arXiv:2206.02680).
func mobileViT2(c *Config) Model {
	wide := func(n float64, by, least int64) Size { return Named("C", channels(n, by, least)) }
	times := c.Float("width_multiplier", 1)
	widths := [6]Size{wide(min(64, max(16, 32*times)), 8, 16), wide(64*times, 16, 16), wide(128*times, 8, 8), wide(256*times, 8, 8), wide(384*times, 8, 8), wide(512*times, 8, 8)}
	conv := func(name string, in, out Size) Block {
		return Module(name, NoRole, Square("convolution", in, out, 1).Bias(true))
	}
	body := c.mobileStages(widths, 2, func(i int, _, out Size, view View) []Block {
		d := wide(float64(c.sizeIn("D", "base_attn_unit_dims", i).Int())*times, 8, 8)
		F := Named("F", int64(c.Float("ffn_multiplier", 2)*float64(d.Int()))/16*16)
		layers := Stack("transformer.layer", c.at("N", "n_attn_blocks", i), func(int) []Block {
			return []Block{LayerNorm("layernorm_before", d), Module("attention", Attention, conv("qkv_proj", d, d.X(2).Plus(Const(1))), conv("out_proj", d, d)), LayerNorm("layernorm_after", d),
				MLPBlock("ffn", conv("conv1", d, F), conv("conv2", F, d))}
		})
		kernel := c.IntOr("conv_kernel_size", 3)
		return []Block{Module("", NoRole, Module("conv_kxk", Convolution, Depthwise("convolution", out, kernel), BatchNorm("normalization", out)), Module("conv_1x1", Convolution, Square("convolution", out, d, 1)), layers,
			LayerNorm("layernorm", d), normedConv("conv_projection", d, out, 1)).Seeing(view)}
	})
	return c.pyramid("mobilevitv2", "classifier", widths[5], body...)
}

// cvt makes queries, keys and values by convolutions, keys on a coarser grid (Wu et
// al. 2021, arXiv:2103.15808).
func cvt(c *Config) Model {
	view, in, flags := c.photo(), c.Size("channels", "num_channels"), c.Value("cls_token").Array()
	n := int(c.count("depth"))
	last := c.at("D", "embed_dim", n-1)
	stages := Stack("encoder.stages", Const(int64(n)), func(i int) []Block {
		D, A, kernel := c.at("D", "embed_dim", i), c.at("A", "num_heads", i), c.sizeIn("K", "patch_sizes", i).Int()
		view = view.StridedBy(Stride{kernel, c.sizeIn("stride", "patch_stride", i).Int(), c.sizeIn("padding", "patch_padding", i).Int()})
		grid, seen := view, view
		embed := []Block{Square("embedding.convolution_embeddings.projection", in, D, kernel).Bias(true), LayerNorm("embedding.convolution_embeddings.normalization", D)}
		in = D
		if i < len(flags) && flags[i].Bool() {
			seen = view.With(1)
			embed = append(embed, Raw("cls_token", PositionEmbedding, Const(1), Const(1), last))
		}
		return []Block{Module("", NoRole, embed...).Seeing(grid), Stack("layers", c.at("N", "depth", i), func(int) []Block { return c.cvtLayer(i, D, A, grid, seen) }).Seeing(seen)}
	})
	model := c.pyramid("cvt", "classifier", last, stages)
	if c.Task == ImageClassification {
		model.Head = append([]Block{LayerNorm("layernorm", last)}, model.Head...)
	}
	return model
}

func (c *Config) cvtLayer(i int, D, A Size, grid, seen View) []Block {
	kernel, bias := c.sizeIn("K", "kernel_qkv", i).Int(), true
	if list := c.Value("qkv_bias").Array(); i < len(list) {
		bias = list[i].Bool()
	}
	by := Stride{kernel, max(1, c.sizeIn("stride", "stride_kv", i).Int()), c.sizeIn("padding", "padding_kv", i).Int()}
	coarse := grid.StridedBy(by)
	seen.KeysBy = by
	conv := func(name string, view View) Block {
		return Module("attention.convolution_projection_"+name+".convolution_projection", Convolution, Depthwise("convolution", D, kernel), BatchNorm("normalization", D)).Seeing(view)
	}
	scores := GQA(A, A, c.ratio("H", D, A), 0)
	scores.Bidirected, scores.Cross = true, true
	F := Size{}
	if list := c.Value("mlp_ratio").Array(); i < len(list) {
		F = c.named("F", "mlp_ratio", int64(float64(D.Int())*list[i].Num))
	}
	return []Block{LayerNorm("layernorm_before", D), AttentionBlock("attention", scores, conv("query", grid), conv("key", coarse), conv("value", coarse),
		Linear("attention.projection_query", D, D).Bias(bias), Linear("attention.projection_key", D, D).Bias(bias).On(PerMemory), Linear("attention.projection_value", D, D).Bias(bias).On(PerMemory),
		Linear("output.dense", D, D).Bias(true)).Seeing(seen), LayerNorm("layernorm_after", D), MLPBlock("", Linear("intermediate.dense", D, F).Bias(true), Linear("output.dense", F, D).Bias(true))}
}

// hgNet gathers what all layers of a block give (PaddleClas's PP-HGNetV2, the
// backbone of RT-DETR and D-FINE, arXiv:2304.08069).
func hgNet(c *Config) Model {
	b := c.hgNetStages(false, nil)
	last := c.at("D", "hidden_sizes", int(c.count("hidden_sizes"))-1)
	model := Model{Body: []Block{Module("", NoRole, b.Body...).Seeing(c.photo())}, ImageEach: true}
	if c.Task == ImageClassification {
		model.Head = []Block{c.labelled("fc", last).Seeing(c.photo())}
	}
	return model
}

func (c *Config) hgNetStages(frozen bool, taken []int64) Backbone {
	norm, affine := batchNorm(frozen), c.Bool("use_learnable_affine_block")
	conv := func(name string, in, out Size, kernel int64, active bool) Block {
		sub := []Block{Square("convolution", in, out, kernel), norm("normalization", out)}
		if affine && active {
			sub = append(sub, Raw("lab.scale", Convolution, Const(1)), rawBias("lab.bias", Const(1)).As(Convolution))
		}
		return Module(name, Convolution, sub...)
	}
	by := func(i int) int64 { return max(1, c.sizeIn("stride", "stem_strides", i).Int()) }
	stem := func(i int) Size { return c.sizeIn("S", "stem_channels", i) }
	half := c.ratio("S/2", stem(1), Const(2))
	first := c.photo().Strided(3, by(0))
	second := first.Strided(3, by(3))
	view := second.Halved(by(4))
	body := []Block{Module("embedder", NoRole, conv("stem1", stem(0), stem(1), 3, true).Seeing(first), conv("stem2a", stem(1), half, 2, true).Seeing(first), conv("stem2b", half, stem(1), 2, true).Seeing(first),
		conv("stem3", stem(1).X(2), stem(1), 3, true).Seeing(second), conv("stem4", stem(1), stem(2), 1, true).Seeing(view))}
	var widths []Size
	var views []View
	downs, lights := c.Value("stage_downsample").Array(), c.Value("stage_light_block").Array()
	return take(append(body, Stack("encoder.stages", c.stages("stage_in_channels"), func(i int) []Block {
		in, mid, out := c.at("I", "stage_in_channels", i), c.at("M", "stage_mid_channels", i), c.at("O", "stage_out_channels", i)
		layers, kernel, light := c.sizeIn("L", "stage_numb_of_layers", i), c.sizeIn("K", "stage_kernel_size", i).Int(), i < len(lights) && lights[i].Bool()
		var sub []Block
		if i < len(downs) && downs[i].Bool() {
			view = view.Strided(3, c.sizeIn("stride", "stage_downsample_strides", i).Int())
			sub = []Block{Module("downsample", Convolution, Depthwise("convolution", in, 3), norm("normalization", in))}
		}
		widths, views = append(widths, c.at("D", "hidden_sizes", i)), append(views, view)
		sub = append(sub, Stack("blocks", c.at("N", "stage_num_blocks", i), func(j int) []Block {
			from := in
			if j > 0 {
				from = out
			}
			return []Block{Stack("layers", layers, func(k int) []Block {
				enters := mid
				if k == 0 {
					enters = from
				}
				if !light {
					return []Block{conv("", enters, mid, kernel, true)}
				}
				filter := conv("conv2", Const(1), mid, kernel, true)
				return []Block{conv("conv1", enters, mid, 1, false), filter}
			}), conv("aggregation.0", from.Plus(mid.X(layers.Int())), c.ratio("O/2", out, Const(2)), 1, true), conv("aggregation.1", c.ratio("O/2", out, Const(2)), out, 1, true)}
		}))
		return []Block{Module("", NoRole, sub...).Seeing(view)}
	})), widths, views, taken)
}

// dpt is ViT, and for depth a pyramid of what four of its layers give (Ranftl et
// al. 2021, arXiv:2103.13413). The hybrid with a ResNet before it is not described.
func dpt(c *Config) Model {
	if c.Bool("is_hybrid") || c.Value("backbone_config").IsObject() {
		c.inner.unknown = "dpt with a backbone"
	}
	model := vision(c, ViT{Beside: 1, Embed: c.vitEmbeddings()}).pooled(c.pooledFirst()...)
	if c.Task == DepthEstimation {
		model.Head = c.depthHead()
	}
	return model
}

// depthHead brings the features of some layers to grids of their own, fuses them
// from the coarsest on, and gives a depth for each pixel.
func (c *Config) depthHead() (head []Block) {
	patches, E, n := c.image(), c.Size("E", "fusion_hidden_size"), int(c.count("neck_hidden_sizes"))
	half, factors := c.ratio("E/2", E, Const(2)), c.Value("reassemble_factors").Array()
	views := make([]View, n)
	for i := range n {
		width, factor := c.at("C", "neck_hidden_sizes", i), 1.0
		if i < len(factors) {
			factor = factors[i].Num
		}
		layer := []Block{Square("projection", c.D, width, 1).Bias(true).Seeing(patches)}
		switch by := int64(factor); {
		case factor > 1:
			views[i] = patches.Finer(by)
			layer = append(layer, Transposed("resize", width, width, Const(by), Const(by)).Bias(true).Seeing(patches))
		case factor < 1 && factor > 0:
			views[i] = patches.Strided(3, int64(1/factor))
			layer = append(layer, Square("resize", width, width, 3).Bias(true).Seeing(views[i]))
		default:
			views[i] = patches
		}
		if c.String("readout_type") == "project" {
			head = append(head, Linear(numbered("neck.reassemble_stage.readout_projects", i)+".0", c.D.X(2), c.D).Bias(true).As(Head).Seeing(patches))
		}
		head = append(head, Module(numbered("neck.reassemble_stage.layers", i), Head, layer...), Square(numbered("neck.convs", i), width, E, 3).As(Head).Seeing(views[i]))
	}
	top := patches
	for j := range n {
		at := views[n-1-j]
		top = at.Finer(2)
		first := c.refined("residual_layer1", E).Seeing(at)
		if j == 0 {
			first = first.idle()
		}
		head = append(head, Module(numbered("neck.fusion_stage.layers", j), Head, first, c.refined("residual_layer2", E).Seeing(at), Square("projection", E, E, 1).Bias(true).Seeing(top)))
	}
	if c.Bool("add_projection") {
		head = append(head, Square("head.projection", E, E, 3).Bias(true).As(Head).Seeing(top))
	}
	head = append(head, Module("head.head", Head, Square("0", E, half, 3).Bias(true).Seeing(top), Square("2", half, Const(32), 3).Bias(true).Seeing(top.Finer(2)), Square("4", Const(32), Const(1), 1).Bias(true).Seeing(top.Finer(2))))
	return head
}

// refined is two convolutions of DPT's fusion.
func (c *Config) refined(name string, E Size) Block {
	normed := c.Bool("use_batch_norm_in_fusion_residual")
	bias := c.BoolOr("use_bias_in_fusion_residual", !normed)
	sub := []Block{Square("convolution1", E, E, 3).Bias(bias), Square("convolution2", E, E, 3).Bias(bias)}
	if normed {
		sub = append(sub, BatchNorm("batch_norm1", E), BatchNorm("batch_norm2", E))
	}
	return Module(name, Head, sub...)
}

// vilt reads text and patches in one sequence (Kim et al. 2021, arXiv:2102.03334):
// its layers run on both, which no view says.
func vilt(c *Config) Model {
	one := Const(1)
	embed := append([]Block{Token("text_embeddings.word_embeddings", c.V, c.D), Position("text_embeddings.position_embeddings", c.C, c.D), TokenType("text_embeddings.token_type_embeddings", c.Size("G", "type_vocab_size"), c.D),
		LayerNorm("text_embeddings.LayerNorm", c.D)}, Module("", NoRole, c.vitEmbeddings()...).Seeing(c.image().With(1)))
	embed = append(embed, TokenType("token_type_embeddings", c.Size("modalities", "modality_type_vocab_size"), c.D))
	body := append([]Block{Module("embeddings", NoRole, embed...)}, c.vitBody(ViT{View: c.image().With(1)})...)
	model := Model{Prefix: c.under("vilt"), Body: body, ImageEach: true, FLOPsByRule: true}
	labels := Named("labels", c.NumLabels())
	switch c.Task {
	case TokenClassification:
		model.Head = []Block{Linear("classifier", c.D, labels).Bias(true).As(Classifier)}
		return model
	case QuestionAnswering:
		model.Head = []Block{Module("classifier", Classifier, Linear("0", c.D, c.D.X(2)).Bias(true), LayerNorm("1", c.D.X(2)), Linear("3", c.D.X(2), labels).Bias(true)).Throughout(PerSequence)}
	case OtherTask:
		model.Head = []Block{Linear("rank_output", c.D, one).Bias(true).On(PerSequence).As(Classifier)}
	}
	model.Body = append(model.Body, Linear("pooler.dense", c.D, c.D).Bias(true).On(PerSequence).As(Pooler))
	return model
}
