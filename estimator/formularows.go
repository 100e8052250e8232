package estimator

import (
	"slices"
	"strings"
)

// tally sorts the unique parameters of a model into the reasons of the ledger.
type tally struct {
	model    *Model
	textbook bool
	buckets  map[string]*bucket

	attention, feedForward Size // how many layers have a block of each
}

type bucket struct {
	size    Size // outside the stack
	layers  Size // of the stack's layers, all together
	tensors []string
}

// total is the bucket's sum. Layers of several kinds are counted kind by kind;
// where a monomial stands for all of them it is written with the depth again.
func (b *bucket) total(depth Size) Size { return b.size.Plus(b.layers.perDepth(depth)) }

// perDepth writes multiples of the depth's value as multiples of its symbol.
func (s Size) perDepth(depth Size) Size {
	n := depth.Int()
	if n < 2 || len(depth.terms) != 1 || len(depth.terms[0].factors) != 1 {
		return s
	}
	symbol := depth.terms[0].factors[0].symbol
	sum := Size{over: s.over, missing: s.missing}
	for _, t := range s.terms {
		one := Size{t.value(), []term{t}, false, nil}
		named := slices.ContainsFunc(t.factors, func(f factor) bool { return f.symbol == symbol })
		if !named && t.coefficient%n == 0 {
			one = Size{t.value() / n, []term{{t.coefficient / n, t.factors}}, false, nil}.Times(depth)
		}
		sum = sum.Plus(one)
	}
	return sum
}

// value is the term's number; beyond 64 bits it saturates.
func (t term) value() int64 {
	n := t.coefficient
	for _, f := range t.factors {
		n, _ = mul64(n, f.raised())
	}
	return n
}

func newTally(m *Model) *tally {
	s := &tally{model: m, buckets: make(map[string]*bucket),
		textbook: !m.N.IsZero() && !m.D.IsZero() && !m.V.IsZero()}
	m.walk(func(l *leaf) {
		if l.shared {
			return
		}
		for _, p := range l.block.Params {
			if p.Buffer || p.TiedTo != "" {
				continue
			}
			s.add(reasonOf(l, p), l.elements(p), l.layer != nil, l.folded(p))
		}
	})
	s.countBlocks(m.parts(), Const(1))
	s.attention, s.feedForward = s.attention.orDepth(m.N), s.feedForward.orDepth(m.N)
	return s
}

// orDepth writes a number of layers by the depth's symbol where it is all of them.
func (s Size) orDepth(depth Size) Size {
	if s.Int() == depth.Int() {
		return depth
	}
	return s
}

// countBlocks counts attention and dense feed-forward blocks outside towers, and
// moves what their shapes explain out of the catch-all buckets.
func (s *tally) countBlocks(blocks []Block, copies Size) {
	for i := range blocks {
		b := &blocks[i]
		here := copies
		if b.Tower != "" || b.Shared {
			continue
		}
		if b.Index != nil {
			here = copies.Times(b.Count)
		}
		switch {
		case b.Kind == AttentionKind && b.Scores != nil && weights(b, Attention).Int() > 0:
			s.attention = s.attention.Plus(here)
			s.splitAttention(b, here)
		case b.Kind == MLPKind && weights(b, MLP).Int() > 0:
			s.feedForward = s.feedForward.Plus(here)
			s.splitMLP(b, here)
		}
		s.countBlocks(b.Sub, here)
	}
}

// weights adds up the matrices of a role that stand in the block itself, not in
// lists of experts.
func weights(b *Block, role Role) Size {
	var sum Size
	walkBlocks([]Block{{Sub: b.Sub}}, func(l *leaf) {
		for _, p := range l.block.Params {
			if l.block.Role == role && !p.Bias && !p.Buffer && p.TiedTo == "" && !l.shared {
				sum = sum.Plus(l.elements(p))
			}
		}
	})
	return sum
}

// splitAttention explains an attention block of the usual four matrices by its
// head dim and its key and value heads; other shapes stay attention_shapes.
func (s *tally) splitAttention(b *Block, copies Size) {
	if !s.textbook {
		return
	}
	sc, d := b.Scores, s.model.D
	queries := sc.Heads.Times(sc.KeyDim)
	if sc.Heads.Int()*sc.KeyDim.Int() == d.Int() {
		queries = d
	}
	keys := sc.KVHeads.Times(sc.KeyDim)
	if sc.KVHeads.Int() == sc.Heads.Int() {
		keys = queries
	}
	usual := d.Times(queries).X(2).Plus(d.Times(keys).X(2))
	if usual.Int() != weights(b, Attention).Int() || sc.KeyDim.Int() != sc.ValueDim.Int() {
		return
	}
	s.move("attention_shapes", "head_dim", copies.Times(d).X(4).Times(queries.Minus(d)))
	s.move("attention_shapes", "grouped_query_attention", copies.Times(d).X(2).Times(keys.Minus(queries)))
}

// splitMLP explains a feed-forward block of two or three equal matrices by its
// width and by its gate.
func (s *tally) splitMLP(b *Block, copies Size) {
	if !s.textbook {
		return
	}
	width := mlpWidth(b, s.model.D)
	matrix := s.model.D.Times(width)
	total := weights(b, MLP).Int()
	switch {
	case total == matrix.X(3).Int():
		s.move("mlp_shapes", "gated_mlp", copies.Times(matrix))
	case total != matrix.X(2).Int():
		return
	}
	s.move("mlp_shapes", "mlp_width", copies.Times(s.model.D).X(2).Times(width.Minus(s.model.D.X(4))))
}

// mlpWidth returns the width of the first matrix that leaves the hidden size.
func mlpWidth(b *Block, d Size) Size {
	var width Size
	walkBlocks([]Block{{Sub: b.Sub}}, func(l *leaf) {
		if width.Int() == 0 && l.block.Role == MLP && l.block.In.Int() == d.Int() && l.block.Kind == LinearKind {
			width = l.block.Out
		}
	})
	return width
}

func (s *tally) add(code string, n Size, layered bool, name string) {
	b := s.buckets[code]
	if b == nil {
		b = new(bucket)
		s.buckets[code] = b
	}
	if layered {
		b.layers = b.layers.Plus(n)
	} else {
		b.size = b.size.Plus(n)
	}
	if name != "" && !slices.Contains(b.tensors, name) {
		b.tensors = append(b.tensors, name)
	}
}

// move takes n, of layers, out of one bucket into another; the tensors concerned
// are those of the first.
func (s *tally) move(from, to string, n Size) {
	s.add(from, n.X(-1), true, "")
	s.add(to, n, true, "")
	for _, name := range s.buckets[from].tensors {
		s.add(to, Size{}, true, name)
	}
}

// baseline is the textbook's count.
func (s *tally) baseline() Size {
	m := s.model
	return m.N.Times(m.D).Times(m.D).X(12).Plus(m.V.Times(m.D))
}

// rows subtracts the textbook's share from what it counts and lists the rest.
func (s *tally) rows() []FormulaRow {
	if s.textbook {
		m := s.model
		square := m.D.Times(m.D)
		s.add("token_embeddings", m.V.Times(m.D).X(-1), false, "")
		s.add("attention_shapes", s.attention.Times(square).X(-4), true, "")
		s.add("layers_without_attention", m.N.Minus(s.attention).Times(square).X(-4), true, "")
		s.add("mlp_shapes", s.feedForward.Times(square).X(-8), true, "")
		instead := "layers_without_mlp"
		if s.buckets["routed_experts"] != nil {
			instead = "routed_experts"
		}
		s.add(instead, m.N.Minus(s.feedForward).Times(square).X(-8), true, "")
	}
	var rows []FormulaRow
	known := make(map[string]bool)
	for _, r := range formulaReasons {
		known[r.code] = true
		if b := s.buckets[r.code]; b != nil {
			if n := b.total(s.model.N); n.Int() != 0 {
				rows = append(rows, FormulaRow{r.code, r.reason, n.String(), n.Int(), b.tensors})
			}
		}
	}
	var towers []string
	for code := range s.buckets {
		if !known[code] {
			towers = append(towers, code)
		}
	}
	slices.Sort(towers)
	for _, code := range towers {
		b := s.buckets[code]
		n := b.size.Plus(b.layers)
		rows = append(rows, FormulaRow{code, strings.ReplaceAll(code, "_", " "), n.String(), n.Int(), b.tensors})
	}
	return rows
}

// formulaReasons are the rows of the first stage in the order in which they are
// printed.
var formulaReasons = []struct{ code, reason string }{
	{"token_embeddings", "token embeddings beside V·D"},
	{"position_embeddings", "position embeddings"},
	{"type_embeddings", "token type embeddings"},
	{"layers_without_attention", "layers without attention"},
	{"head_dim", "head dim other than D/A"},
	{"grouped_query_attention", "fewer key and value heads"},
	{"attention_shapes", "attention of other shapes than 4·D²"},
	{"layers_without_mlp", "layers without an MLP"},
	{"mlp_width", "MLP width other than 4·D"},
	{"gated_mlp", "third matrix of gated MLPs"},
	{"mlp_shapes", "MLPs of other shapes than 8·D²"},
	{"router", "routers"},
	{"routed_experts", "routed experts, instead of 8·D² a layer"},
	{"shared_experts", "shared experts"},
	{"state_space", "state-space mixers"},
	{"convolution", "convolutions"},
	{"biases", "biases"},
	{"norms", "norms"},
	{"untied_head", "output head of its own"},
	{"head_layers", "layers of the head"},
	{"pooler", "pooler"},
	{"classifier", "classifier"},
	{"projector", "projectors"},
	{"other", "other parameters"},
}

// reasonOf names the row under which a parameter stands.
func reasonOf(l *leaf, p Param) string {
	role := l.block.Role
	switch {
	case l.tower != "":
		return l.tower + "_tower"
	case role == Norm:
		return "norms"
	case role == Pooler || role == Classifier || role == HeadLayers:
		return role.String()
	case role == Head && !p.Bias && l.block.Kind == LinearKind:
		return "untied_head"
	case p.Bias || role == Head:
		return "biases"
	}
	switch role {
	case TokenEmbedding:
		return "token_embeddings"
	case PositionEmbedding:
		return "position_embeddings"
	case TypeEmbedding:
		return "type_embeddings"
	case Attention:
		return "attention_shapes"
	case MLP:
		return "mlp_shapes"
	case Router, RoutedExperts, SharedExperts, StateSpace, Convolution, Projector:
		return role.String()
	}
	return "other"
}

// folded returns the name of one of the leaf's tensors with its numbers as sets.
func (l *leaf) folded(p Param) string {
	return Fill(l.template(p), func(i int) string { return l.index[i].String() })
}
