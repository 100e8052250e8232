package cost

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/internal/truthtable"
)

// memoryCase is a measured optimizer state, or what accelerate's estimator says.
type memoryCase struct {
	ID        string          `json:"case_id"`
	Kind      string          `json:"kind"`
	Class     string          `json:"model_class"`
	DType     string          `json:"dtype"`
	Optimizer string          `json:"optimizer"`
	Params    int64           `json:"params"`
	Tensors   int64           `json:"param_tensors"`
	Gradients int64           `json:"grad_bytes"`
	State     int64           `json:"optimizer_state_bytes"`
	Config    json.RawMessage `json:"config"`

	Unique  int64 `json:"unique_params"`
	Buffers int64 `json:"buffer_bytes"`
	Total   int64 `json:"total_size_bytes"`
}

func TestOptimizerStatesAsMeasured(t *testing.T) {
	names := map[string]string{"AdamW": "adamw", "Adam_amsgrad": "amsgrad", "SGD": "sgd", "SGD_momentum": "momentum",
		"Adafactor(transformers)": "adafactor"}
	cases := 0
	truthtable.Each(t, "testdata/memory.jsonl.gz", func(c *memoryCase) {
		if c.Kind != "optimizer_state_measured" {
			return
		}
		cases++
		list := parametersOf(describe(t, c.Config, c.Class))
		bytes := int64(4)
		if c.DType == "bfloat16" {
			bytes = 2
		}
		var tensors int64
		for i := range list {
			tensors += list[i].copies
		}
		if n := sumElements(list, nil).Int64(); n != c.Params || tensors != c.Tensors || n*bytes != c.Gradients {
			t.Errorf("%s: %d parameters in %d tensors, want %d in %d", c.ID, n, tensors, c.Params, c.Tensors)
		}
		o, err := FindOptimizer(names[c.Optimizer])
		if err != nil {
			t.Fatal(err)
		}
		if got := o.state(list, bytes); got.Cmp(big.NewInt(c.State)) != 0 {
			t.Errorf("%s: %d bytes of states, measured %d", c.ID, got, c.State)
		}
	})
	if cases < 40 {
		t.Errorf("only %d cases", cases)
	}
}

// TestAccelerateEstimate: accelerate's estimator counts four bytes a parameter
// and the buffers of the class; it builds classes without tying their weights.
func TestAccelerateEstimate(t *testing.T) {
	cases := 0
	truthtable.Each(t, "testdata/memory.jsonl.gz", func(c *memoryCase) {
		if c.Kind != "accelerate_estimate" {
			return
		}
		cases++
		var untied int64
		for _, tensor := range describe(t, c.Config, c.Class).Tensors() {
			if !tensor.Buffer {
				untied += tensor.Elements()
			}
		}
		if untied != c.Unique {
			t.Errorf("%s: %d parameters, accelerate has %d", c.ID, untied, c.Unique)
		}
		if total := 4*untied + c.Buffers; total != c.Total {
			t.Errorf("%s: %d bytes, accelerate has %d", c.ID, total, c.Total)
		}
	})
	if cases < 25 {
		t.Errorf("only %d cases", cases)
	}
}
