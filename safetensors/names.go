package safetensors

import (
	"hash/maphash"
	"math/bits"
)

// nameTable finds names by hash without a Go map: two words of memory a name, no
// allocation a name. The hash is seeded anew, so no file can force collisions.
type nameTable struct {
	seed  maphash.Seed
	mask  uint64
	slots []uint64 // high half: part of the hash; low half: index + 1
}

// newNameTable makes room for n names.
func newNameTable(n int) *nameTable {
	size := uint64(1) << bits.Len(uint(2*n+1))
	return &nameTable{seed: maphash.MakeSeed(), mask: size - 1, slots: make([]uint64, size)}
}

// put files name under index unless it is there already; then it returns the
// index of the earlier one. nameOf gives the name of an index.
func (t *nameTable) put(name string, index int, nameOf func(int) string) (earlier int, twice bool) {
	hash := maphash.String(t.seed, name)
	for slot := hash & t.mask; ; slot = (slot + 1) & t.mask {
		entry := t.slots[slot]
		if entry == 0 {
			t.slots[slot] = hash&^0xffffffff | uint64(index+1)
			return 0, false
		}
		if entry>>32 == hash>>32 && nameOf(int(entry&0xffffffff)-1) == name {
			return int(entry&0xffffffff) - 1, true
		}
	}
}

// find returns the index filed under name.
func (t *nameTable) find(name string, nameOf func(int) string) (int, bool) {
	hash := maphash.String(t.seed, name)
	for slot := hash & t.mask; ; slot = (slot + 1) & t.mask {
		entry := t.slots[slot]
		if entry == 0 {
			return 0, false
		}
		if entry>>32 == hash>>32 && nameOf(int(entry&0xffffffff)-1) == name {
			return int(entry&0xffffffff) - 1, true
		}
	}
}

// dropDuplicates removes tensors whose name occurs again later: of one name the
// last entry counts, and the earlier is not even checked, as in the reference.
func (p *parser) dropDuplicates() {
	tensors := p.header.Tensors
	nameOf := func(i int) string { return tensors[i].Name }
	table := newNameTable(len(tensors))
	last := make(map[int]int) // first index of a name to its latest, where there are several
	var dead map[int]bool
	for i := range tensors {
		first, twice := table.put(tensors[i].Name, i, nameOf)
		if !twice {
			continue
		}
		if dead == nil {
			dead = make(map[int]bool)
		}
		previous := first
		if later, ok := last[first]; ok {
			previous = later
		}
		dead[previous] = true
		last[first] = i
		p.notice(NoticeDuplicateTensor, tensors[i].Name, int(tensors[i].At)-int(p.base),
			"the name occurs twice in the header; the last entry counts")
	}
	if dead != nil {
		p.removeTensors(func(i int) bool { return dead[i] })
		p.irregular = true
	}
}

// removeTensors takes tensors out and keeps the oddities with their tensors.
func (p *parser) removeTensors(remove func(int) bool) {
	kept := p.header.Tensors[:0]
	odd := p.odd
	p.odd = nil
	for i, tensor := range p.header.Tensors {
		if remove(i) {
			continue
		}
		if o := odd[i]; o != nil {
			*p.oddityOf(len(kept)) = *o
		}
		kept = append(kept, tensor)
	}
	p.header.Tensors = kept
}

// exclude moves the tensors that cannot be counted to Header.Excluded.
func (p *parser) exclude() {
	if p.odd == nil {
		return
	}
	for i, tensor := range p.header.Tensors {
		if o := p.odd[i]; o != nil && o.excluded {
			p.header.Excluded = append(p.header.Excluded, tensor)
		}
	}
	if p.header.Excluded != nil {
		odd := p.odd
		p.removeTensors(func(i int) bool { return odd[i] != nil && odd[i].excluded })
	}
}
