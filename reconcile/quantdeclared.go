package reconcile

import (
	"fmt"

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
	if want, ok := torchDTypes[declared.DType]; ok && fp8.has(want) && fp8.has(u.carrier.dtype) && u.carrier.dtype != want {
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

// checkUnread says which values were not read: sizes and lengths alone are
// checked then.
func (m *matching) checkUnread() {
	m.every("HFI518", "have shapes and settings beside them that were not read; of these only sizes and lengths are checked", func(u *unpacked) bool {
		return u.shapeHolder() != nil && u.told == nil && !m.in.AllValues
	})
}
