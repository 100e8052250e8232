package reconcile

import "slices"

// inferredBuffers tell buffers from parameters where no description does: by
// names, element types, and what stands beside.
type inferredBuffers struct {
	norms  map[normPlace]*batchNorm
	owners map[string]bool // modules that hold more than buffers
	frozen int64           // elements of frozen batch norms' weights and biases
}

// normPlace is a module with statistics.
type normPlace struct {
	module string
	number [mostNumbers]int32
}

// batchNorm is what a file holds of one.
type batchNorm struct {
	mean, variance []int64 // shapes
	counted        bool
}

// isFrozen reports whether all of the norm is buffers. One that can be trained
// counts its batches; in the reference library's models the rule has no exception.
func (n *batchNorm) isFrozen(shape []int64) bool {
	return n != nil && !n.counted && slices.Equal(n.mean, shape) && slices.Equal(n.variance, shape)
}

func (m *matching) inferBuffers() *inferredBuffers {
	b := &inferredBuffers{norms: make(map[normPlace]*batchNorm), owners: make(map[string]bool)}
	candidates := make(map[string]bool)
	m.eachGroup(func(g *group) {
		if _, module := formerBufferOf(g.name, g.shape); module != "" {
			candidates[module] = true
		}
		b.addStatistics(g)
	})
	m.eachGroup(func(g *group) {
		if f, _ := formerBufferOf(g.name, g.shape); f != nil || len(candidates) == 0 {
			return
		}
		for module, _ := cutLast(g.name); module != "" && len(g.name) <= longestName; module, _ = cutLast(module) {
			if candidates[module] {
				b.owners[module] = true
			}
		}
	})
	return b
}

func (b *inferredBuffers) addStatistics(g *group) {
	module, name := cutLast(g.name)
	vector := len(g.shape) == 1 && floats.has(g.dtype)
	if !vector && name != "num_batches_tracked" || vector && name != "running_mean" && name != "running_var" {
		return
	}
	for i := range g.members {
		at := normPlace{module, g.members[i].number}
		if b.norms[at] == nil {
			b.norms[at] = new(batchNorm)
		}
		switch name {
		case "running_mean":
			b.norms[at].mean = g.shape
		case "running_var":
			b.norms[at].variance = g.shape
		default:
			b.norms[at].counted = true
		}
	}
}

// of returns which members of a group are buffers.
func (b *inferredBuffers) of(g *group) func(*member) bool {
	if wholeNumbers.has(g.dtype) && g.packed == nil {
		return func(*member) bool { return true }
	}
	if f, module := formerBufferOf(g.name, g.shape); f != nil && f.dtypes.has(g.dtype) && b.owners[module] {
		return func(*member) bool { return true }
	}
	module, name := cutLast(g.name)
	norm := func(one *member) *batchNorm { return b.norms[normPlace{module, one.number}] }
	switch name {
	case "running_mean", "running_var":
		return func(one *member) bool {
			n := norm(one)
			return n != nil && slices.Equal(n.mean, n.variance) && slices.Equal(n.mean, g.shape)
		}
	case "num_batches_tracked":
		return func(one *member) bool { return norm(one).mean != nil && product(g.shape) == 1 }
	case "weight", "bias":
		return func(one *member) bool {
			frozen := g.packed == nil && norm(one).isFrozen(g.shape)
			if frozen {
				b.frozen += g.each()
			}
			return frozen
		}
	}
	return func(*member) bool { return false }
}
