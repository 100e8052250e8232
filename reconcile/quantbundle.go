package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// bundle is a packed weight with its companions, the same in so many modules:
// of each name one group, and of each group the members of the same modules.
type bundle struct {
	stem    string // folded name of the module
	carrier set
	parts   []set   // companions, in the order of the names
	slot    *slot   // what the weight is for, nil where it is not described
	conv    bool    // the described weight is stored [in, out]
	told    []int64 // shape that the values tell
}

// set is the members of one group that belong to a bundle.
type set struct {
	*group
	suffix  string
	members []member
}

func (b *bundle) part(suffix string) *set {
	for i := range b.parts {
		if b.parts[i].suffix == suffix {
			return &b.parts[i]
		}
	}
	return nil
}

// shapeOf returns the shape of a companion, nil where there is none.
func (b *bundle) shapeOf(suffix string) []int64 {
	if s := b.part(suffix); s != nil {
		return s.shape
	}
	return nil
}

// count is the number of modules.
func (b *bundle) count() int64 { return int64(len(b.carrier.members)) }

// biasSuffix ends the name of a bias that the description does not call for.
const biasSuffix = ".bias"

// groupsByName indexes the groups by their folded name.
func (m *matching) groupsByName() map[string][]*group {
	index := make(map[string][]*group, len(m.groups))
	for _, g := range m.groups {
		index[g.name] = append(index[g.name], g)
	}
	return index
}

// stems lists the modules that have companions of a quantised weight.
func (m *matching) stems() []string {
	var list []string
	seen := make(map[string]bool)
	for _, g := range m.groups {
		for _, suffix := range suffixes {
			stem, ok := strings.CutSuffix(g.name, suffix)
			if !ok || seen[stem] || suffix[0] == '_' && strings.HasSuffix(stem, ".weight") || m.described(g.name) {
				continue
			}
			seen[stem] = true
			list = append(list, stem)
		}
	}
	return list
}

// described reports whether the description itself calls for a name: a .scale
// can be a parameter.
func (m *matching) described(name string) bool { return m.slots.byTemplate[name] != nil }

// gather finds the groups of a module: its carriers of one suffix, and all
// companions.
func (m *matching) gather(index map[string][]*group, stem, carrier string) []set {
	var sets []set
	add := func(suffix string) {
		for _, g := range index[stem+suffix] {
			if len(g.members) > 0 && g.packed == nil {
				sets = append(sets, set{group: g, suffix: suffix})
			}
		}
	}
	add(carrier)
	if len(sets) == 0 {
		return nil
	}
	for _, suffix := range suffixes {
		if suffix != carrier && !m.described(stem+suffix) {
			add(suffix)
		}
	}
	if m.in.Model != nil && !m.described(stem+".bias") {
		add(biasSuffix)
	}
	return sets
}

// bundles sorts the members of a module's groups: modules with the same
// companions of the same shapes go together. What stands alone stays in its
// group.
func (m *matching) bundles(stem, logical string, sets []set) []*bundle {
	if !m.aligned(sets) {
		var list []*bundle
		for _, b := range bySignature(stem, sets) {
			list = append(list, m.bySlot(b, logical)...)
		}
		return list
	}
	for i := range sets {
		sets[i].members, sets[i].group.members = sets[i].group.members, nil
	}
	b := &bundle{stem: stem, carrier: sets[0], parts: sets[1:]}
	return m.bySlot(b, logical)
}

// aligned reports the usual case: one group of each name, with the same modules
// in the same order. Where no name is stored twice, no module can be.
func (m *matching) aligned(sets []set) bool {
	first := sets[0].group.members
	for i, s := range sets {
		if i > 0 && s.suffix == sets[i-1].suffix || len(s.group.members) != len(first) {
			return false
		}
		for j := range first {
			if s.group.members[j].number != first[j].number {
				return false
			}
		}
	}
	if len(m.in.Checkpoint.Duplicates) == 0 {
		return true
	}
	seen := make(map[[mostNumbers]int32]bool, len(first))
	for i := range first {
		if seen[first[i].number] {
			return false
		}
		seen[first[i].number] = true
	}
	return true
}

// pick is a member of one set.
type pick struct{ set, member int }

// bySignature sorts modules by the groups that they have members in.
func bySignature(stem string, sets []set) []*bundle {
	modules := make(map[[mostNumbers]int32][]pick)
	var order [][mostNumbers]int32
	for i, s := range sets {
		for j := range s.group.members {
			number := s.group.members[j].number
			picks, known := modules[number]
			if !known {
				order = append(order, number)
			}
			if slices.ContainsFunc(picks, func(p pick) bool { return sets[p.set].suffix == s.suffix }) {
				continue // stored twice: the second belongs to no bundle
			}
			modules[number] = append(picks, pick{i, j})
		}
	}
	var list []*bundle
	bySign := make(map[string]*bundle)
	taken := make([]map[int]bool, len(sets))
	for _, number := range order {
		picks := modules[number]
		if !bundled(sets, picks) {
			continue
		}
		sign := signature(picks)
		b := bySign[sign]
		if b == nil {
			b = newBundle(stem, sets, picks)
			bySign[sign] = b
			list = append(list, b)
		}
		b.take(sets, picks, taken)
	}
	for i, s := range sets {
		s.group.members = untaken(s.group.members, taken[i])
	}
	return list
}

// bundled reports whether a module has its weight and a companion.
func bundled(sets []set, picks []pick) bool {
	if len(picks) == 0 || sets[picks[0].set].suffix != sets[0].suffix {
		return false
	}
	return slices.ContainsFunc(picks[1:], func(p pick) bool { return sets[p.set].suffix != biasSuffix })
}

func signature(picks []pick) string {
	var sign strings.Builder
	for _, p := range picks {
		fmt.Fprintf(&sign, "%d,", p.set)
	}
	return sign.String()
}

func newBundle(stem string, sets []set, picks []pick) *bundle {
	b := &bundle{stem: stem, carrier: set{group: sets[picks[0].set].group, suffix: sets[0].suffix}}
	for _, p := range picks[1:] {
		b.parts = append(b.parts, set{group: sets[p.set].group, suffix: sets[p.set].suffix})
	}
	return b
}

func (b *bundle) take(sets []set, picks []pick, taken []map[int]bool) {
	for i, p := range picks {
		to := &b.carrier
		if i > 0 {
			to = &b.parts[i-1]
		}
		to.members = append(to.members, sets[p.set].group.members[p.member])
		if taken[p.set] == nil {
			taken[p.set] = make(map[int]bool)
		}
		taken[p.set][p.member] = true
	}
}

func untaken(members []member, taken map[int]bool) []member {
	if len(taken) == 0 {
		return members
	}
	var rest []member
	for i := range members {
		if !taken[i] {
			rest = append(rest, members[i])
		}
	}
	return rest
}

// bySlot splits a bundle by what its weights are for.
func (m *matching) bySlot(b *bundle, logical string) []*bundle {
	places := make([]*slot, len(b.carrier.members))
	same := true
	for i := range places {
		places[i], _ = m.slots.forMember(logical, &b.carrier.members[i])
		same = same && places[i] == places[0]
	}
	if same {
		b.slot = places[0]
		return []*bundle{b}
	}
	var list []*bundle
	for i, s := range places {
		at := slices.IndexFunc(list, func(one *bundle) bool { return one.slot == s })
		if at < 0 {
			at = len(list)
			n := 0
			for _, other := range places[i:] {
				if other == s {
					n++
				}
			}
			list = append(list, b.empty(s).grow(n))
		}
		list[at].add(b, i)
	}
	return list
}

// empty returns a bundle of the same groups without members.
func (b *bundle) empty(s *slot) *bundle {
	c := &bundle{stem: b.stem, slot: s, carrier: b.carrier, parts: slices.Clone(b.parts)}
	c.carrier.members = nil
	for i := range c.parts {
		c.parts[i].members = nil
	}
	return c
}

// grow makes room for so many modules.
func (b *bundle) grow(n int) *bundle {
	b.carrier.members = make([]member, 0, n)
	for i := range b.parts {
		b.parts[i].members = make([]member, 0, n)
	}
	return b
}

// add takes over the i-th module of another bundle.
func (b *bundle) add(from *bundle, i int) {
	b.carrier.members = append(b.carrier.members, from.carrier.members[i])
	for p := range b.parts {
		b.parts[p].members = append(b.parts[p].members, from.parts[p].members[i])
	}
}

// putBack returns the members to their groups: another step may know them.
func (b *bundle) putBack() {
	b.carrier.putBack()
	for i := range b.parts {
		b.parts[i].putBack()
	}
}

// putBack copies: steps claim members in place.
func (s *set) putBack() {
	s.group.members = append(slices.Clone(s.group.members), s.members...)
}
