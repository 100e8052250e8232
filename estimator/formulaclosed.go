package estimator

import (
	"fmt"
	"slices"
	"strings"
)

// closedFormula writes the unique parameters as one formula, stack by stack and
// then what stands outside, with its value and the letters it uses. Where the
// feed-forward width is 4·D it is written so.
func (m *Model) closedFormula() (text string, value int64, symbols []Symbol, notes []string) {
	var groups []layerGroup
	var outside Size
	for _, part := range m.parts() {
		collectStacks(part, func(stack Block) { groups = append(groups, perLayer(stack)...) },
			func(b Block) { outside = outside.Plus(uniqueOf(b)) })
	}
	whole := outside
	for _, g := range groups {
		whole = whole.Plus(g.count.Times(g.inner))
	}
	symbols = whole.symbols()
	simplify := func(s Size) Size { return s }
	if wide := (Symbol{"F", 4 * m.D.Int()}); m.D.Int() > 0 && slices.Contains(symbols, wide) {
		notes = append(notes, "F = 4D")
		simplify = func(s Size) Size { return s.substitute(wide, m.D.X(4)) }
	}
	var parts []string
	for _, g := range groups {
		g.inner = simplify(g.inner)
		parts = append(parts, g.text())
	}
	if len(outside.terms) > 0 || len(parts) == 0 {
		parts = append(parts, simplify(outside).String())
	}
	for _, extra := range []Size{m.N, m.D, m.V} {
		for _, s := range extra.symbols() {
			if !slices.Contains(symbols, s) {
				symbols = append(symbols, s)
			}
		}
	}
	return strings.Join(parts, " + "), whole.Int(), sortSymbols(symbols), notes
}

type layerGroup struct{ count, inner Size }

func (g layerGroup) text() string {
	if len(g.inner.terms) == 1 {
		return g.count.Times(g.inner).String()
	}
	return fmt.Sprintf("%s(%s)", g.count, g.inner)
}

// perLayer returns the layers of a stack grouped by their formula.
func perLayer(stack Block) []layerGroup {
	var groups []layerGroup
	var layers Size
	for _, g := range stack.Sub {
		var inner Size
		for _, b := range g.Sub {
			inner = inner.Plus(uniqueOf(b))
		}
		layers = layers.Plus(g.Count)
		i := slices.IndexFunc(groups, func(h layerGroup) bool { return h.inner.String() == inner.String() && h.inner.Int() == inner.Int() })
		if i < 0 {
			groups = append(groups, layerGroup{g.Count, inner})
		} else {
			groups[i].count = groups[i].count.Plus(g.Count)
		}
	}
	if len(groups) == 1 && groups[0].count.Int() == stack.Count.Int() {
		groups[0].count = stack.Count
	}
	return groups
}

// collectStacks calls stack for each stack in the tree and other for each block
// outside one.
func collectStacks(b Block, stack, other func(Block)) {
	switch {
	case b.Shared:
	case b.Kind == StackKind:
		stack(b)
	case holdsStack(b):
		for _, sub := range b.Sub {
			collectStacks(sub, stack, other)
		}
		b.Sub = nil
		other(b)
	default:
		other(b)
	}
}

func holdsStack(b Block) bool {
	return slices.ContainsFunc(b.Sub, func(sub Block) bool { return sub.Kind == StackKind || holdsStack(sub) })
}

func uniqueOf(b Block) Size {
	var sum Size
	walkBlocks([]Block{b}, func(l *leaf) {
		if l.shared {
			return
		}
		for _, p := range l.block.Params {
			if !p.Buffer && p.TiedTo == "" {
				sum = sum.Plus(l.elements(p))
			}
		}
	})
	return sum
}

func (s Size) symbols() []Symbol {
	var symbols []Symbol
	for _, t := range s.terms {
		for _, f := range t.factors {
			if symbol := (Symbol{f.symbol, f.value}); !slices.Contains(symbols, symbol) {
				symbols = append(symbols, symbol)
			}
		}
	}
	return symbols
}

func sortSymbols(symbols []Symbol) []Symbol {
	slices.SortStableFunc(symbols, func(a, b Symbol) int { return symbolOrderForLegend(a.Name) - symbolOrderForLegend(b.Name) })
	return symbols
}

// symbolOrderForLegend puts the letters of the textbook first.
func symbolOrderForLegend(name string) int {
	if i := strings.Index("NDVCAKHFET", name); i >= 0 && len(name) == 1 {
		return i
	}
	return 100
}
