package estimator

import (
	"math/big"
	"slices"
)

// FrozenNorm is a batch norm none of whose tensors is learned any more.
func FrozenNorm(name string, d Size) Block {
	return Block{Name: name, Role: Norm, Sub: []Block{Unweighted("", d), Buffer("weight", d).As(Norm), Buffer("bias", d).As(Norm),
		Buffer("running_mean", d).As(Norm), Buffer("running_var", d).As(Norm)}}
}

// Transposed is a convolution that makes the grid finer, stored [in, out, kernel…];
// its rows are the coarser grid's.
func Transposed(name string, in, out Size, kernel ...Size) Block {
	return Conv(name, in, out, kernel...).Shaped(append([]Size{in, out}, kernel...)...)
}

// Square is a convolution of kernel×kernel between dense channels.
func Square(name string, in, out Size, kernel int64) Block {
	k := Const(kernel)
	return Conv(name, in, out, k, k)
}

// Depthwise is a convolution of kernel×kernel, one filter a channel.
func Depthwise(name string, channels Size, kernel int64) Block {
	return Square(name, Const(1), channels, kernel)
}

// decomposed are learned biases by distance in rows and in columns, multiplied with
// the queries, in windows of so many patches a side or in the config's own image.
func (c *Config) decomposed(v *View, window int64, heads, width Size) []Block {
	rows, columns := v.grid()
	if window > 0 {
		rows, columns = window, window
	}
	h := Raw("rel_pos_h", PositionEmbedding, Named("rows", 2*rows-1), width)
	h.Extra = &Extra{Name: "distances", Sizes: []Size{heads, width}, FLOPs: func(p Pass) *big.Int {
		return product(2, p.Batch, p.Seq, heads.Int(), width.Int(), p.grid.Rows+p.grid.Columns)
	}}
	return []Block{h, Raw("rel_pos_w", PositionEmbedding, Named("columns", 2*columns-1), width)}
}

// overlaps reports whether the block is a convolution of more than single points:
// what it takes is no list of patches, each of its own.
func (b *Block) overlaps() bool {
	return b.Kind == LinearKind && len(b.Params) > 0 && len(b.Params[0].Shape) > 2 && b.In.Int() != b.Params[0].Shape[1].Int()
}

// flat names the tensors of a linear that are members of the module around it.
func (b Block) flat(weight, bias string) Block {
	b.Name, b.Params = "", slices.Clone(b.Params)
	for i := range b.Params {
		b.Params[i].Name = weight
		if b.Params[i].Bias {
			b.Params[i].Name = bias
		}
	}
	return b
}
