package inspect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

const (
	phi3Config = `{"model_type":"phi3","architectures":["Phi3ForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":2,
		"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,"pad_token_id":0,"tie_word_embeddings":false}`
	mixtralConfig = `{"model_type":"mixtral","architectures":["MixtralForCausalLM"],"hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,
		"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,"num_local_experts":4,"num_experts_per_tok":2,"tie_word_embeddings":false}`
	qwenMoEConfig = `{"model_type":"qwen3_moe","architectures":["Qwen3MoeForCausalLM"],"hidden_size":64,"intermediate_size":96,"moe_intermediate_size":32,
		"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":256,"num_experts":4,"num_experts_per_tok":2,
		"tie_word_embeddings":false}`
	gptOSSConfig = `{"model_type":"gpt_oss","architectures":["GptOssForCausalLM"],"hidden_size":64,"intermediate_size":32,"num_hidden_layers":2,
		"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":256,"num_local_experts":4,"num_experts_per_tok":2,
		"tie_word_embeddings":false}`
	llavaConfig = `{"model_type":"llava","architectures":["LlavaForConditionalGeneration"],"tie_word_embeddings":false,
		"text_config":{"model_type":"llama","hidden_size":64,"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":256},
		"vision_config":{"model_type":"clip_vision_model","hidden_size":48,"intermediate_size":80,"num_hidden_layers":2,"num_attention_heads":4,
		"image_size":56,"patch_size":14}}`
	qwenVLConfig = `{"model_type":"qwen2_vl","architectures":["Qwen2VLForConditionalGeneration"],"tie_word_embeddings":false,"hidden_size":64,
		"intermediate_size":96,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"vocab_size":256,
		"vision_config":{"depth":2,"embed_dim":48,"hidden_size":64,"num_heads":4}}`
)

type list = []safetensorstest.Tensor

// replaced exchanges each tensor of a list for others: nil keeps it.
func replaced(tensors list, with func(safetensorstest.Tensor) list) list {
	var out list
	for _, t := range tensors {
		if more := with(t); more != nil {
			out = append(out, more...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

func renamed(tensors list, pairs ...string) list {
	r := strings.NewReplacer(pairs...)
	return replaced(tensors, func(t safetensorstest.Tensor) list { t.Name = r.Replace(t.Name); return list{t} })
}

// stacked puts the matrices of a layer's experts into one tensor each.
func stacked(tensors list, experts int64, turned bool, join map[string]string) list {
	var out list
	sizes := make(map[string]*safetensorstest.Tensor)
	var order []string
	for _, t := range tensors {
		stem, rest, ok := strings.Cut(t.Name, ".experts.")
		if !ok {
			out = append(out, t)
			continue
		}
		_, matrix, _ := strings.Cut(rest, ".")
		name := stem + ".experts." + join[strings.TrimSuffix(matrix, ".weight")]
		if sizes[name] == nil {
			sizes[name] = &safetensorstest.Tensor{Name: name, DType: t.DType, Shape: []int64{experts, 0, t.Shape[1]}}
			order = append(order, name)
		}
		sizes[name].Shape[1] += t.Shape[0]
	}
	for _, name := range order {
		t := sizes[name]
		t.Shape[1] /= experts
		if turned {
			t.Shape[1], t.Shape[2] = t.Shape[2], t.Shape[1]
		}
		out = append(out, *t)
	}
	return out
}

// TestRearranged gives the tensors of a model in other arrangements. Each is
// counted whole, and named; what the reference library would not load is an
// error.
func TestRearranged(t *testing.T) {
	small := llama(64, 128, 2, 4, 2, 256, "")
	inMemory := map[string]string{"w1": "gate_up_proj", "w3": "gate_up_proj", "w2": "down_proj", "gate_proj": "gate_up_proj", "up_proj": "gate_up_proj", "down_proj": "down_proj"}
	apart := map[string]string{"gate_proj": "gate_proj", "up_proj": "up_proj", "down_proj": "down_proj"}
	for _, c := range []struct {
		name, config string
		arrange      func(list) list
		code         string
		severity     finding.Severity
	}{
		{"qkv split", phi3Config, func(l list) list {
			return replaced(l, func(t safetensorstest.Tensor) list {
				if stem, ok := strings.CutSuffix(t.Name, ".qkv_proj.weight"); ok {
					return list{safetensorstest.T(stem+".q_proj.weight", "BF16", 64, 64), safetensorstest.T(stem+".k_proj.weight", "BF16", 32, 64), safetensorstest.T(stem+".v_proj.weight", "BF16", 32, 64)}
				}
				if stem, ok := strings.CutSuffix(t.Name, ".gate_up_proj.weight"); ok {
					return list{safetensorstest.T(stem+".gate_proj.weight", "BF16", 128, 64), safetensorstest.T(stem+".up_proj.weight", "BF16", 128, 64)}
				}
				return nil
			})
		}, "HFI702", finding.Error},
		{"experts stacked", mixtralConfig, func(l list) list { return stacked(l, 4, false, inMemory) }, "HFI703", finding.Note},
		{"experts stacked, in memory", mixtralConfig, func(l list) list {
			return renamed(stacked(l, 4, false, inMemory), ".block_sparse_moe.", ".mlp.")
		}, "HFI706", finding.Note},
		{"experts turned", mixtralConfig, func(l list) list { return stacked(l, 4, true, inMemory) }, "HFI704", finding.Error},
		{"experts stacked, qwen", qwenMoEConfig, func(l list) list { return stacked(l, 4, false, inMemory) }, "HFI703", finding.Note},
		{"experts stacked, MLX", qwenMoEConfig, func(l list) list {
			return renamed(stacked(l, 4, false, apart), ".mlp.experts.gate_proj", ".mlp.switch_mlp.gate_proj.weight", ".mlp.experts.up_proj", ".mlp.switch_mlp.up_proj.weight",
				".mlp.experts.down_proj", ".mlp.switch_mlp.down_proj.weight")
		}, "HFI703", finding.Note},
		{"experts apart", gptOSSConfig, func(l list) list {
			return replaced(l, func(t safetensorstest.Tensor) list {
				stem, matrix, ok := strings.Cut(t.Name, ".experts.")
				if !ok || len(t.Shape) != 3 {
					return nil
				}
				var out list
				for e := range t.Shape[0] {
					at := fmt.Sprintf("%s.experts.%d.", stem, e)
					if matrix == "down_proj" {
						out = append(out, safetensorstest.T(at+"down_proj.weight", "BF16", t.Shape[2], t.Shape[1]))
						continue
					}
					out = append(out, safetensorstest.T(at+"gate_proj.weight", "BF16", t.Shape[2]/2, t.Shape[1]), safetensorstest.T(at+"up_proj.weight", "BF16", t.Shape[2]/2, t.Shape[1]))
				}
				return out
			})
		}, "HFI705", finding.Error},
		{"names of the makers", small, func(l list) list {
			return renamed(l, "model.embed_tokens", "tok_embeddings", "lm_head", "output", "model.norm", "norm", "model.layers", "layers", "self_attn.q_proj", "attention.wq",
				"self_attn.k_proj", "attention.wk", "self_attn.v_proj", "attention.wv", "self_attn.o_proj", "attention.wo", "input_layernorm", "attention_norm",
				"post_attention_layernorm", "ffn_norm", "mlp.gate_proj", "feed_forward.w1", "mlp.down_proj", "feed_forward.w2", "mlp.up_proj", "feed_forward.w3")
		}, "HFI707", finding.Error},
		{"language model before", small, func(l list) list {
			return renamed(l, "model.", "language_model.model.", "lm_head", "language_model.lm_head")
		}, "HFI408", finding.Note},
		{"language model after", small, func(l list) list { return renamed(l, "model.", "model.language_model.") }, "HFI408", finding.Note},
		{"tower as saved before version 5", llavaConfig, func(l list) list {
			return renamed(l, "vision_tower.", "vision_tower.vision_model.")
		}, "HFI424", finding.Note},
		{"parts as in memory", llavaConfig, func(l list) list {
			return renamed(l, "language_model.model.", "model.language_model.", "language_model.lm_head", "lm_head", "vision_tower.", "model.vision_tower.",
				"multi_modal_projector.", "model.multi_modal_projector.")
		}, "HFI424", finding.Note},
		{"parts as in memory, Qwen", qwenVLConfig, func(l list) list {
			return renamed(l, "visual.", "model.visual.", "model.", "model.language_model.")
		}, "HFI424", finding.Note},
		{"no prefix", small, func(l list) list { return renamed(l, "model.", "") }, "HFI407", finding.Note},
		{"wrapped in FSDP", small, func(l list) list {
			return renamed(l, "model.", "_fsdp_wrapped_module.model.", "lm_head", "_fsdp_wrapped_module.lm_head")
		}, "HFI409", finding.Error},
	} {
		t.Run(c.name, func(t *testing.T) {
			tensors := called(t, c.config, "BF16")
			in := inspected(t, c.config, one(c.arrange(slices.Clone(tensors))...))
			checkClosed(t, in)
			if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters || in.Counts.StoredElements != *in.Counts.EstimatedParameters {
				t.Errorf("stored %d, unique %d, estimated %d", in.Counts.StoredElements, *in.Counts.UniqueParameters, *in.Counts.EstimatedParameters)
			}
			wantFound(t, in, c.code, c.severity)
			if c.severity != finding.Error && finding.Worst(in.Findings) == finding.Error {
				t.Errorf("findings %+v", in.Findings)
			}
		})
	}
}

// TestParallelRanks: each file of a tensor-parallel save holds a share of the
// matrices and all of the norms.
func TestParallelRanks(t *testing.T) {
	config := llama(64, 128, 2, 4, 2, 256, "")
	tensors := called(t, config, "BF16")
	shares := edit(tensors, func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
		one.Shape = slices.Clone(one.Shape)
		switch {
		case strings.Contains(one.Name, "o_proj") || strings.Contains(one.Name, "down_proj"):
			one.Shape[1] /= 2
		case len(one.Shape) == 2:
			one.Shape[0] /= 2
		}
		return one
	})
	in := inspected(t, config, map[string]safetensorstest.Blob{"model-00001-of-00002.safetensors": safetensorstest.Sparse(shares...), "model-00002-of-00002.safetensors": safetensorstest.Sparse(shares...)})
	checkClosed(t, in)
	wantFound(t, in, "HFI711", finding.Error, "2 ranks", "320 elements")
	if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters {
		t.Errorf("unique %d, estimated %d", *in.Counts.UniqueParameters, *in.Counts.EstimatedParameters)
	}
	in = inspected(t, config, one(shares...))
	checkClosed(t, in)
	wantFound(t, in, "HFI710", finding.Error, "one rank of 2")

	// One kind of matrix is not as it should be: that is no rank.
	for _, kind := range []string{"self_attn", "mlp", "embed_tokens", "lm_head", "down_proj", "norm"} {
		odd := edit(shares, func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
			for i := range tensors {
				if tensors[i].Name == one.Name && strings.Contains(one.Name, kind) {
					one.Shape = slices.Clone(tensors[i].Shape)
					if kind == "norm" {
						one.Shape[0] /= 2
					}
				}
			}
			return one
		})
		if found(inspected(t, config, one(odd...)), "HFI710") != nil {
			t.Errorf("%s is not split as the others, and yet it is a rank", kind)
		}
	}
}

// TestHeadsThatDiffer: a config with other heads calls for other matrices of
// attention, all by one factor. That makes no rank of the file.
func TestHeadsThatDiffer(t *testing.T) {
	in := inspected(t, llama(64, 128, 2, 8, 4, 256, `,"head_dim":16`), one(called(t, llama(64, 128, 2, 4, 2, 256, ""), "BF16")...))
	if found(in, "HFI710") != nil {
		t.Errorf("taken for a rank: %+v", in.Findings)
	}
	wantFound(t, in, "HFI403", finding.Error, "self_attn.q_proj")
}

// TestPrunedExperts: experts were taken out of the file and not of the config.
func TestPrunedExperts(t *testing.T) {
	tensors := edit(called(t, qwenMoEConfig, "BF16"), func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
		switch {
		case strings.Contains(one.Name, "layers.0.mlp.experts.3."):
			return nil
		case one.Name == "model.layers.0.mlp.gate.weight":
			one.Shape = []int64{3, 64}
		}
		return one
	})
	in := inspected(t, qwenMoEConfig, one(tensors...))
	checkClosed(t, in)
	wantFound(t, in, "HFI713", finding.Error, "3 of 4 in layers 0")
	missing := *in.Counts.EstimatedParameters - in.Counts.StoredElements
	if want := int64(3*32*64 + 64); missing != want {
		t.Errorf("%d elements are missing, want %d", missing, want)
	}
	more := called(t, qwenMoEConfig, "BF16")
	for _, matrix := range []string{"gate_proj", "up_proj", "down_proj"} {
		shape := []int64{32, 64}
		if matrix == "down_proj" {
			shape = []int64{64, 32}
		}
		more = append(more, safetensorstest.T("model.layers.1.mlp.experts.4."+matrix+".weight", "BF16", shape...))
	}
	in = inspected(t, qwenMoEConfig, one(more...))
	checkClosed(t, in)
	wantFound(t, in, "HFI714", finding.Warning, "6,144")
}

// TestSharedStorage: save_model keeps one name of several and says so in the
// metadata.
func TestSharedStorage(t *testing.T) {
	config := llama(64, 128, 2, 4, 2, 256, "")
	tensors := edit(called(t, config, "F32"), func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
		if one.Name == "lm_head.weight" {
			return nil
		}
		return one
	})
	header, size := safetensorstest.Header(map[string]string{"lm_head.weight": "model.embed_tokens.weight", "format": "pt"}, tensors...)
	raw := safetensorstest.Raw(string(header), 0)
	in := inspected(t, config, map[string]safetensorstest.Blob{"model.safetensors": {Head: raw, Size: int64(len(raw)) + size}})
	checkClosed(t, in)
	wantFound(t, in, "HFI712", finding.Note, "lm_head.weight")
	if finding.Worst(in.Findings) == finding.Error || found(in, "HFI421") != nil {
		t.Errorf("findings %+v", in.Findings)
	}
}

// TestFlatParameters: an FSDP save in which no weight can be told.
func TestFlatParameters(t *testing.T) {
	in := inspected(t, llama(64, 128, 2, 4, 2, 256, ""), one(safetensorstest.T("_fsdp_wrapped_module._flat_param", "BF16", 100000)))
	wantFound(t, in, "HFI715", finding.Error, "_flat_param")
}
