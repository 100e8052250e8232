package adapter

import "fmt"

// oft rotates the input in blocks; a rotation is stored as the upper triangle of
// a skew matrix.
func (p *planner) oft(m *module) error {
	in, _ := m.size()
	size, count := p.config.Blocks.Size, p.config.Blocks.Count
	if in > mostFeatures || size > mostFeatures || count > mostFeatures {
		return &SizeError{m.name, "block size and features are out of bounds"}
	}
	switch {
	case count == 0 && size > 0:
		size = nearestDivisor(in, size)
		count = in / size
	case size == 0 && count > 0:
		count = nearestDivisor(in, count)
		size = in / count
	default:
		return &SizeError{m.name, "exactly one of r and oft_block_size has to be set"}
	}
	if p.config.Blocks.Shared {
		count = 1
	}
	p.on(m, "oft_R.weight", count, size*(size-1)/2)
	return nil
}

// nearestDivisor is peft's rule for a block size that does not divide.
func nearestDivisor(n, want int64) int64 {
	if n%want == 0 && want <= n {
		return want
	}
	if want >= n {
		return n
	}
	higher, lower := want, want
	for higher <= n && n%higher != 0 {
		higher++
	}
	for lower > 1 && n%lower != 0 {
		lower--
	}
	if want-lower <= higher-want {
		return lower
	}
	return higher
}

// boft rotates in a butterfly of so many factors and scales the output. Without
// its CUDA extension peft trains one factor, whatever the config says.
func (p *planner) boft(m *module) error {
	in, out := m.size()
	size, count := p.config.Blocks.Size, p.config.Blocks.Count
	if in > mostFeatures || size > mostFeatures || count > mostFeatures || p.config.Blocks.Factors > mostFeatures {
		return &SizeError{m.name, "block size and features are out of bounds"}
	}
	switch {
	case size == 0 && count > 0:
		size = in / count
	case count == 0 && size > 0:
		count = in / size
	default:
		return &SizeError{m.name, "exactly one of boft_block_size and boft_block_num has to be set"}
	}
	if size*count != in {
		return &SizeError{m.name, fmt.Sprintf("%d features are no whole number of blocks of %d", in, size)}
	}
	factors := max(p.config.Blocks.Factors, 1)
	r := p.on(m, "boft_R", factors, count, size, size)
	if factors > 1 {
		r.also = []int64{1, count, size, size}
	}
	p.on(m, "boft_s", out, 1)
	return nil
}

// hra reflects the input at so many vectors.
func (p *planner) hra(m *module) error {
	in, _ := m.size()
	p.ranked(p.config.Rank)
	p.on(m, "hra_u", in, p.config.Rank)
	return nil
}
