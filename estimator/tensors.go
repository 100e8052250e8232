package estimator

import (
	"fmt"
	"slices"
	"strings"
)

// Tensor is an expected tensor, folded: one entry stands for all copies that
// differ only in their layer and expert numbers.
type Tensor struct {
	Template string    // full name with "*" where a number stands
	Index    []Indices // the numbers at each "*", outermost first
	Shape    []int64
	Sizes    []Size // the shape in symbols
	Role     Role
	Bias     bool   // bias of a linear
	Buffer   bool   // stored, no parameter
	Unsaved  bool   // a parameter that checkpoints leave out
	TiedTo   string // full name of the tensor that it shares; it is not stored then
	DType    string // fixed by the model, else ""
	Tower    string
	Active   int64 // elements that run for one token, all copies together
	Copies   int64 // product of the index lengths
}

// Elements returns the elements of all copies together.
func (t *Tensor) Elements() int64 { return t.Each() * t.Copies }

// Each returns the elements of one copy.
func (t *Tensor) Each() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Folded returns the name with its numbers as sets: h.{0..47}.ln_1.weight.
func (t *Tensor) Folded() string {
	return Fill(t.Template, func(i int) string { return t.Index[i].String() })
}

// Symbolic returns the shape in symbols: [A·H, D].
func (t *Tensor) Symbolic() string {
	parts := make([]string, len(t.Sizes))
	for i, s := range t.Sizes {
		parts[i] = s.String()
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// Names calls yield with each name that the entry stands for.
func (t *Tensor) Names(yield func(string) bool) {
	ranks := make([]int64, len(t.Index))
	for {
		name := Fill(t.Template, func(i int) string { return fmt.Sprint(t.Index[i].At(ranks[i])) })
		if !yield(name) {
			return
		}
		i := len(ranks) - 1
		for ; i >= 0; i-- {
			if ranks[i]++; ranks[i] < t.Index[i].Len() {
				break
			}
			ranks[i] = 0
		}
		if i < 0 {
			return
		}
	}
}

// Fill puts numbers, or sets of them, in the places of a folded name.
func Fill(template string, number func(int) string) string {
	if !strings.Contains(template, "*") {
		return template
	}
	var name strings.Builder
	place := 0
	for i, segment := range strings.Split(template, ".") {
		if i > 0 {
			name.WriteByte('.')
		}
		if segment == "*" {
			segment = number(place)
			place++
		}
		name.WriteString(segment)
	}
	return name.String()
}

// Tensors returns the tensors that the description calls for, in the order of
// its blocks, equal ones of different layers folded into one entry.
func (m *Model) Tensors() []Tensor { return tensorsOf(m.parts()) }

// SectionTensors returns the tensors of one of the model's optional sections.
func (m *Model) SectionTensors(s Section) []Tensor {
	if s.Beside {
		return tensorsOf(s.Blocks)
	}
	return tensorsOf([]Block{{Name: m.Prefix, Sub: s.Blocks}})
}

func tensorsOf(blocks []Block) []Tensor {
	var tensors []Tensor
	places := make(map[string][]int)
	walkBlocks(blocks, func(l *leaf) {
		if l.shared {
			return
		}
		for _, p := range l.block.Params {
			t := l.tensor(p)
			if t.Copies == 0 {
				continue
			}
			if !mergeInto(tensors, places[t.Template], t) {
				places[t.Template] = append(places[t.Template], len(tensors))
				tensors = append(tensors, t)
			}
		}
	})
	return tensors
}

func (l *leaf) tensor(p Param) Tensor {
	t := Tensor{Template: l.template(p), Index: slices.Clone(l.index), Shape: make([]int64, len(p.Shape)), Sizes: p.Shape,
		Role: l.block.Role, Bias: p.Bias && l.block.Kind != NormKind, Buffer: p.Buffer, TiedTo: p.TiedTo, Unsaved: p.Unsaved,
		DType: p.DType, Tower: l.tower, Copies: 1}
	for i, d := range p.Shape {
		t.Shape[i] = d.Int()
	}
	for _, set := range t.Index {
		t.Copies *= set.Len()
	}
	used := l.used.Int()
	t.Active = t.Each() * used
	if b := l.block; b.Kind == StackedKind && b.Count.Int() > 0 {
		t.Active = t.Each() / b.Count.Int() * b.Used.Int() * used
	}
	return t
}

// mergeInto adds the copies of t to an entry that differs from it in one set of
// numbers only.
func mergeInto(tensors []Tensor, candidates []int, t Tensor) bool {
	for _, i := range candidates {
		u := &tensors[i]
		if !slices.Equal(u.Shape, t.Shape) || u.Role != t.Role || u.Buffer != t.Buffer || u.Unsaved != t.Unsaved || u.TiedTo != t.TiedTo || u.DType != t.DType {
			continue
		}
		differing := -1
		for place := range t.Index {
			if !slices.Equal(u.Index[place], t.Index[place]) {
				if differing >= 0 {
					differing = -2
					break
				}
				differing = place
			}
		}
		if differing < 0 {
			continue
		}
		u.Index[differing] = u.Index[differing].Union(t.Index[differing])
		u.Copies += t.Copies
		u.Active += t.Active
		return true
	}
	return false
}

// Counts are the model's sizes by definition, in elements.
type Counts struct {
	Unique       int64 // parameters, each tied one once
	Buffers      int64 // persistent buffers
	Unsaved      int64 // parameters, unique ones, that a saved checkpoint leaves out
	NonEmbedding int64 // unique without look-ups and without an untied head and its bias
	Active       int64 // unique that one token's forward pass uses
}

// Stored returns the elements that a saved checkpoint holds.
func (c Counts) Stored() int64 { return c.Unique + c.Buffers - c.Unsaved }

// Count adds up expected tensors.
func Count(tensors []Tensor) Counts {
	var c Counts
	headTied := slices.ContainsFunc(tensors, func(t Tensor) bool { return t.Role == Head && t.TiedTo != "" && !t.Bias })
	for i := range tensors {
		t := &tensors[i]
		switch {
		case t.TiedTo != "":
			continue
		case t.Buffer:
			c.Buffers += t.Elements()
			continue
		}
		c.Unique += t.Elements()
		if t.Unsaved {
			c.Unsaved += t.Elements()
		}
		c.Active += t.Active
		switch t.Role {
		case TokenEmbedding, PositionEmbedding, TypeEmbedding:
			continue
		case Head:
			if !headTied {
				continue
			}
		}
		c.NonEmbedding += t.Elements()
	}
	return c
}
