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

// SymbolicWork is the work of one kind of module in symbols: b sequences of s
// new tokens, T keys, k positions with logits, e tokens of an encoder.
type SymbolicWork struct {
	Template, Kind string // as in Work
	FLOPs          Size
}

// Symbolic returns what has a closed form of the work of a pass, in the order in
// which it runs.
func (m *Model) Symbolic(p Pass) []SymbolicWork {
	if m.EncoderSeq > 0 {
		p.EncoderSeq = m.EncoderSeq
	}
	var list []SymbolicWork
	m.walk(func(l *leaf) {
		add := func(kind string, flops Size) {
			if !flops.IsZero() {
				list = append(list, SymbolicWork{l.template(Param{}), kind, flops.Times(l.used).X(2 * max(1, l.block.Repeat))})
			}
		}
		switch b := l.block; b.Kind {
		case LinearKind:
			add("linear", p.symbols(b.Rows).Times(b.In).Times(b.Out))
		case StackedKind:
			add("linear", p.symbols(b.Rows).Times(b.Used).Times(b.In).Times(b.Out))
		}
		if s := l.block.Scores; s != nil {
			pairs := Named("b", p.Batch).Times(p.pairSymbols(s)).Times(s.Heads)
			add("scores", pairs.Times(s.KeyDim))
			add("values", pairs.Times(s.ValueDim))
		}
	})
	return list
}

func (p Pass) symbols(r Rows) Size {
	b, s := Named("b", p.Batch), Named("s", p.Seq)
	switch r {
	case PerLogit:
		if p.LogitsToKeep > 0 && p.LogitsToKeep < p.Seq {
			return b.Times(Named("k", p.LogitsToKeep))
		}
	case PerSequence:
		return b
	case PerMemory:
		return b.Times(Named("e", p.EncoderSeq))
	}
	return b.Times(s)
}

func (p Pass) pairSymbols(s *Scores) Size {
	queries, keys := Named("s", p.Seq), Named("T", p.keys(s))
	if s.Memory {
		queries = Named("e", p.EncoderSeq)
	}
	if keys.Int() == queries.Int() {
		keys = queries
	}
	return queries.Times(keys)
}
