package inspect

import (
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/fixtures"
	"github.com/hf-inspect/hf-inspect/safetensors"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// doubted reports whether something worse than a note is found that was not
// there before.
func (m *mutant) doubted(tensors []safetensors.Tensor) bool {
	result, findings := m.run(tensors)
	return len(result.UnexplainedTensors) > 0 || slices.ContainsFunc(findings, func(f finding.Finding) bool {
		return f.Severity != finding.Note && !m.baseline[f.Code+f.Message]
	})
}

// invented are buffers of a model of that many positions and features a head,
// with the modules that can own them.
func invented(positions, head int64) []struct {
	tensor safetensors.Tensor
	owners []string
} {
	square, attention := []int64{1, 1, positions, positions}, []string{"attn", "attention"}
	body := []string{"self_attn", "attention", "attn", "model", "transformer", "gpt_neox"}
	return []struct {
		tensor safetensors.Tensor
		owners []string
	}{
		{safetensors.Tensor{Name: "bias", DType: safetensors.F32, Shape: square}, attention},
		{safetensors.Tensor{Name: "masked_bias", DType: safetensors.F32, Shape: []int64{}}, attention},
		{safetensors.Tensor{Name: "rotary_emb.inv_freq", DType: safetensors.F32, Shape: []int64{head / 2}}, body},
		{safetensors.Tensor{Name: "rotary_emb.cos_cached", DType: safetensors.F32, Shape: []int64{1, 1, positions, head}}, body},
		{safetensors.Tensor{Name: "position_ids", DType: safetensors.I64, Shape: []int64{1, positions}}, []string{"embeddings"}},
		{safetensors.Tensor{Name: "inv_freq", DType: safetensors.F32, Shape: []int64{head / 2}}, nil},
		{safetensors.Tensor{Name: "cos_cached", DType: safetensors.F32, Shape: []int64{positions, head}}, []string{"rotary_emb"}},
		{safetensors.Tensor{Name: "running_mean", DType: safetensors.F32, Shape: []int64{head}}, nil},
		{safetensors.Tensor{Name: "num_batches_tracked", DType: safetensors.I64, Shape: []int64{}}, nil},
	}
}

// modulesOf lists one module of each kind, at every depth, and some that no model
// has.
func modulesOf(tensors []safetensors.Tensor) []string {
	list := []string{"", "zz", "model.foo"}
	seen := make(map[string]bool)
	for i := range tensors {
		name := tensors[i].Name
		for at := strings.LastIndexByte(name, '.'); at >= 0; at = strings.LastIndexByte(name, '.') {
			name = name[:at]
			if folded := numbersOut(name); !seen[folded] {
				seen[folded] = true
				list = append(list, name, "zz."+name)
			}
		}
	}
	return list
}

// TestInventedBuffers adds tensors with the names of buffers to every module: no
// name alone makes a buffer of a tensor.
func TestInventedBuffers(t *testing.T) {
	try := sampler(29)
	mutants := make(map[string]*mutant)
	for _, info := range fixtures.List() {
		mutants[info.Repository] = recordingMutant(t, info.Repository)
	}
	for _, c := range readLayouts(t, "messy") {
		mutants[c.Name] = newMutant(t, &c.quantisedCase)
	}
	for name, m := range mutants {
		if m.input.Model == nil || len(m.tensors) > 20000 {
			continue
		}
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			rootless := !strings.Contains(m.tensors[0].Name, "model.") // the base model, saved alone
			head := m.input.Model.AttentionPlaces()[0].KeyDim
			for _, module := range modulesOf(m.tensors) {
				for _, c := range invented(m.input.Model.Positions, head) {
					if !try() {
						continue
					}
					owner := module[strings.LastIndexByte(module, '.')+1:]
					right := !strings.HasPrefix(module, "zz") && slices.Contains(c.owners, owner) || owner == "" && rootless
					m.addBuffer(t, module, c.tensor, !right)
					for i := range c.tensor.Shape {
						resized := c.tensor
						resized.Shape = slices.Clone(resized.Shape)
						resized.Shape[i]++
						m.addBuffer(t, module, resized, true)
					}
					c.tensor.DType = safetensors.I16
					m.addBuffer(t, module, c.tensor, true)
				}
			}
		})
	}
}

func (m *mutant) addBuffer(t *testing.T, module string, tensor safetensors.Tensor, wrong bool) {
	t.Helper()
	tensor.Name = strings.TrimPrefix(module+"."+tensor.Name, ".")
	if slices.ContainsFunc(m.tensors, func(other safetensors.Tensor) bool { return other.Name == tensor.Name }) {
		return
	}
	if wrong && !m.doubted(append(slices.Clone(m.tensors), tensor)) {
		t.Errorf("%s %s %v: no doubt", tensor.Name, tensor.DType, tensor.Shape)
	}
}

// TestFormerBuffers: what older versions saved is no parameter, each at its own
// place and in its own size.
func TestFormerBuffers(t *testing.T) {
	neox := `{"model_type":"gpt_neox","architectures":["GPTNeoXForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
		"num_attention_heads":4,"vocab_size":256,"max_position_embeddings":32,"rotary_pct":0.5}`
	bert := `{"model_type":"bert","architectures":["BertForMaskedLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
		"num_attention_heads":4,"vocab_size":256,"max_position_embeddings":32}`
	for _, c := range []struct {
		config, name, dtype string
		shape               []int64
		code                string // of the finding
	}{
		{neox, "gpt_neox.layers.0.attention.bias", "BOOL", []int64{1, 1, 32, 32}, "HFI406"},
		{neox, "gpt_neox.layers.0.attention.bias", "BOOL", []int64{1, 1, 64, 64}, "HFI425"},
		{neox, "gpt_neox.layers.0.attention.masked_bias", "F16", nil, "HFI406"},
		{neox, "gpt_neox.layers.0.attention.rotary_emb.inv_freq", "F16", []int64{4}, "HFI406"},
		{neox, "gpt_neox.layers.0.attention.rotary_emb.inv_freq", "F16", []int64{8}, "HFI425"},
		{neox, "gpt_neox.layers.0.attention.rotary_emb.inv_freq", "I32", []int64{4}, "HFI425"},
		{neox, "gpt_neox.layers.0.mlp.rotary_emb.inv_freq", "F16", []int64{4}, "HFI402"},
		{neox, "gpt_neox.layers.2.attention.rotary_emb.inv_freq", "F16", []int64{4}, "HFI402"}, // there is no such layer
		{neox, "zz.layers.0.attention.bias", "BOOL", []int64{1, 1, 32, 32}, "HFI402"},
		{bert, "bert.embeddings.position_ids", "I64", []int64{1, 32}, "HFI406"},
		{bert, "bert.embeddings.position_ids", "I64", []int64{1, 64}, "HFI425"},
		{bert, "bert.encoder.position_ids", "I64", []int64{1, 32}, "HFI402"},
		{bert, "bert.encoder.layer.0.attention.bias", "F32", []int64{1, 1, 32, 32}, "HFI402"}, // sees both ways: has no mask
		{bert, "bert.encoder.layer.0.attention.rotary_emb.inv_freq", "F32", []int64{8}, "HFI402"},
	} {
		in := inspected(t, c.config, one(append(called(t, c.config, "F16"), safetensorstest.T(c.name, c.dtype, c.shape...))...))
		if found(in, c.code, c.name) == nil {
			t.Errorf("%s %s %v: no %s among %+v", c.name, c.dtype, c.shape, c.code, in.Findings)
		}
		if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters {
			t.Errorf("%s: counted as a parameter", c.name)
		}
	}
}

// TestSecondMask: one layer has one mask, under whatever prefix.
func TestSecondMask(t *testing.T) {
	config := `{"model_type":"gpt2","architectures":["GPT2LMHeadModel"],"n_embd":64,"n_layer":2,"n_head":4,"vocab_size":256,"n_positions":32}`
	mask := safetensorstest.T("transformer.h.0.attn.bias", "F32", 1, 1, 32, 32)
	for _, second := range []string{"h.0.attn.bias", "model.transformer.h.0.attn.bias", "transformer.transformer.h.0.attn.bias"} {
		again := mask
		again.Name = second
		in := inspected(t, config, one(append(called(t, config, "F32"), mask, again)...))
		if finding.Worst(in.Findings) != finding.Error {
			t.Errorf("%s beside %s: %+v", second, mask.Name, in.Findings)
		}
	}
}

// TestBatchNorms: without a description, what stands beside tells the buffers of
// norms that are trained, and of those that are frozen.
func TestBatchNorms(t *testing.T) {
	norm := []safetensorstest.Tensor{safetensorstest.T("bn.weight", "F32", 8), safetensorstest.T("bn.bias", "F32", 8),
		safetensorstest.T("bn.running_mean", "F32", 8), safetensorstest.T("bn.running_var", "F32", 8)}
	count := safetensorstest.T("bn.num_batches_tracked", "I64")
	for name, c := range map[string]struct {
		tensors []safetensorstest.Tensor
		logical int64
	}{
		"trained":                   {append(slices.Clone(norm), count), 16},
		"frozen":                    {norm, 0},
		"without variances":         {append(slices.Clone(norm[:3]), count), 24},
		"variances of another size": {append(slices.Clone(norm[:3]), safetensorstest.T("bn.running_var", "F32", 9)), 33},
		"no norm at all":            {[]safetensorstest.Tensor{safetensorstest.T("a.weight", "F32", 8), safetensorstest.T("b.running_mean", "F32", 8)}, 16},
		"owner in the file":         {[]safetensorstest.Tensor{safetensorstest.T("a.q.weight", "F32", 8), safetensorstest.T("a.rotary_emb.inv_freq", "F32", 8)}, 8},
		"no owner":                  {[]safetensorstest.Tensor{safetensorstest.T("a.q.weight", "F32", 8), safetensorstest.T("b.rotary_emb.inv_freq", "F32", 8)}, 16},
	} {
		in := inspected(t, "", one(c.tensors...))
		if *in.Counts.LogicalParameters != c.logical {
			t.Errorf("%s: %d parameters, want %d", name, *in.Counts.LogicalParameters, c.logical)
		}
		if frozen := found(in, "HFI406", "frozen") != nil; frozen != (name == "frozen") {
			t.Errorf("%s: frozen norms named %t", name, frozen)
		}
	}
}
