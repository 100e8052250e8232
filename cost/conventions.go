package cost

import (
	"fmt"
	"math/big"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// published are the counts that well-known papers make of a training step.
func published(m *estimator.Model, p estimator.Pass, tokens *big.Int) []Convention {
	list := []Convention{palm(m, p, tokens)}
	if t, ok := transformerOf(m); ok && Decodes(m) {
		list = append(list, Convention{"Chinchilla, appendix F", times(t.Chinchilla(p.Seq, true), big.NewInt(p.Batch), 1),
			"3 · (2·s·V·d + L(6·s·d·kh + 2·s²·kh + 3·h·s² + 2·s²·kh + 2·s·kh·d + 4·s·d·F) + 2·s·d·V), arXiv:2203.15556", ofTraining},
			Convention{"Megatron-LM", t.Megatron(p.Batch, p.Seq, false), "72·B·s·L·d²(1 + s/6d + V/12Ld), no recomputation, arXiv:2104.04473", ofTraining},
			Convention{"Megatron-LM, recomputed", t.Megatron(p.Batch, p.Seq, true), "96·B·s·L·d²(1 + s/6d + V/16Ld), layers recomputed, arXiv:2104.04473", ofTraining})
	}
	return list
}

// palm is the count behind PaLM's model-FLOPs utilisation (arXiv:2204.02311,
// appendix B): 6N + 12·L·H·Q·T a token, N without position embeddings; of routed
// experts those that run, as the paper's dense models run all of theirs.
func palm(m *estimator.Model, p estimator.Pass, tokens *big.Int) Convention {
	var params int64
	for _, t := range m.Tensors() {
		if t.TiedTo == "" && !t.Buffer && t.Role != estimator.PositionEmbedding {
			params += t.Active
		}
	}
	perToken := product(6, params)
	var lhq int64
	for _, a := range m.Attentions() {
		lhq += a.Copies * a.Scores.Heads.Int() * a.Scores.KeyDim.Int()
	}
	perToken.Add(perToken, product(12, lhq, p.Seq+p.Past))
	return Convention{"PaLM, for MFU", perToken.Mul(perToken, tokens),
		fmt.Sprintf("(6N + 12·L·H·Q·T) · tokens, N = %s active parameters without position embeddings, L·H·Q = %s", groupedInt(params), groupedInt(lhq)), ofTraining}
}

// everyExpert is the pass of a kernel without routing: every expert runs on every
// token, on inputs scaled to nothing where it is not chosen. The exact count has
// the chosen ones alone.
func everyExpert(m *estimator.Model, f *FLOPs, routed *big.Int) Convention {
	all, active := new(big.Int), new(big.Int)
	for _, t := range m.Tensors() {
		if t.Role == estimator.RoutedExperts && !t.Bias && !t.Buffer {
			all.Add(all, big.NewInt(t.Elements()))
			active.Add(active, big.NewInt(t.Active))
		}
	}
	every := new(big.Int).Set(routed)
	if active.Sign() > 0 {
		every.Div(every.Mul(every, all), active)
	}
	return Convention{"every expert run", every.Add(every, new(big.Int).Sub(f.Forward, routed)),
		"exact matmul with all E experts in place of the chosen k: classes that run each on every token", ofForward}
}

// PaLM returns the FLOPs a token of a training step by PaLM's count for MFU.
func PaLM(m *estimator.Model, seq int64) float64 {
	c := palm(m, estimator.Pass{Batch: 1, Seq: seq}, big.NewInt(1))
	return float(c.FLOPs)
}

// Decodes reports whether the model generates token by token: something of it
// is kept between steps. An encoder keeps nothing.
func Decodes(m *estimator.Model) bool { return len(m.Cache()) > 0 }

// BeyondPositions says so where a sequence is longer than the config allows.
func BeyondPositions(m *estimator.Model, tokens int64) []string {
	list := []string{}
	if m.Positions > 0 && tokens > m.Positions {
		list = append(list, fmt.Sprintf("%s tokens: the config has %s positions", groupedInt(tokens), groupedInt(m.Positions)))
	}
	return list
}

// Transformer is the shape of a plain decoder, for formulas that know no more.
type Transformer struct {
	Layers, Hidden, Heads, KeySize, Width, Vocabulary int64
}

// transformerOf returns the shape of a model whose layers are all alike.
func transformerOf(m *estimator.Model) (Transformer, bool) {
	attentions := m.Attentions()
	if m.N.IsZero() || m.D.IsZero() || m.V.IsZero() || len(attentions) == 0 || attentions[0].Copies != m.N.Int() {
		return Transformer{}, false
	}
	width := m.Width()
	if width == 0 {
		return Transformer{}, false
	}
	s := attentions[0].Scores
	return Transformer{m.N.Int(), m.D.Int(), s.Heads.Int(), s.KeyDim.Int(), width, m.V.Int()}, true
}

// Chinchilla is a training step of one sequence by appendix F of
// arXiv:2203.15556: three times the forward pass, softmax counted, the
// feed-forward block with two matrices. Table A4 of the paper is reproduced
// without embeddings and logits.
func (t Transformer) Chinchilla(s int64, embeddings bool) *big.Int {
	kh := t.KeySize * t.Heads
	layer := product(6, s, t.Hidden, kh)
	layer.Add(layer, product(4, s, s, kh))
	layer.Add(layer, product(3, t.Heads, s, s))
	layer.Add(layer, product(2, s, kh, t.Hidden))
	layer.Add(layer, product(4, s, t.Hidden, t.Width))
	sum := layer.Mul(layer, big.NewInt(t.Layers))
	if embeddings {
		sum.Add(sum, product(4, s, t.Vocabulary, t.Hidden))
	}
	return sum.Mul(sum, big.NewInt(3))
}

// Megatron is a training step by arXiv:2104.04473, equation 3: with full
// recomputation 96·B·s·L·d²(1 + s/6d + V/16Ld), without it three quarters of the
// layers' part. Attention is not halved for its mask.
func (t Transformer) Megatron(batch, s int64, recomputed bool) *big.Int {
	passes := int64(3)
	if recomputed {
		passes = 4
	}
	layers := product(24, batch, s, t.Layers, t.Hidden, t.Hidden)
	layers.Add(layers, product(4, batch, s, s, t.Layers, t.Hidden))
	sum := layers.Mul(layers, big.NewInt(passes))
	return sum.Add(sum, product(6, batch, s, t.Hidden, t.Vocabulary))
}

// Forward is a forward pass of one sequence with an embedding product counted
// beside the head: 4·s·v·h + 24·s·l·h² + 4·s²·l·h.
func (t Transformer) Forward(s int64) *big.Int {
	sum := product(4, s, t.Vocabulary, t.Hidden)
	sum.Add(sum, product(24, s, t.Layers, t.Hidden, t.Hidden))
	return sum.Add(sum, product(4, s, s, t.Layers, t.Hidden))
}
