package cost

import (
	"math/big"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
)

func named(f *FLOPs, name string) *big.Int {
	for _, c := range f.Conventions {
		if c.Name == name {
			return c.FLOPs
		}
	}
	return nil
}

// TestActiveConventions: of routed experts the conventions count those that run,
// as 6·P·T of a training run does.
func TestActiveConventions(t *testing.T) {
	m := describe(t, []byte(`{"model_type":"mixtral"}`), "") // 46,702,792,704 in all
	f := ForwardFLOPs(m, estimator.Pass{Batch: 1, Seq: 1024}, Options{})
	active := estimator.Count(m.Tensors()).Active
	if active != 12_879_925_248 {
		t.Fatalf("%d active parameters", active)
	}
	if got, want := named(&f, "6ND"), product(6, active, 1024); got.Cmp(want) != 0 {
		t.Errorf("6ND: %d, want %d", got, want)
	}
	if got, want := named(&f, "PaLM, for MFU"), product(1024, 6*active+12*32*4096*1024); got.Cmp(want) != 0 {
		t.Errorf("PaLM: %d, want %d", got, want)
	}
}

// TestSensibleConventions: nobody trains on a cache, and no mask halves an
// encoder's attention.
func TestSensibleConventions(t *testing.T) {
	for _, c := range []struct {
		config        string
		past          int64
		training, cut bool
	}{{`{"model_type":"gpt2"}`, 0, true, true}, {`{"model_type":"gpt2"}`, 9, false, false}, {`{"model_type":"bert"}`, 0, true, false}} {
		f := ForwardFLOPs(describe(t, []byte(c.config), ""), estimator.Pass{Batch: 1, Seq: 8, Past: c.past}, Options{})
		if got := named(&f, "6ND") != nil; got != c.training {
			t.Errorf("%s after %d: 6ND %t", c.config, c.past, got)
		}
		if got := named(&f, "causal-halved attention") != nil; got != c.cut {
			t.Errorf("%s after %d: halved %t", c.config, c.past, got)
		}
	}
}

// TestEveryExpert: the reference library's Llama-4 runs every expert on every
// token. Measured with torch's FlopCounterMode on Llama4ForCausalLM of
// transformers 5.23, eager attention, no cache: 39,157,760.
func TestEveryExpert(t *testing.T) {
	m := describe(t, []byte(`{"model_type":"llama4_text","architectures":["Llama4ForCausalLM"],"hidden_size":64,"intermediate_size":96,
		"intermediate_size_mlp":128,"num_hidden_layers":4,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":100,
		"num_local_experts":4,"num_experts_per_tok":1,"interleave_moe_layer_step":2,"attention_chunk_size":128}`), "")
	f := ForwardFLOPs(m, estimator.Pass{Batch: 2, Seq: 32}, Options{})
	if got := named(&f, "every expert run"); got == nil || got.Int64() != 39_157_760 {
		t.Errorf("every expert run: %d FLOPs, measured 39,157,760", got)
	}
	if f.Forward.Int64() != 39_157_760-3*4_718_592 { // one of four runs
		t.Errorf("the chosen one: %d FLOPs", f.Forward)
	}
}

func TestAcceleratorNames(t *testing.T) {
	for name, want := range map[string]string{"A100-80GB": "A100-SXM-80GB", "a100 40gb": "A100-SXM-40GB", "H100-80GB": "H100-SXM",
		"H100": "H100-SXM", "h100-94gb": "H100-NVL", "4090": "RTX-4090"} {
		if a, err := FindAccelerator(name); err != nil || a.Name != want {
			t.Errorf("%s: %s, %v", name, a.Name, err)
		}
	}
	for _, name := range []string{"H100-40GB", "abacus-80GB"} {
		if a, err := FindAccelerator(name); err == nil {
			t.Errorf("%s is taken for %s", name, a.Name)
		}
	}
	h100, err := FindAccelerator("H100")
	if reported := int64(81_559) << 20; err != nil || h100.MemoryBytes().Int64() < reported || h100.MemoryBytes().Int64() > reported+reported/100 {
		t.Errorf("an H100 has %d bytes, nvidia-smi reports %d", h100.MemoryBytes(), reported)
	}
}
