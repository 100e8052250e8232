package inspect

import (
	"fmt"
	"strings"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/reconcile"
	"github.com/hf-inspect/hf-inspect/safetensors"
)

// torchDTypes are torch's names for the dtypes in which parameters are stored.
var torchDTypes = map[string]safetensors.DType{
	"float64": safetensors.F64, "double": safetensors.F64, "float32": safetensors.F32, "float": safetensors.F32,
	"float16": safetensors.F16, "half": safetensors.F16, "bfloat16": safetensors.BF16,
}

// dtypeFinding compares the dtype that a config declares with that of most
// parameters that are stored as they are.
func dtypeFinding(config *hfconfig.Config, r *reconcile.Result) (finding.Finding, bool) {
	if config == nil {
		return finding.Finding{}, false
	}
	field, declared := declaredDType(config)
	want, known := torchDTypes[declared]
	if !known {
		return finding.Finding{}, false
	}
	sums := make(map[safetensors.DType]int64)
	most := want
	for i := range r.Claims {
		c := &r.Claims[i]
		if c.Status == reconcile.Quantised || c.Status == reconcile.Quantisation || c.Logical <= 0 || c.DType.Bits() < 16 || c.DType.IsInteger() {
			continue // packed, whatever part of the model it is
		}
		sums[c.DType] += c.Logical
		if sums[c.DType] > sums[most] {
			most = c.DType
		}
	}
	if most == want {
		return finding.Finding{}, false
	}
	return finding.New("HFI307", fmt.Sprintf("the config says %s %s, most parameters are %s", field, declared, most)).Field(field), true
}

// declaredDType reads the dtype of the model, else of its text part.
func declaredDType(config *hfconfig.Config) (field, dtype string) {
	for _, field := range []string{"dtype", "torch_dtype"} {
		if v := config.Raw(field); v.Str != "" {
			return field, strings.TrimPrefix(v.Str, "torch.")
		}
	}
	for _, field := range []string{"dtype", "torch_dtype"} {
		if v := config.Raw("text_config").Get(field); v.Str != "" {
			return "text_config." + field, strings.TrimPrefix(v.Str, "torch.")
		}
	}
	return "", ""
}
