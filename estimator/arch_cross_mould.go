package estimator

import (
	"slices"
	"strings"
)

// Seq2Seq is the mould of BART (Lewis et al. 2019, arXiv:1910.13461) and its kin
// from fairseq: an encoder, and a decoder that attends to itself and to the
// encoder's tokens. The class for causal language models is the decoder alone.
// The zero value has learned positions and norms behind the blocks; a family
// states its differences.
type Seq2Seq struct {
	Names   Names  // what is called otherwise than in fairseq; norms over the embeddings and at the end where named
	Encoder Names  // what the encoder alone calls otherwise
	Prefix  string // else model
	Table   string // token embedding of both halves, else shared and not beside the decoder alone
	Alone   bool   // a decoder under all classes
	Apart   bool   // halves with token embeddings of their own

	Positions   Size // rows, else C
	Spoken      Size // rows of the encoder, else as Positions
	NoPositions bool
	Unsaved     bool               // positions that checkpoints leave out
	Rows        Size               // of the decoder's token embedding, else V
	Embed       map[string][]Block // a half's instead of token and position
	Sparse      func(i int) Sparse // the encoder's choice of keys
	Attended    []Block            // what the encoder's attention has besides, before its output
	Side        []Block            // what each layer of the encoder has besides
	Padded      int64              // the encoder's tokens are padded to a multiple of so many
	Stagger     int64              // of which so many more stand in the attention of every second layer
	FFN         func(half string, h *Config, i int) Block
	Beside      func(half string) []Block // what a half has besides

	NoCross   bool
	NoBias    bool                  // in attention
	NoKeyBias bool                  // of its keys
	MLPBare   bool                  // no biases in the feed-forward block
	CrossIn   Size                  // width of the encoder's tokens, else D
	Streams   int64                 // in the decoder besides the main one, to predict further tokens
	Within    func(h *Config) Block // what the decoder's self-attention has besides

	Head       string // else lm_head
	Heads      Size   // of them, one for each codebook
	Shifted    bool   // a stored shift of the logits
	EveryLogit bool   // all positions get logits, whatever is asked
	Targets    Size   // rows of the head, else V
	LoneUntied bool   // the head of the decoder alone is never tied
}

// half returns the config with the sizes of the encoder or the decoder.
func (c *Config) half(side string) *Config {
	h, letter := *c, side[:1]
	h.N = c.first("N"+letter, side+"_layers", "num_"+side+"_layers", "num_hidden_layers")
	h.F = c.first("F"+letter, side+"_ffn_dim", "ffn_dim")
	heads := c.first("A"+letter, side+"_attention_heads", "num_"+side+"_attention_heads", "num_attention_heads")
	h.heads(heads, heads, "")
	return &h
}

// named completes the names of both halves.
func (d Seq2Seq) named() Seq2Seq {
	plain := fairseqNames()
	plain.Last = ""
	d.Names = d.Names.or(plain)
	d.Encoder = d.Encoder.or(d.Names)
	return d
}

func seq2seq(c *Config, d Seq2Seq) Model {
	d = d.named()
	alone := c.Task == CausalLM || d.Alone
	model := Model{Prefix: c.under(or(d.Prefix, "model")), EncoderDecoder: !alone}
	shared := join(model.Prefix, or(d.Table, "shared")+".weight")
	if d.Apart || alone && d.Table == "" {
		shared = ""
	} else {
		model.Body = []Block{Token(or(d.Table, "shared"), c.V, c.D)}
	}
	if alone {
		model.N, model.D, model.V = c.half("decoder").N, c.D, c.V
	} else {
		model.Body = append(model.Body, c.encoderHalf(d, shared))
	}
	model.Body = append(model.Body, c.decoderHalf(d, shared))
	model.Head = c.seq2seqHead(d, or(shared, join(model.Prefix, "decoder."+d.Names.Token+".weight")))
	return model
}

// encoderHalf runs once, on the encoder's tokens.
func (c *Config) encoderHalf(d Seq2Seq, shared string) Block {
	h, n := c.half("encoder"), d.Encoder
	global := int64(0)
	stack := Stack(n.Stack, h.N, func(i int) []Block {
		scores := GQA(h.A, h.A, h.H, 0)
		scores.Bidirected, scores.Memory = true, true
		if d.Sparse != nil {
			scores.Sparse = d.Sparse(i)
			global = scores.Sparse.Global
		}
		attention := d.attention(c, n, n.Attn, c.D, scores)
		if d.Attended != nil {
			attention.Sub = slices.Insert(attention.Sub, 3, d.Attended...)
		}
		if i%2 == 1 && d.Stagger > 0 {
			attention = attention.Spanning(Span{Memory: true, Plus: d.Stagger})
		}
		return slices.Concat(d.normed(c, n.Norm1, attention), d.Side, d.normed(c, n.Norm2, d.feedForward("encoder", h, n, i)))
	})
	half := d.side(c, "encoder", n, c.V, shared, stack).Throughout(PerMemory).InTower("encoder")
	return half.padded(d.Padded, Span{Memory: true, Plus: global})
}

func (c *Config) decoderHalf(d Seq2Seq, shared string) Block {
	h, n := c.half("decoder"), d.Names
	attention := d.attention(c, n, n.Attn, c.D, GQA(h.A, h.A, h.H, 0))
	if d.Within != nil {
		attention.Sub = append(attention.Sub, d.Within(h))
	}
	attentions := d.normed(c, n.Norm1, attention)
	if !d.NoCross {
		scores := GQA(h.A, h.A, h.H, 0)
		scores.Cross = true
		attentions = append(attentions, d.normed(c, n.CrossNorm, d.attention(c, n, n.Cross, orSize(d.CrossIn, c.D), scores))...)
	}
	stack := Stack(n.Stack, h.N, func(i int) []Block {
		return slices.Concat(attentions, d.normed(c, n.Norm2, d.feedForward("decoder", h, n, i)))
	})
	return d.side(c, "decoder", n, orSize(d.Rows, c.V), shared, stack).Repeated(1 + d.Streams)
}

// side arranges a half: embeddings, their norm, the layers, a last norm. Its
// token embedding is the shared one where there is one and the config ties them.
func (d *Seq2Seq) side(c *Config, name string, n Names, rows Size, shared string, stack Block) Block {
	sub, own := d.Embed[name]
	if !own {
		sub = []Block{Token(n.Token, rows, c.D).TiedTo(shared, shared != "" && c.tied())}
		if !d.NoPositions {
			rows := orSize(d.Positions, c.C)
			if name == "encoder" {
				rows = orSize(d.Spoken, rows)
			}
			positions := Position(n.Position, rows, c.D)
			positions.Params[0].Unsaved = d.Unsaved
			sub = append(sub, positions)
		}
	}
	if d.Beside != nil {
		sub = append(sub, d.Beside(name)...)
	}
	if n.EmbedNorm != "" {
		sub = append(sub, LayerNorm(n.EmbedNorm, c.D))
	}
	sub = append(sub, stack)
	if n.Last != "" {
		sub = append(sub, LayerNorm(n.Last, c.D))
	}
	return Module(name, NoRole, sub...)
}

// normed puts a norm before the block where there is a last one too, else
// behind it.
func (d *Seq2Seq) normed(c *Config, name string, block Block) []Block {
	if d.Names.Last != "" {
		return []Block{LayerNorm(name, c.D), block}
	}
	return []Block{block, LayerNorm(name, c.D)}
}

// attention has queries of the layer's width and keys of tokens of width in: its
// own, or the encoder's, which are projected in the first step and then cached.
func (d *Seq2Seq) attention(c *Config, n Names, name string, in Size, scores Scores) Block {
	rows, keys := PerToken, PerToken
	if scores.Cross {
		rows, keys = PerCrossed, PerMemory
	}
	qkv := strings.Fields(n.QKV)
	return AttentionBlock(name, scores, Linear(qkv[0], c.D, c.D).Bias(!d.NoBias).On(rows),
		Linear(qkv[1], in, c.D).Bias(!d.NoBias && !d.NoKeyBias).On(keys), Linear(qkv[2], in, c.D).Bias(!d.NoBias).On(keys),
		Linear(n.Out, c.D, c.D).Bias(!d.NoBias).On(rows))
}

func (d *Seq2Seq) feedForward(half string, h *Config, n Names, i int) Block {
	if d.FFN != nil {
		return d.FFN(half, h, i)
	}
	return MLPBlock(n.MLP, Linear(n.Up, h.D, h.F).Bias(!d.MLPBare), Linear(n.Down, h.F, h.D).Bias(!d.MLPBare))
}

func (c *Config) seq2seqHead(d Seq2Seq, embedding string) []Block {
	switch c.Task {
	case BaseModel:
		return nil
	case SequenceClassification:
		return []Block{c.twoLayers("classification_head", Named("labels", c.NumLabels()))}
	case QuestionAnswering: // the classes set two outputs, whatever the config says
		return []Block{Linear("qa_outputs", c.D, Const(2)).Bias(true).As(Classifier)}
	}
	rows := PerToken
	if c.Task == CausalLM && !d.EveryLogit {
		rows = PerLogit
	}
	V := orSize(d.Targets, c.V)
	head := Linear(or(d.Head, "lm_head"), c.D, V).On(rows).As(Head).Repeated(max(1, d.Streams))
	if !d.Heads.IsZero() {
		return []Block{Stack(head.Name, d.Heads, func(int) []Block { return []Block{head.Called("")} })}
	}
	head = head.TiedTo(embedding, c.tied() && !(d.LoneUntied && c.Task == CausalLM))
	if d.Shifted && c.Task != CausalLM {
		return []Block{head, Buffer("final_logits_bias", Const(1), V)}
	}
	return []Block{head}
}

func orSize(s, otherwise Size) Size {
	if s.IsZero() {
		return otherwise
	}
	return s
}
