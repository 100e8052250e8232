package cost

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// TestEveryDescriptionHasCosts: a new description gets activations, a peak and
// memory without a further line, under every class and config of the truth;
// recomputation never keeps more, fused attention no more than plain one.
func TestEveryDescriptionHasCosts(t *testing.T) {
	types, seen := make(map[string]bool), make(map[string]bool)
	truthtable.Each(t, "../estimator/testdata/params*.jsonl.gz", func(c *struct {
		Set    string          `json:"set"`
		Type   string          `json:"model_type"`
		Class  string          `json:"class"`
		Config json.RawMessage `json:"config"`
	}) {
		if seen[c.Set+c.Type] { // one class under each kind of config
			return
		}
		seen[c.Set+c.Type] = true
		config, _, err := hfconfig.Parse(c.Config)
		if err != nil {
			return
		}
		if _, ok := estimator.Lookup(config.ModelType()); !ok {
			return
		}
		m, err := estimator.Describe(config, c.Class)
		if err != nil {
			return
		}
		types[m.Type] = true
		checkCosts(t, c.Class, m)
	})
	t.Logf("%d types", len(types))
	if len(types) < 100 {
		t.Errorf("only %d types", len(types))
	}
}

func checkCosts(t *testing.T, name string, m *estimator.Model) {
	t.Helper()
	if m.Check(estimator.Pass{Batch: 2, Seq: 64}) != nil {
		return // a tower by itself that takes images of any size
	}
	use := estimator.SavingUse{Batch: 2, Seq: 64, EncoderSeq: 32, ElementBytes: 2, Dropout: true, MaskBytes: 1}
	eager := SavedActivations(m, use).Bytes
	use.Kernel = estimator.Fused
	fused := SavedActivations(m, use).Bytes
	use.Kernel, use.Recompute = estimator.Eager, estimator.RecomputeScores
	selective := SavedActivations(m, use).Bytes
	use.Recompute = estimator.RecomputeLayers
	full := SavedActivations(m, use)
	switch {
	case eager.Sign() <= 0:
		t.Errorf("%s: nothing is kept", name)
	case selective.Cmp(eager) > 0 || full.Bytes.Cmp(eager) > 0:
		t.Errorf("%s: recomputation keeps more: %d, selective %d, full %d", name, eager, selective, full.Bytes)
	case fused.Cmp(eager) > 0 && !learnsBias(m):
		t.Errorf("%s: a fused kernel keeps more: %d, plain %d", name, fused, eager)
	}
	for _, train := range []bool{false, true} {
		mem, err := MemoryOf(m, testPlan(t, train))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if mem.Weights.Sign() <= 0 || mem.Activations.Sign() <= 0 || mem.Total.Cmp(mem.Weights) <= 0 {
			t.Errorf("%s: weights %d, activations %d, total %d", name, mem.Weights, mem.Activations, mem.Total)
		}
	}
}

// learnsBias reports whether scores get a learned bias, which is beyond the fused
// kernel: attention is then decomposed in 32 bits.
func learnsBias(m *estimator.Model) bool {
	return slices.ContainsFunc(m.Attentions(), func(a estimator.Attended) bool { return a.Scores.Saving.Bias == estimator.LearnedBias }) ||
		slices.ContainsFunc(m.Tensors(), func(t estimator.Tensor) bool {
			return t.Tower != "" && strings.Contains(t.Template, "relative_attention_bias")
		})
}
