package reconcile

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// checkTexts finds settings of modules that are longer or shorter than those of
// most others: they say the same of all.
func (m *matching) checkTexts() {
	type text struct {
		suffix string
		length int64
	}
	count := make(map[text]int64)
	m.eachText(func(_ *unpacked, s *set) { count[text{s.suffix, s.shape[0]}] += int64(len(s.members)) })
	m.eachText(func(u *unpacked, s *set) {
		for other, n := range count {
			if other.suffix == s.suffix && n > count[text{s.suffix, s.shape[0]}] {
				m.find(finding.New("HFI508", fmt.Sprintf("%s%s has %d bytes, others have another length", namesOf(u.stem, s.members), s.suffix, s.shape[0])).
					About(names(s.members)...))
				return
			}
		}
	})
}

func (m *matching) eachText(use func(u *unpacked, s *set)) {
	for _, u := range m.unpacked {
		if u.bundle.shapeHolder() != nil && u.scheme.method != "hqq" {
			continue
		}
		for i := range u.parts {
			s := &u.parts[i]
			if s.suffix != biasSuffix && len(s.shape) == 1 && u.knows(s) && u.partOf(s).shape == nil && u.partOf(s).kind == statePart {
				use(u, s)
			}
		}
	}
}

// knows reports whether the scheme has the companion.
func (u *unpacked) knows(s *set) bool {
	return slices.ContainsFunc(u.scheme.parts, func(p part) bool { return p.suffix == s.suffix })
}

// checkPlaces compares the number of weights that are kept apart, or are not
// zero, with the values that say where they are.
func (m *matching) checkPlaces() {
	if m.in.Values == nil {
		return
	}
	for _, u := range m.unpacked {
		for i := range u.carrier.members {
			if m.valuesRead >= fewValues && !m.in.AllValues {
				return
			}
			if have, want, ok := m.places(u, i); ok && have != want {
				name := u.carrier.members[i].tensor.Name
				m.find(finding.New("HFI506", fmt.Sprintf("%s keeps %s, the places beside it are for %d", name, finding.Count(have, "weight"), want)).About(name))
			}
		}
	}
}

// places returns how many weights the i-th module keeps and for how many there
// are places; ok is false where the values do not tell.
func (m *matching) places(u *unpacked, i int) (have, want int64, ok bool) {
	switch {
	case u.scheme.method == "spqr" && u.part(".col_vals") != nil && u.part(".row_offsets") != nil:
		data := m.values(u.part(".row_offsets"), i)
		if len(data) < 4 || allZero(data) {
			return 0, 0, false
		}
		return u.part(".col_vals").shape[0], int64(binary.LittleEndian.Uint32(data[len(data)-4:])), true
	case u.scheme.form == "sparse-bitmask" && u.part(".bitmask") != nil:
		data := m.values(u.part(".bitmask"), i)
		for _, b := range data {
			want += int64(bits.OnesCount8(b))
		}
		return u.carrier.shape[0], want, want > 0
	}
	return 0, 0, false
}

// values reads a companion, nil where it cannot be read.
func (m *matching) values(s *set, i int) []byte {
	m.valuesRead++
	data, err := m.in.Values(s.members[i].tensor.Name)
	if err != nil {
		return nil
	}
	return data
}

// zeroFloats reports whether all numbers are zero, of whichever sign.
func zeroFloats(data []byte, d safetensors.DType) bool {
	size := d.Bits() / 8
	for i, b := range data {
		if i%size == size-1 {
			b &= 0x7f
		}
		if b != 0 {
			return false
		}
	}
	return true
}

func allZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
}
