package estimator

// Part says which of the two projections of attention a linear is.
type Part uint8

// The parts of attention: what makes queries, keys and values, and what leads
// back to the hidden size.
const (
	NoPart Part = iota
	Projections
	OutputProjection
)

// part returns the leaf's part of the attention around it: the last linear of
// an attention block is its output projection.
func (l *leaf) part() Part {
	for i := len(l.within) - 1; i >= 0; i-- {
		if group := l.within[i]; group.Kind == AttentionKind {
			if lastLinear(group) == l.block {
				return OutputProjection
			}
			return Projections
		}
	}
	return NoPart
}

func lastLinear(b *Block) *Block {
	for i := len(b.Sub) - 1; i >= 0; i-- {
		if b.Sub[i].Kind == LinearKind {
			return &b.Sub[i]
		}
		if found := lastLinear(&b.Sub[i]); found != nil {
			return found
		}
	}
	return nil
}

// endsLayer reports whether nothing follows the leaf in its layer: recomputing a
// layer for its backward pass stops before it, since nobody needs its output.
func (l *leaf) endsLayer() bool {
	for _, group := range l.within {
		if group.Kind == StackKind {
			continue
		}
		if group.Index != nil {
			return lastBlock(group) == l.block
		}
	}
	return false
}

// lastBlock is the block that runs last in b: a leaf, or a list of experts.
func lastBlock(b *Block) *Block {
	for len(b.Sub) > 0 && b.Kind != ExpertsKind {
		b = &b.Sub[len(b.Sub)-1]
	}
	return b
}
