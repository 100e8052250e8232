package inspect

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hf-inspect/hf-inspect/finding"
	"github.com/hf-inspect/hf-inspect/safetensors/safetensorstest"
	"github.com/hf-inspect/hf-inspect/source"
)

const loraOnQ = `{"peft_type":"LORA","base_model_name_or_path":"org/base","revision":"v1","r":4,"target_modules":["q_proj"]}`

// adapterFiles is an adapter of rank 4 on two layers, under a prefix, with more
// tensors.
func adapterFiles(prefix, ending string, more ...safetensorstest.Tensor) map[string]safetensorstest.Blob {
	tensors := list{
		safetensorstest.T(prefix+"layers.0.self_attn.q_proj.lora_A"+ending, "F32", 4, 64), safetensorstest.T(prefix+"layers.0.self_attn.q_proj.lora_B"+ending, "F32", 64, 4),
		safetensorstest.T(prefix+"layers.1.self_attn.q_proj.lora_A"+ending, "F32", 4, 64), safetensorstest.T(prefix+"layers.1.self_attn.q_proj.lora_B"+ending, "F32", 64, 4)}
	return map[string]safetensorstest.Blob{"adapter_config.json": safetensorstest.Whole([]byte(loraOnQ)), "adapter_model.safetensors": safetensorstest.Sparse(append(tensors, more...)...)}
}

// TestAdapterNames: names that peft would not find, and those that it would.
func TestAdapterNames(t *testing.T) {
	base := llama(64, 128, 2, 4, 2, 256, "")
	for _, c := range []struct {
		name     string
		files    map[string]safetensorstest.Blob
		code     string
		severity finding.Severity
	}{
		{"as peft saves", adapterFiles("base_model.model.model.", ".weight"), "", ""},
		{"with the adapter's name", adapterFiles("base_model.model.model.", ".default.weight"), "HFI604", finding.Error},
		{"without prefix", adapterFiles("model.", ".weight"), "HFI605", finding.Error},
		{"modules in memory", adapterFiles("base_model.model.model.language_model.", ".weight"), "HFI614", finding.Note},
		{"a resized embedding", adapterFiles("base_model.model.model.", ".weight", safetensorstest.T("base_model.model.model.embed_tokens.weight", "F32", 258, 64)), "HFI611", finding.Warning},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.files["base_config/config.json"] = safetensorstest.Whole([]byte(base))
			in := inspected(t, "", c.files)
			checkClosed(t, in)
			if *in.Counts.UniqueParameters != 4*256 || in.Adapter.Trainable == nil || *in.Adapter.Trainable != 4*256 {
				t.Errorf("unique %d, adapter %+v", *in.Counts.UniqueParameters, in.Adapter)
			}
			if c.code != "" {
				wantFound(t, in, c.code, c.severity)
			} else if len(in.Findings) > 0 {
				t.Errorf("findings %+v", in.Findings)
			}
		})
	}
}

// TestAdapterBase: the base is asked for by the name and revision that the
// adapter's config has.
func TestAdapterBase(t *testing.T) {
	base := safetensorstest.NewFolder(map[string]safetensorstest.Blob{"config.json": safetensorstest.Whole([]byte(llama(64, 128, 2, 4, 2, 256, "")))})
	asked := ""
	open := func(_ context.Context, name, revision string) (source.Source, error) {
		asked = name + "@" + revision
		return base, nil
	}
	in, err := Inspect(context.Background(), safetensorstest.NewFolder(adapterFiles("base_model.model.model.", ".weight")), Options{Base: open})
	if err != nil {
		t.Fatal(err)
	}
	if asked != "org/base@v1" || in.Adapter.BaseParameters == nil || len(in.Findings) > 0 {
		t.Errorf("asked for %q: %+v, findings %+v", asked, in.Adapter, in.Findings)
	}
	fails := func(context.Context, string, string) (source.Source, error) { return nil, errors.New("no such model") }
	in, err = Inspect(context.Background(), safetensorstest.NewFolder(adapterFiles("base_model.model.model.", ".weight")), Options{Base: fails})
	if err != nil {
		t.Fatal(err)
	}
	wantFound(t, in, "HFI602", finding.Warning, "org/base", "no such model")
	if in.Counts.EstimatedParameters != nil || in.Adapter.BaseParameters != nil || *in.Counts.UniqueParameters != 1024 {
		t.Errorf("counts %+v", in.Counts)
	}
	checkClosed(t, in)
}

// TestBareAdapter: weights of an adapter without its config are counted by the
// ends of their names.
func TestBareAdapter(t *testing.T) {
	files := adapterFiles("base_model.model.model.", ".weight", safetensorstest.T("base_model.vera_A", "F32", 8))
	delete(files, "adapter_config.json")
	in := inspected(t, "", files)
	wantFound(t, in, "HFI601", finding.Warning)
	if *in.Counts.UniqueParameters != 1024 || in.Counts.StoredElements != 1032 || !strings.Contains(in.Ledger.Rows[0].Code, "lora_A") {
		t.Errorf("counts %+v, rows %+v", in.Counts, in.Ledger.Rows)
	}
	checkClosed(t, in)
}
