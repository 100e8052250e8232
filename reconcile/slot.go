package reconcile

import (
	"slices"

	"github.com/hf-inspect/hf-inspect/estimator"
)

// slot is an expected tensor, folded, with which of its copies were found.
type slot struct {
	*estimator.Tensor
	found   placeSet
	count   int64
	section string // of a part beside the model, "" for the model itself
}

// place returns the position of a member among the slot's copies, or −1.
func (s *slot) place(m *member) int64 {
	var at int64
	for i, set := range s.Index {
		if i >= mostNumbers {
			return -1
		}
		rank := set.Rank(int64(m.number[i]))
		if rank < 0 {
			return -1
		}
		at = at*set.Len() + rank
	}
	return at
}

// take marks a copy as found; it returns false where it was before.
func (s *slot) take(at int64) bool {
	if !s.found.add(at, s.Copies) {
		return false
	}
	s.count++
	return true
}

// missing returns how many copies were not found.
func (s *slot) missing() int64 { return s.Copies - s.count }

// missingNames lists names of copies that were not found, at most so many.
func (s *slot) missingNames(most int) []string {
	var names []string
	at := int64(0)
	for name := range s.Names {
		if len(names) == most {
			break
		}
		if !s.found.has(at) {
			names = append(names, name)
		}
		at++
	}
	return names
}

// placeSet is a set of positions below a limit. The limit comes from a config
// and may be absurd: memory follows what was added.
type placeSet struct {
	bits   []uint64
	sparse map[int64]bool
}

const mostBits = 1 << 22

func (s *placeSet) has(at int64) bool {
	if s.sparse != nil {
		return s.sparse[at]
	}
	return at/64 < int64(len(s.bits)) && s.bits[at/64]&(1<<(at%64)) != 0
}

func (s *placeSet) add(at, limit int64) bool {
	if s.has(at) {
		return false
	}
	if limit > mostBits {
		if s.sparse == nil {
			s.sparse = make(map[int64]bool)
		}
		s.sparse[at] = true
		return true
	}
	if s.bits == nil {
		s.bits = make([]uint64, (limit+63)/64)
	}
	s.bits[at/64] |= 1 << (at % 64)
	return true
}

// slots indexes expected tensors by template.
type slots struct {
	all        []*slot
	byTemplate map[string][]*slot
}

func newSlots() *slots { return &slots{byTemplate: make(map[string][]*slot)} }

func (s *slots) add(tensors []estimator.Tensor, section string) {
	for i := range tensors {
		one := &slot{Tensor: &tensors[i], section: section}
		s.all = append(s.all, one)
		s.byTemplate[one.Template] = append(s.byTemplate[one.Template], one)
	}
}

// has reports whether a folded name is an expected one.
func (s *slots) has(name string) bool { return s.byTemplate[name] != nil }

// forMember finds the slot that calls for a member of that name.
func (s *slots) forMember(name string, m *member) (*slot, int64) {
	for _, candidate := range s.byTemplate[name] {
		if at := candidate.place(m); at >= 0 {
			return candidate, at
		}
	}
	return nil, -1
}

// sameShape compares an expected with a stored shape.
func (s *slot) sameShape(shape []int64) bool { return slices.Equal(s.Shape, shape) }
