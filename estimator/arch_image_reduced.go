package estimator

// Attention in stages over fewer keys than queries: a convolution makes one key of
// a square of tokens.
var reducedFamily = []Arch{
	{"segformer", "SegformerModel", segFormer},
	{"glpn", "GLPNModel", glpn},
	{"pvt", "PvtModel", pvt},
	{"pvt_v2", "PvtV2Model", pvt2},
}

// reducedScores is attention over the keys that a view leaves.
func reducedScores(c *Config, D, A Size, ratio int64) Scores {
	scores := GQA(A, A, c.ratio("H", D, A), 0)
	scores.Bidirected, scores.Cross = true, ratio > 1
	return scores
}

// mixLayer is a layer of such attention and an MLP, with a convolution of each
// channel within where mixed.
func (c *Config) mixLayer(D, A, F Size, ratio int64, view View, inner, reduce string, bias, mixed bool) []Block {
	rows, seen := PerToken, view
	var sub []Block
	if ratio > 1 {
		rows, seen = PerMemory, view.Reduced(ratio)
		sub = []Block{Square(inner+reduce, D, D, ratio).Bias(true).On(PerMemory), LayerNorm(inner+"layer_norm", D)}
	}
	out := "output.dense"
	if inner == "" {
		out = "proj"
	}
	sub = append(sub, Linear(inner+"query", D, D).Bias(bias), Linear(inner+"key", D, D).Bias(bias).On(rows), Linear(inner+"value", D, D).Bias(bias).On(rows), Linear(out, D, D).Bias(true))
	mlp := []Block{Linear("dense1", D, F).Bias(true)}
	if mixed {
		mlp = append(mlp, Depthwise("dwconv.dwconv", F, 3).Bias(true))
	}
	return []Block{LayerNorm("layer_norm_1", D), AttentionBlock("attention", reducedScores(c, D, A, ratio), sub...).Seeing(seen),
		LayerNorm("layer_norm_2", D), MLPBlock("mlp", append(mlp, Linear("dense2", F, D).Bias(true))...)}
}

// mlpRatio is the width of the MLP of stage i.
func (c *Config) mlpRatio(D Size, i int) Size {
	ratio := 4.0
	if list := c.Value("mlp_ratios").Array(); i < len(list) {
		ratio = list[i].Num
	}
	return c.named("F", "mlp_ratios", int64(float64(D.Int())*ratio))
}

// mixEncoder is the encoder of SegFormer (Xie et al. 2021, arXiv:2105.15203) and of
// GLPN, and what each stage sees.
func (c *Config) mixEncoder() (body []Block, views []View) {
	view, in := c.photo(), c.Size("channels", "num_channels")
	for i := range c.few("num_encoder_blocks") {
		D, kernel := c.at("D", "hidden_sizes", i), c.sizeIn("K", "patch_sizes", i).Int()
		view = view.Strided(kernel, c.sizeIn("stride", "strides", i).Int())
		here := view
		patches := Module(numbered("encoder.patch_embeddings", i), NoRole, Square("proj", in, D, kernel).Bias(true), LayerNorm("layer_norm", D))
		layers := Stack(numbered("encoder.block", i), c.at("N", "depths", i), func(int) []Block {
			return c.mixLayer(D, c.at("A", "num_attention_heads", i), c.mlpRatio(D, i), c.sizeIn("R", "sr_ratios", i).Int(), here, "self.", "sr", true, true)
		})
		body = append(body, Module("", NoRole, patches, layers, LayerNorm(numbered("encoder.layer_norm", i), D)).Seeing(here))
		in, views = D, append(views, here)
	}
	return body, views
}

func segFormer(c *Config) Model {
	body, views := c.mixEncoder()
	n := len(views)
	model := c.pyramid("segformer", "classifier", c.at("D", "hidden_sizes", max(0, n-1)), body...)
	if c.Task != SemanticSegmentation || n == 0 {
		return model
	}
	E := c.Size("E", "decoder_hidden_size")
	var head []Block
	for i, view := range views {
		head = append(head, Linear(numbered("decode_head.linear_c", i)+".proj", c.at("D", "hidden_sizes", i), E).Bias(true).As(Head).Seeing(view))
	}
	model.Head = append(head, Module("decode_head", Head, Square("linear_fuse", E.X(int64(n)), E, 1), BatchNorm("batch_norm", E),
		Square("classifier", E, Named("labels", c.NumLabels()), 1).Bias(true)).Seeing(views[0]))
	return model
}

// glpn estimates depth (Kim et al. 2022, arXiv:2201.07436).
func glpn(c *Config) Model {
	body, views := c.mixEncoder()
	model := c.pyramid("glpn", "classifier", Size{}, body...)
	if c.Task != DepthEstimation {
		return model
	}
	E, half, at := c.Size("E", "decoder_hidden_size"), c.ratio("E/2", c.Size("E", "decoder_hidden_size"), Const(2)), View{}
	for i := range views {
		j := len(views) - 1 - i
		at = views[j]
		var stage []Block
		if D := c.at("D", "hidden_sizes", j); D.Int() != E.Int() {
			stage = append(stage, Square("convolution", D, E, 1).Bias(true))
		}
		if i > 0 {
			stage = append(stage, Square("fusion.convolutional_layer1.0", E.X(2), E, 3).Bias(true), BatchNorm("fusion.convolutional_layer1.1", E),
				Square("fusion.convolutional_layer2.0", E, half, 3).Bias(true), BatchNorm("fusion.convolutional_layer2.1", half), Square("fusion.convolutional_layer3", half, Const(2), 3).Bias(true))
		}
		model.Head = append(model.Head, Module(numbered("decoder.stages", i), Head, stage...).Seeing(at))
	}
	model.Head = append(model.Head, Module("head", Head, Square("head.0", E, E, 3).Bias(true), Square("head.2", E, Const(1), 3).Bias(true)).Seeing(at.Finer(4)))
	return model
}

// pvt is Wang et al. 2021, arXiv:2102.12122. Its last stage has a class token.
func pvt(c *Config) Model {
	n, view, in := c.few("num_encoder_blocks"), c.photo(), c.Size("channels", "num_channels")
	var body []Block
	for i := range n {
		D, patch, stride := c.at("D", "hidden_sizes", i), max(1, c.sizeIn("P", "patch_sizes", i).Int()), c.sizeIn("stride", "strides", i).Int()
		view = view.StridedBy(Stride{stride, patch, 0})
		side := c.sides("image_size")[0]
		if i > 0 {
			side >>= min(i+1, 62)
		}
		here, places := view, Named("patches", side/patch*(side/patch))
		embed := []Block{Square("projection", in, D, stride).Bias(true).Seeing(here), LayerNorm("layer_norm", D)}
		if i == n-1 {
			here, places = view.With(1), places.Plus(Const(1))
			embed = append(embed, Raw("cls_token", PositionEmbedding, Const(1), Const(1), D))
		}
		patches := Module(numbered("encoder.patch_embeddings", i), NoRole, append(embed, Raw("position_embeddings", PositionEmbedding, Const(1), places, D))...)
		layers := Stack(numbered("encoder.block", i), c.at("N", "depths", i), func(int) []Block {
			return c.mixLayer(D, c.at("A", "num_attention_heads", i), c.mlpRatio(D, i), c.sizeIn("R", "sequence_reduction_ratios", i).Int(), here, "self.", "sequence_reduction", c.Bool("qkv_bias"), false)
		})
		body, in = append(body, Module("", NoRole, patches, layers).Seeing(here)), D
	}
	return c.pyramid("pvt", "classifier", in, append(body, LayerNorm("encoder.layer_norm", in))...)
}

// pvt2 is Wang et al. 2021, arXiv:2106.13797; its linear kind pools the keys to
// seven by seven.
func pvt2(c *Config) Model {
	view, in, linear := c.photo(), c.Size("channels", "num_channels"), c.Bool("linear_attention")
	n := int(min(c.Int("num_encoder_blocks"), 1<<6))
	stages := Stack("encoder.layers", Const(int64(n)), func(i int) []Block {
		D, kernel, outer := c.at("D", "hidden_sizes", i), c.sizeIn("K", "patch_sizes", i).Int(), in
		view = view.Strided(kernel, c.sizeIn("stride", "strides", i).Int())
		here := view
		in = D
		return []Block{Module("", NoRole, Square("patch_embedding.proj", outer, D, kernel).Bias(true), LayerNorm("patch_embedding.layer_norm", D),
			Stack("blocks", c.at("N", "depths", i), func(int) []Block {
				ratio := c.sizeIn("R", "sr_ratios", i).Int()
				if linear {
					ratio = 2
				}
				layer := c.mixLayer(D, c.at("A", "num_attention_heads", i), c.mlpRatio(D, i), ratio, here, "", "spatial_reduction", c.Bool("qkv_bias"), true)
				if linear {
					pooled := here
					pooled.Keys = 49
					layer[1] = layer[1].Seeing(pooled)
					layer[1].Sub[0] = Square("spatial_reduction", D, D, 1).Bias(true).On(PerMemory).As(Attention)
				}
				return layer
			}), LayerNorm("layer_norm", D)).Seeing(here)}
	})
	last := c.at("D", "hidden_sizes", max(0, n-1))
	return c.pyramid("pvt_v2", "classifier", last, stages)
}
