package cost

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

func describe(t testing.TB, raw []byte, class string) *estimator.Model {
	t.Helper()
	config, _, err := hfconfig.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(config, class)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// trainCase is a training step that the framework's counter measured.
type trainCase struct {
	ID      string          `json:"case_id"`
	Class   string          `json:"model_class"`
	Mode    string          `json:"mode"`
	Batch   int64           `json:"batch"`
	Seq     int64           `json:"seq"`
	Kernel  string          `json:"attn_implementation"`
	Experts string          `json:"experts_implementation"`
	Recomp  bool            `json:"gradient_checkpointing"`
	Past    int64           `json:"past"`
	Total   int64           `json:"total_flops"`
	Config  json.RawMessage `json:"config_full"`
}

func TestTrainingFLOPsAsMeasured(t *testing.T) {
	cases := 0
	truthtable.Each(t, "../estimator/testdata/flops.jsonl.gz", func(c *trainCase) {
		if c.Mode != "forward_backward" {
			return
		}
		cases++
		f := ForwardFLOPs(describe(t, c.Config, c.Class), estimator.Pass{Batch: c.Batch, Seq: c.Seq, EncoderSeq: c.Seq},
			Options{Fused: c.Kernel == "sdpa", Recompute: c.Recomp})
		if f.Training.Cmp(big.NewInt(c.Total)) != 0 {
			t.Errorf("%s: %d FLOPs, measured %d", c.ID, f.Training, c.Total)
		}
	})
	if cases < 10 {
		t.Errorf("only %d cases", cases)
	}
}

// TestGroupedExpertsAsCounted checks the named convention for a kernel that the
// framework's counter does not see.
func TestGroupedExpertsAsCounted(t *testing.T) {
	cases := 0
	truthtable.Each(t, "../estimator/testdata/flops.jsonl.gz", func(c *trainCase) {
		if c.Experts != "grouped_mm" {
			return
		}
		cases++
		f := ForwardFLOPs(describe(t, c.Config, c.Class), estimator.Pass{Batch: c.Batch, Seq: c.Seq, Past: c.Past}, Options{})
		for _, convention := range f.Conventions {
			if convention.Name == "grouped_mm counted as 0" && convention.FLOPs.Cmp(big.NewInt(c.Total)) != 0 {
				t.Errorf("%s: %d FLOPs, counted %d", c.ID, convention.FLOPs, c.Total)
			}
		}
	})
	if cases == 0 {
		t.Error("no cases")
	}
}
