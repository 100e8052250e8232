package estimator

// Detectors after DETR: learned queries attend to the features of an image, and
// each gives a class and a box.
var detectionFamily = []Arch{
	{"detr", "DetrModel", func(c *Config) Model { return detr(c, false) }},
	{"table-transformer", "TableTransformerModel", func(c *Config) Model { return detr(c, true) }},
	{"conditional_detr", "ConditionalDetrModel", conditionalDETR},
	{"dab-detr", "DabDetrModel", dabDETR},
	{"deformable_detr", "DeformableDetrModel", deformableDETR},
	{"rt_detr", "RTDetrModel", func(c *Config) Model { return rtDETR(c, false) }},
	{"rt_detr_v2", "RTDetrV2Model", func(c *Config) Model { return rtDETR(c, true) }},
}

// sought is the number of boxes that are looked for.
func (c *Config) sought() Size { return c.Size("queries", "num_queries") }

// projected is attention between separate linears, keys of the features in cross
// attention.
func (c *Config) projected(name string, D, A Size, cross bool) Block {
	scores, rows := GQA(A, A, c.ratio("H", D, A), 0), PerToken
	scores.Bidirected, scores.Cross = true, cross
	if cross {
		rows = PerMemory
	}
	return AttentionBlock(name, scores, Linear("q_proj", D, D).Bias(true), Linear("k_proj", D, D).Bias(true).On(rows), Linear("v_proj", D, D).Bias(true).On(rows), Linear("out_proj", D, D).Bias(true))
}

// detrEncoder is layers of attention over all features, norms behind or before
// its blocks.
func (c *Config) detrEncoder(last bool) []Block {
	A, F := c.Size("Ae", "encoder_attention_heads"), c.Size("Fe", "encoder_ffn_dim")
	body := []Block{Stack("layers", c.Size("Ne", "encoder_layers"), func(int) []Block {
		return []Block{c.projected("self_attn", c.D, A, false), LayerNorm("self_attn_layer_norm", c.D), c.detrMLP(F), LayerNorm("final_layer_norm", c.D)}
	})}
	if last {
		body = append(body, LayerNorm("layernorm", c.D))
	}
	return body
}

func (c *Config) detrMLP(F Size) Block {
	return MLPBlock("", Linear("fc1", c.D, F).Bias(true), Linear("fc2", F, c.D).Bias(true))
}

// found are the heads of each query: a class, with one more for none where that is
// a class, and a box.
func (c *Config) found(view View, labels int64) []Block {
	if c.Task != ObjectDetection {
		return nil
	}
	return seen(view, []Block{Linear("class_labels_classifier", c.D, Named("labels", labels)).Bias(true).As(Classifier), c.perceptron("bbox_predictor", c.D, c.D, c.D, Const(4))})
}

// detrBody is a backbone under the name, and the projection of its last features.
func (c *Config) detrBody(b Backbone, name string) ([]Block, View) {
	width, view := b.last()
	return []Block{Module(name, NoRole, b.Body...).InTower("vision"), Square("input_projection", width, c.D, 1).Bias(true).As(Projector).Seeing(view)}, view
}

// detr is Carion et al. 2020, arXiv:2005.12872; for tables (Smock et al. 2021,
// arXiv:2110.00061) with norms before its blocks.
func detr(c *Config, normed bool) Model {
	A, F := c.Size("Ad", "decoder_attention_heads"), c.Size("Fd", "decoder_ffn_dim")
	body, view := c.detrBody(c.backbone(true, 1, 2, 3, 4), "backbone.conv_encoder.model")
	asked := view.Asked(c.sought().Int())
	decoder := []Block{Stack("layers", c.Size("Nd", "decoder_layers"), func(int) []Block {
		return []Block{c.projected("self_attn", c.D, A, false), LayerNorm("self_attn_layer_norm", c.D), c.projected("encoder_attn", c.D, A, true), LayerNorm("encoder_attn_layer_norm", c.D),
			c.detrMLP(F), LayerNorm("final_layer_norm", c.D)}
	}), LayerNorm("layernorm", c.D)}
	body = append(body, c.placed(), Position("query_position_embeddings", c.sought(), c.D), Module("encoder", NoRole, c.detrEncoder(normed)...).Seeing(view), Module("decoder", NoRole, decoder...).Seeing(asked))
	return Model{Prefix: c.under("model"), Body: body, Head: c.found(asked, c.NumLabels()+1), ImageEach: true}
}

// placed are learned places by row and by column, where the config asks for them.
func (c *Config) placed() Block {
	if c.String("position_embedding_type") != "learned" {
		return Block{}
	}
	half, fifty := c.ratio("D/2", c.D, Const(2)), Const(50)
	return Module("position_embedding", PositionEmbedding, Position("row_embeddings", fifty, half), Position("column_embeddings", fifty, half))
}

// conditionalDETR splits what a query is from where it looks (Meng et al. 2021,
// arXiv:2108.06152).
func conditionalDETR(c *Config) Model {
	A, F, N := c.Size("Ad", "decoder_attention_heads"), c.Size("Fd", "decoder_ffn_dim"), c.Size("Nd", "decoder_layers")
	body, view := c.detrBody(c.backbone(true, 1, 2, 3, 4), "backbone.conv_encoder.model")
	asked := view.Asked(c.sought().Int())
	decoder := []Block{Stack("layers", N, func(i int) []Block {
		return []Block{c.split("", "self_attn.out_proj", "sa_", A, i, false), LayerNorm("self_attn_layer_norm", c.D), c.split("", "encoder_attn.out_proj", "ca_", A, i, true),
			LayerNorm("encoder_attn_layer_norm", c.D), c.detrMLP(F), LayerNorm("final_layer_norm", c.D)}
	}), LayerNorm("layernorm", c.D), c.perceptron("query_scale", c.D, c.D, c.D).As(Attention).Repeated(max(1, N.Int()-1)), c.perceptron("ref_point_head", c.D, c.D, Const(2)).As(Attention)}
	body = append(body, c.placed(), Position("query_position_embeddings", c.sought(), c.D), Module("encoder", NoRole, c.detrEncoder(false)...).Seeing(view), Module("decoder", NoRole, decoder...).Seeing(asked))
	return Model{Prefix: c.under("model"), Body: body, Head: c.found(asked, c.NumLabels()), ImageEach: true}
}

// split is attention whose queries and keys have a part for content and a part for
// place; in cross attention side by side, and but for the first layer without the
// place of the query.
func (c *Config) split(name, out, mark string, A Size, i int, cross bool) Block {
	H := c.ratio("H", c.D, A)
	scores, rows := GQA(A, A, H, 0), PerToken
	if cross {
		scores, rows = GQA(A, A, H.X(2), 0).Valued(H), PerMemory
	}
	scores.Bidirected, scores.Cross = true, cross
	parts := []string{"qcontent_proj", "kcontent_proj", "kpos_proj", "v_proj", "qpos_proj", "qpos_sine_proj"}
	if mark == "self_attn_" || mark == "cross_attn_" {
		parts = []string{"query_content_proj", "key_content_proj", "key_pos_proj", "value_proj", "query_pos_proj", "query_pos_sine_proj"}
	}
	var sub []Block
	for k, part := range parts {
		on := PerToken
		if k >= 1 && k <= 3 {
			on = rows
		}
		if k == 4 && cross && i > 0 || k == 5 && !cross {
			continue
		}
		sub = append(sub, Linear(mark+part, c.D, c.D).Bias(true).On(on))
	}
	return AttentionBlock(name, scores, append(sub, Linear(out, c.D, c.D).Bias(true))...)
}

// dabDETR has boxes for its queries' places (Liu et al. 2022, arXiv:2201.12329).
func dabDETR(c *Config) Model {
	N, Ne, dim, patterns := c.Size("Nd", "decoder_layers"), c.Size("Ne", "encoder_layers"), c.Size("place", "query_dim"), c.IntOr("num_patterns", 0)
	name := "backbone.conv_encoder.model"
	if !c.Value("backbone_config").IsObject() || c.part("backbone_config").ModelType() == "timm_backbone" {
		name += "._backbone"
	}
	body, view := c.detrBody(c.backbone(true, 1, 2, 3, 4), name)
	asked := view.Asked(c.sought().Int() * max(1, patterns))
	encoder := []Block{c.perceptron("query_scale", c.D, c.D, c.D).As(Attention).Repeated(Ne.Int()), Stack("layers", Ne, func(int) []Block {
		return []Block{c.projected("self_attn", c.D, c.Size("Ae", "encoder_attention_heads"), false), LayerNorm("self_attn_layer_norm", c.D), c.slope(),
			c.detrMLP(c.Size("Fe", "encoder_ffn_dim")), LayerNorm("final_layer_norm", c.D)}
	})}
	if c.Bool("normalize_before") {
		encoder = append(encoder, LayerNorm("norm", c.D))
	}
	box := c.perceptron("bbox_predictor", c.D, c.D, c.D, Const(4))
	decoder := []Block{Stack("layers", N, c.dabLayer), LayerNorm("layernorm", c.D), c.perceptron("query_scale", c.D, c.D, c.D).As(Attention).Repeated(max(1, N.Int()-1)),
		c.perceptron("ref_point_head", c.ratio("place/2", dim, Const(2)).Times(c.D), c.D, c.D).As(Attention).Repeated(N.Int()), c.perceptron("ref_anchor_head", c.D, c.D, Const(2)).As(Attention).Repeated(N.Int())}
	if c.Task == ObjectDetection {
		decoder = append(decoder, box.Called("bbox_embed").Repeated(N.Int()).Like("bbox_predictor", c.tied()))
	}
	body = append(body, Position("query_refpoint_embeddings", c.sought(), dim), Module("encoder", NoRole, encoder...).Seeing(view), Module("decoder", NoRole, decoder...).Seeing(asked))
	if patterns > 0 {
		body = append(body, Position("patterns", Named("patterns", patterns), c.D))
	}
	model := Model{Prefix: c.under("model"), Body: body, ImageEach: true}
	if c.Task == ObjectDetection {
		model.Head = seen(asked, []Block{Linear("class_embed", c.D, Named("labels", c.NumLabels())).Bias(true).As(Classifier), box.Repeated(N.Int())})
	}
	return model
}

func (c *Config) dabLayer(i int) []Block {
	A := c.Size("Ad", "decoder_attention_heads")
	if c.Bool("keep_query_pos") {
		i = 0
	}
	own := func(name string, cross bool, i int) Block {
		return Module(name, Attention, c.split("", name+".output_proj", name+"_", A, i, cross), LayerNorm(name+"_layer_norm", c.D))
	}
	return []Block{own("self_attn", false, 0), own("cross_attn", true, i),
		Module("mlp", MLP, c.slope(), c.detrMLP(c.Size("Fd", "decoder_ffn_dim")), LayerNorm("final_layer_norm", c.D))}
}

// slope is the learned one of the activation function, where it has one.
func (c *Config) slope() Block {
	if c.String("activation_function") != "prelu" {
		return Block{}
	}
	return Raw("activation_fn.weight", MLP, Const(1))
}

// sampled is deformable attention: each query takes a few points of each level of
// the features, at offsets that it gives, and weighs them.
func (c *Config) sampled(name string, A, levels, points Size) Block {
	n := A.Times(levels).Times(points)
	return Module(name, Attention, Linear("sampling_offsets", c.D, n.X(2)).Bias(true), Linear("attention_weights", c.D, n).Bias(true),
		Linear("value_proj", c.D, c.D).Bias(true).On(PerMemory), Linear("output_proj", c.D, c.D).Bias(true))
}

// deformableDETR samples features of several levels (Zhu et al. 2020,
// arXiv:2010.04159).
func deformableDETR(c *Config) Model {
	levels, N, taken := Named("levels", int64(c.few("num_feature_levels"))), c.Size("Nd", "decoder_layers"), []int64{2, 3, 4}
	if levels.Int() <= 1 {
		taken = []int64{4}
	}
	b := c.backbone(true, taken...)
	projections, all := c.levels(b, "input_proj", levels.Int())
	body := append([]Block{Module("backbone.conv_encoder.model", NoRole, b.Body...).InTower("vision"), c.placed(), Raw("level_embed", PositionEmbedding, levels, c.D)}, projections...)
	asked := all.Asked(c.sought().Int())
	if c.Bool("two_stage") {
		asked = all.Asked(c.Int("two_stage_num_proposals"))
		body = append(body, Module("", NoRole, Linear("enc_output", c.D, c.D).Bias(true).As(Projector), LayerNorm("enc_output_norm", c.D)).Seeing(all),
			Module("", NoRole, Linear("pos_trans", c.D.X(2), c.D.X(2)).Bias(true).As(Projector), LayerNorm("pos_trans_norm", c.D.X(2))).Seeing(asked))
	} else {
		body = append(body, Position("query_position_embeddings", c.sought(), c.D.X(2)), Linear("reference_points", c.D, Const(2)).Bias(true).As(Projector).Seeing(asked))
	}
	own := all
	own.Itself = true
	encoder := Stack("layers", c.Size("Ne", "encoder_layers"), func(int) []Block {
		return []Block{c.sampled("self_attn", c.Size("Ae", "encoder_attention_heads"), levels, c.Size("Ke", "encoder_n_points")), LayerNorm("self_attn_layer_norm", c.D),
			c.detrMLP(c.Size("Fe", "encoder_ffn_dim")), LayerNorm("final_layer_norm", c.D)}
	})
	decoder := Stack("layers", N, func(int) []Block { return c.samplingLayer(levels, c.Size("Kd", "decoder_n_points")) })
	body = append(body, Module("encoder", NoRole, encoder).Seeing(own), Module("decoder", NoRole, decoder).Seeing(asked))
	model := Model{Prefix: c.under("model"), Body: body, ImageEach: true}
	if c.Task == ObjectDetection {
		model.Head = c.deformableHeads(asked, N.Int())
		model.FLOPsByRule = c.Bool("two_stage") || c.Bool("with_box_refine")
	}
	return model
}

// samplingLayer is a layer of a decoder whose queries sample the features.
func (c *Config) samplingLayer(levels, points Size, within ...Block) []Block {
	A := c.Size("Ad", "decoder_attention_heads")
	cross := c.sampled("encoder_attn", A, levels, points)
	cross.Sub = append(cross.Sub, within...)
	return []Block{c.projected("self_attn", c.D, A, false), LayerNorm("self_attn_layer_norm", c.D), cross, LayerNorm("encoder_attn_layer_norm", c.D),
		c.detrMLP(c.Size("Fd", "decoder_ffn_dim")), LayerNorm("final_layer_norm", c.D)}
}

// levels projects the features of a backbone to the width of the model, makes
// coarser ones of the last, and says how all together are seen.
func (c *Config) levels(b Backbone, name string, levels int64) ([]Block, View) {
	var projections []Block
	if levels <= 1 && len(b.Widths) > 0 {
		b.Widths, b.Views = b.Widths[len(b.Widths)-1:], b.Views[len(b.Views)-1:]
	}
	width, view := b.last()
	for i := range int(min(levels, 8)) {
		conv := Square("0", width, c.D, 3)
		if i < len(b.Widths) {
			conv, view = Square("0", b.Widths[i], c.D, 1), b.Views[i]
		} else {
			view, width = view.Halved(2), c.D
		}
		projections = append(projections, Module(numbered(name, i), Projector, conv.Bias(true), LayerNorm("1", c.D)).Seeing(view))
	}
	if len(b.Views) > 0 {
		view = b.Views[0]
	}
	view.Levels = levels
	return projections, view
}

// deformableHeads is a pair of heads for each layer of the decoder, which are one
// where they do not refine each other's boxes, and one more for the first stage.
func (c *Config) deformableHeads(view View, layers int64) (heads []Block) {
	labels, tied := Named("labels", c.NumLabels()), c.tied()
	refine, two := c.Bool("with_box_refine"), c.Bool("two_stage")
	if two {
		layers++
	}
	for i := range int(min(layers, 1<<8)) {
		class, box := Linear(numbered("class_embed", i), c.D, labels).Bias(true).As(Classifier), c.perceptron(numbered("bbox_embed", i), c.D, c.D, c.D, Const(4))
		for _, pair := range []struct {
			head   Block
			name   string
			within bool
		}{{class, "class_embed", two}, {box, "bbox_embed", refine}} {
			head := pair.head
			switch {
			case pair.within:
				heads = append(heads, head.Called(numbered("model.decoder."+pair.name, i)).idle())
				head = head.Like(numbered("model.decoder."+pair.name, i), tied)
			case i > 0:
				head = head.Like(pair.name+".0", tied)
			}
			heads = append(heads, head.Seeing(view))
		}
	}
	return heads
}

// rtDETR mixes the levels of the features by convolutions and attends within the
// coarsest alone (Zhao et al. 2023, arXiv:2304.08069; 2024, arXiv:2407.17140).
func rtDETR(c *Config, second bool) Model {
	b := c.backbone(c.Bool("freeze_backbone_batch_norms"), 2, 3, 4)
	E, levels, N := c.Size("E", "encoder_hidden_dim"), Named("levels", int64(c.few("num_feature_levels"))), c.Size("Nd", "decoder_layers")
	body := []Block{Module("backbone.model", NoRole, b.Body...).InTower("vision")}
	for i, width := range b.Widths {
		body = append(body, projectedLevel(numbered("encoder_input_proj", i), width, E, 1).Seeing(b.Views[i]))
	}
	body = append(body, Module("encoder", NoRole, c.rtEncoder(E, b.Views)...))
	ins := c.Ints("decoder_in_channels")
	view := View{}
	for i := range int(min(levels.Int(), 8)) {
		in, kernel := c.D, int64(3)
		if i < len(b.Views) {
			view = b.Views[i]
		} else {
			view = view.Halved(2)
		}
		if i < len(ins) {
			in, kernel = c.sizeIn("E", "decoder_in_channels", i), 1
		} else if i == len(ins) && i > 0 {
			in = c.sizeIn("E", "decoder_in_channels", i-1)
		}
		body = append(body, projectedLevel(numbered("decoder_input_proj", i), in, c.D, kernel).Seeing(view))
	}
	all := view
	if len(b.Views) > 0 {
		all = b.Views[0]
		all.Levels = levels.Int()
	}
	asked, labels := all.Asked(c.sought().Int()), Named("labels", c.NumLabels())
	if c.IntOr("num_denoising", 0) > 0 {
		body = append(body, Position("denoising_class_embed", labels.Plus(Const(1)), c.D).idle())
	}
	if c.Bool("learn_initial_query") {
		body = append(body, Position("weight_embedding", c.sought(), c.D))
	}
	body = append(body, Module("", NoRole, Module("enc_output", Projector, Linear("0", c.D, c.D).Bias(true), LayerNorm("1", c.D)), Linear("enc_score_head", c.D, labels).Bias(true).As(Classifier),
		c.perceptron("enc_bbox_head", c.D, c.D, c.D, Const(4))).Seeing(all))
	body = append(body, Module("decoder", NoRole, Stack("layers", N, func(int) []Block {
		points := c.Size("points", "decoder_n_points")
		if second {
			levels := c.Size("levels", "decoder_n_levels")
			return c.samplingLayer(levels, points, Buffer("n_points_scale", levels.Times(points)))
		}
		return c.samplingLayer(levels, points)
	}), c.perceptron("query_pos_head", Const(4), c.D.X(2), c.D).As(Attention).Repeated(N.Int())).Seeing(asked))
	model := Model{Prefix: c.under("model"), Body: body, ImageEach: true}
	if c.Task == ObjectDetection {
		model.Head = c.decoderHeads(asked, N.Int(), Const(4), second)
	}
	return model
}

// decoderHeads stand within the decoder, one pair for each layer; where they are
// beside the model too they are the same.
func (c *Config) decoderHeads(view View, layers int64, corners Size, beside bool) (heads []Block) {
	for i := range int(min(layers, 1<<8)) {
		class, box := Linear(numbered("class_embed", i), c.D, Named("labels", c.NumLabels())).Bias(true).As(Classifier), c.perceptron(numbered("bbox_embed", i), c.D, c.D, c.D, corners)
		for _, head := range []Block{class, box} {
			heads = append(heads, head.Called("model.decoder."+head.Name).Seeing(view))
			if beside {
				heads = append(heads, head.Like("model.decoder."+head.Name, c.tied()).idle())
			}
		}
	}
	return heads
}

func projectedLevel(name string, in, out Size, kernel int64) Block {
	return Module(name, Projector, Square("0", in, out, kernel), BatchNorm("1", out))
}

// joined is a convolution and a batch norm under RT-DETR's names.
func joined(name string, in, out Size, kernel int64) Block {
	return Module(name, Convolution, Square("conv", in, out, kernel), BatchNorm("norm", out))
}

// rtEncoder is attention within some levels, and two walks over all of them, up and
// down.
func (c *Config) rtEncoder(E Size, views []View) []Block {
	A, F := c.Size("Ae", "encoder_attention_heads"), c.Size("Fe", "encoder_ffn_dim")
	wide := c.named("expanded", "hidden_expansion", int64(float64(E.Int())*c.Float("hidden_expansion", 1)))
	var body []Block
	for i, level := range c.Ints("encode_proj_layers") {
		if level < 0 || level >= int64(len(views)) {
			continue
		}
		body = append(body, Stack(numbered("encoder", i)+".layers", c.Size("Ne", "encoder_layers"), func(int) []Block {
			return []Block{c.projected("self_attn", E, A, false), LayerNorm("self_attn_layer_norm", E), MLPBlock("", Linear("fc1", E, F).Bias(true), Linear("fc2", F, E).Bias(true)), LayerNorm("final_layer_norm", E)}
		}).Seeing(views[level]))
	}
	merged := func(name string) Block {
		sub := []Block{joined("conv1", E.X(2), wide, 1), joined("conv2", E.X(2), wide, 1), Stack("bottlenecks", Const(3), func(int) []Block {
			return []Block{joined("conv1", wide, wide, 3), joined("conv2", wide, wide, 1)}
		})}
		if wide.Int() != E.Int() {
			sub = append(sub, joined("conv3", wide, E, 1))
		}
		return Module(name, Convolution, sub...)
	}
	n := int(c.count("encoder_in_channels")) - 1
	for i := range max(0, n) {
		if up := len(views) - 2 - i; up >= 0 {
			body = append(body, joined(numbered("lateral_convs", i), E, E, 1).Seeing(views[up+1]), merged(numbered("fpn_blocks", i)).Seeing(views[up]))
		}
	}
	for i := range max(0, n) {
		if i+1 < len(views) {
			body = append(body, joined(numbered("downsample_convs", i), E, E, 3).Seeing(views[i+1]), merged(numbered("pan_blocks", i)).Seeing(views[i+1]))
		}
	}
	return body
}
