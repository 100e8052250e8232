package estimator

import "slices"

// Bias adds the bias of a linear, where on.
func (b Block) Bias(on bool) Block {
	if on {
		b.Params = append(slices.Clone(b.Params), Param{Name: "bias", Shape: []Size{b.Out}, Bias: true})
	}
	return b
}

// Called gives the block another name.
func (b Block) Called(name string) Block {
	b.Name = name
	return b
}

// On sets how often the block runs.
func (b Block) On(rows Rows) Block {
	b.Rows = rows
	return b
}

// Repeated makes all work in the block run n times for each row, but for what an
// encoder's tokens need once.
func (b Block) Repeated(n int64) Block {
	if n == 1 {
		return b
	}
	if b.Rows != PerMemory {
		b.Repeat = n
	}
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Repeated(n)
	}
	return b
}

// Merging makes one row of n tokens, throughout the block.
func (b Block) Merging(n int64) Block {
	b.Merge = n
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Merging(n)
	}
	return b
}

// Throughout sets how often all blocks in the block run that would run for every
// token.
func (b Block) Throughout(rows Rows) Block {
	if b.Rows == PerToken {
		b.Rows = rows
	}
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].Throughout(rows)
	}
	return b
}

// As sets the block's role, and that of all blocks in it.
func (b Block) As(role Role) Block {
	b.Role = role
	b.Sub = slices.Clone(b.Sub)
	for i := range b.Sub {
		b.Sub[i] = b.Sub[i].As(role)
	}
	return b
}

// TiedTo makes the weight share the tensor of that full name, where on.
func (b Block) TiedTo(target string, on bool) Block {
	return b.tie("weight", target, on)
}

func (b Block) tie(param, target string, on bool) Block {
	if !on {
		return b
	}
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		if b.Params[i].Name == param {
			b.Params[i].TiedTo = target
		}
	}
	return b
}

// Like makes all of the block's tensors share those of the module of that full
// name, where on.
func (b Block) Like(target string, on bool) Block {
	if !on {
		return b
	}
	b.Params = slices.Clone(b.Params)
	for i, p := range b.Params {
		b.Params[i].TiedTo = target
		if p.Name != "" {
			b.Params[i].TiedTo = target + "." + p.Name
		}
	}
	b.Sub = slices.Clone(b.Sub)
	for i, sub := range b.Sub {
		b.Sub[i] = sub.Like(join(target, sub.Name), on)
	}
	return b
}

// Bare stores the weight under the block's own name, without ".weight".
func (b Block) Bare() Block {
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		if b.Params[i].Name == "weight" {
			b.Params[i].Name = ""
		}
	}
	return b
}

// Shaped stores the weight in another shape of as many elements.
func (b Block) Shaped(shape ...Size) Block {
	b.Params = slices.Clone(b.Params)
	b.Params[0].Shape = shape
	return b
}

// Typed fixes the dtype of the block's tensors, whatever the checkpoint's.
func (b Block) Typed(dtype string) Block {
	b.Params = slices.Clone(b.Params)
	for i := range b.Params {
		b.Params[i].DType = dtype
	}
	return b
}

// Again marks the block, and all in it, as run here but stored elsewhere.
func (b Block) Again() Block {
	b.Shared = true
	return b
}

// In sets the tower to which the block and all in it belong.
func (b Block) InTower(name string) Block {
	b.Tower = name
	return b
}
