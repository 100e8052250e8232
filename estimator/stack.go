package estimator

import (
	"encoding/binary"
	"math"
	"slices"
)

// mostLayers bounds the layers that a config may ask for; the deepest published
// models have some hundreds.
const mostLayers = 1 << 14

// Scattered is the name of a stack whose layers are no modules: the number of the
// layer stands within the names of their parts, at the "#" of attentions.#.q_lin.
const Scattered = "#"

// Stack is a list of count layers, name.0 to name.(count−1). The function
// describes layer i; equal layers are folded into one group.
func Stack(name string, count Size, layer func(i int) []Block) Block {
	stack := Block{Kind: StackKind, Name: name, Count: count}
	n := count.Int()
	if n > mostLayers {
		n = 1 // the model is refused; one layer shows its shape
	}
	groups := make(map[string]int)
	var members [][]int64
	var print fingerprint
	for i := range int(n) {
		blocks := layer(i)
		print.buffer = print.buffer[:0]
		print.blocks(blocks)
		g, ok := groups[string(print.buffer)]
		if !ok {
			g = len(stack.Sub)
			groups[string(print.buffer)] = g
			stack.Sub = append(stack.Sub, Block{Sub: blocks})
			members = append(members, nil)
		}
		members[g] = append(members[g], int64(i))
	}
	for g := range stack.Sub {
		stack.Sub[g].Index = Only(members[g]...)
		stack.Sub[g].Count = Const(int64(len(members[g])))
	}
	if len(stack.Sub) == 1 {
		stack.Sub[0].Count = count
	}
	return stack
}

// From numbers the layers of a stack from first on.
func (b Block) From(first int64) Block {
	if first == 0 {
		return b
	}
	b.Sub = slices.Clone(b.Sub)
	for g := range b.Sub {
		shifted := slices.Clone(b.Sub[g].Index)
		for i := range shifted {
			shifted[i] = Range{shifted[i].First + first, shifted[i].Last + first}
		}
		b.Sub[g].Index = shifted
	}
	return b
}

// fingerprint writes blocks so that equal ones, and only they, give equal bytes.
type fingerprint struct{ buffer []byte }

func (f *fingerprint) number(n int64) { f.buffer = binary.AppendVarint(f.buffer, n) }

func (f *fingerprint) size(s Size) {
	f.number(s.value)
	if !s.Known() {
		f.number(math.MinInt64)
	}
}

func (f *fingerprint) text(s string) {
	f.number(int64(len(s)))
	f.buffer = append(f.buffer, s...)
}

func (f *fingerprint) flag(on bool) {
	if on {
		f.buffer = append(f.buffer, 1)
	} else {
		f.buffer = append(f.buffer, 0)
	}
}

func (f *fingerprint) blocks(blocks []Block) {
	f.number(int64(len(blocks)))
	for i := range blocks {
		f.block(&blocks[i])
	}
}

func (f *fingerprint) block(b *Block) {
	f.buffer = append(f.buffer, byte(b.Kind), byte(b.Role), byte(b.Rows))
	f.text(b.Name)
	f.text(b.Tower)
	f.flag(b.Shared)
	f.flag(b.Idle)
	f.flag(b.Pixels)
	f.view(b.View)
	f.span(b.Span)
	f.number(b.Repeat)
	f.number(b.Merge)
	f.size(b.Count)
	f.size(b.Used)
	f.size(b.In)
	f.size(b.Out)
	f.text(b.Index.String())
	f.number(int64(len(b.Params)))
	for _, p := range b.Params {
		f.text(p.Name)
		f.text(p.TiedTo)
		f.text(p.DType)
		f.flag(p.Bias)
		f.flag(p.Buffer)
		f.flag(p.Unsaved)
		f.number(int64(len(p.Shape)))
		for _, d := range p.Shape {
			f.size(d)
		}
	}
	f.scores(b.Scores)
	f.number(int64(len(b.States)))
	for _, s := range b.States {
		f.text(s.Name)
		f.size(s.Elements)
		f.number(s.Bytes)
	}
	f.flag(b.Extra != nil)
	if b.Extra != nil {
		f.text(b.Extra.Name)
		for _, s := range b.Extra.Sizes {
			f.size(s)
		}
	}
	f.buffer = append(f.buffer, byte(b.Saving.Norm))
	f.flag(b.Saving.Dropped)
	f.flag(b.Saving.Buffered)
	f.blocks(b.Sub)
}

func (f *fingerprint) scores(s *Scores) {
	f.flag(s != nil)
	if s == nil {
		return
	}
	for _, n := range []Size{s.Heads, s.KVHeads, s.KeyDim, s.ValueDim, s.Cached, s.CachedLibrary, s.Expanded, s.Latent} {
		f.size(n)
	}
	f.number(s.Window)
	f.number(s.Stride)
	f.flag(s.Masked)
	f.flag(s.Cross)
	f.flag(s.Borrowed)
	f.flag(s.Bidirected)
	f.flag(s.Memory)
	for _, n := range []int64{s.Sparse.Block, s.Sparse.Random, s.Sparse.Local, s.Sparse.Beside, s.Sparse.Summary, s.Sparse.Global} {
		f.number(n)
	}
	f.flag(s.Sparse.Pairs)
	f.flag(s.Saving.Upcast)
	f.flag(s.Saving.PassedMask)
	f.size(s.Saving.Rotary)
	f.buffer = append(f.buffer, byte(s.Saving.Bias))
}

func (f *fingerprint) view(v *View) {
	f.flag(v != nil)
	if v == nil {
		return
	}
	for _, n := range []int64{v.Sides[0], v.Sides[1], v.Patch[0], v.Patch[1], v.Beside, v.Merge, v.Queries, v.Tiles, v.Pad, v.Window} {
		f.number(n)
	}
	f.flag(v.Cut)
	f.flag(v.Packed)
	for _, n := range []int64{v.Levels, v.Pool, v.Cells, v.KeysBy.Kernel, v.KeysBy.By, v.KeysBy.Pad, v.Reduce, v.Keys, int64(v.Order), v.Frames, v.Multiple, int64(math.Float64bits(v.Keep))} {
		f.number(n)
	}
	f.flag(v.Up)
	f.flag(v.Itself)
	for _, s := range v.Strides {
		f.number(s.Kernel)
		f.number(s.By)
		f.number(s.Pad)
	}
}

func (f *fingerprint) span(s *Span) {
	f.flag(s != nil)
	if s == nil {
		return
	}
	f.flag(s.Heard)
	f.flag(s.Memory)
	f.number(s.Clip)
	f.number(s.Plus)
	f.number(s.Window)
	f.number(s.Length)
	f.number(s.Queries)
	for _, steps := range [][]Step{s.Before, s.After} {
		f.number(int64(len(steps)))
		for _, step := range steps {
			f.number(step.Kernel)
			f.number(step.Stride)
			f.number(step.Pad)
		}
	}
}
