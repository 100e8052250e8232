package estimator

import (
	"strconv"
	"strings"
)

// Numbers writes the polynomial with its symbols' values: 2·1·1024·1600.
func (s Size) Numbers() string {
	if len(s.terms) == 0 {
		return "0"
	}
	var text strings.Builder
	for i, t := range s.terms {
		switch {
		case i > 0 && t.coefficient < 0:
			text.WriteString(" − ")
		case i > 0:
			text.WriteString(" + ")
		case t.coefficient < 0:
			text.WriteString("−")
		}
		factors := []string{strconv.FormatUint(magnitude(t.coefficient), 10)}
		if factors[0] == "1" && len(t.factors) > 0 {
			factors = nil
		}
		for _, f := range t.factors {
			factors = append(factors, strconv.FormatInt(f.value, 10)+superscript(f.power))
		}
		text.WriteString(strings.Join(factors, "·"))
	}
	return text.String()
}

// Symbols lists the letters of the polynomial with their values.
func (s Size) Symbols() []Symbol { return s.symbols() }

// SymbolicWork is the work of one kind of module in symbols: b sequences of s
// new tokens, t keys, k positions with logits, e tokens of an encoder.
type SymbolicWork struct {
	Template, Kind string // as in Work
	FLOPs          Size
}

// Symbolic returns what has a closed form of the work of a pass, in the order in
// which it runs. On images that means i of p patches each; where they differ in
// size there is none.
func (m *Model) Symbolic(p Pass) []SymbolicWork {
	var list []SymbolicWork
	m.walk(func(l *leaf) {
		passes := l.passes(m.complete(p))
		if len(passes) != 1 {
			return
		}
		rows := l.symbols(passes[0])
		add := func(kind string, flops Size) {
			if !flops.IsZero() {
				list = append(list, SymbolicWork{l.template(Param{}), kind, flops.Times(l.used).X(2 * max(1, l.block.Repeat))})
			}
		}
		switch b := l.block; b.Kind {
		case LinearKind:
			often := rows.of(b.Rows)
			if b.Rows == PerKey {
				often = rows.b.Times(Named("T", l.rows(passes[0])/max(1, passes[0].Batch)))
			}
			add("linear", often.Times(b.In).Times(b.Out))
		case StackedKind:
			add("linear", rows.of(b.Rows).Times(b.Used).Times(b.In).Times(b.Out))
		}
		if s := l.block.Scores; s != nil && s.Sparse.Local == 0 {
			pairs := rows.b.Times(rows.pairs(passes[0], s)).Times(s.Heads)
			add("scores", pairs.Times(s.KeyDim))
			add("values", pairs.Times(s.ValueDim))
		}
	})
	return list
}

// symbols are what formulas call the sequences of a pass and their tokens.
type symbols struct{ b, s, e, k Size }

func (l *leaf) symbols(p Pass) symbols {
	if l.view == nil && len(l.spans) > 0 {
		return symbols{Named("c", p.Batch), Named("f", p.Seq), Named("f", p.EncoderSeq), Named("k", p.LogitsToKeep)}
	}
	if l.view == nil {
		return symbols{Named("b", p.Batch), Named("s", p.Seq), Named("e", p.EncoderSeq), Named("k", p.LogitsToKeep)}
	}
	return l.view.symbols(p)
}

func (x symbols) of(r Rows) Size {
	switch {
	case r == PerLogit && x.k.Int() > 0 && x.k.Int() < x.s.Int():
		return x.b.Times(x.k)
	case r == PerPosition:
		return x.s
	case r == PerModel:
		return Const(1)
	case r == PerSequence:
		return x.b
	case r == PerMemory:
		return x.b.Times(x.e)
	}
	return x.b.Times(x.s)
}

func (x symbols) pairs(p Pass, s *Scores) Size {
	queries, keys := x.s, Named("t", p.keys(s))
	switch {
	case s.Memory:
		queries, keys = x.e, x.e
	case s.Cross:
		keys = x.e
	case keys.Int() == queries.Int():
		keys = queries
	}
	return queries.Times(keys)
}
