package estimator

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Encoders of text and encoder-decoders beside BERT's and BART's closest kin.
var textFamily = slices.Concat(bertKinFamily, disentangledFamily, rotaryFamily, t5KinFamily, seq2seqKinFamily, textOddFamily, textMoreFamily)

// named reports whether a field, a list or a text of words between bars, holds
// the word.
func (c *Config) names(field, word string) bool {
	if v := c.Value(field); !v.IsArray() {
		return slices.Contains(strings.Split(strings.ReplaceAll(strings.ToLower(v.String()), " ", ""), "|"), word)
	}
	return slices.Contains(c.Strings(field), word)
}

// perChannel is a convolution of one filter a channel over as many positions as
// there are tokens, stored [channels, 1, kernel].
func perChannel(name string, channels, kernel Size) Block {
	return Linear(name, kernel, channels).Shaped(channels, Const(1), kernel)
}

// perPair is work of so many multiply-adds for each pair of tokens.
func perPair(name string, sizes ...Size) *Extra {
	return &Extra{Name: name, Sizes: sizes, FLOPs: func(p Pass) *big.Int {
		n := product(2, p.Batch, p.Seq, p.Seq)
		for _, s := range sizes {
			n.Mul(n, big.NewInt(s.Int()))
		}
		return n
	}}
}

// doing gives a block work that its matrix does not explain, in the place of
// that which it does.
func (b Block) doing(x *Extra) Block {
	b.Extra = x
	return b.On(Elsewhere)
}

// list is count equal modules, name.0 to name.(count−1), that are no layers.
func list(name string, count Size, sub ...Block) Block {
	if count.IsZero() {
		return Block{}
	}
	return Block{Name: name, Count: count, Index: Upto(count.Int()), Sub: sub}
}

// padded makes the block and all in it run on a multiple of n tokens, or on those
// that the span says.
func (b Block) padded(n int64, span Span) Block {
	if n > 1 {
		b = b.Spanning(Span{Memory: span.Memory, Before: []Step{{Kernel: n, Stride: n}}, Plus: span.Plus})
		return b.Spanning(Span{Memory: span.Memory, After: []Step{{Kernel: n, Stride: n, Pad: n - 1}}})
	}
	if span.Plus == 0 {
		return b
	}
	return b.Spanning(span)
}

// called is as many modules as there are experts, under names that end in their
// number, of which the first so many run for each token.
func called(name string, count, used Size, expert ...Block) Block {
	group := Block{Name: name}
	for i := range int(min(count.Int(), mostLayers)) {
		one := Module("expert_"+strconv.Itoa(i), RoutedExperts, expert...)
		one.Idle = int64(i) >= used.Int()
		group.Sub = append(group.Sub, one)
	}
	return group
}
