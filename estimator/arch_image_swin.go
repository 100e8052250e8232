package estimator

import "math/big"

// Attention within windows that shift from layer to layer (Liu et al. 2021,
// arXiv:2103.14030; 2021, arXiv:2111.09883).
var swinFamily = []Arch{
	{"swin", "SwinModel", func(c *Config) Model { return swin(c, Swin{Prefix: "swin"}) }},
	{"swinv2", "Swinv2Model", func(c *Config) Model { return swin(c, Swin{Prefix: "swinv2", Second: true}) }},
	{"donut-swin", "DonutSwinModel", func(c *Config) Model { return swin(c, Swin{Prefix: "donut", Index: true, NoLast: true}) }},
	{"maskformer-swin", "MaskFormerSwinModel", func(c *Config) Model { return swin(c, Swin{Prefix: "model", Index: true}) }},
	{"swin2sr", "Swin2SRModel", swin2SR},
}

// Swin is the mould of windowed attention in stages. The zero value is its first
// version.
type Swin struct {
	Prefix string
	Second bool // norms behind the blocks, cosines in the place of products, positions from a small network
	Index  bool // the places in the table of distances are stored
	NoLast bool
}

func swin(c *Config, d Swin) Model {
	view, E := c.image(), c.Size("E", "embed_dim")
	view.Up = true
	stages := int(c.count("depths"))
	embed := []Block{Conv("patch_embeddings.projection", c.Size("channels", "num_channels"), E, Named("P", view.Patch[0]), Named("P", view.Patch[1])).Bias(true).pixels(),
		LayerNorm("norm", E)}
	if c.Task == MaskedImageModeling {
		embed = append(embed, Raw("mask_token", Other, Const(1), Const(1), E))
	}
	if c.Bool("use_absolute_embeddings") {
		places := c.patchCount()
		if d.Prefix != "swin" {
			places = places.Plus(Const(1))
		}
		embed = append(embed, Raw("position_embeddings", PositionEmbedding, Const(1), places, E))
	}
	at, width := view, E
	body := []Block{Module("embeddings", NoRole, embed...), Stack("encoder.layers", Const(int64(stages)), func(i int) []Block {
		here, D := at, width
		list := []Block{Stack("blocks", c.at("N", "depths", i), func(int) []Block { return c.swinLayer(d, D, c.at("A", "num_heads", i), here) }).Seeing(here)}
		if i < stages-1 {
			at, width = at.Halved(2), width.X(2)
			normed := D.X(4)
			if d.Second {
				normed = D.X(2)
			}
			list = append(list, Module("downsample", Convolution, Linear("reduction", D.X(4), D.X(2)), LayerNorm("norm", normed)).Seeing(at))
		}
		return list
	})}
	if !d.NoLast {
		body = append(body, LayerNorm("layernorm", width))
	}
	model := Model{Prefix: c.under(d.Prefix), Body: []Block{Module("", NoRole, body...).Seeing(view)}, ImageEach: true}
	switch c.Task {
	case ImageClassification:
		model.Head = []Block{c.labelled("classifier", width).Seeing(view)}
	case MaskedImageModeling:
		model.Head = seen(at, c.pixelDecoder(width))
		model.Head[0].View = &at
	}
	return model
}

// swinLayer attends within windows, which are as wide as the image where that is
// narrower.
func (c *Config) swinLayer(d Swin, D, A Size, view View) []Block {
	window, bias := c.Int("window_size"), c.Bool("qkv_bias")
	rows, columns := view.grid()
	window = max(1, min(window, rows, columns))
	H := c.ratio("H", D, A)
	scores := GQA(A, A, H, 0)
	scores.Bidirected = true
	F := c.named("F", "mlp_ratio", int64(float64(D.Int())*c.Float("mlp_ratio", 4)))
	table := Const(2*c.Int("window_size") - 1)
	within := []Block{Raw("self.relative_position_bias_table", PositionEmbedding, table.Times(table), A)}
	if w := c.Size("window", "window_size"); d.Index {
		within = append(within, Buffer("self.relative_position_index", w.Times(w), w.Times(w)).Typed("I64"))
	}
	if d.Second {
		within = []Block{Raw("self.logit_scale", Attention, A, Const(1), Const(1)), positionNetwork("self.continuous_position_bias_mlp", A, 2*window-1)}
	}
	attention := AttentionBlock("attention", scores, append([]Block{Linear("self.query", D, D).Bias(bias), Linear("self.key", D, D).Bias(bias && !d.Second),
		Linear("self.value", D, D).Bias(bias), Linear("output.dense", D, D).Bias(true)}, within...)...).Seeing(view.Within(window))
	return []Block{LayerNorm("layernorm_before", D), attention, LayerNorm("layernorm_after", D),
		MLPBlock("", Linear("intermediate.dense", D, F).Bias(true), Linear("output.dense", F, D).Bias(true))}
}

// positionNetwork gives the bias of each distance within a window, anew in each
// pass.
func positionNetwork(name string, heads Size, distances int64) Block {
	two, wide := Const(2), Const(512)
	b := Module(name, PositionEmbedding, Linear("0", two, wide).Bias(true).On(Elsewhere), Linear("2", wide, heads).On(Elsewhere))
	b.Extra = &Extra{Name: "distances", Sizes: []Size{heads, Const(distances)}, FLOPs: func(Pass) *big.Int {
		return product(2, distances, distances, 512, 2+heads.Int())
	}}
	return b
}

// swin2SR makes an image larger: stages of one width with a convolution each (Conde
// et al. 2022, arXiv:2209.11345).
func swin2SR(c *Config) Model {
	E, view, patch := c.Size("E", "embed_dim"), c.image(), c.sides("patch_size")
	window := max(1, c.Int("window_size"))
	view.Multiple, view.Up = window, true
	pixels := c.photo()
	pixels.Multiple = window
	embed := func(name string) Block {
		return Conv(name, E, E, Named("P", patch[0]), Named("P", patch[1])).Bias(true)
	}
	body := []Block{Square("first_convolution", c.Size("channels", "num_channels"), E, 3).Bias(true).pixels().Seeing(pixels),
		embed("embeddings.patch_embeddings.projection"), LayerNorm("embeddings.patch_embeddings.layernorm", E)}
	if c.Bool("use_absolute_embeddings") {
		body = append(body, Raw("embeddings.position_embeddings", PositionEmbedding, Const(1), c.patchCount().Plus(Const(1)), E))
	}
	body = append(body, Stack("encoder.stages", c.stages("depths"), func(i int) []Block {
		layers := Stack("layers", c.at("N", "depths", i), func(int) []Block { return c.swinLayer(Swin{Second: true}, E, c.at("A", "num_heads", i), view) })
		conv := []Block{Square("conv", E, E, 3).Bias(true)}
		if quarter := c.ratio("E/4", E, Const(4)); c.String("resi_connection") == "3conv" {
			conv = []Block{Square("conv.0", E, quarter, 3).Bias(true), Square("conv.2", quarter, quarter, 1).Bias(true), Square("conv.4", quarter, E, 3).Bias(true)}
		}
		return append(append([]Block{layers}, conv...), embed("patch_embed.projection"))
	}), LayerNorm("layernorm", E), Square("conv_after_body", E, E, 3).Bias(true))
	model := Model{Prefix: c.under("swin2sr"), Body: []Block{Module("", NoRole, body...).Seeing(view)}, ImageEach: true}
	if c.Task == SuperResolution {
		model.Head = c.enlarged(E, pixels)
	}
	return model
}

// enlarged is the head that makes pixels, by the config's choice of four.
func (c *Config) enlarged(E Size, view View) []Block {
	up, out, d, in := c.Int("upscale"), c.Size("out", "num_channels_out"), Const(64), c.Size("channels", "num_channels")
	three := func(name string, in, out Size, v View) Block {
		return Square(name, in, out, 3).Bias(true).As(Head).Seeing(v)
	}
	var steps []Block
	at := view
	if up == 3 {
		steps, at = []Block{three("upsample.upsample.convolution", d, d.X(9), at)}, at.Finer(3)
	}
	for i := 0; up != 3 && 1<<(i+1) <= up && i < 6; i++ {
		steps = append(steps, three("upsample.upsample.convolution_"+string(rune('0'+i)), d, d.X(4), at))
		at = at.Finer(2)
	}
	before, final := three("upsample.conv_before_upsample", E, d, view), three("upsample.final_convolution", d, out, at)
	switch c.String("upsampler") {
	case "pixelshuffle":
		return append(append([]Block{before}, steps...), final)
	case "pixelshuffle_aux":
		aux := []Block{three("upsample.conv_bicubic", in, d, c.photo().Finer(up)), before, three("upsample.conv_aux", d, in, view), three("upsample.conv_after_aux.0", Const(3), d, view)}
		return append(append(aux, steps...), three("upsample.final_convolution", d, out, c.photo().Finer(up)))
	case "pixelshuffledirect":
		return []Block{three("upsample.conv", E, out.X(up*up), view)}
	case "nearest+conv":
		fine := view.Finer(4)
		return []Block{before, three("upsample.conv_up1", d, d, view.Finer(2)), three("upsample.conv_up2", d, d, fine), three("upsample.conv_hr", d, d, fine),
			three("upsample.final_convolution", d, out, fine)}
	}
	return []Block{three("final_convolution", E, out, view)}
}
