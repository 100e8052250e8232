package safetensors

import "math"

// Totals are sums over tensors.
type Totals struct {
	Tensors  int64 `json:"tensors"`
	Elements int64 `json:"elements"`
	Bytes    int64 `json:"bytes"` // of data, headers apart

	// Saturated is true where a sum does not fit 63 bits and shows 2^63-1.
	Saturated bool `json:"saturated,omitempty"`
}

// DTypeTotals are the sums over the tensors of one dtype.
type DTypeTotals struct {
	DType DType `json:"dtype"`
	Totals
}

// add counts one tensor.
func (t *Totals) add(elements, bytes int64) {
	t.Tensors++
	t.Elements = t.saturatingAdd(t.Elements, elements)
	t.Bytes = t.saturatingAdd(t.Bytes, bytes)
}

func (t *Totals) saturatingAdd(a, b int64) int64 {
	if a > math.MaxInt64-b {
		t.Saturated = true
		return math.MaxInt64
	}
	return a + b
}

// Totals sums over the tensors of the file.
func (h *Header) Totals() Totals {
	var sum Totals
	for i := range h.Tensors {
		sum.add(h.Tensors[i].Elements(), h.Tensors[i].Bytes())
	}
	return sum
}

// Totals sums over all counted tensors.
func (c *Checkpoint) Totals() Totals {
	var sum Totals
	for _, tensor := range c.All() {
		sum.add(tensor.Elements(), tensor.Bytes())
	}
	return sum
}

// ByDType sums by dtype, in the format's order, leaving out those that do not
// occur.
func (c *Checkpoint) ByDType() []DTypeTotals {
	var sums [dtypeCount]Totals
	for _, tensor := range c.All() {
		sums[tensor.DType].add(tensor.Elements(), tensor.Bytes())
	}
	var list []DTypeTotals
	for d, sum := range sums {
		if sum.Tensors > 0 {
			list = append(list, DTypeTotals{DType(d), sum})
		}
	}
	return list
}
