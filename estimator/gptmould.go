package estimator

import "strings"

// GPT is the mould of GPT-2 and its kin: token and perhaps position embedding,
// layers of attention over the whole width and a two-matrix MLP, each with a
// norm, and a last norm. The zero value is a GPT-2 without position embedding
// whose linears are stored [out, in]; a family states its differences.
type GPT struct {
	Like   func() Names // the vocabulary: gpt2Names, megatronNames, fairseqNames
	Names  Names        // what is called otherwise
	Prefix string       // else transformer
	Inner  string       // path of the body below the prefix

	Positions Size   // rows of the position embedding; zero: none
	E         Size   // width of the token embedding, if not D: projections lead in and out
	KV        Size   // key and value heads, else as many as query heads
	HeadDim   string // config field of the head dim, else D/A
	F         Size   // width of the MLP, else by the field Width, else 4·D
	Width     string // config field of the MLP's width, else n_inner
	FusedGate bool   // the MLP's first projection is of gate and up

	Bias                               Setting // of the linears without a setting of their own: else on
	QKVBias, OutBias, UpBias, DownBias Setting
	Linear                             func(name string, in, out Size) Block
	Norm                               func(name string, d Size) Block // else LayerNorm
	Place                              NormPlace
	NoLast                             bool  // no last norm
	FirstBare                          bool  // no norm before the first layer's attention
	First                              int64 // number of the first layer

	Scores func(i int, s Scores) Scores
	Within func(i int) []Block // what attention has besides its projections
	Embed  []Block             // embeddings besides those by token and position
	Heads  Heads
}

// NormPlace says where the norms of a layer stand.
type NormPlace uint8

// The places of norms.
const (
	BeforeEach NormPlace = iota // before attention and before the MLP
	SharedNorm                  // one norm for both, which run side by side
	AfterEach                   // after attention and after the MLP; there is no last norm
)

// Names is what the modules of a decoder are called. QKV is one name, of the
// fused projection, or two, where keys and values are fused, or three. Up is one
// name, or two where there is a gate.
type Names struct {
	Token, EmbedNorm, Position                    string
	Stack, Norm1, Attn, QKV, Out, Norm2, Up, Down string
	MLP, Last                                     string
	CrossNorm, Cross, CrossKV, CrossQ             string
}

// Nameless is the name of a list whose members stand right below the prefix.
const Nameless = "-"

func gpt2Names() Names {
	return Names{Token: "wte", Position: "wpe", Stack: "h", Norm1: "ln_1", Attn: "attn", QKV: "c_attn", Out: "c_proj",
		Norm2: "ln_2", MLP: "mlp", Up: "c_fc", Down: "c_proj", Last: "ln_f",
		CrossNorm: "ln_cross_attn", Cross: "crossattention", CrossKV: "c_attn", CrossQ: "q_attn"}
}

// megatronNames are those of Megatron-LM, which BLOOM, Falcon and GPT-NeoX took.
func megatronNames() Names {
	return Names{Token: "word_embeddings", Stack: "h", Norm1: "input_layernorm", Attn: "self_attention",
		QKV: "query_key_value", Out: "dense", Norm2: "post_attention_layernorm",
		MLP: "mlp", Up: "dense_h_to_4h", Down: "dense_4h_to_h", Last: "ln_f"}
}

func fairseqNames() Names {
	return Names{Token: "embed_tokens", Position: "embed_positions", Stack: "layers", Norm1: "self_attn_layer_norm",
		Attn: "self_attn", QKV: "q_proj k_proj v_proj", Out: "out_proj", Norm2: "final_layer_norm",
		Up: "fc1", Down: "fc2", Last: "layer_norm",
		CrossNorm: "encoder_attn_layer_norm", Cross: "encoder_attn", CrossKV: "k_proj v_proj", CrossQ: "q_proj"}
}

// or returns the names, those that are left out taken from others.
func (n Names) or(others Names) Names {
	return Names{
		Token: or(n.Token, others.Token), EmbedNorm: or(n.EmbedNorm, others.EmbedNorm), Position: or(n.Position, others.Position),
		Stack: or(n.Stack, others.Stack), Norm1: or(n.Norm1, others.Norm1), Attn: or(n.Attn, others.Attn),
		QKV: or(n.QKV, others.QKV), Out: or(n.Out, others.Out), Norm2: or(n.Norm2, others.Norm2), MLP: or(n.MLP, others.MLP),
		Up: or(n.Up, others.Up), Down: or(n.Down, others.Down), Last: or(n.Last, others.Last),
		CrossNorm: or(n.CrossNorm, others.CrossNorm), Cross: or(n.Cross, others.Cross),
		CrossKV: or(n.CrossKV, others.CrossKV), CrossQ: or(n.CrossQ, others.CrossQ)}
}

func gpt(c *Config, d GPT) Model {
	d = c.completed(d)
	n, prefix := d.Names, c.under(or(d.Prefix, "transformer"))
	if d.Inner != "" {
		prefix = join(prefix, d.Inner)
	}
	body := []Block{Token(n.Token, c.V, d.E)}
	narrow := d.E.Int() != c.D.Int()
	if narrow {
		body = append(body, Linear("project_in", d.E, c.D).As(Projector))
	}
	if !d.Positions.IsZero() {
		body = append(body, Position(n.Position, d.Positions, c.D))
	}
	body = append(body, d.Embed...)
	if n.EmbedNorm != "" {
		body = append(body, d.Norm(n.EmbedNorm, c.D))
	}
	if n.Stack == Nameless {
		n.Stack = ""
	}
	body = append(body, Stack(n.Stack, c.N, func(i int) []Block { return c.gptLayer(d, i) }).From(d.First))
	if d.Place != AfterEach && !d.NoLast {
		body = append(body, d.Norm(n.Last, c.D))
	}
	if narrow {
		body = append(body, Linear("project_out", c.D, d.E).As(Projector))
	}
	return Model{Prefix: prefix, N: c.N, D: c.D, V: c.V, Body: body,
		Head: c.head(join(prefix, n.Token+".weight"), d.E, d.Heads)}
}

// completed fills in what a family leaves to the mould, and sets the heads:
// most of these classes know no head dim but D/A.
func (c *Config) completed(d GPT) GPT {
	if d.Like == nil {
		d.Like = gpt2Names
	}
	d.Names = d.Names.or(d.Like())
	if d.KV.IsZero() {
		d.KV = c.A
	}
	c.heads(c.A, d.KV, d.HeadDim)
	if d.E.IsZero() || d.E.Int() == c.D.Int() {
		d.E = c.D
	}
	if d.F.IsZero() {
		d.F = c.SizeOr("F", or(d.Width, "n_inner"), c.D.X(4))
	}
	for _, s := range []*Setting{&d.QKVBias, &d.OutBias, &d.UpBias, &d.DownBias} {
		if *s == Auto {
			*s = d.Bias
		}
	}
	if d.Linear == nil {
		d.Linear = Linear
	}
	if d.Norm == nil {
		d.Norm = LayerNorm
	}
	if d.Heads.Tokens == "" {
		d.Heads.Tokens = "classifier"
	}
	return d
}

func (c *Config) gptLayer(d GPT, i int) []Block {
	attention, feedForward := c.gptAttention(d, i), c.gptMLP(d)
	first, second := d.Norm(d.Names.Norm1, c.D), d.Norm(d.Names.Norm2, c.D)
	switch d.Place {
	case SharedNorm:
		return []Block{first, attention, feedForward}
	case AfterEach:
		return []Block{attention, first, feedForward, second}
	}
	layer := []Block{first, attention}
	if d.FirstBare && i == 0 {
		layer = []Block{attention}
	}
	if c.Switch("add_cross_attention") {
		layer = append(layer, d.Norm(d.Names.CrossNorm, c.D), c.gptCross(d))
	}
	return append(layer, second, feedForward)
}

// linear is one of the mould's linears, with its bias where the setting is
// not off.
func (d GPT) linear(name string, in, out Size, bias Setting) Block {
	b := d.Linear(name, in, out)
	return b.Bias(bias != Off && len(b.Params) == 1)
}

func (c *Config) gptAttention(d GPT, i int) Block {
	scores := GQA(c.A, c.K, c.H, 0)
	if d.Scores != nil {
		scores = d.Scores(i, scores)
	}
	var sub []Block
	switch names := strings.Fields(d.Names.QKV); len(names) {
	case 1:
		sub = append(sub, d.linear(names[0], c.D, c.Q.Plus(c.U.X(2)), d.QKVBias))
	case 2:
		sub = append(sub, d.linear(names[0], c.D, c.Q, d.QKVBias), d.linear(names[1], c.D, c.U.X(2), d.QKVBias))
	default:
		for k, width := range []Size{c.Q, c.U, c.U} {
			sub = append(sub, d.linear(names[k], c.D, width, d.QKVBias))
		}
	}
	sub = append(sub, d.linear(d.Names.Out, c.Q, c.D, d.OutBias))
	if d.Within != nil {
		sub = append(sub, d.Within(i)...)
	}
	return AttentionBlock(d.Names.Attn, scores, sub...)
}

func (c *Config) gptMLP(d GPT) Block {
	var sub []Block
	for _, name := range strings.Fields(d.Names.Up) {
		width := d.F
		if d.FusedGate {
			width = d.F.X(2)
		}
		sub = append(sub, d.linear(name, c.D, width, d.UpBias))
	}
	return MLPBlock(d.Names.MLP, append(sub, d.linear(d.Names.Down, d.F, c.D, d.DownBias))...)
}

// gptCross is attention over an encoder's tokens. It runs where there is an
// encoder beside the decoder.
func (c *Config) gptCross(d GPT) Block {
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Cross = true
	sub := []Block{d.linear(d.Names.CrossQ, c.D, c.Q, d.QKVBias).On(PerCrossed)}
	names := strings.Fields(d.Names.CrossKV)
	for _, name := range names {
		sub = append(sub, d.linear(name, c.D, c.Q.X(int64(2/len(names))), d.QKVBias).On(PerMemory))
	}
	return AttentionBlock(d.Names.Cross, scores, append(sub, d.linear(d.Names.Out, c.Q, c.D, d.OutBias).On(PerCrossed))...)
}

// biasOf is a bias that stands apart from its linear.
func biasOf(name string, d Size) Block {
	b := Raw(name, NoRole, d)
	b.Params[0].Bias = true
	return b
}
