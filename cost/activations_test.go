package cost

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// savedCase is a forward pass whose saved storages were measured.
type savedCase struct {
	ID            string          `json:"case_id"`
	Family        string          `json:"family"`
	Class         string          `json:"model_class"`
	Attention     string          `json:"attn_implementation"`
	DType         string          `json:"dtype"`
	Dropout       float64         `json:"dropout"`
	DropoutKernel string          `json:"dropout_kernel"`
	Path          string          `json:"sdpa_path"`
	Recomputed    bool            `json:"gradient_checkpointing"`
	Batch         int64           `json:"batch"`
	Seq           int64           `json:"seq"`
	DecoderSeq    *int64          `json:"dec_seq"`
	Saved         int64           `json:"saved_bytes"`
	Coefficients  json.RawMessage `json:"formula_coefficients_bytes"`
	Config        json.RawMessage `json:"config"`
}

func (c *savedCase) use() estimator.SavingUse {
	use := estimator.SavingUse{Batch: c.Batch, Seq: c.Seq, ElementBytes: 4, Dropout: c.Dropout > 0}
	if c.DType == "bfloat16" {
		use.ElementBytes = 2
	}
	if c.DecoderSeq != nil {
		use.EncoderSeq, use.Seq = c.Seq, *c.DecoderSeq
	}
	use.MaskBytes = use.ElementBytes // the CPU's decomposed dropout
	if strings.HasPrefix(c.DropoutKernel, "native") {
		use.MaskBytes = 1
	}
	switch {
	case c.Attention == "sdpa" && c.Dropout > 0:
		use.Kernel = estimator.Math // the CPU's fused kernel has no dropout
	case c.Attention == "sdpa":
		use.Kernel = estimator.Fused
	}
	if c.Recomputed {
		use.Recompute = estimator.RecomputeLayers
	}
	return use
}

// TestActivationsAsMeasured holds the walk over the blocks against every
// measured case, to the byte.
func TestActivationsAsMeasured(t *testing.T) {
	families := make(map[string]int)
	truthtable.Each(t, "testdata/activations.jsonl.gz", func(c *savedCase) {
		families[c.Family]++
		m := describe(t, c.Config, c.Class)
		if !m.ActivationsMeasured() {
			t.Errorf("%s: %s does not count as measured", c.ID, m.Type)
		}
		if a := SavedActivations(m, c.use()); a.Bytes.Cmp(big.NewInt(c.Saved)) != 0 {
			t.Errorf("%s: %d bytes, measured %d\n  %s\n  %s", c.ID, a.Bytes, c.Saved, a.Formula, c.Coefficients)
		}
	})
	for _, family := range []string{"bert", "gpt2", "llama", "mistral", "qwen2", "qwen3", "t5"} {
		if families[family] < 50 {
			t.Errorf("%s: only %d cases", family, families[family])
		}
	}
}
