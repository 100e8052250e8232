package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/estimator"
	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/hfconfig"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
)

// called returns the tensors that a config calls for.
func called(t testing.TB, config, dtype string) []safetensorstest.Tensor {
	t.Helper()
	c, _, err := hfconfig.Parse([]byte(config))
	if err != nil {
		t.Fatal(err)
	}
	model, err := estimator.Describe(c, "")
	if err != nil {
		t.Fatal(err)
	}
	var list []safetensorstest.Tensor
	for _, one := range model.Tensors() {
		if one.TiedTo != "" || one.Buffer {
			continue
		}
		for name := range one.Names {
			list = append(list, safetensorstest.T(name, dtype, one.Shape...))
		}
	}
	return list
}

// edit changes the tensors of a list: nil drops one.
func edit(list []safetensorstest.Tensor, change func(*safetensorstest.Tensor) *safetensorstest.Tensor) []safetensorstest.Tensor {
	var edited []safetensorstest.Tensor
	for _, one := range list {
		if kept := change(&one); kept != nil {
			edited = append(edited, *kept)
		}
	}
	return edited
}

// inspected inspects a folder of a config and other files.
func inspected(t testing.TB, config string, files map[string]safetensorstest.Blob) *Inspection {
	t.Helper()
	if config != "" {
		files["config.json"] = safetensorstest.Whole([]byte(config))
	}
	in, err := Inspect(context.Background(), safetensorstest.NewFolder(files), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func one(tensors ...safetensorstest.Tensor) map[string]safetensorstest.Blob {
	return map[string]safetensorstest.Blob{"model.safetensors": safetensorstest.Sparse(tensors...)}
}

// found returns the finding of a code that speaks of all the words.
func found(in *Inspection, code string, words ...string) *finding.Finding {
	for i := range in.Findings {
		f := &in.Findings[i]
		text := f.Message + " " + strings.Join(f.Tensors, " ")
		if f.Code == code && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
			return f
		}
	}
	return nil
}

func wantFound(t *testing.T, in *Inspection, code string, severity finding.Severity, words ...string) {
	t.Helper()
	switch f := found(in, code, words...); {
	case f == nil:
		t.Errorf("no finding %s that says %q among %+v", code, words, in.Findings)
	case f.Severity != severity:
		t.Errorf("%s is of severity %s, want %s", code, f.Severity, severity)
	}
}

func wantCounts(t *testing.T, in *Inspection, stored, unique int64) {
	t.Helper()
	if in.Counts.StoredElements != stored {
		t.Errorf("stored %d, want %d", in.Counts.StoredElements, stored)
	}
	if u := in.Counts.UniqueParameters; u == nil || *u != unique {
		t.Errorf("unique %v, want %d", u, unique)
	}
}

func llama(d, f, layers, heads, kv, vocab int64, more string) string {
	return fmt.Sprintf(`{"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":%d,"intermediate_size":%d,"num_hidden_layers":%d,
		"num_attention_heads":%d,"num_key_value_heads":%d,"vocab_size":%d,"tie_word_embeddings":false%s}`, d, f, layers, heads, kv, vocab, more)
}

// TestSavedByOneProcess: a file of an FSDP run holds an empty embedding and half
// of a norm. It is damaged, not small.
func TestSavedByOneProcess(t *testing.T) {
	config := llama(5120, 13824, 1, 40, 40, 46336, "")
	list := edit(called(t, config, "BF16"), func(one *safetensorstest.Tensor) *safetensorstest.Tensor {
		switch one.Name {
		case "model.embed_tokens.weight":
			one.Shape = []int64{0}
		case "model.norm.weight":
			one.Shape = []int64{2560}
		}
		return one
	})
	in := inspected(t, config, one(list...))
	wantFound(t, in, "HFI708", finding.Error, "model.embed_tokens.weight", "237,240,320")
	wantFound(t, in, "HFI709", finding.Error, "model.norm.weight", "2,560")
	checkClosed(t, in)
	if *in.Counts.EstimatedParameters-in.Counts.StoredElements != 237240320+2560 {
		t.Errorf("%d elements are missing", *in.Counts.EstimatedParameters-in.Counts.StoredElements)
	}
}

// TestRedundantHead: a merge stores the head of a model whose class ties it.
func TestRedundantHead(t *testing.T) {
	config := `{"model_type":"gemma2","architectures":["Gemma2ForCausalLM"],"vocab_size":256000,"hidden_size":3584,"num_hidden_layers":42,
		"num_attention_heads":16,"num_key_value_heads":8,"head_dim":256,"intermediate_size":14336}`
	list := append(called(t, config, "BF16"), safetensorstest.T("lm_head.weight", "BF16", 256000, 3584))
	in := inspected(t, config, one(list...))
	wantCounts(t, in, 10159209984, 9241705984)
	wantFound(t, in, "HFI404", finding.Note, "lm_head.weight", "917,504,000")
	checkClosed(t, in)
}

const predicting = `{"model_type":"qwen3_next","architectures":["Qwen3NextForCausalLM"],"hidden_size":64,"intermediate_size":128,"num_hidden_layers":4,
	"num_attention_heads":4,"num_key_value_heads":2,"head_dim":16,"vocab_size":256,"num_experts":4,"moe_intermediate_size":32,
	"shared_expert_intermediate_size":32,"linear_num_key_heads":2,"linear_num_value_heads":4,"linear_key_head_dim":16,"linear_value_head_dim":16}`

func elementsOf(tensors []safetensorstest.Tensor) (sum int64) {
	for _, one := range tensors {
		n := int64(1)
		for _, d := range one.Shape {
			n *= d
		}
		sum += n
	}
	return sum
}

// TestLyingIndex: an index names a tensor that is nowhere, another in the wrong
// shard, and forgets a file. The headers decide, and each is a finding.
func TestLyingIndex(t *testing.T) {
	list := called(t, predicting, "BF16")
	half := len(list) / 2
	stray := []safetensorstest.Tensor{safetensorstest.T("mtp.norm.weight", "BF16", 64), safetensorstest.T("mtp.pre_fc_norm_hidden.weight", "BF16", 64)}
	where := make(map[string]string)
	first, second := "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
	for i, one := range list {
		where[one.Name] = first
		if i >= half {
			where[one.Name] = second
		}
	}
	where[list[0].Name] = second
	where["mtp.fc.weight"] = second
	in := inspected(t, predicting, map[string]safetensorstest.Blob{
		first: safetensorstest.Sparse(list[:half]...), second: safetensorstest.Sparse(list[half:]...),
		"model-mtp.safetensors":        safetensorstest.Sparse(stray...),
		"model.safetensors.index.json": safetensorstest.Whole(safetensorstest.Index("", where)),
	})
	wantFound(t, in, "HFI202", finding.Error, "mtp.fc.weight", second)
	wantFound(t, in, "HFI203", finding.Warning, list[0].Name, first, second)
	wantFound(t, in, "HFI205", finding.Warning, "model-mtp.safetensors")
	if stored := elementsOf(append(list, stray...)); in.Counts.StoredElements != stored {
		t.Errorf("stored %d, want %d", in.Counts.StoredElements, stored)
	}
}

// TestUnreadShard: the index forgets a file that holds a tensor of the model. It
// is stored, and the library does not load it.
func TestUnreadShard(t *testing.T) {
	for _, config := range []string{predicting, llama(64, 128, 2, 4, 2, 256, "")} {
		list := called(t, config, "BF16")
		last := len(list) - 1
		where := make(map[string]string)
		for _, one := range list[:last] {
			where[one.Name] = "model-00001-of-00002.safetensors"
		}
		for _, file := range []string{"model-00002-of-00002.safetensors", "model-head.safetensors"} {
			in := inspected(t, config, map[string]safetensorstest.Blob{
				"model-00001-of-00002.safetensors": safetensorstest.Sparse(list[:last]...), file: safetensorstest.Sparse(list[last]),
				"model.safetensors.index.json": safetensorstest.Whole(safetensorstest.Index("", where)),
			})
			whole := *in.Counts.EstimatedParameters
			wantCounts(t, in, whole, whole-elementsOf(list[last:]))
			wantFound(t, in, "HFI216", finding.Error, list[last].Name, file)
			wantFound(t, in, "HFI205", finding.Warning, file)
			checkClosed(t, in)
		}
	}
}

// TestEmptyDescriptor: a header describes the tied head as nothing at all.
func TestEmptyDescriptor(t *testing.T) {
	config := `{"model_type":"qwen3","architectures":["Qwen3ForCausalLM"],"vocab_size":151936,"hidden_size":2048,"intermediate_size":6144,
		"num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":8,"head_dim":128,"tie_word_embeddings":true}`
	list := called(t, config, "BF16")
	header, size := safetensorstest.Header(nil, list[1:]...)
	text := strings.TrimRight(string(header), " ")
	text = text[:len(text)-1] + `,"lm_head.weight":{"dtype":"","shape":[],"data_offsets":[0,0]}}`
	head := safetensorstest.Raw(text, 0)
	where := map[string]string{"lm_head.weight": "model-00002-of-00002.safetensors", list[0].Name: "model-00001-of-00002.safetensors"}
	for _, one := range list[1:] {
		where[one.Name] = "model-00002-of-00002.safetensors"
	}
	in := inspected(t, config, map[string]safetensorstest.Blob{
		"model-00001-of-00002.safetensors": safetensorstest.Sparse(list[0]),
		"model-00002-of-00002.safetensors": {Head: head, Size: int64(len(head)) + size},
		"model.safetensors.index.json":     safetensorstest.Whole(safetensorstest.Index("", where)),
	})
	wantCounts(t, in, 1720574976, 1720574976)
	wantFound(t, in, "HFI101", finding.Error, "lm_head.weight", "model-00002-of-00002.safetensors")
	checkClosed(t, in)
}

// TestDeclaredTotals: an index declares totals that are wrong, or no numbers.
func TestDeclaredTotals(t *testing.T) {
	config := `{"model_type":"qwen2","architectures":["Qwen2ForCausalLM"],"vocab_size":152064,"hidden_size":3584,"intermediate_size":18944,
		"num_hidden_layers":28,"num_attention_heads":28,"num_key_value_heads":4,"tie_word_embeddings":false}`
	list := called(t, config, "BF16")
	for _, c := range []struct{ declared, code, words string }{
		{`333312`, "HFI207", "333312"},
		{`"999000000000"`, "HFI207", "999000000000"},
		{`"not-a-number"`, "HFI207", "not-a-number"},
	} {
		files := make(map[string]safetensorstest.Blob)
		where := make(map[string]string)
		for i := range 4 {
			name := fmt.Sprintf("model-%05d-of-00004.safetensors", i+1)
			part := list[i*len(list)/4 : (i+1)*len(list)/4]
			files[name] = safetensorstest.Sparse(part...)
			for _, one := range part {
				where[one.Name] = name
			}
		}
		index := string(safetensorstest.Index("15231233024", where))
		files["model.safetensors.index.json"] = safetensorstest.Whole([]byte(strings.Replace(index, `"total_size":`, `"total_parameters":`+c.declared+`,"total_size":`, 1)))
		in := inspected(t, config, files)
		wantCounts(t, in, 7615616512, 7615616512)
		wantFound(t, in, c.code, finding.Warning, c.words)
		if c.declared == "333312" {
			wantFound(t, in, c.code, finding.Warning, "7615616512")
		}
		checkClosed(t, in)
	}
}

func glm(predicted string) string {
	return `{"model_type":"glm4_moe_lite","architectures":["Glm4MoeLiteForCausalLM"],"vocab_size":512,"hidden_size":64,"intermediate_size":128,
		"moe_intermediate_size":32,"num_hidden_layers":3,"num_attention_heads":4,"num_key_value_heads":4,"n_routed_experts":4,"num_experts_per_tok":2,
		"n_shared_experts":1,"first_k_dense_replace":1,"kv_lora_rank":16,"q_lora_rank":24,"qk_nope_head_dim":16,"qk_rope_head_dim":8,"v_head_dim":16,
		"tie_word_embeddings":false` + predicted + `}`
}

// TestPredictionLayers: layers beyond the config's that predict further tokens
// are a group of their own; promised and absent ones are a warning, and a null
// promises nothing.
func TestPredictionLayers(t *testing.T) {
	plain := called(t, glm(""), "BF16")
	for _, c := range []struct {
		promise string
		stored  bool
		warning bool
	}{
		{`,"num_nextn_predict_layers":1`, true, false},
		{`,"num_nextn_predict_layers":1`, false, true},
		{`,"num_nextn_predict_layers":null`, false, false},
		{`,"num_nextn_predict_layers":0`, false, false},
	} {
		list := slices.Clone(plain)
		if c.stored {
			for _, one := range plain {
				if rest, ok := strings.CutPrefix(one.Name, "model.layers.2."); ok {
					list = append(list, safetensorstest.T("model.layers.3."+rest, "BF16", one.Shape...))
				}
			}
			list = append(list, safetensorstest.T("model.layers.3.enorm.weight", "BF16", 64), safetensorstest.T("model.layers.3.hnorm.weight", "BF16", 64),
				safetensorstest.T("model.layers.3.eh_proj.weight", "BF16", 64, 128), safetensorstest.T("model.layers.3.shared_head.norm.weight", "BF16", 64),
				safetensorstest.T("model.layers.3.shared_head.head.weight", "BF16", 512, 64), safetensorstest.T("model.layers.3.embed_tokens.weight", "BF16", 512, 64))
		}
		in := inspected(t, glm(c.promise), one(list...))
		if *in.Counts.UniqueParameters != *in.Counts.EstimatedParameters {
			t.Errorf("%s: unique %d, estimated %d", c.promise, *in.Counts.UniqueParameters, *in.Counts.EstimatedParameters)
		}
		checkClosed(t, in)
		if c.stored {
			wantFound(t, in, "HFI414", finding.Note)
		}
		if (found(in, "HFI422") != nil) != c.warning {
			t.Errorf("%s, stored %v: findings %+v", c.promise, c.stored, in.Findings)
		}
		if c.warning {
			wantFound(t, in, "HFI422", finding.Warning)
		}
	}
}

// TestEmptyAndScalar: a tensor without elements and a scalar count 0 and 1.
func TestEmptyAndScalar(t *testing.T) {
	in := inspected(t, "", one(safetensorstest.T("a", "BF16", 2), safetensorstest.T("empty", "F8_E4M3", 0), safetensorstest.T("scalar", "F32"),
		safetensorstest.T("bn.num_batches_tracked", "I64")))
	if in.Counts.StoredElements != 4 || *in.Counts.LogicalParameters != 3 {
		t.Errorf("stored %d, logical %d; want 4 and 3", in.Counts.StoredElements, *in.Counts.LogicalParameters)
	}
	in = inspected(t, "", map[string]safetensorstest.Blob{"model.safetensors": safetensorstest.Whole(
		safetensorstest.Raw(`{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,0]}}`, 0))})
	wantFound(t, in, "HFI101", finding.Error, "a")
}

// TestSameWeightsTwice: of several sets in one folder one is counted.
func TestSameWeightsTwice(t *testing.T) {
	config := llama(64, 128, 2, 4, 2, 256, "")
	list := called(t, config, "BF16")
	var want int64
	where := make(map[string]string)
	for i, one := range list {
		n := int64(1)
		for _, d := range one.Shape {
			n *= d
		}
		want += n
		where[one.Name] = fmt.Sprintf("model-0000%d-of-00002.safetensors", 1+i%2)
	}
	shards := func(files map[string]safetensorstest.Blob) map[string]safetensorstest.Blob {
		for i := range 2 {
			var part []safetensorstest.Tensor
			for j, one := range list {
				if j%2 == i {
					part = append(part, one)
				}
			}
			files[fmt.Sprintf("model-0000%d-of-00002.safetensors", i+1)] = safetensorstest.Sparse(part...)
		}
		files["model.safetensors.index.json"] = safetensorstest.Whole(safetensorstest.Index("", where))
		return files
	}
	for name, more := range map[string]map[string]safetensorstest.Blob{
		"consolidated": {"consolidated.safetensors": safetensorstest.Sparse(list...)},
		"original":     {"original/consolidated.00.safetensors": safetensorstest.Sparse(list...), "metal/model.bin": safetensorstest.Whole([]byte("x"))},
		"checkpoint":   {"checkpoint-100/model.safetensors": safetensorstest.Sparse(list...)},
		"pickle":       {"pytorch_model.bin": safetensorstest.Whole([]byte("x"))},
	} {
		t.Run(name, func(t *testing.T) {
			in := inspected(t, config, shards(more))
			wantCounts(t, in, want, want)
			wantFound(t, in, "HFI211", finding.Note)
			checkClosed(t, in)
		})
	}
}
