package estimator

import (
	"slices"
	"strings"
)

// NamedModule is a described block that holds tensors, folded: one entry stands for
// all copies that differ only in their layer and expert numbers. Adapters name
// modules, not tensors.
type NamedModule struct {
	Template string    // full name with "*" where a number stands
	Index    []Indices // the numbers at each "*", outermost first
	Kind     Kind
	Role     Role
	Tower    string
	In, Out  int64 // features of a linear map or look-up
	Tensors  []ModuleTensor
}

// ModuleTensor is a tensor of a module.
type ModuleTensor struct {
	Name   string // below the module: weight, bias; "" is the module's own name
	Shape  []int64
	Bias   bool
	Buffer bool
	TiedTo string // full name of the tensor that it shares
}

// Modules returns the modules of the model in the order in which they run.
// Modules that run again elsewhere are listed once.
func (m *Model) Modules() []NamedModule {
	var list []NamedModule
	m.walk(func(l *leaf) {
		if l.shared || len(l.block.Params) == 0 {
			return
		}
		b := l.block
		one := NamedModule{Template: l.template(Param{}), Index: slices.Clone(l.index), Kind: b.Kind, Role: b.Role, Tower: l.tower,
			In: b.In.Int(), Out: b.Out.Int()}
		for _, p := range b.Params {
			t := ModuleTensor{Name: p.Name, Bias: p.Bias, Buffer: p.Buffer, TiedTo: p.TiedTo}
			for _, d := range p.Shape {
				t.Shape = append(t.Shape, d.Int())
			}
			one.Tensors = append(one.Tensors, t)
		}
		list = append(list, one)
	})
	return list
}

// Weight returns the module's weight, nil for a module without one.
func (m *NamedModule) Weight() *ModuleTensor {
	i := slices.IndexFunc(m.Tensors, func(t ModuleTensor) bool { return !t.Bias && !t.Buffer })
	if i < 0 {
		return nil
	}
	return &m.Tensors[i]
}

// Copies returns how many modules the entry stands for.
func (m *NamedModule) Copies() int64 {
	n := int64(1)
	for _, set := range m.Index {
		n *= set.Len()
	}
	return n
}

// Names calls yield with each name that the entry stands for.
func (m *NamedModule) Names(yield func(string) bool) {
	t := Tensor{Template: m.Template, Index: m.Index}
	t.Names(yield)
}

// AttentionPlace is where a model attends, folded as tensors are.
type AttentionPlace struct {
	Template string    // of the module, "*" where a number stands
	Index    []Indices // the numbers at each "*", outermost first
	KeyDim   int64     // features of one head's keys
	Causal   bool      // tokens see those before them alone
	Rotary   bool      // known to have rotary positions
}

// AttentionPlaces returns the places where the model attends, in order.
func (m *Model) AttentionPlaces() []AttentionPlace {
	var list []AttentionPlace
	m.walk(func(l *leaf) {
		if s := l.block.Scores; s != nil && !l.shared {
			list = append(list, AttentionPlace{strings.Join(l.path, "."), l.index, s.KeyDim.Int(), !s.Bidirected && !s.Cross, !s.Saving.Rotary.IsZero()})
		}
	})
	return list
}
