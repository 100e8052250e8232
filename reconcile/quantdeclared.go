package reconcile

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// torchDTypes are torch's names of the dtypes that quantisation configs name.
var torchDTypes = map[string]safetensors.DType{
	"float8_e4m3fn": safetensors.F8E4M3, "float8_e5m2": safetensors.F8E5M2, "float8_e4m3fnuz": safetensors.F8E4M3FNUZ,
	"float8_e5m2fnuz": safetensors.F8E5M2FNUZ, "float8_e8m0fnu": safetensors.F8E8M0, "uint8": safetensors.U8, "int8": safetensors.I8,
	"float16": safetensors.F16, "bfloat16": safetensors.BF16, "float32": safetensors.F32,
}

// checkDTypeWords compares dtypes with those that the config names. Bytes of
// exponents are numbers to a reader that has not been told.
func (m *matching) checkDTypeWords(u *unpacked, declared hfconfig.Scheme) {
	differ := func(s *set, word string) {
		m.find(finding.New("HFI507", fmt.Sprintf("%s is %s, the config says %s", namesOf(s.template, s.members), s.dtype, word)).
			About(names(s.members)...).Field(m.quant.Path))
	}
	if want, ok := torchDTypes[declared.DType]; ok && u.scheme.dtypes.has(want) && u.scheme.dtypes.has(u.carrier.dtype) && u.carrier.dtype != want {
		differ(&u.carrier, declared.DType)
	}
	for i := range u.parts {
		s := &u.parts[i]
		if !u.knows(s) || u.faulty(s) || u.partOf(s).kind != scalePart || len(s.shape) < 2 {
			continue
		}
		want, ok := torchDTypes[declared.ScaleDType]
		switch {
		case ok && s.dtype != want:
			differ(s, declared.ScaleDType)
		case m.quant.Method == "fp8" && s.dtype == safetensors.U8 && m.quant.ScaleFormat != "ue8m0":
			differ(s, "nothing of ue8m0")
		}
	}
}

// needed says why the config calls for a companion that writers may leave out;
// "" where it does not.
func (m *matching) needed(u *unpacked, p *part) string {
	if u.scheme.together && slices.ContainsFunc(u.scheme.parts, func(other part) bool { return other.optional && u.part(other.suffix) != nil }) {
		return "which is written with what stands beside it"
	}
	if m.quant == nil || !u.scheme.named(m.quant) {
		return ""
	}
	declared, _ := m.schemeFor(u.bundle)
	fixed := m.quant.ActivationScheme == "static"
	switch p.suffix {
	case ".g_idx":
		if m.quant.DescAct {
			return "the config says desc_act"
		}
	case ".weight_zero_point":
		if declared.Bits > 0 && !declared.Symmetric {
			return "the config says that weights are not symmetric"
		}
	case ".input_scale", ".activation_scale":
		if fixed && u.part(".qscale_act") == nil {
			return "the config has fixed scales for activations"
		}
	case ".input_zero_point":
		if fixed && m.quant.Activations != nil && !m.quant.Activations.Symmetric {
			return "the config says that activations are not symmetric"
		}
	}
	return ""
}

// checkBooks compares the sizes of AQLM's codebooks with the config's.
func (m *matching) checkBooks(u *unpacked) {
	if u.scheme.method != "aqlm" {
		return
	}
	for _, one := range []struct {
		field string
		is    int64
	}{
		{"num_codebooks", u.params.books[0]}, {"nbits_per_codebook", int64(bits.TrailingZeros64(uint64(u.params.books[1])))},
		{"out_group_size", u.params.books[2]}, {"in_group_size", u.params.books[3]},
	} {
		if want, ok := m.quant.Fields.Nullable(one.field); ok && want != one.is {
			m.find(finding.New("HFI507", fmt.Sprintf("%s is stored with %s %d, the config says %d", u.words(), one.field, one.is, want)).
				About(names(u.part(".codebooks").members)...).Field(m.quant.Path + "." + one.field))
		}
	}
}

// checkListedShapes compares tensors with the shapes that SpQR's config lists for
// each, without which the library cannot build the modules.
func (m *matching) checkListedShapes() {
	if m.quant == nil || m.quant.Method != "spqr" {
		return
	}
	shapes := m.quant.Fields.Sub("shapes")
	listed := func(u *unpacked, is func(s *set, shape gjson.Result) bool) bool {
		return slices.ContainsFunc(append([]set{u.carrier}, u.parts...), func(s set) bool {
			return s.suffix != biasSuffix && slices.ContainsFunc(s.members, func(one member) bool { return is(&s, shapes.Raw(one.tensor.Name+".shape")) })
		})
	}
	m.every("HFI515", "have no shapes in the config, without which it cannot build their modules", func(u *unpacked) bool {
		return listed(u, func(_ *set, shape gjson.Result) bool { return !shape.Exists() })
	}, m.quant.Path+".shapes")
	m.every("HFI507", "or their companions are not of the shapes that the config lists", func(u *unpacked) bool {
		return listed(u, func(s *set, shape gjson.Result) bool {
			text := strings.Trim(shape.Raw, "[] ")
			return shape.Exists() && (len(s.shape) != 1 || text != strconv.FormatInt(s.shape[0], 10))
		})
	}, m.quant.Path+".shapes")
}

// checkUnread says which values were not read: sizes and lengths alone are
// checked then.
func (m *matching) checkUnread() {
	m.every("HFI518", "have shapes and settings beside them that were not read; of these only sizes and lengths are checked", func(u *unpacked) bool {
		return u.shapeHolder() != nil && u.told == nil && !m.in.AllValues
	})
}
