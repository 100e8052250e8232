package estimator

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// Codecs of sound: an encoder, vectors that stand for what it finds, a decoder.
var codecFamily = []Arch{
	{"encodec", "EncodecModel", encodec},
	{"dac", "DacModel", dac},
	{"mimi", "MimiModel", mimi},
	{"mimi_encoder", "MimiEncoderModel", func(c *Config) Model { return Model{Body: c.mimiEncoder()} }},
	{"mimi_decoder", "MimiDecoderModel", func(c *Config) Model { return Model{Body: c.mimiDecoder()} }},
}

// faster makes a block run on n positions for each token.
func (b Block) faster(n int64) Block {
	if n == 1 {
		return b
	}
	return b.Spanning(Span{Before: []Step{{n, n, 0}}})
}

// transposed stores a convolution as one that widens time: [in, out, kernel]. Its
// rows are what it takes.
func (b Block) transposed(in, out, kernel Size) Block {
	b = b.Shaped(in, out, kernel)
	b.In, b.Out = in, out.Times(kernel)
	return b
}

// SEANet is the convolutions of SoundStream and EnCodec (Tagliasacchi et al. 2020,
// arXiv:2009.02095): one, residual ones and one with a stride for each ratio, one
// at the end; the decoder in reverse.
type SEANet struct {
	Ratios []int64
	Memory int64             // layers of LSTM where the sequence is shortest
	Conv   func(Block) Block // what is peculiar to a convolution
}

func (c *Config) seanetConv(d SEANet, name string, in, out, kernel Size) Block {
	return d.Conv(Conv(join(name, "conv"), in, out, kernel).Bias(true))
}

// seanetResidual is a narrow convolution and one of points, around them perhaps
// another.
func (c *Config) seanetResidual(d SEANet, at int, wide Size) (blocks []Block) {
	narrow := c.ratio("C", wide, c.Size("compress", "compress"))
	for range c.few("num_residual_layers") {
		blocks = append(blocks, c.seanetConv(d, numbered("layers", at)+".block.1", wide, narrow, c.Size("kernel", "residual_kernel_size")),
			c.seanetConv(d, numbered("layers", at)+".block.3", narrow, wide, Const(1)))
		if c.Bool("use_conv_shortcut") {
			blocks = append(blocks, c.seanetConv(d, numbered("layers", at)+".shortcut", wide, wide, Const(1)))
		}
		at++
	}
	return blocks
}

func (c *Config) seanetEncoder(d SEANet) Block {
	rate, wide, at := int64(1), c.Size("C", "num_filters"), 1
	for _, r := range d.Ratios {
		rate *= r
	}
	first := c.seanetConv(d, "layers.0", c.Size("channels", "audio_channels"), wide, c.Size("kernel", "kernel_size"))
	first.Pixels = true
	blocks := []Block{first.faster(rate)}
	for _, r := range slices.Backward(d.Ratios) {
		blocks = append(blocks, Module("", Convolution, c.seanetResidual(d, at, wide)...).faster(rate))
		at += int(c.Int("num_residual_layers")) + 1
		rate /= r
		blocks = append(blocks, c.seanetConv(d, numbered("layers", at), wide, wide.X(2), Const(2*r)).faster(rate))
		wide, at = wide.X(2), at+1
	}
	if d.Memory > 0 {
		blocks = append(blocks, LSTM(numbered("layers", at)+".lstm", wide, wide, d.Memory))
		at++
	}
	return Module("encoder", Convolution, append(blocks, c.seanetConv(d, numbered("layers", at+1), wide, c.D, c.Size("kernel", "last_kernel_size")))...)
}

func (c *Config) seanetDecoder(d SEANet) Block {
	rate, at := int64(1), 1
	wide := c.Size("C", "num_filters").X(1 << len(d.Ratios))
	blocks := []Block{c.seanetConv(d, "layers.0", c.D, wide, c.Size("kernel", "kernel_size"))}
	if d.Memory > 0 {
		blocks = append(blocks, LSTM("layers.1.lstm", wide, wide, d.Memory))
		at++
	}
	for _, r := range d.Ratios {
		half := c.ratio("C", wide, Const(2))
		up := Conv(numbered("layers", at+1)+".conv", wide, half, Const(2*r)).Bias(true).transposed(wide, half, Const(2*r))
		up.Params[1].Shape = []Size{half}
		blocks = append(blocks, d.Conv(up).faster(rate))
		rate *= r
		blocks = append(blocks, Module("", Convolution, c.seanetResidual(d, at+2, half)...).faster(rate))
		wide, at = half, at+2+int(c.Int("num_residual_layers"))
	}
	last := c.seanetConv(d, numbered("layers", at+1), wide, c.Size("channels", "audio_channels"), c.Size("kernel", "last_kernel_size"))
	return Module("decoder", Convolution, append(blocks, last.faster(rate))...)
}

// nearest is the products by which the nearest of so many vectors is found, for
// each of n codebooks.
func nearest(n int64, count, width Size) *Extra {
	return &Extra{Name: "codebooks", Sizes: []Size{Const(n), count, width}, FLOPs: func(p Pass) *big.Int {
		return product(2, n, p.Batch, p.Seq, count.Int(), width.Int())
	}}
}

// encodec is Défossez et al. 2022, arXiv:2210.13438. Its codebooks are running
// means and no parameters; a pass uses as many as its lowest bandwidth asks for.
func encodec(c *Config) Model {
	conv := func(b Block) Block { return b.weightNormed(0) }
	if c.String("norm_type") == "time_group_norm" {
		conv = func(b Block) Block { return b.groupNormed() }
	}
	d := SEANet{Ratios: c.Ints("upsampling_ratios"), Memory: c.Int("num_lstm_layers"), Conv: conv}
	count, hop := c.Size("codes", "codebook_size"), int64(1)
	for _, r := range d.Ratios {
		hop *= r
	}
	frames, widest := (c.Int("sampling_rate")+hop-1)/max(1, hop), 0.0
	var bands []float64
	for _, band := range c.Value("target_bandwidths").Array() {
		bands = append(bands, band.Num)
		widest = band.Num
	}
	code := int64(bits.Len64(uint64(max(1, count.Int()-1))))
	books := func(band float64) int64 { return max(1, int64(math.Floor(1000*band/float64(max(1, frames*code))))) }
	width, used := c.SizeOr("Dq", "codebook_dim", c.D), int64(1)
	if len(bands) > 0 {
		used = books(bands[0])
	}
	quantizer := Stack("quantizer.layers", Named("books", books(widest)), func(int) []Block {
		return []Block{Module("codebook", Other, Buffer("inited", Const(1)), Buffer("cluster_size", count), Buffer("embed", count, width), Buffer("embed_avg", count, width))}
	})
	search := Block{Name: "search", Extra: nearest(used, count, width)}
	return Model{Body: []Block{c.seanetEncoder(d), quantizer.idle(), search, c.seanetDecoder(d)}, FLOPsByRule: true}
}

// groupNormed puts a norm of its own beside a convolution.
func (b Block) groupNormed() Block {
	channels := b.Params[1].Shape[0]
	name := b.Name[:max(0, len(b.Name)-len(".conv"))]
	return Block{Sub: []Block{b, LayerNorm(join(name, "norm"), channels)}}
}

// dac is Kumar et al. 2023, arXiv:2306.06546: snakes instead of other activations,
// codebooks of few features.
func dac(c *Config) Model {
	narrow, count, N := c.Size("Dq", "codebook_dim"), c.Size("codes", "codebook_size"), c.Size("books", "n_codebooks")
	D := c.dacWidth()
	one := Module("", Other, Conv("in_proj", D, narrow, Const(1)).Bias(true), Token("codebook", count, narrow).As(Other), Conv("out_proj", narrow, D, Const(1)).Bias(true))
	one.Extra = nearest(1, count, narrow)
	return Model{Body: []Block{c.dacEncoder("encoder", D), Stack("quantizer.quantizers", N, func(int) []Block { return []Block{one} }), c.dacDecoder("decoder", D)}}
}

// dacWidth is the width of what the encoder finds.
func (c *Config) dacWidth() Size {
	return c.Size("C", "encoder_hidden_size").X(1 << min(32, len(c.Ints("downsampling_ratios"))))
}

func snake(name string, d Size) Block { return Raw(name+".alpha", Other, Const(1), d, Const(1)) }

func dacResidual(d Size) (blocks []Block) {
	for _, name := range []string{"res_unit1", "res_unit2", "res_unit3"} {
		blocks = append(blocks, Module(name, Convolution, snake("snake1", d), Conv("conv1", d, d, Const(7)).Bias(true), snake("snake2", d), Conv("conv2", d, d, Const(1)).Bias(true)))
	}
	return blocks
}

func (c *Config) dacEncoder(name string, out Size) Block {
	ratios, rate, wide := c.Ints("downsampling_ratios"), int64(1), c.Size("C", "encoder_hidden_size")
	for _, r := range ratios {
		rate *= r
	}
	blocks := []Block{Conv("conv1", Const(1), wide, Const(7)).Bias(true).pixels().faster(rate)}
	for i, r := range ratios {
		residual := Module("", Convolution, append(dacResidual(wide), snake("snake1", wide))...).faster(rate)
		rate /= r
		blocks = append(blocks, Module(numbered("block", i), Convolution, residual, Conv("conv1", wide, wide.X(2), Const(2*r)).Bias(true).faster(rate)))
		wide = wide.X(2)
	}
	return Module(name, Convolution, append(blocks, snake("snake1", wide), Conv("conv2", wide, out, Const(3)).Bias(true))...)
}

func (c *Config) dacDecoder(name string, in Size) Block {
	wide, rate := c.Size("Cd", "decoder_hidden_size"), int64(1)
	blocks := []Block{Conv("conv1", in, wide, Const(7)).Bias(true)}
	for i, r := range slices.Backward(c.Ints("downsampling_ratios")) {
		half := c.ratio("Cd", wide, Const(2))
		up := Conv("conv_t1", wide, half, Const(2*r)).Bias(true).transposed(wide, half, Const(2*r))
		up.Params[1].Shape = []Size{half}
		first := []Block{snake("snake1", wide), up.faster(rate)}
		rate *= r
		blocks = append(blocks, Module(numbered("block", len(c.Ints("downsampling_ratios"))-1-i), Convolution, append(first, Module("", Convolution, dacResidual(half)...).faster(rate))...))
		wide = half
	}
	return Module(name, Convolution, append(blocks, snake("snake1", wide), Conv("conv2", wide, Const(1), Const(7)).Bias(true).faster(rate))...)
}

// mimi is Moshi's codec (Défossez et al. 2024, arXiv:2410.00037): SEANet and a
// transformer on each side, and two kinds of codebooks.
func mimi(c *Config) Model {
	width, count := c.SizeOr("Dq", "codebook_dim", c.D), c.Size("codes", "codebook_size")
	wide := c.Size("Vq", "vector_quantization_hidden_dimension")
	semantic := c.Size("semantic", "num_semantic_quantizers")
	quantizer := func(name string, books Size) Block {
		var lead, back []Block
		if wide.Int() != c.D.Int() {
			lead, back = []Block{Conv("input_proj", c.D, wide, Const(1))}, []Block{Conv("output_proj", wide, c.D, Const(1))}
		}
		layers := Stack("layers", books, func(int) []Block {
			return []Block{Module("codebook", Other, Buffer("initialized", Const(1)), Buffer("cluster_usage", count), Buffer("embed_sum", count, width))}
		})
		return Module("quantizer."+name, Other, slices.Concat(lead, []Block{layers.idle()}, back)...)
	}
	return Model{Body: slices.Concat(c.mimiEncoder(), []Block{quantizer("semantic_residual_vector_quantizer", semantic),
		quantizer("acoustic_residual_vector_quantizer", Named("acoustic", max(0, c.Int("num_quantizers")-semantic.Int())))}, c.mimiDecoder())}
}

// mimiNet is Mimi's SEANet, and how many of its tokens make one of the codec's.
func (c *Config) mimiNet() (SEANet, int64) {
	ratios := c.Ints("upsampling_ratios")
	if len(ratios) == 0 {
		ratios = []int64{8, 6, 5, 4}
	}
	hop := int64(1)
	for _, r := range ratios {
		hop *= r
	}
	rate := c.Int("sampling_rate")
	fast, slow := (rate+hop-1)/max(1, hop), float64(rate)/float64(max(1, 2*hop))
	if c.Given("frame_rate") {
		slow = c.Value("frame_rate").Num
	} else if c.Given("_frame_rate") {
		slow = c.Value("_frame_rate").Num
	}
	if slow <= 0 || float64(fast) == slow {
		return SEANet{Ratios: ratios, Conv: plainConv}, 1
	}
	return SEANet{Ratios: ratios, Conv: plainConv}, int64(float64(fast) / slow)
}

func plainConv(b Block) Block { return b }

func (c *Config) mimiTransformer(name string) Block {
	bias := c.Bool("attention_bias")
	scores := c.sightScores()
	scores.KVHeads = c.K
	layer := []Block{LayerNorm("input_layernorm", c.D), AttentionBlock("self_attn", scores, Linear("q_proj", c.D, c.Q).Bias(bias), Linear("k_proj", c.D, c.U).Bias(bias),
		Linear("v_proj", c.D, c.U).Bias(bias), Linear("o_proj", c.Q, c.D).Bias(bias)), Raw("self_attn_layer_scale.scale", Other, c.D),
		LayerNorm("post_attention_layernorm", c.D), MLPBlock("mlp", Linear("fc1", c.D, c.F), Linear("fc2", c.F, c.D)), Raw("mlp_layer_scale.scale", Other, c.D)}
	return Module(name, NoRole, Stack("layers", c.N, func(int) []Block { return layer }))
}

func (c *Config) mimiEncoder() []Block {
	net, n := c.mimiNet()
	body := []Block{c.seanetEncoder(net).faster(n), c.mimiTransformer("encoder_transformer").faster(n)}
	if n > 1 {
		body = append(body, Conv("downsample.conv", c.D, c.D, Const(2*n)))
	}
	return body
}

func (c *Config) mimiDecoder() []Block {
	net, n := c.mimiNet()
	body := []Block{c.mimiTransformer("decoder_transformer").faster(n), c.seanetDecoder(net).faster(n)}
	if n > 1 {
		each := c.ratio("Cg", c.D, c.Size("groups", "upsample_groups"))
		body = append([]Block{Conv("upsample.conv", c.D, each, Const(2*n)).transposed(c.D, each, Const(2*n))}, body...)
	}
	return body
}
