package estimator

import (
	"math"
	"slices"
)

// Encoders of images in stages, each on a coarser grid than the one before:
// convolutions, and what came to resemble them.
var pyramidFamily = slices.Concat([]Arch{
	{"resnet", "ResNetModel", resnet},
	{"regnet", "RegNetModel", regnet},
	{"bit", "BitModel", bit},
	{"convnext", "ConvNextModel", convNext},
	{"convnextv2", "ConvNextV2Model", convNext},
	{"dinov3_convnext", "DINOv3ConvNextModel", dinov3ConvNext},
	{"efficientnet", "EfficientNetModel", efficientNet},
	{"mobilenet_v1", "MobileNetV1Model", mobileNet1},
	{"mobilenet_v2", "MobileNetV2Model", mobileNet2},
	{"poolformer", "PoolFormerModel", poolFormer},
}, swinFamily, reducedFamily)

// photo sees an image pixel by pixel: of the size that the config names, else of
// the 224 pixels a side that such models were trained on.
func (c *Config) photo() View {
	sides := [2]int64{224, 224}
	if c.Given("image_size") || c.Declares("image_size") {
		sides = c.sides("image_size")
	}
	return View{Sides: sides, Patch: [2]int64{1, 1}}
}

// at is a member of a list, named after its place: C1, C2.
func (c *Config) at(letter, field string, i int) Size {
	return c.sizeIn(letter+string(rune('₁'+i)), field, i)
}

// count is the length of a list.
func (c *Config) count(field string) int64 { return min(int64(len(c.Ints(field))), 1<<10) }

// listSize is the length of a list as a size.
func (c *Config) stages(field string) Size { return Named("stages", c.count(field)) }

// normedConv is a convolution without a bias and a batch norm.
func normedConv(name string, in, out Size, kernel int64) Block {
	return Module(name, Convolution, Square("convolution", in, out, kernel), BatchNorm("normalization", out))
}

// pyramid is a model of images alone of these blocks, and a classifier of d features.
func (c *Config) pyramid(prefix, classifier string, d Size, body ...Block) Model {
	model := Model{Prefix: c.under(prefix), Body: []Block{Module("", NoRole, body...).Seeing(c.photo())}, ImageEach: true}
	if c.Task == ImageClassification {
		model.Head = []Block{c.labelled(classifier, d).Seeing(c.photo())}
	}
	return model
}

// resnet is He et al. 2015, arXiv:1512.03385.
func resnet(c *Config) Model {
	stages := c.resNetStages(false, nil)
	return c.pyramid("resnet", "classifier.1", c.at("D", "hidden_sizes", int(c.count("hidden_sizes"))-1), stages.Body...)
}

// resNetStages are the stem and the stages of ResNet, and of that of RT-DETR, whose
// stem has three small convolutions and whose shortcuts take means.
func (c *Config) resNetStages(frozen bool, taken []int64) Backbone {
	n, first, deep := int(c.count("hidden_sizes")), c.Size("D₀", "embedding_size"), c.ModelType() == "rt_detr_resnet"
	norm, channels := batchNorm(frozen), c.Size("channels", "num_channels")
	conv := func(name string, in, out Size, kernel int64) Block {
		return Module(name, Convolution, Square("convolution", in, out, kernel), norm("normalization", out))
	}
	stem := c.photo().Halved(2)
	body := []Block{conv("embedder.embedder", channels, first, 7).Seeing(stem)}
	if half := c.ratio("D₀/2", first, Const(2)); deep {
		body = []Block{Module("embedder.embedder", Convolution, conv("0", channels, half, 3), conv("1", half, half, 3), conv("2", half, first, 3)).Seeing(stem)}
	}
	layer := func(j int, in, out Size, by int64, view View) []Block {
		after, shortcut := view.Halved(by), "shortcut"
		var sub []Block
		basic := c.String("layer_type") == "basic"
		if deep && (by == 2 && !basic || basic && in.Int() != out.Int()) {
			shortcut = "shortcut.1"
		}
		if in.Int() != out.Int() || by != 1 || deep && basic && j == 0 {
			sub = append(sub, conv(shortcut, in, out, 1).Seeing(after))
		}
		if basic {
			return append(sub, conv("layer.0", in, out, 3).Seeing(after), conv("layer.1", out, out, 3).Seeing(after))
		}
		narrow, entry := c.ratio("D/4", out, Const(4)), view
		if c.Bool("downsample_in_bottleneck") {
			entry = after
		}
		return append(sub, conv("layer.0", in, narrow, 1).Seeing(entry), conv("layer.1", narrow, narrow, 3).Seeing(after), conv("layer.2", narrow, out, 1).Seeing(after))
	}
	view := stem.Halved(2)
	var widths []Size
	var views []View
	body = append(body, Stack("encoder.stages", Const(int64(n)), func(i int) []Block {
		stage := c.convStage(i, first, &view, c.Bool("downsample_in_first_stage"), layer)
		widths, views = append(widths, c.at("D", "hidden_sizes", i)), append(views, view)
		return stage
	}))
	return take(body, widths, views, taken)
}

// convStage is a list of layers of one width, the first of which makes the grid
// coarser, except in the first stage where that is not asked for.
func (c *Config) convStage(i int, first Size, view *View, coarserFirst bool, layer func(j int, in, out Size, by int64, view View) []Block) []Block {
	in, out, by := first, c.at("D", "hidden_sizes", i), int64(2)
	if i > 0 {
		in = c.at("D", "hidden_sizes", i-1)
	} else if !coarserFirst {
		by = 1
	}
	before := *view
	*view = view.Halved(by)
	after := *view
	return []Block{Stack("layers", c.at("N", "depths", i), func(j int) []Block {
		if j > 0 {
			return layer(j, out, out, 1, after)
		}
		return layer(j, in, out, by, before)
	})}
}

// regnet is Radosavovic et al. 2020, arXiv:2003.13678: convolutions in groups, in
// its second kind with weights for the channels.
func regnet(c *Config) Model {
	n, first := int(c.count("hidden_sizes")), c.Size("D₀", "embedding_size")
	view := c.photo().Halved(2)
	layer := func(_ int, in, out Size, by int64, view View) []Block {
		after, groups := view.Halved(by), max(1, out.Int()/max(1, c.Int("groups_width")))
		var sub []Block
		if in.Int() != out.Int() || by != 1 {
			sub = append(sub, normedConv("shortcut", in, out, 1).Seeing(after))
		}
		group := c.ratio("group", out, Const(groups))
		sub = append(sub, normedConv("layer.0", in, out, 1).Seeing(view), normedConv("layer.1", group, out, 3).Seeing(after))
		if c.String("layer_type") == "x" {
			return append(sub, normedConv("layer.2", out, out, 1).Seeing(after))
		}
		reduced := Named("reduced", int64(math.RoundToEven(float64(in.Int())/4)))
		return append(sub, squeeze("layer.2.attention.0", "layer.2.attention.2", out, reduced).Seeing(after), normedConv("layer.3", out, out, 1).Seeing(after))
	}
	body := []Block{normedConv("embedder.embedder", c.Size("channels", "num_channels"), first, 3).Seeing(view),
		Stack("encoder.stages", Const(int64(n)), func(i int) []Block { return c.convStage(i, first, &view, c.Bool("downsample_in_first_stage"), layer) })}
	return c.pyramid("regnet", "classifier.1", c.at("D", "hidden_sizes", n-1), body...)
}

// squeeze weighs channels by their means over the image (Hu et al. 2017,
// arXiv:1709.01507).
func squeeze(down, up string, d, reduced Size) Block {
	return Module("", Convolution, Square(down, d, reduced, 1).Bias(true).On(PerSequence), Square(up, reduced, d, 1).Bias(true).On(PerSequence))
}

// bit is ResNet with norms over groups of channels (Kolesnikov et al. 2019,
// arXiv:1912.11370). Beyond its output stride it dilates instead of striding.
func bit(c *Config) Model {
	first, n := c.Size("D₀", "embedding_size"), int(c.count("hidden_sizes"))
	before := c.String("layer_type") == "preactivation"
	stem := c.photo().Halved(2)
	view, width, reached := stem.Halved(2), first, int64(4)
	body := []Block{Square("embedder.convolution", c.Size("channels", "num_channels"), first, 7).pixels().Seeing(stem)}
	if !before {
		body = append(body, LayerNorm("embedder.norm", first))
	}
	body = append(body, Stack("encoder.stages", Const(int64(n)), func(i int) []Block {
		in, entry, by := width, view, int64(2)
		if i == 0 || reached >= c.IntOr("output_stride", 32) {
			by = 1
		}
		width = Named("D"+string(rune('₁'+i)), channels(float64(c.at("D", "hidden_sizes", i).Int()*c.IntOr("width_factor", 1)), 8, 8))
		view, reached = view.Halved(by), reached*by
		out, after := width, view
		return []Block{Stack("layers", c.at("N", "depths", i), func(j int) []Block {
			if j > 0 {
				return bitLayer(out, out, before, after, after)
			}
			down := []Block{Square("downsample.conv", in, out, 1).Seeing(after)}
			if !before {
				down = append(down, LayerNorm("downsample.norm", out))
			}
			return append(down, bitLayer(in, out, before, entry, after)...)
		})}
	}))
	last := c.at("D", "hidden_sizes", n-1)
	if before {
		body = append(body, LayerNorm("norm", last))
	}
	return c.pyramid("bit", "classifier.1", last, body...)
}

// bitLayer is a bottleneck whose norms stand before its convolutions or behind.
func bitLayer(in, out Size, before bool, entry, after View) []Block {
	narrow := Named("narrow", channels(float64(out.Int())*0.25, 8, 8))
	norms := [3]Size{narrow, narrow, out}
	if before {
		norms = [3]Size{in, narrow, narrow}
	}
	return []Block{LayerNorm("norm1", norms[0]), Square("conv1", in, narrow, 1).Seeing(entry), LayerNorm("norm2", norms[1]),
		Square("conv2", narrow, narrow, 3).Seeing(after), LayerNorm("norm3", norms[2]), Square("conv3", narrow, out, 1).Seeing(after)}
}

// channels rounds to a multiple, at least so many and not below nine tenths of n.
func channels(n float64, divisor, least int64) int64 {
	rounded := max(least, int64(n+float64(divisor)/2)/max(1, divisor)*divisor)
	if float64(rounded) < 0.9*n {
		rounded += divisor
	}
	return rounded
}

// convNext is Liu et al. 2022, arXiv:2201.03545; its second version normalises over
// the whole image within the MLP (Woo et al. 2023, arXiv:2301.00808).
func convNext(c *Config) Model {
	n, two := int(c.Int("num_stages")), c.ModelType() == "convnextv2"
	view := View{Sides: c.sides("image_size"), Patch: c.sides("patch_size")}
	first, patch := c.at("D", "hidden_sizes", 0), Named("P", view.Patch[0])
	body := []Block{Conv("embeddings.patch_embeddings", c.Size("channels", "num_channels"), first, patch, Named("P", view.Patch[1])).Bias(true).pixels().Seeing(view),
		LayerNorm("embeddings.layernorm", first), Stack("encoder.stages", Const(int64(n)), func(i int) []Block {
			d := c.at("D", "hidden_sizes", i)
			var sub []Block
			if i > 0 {
				in := c.at("D", "hidden_sizes", i-1)
				view = view.Coarser(2)
				sub = []Block{LayerNorm("downsampling_layer.0", in), Square("downsampling_layer.1", in, d, 2).Bias(true)}
			}
			return []Block{Module("", NoRole, append(sub, Stack("layers", c.at("N", "depths", i), func(int) []Block {
				layer := []Block{Depthwise("dwconv", d, 7).Bias(true), LayerNorm("layernorm", d), Linear("pwconv1", d, d.X(4)).Bias(true).As(MLP)}
				if one := Const(1); two {
					layer = append(layer, Raw("grn.weight", Norm, one, one, one, d.X(4)), Raw("grn.bias", Norm, one, one, one, d.X(4)))
				}
				layer = append(layer, Linear("pwconv2", d.X(4), d).Bias(true).As(MLP))
				if !two && c.Float("layer_scale_init_value", 0) > 0 {
					layer = append(layer, Raw("layer_scale_parameter", MLP, d))
				}
				return layer
			}))...).Seeing(view)}
		})}
	last := c.at("D", "hidden_sizes", int(c.count("hidden_sizes"))-1)
	return c.pyramid(c.ModelType(), "classifier", last, append(body, LayerNorm("layernorm", last))...)
}

// dinov3ConvNext is ConvNeXt distilled from DINOv3 (Siméoni et al. 2025,
// arXiv:2508.10104).
func dinov3ConvNext(c *Config) Model {
	n, view := int(c.count("hidden_sizes")), c.photo().Coarser(4)
	d := func(i int) Size { return c.at("D", "hidden_sizes", i) }
	body := []Block{Stack("stages", Const(int64(n)), func(i int) []Block {
		down := []Block{Square("downsample_layers.0", c.Size("channels", "num_channels"), d(0), 4).Bias(true).pixels(), LayerNorm("downsample_layers.1", d(0))}
		if i > 0 {
			view = view.Coarser(2)
			down = []Block{LayerNorm("downsample_layers.0", d(i-1)), Square("downsample_layers.1", d(i-1), d(i), 2).Bias(true)}
		}
		return []Block{Module("", NoRole, append(down, Stack("layers", c.at("N", "depths", i), func(int) []Block {
			return []Block{Depthwise("depthwise_conv", d(i), 7).Bias(true), LayerNorm("layer_norm", d(i)), Linear("pointwise_conv1", d(i), d(i).X(4)).Bias(true).As(MLP),
				Linear("pointwise_conv2", d(i).X(4), d(i)).Bias(true).As(MLP), Raw("gamma", MLP, d(i))}
		}))...).Seeing(view)}
	}), LayerNorm("layer_norm", d(n-1))}
	return Model{Body: []Block{Module("", NoRole, body...).Seeing(c.photo())}, ImageEach: true}
}

// efficientNet is Tan and Le 2019, arXiv:1905.11946.
func efficientNet(c *Config) Model {
	body := c.efficientBody()
	view := *body[len(body)-1].View
	outs := c.Ints("out_channels")
	if len(outs) == 0 {
		outs = []int64{0}
	}
	last, hidden := c.filters(outs[len(outs)-1]), c.Size("O", "hidden_dim")
	body = append(body, Module("encoder", Convolution, Square("top_conv", last, c.filters(1280), 1), BatchNorm("top_bn", hidden)).Seeing(view))
	return c.pyramid("efficientnet", "classifier", hidden, body...)
}

// filters is a number of channels widened as the config asks for.
func (c *Config) filters(n int64) Size {
	wide := float64(n) * c.Float("width_coefficient", 1)
	return Named("C", channels(wide, c.Int("depth_divisor"), c.Int("depth_divisor")))
}

// efficientBody is a stem and blocks that widen, filter each channel, weigh the
// channels and narrow again. The last block's view is what follows sees.
func (c *Config) efficientBody() []Block {
	view, stem := c.photo().Coarser(2), c.filters(32)
	body := []Block{Module("embeddings", Convolution, Square("convolution", c.Size("channels", "num_channels"), stem, 3).pixels(), BatchNorm("batchnorm", stem)).Seeing(view)}
	var blocks []func() []Block
	for i := range c.Ints("in_channels") {
		in, out := c.filters(c.sizeIn("C", "in_channels", i).Int()), c.filters(c.sizeIn("C", "out_channels", i).Int())
		ratio, kernel, by := c.sizeIn("ratio", "expand_ratios", i), c.sizeIn("K", "kernel_sizes", i).Int(), c.sizeIn("stride", "strides", i).Int()
		repeats := int64(math.Ceil(c.Float("depth_coefficient", 1) * float64(c.sizeIn("N", "num_block_repeats", i).Int())))
		for j := range min(repeats, mostLayers) {
			if j > 0 {
				in, by = out, 1
			}
			before := view
			if by > 1 && slices.Contains(c.Ints("depthwise_padding"), int64(len(blocks))) {
				view = view.Halved(by)
			} else {
				view = view.Coarser(by)
			}
			in, after := in, view
			blocks = append(blocks, func() []Block { return c.efficientBlock(in, out, ratio, kernel, before, after) })
		}
	}
	return append(body, Stack("encoder.blocks", Named("N", int64(len(blocks))), func(i int) []Block { return blocks[i]() }).Seeing(view))
}

func (c *Config) efficientBlock(in, out, ratio Size, kernel int64, before, after View) []Block {
	var sub []Block
	wide := in
	if ratio.Int() != 1 {
		wide = in.X(ratio.Int())
		sub = append(sub, Module("expansion", Convolution, Square("expand_conv", in, wide, 1), BatchNorm("expand_bn", wide)).Seeing(before))
	}
	reduced := Named("reduced", max(1, int64(float64(in.Int())*c.Float("squeeze_expansion_ratio", 0.25))))
	return append(sub, Module("depthwise_conv", Convolution, Depthwise("depthwise_conv", wide, kernel), BatchNorm("depthwise_norm", wide)).Seeing(after),
		squeeze("squeeze_excite.reduce", "squeeze_excite.expand", wide, reduced).Seeing(after),
		Module("projection", Convolution, Square("project_conv", wide, out, 1), BatchNorm("project_bn", out)).Seeing(after))
}

// mobileNet1 filters each channel, then mixes them (Howard et al. 2017,
// arXiv:1704.04861).
func mobileNet1(c *Config) Model {
	depth, view := int64(32), c.photo().Halved(2)
	wide := func() Size {
		return Named("C", max(int64(float64(depth)*c.Float("depth_multiplier", 1)), c.Int("min_depth")))
	}
	out := wide()
	body := []Block{normedConv("conv_stem", c.Size("channels", "num_channels"), out, 3).Seeing(view)}
	var layers []Block
	for i, by := range []int64{1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1} {
		in := out
		if by == 2 || i == 0 {
			depth *= 2
			out = wide()
		}
		view = view.Halved(by)
		layers = append(layers, Module("", Convolution, Depthwise("convolution", in, 3), BatchNorm("normalization", in)).Seeing(view), normedConv("", in, out, 1).Seeing(view))
	}
	body = append(body, Stack("layer", Const(26), func(i int) []Block { return layers[i : i+1] }))
	return c.pyramid("mobilenet_v1", "classifier", out, body...)
}

// mobileNet2 widens, filters each channel, and narrows again (Sandler et al. 2018,
// arXiv:1801.04381).
func mobileNet2(c *Config) Model {
	by8, least := c.Int("depth_divisible_by"), c.Int("min_depth")
	wide := func(n int64) Size {
		return Named("C", channels(math.RoundToEven(float64(n)*c.Float("depth_multiplier", 1)), by8, least))
	}
	filter := func(name string, d Size) Block {
		return Module(name, Convolution, Depthwise("convolution", d, 3), BatchNorm("normalization", d))
	}
	outs := []int64{16, 24, 24, 32, 32, 32, 64, 64, 64, 64, 96, 96, 96, 160, 160, 160, 320}
	stem, view, stride := wide(32), c.photo().Halved(2), int64(2)
	first := []Block{normedConv("first_conv", c.Size("channels", "num_channels"), stem, 3)}
	if !c.Bool("first_layer_is_expansion") {
		first = append(first, normedConv("expand_1x1", stem, stem, 1))
	}
	body := []Block{Module("conv_stem", NoRole, append(first, filter("conv_3x3", stem), normedConv("reduce_1x1", stem, wide(outs[0]), 1))...).Seeing(view)}
	body = append(body, Stack("layer", Const(16), func(i int) []Block {
		in, out, by := wide(outs[i]), wide(outs[i+1]), []int64{2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1}[i]
		if stride == c.IntOr("output_stride", 32) {
			by = 1
		}
		before := view
		view, stride = view.Halved(by), stride*by
		expanded := Named("wide", channels(math.RoundToEven(float64(in.Int())*c.Float("expand_ratio", 6)), by8, least))
		return []Block{normedConv("expand_1x1", in, expanded, 1).Seeing(before), filter("conv_3x3", expanded).Seeing(view), normedConv("reduce_1x1", expanded, out, 1).Seeing(view)}
	}))
	out := wide(1280)
	if c.Bool("finegrained_output") && c.Float("depth_multiplier", 1) < 1 {
		out = Named("C", 1280)
	}
	return c.pyramid("mobilenet_v2", "classifier", out, append(body, normedConv("conv_1x1", wide(320), out, 1).Seeing(view))...)
}

// poolFormer takes means of neighbours in the place of attention (Yu et al. 2021,
// arXiv:2111.11418).
func poolFormer(c *Config) Model {
	n := c.few("num_encoder_blocks")
	var patches []Block
	view, in := c.photo(), c.Size("channels", "num_channels")
	views := make([]View, n)
	for i := range n {
		out, kernel := c.at("D", "hidden_sizes", i), c.sizeIn("K", "patch_sizes", i).Int()
		view = view.StridedBy(Stride{kernel, c.sizeIn("stride", "strides", i).Int(), c.sizeIn("padding", "padding", i).Int()})
		patches = append(patches, Square(numbered("encoder.patch_embeddings", i)+".projection", in, out, kernel).Bias(true).Seeing(view))
		in, views[i] = out, view
	}
	body := append(patches, Stack("encoder.block", Const(int64(n)), func(i int) []Block {
		d := c.at("D", "hidden_sizes", i)
		wide := c.named("F", "mlp_ratio", int64(float64(d.Int())*c.Float("mlp_ratio", 4)))
		return []Block{Stack("", c.at("N", "depths", i), func(int) []Block {
			layer := []Block{LayerNorm("before_norm", d), LayerNorm("after_norm", d), MLPBlock("output", Square("conv1", d, wide, 1).Bias(true), Square("conv2", wide, d, 1).Bias(true))}
			if c.Bool("use_layer_scale") {
				layer = append(layer, Raw("layer_scale_1", MLP, d), Raw("layer_scale_2", MLP, d))
			}
			return layer
		}).Seeing(views[i])}
	}))
	model := c.pyramid("poolformer", "classifier", in, body...)
	if c.Task == ImageClassification {
		model.Head = append([]Block{LayerNorm("norm", in)}, model.Head...)
	}
	return model
}
