package estimator

import (
	"fmt"
	"math/big"
)

// XLM, FlauBERT and XLNet: encoders by default that were made to generate too.
var xlmFamily = []Arch{
	{"xlm", "XLMWithLMHeadModel", xlm},
	{"flaubert", "FlaubertWithLMHeadModel", xlm},
	{"xlnet", "XLNetLMHeadModel", xlnet},
}

// xlm keeps attention, norms and MLPs in four lists side by side. Its positions
// are a table even where the config asks for sines.
func xlm(c *Config) Model {
	d := GPT{Positions: c.C, F: c.D.X(4), Place: AfterEach, Heads: Heads{Head: "pred_layer.proj", HeadBias: true},
		Names: Names{Token: "embeddings", Position: "position_embeddings", EmbedNorm: "layer_norm_emb", Stack: Scattered,
			Attn: "attentions.#", QKV: "q_lin k_lin v_lin", Out: "out_lin", Norm1: "layer_norm1.#",
			MLP: "ffns.#", Up: "lin1", Down: "lin2", Norm2: "layer_norm2.#"},
		Scores: func(_ int, s Scores) Scores { s.Bidirected = !c.Bool("causal"); return s }}
	if n := c.Size("G", "n_langs"); n.Int() > 1 && c.Bool("use_lang_emb") {
		d.Embed = []Block{TokenType("lang_embeddings", n, c.D)}
	}
	model := c.withAnswers(gpt(c, d), "qa_outputs", false)
	if c.Bool("asm") && c.Task == CausalLM {
		model.Head = c.adaptiveSoftmax("pred_layer.proj")
	}
	return model
}

// adaptiveSoftmax is a head that has matrices of their own for rarer words, each
// class of them through a narrower bottleneck (Grave et al. 2017,
// arXiv:1609.04309).
func (c *Config) adaptiveSoftmax(name string) []Block {
	by := c.Float("asm_div_value", 4)
	cutoffs, divide := c.Ints("asm_cutoffs"), int64(by)
	if len(cutoffs) == 0 || divide < 1 || float64(divide) != by {
		c.Fault("asm_cutoffs", "must list at least one rank where asm is on, with a whole asm_div_value")
		return nil
	}
	blocks := []Block{Linear(name+".head", c.D, Const(cutoffs[0]+int64(len(cutoffs)))).Bias(true).As(Head).On(PerLogit)}
	width := c.D.Int()
	for i, first := range cutoffs {
		last := c.V.Int()
		if i+1 < len(cutoffs) {
			last = cutoffs[i+1]
		}
		width /= divide
		tail := fmt.Sprintf("%s.tail.%d", name, i)
		blocks = append(blocks, Linear(tail+".0", c.D, Const(width)).As(Head).On(PerLogit), Linear(tail+".1", Const(width), Const(last-first)).As(Head).On(PerLogit))
	}
	return blocks
}

// xlnet attends over relative positions (Transformer-XL, arXiv:1901.02860,
// section 3.3): keys of their own for every distance, and biases of the queries
// by content, position and segment.
func xlnet(c *Config) Model {
	c.heads(c.A, c.A, "")
	F := c.Size("F", "d_inner")
	scores := GQA(c.A, c.A, c.H, 0)
	scores.Bidirected = true
	head := func(name string) Block { return Linear(name, c.D, c.Q).Shaped(c.D, c.A, c.H).Bare() }
	bias := func(name string) Block { return Raw(name, Attention, c.A, c.H) }
	relative := head("r")
	relative.Rows, relative.Extra = Elsewhere, c.relativeKeys()
	layer := func(int) []Block {
		return []Block{
			AttentionBlock("rel_attn", scores, head("q"), head("k"), head("v"), relative,
				bias("r_r_bias"), bias("r_s_bias"), bias("r_w_bias"), Raw("seg_embed", Attention, Const(2), c.A, c.H), head("o")),
			LayerNorm("rel_attn.layer_norm", c.D),
			MLPBlock("ff", Linear("layer_1", c.D, F).Bias(true), Linear("layer_2", F, c.D).Bias(true)),
			LayerNorm("ff.layer_norm", c.D)}
	}
	prefix := c.under("transformer")
	return c.withAnswers(Model{Prefix: prefix, N: c.N, D: c.D, V: c.V,
		Body: []Block{Token("word_embedding", c.V, c.D), Raw("mask_emb", TokenEmbedding, Const(1), Const(1), c.D), Stack("layer", c.N, layer)},
		Head: c.head(join(prefix, "word_embedding.weight"), c.D, Heads{Head: "lm_loss", HeadBias: true, Tokens: "classifier"})}, "", true)
}

// relativeKeys is the work of attention over distances: keys for each of the 2·s
// that s tokens have among each other (s + 1 where they look back only), and
// their products with the queries.
func (c *Config) relativeKeys() *Extra {
	both := c.String("attn_type") == "bi"
	return &Extra{Name: "relative positions", Sizes: []Size{c.D, c.A, c.H}, FLOPs: func(p Pass) *big.Int {
		distances := p.Seq + 1
		if both {
			distances = 2 * p.Seq
		}
		keys := product(2, p.Batch, distances, c.D.Int(), c.A.Int(), c.H.Int())
		return keys.Add(keys, product(2, p.Batch, p.Seq, distances, c.A.Int(), c.H.Int()))
	}}
}

// withAnswers puts the heads on a model that XLM and XLNet have otherwise than
// others: a summary of the sequence, behind which XLNet projects onto the labels
// once more, and answers by beam search, whose end depends on the start.
func (c *Config) withAnswers(m Model, path string, logits bool) Model {
	labels, one := Named("labels", c.NumLabels()), Const(1)
	linear := func(name string, in, out Size) Block { return Linear(name, in, out).Bias(true) }
	switch c.Task {
	case SequenceClassification:
		m.Head = c.summary("sequence_summary", c.D, labels)
		if logits {
			m.Head = append(m.Head, linear("logits_proj", c.D, labels).On(PerSequence).As(Classifier))
		}
	case MultipleChoice:
		in := labels
		if logits {
			in = c.D
		}
		m.Head = append(c.summary("sequence_summary", c.D, labels), linear("logits_proj", in, one).On(PerSequence).As(Classifier))
	case SimpleAnswering:
		m.Head = []Block{linear("qa_outputs", c.D, labels).As(Classifier)}
	case QuestionAnswering:
		m.Head = []Block{Module(path, Classifier,
			linear("start_logits.dense", c.D, one), linear("end_logits.dense_0", c.D.X(2), c.D),
			LayerNorm("end_logits.LayerNorm", c.D), linear("end_logits.dense_1", c.D, one),
			linear("answer_class.dense_0", c.D.X(2), c.D), Linear("answer_class.dense_1", c.D, one))}
	}
	return m
}
