package estimator

import (
	"math/big"
	"slices"
)

// Segment Anything: a large encoder of images, and a small decoder that gives
// masks for what is pointed at.
var segmentFamily = []Arch{
	{"sam", "SamModel", func(c *Config) Model { return sam(c, false) }},
	{"sam_hq", "SamHQModel", func(c *Config) Model { return sam(c, true) }},
	{"sam_vision_model", "SamVisionModel", samVisionAlone},
	{"sam_hq_vision_model", "SamHQVisionModel", samVisionAlone},
	{"sam2", "Sam2Model", sam2},
	{"sam2_vision_model", "Sam2VisionModel", func(c *Config) Model {
		return Model{Body: []Block{Module("", NoRole, c.sam2Vision()...)}, ImageEach: true}
	}},
	{"sam2_hiera_det_model", "Sam2HieraDetModel", func(c *Config) Model {
		b := c.hieraDet()
		return Model{Body: []Block{Module("", NoRole, b.Body...).Seeing(b.Views[0])}, ImageEach: true}
	}},
}

func samVisionAlone(c *Config) Model {
	return Model{Body: []Block{Module("vision_encoder", NoRole, c.samVision()...).Seeing(c.image())}, ImageEach: true}
}

// samVision is ViT with windows in most layers, biases by distance, and a neck of
// convolutions (Kirillov et al. 2023, arXiv:2304.02643).
func (c *Config) samVision() []Block {
	view, A, O := c.image(), c.A, c.Size("O", "output_channels")
	rows, columns := view.grid()
	window := func(i int) int64 { return (1 - c.listed("global_attn_indexes", i)) * c.IntOr("window_size", 0) }
	d := ViT{View: view, Width: c.Size("F", "mlp_dim"), NoLast: true, Window: window,
		Names: Names{Stack: "layers", Norm1: "layer_norm1", Attn: "attn", QKV: "qkv", Out: "proj", Norm2: "layer_norm2", MLP: "mlp", Up: "lin1", Down: "lin2"}}
	if c.Bool("use_rel_pos") {
		d.Within = func(i int) []Block { return c.decomposed(&view, window(i), A, c.H) }
	}
	body := []Block{c.patches("patch_embed.projection").Bias(true)}
	if c.Bool("use_abs_pos") {
		body = append(body, Raw("pos_embed", PositionEmbedding, Const(1), Named("rows", rows), Named("columns", columns), c.D))
	}
	body = append(body, c.vitBody(d)...)
	return append(body, Module("neck", Convolution, Square("conv1", c.D, O, 1), LayerNorm("layer_norm1", O), Square("conv2", O, O, 3), LayerNorm("layer_norm2", O)))
}

// Masks is the decoder of masks, whose tokens and the image attend to each other.
type Masks struct {
	Out, Up, Down string // names of the output projection and of the MLP's matrices
	Better        bool   // one mask more
	Tokens        int64  // beside the one for quality and those for masks
	Prompts       int64  // tokens of the prompt
}

// sam is shown images without a prompt. Its better kind adds a mask from the
// encoder's early features (Ke et al. 2023, arXiv:2306.01567).
func sam(c *Config, better bool) Model {
	vision, m := c.part("vision_config"), c.part("mask_decoder_config")
	view, H := vision.image(), vision.Size("places", "num_pos_feats")
	shared := Raw("shared_image_embedding.positional_embedding", PositionEmbedding, Const(2), H)
	again := shared.Called("prompt_encoder.shared_embedding.positional_embedding")
	again.Params = slices.Clone(again.Params)
	again.Params[0].TiedTo = shared.Name
	shared.Extra = places(view, H, 0)
	masks := Masks{Out: "out_proj", Up: "lin1", Down: "lin2"}
	if better {
		masks.Tokens, masks.Better = 1, true
	}
	decoder := m.maskDecoder(view, masks)
	if better {
		decoder.Sub = append(decoder.Sub, m.betterMasks(view)...)
	}
	prompt := c.part("prompt_encoder_config")
	points := Stack("prompt_encoder.point_embed", prompt.Size("points", "num_point_embeddings"), func(int) []Block { return []Block{Token("", Const(1), prompt.D).As(Other)} })
	return Model{Body: []Block{shared, Module("vision_encoder", NoRole, vision.samVision()...).Seeing(view).InTower("vision"), again, points, prompt.promptEncoder(), decoder}, ImageEach: true}
}

// places are sines of random mixtures of coordinates, computed anew in each pass.
// An image has so many points besides.
func places(view View, features Size, points int64) *Extra {
	return &Extra{Name: "positions", Sizes: []Size{features}, FLOPs: func(p Pass) *big.Int {
		for _, seen := range view.passes(p) {
			return product(2, seen.Seq+seen.Batch*points, 2, features.Int())
		}
		return new(big.Int)
	}}
}

// promptEncoder is for points, boxes and masks. Masks are not shown.
func (c *Config) promptEncoder() Block {
	one, two, wide := Const(1), Const(2), c.Size("masks", "mask_input_channels")
	quarter := c.ratio("masks/4", wide, Const(4))
	return Module("prompt_encoder", NoRole, Module("mask_embed", Convolution, Conv("conv1", one, quarter, two, two).Bias(true), LayerNorm("layer_norm1", quarter), Conv("conv2", quarter, wide, two, two).Bias(true),
		LayerNorm("layer_norm2", quarter.X(4)), Square("conv3", wide, c.D, 1).Bias(true)).idle(), Token("no_mask_embed", one, c.D).As(Other), Token("not_a_point_embed", one, c.D).As(Other))
}

// narrowed is attention whose heads together are narrower than the model.
func (c *Config) narrowed(name, out string, rate int64, cross bool) Block {
	inner, rows := c.D, PerToken
	if rate > 1 {
		inner = c.ratio("D/"+string(rune('0'+min(9, rate))), c.D, Const(rate))
	}
	scores := GQA(c.A, c.A, c.ratio("H", inner, c.A), 0)
	if scores.Bidirected, scores.Cross = true, cross; cross {
		rows = PerMemory
	}
	return AttentionBlock(name, scores, Linear("q_proj", c.D, inner).Bias(true), Linear("k_proj", c.D, inner).Bias(true).On(rows), Linear("v_proj", c.D, inner).Bias(true).On(rows), Linear(out, inner, c.D).Bias(true))
}

// chain is linears through a hidden width: one in, some within, one out.
func chain(name string, in, hidden, out Size, depth int64) Block {
	return Module(name, HeadLayers, Linear("proj_in", in, hidden).Bias(true), Stack("layers", Const(max(0, depth-2)), func(int) []Block { return []Block{Linear("", hidden, hidden).Bias(true)} }),
		Linear("proj_out", hidden, out).Bias(true)).Throughout(PerSequence)
}

func (c *Config) maskDecoder(view View, d Masks) Block {
	masks, F, rate := c.Size("masks", "num_multimask_outputs").Plus(Const(1)), c.Size("F", "mlp_dim"), c.IntOr("attention_downsample_rate", 2)
	n := masks.Int() + 1 + d.Tokens + d.Prompts
	tokens, image := view.Asked(n), view
	image.Keys = n
	quarter, eighth, two := c.ratio("D/4", c.D, Const(4)), c.ratio("D/8", c.D, Const(8)), Const(2)
	layer := []Block{c.narrowed("self_attn", d.Out, 1, false), LayerNorm("layer_norm1", c.D), c.narrowed("cross_attn_token_to_image", d.Out, rate, true), LayerNorm("layer_norm2", c.D),
		MLPBlock("mlp", Linear(d.Up, c.D, F).Bias(true), Linear(d.Down, F, c.D).Bias(true)), LayerNorm("layer_norm3", c.D),
		c.narrowed("cross_attn_image_to_token", d.Out, rate, true).Seeing(image), LayerNorm("layer_norm4", c.D).Seeing(image)}
	upscaled := Transposed("upscale_conv2", quarter, eighth, two, two).Bias(true).As(Convolution).Seeing(view.Finer(2))
	painted := masks
	if d.Better {
		painted = masks.Plus(Const(1))
	}
	product := Block{Name: "masks", Role: Head, Extra: &Extra{Name: "masks", Sizes: []Size{painted, eighth}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, painted.Int(), eighth.Int())
	}}}
	return Module("mask_decoder", NoRole, Token("iou_token", Const(1), c.D).As(Other), Token("mask_tokens", masks, c.D).As(Other),
		Module("transformer", NoRole, Stack("layers", c.N, func(int) []Block { return layer }), c.narrowed("final_attn_token_to_image", d.Out, rate, true), LayerNorm("layer_norm_final_attn", c.D)).Seeing(tokens),
		Transposed("upscale_conv1", c.D, quarter, two, two).Bias(true).Seeing(view), LayerNorm("upscale_layer_norm", quarter).Seeing(view.Finer(2)), upscaled,
		Stack("output_hypernetworks_mlps", masks, func(int) []Block { return []Block{chain("", c.D, c.D, eighth, 3)} }), product.Seeing(view.Finer(4)),
		chain("iou_prediction_head", c.D, c.Size("iou", "iou_head_hidden_dim"), masks, c.Int("iou_head_depth"))).Seeing(view)
}

// betterMasks are what SAM-HQ adds to the decoder.
func (c *Config) betterMasks(view View) []Block {
	vit, two := c.Size("Dv", "vit_dim"), Const(2)
	quarter, eighth := c.ratio("D/4", c.D, Const(4)), c.ratio("D/8", c.D, Const(8))
	twice := view.Finer(2)
	return []Block{Token("hq_token", Const(1), c.D).As(Other), chain("hq_mask_mlp", c.D, c.D, eighth, 3), Transposed("compress_vit_conv1", vit, c.D, two, two).Bias(true), LayerNorm("compress_vit_norm", c.D),
		Transposed("compress_vit_conv2", c.D, eighth, two, two).Bias(true).Seeing(twice), Transposed("encoder_conv1", c.D, quarter, two, two).Bias(true), LayerNorm("encoder_norm", quarter),
		Transposed("encoder_conv2", quarter, eighth, two, two).Bias(true).Seeing(twice), Square("mask_conv1", eighth, quarter, 3).Bias(true).Seeing(view.Finer(4)), LayerNorm("mask_norm", quarter),
		Square("mask_conv2", quarter, eighth, 3).Bias(true).Seeing(view.Finer(4))}
}

// hieraDet is Hiera (Ryali et al. 2023, arXiv:2306.00989) with windows: the first
// block of a stage pools its queries.
func (c *Config) hieraDet() Backbone {
	kernel, stride, pad := c.sides("patch_kernel_size")[0], c.sides("patch_stride")[0], c.sides("patch_padding")[0]
	sides, D := c.sides("image_size"), c.Size("D", "hidden_size")
	view := View{Sides: sides, Patch: [2]int64{1, 1}}.StridedBy(Stride{kernel, stride, pad})
	back, first := c.sides("window_positional_embedding_background_size"), c.sizeIn("w", "window_size_per_stage", 0)
	b := Backbone{Body: []Block{Square("patch_embed.projection", c.Size("channels", "num_channels"), D, kernel).Bias(true).pixels().Seeing(view),
		Raw("pos_embed", PositionEmbedding, Const(1), D, Named("rows", back[0]), Named("columns", back[1])), Raw("pos_embed_window", PositionEmbedding, Const(1), D, first, first)}}
	var blocks [][]Block
	for i, n := range c.Ints("blocks_per_stage") {
		for j := range min(n, 1<<10) {
			in, out, window, pool := c.at("D", "embed_dim_per_stage", i), c.at("D", "embed_dim_per_stage", i), c.sizeIn("w", "window_size_per_stage", i).Int(), int64(0)
			if j == 0 && i > 0 {
				in, window = c.at("D", "embed_dim_per_stage", i-1), c.sizeIn("w", "window_size_per_stage", i-1).Int()
				if int64(i) <= c.Int("num_query_pool_stages") {
					pool = c.sides("query_stride")[0]
				}
			}
			if c.listed("global_attention_blocks", len(blocks)) > 0 {
				window = 0
			}
			blocks = append(blocks, c.hieraBlock(in, out, c.at("A", "num_attention_heads_per_stage", i), window, pool, view))
			if pool > 1 {
				view = view.Coarser(pool)
			}
		}
		b.Widths, b.Views = append(b.Widths, c.at("D", "embed_dim_per_stage", i)), append(b.Views, view)
	}
	if len(b.Views) == 0 {
		c.Fault("blocks_per_stage", "lists no stage")
		b.Widths, b.Views = []Size{D}, []View{view}
	}
	b.Body = append(b.Body, Stack("blocks", Named("N", int64(len(blocks))), func(i int) []Block { return blocks[i] }))
	return b
}

// hieraBlock attends within windows, with fewer queries where it pools them. The
// library multiplies all heads of each token with each other besides, for nothing.
func (c *Config) hieraBlock(in, out, A Size, window, pool int64, view View) []Block {
	H := c.ratio("H", out, A)
	scores := GQA(A, A, H, 0)
	scores.Bidirected = true
	F := c.named("F", "mlp_ratio", int64(float64(out.Int())*c.Float("mlp_ratio", 4)))
	seen, after := view.Within(window), view
	qkv := Linear("qkv", in, out.X(3)).Bias(true).Seeing(seen)
	qkv.Extra = &Extra{Name: "unused products", Sizes: []Size{A, H}, FLOPs: func(p Pass) *big.Int { return product(2, p.Batch, p.Seq, A.Int(), A.Int(), H.Int()) }}
	pooled := seen
	if pool > 1 {
		scores.Cross, after = true, view.Coarser(pool)
		pooled.Pool = pool
	}
	block := []Block{LayerNorm("layer_norm1", in).Seeing(view), AttentionBlock("attn", scores, qkv, Linear("proj", out, out).Bias(true)).Seeing(pooled), LayerNorm("layer_norm2", out).Seeing(after),
		MLPBlock("mlp", Linear("proj_in", out, F).Bias(true), Linear("proj_out", F, out).Bias(true)).Seeing(after)}
	if in.Int() != out.Int() {
		block = append(block, Linear("proj", in, out).Bias(true).As(Projector).Seeing(view))
	}
	return block
}

// sam2Vision is a backbone, and a neck that brings its stages to one width.
func (c *Config) sam2Vision() []Block {
	b := c.partAs("backbone_config", "sam2_hiera_det_model").hieraDet()
	kernel, O := c.IntOr("fpn_kernel_size", 1), c.Size("O", "fpn_hidden_size")
	body := []Block{Module("backbone", NoRole, b.Body...).Seeing(b.Views[0])}
	for i := range c.Ints("backbone_channel_list") {
		if at := len(b.Views) - 1 - i; at >= 0 {
			view := b.Views[at].StridedBy(Stride{kernel, max(1, c.IntOr("fpn_stride", 1)), c.IntOr("fpn_padding", 0)})
			body = append(body, Square(numbered("neck.convs", i), c.at("C", "backbone_channel_list", i), O, kernel).Bias(true).As(Projector).Seeing(view))
		}
	}
	return body
}

// sam2 segments videos too, which is another type (Ravi et al. 2024,
// arXiv:2408.00714). An image without a prompt is shown with a point that is none.
func sam2(c *Config) Model {
	vision, m, prompt := c.part("vision_config"), c.part("mask_decoder_config"), c.part("prompt_encoder_config")
	body := vision.sam2Vision()
	b := vision.partAs("backbone_config", "sam2_hiera_det_model").hieraDet()
	levels := vision.Int("num_feature_levels")
	view := b.Views[max(0, min(int64(len(b.Views)), levels)-1)]
	half := prompt.ratio("D/2", prompt.D, Const(2))
	shared := Buffer("prompt_encoder.shared_embedding.positional_embedding", Const(2), half).As(PositionEmbedding)
	again := shared
	shared.Extra = places(view, half, 2)
	decoder := m.maskDecoder(view, Masks{Out: "o_proj", Up: "proj_in", Down: "proj_out", Tokens: 1, Prompts: 2})
	quarter, eighth := m.ratio("D/4", m.D, Const(4)), m.ratio("D/8", m.D, Const(8))
	decoder.Sub = append(decoder.Sub, Square("conv_s0", m.D, eighth, 1).Bias(true).As(Convolution).Seeing(b.Views[0]), Square("conv_s1", m.D, quarter, 1).Bias(true).As(Convolution).Seeing(b.Views[min(1, len(b.Views)-1)]),
		Token("obj_score_token", Const(1), m.D).As(Other), chain("pred_obj_score_head", m.D, m.D, Const(1), 3))
	return Model{Body: []Block{Raw("no_memory_embedding", Other, Const(1), Const(1), vision.Size("O", "fpn_hidden_size")), Module("vision_encoder", NoRole, body...).InTower("vision"), shared, again.Called("shared_image_embedding.positional_embedding"),
		Token("prompt_encoder.point_embed", prompt.Size("points", "num_point_embeddings"), prompt.D).As(Other), prompt.promptEncoder(), decoder}, ImageEach: true}
}
