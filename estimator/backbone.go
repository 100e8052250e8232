package estimator

import (
	"slices"
	"strings"
)

// Backbone is an encoder of images within a detector or a segmenter: its blocks,
// and the stages whose features are taken, with their widths and what they see.
type Backbone struct {
	Body   []Block
	Widths []Size
	Views  []View
}

// last is the coarsest stage.
func (b *Backbone) last() (Size, View) {
	if len(b.Widths) == 0 {
		return Size{}, View{}
	}
	return b.Widths[len(b.Widths)-1], b.Views[len(b.Views)-1]
}

// batchNorm is the norm of a backbone: frozen in most detectors.
func batchNorm(frozen bool) func(name string, d Size) Block {
	if frozen {
		return FrozenNorm
	}
	return BatchNorm
}

// backbone reads backbone_config, or the older fields that name a model of timm.
// Otherwise says which stages are taken where the config does not.
func (c *Config) backbone(frozen bool, otherwise ...int64) Backbone {
	if !c.Value("backbone_config").IsObject() && c.BoolOr("use_timm_backbone", true) {
		stride := int64(32)
		if c.Bool("dilation") {
			stride = 16
		}
		name := c.String("backbone")
		return c.timmResNet(or(name, "resnet50"), c.IntOr("num_channels", 3), stride, frozen, otherwise)
	}
	b := c.part("backbone_config")
	stages := b.takenStages(otherwise)
	switch b.ModelType() {
	case "timm_backbone":
		return c.timmResNet(or(b.String("backbone"), "resnet50"), b.IntOr("num_channels", 3), b.IntOr("output_stride", 32), frozen, stages)
	case "resnet", "rt_detr_resnet":
		return b.resNetStages(frozen, stages)
	}
	c.inner.unknown = b.ModelType()
	return Backbone{}
}

// takenStages reads which stages are taken: by number, or by a name that ends in
// one.
func (c *Config) takenStages(otherwise []int64) []int64 {
	var stages []int64
	for _, name := range c.Strings("out_features") {
		digits := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz_")
		if len(digits) == 1 {
			stages = append(stages, int64(digits[0]-'0'))
		}
	}
	switch {
	case len(stages) > 0:
		return stages
	case len(c.Ints("out_indices")) > 0:
		return c.Ints("out_indices")
	}
	return otherwise
}

// take keeps the stages that are asked for, of all that there are from the first.
func take(body []Block, widths []Size, views []View, stages []int64) Backbone {
	b := Backbone{Body: body}
	for i := range widths {
		if slices.Contains(stages, int64(i+1)) {
			b.Widths, b.Views = append(b.Widths, widths[i]), append(b.Views, views[i])
		}
	}
	return b
}

// timmDepths are the layers of each stage of timm's ResNets; the shallow ones have
// no bottlenecks.
var timmDepths = map[string][4]int64{"resnet18": {2, 2, 2, 2}, "resnet34": {3, 4, 6, 3}, "resnet50": {3, 4, 6, 3}, "resnet101": {3, 4, 23, 3}, "resnet152": {3, 8, 36, 3}}

// timmResNet is ResNet (He et al. 2015, arXiv:1512.03385) under timm's names.
func (c *Config) timmResNet(model string, channels, outputStride int64, frozen bool, stages []int64) Backbone {
	name, _, _ := strings.Cut(model, ".")
	depths, ok := timmDepths[name]
	if !ok {
		c.inner.unknown = "timm_backbone " + model
		return Backbone{}
	}
	norm, shallow, in, reached := batchNorm(frozen), name == "resnet18" || name == "resnet34", Const(64), int64(4)
	view := c.photo().Halved(2)
	body := []Block{Square("conv1", Named("channels", channels), in, 7).pixels().Seeing(view), norm("bn1", in)}
	view = view.Halved(2)
	var widths []Size
	var views []View
	for i, depth := range depths {
		width, by := Const(64<<i), int64(2)
		out := width.X(4)
		if shallow {
			out = width
		}
		if i == 0 || reached >= outputStride {
			by = 1
		}
		before := view
		view, reached = view.Halved(by), reached*by
		after := view
		outer := in
		body = append(body, Stack("layer"+string(rune('1'+i)), Const(depth), func(j int) []Block {
			if j > 0 {
				return timmLayer(norm, out, width, out, after, after, shallow, false)
			}
			return timmLayer(norm, outer, width, out, before, after, shallow, outer.Int() != out.Int() || by > 1)
		}))
		in = out
		widths, views = append(widths, out), append(views, view)
	}
	return take(body, widths, views, stages)
}

// timmLayer is a bottleneck, or in shallow models two plain convolutions.
func timmLayer(norm func(string, Size) Block, in, width, out Size, before, after View, shallow, shortcut bool) []Block {
	var sub []Block
	if shortcut {
		sub = append(sub, Square("downsample.0", in, out, 1).Seeing(after), norm("downsample.1", out))
	}
	if shallow {
		return append(sub, Square("conv1", in, width, 3).Seeing(after), norm("bn1", width), Square("conv2", width, out, 3).Seeing(after), norm("bn2", out))
	}
	return append(sub, Square("conv1", in, width, 1).Seeing(before), norm("bn1", width), Square("conv2", width, width, 3).Seeing(after), norm("bn2", width),
		Square("conv3", width, out, 1).Seeing(after), norm("bn3", out))
}
