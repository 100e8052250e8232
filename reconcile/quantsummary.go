package reconcile

import (
	"cmp"
	"slices"
)

// QuantisationSummary is how the weights of a file are quantised.
type QuantisationSummary struct {
	Method        string     `json:"method"`
	Layouts       []string   `json:"layouts,omitempty"` // of the method, where it has several
	Bits          int64      `json:"bits,omitempty"`    // of a packed weight, where all have the same
	GroupSize     int64      `json:"group_size,omitempty"`
	Block         []int64    `json:"block,omitempty"`
	Modules       int64      `json:"modules"`
	Parameters    int64      `json:"quantised_parameters"` // logical
	BitsPerWeight float64    `json:"bits_per_weight"`      // of the whole file: stored bytes × 8 over logical parameters
	ByRole        []RoleBits `json:"by_role"`
}

// RoleBits is what the weights of one role take, their scales included.
type RoleBits struct {
	Role          string  `json:"role"`
	BitsPerWeight float64 `json:"bits_per_weight"`
	Parameters    int64   `json:"logical_parameters"`
	Bytes         int64   `json:"stored_bytes"`
}

// summary sums up the quantisation, nil where there is none.
func (m *matching) summary(logical, bytes int64) *QuantisationSummary {
	var s *QuantisationSummary
	for _, u := range m.unpacked {
		if u.scheme.stray {
			continue
		}
		if s == nil {
			s = &QuantisationSummary{Method: u.scheme.method, Bits: u.params.bits, GroupSize: groupOf(u.params.grain), Block: blockOf(u.params.grain)}
			if m.quant != nil && u.scheme.named(m.quant) {
				s.Method = m.quant.Method
			}
		}
		if f := u.scheme.form; f != "" && !slices.Contains(s.Layouts, f) {
			s.Layouts = append(s.Layouts, f)
		}
		if s.Bits != u.params.bits {
			s.Bits = 0
		}
		if s.GroupSize != groupOf(u.params.grain) {
			s.GroupSize = 0
		}
		if !slices.Equal(s.Block, blockOf(u.params.grain)) {
			s.Block = nil
		}
		s.Modules += u.count()
		s.Parameters += product(u.shape) * u.count()
	}
	if s != nil {
		s.BitsPerWeight = bitsPerWeight(bytes, logical)
		s.ByRole = m.roleBits()
	}
	return s
}

func groupOf(g grain) int64 {
	if g.rows == 1 {
		return g.cols
	}
	return 0
}

func blockOf(g grain) []int64 {
	if g.rows > 1 {
		return []int64{g.rows, g.cols}
	}
	return nil
}

func bitsPerWeight(bytes, weights int64) float64 {
	if weights <= 0 {
		return 0
	}
	return float64(bytes) * 8 / float64(weights)
}

// roleBits puts the bytes of companions to the account of their weights.
func (m *matching) roleBits() []RoleBits {
	var list []RoleBits
	for i := range m.claims {
		c := &m.claims[i]
		role := cmp.Or(c.Serves, c.Role)
		if role == "buffer" || role == "quantisation" {
			continue
		}
		at := slices.IndexFunc(list, func(r RoleBits) bool { return r.Role == role })
		if at < 0 {
			at = len(list)
			list = append(list, RoleBits{Role: role})
		}
		list[at].Parameters += c.Logical
		for j := range c.members {
			list[at].Bytes += c.members[j].tensor.Bytes()
		}
	}
	list = slices.DeleteFunc(list, func(r RoleBits) bool { return r.Parameters == 0 })
	for i := range list {
		list[i].BitsPerWeight = bitsPerWeight(list[i].Bytes, list[i].Parameters)
	}
	slices.SortStableFunc(list, func(a, b RoleBits) int { return cmp.Compare(b.Parameters, a.Parameters) })
	return list
}
