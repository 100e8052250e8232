package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
)

// packing says that the members of a group hold weights of another shape.
type packing struct {
	shape []int64 // as stored
	fit   *fit
}

// unpacked is a bundle that a scheme explains, as the later checks need it.
type unpacked struct {
	*bundle
	*fit
	role string
}

// unpackQuantised finds quantised weights, claims their companions and puts, in
// place of each packed tensor, a group of the logical shape: the steps that
// follow see the weights as if they had never been packed.
func (m *matching) unpackQuantised() {
	index := m.groupsByName()
	for _, stem := range m.stems() {
		for _, c := range carriers {
			sets := m.gather(index, stem, c.suffix)
			if len(sets) < 2 {
				continue
			}
			for _, b := range m.bundles(stem, stem+c.logical, sets) {
				m.unpack(b, c.logical)
			}
		}
	}
	m.fusedScales(index)
	m.cacheScales()
	m.orphans()
}

// carriers are the endings of packed tensors, each with that of its weight.
var carriers = func() []struct{ suffix, logical string } {
	var list []struct{ suffix, logical string }
	for i := range schemes {
		one := struct{ suffix, logical string }{schemes[i].carrier, schemes[i].logical}
		if !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	return list
}()

// unpack explains one bundle, or puts its members back.
func (m *matching) unpack(b *bundle, logical string) {
	b.conv = m.isConv1D(b)
	for _, one := range m.readShapes(b) {
		f := m.fit(one)
		if f == nil {
			one.putBack()
			continue
		}
		m.settleBundle(one, f, logical)
	}
}

// isConv1D reports whether the described weight is stored [in, out]: then its
// bias is as long as a row.
func (m *matching) isConv1D(b *bundle) bool {
	if b.slot == nil || len(b.slot.Shape) != 2 || b.slot.Shape[0] == b.slot.Shape[1] {
		return false
	}
	for _, s := range m.slots.byTemplate[b.stem+biasSuffix] {
		if slices.Equal(s.Shape, b.slot.Shape[1:]) {
			return true
		}
	}
	return false
}

func (m *matching) settleBundle(b *bundle, f *fit, logical string) {
	u := &unpacked{bundle: b, fit: f, role: inferRole(b.stem + logical)}
	if b.slot != nil {
		u.role = RoleName(b.slot.Tensor)
	}
	m.unpacked = append(m.unpacked, u)
	if f.scheme.stray {
		b.carrier.putBack()
	} else {
		m.replaceCarrier(u, logical)
	}
	for i := range b.parts {
		s := &b.parts[i]
		switch {
		case s.suffix == biasSuffix:
			m.claimBias(u, s)
		case u.knows(s):
			m.claimPart(u, s)
		default:
			s.putBack()
		}
	}
	m.partFaults(u)
}

// replaceCarrier puts a group of the logical shape in place of the packed one.
func (m *matching) replaceCarrier(u *unpacked, logical string) {
	c := &u.carrier
	g := &group{template: c.template, name: u.stem + logical, dtype: c.dtype, shape: u.shape, members: slices.Clone(c.members),
		packed: &packing{shape: c.shape, fit: u.fit}}
	m.groups = append(m.groups, g)
	if held, stands := c.each(), g.each(); held != stands {
		n := int64(len(c.members))
		m.addRow("quantised_weights", fmt.Sprintf("weights packed in %s by %s", c.dtype, u.scheme.method), fmt.Sprintf("%s holds %s", shapeText(c.shape), shapeText(u.shape)),
			(held-stands)*n, names(c.members))
	}
}

// claimPart claims a companion: it follows from the weight, or is at fault.
func (m *matching) claimPart(u *unpacked, s *set) {
	elements := s.each() * int64(len(s.members))
	if u.faulty(s) {
		m.claimAs(s.group, s.members, Mismatch, "quantisation", 0, u.role)
		m.unexplained += elements
		m.unexplainedNames = append(m.unexplainedNames, names(s.members)...)
		return
	}
	m.claimAs(s.group, s.members, Quantisation, "quantisation", 0, u.role)
	row := partRows[u.partOf(s).kind]
	m.addRow(row.code, row.reason, "", elements, names(s.members))
}

func (u *unpacked) partOf(s *set) *part {
	i := slices.IndexFunc(u.scheme.parts, func(p part) bool { return p.suffix == s.suffix })
	return &u.scheme.parts[i]
}

func (u *unpacked) faulty(s *set) bool {
	return slices.ContainsFunc(u.faults, func(f fault) bool { return f.part != nil && f.set != nil && f.set.suffix == s.suffix })
}

// claimBias claims a bias that the quantiser added. Some writers give every
// linear one, all zero.
func (m *matching) claimBias(u *unpacked, s *set) {
	w := newWeight(u.shape, u.params, 0)
	out := []int64{w.o}
	if u.conv {
		out[0] = w.i
	}
	if !u.scheme.addsBias() || !slices.Equal(s.shape, out) || !floats.has(s.dtype) {
		s.putBack()
		return
	}
	elements := s.each() * int64(len(s.members))
	m.claimAs(s.group, s.members, Quantisation, "bias", s.each(), u.role)
	m.addRow("quantiser_biases", "biases that the quantiser added", "", elements, names(s.members))
	m.quantiserBiases = append(m.quantiserBiases, s)
}

// addsBias reports whether writers of the scheme are known for biases.
func (s *scheme) addsBias() bool { return s.method == "gptq" || s.method == "awq" }

// claimAs claims members that have left their group.
func (m *matching) claimAs(g *group, members []member, status Status, role string, logicalEach int64, serves string) {
	m.claims = append(m.claims, claim{packed: true, Claim: Claim{Status: status, Role: role, Serves: serves, Template: g.template, Name: g.name,
		DType: g.dtype, Shape: g.shape, Logical: logicalEach * int64(len(members)), members: members}})
}

// partFaults reports what is wrong with the companions of a bundle.
func (m *matching) partFaults(u *unpacked) {
	weight := fmt.Sprintf("%s %s", namesOf(u.carrier.template, u.carrier.members), u.carrier.dtype)
	for _, f := range u.faults {
		switch {
		case f.part == nil:
			m.find(finding.New("HFI505", fmt.Sprintf("%s, want %s", weight, u.scheme.dtypes)).About(names(f.set.members)...))
		case f.set == nil && !m.in.Checkpoint.Complete:
		case f.set == nil:
			name := strings.TrimSuffix(namesOf(u.carrier.template, u.carrier.members), u.carrier.suffix) + f.part.suffix
			m.unexplainedNames = append(m.unexplainedNames, u.module(0)+f.part.suffix)
			m.find(finding.New("HFI504", fmt.Sprintf("%s is missing, without which %s cannot be unpacked", name, weight)).About(u.module(0) + f.part.suffix))
		case f.want == nil:
			m.find(finding.New("HFI505", fmt.Sprintf("%s is %s, want %s", namesOf(f.set.template, f.set.members), f.set.dtype, f.part.dtypes)).About(names(f.set.members)...))
		default:
			m.find(finding.New("HFI505", fmt.Sprintf("%s is %s, %s of shape %s calls for %s", namesOf(f.set.template, f.set.members), shapeText(f.set.shape), weight, shapeText(u.shape), shapeText(f.want))).
				About(names(f.set.members)...))
		}
	}
}
