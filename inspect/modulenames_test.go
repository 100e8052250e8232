package inspect

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// inMemoryCase is a small model under the names that the library has in memory,
// which it saves when asked not to keep the original format.
type inMemoryCase struct {
	Type       string
	Config     json.RawMessage
	Parameters int64
	Tensors    map[string][]int64
}

func readInMemory(t *testing.T) []inMemoryCase {
	return truthtable.Read[inMemoryCase](t, "testdata/modules.jsonl.gz")
}

// TestNamesInMemory reconciles files with the names of modules in memory to
// zero, without an error; no file that lacks one of its tensors closes.
func TestNamesInMemory(t *testing.T) {
	for _, c := range readInMemory(t) {
		t.Run(c.Type, func(t *testing.T) {
			var tensors []safetensorstest.Tensor
			for _, name := range slices.Sorted(maps.Keys(c.Tensors)) {
				tensors = append(tensors, safetensorstest.T(name, "BF16", c.Tensors[name]...))
			}
			in := inspectTensors(t, string(c.Config), tensors)
			if !closes(in) || *in.Counts.UniqueParameters != c.Parameters {
				t.Errorf("unexplained %d %v, %d parameters, want %d", *in.Ledger.Unexplained, in.Ledger.UnexplainedTensors, *in.Counts.UniqueParameters, c.Parameters)
			}
			renamed := false
			for _, f := range in.Findings {
				renamed = renamed || f.Code == "HFI706" || f.Code == "HFI703"
				if f.Severity == finding.Error {
					t.Errorf("%s: %s", f.Code, f.Message)
				}
			}
			if !renamed {
				t.Error("nothing says that the names are those in memory")
			}
			for i := 0; i < len(tensors); i += 7 {
				short := slices.Delete(slices.Clone(tensors), i, i+1)
				if without := inspectTensors(t, string(c.Config), short); clean(without) {
					t.Errorf("closes without %s", tensors[i].Name)
				}
			}
		})
	}
}

// clean reports whether an inspection finds nothing wrong.
func clean(in *Inspection) bool {
	return closes(in) && !slices.ContainsFunc(in.Findings, func(f finding.Finding) bool { return f.Severity != finding.Note })
}
